//! The mean score of each judge, for each target, with an interval over cases.

use std::collections::BTreeSet;

use super::{Facts, Section};
use crate::spine::present::behind::{Behind, counted};
use crate::text::doc::{Cell, Column, Doc, Line, Table};
use crate::text::numbers::decimals;

pub(super) const SECTION: Section = Section { id: "scores", title: "Judges", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let slots = &facts.summary.slots;
    let judges: BTreeSet<&String> = slots.iter().flat_map(|slot| slot.scores.keys()).collect();
    if judges.is_empty() {
        return None;
    }
    let columns = vec![
        Column::text("Judge"),
        Column::names("Target"),
        Column::number("Mean score"),
        Column::number("95 % interval"),
        Column::number("Scores"),
        Column::number("Cases"),
    ];
    let mut table = Table::new("plain", "Mean score of each judge", columns);
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| decimals(value, 3));
    for judge in judges {
        for (slot, mean) in slots.iter().filter_map(|slot| Some((slot, slot.scores.get(judge)?))) {
            let interval = mean.low.zip(mean.high);
            let scored = || {
                let of_slot = Behind::slot(&slot.slot).with("aside", ["false"]);
                of_slot.with(&format!("score.{judge}"), ["true"])
            };
            table.row(vec![
                Line::default().name(judge.as_str()).into(),
                Line::default().name(slot.slot.as_str()).into(),
                number(mean.value).into(),
                interval.map_or_else(Cell::dash, |(low, high)| {
                    format!("{}–{}", decimals(low, 3), decimals(high, 3)).into()
                }),
                counted(mean.count, scored().records()).into(),
                counted(mean.clusters, scored().by("cases")).into(),
            ]);
        }
    }
    let mut doc = Doc::new();
    doc.documents(table);
    Some(doc)
}
