//! Problems put to the test before anybody is scored against them: what is given as right has to pass, what is given as
//! wrong has to fail.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::judge::{BATCH, Judge};
use super::problem::Problem;
use super::sample::Sample;
use super::verdict::{ErrorType, Judged};

/// Something about a problem that its users should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The task.
    pub task_id: String,
    /// What there is to say.
    pub what: Flaw,
}

/// What a rehearsal finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// The solution that is given as right does not pass.
    CanonicalFails {
        /// The class of the failure.
        error_type: ErrorType,
        /// The failure in words, in one line.
        why: String,
    },
    /// The solution that is given as wrong passes: the tests do not see the mistake.
    BuggyPasses,
    /// There is no solution to try.
    NoSolution,
    /// It cannot be said without crates that are not there.
    NeedsCrates(Vec<String>),
    /// It cannot be said on this machine.
    Unknown(String),
}

impl Remark {
    /// Whether the problem should not be used as it is.
    pub fn is_broken(&self) -> bool {
        matches!(self.what, Flaw::CanonicalFails { .. } | Flaw::BuggyPasses)
    }
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.task_id, self.what)
    }
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Flaw::CanonicalFails { error_type, why } => {
                write!(f, "the canonical solution does not pass: {}", error_type.as_str())?;
                if why.is_empty() { Ok(()) } else { write!(f, " ({why})") }
            }
            Flaw::BuggyPasses => {
                f.write_str("the buggy solution passes, so the tests do not see its mistake")
            }
            Flaw::NoSolution => f.write_str("there is no canonical solution to try"),
            Flaw::NeedsCrates(crates) => write!(f, "needs crate {}", crates.join(", ")),
            Flaw::Unknown(why) => write!(f, "could not be tried: {why}"),
        }
    }
}

/// Tries the solutions of all problems on so many threads; what there is to say stands in the order of the problems.
pub fn rehearse(judge: &Judge, problems: &[Problem], threads: usize) -> Vec<Remark> {
    let sample = |problem: &Problem, text: &str, completion_id| Sample {
        index: 0,
        task_id: Some(problem.task_id.clone()),
        completion_id,
        completion: Ok(text.to_owned()),
    };
    let solutions: Vec<Sample> = problems
        .iter()
        .flat_map(|problem| {
            let both = [(0, &problem.canonical_solution), (1, &problem.buggy_solution)];
            both.map(|(id, text)| text.as_deref().map(|text| sample(problem, text, id)))
        })
        .flatten()
        .collect();
    let size = solutions.len().div_ceil(threads.max(1)).clamp(1, BATCH);
    let batches: Vec<&[Sample]> = solutions.chunks(size).collect();
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let work = || {
            while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                let samples: Vec<&Sample> = batch.iter().collect();
                let judged = judge.judge_many(&samples);
                let mut verdicts = verdicts.lock().expect("no thread panics while it holds this");
                verdicts.extend(batch.iter().zip(judged));
            }
        };
        // This thread works too: alone, where the machine gives no further one.
        for _ in 1..threads.max(1) {
            drop(std::thread::Builder::new().spawn_scoped(scope, work));
        }
        work();
    });
    let verdicts = verdicts.into_inner().expect("no thread panics while it holds this");
    problems.iter().flat_map(|problem| remarks(problem, &verdicts)).collect()
}

fn remarks(problem: &Problem, verdicts: &[(&Sample, Judged)]) -> Vec<Remark> {
    let of = |id: u64| {
        verdicts.iter().find(|(sample, _)| {
            sample.completion_id == id && sample.task_id.as_deref() == Some(problem.task_id.as_str())
        })
    };
    let canonical = of(0).map_or(Some(Flaw::NoSolution), |(_, judged)| flaw(judged));
    let buggy = of(1).filter(|(_, judged)| judged.passed()).map(|_| Flaw::BuggyPasses);
    [canonical, buggy]
        .into_iter()
        .flatten()
        .map(|what| Remark { task_id: problem.task_id.clone(), what })
        .collect()
}

/// What a canonical solution's verdict says of its problem.
fn flaw(judged: &Judged) -> Option<Flaw> {
    let error_type = judged.error_type?;
    let why = judged.error.as_deref().unwrap_or_default();
    let why = why.lines().next().unwrap_or_default().trim_end_matches([':', ' ']).to_owned();
    Some(match error_type {
        ErrorType::InfraMissingCrate => Flaw::NeedsCrates(judged.diagnostics.missing_crates.clone()),
        _ if error_type.is_infra() => Flaw::Unknown(why),
        _ => Flaw::CanonicalFails { error_type, why },
    })
}
