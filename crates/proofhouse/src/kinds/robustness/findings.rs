//! From runs to verdicts: what baselines, variants and stress levels say about a tool.

use std::collections::BTreeMap;

use proofhouse_ledger::record::{Mode, Observed, RobustnessRecord, Status, Stop};
use proofhouse_ledger::summary::Rate;
use proofhouse_ledger::summary::robustness::{
    Baseline, BaselineVerdict, Boundary, Case, Level, LevelVerdict, Repairs, Robustness, Variant,
    VariantVerdict,
};

use super::aggregate::breakdown;
use super::exact::conditional_p_value;
use super::policy::{ALPHA, Policy, PolicyName, distinct, modal, rule};
use crate::stats::decisions::{self, Alike, Rated, Rung, Stability, Stressed};
use crate::stats::{Confidence, SIGNIFICANT_DIGITS, disagreement, round_sig, wilson};

/// What a run was planned by, as far as findings depend on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// When to stop.
    pub policy: PolicyName,
    /// The share that a baseline's modal outcome must have to be stable.
    pub level: f64,
    /// Whether runs may be added without a plan.
    pub open: bool,
    /// Runs of a stress level at most.
    pub level_runs: u32,
    /// Runs of each case's instruction at most.
    pub base_runs: BTreeMap<String, u32>,
}

impl Terms {
    fn policy(&self, case: &str, compares: bool) -> Policy {
        Policy {
            name: self.policy,
            base_runs: self.base_runs.get(case).copied().unwrap_or(0),
            variant_runs: self.level_runs,
            level: self.level,
            compares,
            open: self.open,
        }
    }
}

mod rewording;

/// All runs of one instruction on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantRuns {
    /// The target.
    pub slot: String,
    /// The case.
    pub case_id: String,
    /// The variant; none for a base instruction.
    pub variant_id: Option<String>,
    /// Which question they belong to.
    pub mode: Mode,
    /// What made the instruction.
    pub generator: Option<String>,
    /// The rung of a stress ladder.
    pub level: Option<u32>,
    /// What was seen, in order.
    pub seen: Vec<Observed>,
    /// Runs that could not be assessed.
    pub unassessed: u64,
    /// Where and why the runs ended.
    pub stop: Option<Stop>,
}

/// Collects records in plan order and turns them into findings.
#[derive(Debug, Default)]
pub struct Finder {
    groups: Vec<VariantRuns>,
    places: BTreeMap<(String, String, Option<String>), usize>,
}

impl Finder {
    /// Takes the next record.
    pub fn push(&mut self, record: &RobustnessRecord) {
        let place = (record.slot.as_str(), record.case_id.as_str(), record.variant_id.as_deref());
        let group = self.group(place, record.suite);
        group.generator.clone_from(&record.generator);
        group.level = record.level;
        // What nobody needed has no error; what is of a missing shard has one, and could not be assessed.
        if record.status == Status::NotRun && record.error_type.is_none() {
            group.stop = group.stop.take().or(record.stop());
        } else {
            self.take(place, record.suite, record.observed(), record.stop().as_ref());
        }
    }

    /// Takes the next run of a slot, a case and a variant; nothing seen: it could not be assessed.
    pub fn take(
        &mut self,
        place: (&str, &str, Option<&str>),
        mode: Mode,
        observed: Option<Observed>,
        stop: Option<&Stop>,
    ) {
        let group = self.group(place, mode);
        match observed {
            Some(observed) => group.seen.push(observed),
            None => group.unassessed += 1,
        }
        if let Some(stop) = stop {
            group.stop = Some(stop.clone());
        }
    }

