//! Judging stored completions again: they are compiled, linted and tested once more, in the sandbox and with nothing kept from before.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use proofhouse_ledger::Digest;
use proofhouse_ledger::record::{CODE, Damage, HEAD, Line, MISSING_SHARD, Status};

use super::plan::Item;
use super::work::{held_against, judge_of};
use super::{BATCH, CodeBody, ErrorType, Invalid, Judge, Judged, Sample, Soundness};
use crate::spine::rejudge::{Again, JudgeAgain, Recorded};
use crate::spine::run::ExecuteError;
use crate::spine::run::work::Means;

/// Judges completions of a run again.
pub(super) struct VerdictsAgain {
    judge: Judge,
    soundness: Soundness,
    jobs: usize,
}

/// What there is to do for a record.
enum Errand {
    /// Nothing has to be run.
    Settled(Again),
    /// This has to be judged.
    Judge(Arc<Sample>),
}

impl VerdictsAgain {
    pub(super) fn open(code: &CodeBody, means: Means) -> Result<VerdictsAgain, ExecuteError> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(VerdictsAgain { judge: judge_of(code, means)?, soundness: Soundness::default(), jobs })
    }

    /// Judges samples on all cores; the verdicts stand in the order of the samples.
    fn judge(&self, samples: &[Arc<Sample>]) -> Vec<Judged> {
        let each = samples.len().div_ceil(self.jobs).max(1);
        let first: Vec<Judged> = std::thread::scope(|scope| {
            let judging = samples.chunks(each).map(|chunk| {
                let work = move || {
                    let chunk: Vec<&Sample> = chunk.iter().map(Arc::as_ref).collect();
                    self.judge.judge_many(&chunk)
                };
                // Where the machine gives no further thread, this one does it.
                std::thread::Builder::new().spawn_scoped(scope, work).map_err(|_| work)
            });
            let judging: Vec<_> = judging.collect();
            let joined = judging.into_iter().map(|started| match started.map(|thread| thread.join()) {
                Ok(Ok(judged)) => judged,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(work) => work(),
            });
            joined.flatten().collect()
        });
        let settled = first.into_iter().zip(samples).map(|(judged, sample)| match &sample.task_id {
            Some(task_id) => self.soundness.settle(&self.judge, task_id, judged),
            None => judged,
        });
        settled.collect()
    }

    fn compare(&self, line: &Line<'_>, sample: &Sample, judged: &Judged) -> Result<Again, Damage> {
        if judged.error_type.is_some_and(ErrorType::is_infra) {
            return Ok(Again::Impossible("this machine could not judge them"));
        }
        let (status, passed) = held_against(&self.judge, sample, judged);
        let found = judged.error_type.map(ErrorType::as_str);
        let text = |value: Option<bool>| value.map_or("null".to_owned(), |value| value.to_string());
        let word = |value: Option<&str>| value.map_or("null".to_owned(), |value| format!("`{value}`"));
        let stored = line.get(HEAD.error_type)?;
        let why = judged.error.as_deref().and_then(|error| error.lines().next());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let pairs = [
            ("passed", text(line.get(HEAD.passed)?), text(passed)),
            ("error_type", word(stored.as_deref()), word(found)),
            ("status", word(Some(line.status()?.as_str())), word(Some(status.as_str()))),
            ("compile_ok", text(line.get(CODE.compile_ok)?), text(judged.compile_ok)),
            ("test_ok", text(line.get(CODE.test_ok)?), text(judged.test_ok)),
            ("clippy_ok", text(line.get(CODE.clippy_ok)?), text(judged.clippy_ok)),
            ("main_free", text(line.get(CODE.main_free)?), text(judged.main_free)),
            ("unsafe", text(line.get(CODE.has_unsafe)?), text(judged.has_unsafe)),
        ];
        Ok(match pairs.into_iter().find(|(_, stored, found)| stored != found) {
            None => Again::Same,
            Some((field, stored, now)) => Again::Other(format!(
                "`{field}` is {stored}, judged again it is {now} ({}{why})",
                found.unwrap_or("it passed")
            )),
        })
    }
}

/// What there is to do for a record.
fn errand(record: &Recorded<'_, Item>) -> Result<Errand, Damage> {
    let line = &record.line;
    let stored: Option<Cow<'_, str>> = line.get(HEAD.error_type)?;
    let known = stored.as_deref().map(|word| ErrorType::ALL.into_iter().find(|each| each.as_str() == word));
    if line.status()? == Status::NotRun && stored.as_deref() == Some(MISSING_SHARD) {
        return Ok(Errand::Settled(Again::Nothing));
    }
    if known.flatten().is_some_and(ErrorType::is_infra) {
        return Ok(Errand::Settled(Again::Impossible("the machine could not judge them then")));
    }
    match &record.item {
        Item::Missing(_) => Ok(Errand::Settled(Again::Nothing)),
        Item::Sample(sample) => {
            let of_file = sample.completion.as_deref().ok().map(|text| Digest::of(text.as_bytes()));
            Ok(match line.get(HEAD.output_sha256)? == of_file {
                true => Errand::Judge(Arc::clone(sample)),
                false => Errand::Settled(Again::Other(
                    "`completion` is not what the samples file holds at this place".to_owned(),
                )),
            })
        }
        // The model gave nothing to judge: its endpoint's failure has a word of its own.
        Item::Task(_) if known == Some(None) => Ok(Errand::Settled(Again::Nothing)),
        Item::Task(question) => {
            let completion = line.get(CODE.completion)?;
            let length = completion.as_ref().map(|text| text.len() as u64);
            let cut = line.get(CODE.completion_bytes)? != length;
            if cut || completion.as_ref().is_some_and(|text| text.contains("[redacted")) {
                return Ok(Errand::Settled(Again::Impossible("their answers are not stored whole")));
            }
            Ok(Errand::Judge(Arc::new(Sample {
                index: record.trial.index,
                task_id: Some(question.task_id.clone()),
                completion_id: record.trial.repetition.into(),
                completion: completion.map(Cow::into_owned).ok_or(Invalid::NoCompletion),
            })))
        }
    }
}

impl JudgeAgain<Item> for VerdictsAgain {
    fn together(&self) -> usize {
        BATCH * self.jobs
    }

    fn again(&self, records: &[Recorded<'_, Item>]) -> Vec<Again> {
        let damaged = |damage: Damage| Again::Other(damage.to_string());
        let errands: Vec<Errand> = records
            .iter()
            .map(|record| errand(record).unwrap_or_else(|d| Errand::Settled(damaged(d))))
            .collect();
        let samples: Vec<Arc<Sample>> = errands
            .iter()
            .filter_map(|errand| match errand {
                Errand::Judge(sample) => Some(Arc::clone(sample)),
                Errand::Settled(_) => None,
            })
            .collect();
        let mut judged = self.judge(&samples).into_iter();
        let told = errands.into_iter().zip(records).map(|(errand, record)| match errand {
            Errand::Settled(again) => again,
            Errand::Judge(sample) => {
                let judged = judged.next().expect("every sample is judged");
                self.compare(&record.line, &sample, &judged).unwrap_or_else(damaged)
            }
        });
        told.collect()
    }

    fn toolchains(&self) -> BTreeMap<String, String> {
        self.judge.language().toolchains()
    }
}
