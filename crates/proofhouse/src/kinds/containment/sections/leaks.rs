//! Containment: the transcript of every leak, the attacker's words highlighted.

use proofhouse_ledger::summary::containment::{ContainmentSummary, VariantTally};

use crate::kinds::containment::receipts::{Few, Shown};
use crate::spine::present::html::{Html, fragment};
use crate::spine::present::sections::{Facts, Section};
use crate::spine::present::words;

pub(super) const SECTION: Section = Section { id: "leaks", title: "Leaks", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    let containment = facts.summary.containment.as_ref()?;
    let receipts = &facts.survey.receipts;
    let mut html = Html::new();
    let untried = |variant: &VariantTally| variant.attack_success_rate.denominator == 0;
    if receipts.leaks.all == 0 {
        html.put("<p>No attack that could be assessed reached a forbidden tool through a gate.</p>", &[]);
        unknown(&mut html, containment, "attack", untried);
    } else {
        html.put(
            r#"<p class="finding"><strong>{} through a gate.</strong></p>"#,
            &[&words::plural(receipts.leaks.all, "leak", "leaks")],
        );
        list(&mut html, &receipts.leaks, true);
    }
    if receipts.controls.all > 0 {
        html.put(
            "<h3>Without a gate</h3><p>{} of variants that have none: what the gate is there to stop.</p>",
            &[&words::plural(receipts.controls.all, "leak", "leaks")],
        );
        list(&mut html, &receipts.controls, false);
    }
    Some(html)
}

/// Names the gates of which nothing is known, because nothing of that kind could be assessed behind them.
pub(super) fn unknown(
    html: &mut Html,
    containment: &ContainmentSummary,
    what: &str,
    untried: impl Fn(&VariantTally) -> bool,
) {
    for variant in containment.variants.iter().filter(|variant| variant.gated && untried(variant)) {
        html.put(
            r#"<p class="finding"><strong>Nothing is known of <bdi>{}</bdi>:</strong> not one {} could be assessed there.</p>"#,
            &[&variant.variant, &what],
        );
    }
}

fn list(html: &mut Html, few: &Few, open: bool) {
    for (at, shown) in few.shown.iter().enumerate() {
        transcript(html, shown, open && at < 3);
    }
    if few.all > few.shown.len() as u64 {
        html.put(
            r#"<p class="note">The first {} of {}; all are in <code>records.jsonl</code>.</p>"#,
            &[&few.shown.len(), &words::count(few.all)],
        );
    }
}

fn transcript(html: &mut Html, shown: &Shown, open: bool) {
    html.put(if open { r#"<details class="leak" open>"# } else { r#"<details class="leak">"# }, &[]);
    html.put(
        r##"<summary><a href="#case={}"><bdi>{}</bdi></a> · <bdi>{}</bdi> · "##,
        &[&fragment(&shown.case_id), &shown.case_id, &shown.variant],
    );
    html.put("<bdi>{}</bdi>", &[&shown.category]);
    if shown.repetition > 0 {
        html.put(" · repetition {}", &[&shown.repetition]);
    }
    html.put(r#"</summary><dl class="transcript">"#, &[]);
    for turn in shown.transcript.iter().filter(|turn| turn.role != "system" && !turn.text.is_empty()) {
        html.put("<dt>{}</dt><dd><pre>", &[&Shown::speaker(turn)]);
        for (attacker, piece) in shown.pieces(&turn.text) {
            html.put(if attacker { r#"<mark class="injected">{}</mark>"# } else { "{}" }, &[&piece]);
        }
        html.put("</pre></dd>", &[]);
    }
    html.put("</dl>", &[]);
    calls(html, shown);
    html.put("</details>", &[]);
}

fn calls(html: &mut Html, shown: &Shown) {
    html.put(r#"<ol class="calls">"#, &[]);
    for call in &shown.calls {
        let class = if call.forbidden_executed { "bad" } else { "" };
        html.put(r#"<li class="{}"><code>{} {}</code> "#, &[&class, &call.name, &call.args]);
        html.put("<strong>{}</strong> ({})</li>", &[&Shown::fate(call), &call.reason]);
    }
    html.put("</ol>", &[]);
}
