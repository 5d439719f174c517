//! Whether a task is sound, asked only where somebody fails it: a task whose own solution does not pass says nothing about
//! anybody's answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::judge::Judge;
use super::verdict::{ErrorType, Judged};

/// What is known of tasks so far; used from any number of threads.
#[derive(Default)]
pub struct Soundness {
    known: Mutex<BTreeMap<String, Arc<OnceLock<Option<String>>>>>,
}

impl Soundness {
    /// Whether a broken task could be behind a verdict.
    pub fn concerns(judged: &Judged) -> bool {
        judged.error_type.is_some_and(is_in_doubt)
    }

    /// The verdict on an answer, or that its task is broken where the answer failed and the task's own solution does too.
    pub fn settle(&self, judge: &Judge, task_id: &str, judged: Judged) -> Judged {
        if !Soundness::concerns(&judged) {
            return judged;
        }
        let cell = self.cell(task_id);
        let solution =
            || judge.judge_completion(task_id, judge.problem(task_id)?.canonical_solution.as_ref()?);
        told(cell.get_or_init(|| solution().and_then(flaw)).as_ref(), judged)
    }

    /// The same while other answers are being judged on this thread. What takes a second try, alone, is not found out now: the
    /// verdict is given back.
    ///
    /// # Errors
    /// The verdict, about whose task nothing is known yet.
    pub fn settle_beside_others(
        &self,
        judge: &Judge,
        task_id: &str,
        judged: Judged,
    ) -> Result<Judged, Box<Judged>> {
        if !Soundness::concerns(&judged) {
            return Ok(judged);
        }
        let cell = self.cell(task_id);
        if cell.get().is_none() {
            let solution = judge.problem(task_id).and_then(|problem| problem.canonical_solution.as_ref());
            let flaw = match solution.map(|solution| judge.judge_beside_others(task_id, solution)) {
                None => None,
                Some(Some(judged)) if !judged.is_doubtful() => flaw(judged),
                Some(_) => return Err(Box::new(judged)),
            };
            let _ = cell.set(flaw);
        }
        Ok(told(cell.get().and_then(Option::as_ref), judged))
    }

    fn cell(&self, task_id: &str) -> Arc<OnceLock<Option<String>>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(task_id.to_owned()).or_default())
    }
}

fn told(flaw: Option<&String>, judged: Judged) -> Judged {
    match flaw.cloned() {
        None => judged,
        Some(flaw) => {
            Judged { error_type: Some(ErrorType::BrokenTask), error: Some(flaw), test_ok: None, ..judged }
        }
    }
}

/// What is wrong with a task of whose own solution this is said.
fn flaw(judged: Judged) -> Option<String> {
    let error_type = judged.error_type?;
    let why = judged.error.unwrap_or_default();
    let why = why.lines().next().unwrap_or_default().trim_end_matches([':', ' ']);
    match error_type {
        ErrorType::InfraMissingModule => Some(format!("its own solution needs what is not there: {why}")),
        // Nothing is known of the task: the machine, or our means, stood in the way.
        _ if error_type.is_infra() => None,
        ErrorType::Unsupported | ErrorType::LintFailure | ErrorType::NoTests => None,
        _ => Some(format!("its own solution does not pass: {} ({why})", error_type.as_str())),
    }
}

/// Whether a broken task could be behind it. What never reached the tests is the answer's own.
fn is_in_doubt(error_type: ErrorType) -> bool {
    match error_type {
        ErrorType::CompileError
        | ErrorType::CompileTimeout
        | ErrorType::RuntimeError
        | ErrorType::AssertionFailure
        | ErrorType::TestTimeout
        | ErrorType::MemoryLimit
        | ErrorType::OutputLimit
        | ErrorType::ExtractionFailed
        | ErrorType::InfraMissingModule => true,
        ErrorType::InfraMissingToolchain
        | ErrorType::InfraMissingLinter
        | ErrorType::InfraMissingCrate
        | ErrorType::InfraSandbox
        | ErrorType::InfraToolchainBroken
        | ErrorType::InvalidSample
        | ErrorType::UnknownTask
        | ErrorType::LintFailure
        | ErrorType::NoTests
        | ErrorType::BrokenTask
        | ErrorType::Tampered
        | ErrorType::Unsupported => false,
    }
}
