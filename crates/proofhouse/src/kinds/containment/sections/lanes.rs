//! Containment: lane 1's thresholds beside their values, and the hash by which two runs compare.

use proofhouse_ledger::summary::containment::{Bound, Lane1};

use crate::spine::present::{Facts, Section};
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table, Tone};

pub(super) const SECTION: Section = Section { id: "lanes", title: "Lane 1 and hashes", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let containment = facts.summary.containment.as_ref()?;
    let mut doc = containment.lane1.as_ref().map_or_else(Doc::new, lane1);
    if containment.lane1.is_none() {
        doc.page(Content::plain(
            "This run is the whole suite. What is known of its lane 1 is in the envelope beside it.",
        ));
    }
    doc.documents(Content::facts(containment.variants.iter().map(|variant| {
        let name = Line::from("determinism_hash of ").name(variant.variant.as_str());
        (name, Line::default().code(variant.determinism_hash.to_string()))
    })));
    Some(doc)
}

/// Each threshold of lane 1 beside its value.
pub(crate) fn lane1(lane1: &Lane1) -> Doc {
    let columns = vec![
        Column::text("Variant"),
        Column::text("Check"),
        Column::number("Threshold"),
        Column::number("Value"),
        Column::text("Held"),
    ];
    let mut table = Table::new("lane1", "Thresholds of lane 1 beside their values", columns);
    for check in &lane1.checks {
        let side = match check.bound {
            Bound::AtLeast => "at least",
            Bound::AtMost => "at most",
        };
        let (held, tone) = if check.held { ("yes", Tone::Good) } else { ("NO", Tone::Bad) };
        table.row(vec![
            Line::default().name(check.variant.as_str()).into(),
            check.name.as_str().into(),
            format!("{side} {}", check.threshold).into(),
            check.value.map_or_else(Cell::dash, |value| value.to_string().into()),
            Cell::from(held).tone(tone),
        ]);
    }
    let mut doc = Doc::new();
    doc.everywhere(table);
    doc.everywhere(match lane1.passed {
        true => Content::finding(Tone::Good, "Lane 1 passed."),
        false => Content::finding(Tone::Bad, Line::default().strong("LANE 1 FAILED.")),
    });
    doc
}
