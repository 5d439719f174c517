//! The stress ladders: level by level how often the tool succeeds, and the line where it stops.

use proofhouse_ledger::summary::robustness::{Case, Level, LevelVerdict, Robustness};

use super::{behind, words};
use crate::spine::present::behind::{counted, drawn, parts_of};
use crate::spine::present::words::figure;
use crate::spine::present::{Facts, Section};
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table, Tone};

pub(super) const SECTION: Section = Section { id: "ladder", title: "Stress ladder", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let found = facts.summary.robustness.as_ref().filter(|found| !found.levels.is_empty())?;
    let columns = vec![
        Column::text("Case"),
        Column::number("Level"),
        Column::text("What was added"),
        Column::text("Verdict"),
        Column::number("Succeeded"),
        Column::figures(Scale::Share, "Success, drawn"),
        Column::number("Repairs per run"),
        Column::text("Where it fails"),
    ];
    let mut table = Table::new("rates ladder", "Each stress level", columns);
    for level in &found.levels {
        let class = if is_boundary(found, level) { "boundary" } else { "" };
        table.row_of(class, row(level));
    }
    let mut doc = Doc::new();
    doc.documents(table);
    doc.page(Content::note(
        "Between the heavy lines lies the capability boundary, with 95 % confidence: above them the tool succeeds more often than \
         not, below them it does not.",
    ));
    for case in found.cases.iter().filter_map(|case| Some((case, case.boundary.as_ref()?))) {
        let line = Line::default().name(case.0.case_id.as_str()).text(format!(": {}.", case.1.sentence));
        doc.documents(Content::finding(Tone::Neutral, line));
    }
    Some(doc)
}

/// The first level that may be the boundary, and the one after it.
fn is_boundary(found: &Robustness, level: &Level) -> bool {
    let own = |case: &&Case| case.slot == level.slot && case.case_id == level.case_id;
    let Some(boundary) = found.cases.iter().find(own).and_then(|case| case.boundary.as_ref()) else {
        return false;
    };
    let previous = found
        .levels
        .iter()
        .filter(|other| {
            other.slot == level.slot && other.case_id == level.case_id && other.level < level.level
        })
        .map(|other| other.level)
        .max();
    (previous.is_some() && previous == boundary.above) || (previous.is_some() && previous == boundary.below)
}

fn row(level: &Level) -> Vec<Cell> {
    let tone = match level.verdict {
        LevelVerdict::Clear => Tone::Good,
        LevelVerdict::SystematicFailure => Tone::Bad,
        LevelVerdict::Flaky | LevelVerdict::Undetermined | LevelVerdict::Unassessed => Tone::Open,
    };
    let stages = level
        .failure_breakdown
        .iter()
        .filter(|(_, number)| **number > 0)
        .map(|(stage, number)| {
            let records = behind::of_level(level).with("failure_stage", [stage.as_str()]).records();
            Line::from(format!("{stage} ")).then(counted(*number, records))
        })
        .reduce(|line, part| line.text(", ").then(part));
    vec![
        Line::default().name(level.case_id.as_str()).into(),
        level.level.to_string().into(),
        Line::default().code(level.generator.as_str()).into(),
        Cell::from(words::level(level.verdict)).tone(tone).small(level.sentence.as_str()).class("verdict"),
        parts_of(
            &level.success,
            behind::succeeded(behind::of_level(level)).records(),
            behind::of_level(level).records(),
        )
        .into(),
        drawn(figure(&level.success), behind::of_level(level).records()),
        level.mean_repairs.map_or_else(Cell::dash, |mean| format!("{mean:.1}").into()),
        stages.map_or_else(Cell::dash, Cell::from),
    ]
}
