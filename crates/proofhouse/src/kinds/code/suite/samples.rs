//! A file of completions: where it is, how many of its lines are planned, and what is left out of it.

use camino::Utf8Path;

use super::{CodeBody, SampleSource, facts, refuse_keys};
use crate::kinds::code::Samples;
use crate::spine::suite::check::Checker;
use crate::spine::suite::file::FileRef;
use crate::spine::suite::kind::Loading;
use crate::spine::suite::load::DatasetFacts;
use crate::spine::suite::problem::{Code, quoted};
use crate::spine::suite::tree::Step;

/// A file of completions as it was found.
pub(super) struct SamplesFile {
    pub(super) source: SampleSource,
    pub(super) facts: DatasetFacts,
    /// What its user should know.
    pub(super) warning: Option<String>,
}

/// Reads every line once.
pub(super) fn read(
    checker: &mut Checker<'_>,
    loading: &Loading<'_>,
    (reference, steps): (&FileRef, &[Step<'_>]),
    code: &CodeBody,
) -> Option<SamplesFile> {
    let (name, path, sha256) = loading.locate(checker, reference, steps)?;
    refuse_keys(checker, loading, &name, &path)?;
    match count(&path, code) {
        Ok(Count { lines: 0, .. }) => {
            checker.complain(Code::Empty, steps, format!("{} has no lines", quoted(&name))).hint =
                Some("a line is `{\"task_id\": …, \"completion\": …}`".to_owned());
            None
        }
        // Where no task is left, that has been said.
        Ok(Count { planned: 0, .. }) if code.problems.is_empty() && !checker.problems.is_empty() => None,
        Ok(Count { planned: 0, .. }) => {
            let what = format!("no line of {} answers one of the chosen tasks", quoted(&name));
            checker.complain(Code::Empty, steps, what);
            None
        }
        Ok(Count { lines, planned, without_task }) => {
            let facts = facts(reference, sha256, lines);
            let warning = (without_task > 0 && !code.all_tasks).then(|| {
                let lines = if without_task == 1 { "line names" } else { "lines name" };
                let file = quoted(&name);
                format!("{file}: {without_task} {lines} no task that can be read; left out, as only some tasks are chosen")
            });
            Some(SamplesFile { source: SampleSource { name, path, sha256, planned }, facts, warning })
        }
        Err(error) => {
            let what = format!("{} cannot be read: {error}", quoted(&name));
            checker.complain(Code::Unreadable, steps, what);
            None
        }
    }
}

/// The lines of a samples file.
#[derive(Default)]
struct Count {
    lines: u64,
    planned: u64,
    /// Lines whose task cannot be read.
    without_task: u64,
}

fn count(path: &Utf8Path, code: &CodeBody) -> std::io::Result<Count> {
    let mut count = Count::default();
    for sample in Samples::open(path)? {
        let sample = sample?;
        count.lines += 1;
        count.planned += u64::from(code.plans(&sample));
        count.without_task += u64::from(sample.task_id.is_none());
    }
    Ok(count)
}
