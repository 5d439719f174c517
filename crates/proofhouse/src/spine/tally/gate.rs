//! What a gate has to know of each target: all planned trials, assessed or not, by case and by tag.

use std::collections::BTreeMap;

use proofhouse_ledger::summary::{Gate, Summary};
use proofhouse_ledger::{Json, config};

use super::cluster::Clusters;
use super::expense::EXPENSES;
use super::heads::GateTerms;
use super::stats::decisions::{
    Demand, GateCheck, Limits, Measured, Outcome, Trials, gate_outcome, gate_sentence,
};

/// A suite's gate and what it has seen so far.
#[derive(Default)]
pub(super) struct GateTally {
    demand: Option<Demand>,
    /// Whether no pass rate is asked for.
    only_metrics: bool,
    /// Tag → the rate that its trials must reach.
    per_tag: BTreeMap<String, f64>,
    /// So many of so many trials of each case.
    per_case: Option<(u64, u64)>,
    /// Metric → the least and the most that it may be.
    metrics: BTreeMap<String, Limits>,
    slots: Vec<SlotGate>,
}

#[derive(Default)]
struct SlotGate {
    all: Counts,
    tags: BTreeMap<String, Counts>,
    /// Of the open case: passed, unassessed and planned.
    case: (u64, u64, u64),
    /// Cases that miss what is asked of each, that may, and all.
    cases: (u64, u64, u64),
}

#[derive(Default)]
struct Counts {
    passed: u64,
    assessed: u64,
    planned: u64,
    if_failed: Clusters,
    if_passed: Clusters,
}

impl Counts {
    fn push(&mut self, passed: Option<bool>) {
        self.planned += 1;
        self.assessed += u64::from(passed.is_some());
        self.passed += u64::from(passed == Some(true));
        let score = |passed: bool| f64::from(u8::from(passed));
        self.if_failed.push(score(passed.unwrap_or(false)));
        self.if_passed.push(score(passed.unwrap_or(true)));
    }

    fn close(&mut self) {
        self.if_failed.close();
        self.if_passed.close();
    }

    fn trials(&self) -> Trials {
        Trials {
            passed: self.passed,
            assessed: self.assessed,
            planned: self.planned,
            if_failed: self.if_failed.moments(),
            if_passed: self.if_passed.moments(),
        }
    }
}

impl GateTally {
    /// The gate of the run with this resolved configuration.
    pub(super) fn new(config: &Json) -> Self {
        let gate = config::part::<config::Common>(config).gate.unwrap_or_default();
        // Where only metrics are asked for, any pass rate will do.
        let rate = gate.pass_rate.or((!gate.metrics.is_empty()).then_some(0.0));
        let limits = |each: config::MetricLimits| Limits { at_least: each.at_least, at_most: each.at_most };
        Self {
            only_metrics: gate.pass_rate.is_none(),
            demand: rate.map(|rate| Demand { rate, confidence: gate.confidence }),
            metrics: gate.metrics.into_iter().map(|(name, each)| (name, limits(each))).collect(),
            per_tag: gate.per_tag,
            per_case: gate.per_case.as_deref().and_then(share),
            slots: Vec::new(),
        }
    }

