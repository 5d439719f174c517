//! The plan of a `code` suite: every line of every samples file in its order, then task, wording, model and sample.

use std::sync::Arc;

use proofhouse_ledger::record::NO_TASK;
use proofhouse_ledger::{Digest, RecordId};

use super::{CodeBody, Problem as Task, Sample, SampleSource, Samples};
use crate::spine::plan::Trial;
use crate::spine::suite::{Code, Lacking, Place, Problem, Problems, Suite};

/// The case of a line.
fn case_id(sample: &Sample) -> &str {
    sample.task_id.as_deref().unwrap_or(NO_TASK)
}

/// What a trial judges.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// A line of a samples file.
    Sample(Arc<Sample>),
    /// A task that a model is asked for; shared by the trials of its wording.
    Task(Arc<Question>),
    /// A wording of a task that its generator could not make, and why.
    Missing(Arc<str>),
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The task.
    pub task_id: String,
    /// The filled prompt: what the model receives, byte for byte.
    pub input: String,
}

/// The trials, one after the other.
pub(super) fn trials<'a>(
    suite: &'a Suite,
    code: &'a CodeBody,
) -> impl Iterator<Item = Result<(Trial, Item), Problems>> + 'a {
    let lines = code.samples.iter().enumerate().flat_map(move |(slot, source)| Source {
        suite,
        code,
        slot,
        source,
        samples: None,
        ended: false,
    });
    let first = code.samples.len();
    // Who asks nobody needs no wordings.
    let tasks = code.problems.iter().filter(move |_| first < suite.slots.len());
    let asked = tasks.flat_map(move |problem| wordings(code, problem)).flat_map(move |wording| {
        (first..suite.slots.len()).flat_map(move |slot| {
            let wording = wording.clone();
            (0..code.samples_per_task).map(move |repetition| Ok(trial(suite, (slot, repetition), &wording)))
        })
    });
    lines
        .chain(asked)
        .enumerate()
        .map(|(index, trial)| trial.map(|(trial, item)| (Trial { index: index as u64, ..trial }, item)))
}

/// A wording that is planned: its task, its id, what is asked, and the digest of that.
type Planned = (Arc<str>, Option<Arc<str>>, Item, Digest);

/// Every wording of a task in plan order, its own first.
fn wordings(code: &CodeBody, problem: &Task) -> Vec<Planned> {
    let task_id: Arc<str> = Arc::from(problem.task_id.as_str());
    let planned = |variant_id, prompt: &str| {
        let input = code.ask(problem, prompt);
        let input = input.expect("the prompt was filled for every problem when it was checked");
        let fingerprint = Digest::of(input.as_bytes());
        let question = Question { task_id: problem.task_id.clone(), input };
        (Arc::clone(&task_id), variant_id, Item::Task(Arc::new(question)), fingerprint)
    };
    let own = planned(None, &problem.prompt);
    let others = code.reworded(problem).into_iter().map(|(id, prompt)| match prompt {
        Ok(prompt) => planned(Some(id), &prompt),
        Err(Lacking(reason)) => {
            (Arc::clone(&task_id), Some(id), Item::Missing(Arc::from(reason)), Digest::of(b""))
        }
    });
    let others: Vec<Planned> = others.collect();
    std::iter::once(own).chain(others).collect()
}

/// A trial whose place in the plan is filled in later.
fn trial(suite: &Suite, (slot, repetition): (usize, u32), wording: &Planned) -> (Trial, Item) {
    let (case_id, variant_id, item, input_fingerprint) = wording.clone();
    let trial = Trial {
        index: 0,
        record_id: RecordId::of_trial(&suite.slots[slot].name, &case_id, variant_id.as_deref(), repetition),
        input_fingerprint,
        slot,
        case_id,
        variant_id,
        repetition,
        missing: matches!(item, Item::Missing(_)),
    };
    (trial, item)
}

/// The lines of one samples file.
struct Source<'a> {
    suite: &'a Suite,
    code: &'a CodeBody,
    slot: usize,
    source: &'a SampleSource,
    samples: Option<Samples>,
    ended: bool,
}

impl Source<'_> {
    fn try_next(&mut self) -> Result<Option<Sample>, Problem> {
        let unreadable = |error: std::io::Error| {
            let place = Place::whole(self.source.name.as_str());
            Problem::new(Code::Unreadable, place, format!("cannot be read: {error}"))
        };
        let samples = match &mut self.samples {
            Some(samples) => samples,
            None => self.samples.insert(Samples::open(&self.source.path).map_err(unreadable)?),
        };
        for sample in samples {
            let sample = sample.map_err(unreadable)?;
            if self.code.plans(&sample) {
                return Ok(Some(sample));
            }
        }
        match Digest::of_file(&self.source.path) {
            Ok(digest) if digest == self.source.sha256 => Ok(None),
            _ => Err(Problem::new(
                Code::Changed,
                Place::whole(self.source.name.as_str()),
                "the samples changed while they were read",
            )
            .hint("run again; every trial so far used the lines that were there before")),
        }
    }
}

impl Iterator for Source<'_> {
    type Item = Result<(Trial, Item), Problems>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.try_next();
        self.ended = !matches!(next, Ok(Some(_)));
        let sample = match next {
            Ok(sample) => sample?,
            Err(problem) => return Some(Err(problem.into())),
        };
        let prompt = sample.task_id.as_deref().and_then(|task| self.code.problem(task));
        let fingerprint = Digest::of(prompt.map_or("", |problem| &problem.prompt).as_bytes());
        let repetition = u32::try_from(sample.completion_id).unwrap_or(u32::MAX);
        let case_id = Arc::from(case_id(&sample));
        let line = (case_id, None, Item::Sample(Arc::new(sample)), fingerprint);
        Some(Ok(trial(self.suite, (self.slot, repetition), &line)))
    }
}

#[cfg(test)]
mod tests;
