//! The same verdict as Markdown, for step summaries and pull-request comments.

use std::fmt::Write;

use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::summary::Summary;

use super::words;
use crate::kinds::code::account;
use crate::kinds::containment::markdown as containment;
use crate::kinds::containment::receipts::Receipts;

/// Sentences are written for at most this many pairs; `summary.json` has all of them.
const MAX_SENTENCES: usize = 10;

/// The verdict of a run in Markdown: gate, rates with intervals, comparisons, errors, and how to check it.
pub fn render_markdown(summary: &Summary, manifest: &Manifest) -> String {
    render(summary, manifest, None)
}

/// The same with transcripts and false positives of a containment run.
pub(crate) fn render(summary: &Summary, manifest: &Manifest, receipts: Option<&Receipts>) -> String {
    let mut out = String::new();
    headline(&mut out, summary);
    slots(&mut out, summary);
    if let Some(part) = &summary.containment {
        containment::summary(&mut out, part);
    }
    if let Some(receipts) = receipts {
        containment::receipts(&mut out, receipts);
    }
    if let Some(best) = &summary.best {
        line(&mut out, format_args!("- {}.", escape(&best.sentence)));
    }
    for pair in summary.comparisons.iter().take(MAX_SENTENCES) {
        line(&mut out, format_args!("- {}", escape(&words::comparison(pair))));
    }
    if !summary.comparisons.is_empty() {
        out.push('\n');
    }
    for slot in summary.code.iter().flat_map(|code| &code.slots) {
        line(&mut out, format_args!("- {}: {}", escape(&slot.slot), escape(&words::pass_at_k(slot))));
        for sentence in account::account(slot) {
            line(&mut out, format_args!("  - {}", escape(&sentence)));
        }
        for row in words::robust(slot) {
            line(&mut out, format_args!("- {}", escape(&row)));
        }
    }
    if summary.code.is_some() {
        out.push('\n');
    }
    if !summary.error_types.is_empty() {
        let mut types: Vec<_> = summary.error_types.iter().collect();
        types.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let types: Vec<String> = types
            .iter()
            .take(10)
            .map(|(name, count)| format!("{} × {}", words::count(**count), escape(name)))
            .collect();
        line(&mut out, format_args!("Error types: {}\n", types.join(", ")));
    }
    line(
        &mut out,
        format_args!(
            "<sub>run `{}`, suite content `{}`, records `{}`, seed {}, proofhouse {}</sub>",
            manifest.run_id,
            &manifest.suite_content_sha256.to_string()[..12],
            &manifest.records_sha256.to_string()[..12],
            manifest.seed,
            escape(&manifest.proofhouse_version)
        ),
    );
    out
}

pub(crate) fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string cannot fail");
}

fn headline(out: &mut String, summary: &Summary) {
    let suite = escape(&summary.suite_id);
    let verdict = match &summary.gate {
        _ if summary.trials == 0 => "nothing was planned".to_owned(),
        _ if summary.assessed == 0 => "nothing could be assessed".to_owned(),
        Some(gate) => {
            let mark = match gate.held {
                Some(true) => "✅",
                Some(false) => "❌",
                None => "⚠️",
            };
            format!("{mark} {}", escape(&gate.sentence))
        }
        None => "no gate".to_owned(),
    };
    line(out, format_args!("### {suite}: {verdict}\n"));
}

fn slots(out: &mut String, summary: &Summary) {
    if summary.slots.is_empty() {
        return;
    }
    if let Some(code) = &summary.code {
        line(out, format_args!("| {} |", words::HEADLINE_COLUMNS.join(" | ")));
        line(out, format_args!("|---|--:|--:|--:|--:|--:|"));
        for slot in &code.slots {
            let cells = words::headline_row(slot).map(|cell| escape(&cell));
            line(out, format_args!("| {} |", cells.join(" | ")));
        }
        out.push('\n');
        return;
    }
    line(
        out,
        format_args!("| target | passed | 95 % interval | passed of assessed | not assessed | flaky cases |"),
    );
    line(out, format_args!("|---|--:|--:|--:|--:|--:|"));
    for slot in &summary.slots {
        let rate = &slot.pass_rate;
        let flaky = &slot.flaky_cases;
        let flaky = match flaky.denominator {
            0 => "–".to_owned(),
            _ => format!("{} of {}", words::count(flaky.numerator), words::count(flaky.denominator)),
        };
        line(
            out,
            format_args!(
                "| {} | {} | {} | {} of {} | {} of {} | {flaky} |",
                escape(&slot.slot),
                words::rate(rate),
                words::interval(rate.low, rate.high).unwrap_or_else(|| "–".to_owned()),
                words::count(rate.numerator),
                words::count(rate.denominator),
                words::count(slot.trials - rate.denominator.min(slot.trials)),
                words::count(slot.trials),
            ),
        );
    }
    out.push('\n');
}

/// Names are data: nothing in them may become Markdown or HTML, or end a table's cell.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names() {
        assert_eq!(escape("a|b\n<img>`x` [l](u) @all"), "a\\|b &lt;img&gt;\\`x\\` \\[l\\](u) \\@all");
    }
}
