//! The first failures of a run: each case once per target, in the order of the plan.
//!
//! Whoever tells them reads records only until it has them, so a terminal can afford it after a long run.

use std::collections::BTreeSet;

use camino::Utf8Path;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, HEAD, Line, Spans};
use proofhouse_ledger::summary::{Slot, Summary};

use super::ReportError;
use super::own::OwnPresentation;

/// Failures that everybody is told by name.
pub(crate) const MAX_TOLD: usize = 5;
/// Failures that a page shows before anybody asks for more.
pub(crate) const MAX_SHOWN: usize = 12;

/// A trial that was judged wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub(crate) record_id: String,
    pub(crate) case: String,
    pub(crate) slot: String,
    pub(crate) told: FailureDetails,
}

/// What a kind tells of a failed trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FailureDetails {
    /// What was asked, and what that is called.
    pub(crate) asked: Option<(&'static str, String)>,
    /// What the case expects.
    pub(crate) expected: Option<String>,
    /// What came instead.
    pub(crate) answer: Option<String>,
    /// Why that is wrong, in the judge's words.
    pub(crate) why: Option<String>,
}

/// How many trials were judged wrong.
pub(crate) fn count(summary: &Summary) -> u64 {
    let failed = |slot: &Slot| slot.pass_rate.denominator - slot.pass_rate.numerator;
    summary.slots.iter().map(failed).sum()
}

/// The targets that are put to the test.
pub(crate) fn tested<'a>(
    summary: &'a Summary,
    own: &OwnPresentation,
) -> impl Iterator<Item = &'a Slot> + use<'a> {
    let is_control = own.is_control;
    summary.slots.iter().filter(move |slot| !is_control(summary, &slot.slot))
}

/// How many of them are of targets that are put to the test.
pub(crate) fn news(summary: &Summary, own: &OwnPresentation) -> u64 {
    tested(summary, own).map(|slot| slot.pass_rate.denominator - slot.pass_rate.numerator).sum()
}

/// Reads them, as many as are wanted.
pub(super) fn first(
    path: &Utf8Path,
    summary: &Summary,
    own: &OwnPresentation,
    most: usize,
) -> Result<Vec<Failure>, ReportError> {
    let Some(told) = own.failure else { return Ok(Vec::new()) };
    let excluded = (own.excluded)(summary);
    let mut left = news(summary, own);
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let (mut reader, mut spans, mut number) = (LineReader::open(path)?, Spans::default(), 0);
    while left > 0 && found.len() < most {
        let block = reader.next_lines().map_err(FileError::new("read", path))?;
        if block.is_empty() {
            break;
        }
        for bytes in lines(block) {
            number += 1;
            let failure = Line::split(bytes, &mut spans)
                .and_then(|line| failed(&line, told))
                .map_err(|source| ReportError::Record { line: number, source })?;
            let counts = |failure: &Failure| {
                !excluded.contains(failure.case.as_str()) && !(own.is_control)(summary, &failure.slot)
            };
            let Some(failure) = failure.filter(counts) else { continue };
            left = left.saturating_sub(1);
            if found.len() < most && seen.insert((failure.case.clone(), failure.slot.clone())) {
                found.push(failure);
            }
        }
    }
    Ok(found)
}

/// How a kind tells of a failed trial.
pub(crate) type Tell = fn(&Line<'_>) -> Result<FailureDetails, Damage>;

fn failed(line: &Line<'_>, told: Tell) -> Result<Option<Failure>, Damage> {
    if line.get(HEAD.passed)? != Some(false) {
        return Ok(None);
    }
    let (case, slot) = (line.get(HEAD.case_id)?.into_owned(), line.get(HEAD.slot)?.into_owned());
    let record_id = line.record_id()?.to_string();
    Ok(Some(Failure { record_id, case, slot, told: told(line)? }))
}
