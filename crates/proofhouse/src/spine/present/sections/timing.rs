//! How long answers took: only where telemetry lies beside the run, and never in a file of the run directory.

use super::{Facts, Section};
use crate::text::doc::{Column, Content, Doc, Line, Table};
use crate::text::numbers::{count, milliseconds};

pub(super) const SECTION: Section = Section { id: "timing", title: "Latency", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let timing = facts.timing?;
    let columns = vec![
        Column::names("Target"),
        Column::number("p50"),
        Column::number("p95"),
        Column::number("Answers measured"),
        Column::number("From a cache"),
    ];
    let mut table = Table::new("plain", "Latency of each target", columns);
    let mut any = false;
    for slot in &facts.summary.slots {
        let Some(measured) = timing.slots.get(&slot.slot) else { continue };
        any = true;
        let shown = |share: f64| measured.quantile(share).map_or_else(|| "–".to_owned(), milliseconds);
        table.row(vec![
            Line::default().name(slot.slot.as_str()).into(),
            shown(0.5).into(),
            shown(0.95).into(),
            count(measured.count()).into(),
            count(measured.cached).into(),
        ]);
    }
    if !any {
        return None;
    }
    let mut doc = Doc::new();
    doc.everywhere(table);
    doc.documents(Content::note(
        "From sending a request to the last byte of its answer, without our own queue. Measured on this machine, so it is in the \
         telemetry beside the run and not in the run itself.",
    ));
    Some(doc)
}
