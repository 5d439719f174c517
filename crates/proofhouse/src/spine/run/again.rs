//! Judging the records of a run again, each beside the trial that the suite plans at its place.

use proofhouse_ledger::files::FileError;
use proofhouse_ledger::record::{HEAD, Line, Spans};

use super::execute::ExecuteError;
use super::job::NextLine;
use crate::spine::plan::{Planned, Trial};
use crate::spine::rejudge::{Again, JudgeAgain, Recorded};
use crate::spine::suite::Problems;

/// What kept records from being judged again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgainError {
    /// A dataset changed since it was loaded.
    #[error("{0}")]
    Suite(Problems),
    /// The records cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// What this machine lacks.
    #[error(transparent)]
    Means(#[from] ExecuteError),
}

/// Brings plan and records together by their index. A record that is not of the trial at its place is left to whoever compares plans.
pub(super) fn in_order<I>(
    judge: &dyn JudgeAgain<I>,
    planned: Planned<'_, I>,
    lines: &mut NextLine<'_>,
    tell: &mut dyn FnMut(&Line<'_>, Again),
) -> Result<(), AgainError> {
    let mut waiting = Vec::new();
    let mut next = None;
    for planned in planned {
        let (trial, item) = planned.map_err(AgainError::Suite)?;
        while next.as_ref().is_none_or(|(index, _)| *index < trial.index) {
            let Some(line) = lines()? else {
                judge_all(judge, waiting, tell);
                return Ok(());
            };
            // What cannot be read has no place in the plan, and is named by others.
            next = index_of(&line).map(|index| (index, line));
        }
        if let Some((_, line)) = next.take_if(|(index, _)| *index == trial.index) {
            waiting.push((trial, item, line));
        }
        if waiting.len() >= judge.together() {
            judge_all(judge, std::mem::take(&mut waiting), tell);
        }
    }
    judge_all(judge, waiting, tell);
    Ok(())
}

fn index_of(line: &[u8]) -> Option<u64> {
    Line::split(line, &mut Spans::default()).ok()?.index().ok()
}

fn judge_all<I>(
    judge: &dyn JudgeAgain<I>,
    waiting: Vec<(Trial, I, Vec<u8>)>,
    tell: &mut dyn FnMut(&Line<'_>, Again),
) {
    let (planned, lines): (Vec<_>, Vec<_>) =
        waiting.into_iter().map(|(trial, item, line)| ((trial, item), line)).unzip();
    let mut spans: Vec<Spans> = lines.iter().map(|_| Spans::default()).collect();
    let mut rest = Vec::new();
    for (((trial, item), line), spans) in planned.into_iter().zip(&lines).zip(&mut spans) {
        let Ok(line) = Line::split(line, spans) else { continue };
        let of_trial = line.record_id().is_ok_and(|id| id == trial.record_id)
            && line.get(HEAD.input_fingerprint).is_ok_and(|input| input == trial.input_fingerprint);
        if of_trial {
            rest.push(Recorded { trial, item, line });
        }
    }
    let found = judge.again(&rest);
    debug_assert_eq!(found.len(), rest.len(), "one verdict for each record");
    for (record, again) in rest.iter().zip(found) {
        tell(&record.line, again);
    }
}
