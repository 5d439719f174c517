//! Judging samples: every sample gets exactly one verdict, and one that time or the machine put in doubt is tried again.

use std::collections::BTreeMap;
use std::io;
use std::sync::{OnceLock, PoisonError, RwLock};

use super::bench::Bench;
use super::language::{Language, Task};
use super::problem::Problem;
use super::sample::{Sample, Samples};
use super::verdict::{ErrorType, Judged};

/// Judges completions of a set of problems; used from any number of threads.
pub struct Judge {
    bench: Bench,
    language: Box<dyn Language>,
    tasks: BTreeMap<String, Entry>,
    /// Held shared by every judgement, and alone by one that is tried again.
    alone: RwLock<()>,
}

struct Entry {
    problem: Problem,
    task: OnceLock<Box<dyn Task>>,
}

impl Judge {
    /// Makes ready to judge answers to these problems.
    pub fn new(bench: Bench, language: Box<dyn Language>, problems: Vec<Problem>) -> Judge {
        let entry = |problem: Problem| (problem.task_id.clone(), Entry { problem, task: OnceLock::new() });
        Judge { bench, language, tasks: problems.into_iter().map(entry).collect(), alone: RwLock::new(()) }
    }

    /// The bench on which it runs.
    pub fn bench(&self) -> &Bench {
        &self.bench
    }

    /// The language.
    pub fn language(&self) -> &dyn Language {
        self.language.as_ref()
    }

    /// The problem of this name.
    pub fn problem(&self, task_id: &str) -> Option<&Problem> {
        self.tasks.get(task_id).map(|entry| &entry.problem)
    }

    /// Judges one line of a samples file.
    pub fn judge(&self, sample: &Sample) -> Judged {
        let known = sample.task_id.as_deref().map(|task_id| (task_id, self.tasks.get(task_id)));
        match (&sample.completion, known) {
            (Err(invalid), _) => Judged::refused(ErrorType::InvalidSample, invalid.to_string()),
            (Ok(_), None) => Judged::refused(ErrorType::InvalidSample, "the line has no `task_id`"),
            (Ok(_), Some((task_id, None))) => {
                Judged::refused(ErrorType::UnknownTask, format!("no problem has the task id `{task_id}`"))
            }
            (Ok(completion), Some((_, Some(entry)))) => self.judge_entry(entry, completion),
        }
    }

    /// Judges one answer to a task, `None` if there is no such task.
    pub fn judge_completion(&self, task_id: &str, completion: &str) -> Option<Judged> {
        self.tasks.get(task_id).map(|entry| self.judge_entry(entry, completion))
    }

    fn judge_entry(&self, entry: &Entry, completion: &str) -> Judged {
        let task = entry.task.get_or_init(|| self.language.task(&entry.problem));
        let mut first = {
            let _shared = self.alone.read().unwrap_or_else(PoisonError::into_inner);
            task.judge(&self.bench, completion)
        };
        first.tries = vec![first.error_type];
        if !first.error_type.is_some_and(is_doubtful) {
            return first;
        }
        let _alone = self.alone.write().unwrap_or_else(PoisonError::into_inner);
        let mut second = task.judge(&self.bench, completion);
        second.tries = vec![first.error_type, second.error_type];
        second
    }
}

/// Whether a loaded or broken machine could be behind it.
fn is_doubtful(error_type: ErrorType) -> bool {
    error_type.is_timeout() || matches!(error_type, ErrorType::InfraSandbox | ErrorType::InfraToolchainBroken)
}

/// Judges all samples in their order, one at a time.
pub fn judge_samples(judge: &Judge, samples: Samples) -> impl Iterator<Item = io::Result<(Sample, Judged)>> {
    samples.map(move |sample| {
        sample.map(|sample| {
            let judged = judge.judge(&sample);
            (sample, judged)
        })
    })
}
