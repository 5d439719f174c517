//! What became of the trials: statuses of each target side by side, and error types.

use proofhouse_ledger::record::Status;

use super::{Facts, Section};
use crate::spine::present::html::{Html, fragment};
use crate::spine::present::survey::Outcomes;
use crate::spine::present::table::{self, Column};
use crate::spine::present::{svg, words};

pub(super) const SECTION: Section = Section { id: "outcomes", title: "What became of the trials", body };

/// Error types with a bar of their own; the rest is one line.
const MAX_ERROR_TYPES: usize = 15;

fn body(facts: &Facts<'_>) -> Option<Html> {
    let summary = facts.summary;
    if summary.trials == 0 {
        return None;
    }
    let mut html = Html::new();
    let shown = shown_parts(&facts.survey.outcomes);
    let mut columns = vec![Column::Text("Target"), Column::Chart("Share of all planned trials")];
    columns.extend(shown.iter().map(|(class, title)| Column::Part(class, title)));
    table::open(&mut html, "rates outcomes", "Trials of each target by outcome", &columns);
    html.put("<tbody>", &[]);
    for (slot, outcomes) in summary.slots.iter().zip(&facts.survey.outcomes) {
        let parts = parts(outcomes);
        let spoken: Vec<String> = parts
            .iter()
            .filter(|part| part.2 > 0)
            .map(|(_, title, count)| format!("{title} {count}"))
            .collect();
        html.put(r#"<tr><th scope="row"><bdi>{}</bdi></th><td class="chart">"#, &[&slot.slot]);
        svg::stacked(&mut html, &spoken.join(", "), &parts.map(|(class, _, count)| (class, count)));
        html.put("</td>", &[]);
        for (_, title, count) in parts.iter().filter(|part| shown.contains(&(part.0, part.1))) {
            html.put(r#"<td class="num" data-label="{}">{}</td>"#, &[title, &words::count(*count)]);
        }
        html.put("</tr>", &[]);
    }
    html.put("</tbody>", &[]);
    table::close(&mut html);
    error_types(&mut html, facts);
    Some(html)
}

/// Class, title and count, in the order of the bar.
fn parts(outcomes: &Outcomes) -> [(&'static str, &'static str, u64); 8] {
    let none = |status| outcomes.unassessed(status);
    [
        ("passed", "Passed", outcomes.passed()),
        ("failed", "Failed", outcomes.failed()),
        ("unjudged", "Answered, not judged", none(Status::Success)),
        ("error", "Error", none(Status::Error)),
        ("timeout", "Timeout", none(Status::Timeout)),
        ("limited", "Rate limited", none(Status::RateLimited)),
        ("skipped", "Skipped", none(Status::Skipped)),
        ("not-run", "Not run", none(Status::NotRun)),
    ]
}

/// Passed and failed always, the others where any target has one.
fn shown_parts(slots: &[Outcomes]) -> Vec<(&'static str, &'static str)> {
    let mut shown = Vec::new();
    for (at, (class, title, _)) in parts(&Outcomes::default()).into_iter().enumerate() {
        if at < 2 || slots.iter().any(|outcomes| parts(outcomes)[at].2 > 0) {
            shown.push((class, title));
        }
    }
    shown
}

fn error_types(html: &mut Html, facts: &Facts<'_>) {
    let mut types: Vec<(&str, u64)> =
        facts.summary.error_types.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    if types.is_empty() {
        return;
    }
    types.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let most = types[0].1.max(1);
    html.put("<h3>Error types</h3>", &[]);
    let columns =
        [Column::Text("Error type"), Column::Number("Records"), Column::Chart("Beside the most frequent")];
    table::open(html, "rates errors", "Records by error type", &columns);
    html.put("<tbody>", &[]);
    for (name, count) in types.iter().take(MAX_ERROR_TYPES) {
        html.put(
            r##"<tr><th scope="row"><a href="#error={}"><bdi>{}</bdi></a></th>"##,
            &[&fragment(name), name],
        );
        html.put(r#"<td class="num">{}</td><td class="chart">"#, &[&words::count(*count)]);
        svg::bar(html, "error", *count as f64 / most as f64);
        html.put("</td></tr>", &[]);
    }
    html.put("</tbody>", &[]);
    table::close(html);
    if let Some(rest) = types.get(MAX_ERROR_TYPES..).filter(|rest| !rest.is_empty()) {
        let records: u64 = rest.iter().map(|(_, count)| count).sum();
        html.put(
            r#"<p class="note">{} more error types with {} in all.</p>"#,
            &[&rest.len(), &words::plural(records, "record", "records")],
        );
    }
}
