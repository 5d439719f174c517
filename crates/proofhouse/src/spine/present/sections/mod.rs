//! The sections of a report. Each is one file that makes its part of the page from [`Facts`], and a row.
//!
//! A section has nothing to say where its facts are missing (no tags, one target, another kind of suite): then it gives
//! `None` and leaves no trace in the page. Whatever it shows must be readable without JavaScript.

use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::summary::Summary;

use super::html::Html;
use super::survey::Survey;

mod cases;
mod comparisons;
mod outcomes;
mod provenance;
mod records;
mod scores;
mod tags;
mod verdict;
mod wordings;

/// The order in which a reader meets them: the verdict and its uncertainty first, then what only this kind of run has, how to
/// check it all last.
pub(super) fn all(own: &'static [Section]) -> impl Iterator<Item = &'static Section> {
    FIRST.iter().chain(own).chain(REST)
}

const FIRST: &[Section] = &[verdict::SECTION];

/// What every kind has behind its own sections.
const REST: &[Section] = &[
    comparisons::SECTION,
    wordings::SECTION,
    outcomes::SECTION,
    tags::SECTION,
    scores::SECTION,
    cases::SECTION,
    records::SECTION,
    provenance::SECTION,
];

/// A part of the page.
pub struct Section {
    /// Its anchor.
    pub(crate) id: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    /// What stands under the heading.
    pub(crate) body: fn(&Facts<'_>) -> Option<Html>,
}

/// Everything that a section may draw from.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// What was run.
    pub(crate) manifest: &'a Manifest,
    /// What it adds up to.
    pub(crate) summary: &'a Summary,
    /// What one reading of the records gave.
    pub(crate) survey: &'a Survey,
}