    fn group(
        &mut self,
        (slot, case_id, variant_id): (&str, &str, Option<&str>),
        mode: Mode,
    ) -> &mut VariantRuns {
        let key = (slot.to_owned(), case_id.to_owned(), variant_id.map(str::to_owned));
        let at = *self.places.entry(key).or_insert_with(|| {
            self.groups.push(VariantRuns {
                slot: slot.to_owned(),
                case_id: case_id.to_owned(),
                variant_id: variant_id.map(str::to_owned),
                mode,
                generator: None,
                level: None,
                seen: Vec::new(),
                unassessed: 0,
                stop: None,
            });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }

    /// What they say.
    pub fn finish(self, terms: &Terms) -> Robustness {
        let groups = &self.groups;
        let of_mode = |mode: Mode| groups.iter().filter(move |group| group.mode == mode);
        let compares = |group: &VariantRuns| {
            of_mode(Mode::Adversarial).any(|other| other.slot == group.slot && other.case_id == group.case_id)
        };
        let baselines: Vec<Baseline> = of_mode(Mode::Baseline)
            .map(|group| baseline(group, &terms.policy(&group.case_id, compares(group))))
            .collect();
        let mut variants: Vec<Variant> =
            of_mode(Mode::Adversarial).map(|group| self.variant(group)).collect();
        let generators = self.generators(&mut variants);
        let levels: Vec<Level> =
            of_mode(Mode::Stress).map(|group| stress(group, &terms.policy(&group.case_id, false))).collect();
        Robustness {
            policy: terms.policy.as_str().to_owned(),
            alpha: ALPHA,
            level: terms.level,
            cases: self.cases(&levels),
            generators,
            repairs: self.repairs(),
            shortfalls: Vec::new(),
            components: self.components(),
            baselines,
            variants,
            levels,
        }
    }

    /// The base runs that a variant is compared with.
    fn base_of(&self, slot: &str, case_id: &str) -> Option<&VariantRuns> {
        let key = (slot.to_owned(), case_id.to_owned(), None);
        self.places.get(&key).map(|at| &self.groups[*at])
    }

    fn variant(&self, group: &VariantRuns) -> Variant {
        let base = self.base_of(&group.slot, &group.case_id).map_or(&[][..], |base| &base.seen);
        let usual = modal(base).map(|(usual, _)| usual);
        let deviating =
            group.seen.iter().filter(|seen| usual.is_some_and(|usual| usual != **seen)).count() as u64;
        let comparable = usual.is_some() && !group.seen.is_empty();
        let futile = group.stop.as_ref().is_some_and(|stop| stop.rule == rule::FUTILITY);
        let p_value = (comparable && !futile).then(|| round(conditional_p_value(base, &group.seen)));
        Variant {
            slot: group.slot.clone(),
            case_id: group.case_id.clone(),
            variant_id: group.variant_id.clone().unwrap_or_default(),
            generator: group.generator.clone().unwrap_or_default(),
            runs: group.seen.len() as u64,
            unassessed: group.unassessed,
            success: success_rate(group),
            modal: modal(&group.seen).map(|(outcome, _)| outcome),
            deviating,
            interesting: deviating > 0,
            p_value,
            adjusted_p: None,
            verdict: match (comparable, deviating) {
                (false, _) => VariantVerdict::Unassessed,
                (true, 0) => VariantVerdict::NoEvidence,
                (true, _) => VariantVerdict::Stochastic,
            },
            stop: group.stop.clone(),
        }
    }

    fn cases(&self, levels: &[Level]) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        for group in self.groups.iter().filter(|group| group.mode != Mode::Baseline) {
            if cases.iter().any(|case| case.slot == group.slot && case.case_id == group.case_id) {
                continue;
            }
            let own = |other: &&VariantRuns| {
                other.slot == group.slot && other.case_id == group.case_id && !other.seen.is_empty()
            };
            let wordings: Vec<&VariantRuns> =
                self.groups.iter().filter(own).filter(|group| group.mode != Mode::Stress).collect();
            let rates: Vec<f64> = wordings
                .iter()
                .filter(|group| group.mode == Mode::Adversarial)
                .map(|group| share_of_success(group))
                .collect();
            let ladder: Vec<&Level> = levels
                .iter()
                .filter(|level| level.slot == group.slot && level.case_id == group.case_id)
                .collect();
            let any = (!rates.is_empty()).then_some(());
            let seen: Vec<&[Observed]> = wordings.iter().map(|group| group.seen.as_slice()).collect();
            let found = disagreement(&seen);
            cases.push(Case {
                slot: group.slot.clone(),
                case_id: group.case_id.clone(),
                sensitivity: found.map(|found| round(found.sensitivity())),
                sensitivity_low: found.map(|found| round(found.interval.low)),
                sensitivity_high: found.map(|found| round(found.interval.high)),
                disagreement_between: found.map(|found| round(found.between)),
                disagreement_within: found.map(|found| round(found.within)),
                sensitivity_sentence: found.as_ref().map(decisions::sensitivity_sentence),
                worst: any.map(|()| round(rates.iter().copied().fold(1.0, f64::min))),
                average: any.map(|()| round(rates.iter().sum::<f64>() / rates.len() as f64)),
                best: any.map(|()| round(rates.iter().copied().fold(0.0, f64::max))),
                boundary: boundary(&ladder),
            });
        }
        cases
    }

    fn repairs(&self) -> Vec<Repairs> {
        let mut counts: BTreeMap<(&str, u32), (u64, u64)> = BTreeMap::new();
        for group in &self.groups {
            for seen in &group.seen {
                if let Some(repairs) = seen.repairs_triggered {
                    let (passed, runs) = counts.entry((&group.slot, repairs)).or_default();
                    *passed += u64::from(seen.success);
                    *runs += 1;
                }
            }
        }
        counts
            .into_iter()
            .map(|((slot, repairs), (passed, runs))| Repairs {
                slot: slot.to_owned(),
                repairs,
                success: rate(passed, runs, format!("success of slot={slot:?} repairs_triggered={repairs}")),
            })
            .collect()
    }
}

fn boundary(ladder: &[&Level]) -> Option<Boundary> {
    let rung = |verdict: LevelVerdict| match verdict {
        LevelVerdict::Clear => Some(Rung::Clear),
        LevelVerdict::SystematicFailure => Some(Rung::SystematicFailure),
        LevelVerdict::Flaky => Some(Rung::Flaky),
        LevelVerdict::Undetermined => Some(Rung::Undetermined),
        LevelVerdict::Unassessed => None,
    };
    let rated = |level: &&Level| Rated {
        level: level.level,
        successes: level.success.numerator,
        runs: level.runs,
        rung: rung(level.verdict),
    };
    let levels: Vec<Rated> = ladder.iter().map(rated).collect();
    let found = decisions::boundary(&levels)?;
    Some(Boundary { above: found.above, below: found.below, sentence: found.sentence() })
}

const NOT_ASSESSED: &str = "not assessed: no run could be";

fn baseline(group: &VariantRuns, policy: &Policy) -> Baseline {
    let usual = modal(&group.seen);
    let runs = group.seen.len();
    let found = policy.stability(&group.seen);
    let verdict = match found.as_ref().map(|found| found.alike) {
        None => BaselineVerdict::Unassessed,
        Some(Alike::Stable) => BaselineVerdict::Stable,
        Some(Alike::ConsistentSoFar) => BaselineVerdict::ConsistentSoFar,
        Some(Alike::MostlyTheSame) => BaselineVerdict::MostlyTheSame,
        Some(Alike::Flaky) => BaselineVerdict::Flaky,
    };
    Baseline {
        slot: group.slot.clone(),
        case_id: group.case_id.clone(),
        runs: runs as u64,
        unassessed: group.unassessed,
        success: success_rate(group),
        modal: usual.map(|(outcome, _)| outcome),
        modal_runs: usual.map_or(0, |(_, count)| count as u64),
        agreement_low: found.as_ref().map(|found| round(found.share.low)),
        agreement_high: found.as_ref().map(|found| round(found.share.high)),
        bound: found.as_ref().map(|found| found.bound.as_str().to_owned()),
        distinct: distinct(&group.seen),
        verdict,
        sentence: found.as_ref().map_or_else(|| NOT_ASSESSED.to_owned(), Stability::sentence),
        stop: group.stop.clone(),
    }
}

fn stress(group: &VariantRuns, policy: &Policy) -> Level {
    let runs = group.seen.len() as u64;
    let found = policy.stressed(&group.seen);
    let verdict = match found.as_ref().map(|found| found.rung) {
        None => LevelVerdict::Unassessed,
        Some(Rung::Clear) => LevelVerdict::Clear,
        Some(Rung::SystematicFailure) => LevelVerdict::SystematicFailure,
        Some(Rung::Flaky) => LevelVerdict::Flaky,
        Some(Rung::Undetermined) => LevelVerdict::Undetermined,
    };
    let repairs: Vec<f64> =
        group.seen.iter().filter_map(|seen| seen.repairs_triggered).map(f64::from).collect();
    Level {
        slot: group.slot.clone(),
        case_id: group.case_id.clone(),
        level: group.level.unwrap_or_default(),
        variant_id: group.variant_id.clone().unwrap_or_default(),
        generator: group.generator.clone().unwrap_or_default(),
        runs,
        unassessed: group.unassessed,
        success: success_rate(group),
        modal: modal(&group.seen).map(|(outcome, _)| outcome),
        mean_repairs: (!repairs.is_empty())
            .then(|| round(repairs.iter().sum::<f64>() / repairs.len() as f64)),
        failure_breakdown: breakdown(group.seen.iter()),
        chance_low: found.as_ref().map(|found| round(found.chance.low)),
        chance_high: found.as_ref().map(|found| round(found.chance.high)),
        bound: found.as_ref().map(|found| found.bound.as_str().to_owned()),
        verdict,
        sentence: found.as_ref().map_or_else(|| NOT_ASSESSED.to_owned(), Stressed::sentence),
        stop: group.stop.clone(),
    }
}

fn successes(group: &VariantRuns) -> u64 {
    group.seen.iter().filter(|seen| seen.success).count() as u64
}

fn share_of_success(group: &VariantRuns) -> f64 {
    successes(group) as f64 / group.seen.len() as f64
}

fn success_rate(group: &VariantRuns) -> Rate {
    let variant = group.variant_id.as_ref().map_or("null".to_owned(), |variant| format!("{variant:?}"));
    let records =
        format!("success of slot={:?} case_id={:?} variant_id={variant}", group.slot, group.case_id);
    rate(successes(group), group.seen.len() as u64, records)
}

fn rate(numerator: u64, denominator: u64, records: String) -> Rate {
    let interval = wilson(numerator, denominator, Confidence::P95);
    Rate {
        numerator,
        denominator,
        value: (denominator > 0).then(|| round(numerator as f64 / denominator as f64)),
        low: interval.map(|interval| round(interval.low)),
        high: interval.map(|interval| round(interval.high)),
        records,
    }
}

fn round(value: f64) -> f64 {
    round_sig(value, SIGNIFICANT_DIGITS)
}

#[cfg(test)]
mod tests;
