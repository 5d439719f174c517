//! The stress ladders: level by level how often the tool succeeds, and the line where it stops.

use proofhouse_ledger::summary::robustness::{Level, LevelVerdict, Robustness};

use crate::spine::present::words::figure;
use crate::spine::present::{Facts, Section};
use crate::text::doc::figure::Scale;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table, Tone};
use crate::text::numbers::{count, of};

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
        "The heavy line is the capability boundary: the first level that fails systematically. Everything above it \
         succeeds or is undetermined.",
    ));
    Some(doc)
}

fn is_boundary(found: &Robustness, level: &Level) -> bool {
    found.cases.iter().any(|case| {
        case.slot == level.slot && case.case_id == level.case_id && case.boundary == Some(level.level)
    })
}

fn row(level: &Level) -> Vec<Cell> {
    let (tone, word) = match level.verdict {
        LevelVerdict::ClearSuccess => (Tone::Good, "clear success"),
        LevelVerdict::SystematicFailure => (Tone::Bad, "systematic failure"),
        LevelVerdict::Undetermined => (Tone::Open, "undetermined"),
        LevelVerdict::Unassessed => (Tone::Open, "not assessed"),
    };
    let why = level.stop.as_ref().map_or("", |stop| stop.reason.as_str());
    let stages: Vec<String> = level
        .failure_breakdown
        .iter()
        .filter(|(_, number)| **number > 0)
        .map(|(stage, number)| format!("{stage} {}", count(*number)))
        .collect();
    vec![
        Line::default().name(level.case_id.as_str()).into(),
        level.level.to_string().into(),
        Line::default().code(level.generator.as_str()).into(),
        Cell::from(word).tone(tone).small(why).class("verdict"),
        of(level.success.numerator, level.runs).into(),
        figure(&level.success).into(),
        level.mean_repairs.map_or_else(Cell::dash, |mean| format!("{mean:.1}").into()),
        if stages.is_empty() { Cell::dash() } else { stages.join(", ").into() },
    ]
}
