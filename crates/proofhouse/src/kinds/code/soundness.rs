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
        match self.flaw(judge, task_id) {
            None => judged,
            Some(flaw) => {
                Judged { error_type: Some(ErrorType::BrokenTask), error: Some(flaw), test_ok: None, ..judged }
            }
        }
    }

    /// What is wrong with a task, found out once.
    fn flaw(&self, judge: &Judge, task_id: &str) -> Option<String> {
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(task_id.to_owned()).or_default())
        };
        cell.get_or_init(|| {
            let solution = judge.problem(task_id)?.canonical_solution.clone()?;
            let judged = judge.judge_completion(task_id, &solution)?;
            let error_type = judged.error_type?;
            let why = judged.error.unwrap_or_default();
            let why = why.lines().next().unwrap_or_default().trim_end_matches([':', ' ']);
            match error_type {
                ErrorType::InfraMissingModule => {
                    Some(format!("its own solution needs what is not there: {why}"))
                }
                // Nothing is known of the task: the machine, or our means, stood in the way.
                _ if error_type.is_infra() => None,
                ErrorType::Unsupported | ErrorType::LintFailure | ErrorType::NoTests => None,
                _ => Some(format!("its own solution does not pass: {} ({why})", error_type.as_str())),
            }
        })
        .clone()
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
