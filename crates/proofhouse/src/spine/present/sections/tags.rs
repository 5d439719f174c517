//! Pass rates by tag, for each target, with the interval that small groups deserve.

use std::collections::BTreeSet;

use proofhouse_ledger::summary::Rate;

use super::{Facts, Section};
use crate::spine::present::behind::drawn;
use crate::spine::present::words;
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Records, Table};
use crate::text::numbers::count;

pub(super) const SECTION: Section = Section { id: "tags", title: "By tag", body };

/// Tags beyond these are in `summary.json` only.
const MAX_TAGS: usize = 60;

/// The records of a target with this tag and verdict.
fn behind(tag: &str, slot: &str, verdict: &str) -> Records {
    vec![("tag", tag.to_owned()), ("slot", slot.to_owned()), ("verdict", verdict.to_owned())]
}

/// `3 of 4`, each count with its records behind it.
fn parted(tag: &str, slot: &str, rate: &Rate) -> Cell {
    let of = |verdict: &str| behind(tag, slot, verdict);
    let passed = Line::from(count(rate.numerator)).records(of("passed"));
    passed.text(" of ").text(count(rate.denominator)).records(of("assessed")).into()
}

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let slots = &facts.summary.slots;
    let tags: BTreeSet<&str> = slots.iter().flat_map(|slot| slot.tags.keys()).map(String::as_str).collect();
    if tags.is_empty() {
        return None;
    }
    let columns = vec![
        Column::text("Tag"),
        Column::names("Target"),
        Column::number("Passed"),
        Column::figures(Scale::Share, "95 % interval, drawn"),
        Column::number("95 % interval"),
        Column::number("Passed of assessed"),
    ];
    let mut table = Table::new("rates tags", "Pass rate of each target by tag", columns).grouped();
    for tag in tags.iter().take(MAX_TAGS) {
        for (slot, rate) in slots.iter().filter_map(|slot| Some((slot, slot.tags.get(*tag)?))) {
            let passed = Cell::from(words::rate(rate));
            table.row(vec![
                Line::default().name(*tag).records(vec![("tag", (*tag).to_owned())]).into(),
                Line::default().name(slot.slot.as_str()).into(),
                if rate.value.is_some() { passed } else { passed.class("missing") },
                drawn(words::figure(rate), behind(tag, &slot.slot, "assessed")),
                words::range(rate),
                parted(tag, &slot.slot, rate),
            ]);
        }
    }
    let mut doc = Doc::new();
    doc.documents(table);
    if tags.len() > MAX_TAGS {
        let text = Line::from(format!("The first {MAX_TAGS} of {} tags; all are in ", tags.len()));
        doc.documents(Content::note(text.code("summary.json").text(".")));
    }
    doc.documents(Content::note(
        "A case with several tags counts under each. Of many small groups, some look bad by chance.",
    ));
    Some(doc)
}
