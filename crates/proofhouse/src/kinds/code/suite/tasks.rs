//! Which tasks of a problem file are planned: by name, drawn by the seed, or the first ones.

use std::collections::BTreeSet;

use proofhouse_ledger::Digest;

use super::file::TasksFile;
use super::{CodeFile, flags};
use crate::kinds::code::{CodeFlags, Problem as Task};
use crate::spine::suite::check::Checker;
use crate::spine::suite::kind::Loading;
use crate::spine::suite::load::Overrides;
use crate::spine::suite::problem::{Code, Place, Problem, did_you_mean, quoted};
use crate::spine::suite::tree::Step;
use crate::text::complaint::Complaint;

/// The tasks that are planned, and whether that is all of them.
pub(super) fn choose(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    file: &CodeFile,
    mut problems: Vec<Task>,
) -> (Vec<Task>, bool) {
    let all = problems.len();
    let overrides = flags(loading);
    let named = match &file.tasks {
        TasksFile::Named(tasks) => Some(tasks),
        TasksFile::All | TasksFile::Answered => None,
    };
    if let Some(tasks) = overrides.tasks.as_ref().or(named) {
        let known: Vec<&str> = problems.iter().map(|problem| problem.task_id.as_str()).collect();
        for task in tasks {
            if !known.contains(&task.as_str()) {
                let what = format!("no problem has the task id {}", quoted(task));
                let hint = did_you_mean(task, &known, "tasks");
                let problem = match overrides.tasks {
                    Some(_) => {
                        checker.problems.push(Problem::new(
                            Code::BadValue,
                            Place::whole("command line"),
                            what,
                        ));
                        checker.problems.last_mut().expect("pushed just above")
                    }
                    None => checker.complain(Code::BadValue, &[Step::Key("tasks")], what),
                };
                problem.hint = Some(hint);
            }
        }
        problems.retain(|problem| tasks.contains(&problem.task_id));
    }
    let sample = overrides.sample.or(file.sample.map(|sample| sample.0));
    let seed = loading.overrides.seed.unwrap_or(file.seed.0);
    few(&mut problems, (sample, seed), loading.overrides.limit);
    let all_tasks = problems.len() == all;
    (problems, all_tasks)
}

/// The tasks of a problem file without a suite that the command line chooses; its first wrong task id otherwise.
pub fn chosen(problems: Vec<Task>, overrides: &Overrides) -> Result<Vec<Task>, Complaint> {
    let mut problems = problems;
    let flags = overrides.own::<CodeFlags>().cloned().unwrap_or_default();
    if let Some(tasks) = &flags.tasks {
        let known: Vec<&str> = problems.iter().map(|problem| problem.task_id.as_str()).collect();
        if let Some(task) = tasks.iter().find(|task| !known.contains(&task.as_str())) {
            let what = format!("no problem has the task id {}", quoted(task));
            return Err(Complaint::new(what).hint(did_you_mean(task, &known, "tasks")));
        }
        problems.retain(|problem| tasks.contains(&problem.task_id));
    }
    few(&mut problems, (flags.sample, overrides.seed.unwrap_or(0)), overrides.limit);
    Ok(problems)
}

/// Keeps so many tasks, drawn by the seed, and of those the first.
fn few(problems: &mut Vec<Task>, (sample, seed): (Option<u64>, u64), limit: Option<u64>) {
    if let Some(count) = sample {
        draw(problems, usize::try_from(count).unwrap_or(usize::MAX), seed);
    }
    if let Some(limit) = limit {
        problems.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
}

/// Keeps `count` tasks by the digest of seed and task id: the same ones wherever they stand in the file.
fn draw(problems: &mut Vec<Task>, count: usize, seed: u64) {
    let lot =
        |problem: &Task| Digest::of_parts(&[b"task", &seed.to_le_bytes(), problem.task_id.as_bytes()]).0;
    let mut lots: Vec<[u8; 32]> = problems.iter().map(lot).collect();
    lots.sort_unstable();
    lots.truncate(count);
    let lots: BTreeSet<[u8; 32]> = lots.into_iter().collect();
    problems.retain(|problem| lots.contains(&lot(problem)));
}
