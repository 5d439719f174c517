//! From runs to verdicts: what baselines, variants and stress levels say about a tool.

use std::collections::BTreeMap;

use proofhouse_ledger::record::{Mode, Observed, RobustnessRecord, Status, Stop};
use proofhouse_ledger::summary::Rate;
use proofhouse_ledger::summary::robustness::{
    Baseline, BaselineVerdict, Case, Generator, Level, LevelVerdict, Repairs, Robustness, Variant,
    VariantVerdict,
};

use super::aggregate::breakdown;
use super::exact::conditional_p_value;
use super::policy::{ALPHA, lower_bound, modal, rule};
use crate::stats::{Confidence, SIGNIFICANT_DIGITS, benjamini_hochberg, round_sig, wilson};

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
        if record.status == Status::NotRun {
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
    pub fn finish(self, policy: &str, level: f64) -> Robustness {
        let groups = &self.groups;
        let of_mode = |mode: Mode| groups.iter().filter(move |group| group.mode == mode);
        let baselines: Vec<Baseline> =
            of_mode(Mode::Baseline).map(|group| baseline(group, policy, level)).collect();
        let mut variants: Vec<Variant> =
            of_mode(Mode::Adversarial).map(|group| self.variant(group)).collect();
        adjust(&mut variants, policy);
        let levels: Vec<Level> = of_mode(Mode::Stress).map(stress).collect();
        Robustness {
            policy: policy.to_owned(),
            alpha: ALPHA,
            level,
            cases: self.cases(&levels),
            generators: self.generators(&variants),
            repairs: self.repairs(),
            shortfalls: Vec::new(),
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
            let held = ladder.iter().take_while(|level| level.verdict == LevelVerdict::ClearSuccess);
            let failed = ladder.iter().find(|level| level.verdict == LevelVerdict::SystematicFailure);
            let any = (!rates.is_empty()).then_some(());
            cases.push(Case {
                slot: group.slot.clone(),
                case_id: group.case_id.clone(),
                sensitivity: sensitivity(&wordings),
                worst: any.map(|()| round(rates.iter().copied().fold(1.0, f64::min))),
                average: any.map(|()| round(rates.iter().sum::<f64>() / rates.len() as f64)),
                best: any.map(|()| round(rates.iter().copied().fold(0.0, f64::max))),
                holds_up_to: held.last().map(|level| level.level),
                boundary: failed.map(|level| level.level),
            });
        }
        cases
    }

    fn generators(&self, variants: &[Variant]) -> Vec<Generator> {
        let mut names: Vec<(&str, &str)> = Vec::new();
        for variant in variants {
            let name = (variant.slot.as_str(), variant.generator.as_str());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.into_iter().map(|(slot, name)| self.generator(slot, name, variants)).collect()
    }

    fn generator(&self, slot: &str, name: &str, variants: &[Variant]) -> Generator {
        let own: Vec<&Variant> =
            variants.iter().filter(|variant| variant.slot == slot && variant.generator == name).collect();
        let with =
            |verdict: VariantVerdict| own.iter().filter(|variant| variant.verdict == verdict).count() as u64;
        let (passed, runs) = own.iter().fold((0, 0), |(passed, runs), variant| {
            (passed + variant.success.numerator, runs + variant.runs)
        });
        let mut cases: Vec<&str> = own.iter().map(|variant| variant.case_id.as_str()).collect();
        cases.dedup();
        let bases = cases.iter().filter_map(|case| self.base_of(slot, case));
        let (base_passed, base_runs) = bases
            .fold((0, 0), |(passed, runs), base| (passed + successes(base), runs + base.seen.len() as u64));
        let success = rate(passed, runs, format!("success of slot={slot:?} generator={name:?}"));
        let base_success =
            rate(base_passed, base_runs, format!("success of slot={slot:?} suite=baseline, its cases"));
        let relative_drop = match (base_success.value, success.value) {
            (Some(base), Some(value)) if base > 0.0 => Some(round((base - value) / base)),
            _ => None,
        };
        Generator {
            slot: slot.to_owned(),
            generator: name.to_owned(),
            variants: own.len() as u64,
            structural: with(VariantVerdict::Structural),
            stochastic: with(VariantVerdict::Stochastic),
            success,
            base_success,
            relative_drop,
        }
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

fn baseline(group: &VariantRuns, policy: &str, level: f64) -> Baseline {
    let usual = modal(&group.seen);
    let runs = group.seen.len();
    let low = usual.map(|(_, count)| lower_bound(count, runs));
    let mut distinct = group.seen.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let by_rule = group.stop.as_ref().is_some_and(|stop| stop.rule == rule::LAST_THREE_EQUAL);
    let verdict = match low {
        None => BaselineVerdict::Unassessed,
        Some(_) if policy == "seed" && by_rule => BaselineVerdict::Stable,
        Some(low) if policy != "seed" && low >= level => BaselineVerdict::Stable,
        Some(_) if distinct.len() > 1 => BaselineVerdict::Flaky,
        Some(_) => BaselineVerdict::Undetermined,
    };
    Baseline {
        slot: group.slot.clone(),
        case_id: group.case_id.clone(),
        runs: runs as u64,
        unassessed: group.unassessed,
        success: success_rate(group),
        modal: usual.map(|(outcome, _)| outcome),
        modal_runs: usual.map_or(0, |(_, count)| count as u64),
        agreement_low: low.map(round),
        distinct: distinct.len() as u64,
        verdict,
        stop: group.stop.clone(),
    }
}

fn stress(group: &VariantRuns) -> Level {
    let failures = group.seen.len() as u64 - successes(group);
    let runs = group.seen.len() as u64;
    let verdict = match group.stop.as_ref().map(|stop| stop.rule.as_str()) {
        _ if runs == 0 => LevelVerdict::Unassessed,
        Some(rule::SPRT_SUCCESS | rule::SUCCESS_RATE) => LevelVerdict::ClearSuccess,
        Some(rule::SPRT_FAILURE | rule::FAILURE_RATE) => LevelVerdict::SystematicFailure,
        // A fixed number of runs is read by the same lead of three.
        _ if successes(group) >= failures + 3 => LevelVerdict::ClearSuccess,
        _ if failures >= successes(group) + 3 => LevelVerdict::SystematicFailure,
        _ => LevelVerdict::Undetermined,
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
        verdict,
        stop: group.stop.clone(),
    }
}

/// Benjamini and Hochberg over all variants of a target; one that was ended for futility counts with p = 1.
///
/// Under the seed's policy the verdict is the seed's: structural when every repetition deviates.
fn adjust(variants: &mut [Variant], policy: &str) {
    let mut slots: Vec<String> = variants.iter().map(|variant| variant.slot.clone()).collect();
    slots.sort();
    slots.dedup();
    for slot in slots {
        let own: Vec<usize> = (0..variants.len())
            .filter(|at| variants[*at].slot == slot && variants[*at].verdict != VariantVerdict::Unassessed)
            .collect();
        let p_values: Vec<f64> = own.iter().map(|at| variants[*at].p_value.unwrap_or(1.0)).collect();
        for (at, adjusted) in own.into_iter().zip(benjamini_hochberg(&p_values)) {
            let variant = &mut variants[at];
            variant.adjusted_p = Some(round(adjusted));
            let structural = match policy {
                "seed" => variant.runs >= 3 && variant.deviating == variant.runs,
                _ => adjusted <= ALPHA,
            };
            if structural && variant.interesting {
                variant.verdict = VariantVerdict::Structural;
            }
        }
    }
}

/// How often two runs with different wordings disagree, on average over pairs of wordings.
fn sensitivity(wordings: &[&VariantRuns]) -> Option<f64> {
    let mut sum = 0.0;
    let mut pairs = 0u64;
    for (at, a) in wordings.iter().enumerate() {
        for b in &wordings[at + 1..] {
            let differ: usize =
                a.seen.iter().map(|one| b.seen.iter().filter(|other| *other != one).count()).sum();
            sum += differ as f64 / (a.seen.len() * b.seen.len()) as f64;
            pairs += 1;
        }
    }
    (pairs > 0).then(|| round(sum / pairs as f64))
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
