//! What a `code` run adds to the tally: pass@k, phases, error types, bounds for what could not be scored.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::Json;
use proofhouse_ledger::config;
use proofhouse_ledger::record::{CODE, Damage, Field, Finding, HEAD, Line, Status};
use proofhouse_ledger::summary::{BrokenTask, Code, CodeSlot, OmittedK, PassAtK, Slot, Summary};

use super::failures::Failures;
use super::metrics::METRICS;
use super::robust::RobustTally;
use crate::spine::tally::heads::{rate, round};
use crate::spine::tally::{GateTerms, OwnTally};
use crate::stats::{BoundedSample, ClusterMoments, Confidence, pass_at_k};

#[cfg(test)]
mod tests;

/// What a record says of its task, found out by the task's own solution.
const BROKEN: &str = "broken_task";
/// What it says of a task that cannot be tried: the task's own affair only if nobody gets further.
const UNTRIED: [&str; 2] = ["no_tests", "infra_missing_crate"];
/// What it says of an answer that is the model's own choice, and that cannot be judged as it is: no pass in the headline.
const UNSUPPORTED: &[u8] = b"\"unsupported\"";
/// Failures before a task is looked at: they do not contradict that.
const NEVER_TRIED: [&str; 2] = ["extraction_failed", "invalid_sample"];

/// Opens the tally of the run with this resolved configuration.
pub(super) fn open(config: &Json) -> Box<dyn OwnTally> {
    Box::new(CodeTally::new(config))
}

impl OwnTally for CodeTally {
    fn push(
        &mut self,
        line: &Line<'_>,
        slot: usize,
        status: Status,
        passed: Option<bool>,
    ) -> Result<(), Damage> {
        CodeTally::push(self, slot, line, status, passed)
    }

    // Samples stand in the order of their file.
    fn has_neighbours(&self) -> bool {
        false
    }

    fn excludes(&self, case: &str) -> bool {
        self.broken.contains_key(case) || (self.untried.contains_key(case) && !self.tried.contains(case))
    }

    fn finish(self: Box<Self>, summary: &mut Summary) -> GateTerms {
        summary.code = Some(CodeTally::finish(&self, &summary.slots));
        GateTerms { bounds: self.gate_bounds(), metrics: METRICS, ..GateTerms::default() }
    }
}

/// The part of a tally that only `code` runs have.
#[derive(Default)]
struct CodeTally {
    ks: Vec<u64>,
    /// The planned tasks; runs of older versions do not say them.
    planned: Option<Vec<String>>,
    /// The same, to be looked up.
    names: BTreeSet<String>,
    answered_only: bool,
    /// The language of the suite.
    language: String,
    /// Broken tasks, whoever met them, and why they are.
    broken: BTreeMap<String, String>,
    /// Tasks that somebody could not be tried with, and why; and those that somebody has a verdict for.
    untried: BTreeMap<String, String>,
    tried: BTreeSet<String>,
    slots: Vec<SlotCounts>,
}

/// What became of one task's completions.
#[derive(Default)]
struct TaskCounts {
    scored: u64,
    passed: u64,
    unassessed: u64,
    /// Those of the unassessed that the headline counts as not passed.
    unsupported: u64,
    measures: Measures,
}

impl TaskCounts {
    /// Completions that the headline counts.
    fn counted(&self) -> u64 {
        self.scored + self.unsupported
    }
}

/// How far completions got, and what was measured of them.
#[derive(Default)]
struct Measures {
    /// Yes and asked.
    compiled: (u64, u64),
    clean: (u64, u64),
    main_free: (u64, u64),
    compile_time: Sum,
    size: Sum,
    size_over_baseline: Sum,
}

#[derive(Default)]
struct SlotCounts {
    total: u64,
    unreadable: u64,
    /// Lines that answer no planned task, by what they name.
    unknown: BTreeMap<String, u64>,
    /// Task → what became of its completions.
    tasks: BTreeMap<String, TaskCounts>,
    failures: Failures,
    error_types: BTreeMap<String, u64>,
    compile_error_codes: BTreeMap<String, u64>,
    lint_names: BTreeMap<String, u64>,
    missing_crates: BTreeMap<String, u64>,
    robust: RobustTally,
    /// Whether tasks were asked in other words too.
    has_wordings: bool,
}

#[derive(Default)]
struct Sum {
    sum: f64,
    count: u64,
}

impl Sum {
    fn push(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    fn add(&mut self, other: &Sum) {
        self.sum += other.sum;
        self.count += other.count;
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| round(self.sum / self.count as f64))
    }
}

