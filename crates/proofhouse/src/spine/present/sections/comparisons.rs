//! Each pair of targets on the trials that both were assessed on, in words and in numbers.

use proofhouse_ledger::summary::Comparison;

use super::{Facts, Section};
use crate::spine::present::html::Html;
use crate::spine::present::table::{self, Column};
use crate::spine::present::{svg, words};

pub(super) const SECTION: Section = Section { id: "comparisons", title: "Targets compared", body };

/// Sentences are written for at most this many pairs; the table has all of them.
const MAX_SENTENCES: usize = 6;

/// Left and right are those of the difference: `left − right`.
const NUMBERS: [&str; 7] = ["95 % interval", "p", "Only left", "Only right", "Both", "Neither", "Pairs"];

fn body(facts: &Facts<'_>) -> Option<Html> {
    let pairs = &facts.summary.comparisons;
    if pairs.is_empty() {
        return None;
    }
    let mut html = Html::new();
    for pair in pairs.iter().take(MAX_SENTENCES) {
        html.put(r#"<p class="finding">{}</p>"#, &[&words::comparison(pair)]);
    }
    if let Some(best) = &facts.summary.best {
        html.put(r#"<p class="finding">{}.</p>"#, &[&best.sentence]);
    }
    let mut columns =
        vec![Column::Text("Difference"), Column::Number("Points"), Column::Scale(svg::difference_scale)];
    columns.extend(NUMBERS.map(Column::Number));
    table::open(&mut html, "rates", "Pairs of targets", &columns);
    html.put("<tbody>", &[]);
    for pair in pairs {
        row(&mut html, pair);
    }
    html.put("</tbody>", &[]);
    table::close(&mut html);
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
    let p = pair
        .adjusted_p
        .map_or_else(dash, |p| if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") });
    let counts = [pair.only_b, pair.only_a, pair.both_passed, pair.neither, pair.pairs].map(words::count);
    for (label, cell) in NUMBERS.iter().zip([interval, p].into_iter().chain(counts)) {
        html.put(r#"<td class="num" data-label="{}">{}</td>"#, &[label, &cell]);
    }
    html.put("</tr>", &[]);
}

fn caveats(html: &mut Html, facts: &Facts<'_>) {
    let summary = facts.summary;
    html.put(
        r#"<p class="note">p is the permutation test over cases, which is McNemar’s exact test where no case is repeated, adjusted (Holm) for all pairs of targets."#,
        &[],
    );
    let repeated = summary.slots.iter().any(|slot| slot.flaky_cases.denominator > 0);
    if repeated {
        html.put(
            " Cases were repeated; repetitions of one case are not independent, so each case counts once, \
             and the interval takes cases as clusters.",
            &[],
        );
    }
    html.put("</p>", &[]);
}
