//! The sections of a report. Each is one file that makes its part of the page from [`Facts`], and a row of [`ALL`].
//!
//! A section has nothing to say where its facts are missing (no tags, one target, another kind of suite): then it gives
//! `None` and leaves no trace in the page. Whatever it shows must be readable without JavaScript.

use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::summary::Summary;

use super::html::Html;
use super::survey::Survey;

mod answers;
mod attacks;
mod attribution;
mod calibration;
mod cases;
mod code;
mod comparisons;
mod false_positives;
mod heat_map;
mod ladder;
mod lanes;
mod leaks;
mod outcomes;
mod provenance;
mod records;
mod scores;
mod tags;
mod verdict;
mod wordings;

/// The order in which a reader meets them: the verdict and its uncertainty first, how to check it all last.
pub(super) const ALL: &[Section] = &[
    verdict::SECTION,
    code::SECTION,
    answers::SECTION,
    calibration::SECTION,
    heat_map::SECTION,
    ladder::SECTION,
    attribution::SECTION,
    attacks::SECTION,
    leaks::SECTION,
    false_positives::SECTION,
    lanes::SECTION,
    comparisons::SECTION,
    wordings::SECTION,
    outcomes::SECTION,
    tags::SECTION,
    scores::SECTION,
    cases::SECTION,
    records::SECTION,
    provenance::SECTION,
];

pub(super) use answers::findings;

/// A part of the page.
pub(super) struct Section {
    /// Its anchor.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    /// What stands under the heading.
    pub(super) body: fn(&Facts<'_>) -> Option<Html>,
}

/// Everything that a section may draw from.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    /// What was run.
    pub(super) manifest: &'a Manifest,
    /// What it adds up to.
    pub(super) summary: &'a Summary,
    /// What one reading of the records gave.
    pub(super) survey: &'a Survey,
}