impl Measures {
    fn push(&mut self, line: &Line<'_>) -> Result<(), Damage> {
        for (counts, field) in [
            (&mut self.compiled, CODE.compile_ok),
            (&mut self.clean, CODE.clippy_ok),
            (&mut self.main_free, CODE.main_free),
        ] {
            if let Some(yes) = line.get(field)? {
                counts.0 += u64::from(yes);
                counts.1 += 1;
            }
        }
        let number = |field: Field<Option<u64>>| Ok(line.get(field)?.map(|number| number as f64));
        let (size, baseline) = (number(CODE.binary_size_bytes)?, number(CODE.baseline_size_bytes)?);
        self.compile_time.push(number(CODE.compile_time_ms)?);
        self.size.push(size);
        self.size_over_baseline.push(size.zip(baseline).map(|(size, baseline)| size - baseline));
        Ok(())
    }

    fn add(&mut self, other: &Measures) {
        for (own, theirs) in [
            (&mut self.compiled, other.compiled),
            (&mut self.clean, other.clean),
            (&mut self.main_free, other.main_free),
        ] {
            *own = (own.0 + theirs.0, own.1 + theirs.1);
        }
        self.compile_time.add(&other.compile_time);
        self.size.add(&other.size);
        self.size_over_baseline.add(&other.size_over_baseline);
    }
}

impl CodeTally {
    /// For the run with this resolved configuration.
    fn new(config: &Json) -> Self {
        let config: config::Code = config::part(config);
        Self {
            ks: config.k,
            names: config.task_ids.iter().flatten().cloned().collect(),
            planned: config.task_ids,
            answered_only: config.count_tasks == "answered",
            language: config.language.unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Takes the next record, of the slot at this place.
    fn push(
        &mut self,
        slot: usize,
        line: &Line<'_>,
        status: Status,
        passed: Option<bool>,
    ) -> Result<(), Damage> {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, SlotCounts::default);
        }
        let task = line.get(HEAD.case_id)?;
        let error_type = line.get(HEAD.error_type)?;
        let word = error_type.as_deref().unwrap_or_default();
        let excluding = match word {
            BROKEN => Some(&mut self.broken),
            word if UNTRIED.contains(&word) => Some(&mut self.untried),
            _ => None,
        };
        if let Some(excluding) = excluding.filter(|known| !known.contains_key(&*task)) {
            let why = line.get(HEAD.error)?.unwrap_or_default();
            let why = why.lines().next().unwrap_or_default().to_owned();
            excluding.insert(task.clone().into_owned(), why);
        }
        if passed.is_some() && !NEVER_TRIED.contains(&word) && !self.tried.contains(&*task) {
            self.tried.insert(task.clone().into_owned());
        }
        let known = match &self.planned {
            Some(_) => self.names.contains(&*task),
            None => status != Status::Skipped,
        };
        self.slots[slot].push(line, &task, known, passed)
    }

    /// The tasks that nobody is scored against, and why.
    fn excluded(&self) -> Vec<BrokenTask> {
        let untried = self.untried.iter().filter(|(task, _)| !self.tried.contains(*task));
        let all: BTreeMap<&String, &String> = untried.chain(&self.broken).collect();
        let broken =
            |(task_id, why): (&String, &String)| BrokenTask { task_id: task_id.clone(), why: why.clone() };
        all.into_iter().map(broken).collect()
    }

    /// By slot, what a gate looks at: pass@1 if everything unassessed had failed, and if it had passed. None where the suite
    /// has other wordings, which a gate counts too.
    fn gate_bounds(&self) -> Vec<Option<[f64; 2]>> {
        let of = |slot: &SlotCounts| {
            let counted = slot.counted(self);
            let missed = if self.answered_only { 0 } else { slot.unanswered(self).len() as u64 };
            let bounds = [false, true].map(|lucky| if_unassessed(lucky, 1, &counted, missed));
            let [Some(worst), Some(best)] = bounds else { return None };
            (!slot.has_wordings).then_some([worst, best])
        };
        self.slots.iter().map(of).collect()
    }

    /// What it comes to; `slots` are those of the common tally, in the same order.
    fn finish(&self, slots: &[Slot]) -> Code {
        let each = self.slots.iter().zip(slots).map(|(counts, slot)| counts.finish(&slot.slot, self));
        Code { slots: each.collect() }
    }
}

