//! Each pair of targets on the trials that both were assessed on, in words and in numbers.

use proofhouse_ledger::summary::Comparison;

use super::{Facts, Section};
use crate::report::html::Html;
use crate::report::{svg, words};

pub(super) const SECTION: Section = Section { id: "comparisons", title: "Targets compared", body };

/// Sentences are written for at most this many pairs; the table has all of them.
const MAX_SENTENCES: usize = 6;

fn body(facts: &Facts<'_>) -> Option<Html> {
    let pairs = &facts.summary.comparisons;
    if pairs.is_empty() {
        return None;
    }
    let mut html = Html::new();
    for pair in pairs.iter().take(MAX_SENTENCES) {
        html.put(r#"<p class="finding">{}</p>"#, &[&words::comparison(pair)]);
    }
    html.put(r#"<div class="scroll"><table class="rates"><caption class="quiet">Pairs of targets</caption><thead><tr>"#, &[]);
    html.put(r#"<th scope="col">Second − first</th><th scope="col" class="num">Points</th><th scope="col" class="chart">"#, &[]);
    html.put(r#"<svg class="axis" height="16" aria-hidden="true"><text x="0%" y="12" text-anchor="start">−100</text>"#, &[]);
    html.put(r#"<text x="50%" y="12" text-anchor="middle">0</text><text x="100%" y="12" text-anchor="end">+100</text></svg>"#, &[]);
    for title in ["95 % interval", "p", "Only first", "Only second", "Both", "Neither", "Pairs"] {
        html.put(r#"</th><th scope="col" class="num">{}"#, &[&title]);
    }
    html.put("</th></tr></thead><tbody>", &[]);
    for pair in pairs {
        row(&mut html, pair);
    }
    html.put("</tbody></table></div>", &[]);
    caveats(&mut html, facts);
    Some(html)
}

fn row(html: &mut Html, pair: &Comparison) {
    let dash = || "–".to_owned();
    let interval = match (pair.low, pair.high) {
        (Some(low), Some(high)) => format!("{} to {}", words::points(low), words::points(high)),
        _ => dash(),
    };
    html.put(r#"<tr><th scope="row"><bdi>{}</bdi> − <bdi>{}</bdi></th>"#, &[&pair.b, &pair.a]);
    html.put(
        r#"<td class="num big">{}</td><td class="chart">"#,
        &[&pair.difference.map_or_else(dash, words::points)],
    );
    svg::difference(html, pair.difference, pair.low, pair.high);
    html.put("</td>", &[]);
    let p =
        pair.p_value.map_or_else(dash, |p| if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") });
    let cells = [
        ("95 % interval", interval),
        ("p", p),
        ("Only first", words::count(pair.only_a)),
        ("Only second", words::count(pair.only_b)),
        ("Both", words::count(pair.both_passed)),
        ("Neither", words::count(pair.neither)),
        ("Pairs", words::count(pair.pairs)),
    ];
    for (label, cell) in cells {
        html.put(r#"<td class="num" data-label="{}">{}</td>"#, &[&label, &cell]);
    }
    html.put("</tr>", &[]);
}

fn caveats(html: &mut Html, facts: &Facts<'_>) {
    let summary = facts.summary;
    html.put(r#"<p class="note">p is the exact two-sided McNemar test over trials that only one of the two passed."#, &[]);
    if summary.comparisons.len() > 1 {
        html.put(
            " These are {} comparisons and the p-values are not corrected for that: the smallest of many is small by chance.",
            &[&summary.comparisons.len()],
        );
    }
    let repeated = summary.slots.iter().any(|slot| slot.flaky_cases.denominator > 0);
    if repeated {
        html.put(
            " Cases were repeated, and repetitions of one case are not independent: the true p is larger.",
            &[],
        );
    }
    html.put("</p>", &[]);
}
