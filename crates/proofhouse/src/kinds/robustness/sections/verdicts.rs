//! Each target's verdicts, counted: runs that ended by what they showed are never pooled into one rate.

use proofhouse_ledger::summary::robustness::{GeneratorEffect, Robustness};

use super::words;
use crate::spine::present::Facts;
use crate::text::doc::{Cell, Column, Doc, Line, Table};
use crate::text::numbers::count;

/// The table under the verdict.
pub(super) fn rates(facts: &Facts<'_>) -> Doc {
    let mut doc = Doc::new();
    let Some(found) = facts.summary.robustness.as_ref() else { return doc };
    let columns = vec![
        Column::text("Target"),
        Column::text("Instructions as they stand"),
        Column::text("Rewording"),
        Column::text("Stress levels"),
        Column::number("Runs assessed"),
    ];
    let mut table = Table::new("plain", "Verdicts by target", columns);
    for slot in &facts.summary.slots {
        table.row(row(found, &slot.slot, slot.pass_rate.denominator));
    }
    doc.everywhere(table);
    doc
}

fn row(found: &Robustness, slot: &str, runs: u64) -> Vec<Cell> {
    let baselines = found.baselines.iter().filter(|baseline| baseline.slot == slot);
    let generators = found.generators.iter().filter(|generator| generator.slot == slot);
    let levels = found.levels.iter().filter(|level| level.slot == slot);
    vec![
        Line::default().name(slot).into(),
        counted(baselines.map(|baseline| words::baseline(baseline.verdict))),
        counted(generators.map(|generator| match generator.effect {
            GeneratorEffect::ChangesOutcomes => "changes outcomes",
            GeneratorEffect::Equivalent => "equivalent",
            GeneratorEffect::NotEnoughRuns => "not enough runs",
        })),
        counted(levels.map(|level| words::level(level.verdict))),
        count(runs).into(),
    ]
}

/// `2 stable, 1 flaky`, in the order in which they come first.
fn counted(all: impl Iterator<Item = &'static str>) -> Cell {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for word in all {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, number)) => *number += 1,
            None => counts.push((word, 1)),
        }
    }
    match counts.is_empty() {
        true => Cell::dash(),
        false => {
            let parts: Vec<String> = counts.iter().map(|(word, number)| format!("{number} {word}")).collect();
            parts.join(", ").into()
        }
    }
}
