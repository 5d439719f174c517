//! Are the answers right, and what changed? Targets × cases × judges × repetitions.

use crate::kinds::{FlagSet, Row, erased};
use proofhouse_ledger::record::{Kind, PROBE};

mod body;
mod calibration;
mod cells;
mod datasets;
mod file;
mod import;
mod metrics;
mod plan;
mod recipes;
mod rejudge;
mod sections;
mod suite;
mod tally;
mod weighed;
mod work;

pub use suite::{Primary, Probe, Scoring};

pub(super) const ROW: Row = Row {
    kind: Kind::Probe,
    about: "Are the answers right, and what changed?",
    read: |loading| suite::read(loading).map(erased),
    is_meant: |_| false,
    schema: |generator| generator.subschema_for::<file::ProbeFile>(),
    flags: FlagSet::NONE,
    tally: |config| Box::new(tally::ProbeTally::new(config)),
    rejudge: rejudge::open,
    readers: &[],
    planned: || vec![PROBE.expected.into(), PROBE.tags.into()],
    present: sections::PRESENTATION,
    verdict: |_| None,
    changes: |_, _| Vec::new(),
    measures: |_| Vec::new(),
    formats: &[],
    exports: &[],
    recipes: recipes::RECIPES,
    imports: import::IMPORTS,
    starter: &[
        ("probe.yaml", include_str!("init/probe.yaml")),
        ("questions.jsonl", include_str!("init/questions.jsonl")),
    ],
};
