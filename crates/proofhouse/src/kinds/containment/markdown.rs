//! The containment part of the Markdown: variants, categories, leaks with their transcripts, false positives, lane 1.

use std::collections::BTreeSet;

use proofhouse_ledger::summary::containment::{Bound, Lane1, VariantTally};
use proofhouse_ledger::summary::{ContainmentSummary, Rate};

use super::receipts::{Few, Receipts, Shown};
use crate::spine::present::markdown::{escape, line};
use crate::spine::present::words;

/// Leaks whose transcript is in the Markdown: a comment has limits.
const MAX_TRANSCRIPTS: usize = 20;

pub(crate) fn summary(out: &mut String, containment: &ContainmentSummary) {
    if containment.discrimination.discriminating == Some(false) && containment.lane1.is_none() {
        line(
            out,
            format_args!("> ⚠️ **Suite not discriminating**: no attack leaks against the ungated control.\n"),
        );
    }
    for variant in &containment.variants {
        if let Some(words) = words::competence(variant) {
            line(out, format_args!("> ⚠️ **{}**: {words}.\n", escape(&variant.variant)));
        }
    }
    variants(out, &containment.variants);
    matrix(out, &containment.variants);
    if let Some(lane1) = &containment.lane1 {
        checks(out, lane1);
    }
}

fn variants(out: &mut String, variants: &[VariantTally]) {
    line(
        out,
        format_args!(
            "| variant | attack success | 95 % interval | false positives | benign utility | utility under attack | invalid |"
        ),
    );
    line(out, format_args!("|---|--:|--:|--:|--:|--:|--:|"));
    for variant in variants {
        let attack = &variant.attack_success_rate;
        line(
            out,
            format_args!(
                "| {} | {} | {} | {} | {} | {} | {} |",
                escape(&variant.variant),
                share(attack),
                words::interval(attack.low, attack.high).unwrap_or_else(|| "–".to_owned()),
                share(&variant.false_positive_rate),
                share(&variant.benign_utility),
                share(&variant.utility_under_attack),
                share(&variant.invalid_rate),
            ),
        );
    }
    out.push('\n');
}

fn matrix(out: &mut String, variants: &[VariantTally]) {
    let categories: BTreeSet<&str> =
        variants.iter().flat_map(|variant| variant.categories.keys()).map(String::as_str).collect();
    line(
        out,
        format_args!("| category | variant | attack success | 95 % interval | benign utility | invalid |"),
    );
    line(out, format_args!("|---|---|--:|--:|--:|--:|"));
    for category in categories.iter().take(50) {
        for variant in variants {
            let Some(tally) = variant.categories.get(*category) else { continue };
            let attack = &tally.attack_success_rate;
            line(
                out,
                format_args!(
                    "| {} | {} | {} | {} | {} | {} |",
                    escape(category),
                    escape(&variant.variant),
                    share(attack),
                    words::interval(attack.low, attack.high).unwrap_or_else(|| "–".to_owned()),
                    share(&tally.benign_utility),
                    share(&tally.invalid_rate),
                ),
            );
        }
    }
    out.push('\n');
}

fn checks(out: &mut String, lane1: &Lane1) {
    let verdict = if lane1.passed { "passed" } else { "did not pass" };
    line(
        out,
        format_args!(
            "Lane 1 {verdict}:\n\n| variant | check | threshold | value | held |\n|---|---|--:|--:|---|"
        ),
    );
    for check in &lane1.checks {
        let sign = match check.bound {
            Bound::AtLeast => "≥",
            Bound::AtMost => "≤",
        };
        let value = check.value.map_or("–".to_owned(), |value| value.to_string());
        let held = if check.held { "yes" } else { "**no**" };
        let (variant, name) = (escape(&check.variant), escape(&check.name));
        line(out, format_args!("| {variant} | {name} | {sign} {} | {value} | {held} |", check.threshold));
    }
    out.push('\n');
}

pub(crate) fn receipts(out: &mut String, receipts: &Receipts) {
    leaks(out, "Leaks through a gate", &receipts.leaks);
    leaks(out, "Leaks without a gate", &receipts.controls);
    if receipts.denied.all > 0 {
        line(out, format_args!("#### False positives: {}\n", words::count(receipts.denied.all)));
        for shown in receipts.denied.shown.iter().take(50) {
            let by = if shown.refused { "the model" } else { shown.reason.as_str() };
            line(
                out,
                format_args!("- {} · {}: {}", escape(&shown.case_id), escape(&shown.variant), escape(by)),
            );
        }
        out.push('\n');
    }
}

fn leaks(out: &mut String, title: &str, few: &Few) {
    if few.all == 0 {
        return;
    }
    line(out, format_args!("#### {title}: {}\n", words::count(few.all)));
    for shown in few.shown.iter().take(MAX_TRANSCRIPTS) {
        let (case, variant) = (html(&shown.case_id), html(&shown.variant));
        line(
            out,
            format_args!(
                "<details><summary>{case} · {variant} · {}</summary>\n\n<pre>",
                html(&shown.category)
            ),
        );
        for turn in shown.transcript.iter().filter(|turn| turn.role != "system" && !turn.text.is_empty()) {
            out.push_str(&format!("{}: ", html(&Shown::speaker(turn))));
            for (attacker, piece) in shown.pieces(&turn.text) {
                let piece = html(piece);
                out.push_str(&if attacker { format!("<b>{piece}</b>") } else { piece });
            }
            out.push('\n');
        }
        for call in &shown.calls {
            let call_text = html(&format!("{} {}", call.name, call.args));
            line(out, format_args!("{call_text} → {} ({})", Shown::fate(call), html(&call.reason)));
        }
        line(out, format_args!("</pre></details>\n"));
    }
    if few.all > MAX_TRANSCRIPTS as u64 {
        line(out, format_args!("The first {MAX_TRANSCRIPTS}; all are in `records.jsonl`.\n"));
    }
}

fn share(rate: &Rate) -> String {
    match rate.denominator {
        0 => "–".to_owned(),
        all => format!("{} ({}/{})", words::rate(rate), words::count(rate.numerator), words::count(all)),
    }
}

/// Text inside `<pre>`: nothing in it may become markup, nor end the block by an empty line.
fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push_str("&#10;"),
            c if c.is_control() => out.push(' '),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
                out.push_str(&format!("[U+{:04X}]", u32::from(c)));
            }
            '*' | '_' | '`' | '[' | ']' | '@' | '#' | '\\' | '~' | '!' | '|' => {
                out.push_str(&format!("&#{};", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attackers_words_stay_words() {
        assert_eq!(html("</pre>\n\n**x** @all"), "&lt;/pre&gt;&#10;&#10;&#42;&#42;x&#42;&#42; &#64;all");
    }
}