    /// Takes a trial that was needed and possible; `tags` are read only where the gate asks for them.
    pub(super) fn push(&mut self, slot: usize, passed: Option<bool>, tags: impl FnOnce() -> Vec<String>) {
        if self.demand.is_none() {
            return;
        }
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, SlotGate::default);
        }
        let gate = &mut self.slots[slot];
        gate.all.push(passed);
        gate.case.0 += u64::from(passed == Some(true));
        gate.case.1 += u64::from(passed.is_none());
        gate.case.2 += 1;
        if !self.per_tag.is_empty() {
            for tag in tags().into_iter().filter(|tag| self.per_tag.contains_key(tag)) {
                gate.tags.entry(tag).or_default().push(passed);
            }
        }
    }

    /// A trial that was taken is one of a case that nobody is scored against.
    pub(super) fn take_back(&mut self, slot: usize, passed: Option<bool>) {
        if let Some(gate) = self.slots.get_mut(slot) {
            gate.all.planned -= 1;
            gate.all.assessed -= u64::from(passed.is_some());
            gate.all.passed -= u64::from(passed == Some(true));
        }
    }

    pub(super) fn close_case(&mut self) {
        for gate in &mut self.slots {
            gate.all.close();
            gate.tags.values_mut().for_each(Counts::close);
            let (passed, open, planned) = std::mem::take(&mut gate.case);
            if let Some((k, n)) = self.per_case.filter(|_| planned > 0) {
                // A case has n trials, or as many times more as it has wordings.
                let reaches = |passed: u64| passed * n >= k * planned;
                gate.cases.0 += u64::from(!reaches(passed + open));
                gate.cases.1 += u64::from(reaches(passed + open) && !reaches(passed));
                gate.cases.2 += 1;
            }
        }
    }

    /// What became of it; none for a suite without a gate.
    pub(super) fn judge(mut self, summary: &Summary, terms: &GateTerms, who: &str) -> Option<Gate> {
        let demand = self.demand?;
        let slots = &summary.slots;
        self.slots.resize_with(slots.len(), SlotGate::default);
        let (mut checks, mut failed_slots, mut undecided_slots) = (Vec::new(), Vec::new(), Vec::new());
        for (at, slot) in slots.iter().enumerate().filter(|(_, slot)| !terms.exempt.contains(&slot.slot)) {
            let mut own = self.checks(demand, &slot.slot, at, terms);
            own.extend(self.metric_checks(summary, &slot.slot, terms));
            match gate_outcome(&own) {
                Outcome::Held => {}
                Outcome::Missed => failed_slots.push(slot.slot.clone()),
                Outcome::CannotTell => undecided_slots.push(slot.slot.clone()),
            }
            checks.extend(own);
        }
        let held = match gate_outcome(&checks) {
            _ if terms.untried.is_some() => None,
            Outcome::Held => Some(true),
            Outcome::Missed => Some(false),
            Outcome::CannotTell => None,
        };
        let sentence = match terms.untried {
            Some(why) => format!("gate cannot be judged: {why}"),
            None => gate_sentence(demand, who, &checks),
        };
        let Demand { rate: pass_rate, confidence } = demand;
        Some(Gate { pass_rate, confidence, held, failed_slots, undecided_slots, sentence })
    }

    fn metric_checks(&self, summary: &Summary, slot: &str, terms: &GateTerms) -> Vec<GateCheck> {
        let unknown = Measured { of: None, bounds: None, open: 0 };
        let mut checks = Vec::new();
        for (name, limits) in &self.metrics {
            let metric = terms.metrics.iter().chain(EXPENSES).find(|metric| metric.name == name);
            let found = metric.map_or(Vec::new(), |metric| (metric.of)(summary, slot));
            let found = if found.is_empty() { vec![unknown.clone()] } else { found };
            checks.extend(found.iter().map(|each| GateCheck::of_metric(slot, name, *limits, each)));
        }
        checks
    }

    fn checks(&self, demand: Demand, name: &str, at: usize, terms: &GateTerms) -> Vec<GateCheck> {
        let seen = &self.slots[at];
        if self.only_metrics {
            return Vec::new();
        }
        let mut checks = vec![match terms.bounds.get(at).copied().flatten() {
            Some(bounds) => GateCheck::of_bounds(name, demand.rate, bounds, None),
            None => GateCheck::of_trials(name, demand, &seen.all.trials()),
        }];
        let none = Counts::default();
        for (tag, rate) in &self.per_tag {
            let counts = seen.tags.get(tag).unwrap_or(&none);
            let demand = Demand { rate: *rate, ..demand };
            checks.push(GateCheck::of_tag(name, tag, demand, &counts.trials()));
        }
        checks.extend(self.per_case.map(|share| GateCheck::of_cases(name, share, seen.cases)));
        checks
    }
}

/// `2 of 3`
fn share(text: &str) -> Option<(u64, u64)> {
    let (k, n) = text.split_once(" of ")?;
    Some((k.trim().parse().ok()?, n.trim().parse().ok()?))
}
