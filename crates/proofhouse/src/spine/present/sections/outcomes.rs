//! What became of the trials: statuses of each target side by side, and error types.

use proofhouse_ledger::record::Status;

use super::{Facts, Section};
use crate::spine::present::behind::{Behind, counted_as, drawn};
use crate::spine::present::survey::Outcomes;
use crate::text::doc::figure::{Portion, Scale};
use crate::text::doc::{Cell, Column, Content, Doc, Figure, Line, Table};
use crate::text::numbers::count;

pub(super) const SECTION: Section = Section { id: "outcomes", title: "What became of the trials", body };

/// Error types with a bar of their own; the rest is one line.
const MAX_ERROR_TYPES: usize = 15;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let survey = facts.survey.filter(|_| facts.summary.trials > 0)?;
    let mut doc = Doc::new();
    let shown = shown_parts(&survey.outcomes);
    let mut columns =
        vec![Column::text("Target"), Column::figures(Scale::Title, "Share of all planned trials")];
    columns.extend(shown.iter().map(|(class, title)| Column::part(class, *title)));
    let mut table = Table::new("rates outcomes", "Trials of each target by outcome", columns);
    for (slot, outcomes) in facts.summary.slots.iter().zip(&survey.outcomes) {
        let parts = parts(outcomes).map(|part| portion(&slot.slot, part));
        let mut cells: Vec<Cell> =
            vec![Line::default().name(slot.slot.as_str()).into(), Figure::Stacked(parts.to_vec()).into()];
        let counted = parts.into_iter().filter(|part| shown.contains(&(part.class, part.title)));
        cells.extend(counted.map(|part| Cell::from(Line::from(count(part.count)).records(part.records))));
        table.row(cells);
    }
    doc.documents(table);
    error_types(&mut doc, facts);
    Some(doc)
}

/// A part of the bar, with the records of the target that are behind it.
fn portion(slot: &str, (class, title, count): (&'static str, &'static str, u64)) -> Portion {
    let mut records = vec![("slot", slot.to_owned())];
    let status = match class {
        "passed" | "failed" => None,
        "unjudged" => Some(Status::Success),
        "error" => Some(Status::Error),
        "timeout" => Some(Status::Timeout),
        "limited" => Some(Status::RateLimited),
        "skipped" => Some(Status::Skipped),
        _ => Some(Status::NotRun),
    };
    let verdict = match status {
        None => Some(class),
        // Nobody misses a verdict of what was not to be run.
        Some(Status::NotRun) => None,
        Some(_) => Some("unassessed"),
    };
    records.extend(verdict.map(|verdict| ("verdict", verdict.to_owned())));
    records.extend(status.map(|status| ("status", status.as_str().to_owned())));
    Portion { class, title, count, records }
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

fn error_types(doc: &mut Doc, facts: &Facts<'_>) {
    let mut types: Vec<(&str, u64)> =
        facts.summary.error_types.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    if types.is_empty() {
        return;
    }
    types.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let most = types[0].1.max(1);
    doc.documents(Content::Heading("Error types".into()));
    let columns = vec![
        Column::text("Error type"),
        Column::number("Records"),
        Column::figures(Scale::Title, "Beside the most frequent"),
    ];
    let mut table = Table::new("rates errors", "Records by error type", columns);
    for (name, number) in types.iter().take(MAX_ERROR_TYPES) {
        table.row(vec![
            Line::default().name(*name).records(vec![("error", (*name).to_owned())]).into(),
            Line::from(count(*number)).records(vec![("error", (*name).to_owned())]).into(),
            drawn(Figure::Bar(*number as f64 / most as f64), vec![("error", (*name).to_owned())]),
        ]);
    }
    doc.documents(table);
    if let Some(rest) = types.get(MAX_ERROR_TYPES..).filter(|rest| !rest.is_empty()) {
        let records: u64 = rest.iter().map(|(_, count)| count).sum();
        let names = rest.iter().map(|(name, _)| *name);
        let line = Line::from(format!("{} more error types with ", rest.len()));
        let of_them =
            counted_as(records, ("record", "records"), Behind::all().with("error", names).records());
        doc.documents(Content::note(line.then(of_them).text(" in all.")));
    }
}