impl SlotCounts {
    fn push(&mut self, line: &Line<'_>, task: &str, known: bool, passed: Option<bool>) -> Result<(), Damage> {
        let unsupported = passed.is_none() && line.raw(HEAD.error_type) == Some(UNSUPPORTED);
        self.robust.push(line, if unsupported { Some(false) } else { passed })?;
        if line.raw(HEAD.variant_id).is_some_and(|variant| variant != b"null") {
            self.has_wordings = true;
            return Ok(());
        }
        self.total += 1;
        if !known {
            *self.unknown.entry(task.to_owned()).or_default() += 1;
        } else {
            let counts = match self.tasks.get_mut(task) {
                Some(counts) => counts,
                None => self.tasks.entry(task.to_owned()).or_default(),
            };
            match passed {
                None => {
                    counts.unassessed += 1;
                    counts.unsupported += u64::from(unsupported);
                }
                Some(passed) => {
                    counts.scored += 1;
                    counts.passed += u64::from(passed);
                }
            }
            counts.measures.push(line)?;
            self.unreadable +=
                u64::from(passed.is_some() && line.raw(HEAD.error_type) == Some(b"\"invalid_sample\""));
        }
        self.failures.push(line, task)?;
        if let Some(error_type) = line.get(HEAD.error_type)? {
            *self.error_types.entry(error_type.into_owned()).or_default() += 1;
        }
        count_codes(&mut self.compile_error_codes, &line.get(CODE.compile_errors)?);
        count_codes(&mut self.lint_names, &line.get(CODE.lints)?);
        for name in line.get(CODE.missing_crates)? {
            *self.missing_crates.entry(name).or_default() += 1;
        }
        Ok(())
    }

    /// The tasks that somebody answered and that are not broken.
    fn counted<'a>(&'a self, run: &CodeTally) -> Vec<(&'a String, &'a TaskCounts)> {
        self.tasks.iter().filter(|(task, _)| !run.excludes(task)).collect()
    }

    /// The tasks that nobody answered and that are not broken.
    fn unanswered(&self, run: &CodeTally) -> Vec<String> {
        let planned = run.planned.iter().flatten();
        planned.filter(|task| !self.tasks.contains_key(*task) && !run.excludes(task)).cloned().collect()
    }

    fn finish(&self, slot: &str, run: &CodeTally) -> CodeSlot {
        let of_slot = |what: &str| format!("{what} where slot = {slot:?}");
        let share = |(yes, asked): (u64, u64), field: Field<Option<bool>>| {
            let field = field.as_str();
            rate(
                yes,
                asked,
                of_slot(&format!("{field} = true of {field} is not null, of tasks that are not broken")),
            )
        };
        let counted = self.counted(run);
        let mut measures = Measures::default();
        counted.iter().for_each(|(_, counts)| measures.add(&counts.measures));
        let sum = |of: fn(&TaskCounts) -> u64| counted.iter().map(|(_, counts)| of(counts)).sum::<u64>();
        let (scored, passed, infra) =
            (sum(|counts| counts.scored), sum(|counts| counts.passed), sum(|counts| counts.unassessed));
        let with_verdict = counted.iter().filter(|(_, counts)| counts.scored > 0).count() as u64;
        let solved = counted.iter().filter(|(_, counts)| counts.passed > 0).count() as u64;
        let planned = run.planned.as_deref().unwrap_or_default();
        let unanswered = self.unanswered(run);
        let missed = if run.answered_only { 0 } else { unanswered.len() as u64 };
        let (pass_at_k, omitted_k) = pass_at_ks(&run.ks, &counted, TaskCounts::counted, missed);
        let (scored_pass_at_k, _) = pass_at_ks(&run.ks, &counted, |counts| counts.scored, 0);
        let unknown: u64 = self.unknown.values().sum();
        let of_both = "passed is not null or unassessed, of tasks that are not broken";
        CodeSlot {
            slot: slot.to_owned(),
            total: self.total,
            scored,
            infra,
            invalid: self.total - scored - infra,
            unknown,
            excluded: self.total - scored - infra - unknown,
            unreadable: self.unreadable,
            unsupported: sum(|counts| counts.unsupported),
            tasks_planned: run.planned.as_ref().map_or(self.tasks.len(), Vec::len) as u64,
            unanswered,
            unanswered_fail: !run.answered_only,
            broken: run.excluded(),
            unassessed_tasks: counted
                .iter()
                .filter(|(_, counts)| counts.counted() == 0)
                .map(|(task, _)| (*task).clone())
                .collect(),
            unknown_tasks: self.unknown.clone(),
            nothing_passed: (passed == 0)
                .then(|| self.failures.finish(&run.language, (&self.unknown, planned))),
            tasks: with_verdict,
            tasks_solved: rate(
                solved,
                with_verdict,
                of_slot("case_id with passed = true of case_id with passed is not null"),
            ),
            pass_at_k,
            scored_pass_at_k,
            omitted_k,
            robust: self.robust.finish(&run.ks, |task| run.excludes(task)),
            worst: rate(passed, scored + infra, of_slot(&format!("passed = true of {of_both}"))),
            best: rate(passed + infra, scored + infra, of_slot(&format!("passed is not false of {of_both}"))),
            compile_rate: share(measures.compiled, CODE.compile_ok),
            clippy_rate: share(measures.clean, CODE.clippy_ok),
            main_free_rate: share(measures.main_free, CODE.main_free),
            mean_compile_time_ms: measures.compile_time.mean(),
            mean_binary_size_bytes: measures.size.mean(),
            mean_binary_size_over_baseline_bytes: measures.size_over_baseline.mean(),
            error_types: self.error_types.clone(),
            compile_error_codes: self.compile_error_codes.clone(),
            lint_names: self.lint_names.clone(),
            missing_crates: self.missing_crates.clone(),
        }
    }
}

