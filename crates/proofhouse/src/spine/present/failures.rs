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

/// Failures that are told by name.
const MAX_TOLD: usize = 5;

/// A trial that was judged wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub(crate) case: String,
    pub(crate) slot: String,
    pub(crate) told: Told,
}

/// What a kind tells of a failed trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
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

/// Reads them.
pub(super) fn first(
    path: &Utf8Path,
    summary: &Summary,
    own: &OwnPresentation,
) -> Result<Vec<Failure>, ReportError> {
    let Some(told) = own.failure else { return Ok(Vec::new()) };
    let excluded = (own.excluded)(summary);
    let mut left = count(summary);
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let (mut reader, mut spans, mut number) = (LineReader::open(path)?, Spans::default(), 0);
    while left > 0 && found.len() < MAX_TOLD {
        let block = reader.next_lines().map_err(FileError::new("read", path))?;
        if block.is_empty() {
            break;
        }
        for bytes in lines(block) {
            number += 1;
            let failure = Line::split(bytes, &mut spans)
                .and_then(|line| failed(&line, told))
                .map_err(|source| ReportError::Record { line: number, source })?;
            let Some(failure) = failure.filter(|failure| !excluded.contains(failure.case.as_str())) else {
                continue;
            };
            left = left.saturating_sub(1);
            if found.len() < MAX_TOLD && seen.insert((failure.case.clone(), failure.slot.clone())) {
                found.push(failure);
            }
        }
    }
    Ok(found)
}

/// How a kind tells of a failed trial.
pub(crate) type Tell = fn(&Line<'_>) -> Result<Told, Damage>;

fn failed(line: &Line<'_>, told: Tell) -> Result<Option<Failure>, Damage> {
    if line.get(HEAD.passed)? != Some(false) {
        return Ok(None);
    }
    let (case, slot) = (line.get(HEAD.case_id)?.into_owned(), line.get(HEAD.slot)?.into_owned());
    Ok(Some(Failure { case, slot, told: told(line)? }))
}
