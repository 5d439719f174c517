//! The plan of a `code` suite: every line of every samples file in its order, then task, model and sample.

use std::sync::Arc;

use proofhouse_ledger::{Digest, RecordId};

use super::{Item, Trial};
use crate::code::{Sample, Samples};
use crate::suite::{Code, CodeBody, Place, Problem, Problems, SampleSource, Suite};

/// What stands for the task of a line that names none.
const NO_TASK: &str = "(no task)";

/// The case of a line.
pub(super) fn case_id(sample: &Sample) -> &str {
    sample.task_id.as_deref().unwrap_or(NO_TASK)
}

/// The trials, one after the other.
pub(super) fn trials<'a>(
    suite: &'a Suite,
    code: &'a CodeBody,
) -> impl Iterator<Item = Result<Trial, Problems>> + 'a {
    let lines = code.samples.iter().enumerate().flat_map(move |(slot, source)| Source {
        suite,
        code,
        slot,
        source,
        samples: None,
        ended: false,
    });
    let first = code.samples.len();
    let asked = code.problems.iter().enumerate().flat_map(move |(at, problem)| {
        let ask = code.ask(problem).expect("the prompt was filled for every problem when it was checked");
        let (fingerprint, task_id) = (Digest::of(ask.as_bytes()), Arc::<str>::from(problem.task_id.as_str()));
        (first..suite.slots.len()).flat_map(move |slot| {
            let task_id = Arc::clone(&task_id);
            (0..code.samples_per_task).map(move |repetition| {
                let item = Item::Task(at, Arc::clone(&task_id));
                Ok(trial(suite, (slot, &task_id, repetition), fingerprint, item))
            })
        })
    });
    lines.chain(asked).enumerate().map(|(index, trial)| {
        trial.map(|mut trial: Trial| {
            trial.index = index as u64;
            trial
        })
    })
}

/// A trial whose place in the plan is filled in later.
fn trial(
    suite: &Suite,
    (slot, case_id, repetition): (usize, &str, u32),
    input_fingerprint: Digest,
    item: Item,
) -> Trial {
    Trial {
        index: 0,
        record_id: RecordId::of_trial(&suite.slots[slot].name, case_id, None, repetition),
        input_fingerprint,
        slot,
        variant_id: None,
        repetition,
        item,
    }
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
    type Item = Result<Trial, Problems>;

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
        let case_id = case_id(&sample).to_owned();
        let item = Item::Sample(Arc::new(sample));
        Some(Ok(trial(self.suite, (self.slot, &case_id, repetition), fingerprint, item)))
    }
}