/// pass@k for each k, over the tasks of which anything is known and so many that nobody answered; `of` is how many completions of
/// a task count.
fn pass_at_ks(
    ks: &[u64],
    tasks: &[(&String, &TaskCounts)],
    of: impl Fn(&TaskCounts) -> u64,
    missed: u64,
) -> (Vec<PassAtK>, Vec<OmittedK>) {
    let known: Vec<_> = tasks.iter().filter(|(_, counts)| of(counts) > 0).collect();
    let fewest = known.iter().min_by_key(|(_, counts)| of(counts));
    let (mut said, mut omitted) = (Vec::new(), Vec::new());
    for k in ks.iter().copied() {
        let reason = match fewest {
            None => "no completion was scored".to_owned(),
            Some((task, counts)) if of(counts) < k => {
                let few = known.iter().filter(|(_, counts)| of(counts) < k).count();
                let all = known.len();
                let scored = of(counts);
                let tasks = if all == 1 { "task" } else { "tasks" };
                let have = if few == 1 { "has" } else { "have" };
                format!(
                    "{few} of {all} {tasks} {have} fewer than {k} scored completions; `{task}` has {scored}"
                )
            }
            Some(_) => {
                let pairs = known.iter().map(|(_, counts)| (of(counts), counts.passed));
                said.extend(at(k, pairs, missed).map(|point| bounded(point, tasks, missed)));
                continue;
            }
        };
        omitted.push(OmittedK { k, reason });
    }
    (said, omitted)
}

/// The same with what it would be if everything unassessed had failed, and if it had passed.
fn bounded(point: PassAtK, tasks: &[(&String, &TaskCounts)], missed: u64) -> PassAtK {
    let [worst, best] = [false, true].map(|lucky| if_unassessed(lucky, point.k, tasks, missed).map(round));
    PassAtK { worst, best, ..point }
}

/// pass@k over all of these tasks and so many that nobody answered, with everything unassessed as passed or as failed.
fn if_unassessed(lucky: bool, k: u64, tasks: &[(&String, &TaskCounts)], missed: u64) -> Option<f64> {
    let estimate = |counts: &TaskCounts| {
        let answers = counts.scored + counts.unassessed;
        let passed = counts.passed + if lucky { counts.unassessed } else { 0 };
        // A task with fewer answers than k is all unassessed: any of them decides.
        pass_at_k(answers, passed, k.min(answers)).unwrap_or(0.0)
    };
    let sum: f64 = tasks.iter().map(|(_, counts)| estimate(counts)).sum();
    let all = tasks.len() as u64 + missed;
    (all > 0).then(|| sum / all as f64)
}

/// pass@k over tasks, given as scored and passed, and so many more that nobody answered; none where an answered task has
/// fewer than k.
pub(super) fn at(k: u64, tasks: impl Iterator<Item = (u64, u64)>, missed: u64) -> Option<PassAtK> {
    let (mut moments, mut estimates) = (ClusterMoments::default(), BoundedSample::default());
    for (scored, passed) in tasks {
        let estimate = pass_at_k(scored, passed, k)?;
        moments.push(estimate, 1);
        estimates.push(estimate, 1);
    }
    (0..missed).for_each(|_| moments.push(0.0, 1));
    estimates.push(0.0, missed);
    let interval = estimates.interval(Confidence::P95)?;
    Some(PassAtK {
        k,
        tasks: moments.clusters(),
        value: round(moments.mean()?),
        standard_error: moments.standard_error().map(round),
        low: round(interval.low),
        high: round(interval.high),
        worst: None,
        best: None,
    })
}

/// Counts each code once per record, however often it occurs there.
fn count_codes(counts: &mut BTreeMap<String, u64>, findings: &[Finding]) {
    let codes: BTreeSet<&str> = findings.iter().filter_map(|finding| finding.code.as_deref()).collect();
    for code in codes {
        *counts.entry(code.to_owned()).or_default() += 1;
    }
}
