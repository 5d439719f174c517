//! Each target's verdicts, counted: runs that ended by what they showed are never pooled into one rate.

use proofhouse_ledger::record::Mode;
use proofhouse_ledger::summary::robustness::{Baseline, GeneratorEffect, Level, Robustness};

use super::{behind, words};
use crate::spine::present::Facts;
use crate::spine::present::behind::{Behind, counted};
use crate::text::doc::{Cell, Column, Doc, Line, Records, Table};

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
    let baseline = |of: &Baseline| (words::baseline(of.verdict), behind::name(&of.slot, &of.case_id, None));
    let level = |of: &Level| {
        (words::level(of.verdict), behind::name(&of.slot, &of.case_id, Some(of.variant_id.as_str())))
    };
    vec![
        Line::default().name(slot).into(),
        each_word(baselines.map(baseline), |names| behind::of_groups(names).by("cases")),
        each_word(generators.map(|of| (effect(of.effect), of.generator.clone())), |names| {
            let reworded = Behind::slot(slot).with("suite", [Mode::Adversarial.as_str()]);
            reworded.with("generator", names.iter().map(String::as_str)).by("generators")
        }),
        each_word(levels.map(level), |names| behind::of_groups(names).by("levels")),
        counted(runs, Behind::slot(slot).filter("verdict", "assessed").records()).into(),
    ]
}

fn effect(effect: GeneratorEffect) -> &'static str {
    match effect {
        GeneratorEffect::ChangesOutcomes => "changes outcomes",
        GeneratorEffect::Equivalent => "equivalent",
        GeneratorEffect::NotEnoughRuns => "not enough runs",
    }
}

/// `2 stable, 1 flaky`, in the order in which they come first, each number with the records of what it counts.
fn each_word(
    all: impl Iterator<Item = (&'static str, String)>,
    records: impl Fn(&[String]) -> Records,
) -> Cell {
    let mut words: Vec<(&str, Vec<String>)> = Vec::new();
    for (word, name) in all {
        match words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, names)) => names.push(name),
            None => words.push((word, vec![name])),
        }
    }
    let part = |(word, names): (&str, Vec<String>)| {
        counted(names.len() as u64, records(&names)).text(format!(" {word}"))
    };
    let joined = words.into_iter().map(part).reduce(|line, part| line.text(", ").then(part));
    joined.map_or_else(Cell::dash, Cell::from)
}
