//! The sections of a report. Each is one file that says its part, once for every form, from [`Facts`], and a row.
//!
//! A section has nothing to say where its facts are missing (no tags, one target, another kind of suite): then it gives
//! `None` and leaves no trace. What it says everywhere follows from the summary and the first failures; what needs all
//! records is for documents. Whatever it shows on a page must be readable without JavaScript.

use std::collections::BTreeMap;

use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::record::{MISSING_SHARD, Status};
use proofhouse_ledger::summary::{Slot, Summary};

use super::failures::Failure;
use super::own::OwnPresentation;
use super::survey::Survey;
use super::timing::Timing;
use crate::text::doc::{Doc, Line, Part, Report};
use crate::text::numbers::{count, plural};

mod cases;
mod comparisons;
mod costs;
mod failures;
mod matrix;
mod outcomes;
mod provenance;
mod records;
mod scores;
mod tags;
mod timing;
mod verdict;
mod wordings;

/// The order in which a reader meets them: the verdict and its uncertainty first, then what only this kind of run has, how to
/// check it all last.
fn all(own: &'static [Section]) -> impl Iterator<Item = &'static Section> {
    FIRST.iter().chain(own).chain(REST)
}

const FIRST: &[Section] = &[verdict::SECTION, failures::SECTION];

/// What every kind has behind its own sections.
const REST: &[Section] = &[
    matrix::SECTION,
    comparisons::SECTION,
    costs::SECTION,
    timing::SECTION,
    wordings::SECTION,
    outcomes::SECTION,
    tags::SECTION,
    scores::SECTION,
    cases::SECTION,
    records::SECTION,
    provenance::SECTION,
];

/// A part of what people are told.
pub struct Section {
    /// Its anchor.
    pub(crate) id: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    /// What stands under the heading.
    pub(crate) body: fn(&Facts<'_>) -> Option<Doc>,
}

/// Everything that a section may draw from.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The name of the run directory, for what lies beside it; a file of the run directory never says it.
    pub(crate) dir_name: &'a str,
    /// What was run.
    pub(crate) manifest: &'a Manifest,
    /// What it adds up to.
    pub(crate) summary: &'a Summary,
    /// The first trials that were judged wrong.
    pub(crate) failures: &'a [Failure],
    /// How long answers took, where that was measured and may be said: never in a file of the run directory.
    pub(crate) timing: Option<&'a Timing>,
    /// What one reading of the records gave; a terminal does without.
    pub(crate) survey: Option<&'a Survey>,
    /// What the run's kind adds.
    pub(crate) own: &'static OwnPresentation,
}

impl Facts<'_> {
    /// Trials that a stopping rule made unnecessary. Those of a missing shard were not run either, and are missed.
    pub(crate) fn spared(&self) -> u64 {
        if !self.own.spares {
            return 0;
        }
        let of = |counts: &BTreeMap<String, u64>, name: &str| counts.get(name).copied().unwrap_or(0);
        let not_run = of(&self.summary.counts, Status::NotRun.as_str());
        not_run.saturating_sub(of(&self.summary.error_types, MISSING_SHARD))
    }

    /// The same of one slot.
    pub(crate) fn spared_of(&self, slot: &Slot) -> u64 {
        let needed = slot.pass_rate_all.denominator;
        match self.own.spares {
            false => 0,
            true if needed > 0 => slot.trials.saturating_sub(needed),
            true => slot.counts.get(Status::NotRun.as_str()).copied().unwrap_or(0),
        }
    }

    /// Trials whose verdict somebody misses.
    pub(crate) fn unassessed(&self) -> u64 {
        let summary = self.summary;
        let settled = summary.assessed + self.spared() + (self.own.left_out)(summary);
        summary.trials.saturating_sub(settled)
    }
}

/// What there is to say about a run.
pub(super) fn report(facts: &Facts<'_>) -> Report {
    let said =
        |section: &Section| Some(Part { id: section.id, title: section.title, doc: (section.body)(facts)? });
    let manifest = facts.manifest;
    let short = |digest: String| digest[..12].to_owned();
    Report {
        title: manifest.suite_id.clone(),
        lede: lede(facts),
        parts: all(facts.own.sections).filter_map(said).collect(),
        source: Line::from("run ")
            .code(manifest.run_id.to_string())
            .text(", suite content ")
            .code(short(manifest.suite_content_sha256.to_string()))
            .text(", records ")
            .code(short(manifest.records_sha256.to_string()))
            .text(format!(", seed {}, proofhouse {}", manifest.seed, manifest.proofhouse_version)),
    }
}

/// What was run, in one line.
fn lede(facts: &Facts<'_>) -> Line {
    let (manifest, summary) = (facts.manifest, facts.summary);
    let mut text =
        format!(": {}, {} assessed", plural(summary.trials, "trial", "trials"), count(summary.assessed));
    for (number, what) in
        [(facts.spared(), "not needed"), ((facts.own.left_out)(summary), facts.own.left_out_as)]
    {
        if number > 0 {
            text.push_str(&format!(", {} {what}", count(number)));
        }
    }
    let mut line = Line::from(format!("{} suite, run ", manifest.kind.as_str()))
        .code(manifest.run_id.to_string())
        .text(text);
    if facts.unassessed() > 0 {
        line = line.text(", ").strong(format!("{} not assessed", count(facts.unassessed())));
    }
    line.text(format!("; {}.", plural(summary.slots.len() as u64, "target", "targets")))
}
