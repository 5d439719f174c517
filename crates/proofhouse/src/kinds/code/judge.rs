//! Judging samples: every sample gets exactly one verdict, and one that time or the machine put in doubt is tried again.

use std::collections::BTreeMap;
use std::io;
use std::sync::{OnceLock, PoisonError, RwLock};

use proofhouse_ledger::Digest;

use super::bench::Bench;
use super::cache::Cache;
use super::language::{Language, Task};
use super::problem::Problem;
use super::sample::{Sample, Samples};
use super::verdict::{ErrorType, Judged};

/// The most completions that are judged together.
pub const BATCH: usize = 160;

/// Judges completions of a set of problems; used from any number of threads.
pub struct Judge {
    bench: Bench,
    language: Box<dyn Language>,
    tasks: BTreeMap<String, Entry>,
    cache: Option<(Cache, String)>,
    measure: bool,
    baseline: OnceLock<Option<u64>>,
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
        language.prepare(&bench);
        let entry = |problem: Problem| {
            let problem = problem.for_judging(language.begins_a_line());
            (problem.task_id.clone(), Entry { problem, task: OnceLock::new() })
        };
        let tasks = problems.into_iter().map(entry).collect();
        Judge {
            bench,
            language,
            tasks,
            cache: None,
            measure: false,
            baseline: OnceLock::new(),
            alone: RwLock::new(()),
        }
    }

    /// Whether compile time and program size are kept, which only a completion that is judged alone has.
    #[must_use]
    pub fn measuring(mut self, measure: bool) -> Judge {
        self.measure = measure;
        self
    }

    /// Keeps verdicts in this folder, and takes those that are there.
    #[must_use]
    pub fn with_cache(mut self, cache: Cache) -> Judge {
        let (language, bench) = (self.language.conditions(), self.bench.conditions());
        let conditions = format!("{language}\n{bench}\nmeasured: {}", self.measure);
        self.cache = Some((cache, conditions));
        self
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

    /// The program that an answer makes of a task, where its language knows it.
    pub fn program(&self, task_id: &str, completion: &str) -> Option<String> {
        let entry = self.tasks.get(task_id)?;
        let task = entry.task.get_or_init(|| self.language.task(&entry.problem));
        task.program(&entry.problem.judged(completion))
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

    /// The same from within [`Judge::judge_each`], on its thread: once, beside whatever else is judged. A verdict that time or the
    /// machine put in doubt is given as it is, and not kept.
    pub fn judge_beside_others(&self, task_id: &str, completion: &str) -> Option<Judged> {
        let entry = self.tasks.get(task_id)?;
        if let Some(judged) = self.known(entry, completion) {
            return Some(judged);
        }
        let mut judged = self.judge_once(entry, completion);
        judged.tries = vec![judged.error_type];
        if let (Some((cache, _)), false) = (&self.cache, judged.is_doubtful()) {
            cache.put(&self.key(entry, completion), &judged);
        }
        Some(judged)
    }

    /// Judges many samples; the verdicts stand in the order of the samples.
    pub fn judge_many(&self, samples: &[&Sample]) -> Vec<Judged> {
        let mut verdicts: Vec<Option<Judged>> = samples.iter().map(|_| None).collect();
        self.judge_each(samples, &mut |at, judged| verdicts[at] = Some(judged));
        verdicts.into_iter().map(|judged| judged.expect("every sample is told of once")).collect()
    }

    /// Judges many samples, together where that says the same; `tell` is given the place and the verdict of each as soon as it
    /// is known. Give it answers to the same or to few tasks at a time, at most [`BATCH`].
    pub fn judge_each(&self, samples: &[&Sample], tell: &mut dyn FnMut(usize, Judged)) {
        let (mut together, mut places) = (Vec::new(), Vec::new());
        let mut settled = vec![false; samples.len()];
        for (at, sample) in samples.iter().enumerate() {
            let entry = sample.task_id.as_ref().and_then(|task_id| self.tasks.get(task_id));
            if let (Ok(completion), Some(entry)) = (&sample.completion, entry) {
                if let Some(known) = self.known(entry, completion) {
                    settled[at] = true;
                    tell(at, known);
                } else if entry.problem.is_judged_as_written() {
                    together.push((&entry.problem, completion.as_str()));
                    places.push(at);
                }
            }
        }
        let mut doubtful = Vec::new();
        {
            let _shared = self.alone.read().unwrap_or_else(PoisonError::into_inner);
            for (items, places) in together.chunks(BATCH).zip(places.chunks(BATCH)) {
                self.language.judge_together(&self.bench, items, &mut |number, mut judged| {
                    let place = places[number];
                    judged.tries = vec![judged.error_type];
                    settled[place] = true;
                    if judged.is_doubtful() {
                        doubtful.push((place, judged));
                    } else {
                        self.keep(samples[place], Some(&judged));
                        tell(place, judged);
                    }
                });
            }
        }
        for (place, judged) in doubtful {
            tell(place, self.try_again(samples[place], judged));
        }
        for place in (0..samples.len()).filter(|place| !settled[*place]) {
            tell(place, self.judge(samples[place]));
        }
    }

    fn judge_entry(&self, entry: &Entry, completion: &str) -> Judged {
        if let Some(judged) = self.known(entry, completion) {
            return judged;
        }
        let judged = self.judge_anew(entry, completion);
        if let Some((cache, _)) = &self.cache {
            cache.put(&self.key(entry, completion), &judged);
        }
        judged
    }

    fn judge_anew(&self, entry: &Entry, completion: &str) -> Judged {
        let mut first = {
            let _shared = self.alone.read().unwrap_or_else(PoisonError::into_inner);
            self.judge_once(entry, completion)
        };
        first.tries = vec![first.error_type];
        if first.is_doubtful() { self.second(entry, completion, &first) } else { first }
    }

    /// What time or the machine put in doubt is judged once more, with nothing beside it.
    fn try_again(&self, sample: &Sample, first: Judged) -> Judged {
        let entry = sample.task_id.as_ref().and_then(|task_id| self.tasks.get(task_id));
        match (entry, &sample.completion) {
            (Some(entry), Ok(completion)) => self.second(entry, completion, &first),
            _ => first,
        }
    }

    fn second(&self, entry: &Entry, completion: &str, first: &Judged) -> Judged {
        let _alone = self.alone.write().unwrap_or_else(PoisonError::into_inner);
        let mut second = self.judge_once(entry, completion);
        second.tries = vec![first.error_type, second.error_type];
        second
    }

    fn judge_once(&self, entry: &Entry, completion: &str) -> Judged {
        let task = entry.task.get_or_init(|| self.language.task(&entry.problem));
        let mut judged = task.judge(&self.bench, &entry.problem.judged(completion));
        if !self.measure {
            (judged.compile_time_ms, judged.binary_size_bytes) = (None, None);
        } else if judged.binary_size_bytes.is_some() {
            let baseline = || self.language.baseline_size_bytes(&self.bench);
            judged.baseline_size_bytes = *self.baseline.get_or_init(baseline);
        }
        judged
    }

    fn known(&self, entry: &Entry, completion: &str) -> Option<Judged> {
        let (cache, _) = self.cache.as_ref()?;
        cache.get(&self.key(entry, completion))
    }

    fn keep(&self, sample: &Sample, judged: Option<&Judged>) {
        let entry = sample.task_id.as_ref().and_then(|task_id| self.tasks.get(task_id));
        if let (Some((cache, _)), Ok(completion), Some(entry), Some(judged)) =
            (&self.cache, &sample.completion, entry, judged)
        {
            cache.put(&self.key(entry, completion), judged);
        }
    }

    fn key(&self, entry: &Entry, completion: &str) -> Digest {
        let conditions = self.cache.as_ref().map(|(_, conditions)| conditions.as_str()).unwrap_or_default();
        let problem = &entry.problem;
        let stops = problem.stop_tokens.join("\0");
        Cache::key(&[
            conditions.as_bytes(),
            problem.prompt.as_bytes(),
            problem.declaration.as_deref().unwrap_or_default().as_bytes(),
            problem.entry_point.as_deref().unwrap_or_default().as_bytes(),
            problem.test.as_bytes(),
            // It can decide how close to its tests an answer is judged.
            problem.canonical_solution.as_deref().unwrap_or_default().as_bytes(),
            stops.as_bytes(),
            problem.judged(completion).as_bytes(),
        ])
    }
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
