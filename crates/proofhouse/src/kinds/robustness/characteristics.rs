//! What a policy can and cannot claim, computed exactly: dynamic programming over the policy's own decisions.

use std::collections::BTreeMap;

use proofhouse_ledger::record::{FailureStage, Mode, Observed, Termination};

use super::exact::conditional_p_value;
use super::policy::{ALPHA, Base, Policy, PolicyName};
use crate::stats::decisions::{Stability, Stressed, rung_design, stability_design};
use crate::stats::{End, Rule, Series, Stratum, binomial_upper_tail, cochran_mantel_haenszel};

/// What is said of a series of runs when each run has the usual outcome, or succeeds, with a given chance.
#[derive(Debug, Clone, PartialEq)]
pub struct Characteristics {
    /// The chance.
    pub share: f64,
    /// Runs on average.
    pub mean_runs: f64,
    /// Word → the probability that the report says it.
    pub words: BTreeMap<&'static str, f64>,
}

impl Characteristics {
    /// The probability of this word.
    pub fn of(&self, word: &str) -> f64 {
        self.words.get(word).copied().unwrap_or(0.0)
    }
}

/// A run that succeeded, or one that failed.
pub(super) fn outcome(success: bool) -> Observed {
    Observed {
        termination: Termination::Exited,
        success,
        failure_stage: (!success).then_some(FailureStage::Unknown),
        attempts: None,
        repairs_triggered: None,
    }
}

/// All ways in which the policy ends a series of so many runs; none where runs may be added without a plan, or where so many were
/// never planned. Runs that could not be assessed shorten a plan: it is taken as far as it was carried out.
pub(super) fn series(policy: &Policy, mode: Mode, runs: u64) -> Option<Series> {
    let cap = u64::from(policy.cap(mode));
    if policy.open || runs > cap || runs == 0 {
        return None;
    }
    Some(match (policy.name, mode) {
        (PolicyName::Fixed, _) => Series::fixed(runs),
        (PolicyName::Evidence, Mode::Baseline) if policy.compares => Series::fixed(runs),
        (PolicyName::Evidence, Mode::Baseline) => {
            Series::by_rule(&stability_design(policy.level, cap).rule(), runs)
        }
        (PolicyName::Evidence, _) => Series::by_rule(&rung_design(cap).rule(), runs),
        (PolicyName::Seed, _) => Series::ranked(ends(policy, mode)),
    })
}

/// The rule that is made once for all looks; none for policies without one.
fn planned_rule(policy: &Policy, mode: Mode) -> Option<Rule> {
    let cap = u64::from(policy.cap(mode));
    let design = match mode {
        Mode::Baseline => stability_design(policy.level, cap),
        Mode::Adversarial | Mode::Stress => rung_design(cap),
    };
    (policy.name == PolicyName::Evidence && !policy.open).then(|| design.rule())
}

/// Whether the policy ends a series with so many misses whose last runs were these; a miss is another outcome than the usual one, or a
/// failure.
fn stops(
    (policy, rule): (&Policy, Option<&Rule>),
    mode: Mode,
    (runs, misses): (u64, u64),
    last: &[bool],
) -> bool {
    if runs >= u64::from(policy.cap(mode)) {
        return true;
    }
    let other = misses.min(runs - misses);
    match (policy.name, mode) {
        (PolicyName::Fixed, _) | (_, Mode::Adversarial) => false,
        (PolicyName::Seed, Mode::Baseline) => last.len() == 3 && last.iter().all(|miss| *miss == last[0]),
        (PolicyName::Seed, Mode::Stress) => runs >= 3 && (misses == 0 || misses * 5 >= runs * 4),
        (PolicyName::Evidence, Mode::Baseline) if policy.compares => false,
        (PolicyName::Evidence, Mode::Baseline) => match rule {
            Some(rule) => rule.ends(runs, other).is_some(),
            None => policy.stable_or_flaky(runs - other, runs, 1 + u64::from(other > 0)).is_some(),
        },
        (PolicyName::Evidence, Mode::Stress) => match rule {
            Some(rule) => rule.ends(runs, misses).is_some(),
            None => policy.clear_or_systematic(runs - misses, runs).is_some(),
        },
    }
}

/// Every end of a series with two kinds of outcomes. Series that no rule can tell apart are one state: the number of misses and the last
/// two runs.
pub(super) fn ends(policy: &Policy, mode: Mode) -> Vec<End> {
    let mut open: BTreeMap<(u64, Vec<bool>), f64> = BTreeMap::from([((0, Vec::new()), 1.0)]);
    let mut found: BTreeMap<(u64, u64), f64> = BTreeMap::new();
    let rule = planned_rule(policy, mode);
    let mut runs = 0;
    while !open.is_empty() {
        runs += 1;
        let mut next: BTreeMap<(u64, Vec<bool>), f64> = BTreeMap::new();
        for ((misses, before), ways) in open {
            for miss in [false, true] {
                let misses = misses + u64::from(miss);
                let mut last = before.clone();
                last.push(miss);
                if stops((policy, rule.as_ref()), mode, (runs, misses), &last) {
                    *found.entry((runs, misses)).or_default() += ways;
                    continue;
                }
                // Only the rules of thumb look at the order of runs.
                let keep =
                    if policy.name == PolicyName::Seed { last.len().saturating_sub(2) } else { last.len() };
                *next.entry((misses, last.split_off(keep))).or_default() += ways;
            }
        }
        open = next;
    }
    found.into_iter().map(|((runs, misses), ways)| End { runs, misses, ln_ways: ways.ln() }).collect()
}

/// What is said of a series, and after how many runs, when each run has this chance; by the policy's own decisions.
pub fn at_share(policy: &Policy, mode: Mode, share: f64) -> Characteristics {
    at_shares(policy, mode, &[share]).remove(0)
}

/// The same for several chances.
pub fn at_shares(policy: &Policy, mode: Mode, shares: &[f64]) -> Vec<Characteristics> {
    let blank = |share: &f64| Characteristics { share: *share, mean_runs: 0.0, words: BTreeMap::new() };
    let mut found: Vec<Characteristics> = shares.iter().map(blank).collect();
    let mut planned: BTreeMap<u64, Option<Series>> = BTreeMap::new();
    for end in ends(policy, mode) {
        let series = planned.entry(end.runs).or_insert_with(|| series(policy, mode, end.runs));
        let word = word(policy, mode, &end, series.as_ref());
        for at in &mut found {
            let chance = end.chance(at.share);
            at.mean_runs += chance * end.runs as f64;
            if chance > 0.0 {
                *at.words.entry(word).or_default() += chance;
            }
        }
    }
    found
}

fn word(policy: &Policy, mode: Mode, end: &End, planned: Option<&Series>) -> &'static str {
    let said = match mode {
        Mode::Stress => Stressed::of(end.runs - end.misses, end.runs, planned).map(|said| said.rung.word()),
        Mode::Baseline | Mode::Adversarial => {
            let other = end.misses.min(end.runs - end.misses);
            let kinds = 1 + u64::from(other > 0);
            Stability::of(end.runs - other, end.runs, kinds, policy.level, planned)
                .map(|said| said.alike.word())
        }
    };
    said.unwrap_or_default()
}

/// How many runs a tool takes that always does the same: of a variant beside so many alike runs of the baseline.
pub fn calm_variant_runs(policy: &Policy) -> u32 {
    let base = Base { outcomes: vec![outcome(true); policy.base_runs as usize] };
    let mut seen = Vec::new();
    loop {
        seen.push(Some(outcome(true)));
        if policy.after(Mode::Adversarial, &seen, &base).is_some() {
            return seen.len() as u32;
        }
    }
}

/// The smallest change that comparing variants with a baseline can see, when every baseline run had the same outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Runs of the baseline.
    pub base_runs: u32,
    /// Runs of each variant.
    pub variant_runs: u32,
    /// Variants that are compared.
    pub variants: u32,
    /// From how many deviating runs on a variant by itself is called structural; none when no number is enough.
    pub needed: Option<u32>,
    /// The rate of deviating runs that is found with a chance of 80 %.
    pub detectable: Option<f64>,
}

/// What comparing `variants` variants with a baseline can see at best.
pub fn sensitivity(policy: &Policy, variants: u32) -> Sensitivity {
    let (base_runs, variant_runs) = (policy.base_runs, policy.variant_runs);
    let base = vec![0u8; base_runs as usize];
    let level = ALPHA / f64::from(variants.max(1));
    let significant = |deviating: &u32| {
        let mut runs = vec![1u8; *deviating as usize];
        runs.resize(variant_runs as usize, 0);
        conditional_p_value(&base, &runs) <= level
    };
    let needed = (1..=variant_runs).find(significant);
    let detectable = needed.map(|needed| {
        let power = |rate: f64| {
            let at_least = binomial_upper_tail(needed.into(), variant_runs.into(), rate);
            at_least >= 0.8
        };
        (1..=1000).map(|share| f64::from(share) / 1000.0).find(|rate| power(*rate)).unwrap_or(1.0)
    });
    Sensitivity { base_runs, variant_runs, variants, needed, detectable }
}

/// What two runs of a tool can tell apart that always succeeded in the first: the largest chance to succeed in the second that is
/// seen with a chance of 80 %, by Fisher's exact test over the runs that the policy itself would make, at the level that so many
/// findings leave; none where not even one that always fails is seen.
pub fn told_apart(policy: &Policy, mode: Mode, findings: u64) -> Option<f64> {
    let ends = ends(policy, mode);
    let level = ALPHA / findings.max(1) as f64;
    let counts = |end: &End| (end.runs - end.misses, end.runs);
    let seen_from = |before: &End, after: &End| {
        let table = Stratum { first: counts(before), second: counts(after) };
        cochran_mantel_haenszel(&[table]).is_some_and(|p| p < level)
    };
    // A tool that always succeeds has one end.
    let before: Vec<&End> = ends.iter().filter(|end| end.chance(1.0) > 0.0).collect();
    let seen: Vec<(f64, &End)> = ends
        .iter()
        .map(|after| {
            let found = before.iter().filter(|before| seen_from(before, after));
            (found.map(|before| before.chance(1.0)).sum(), after)
        })
        .collect();
    let power = |chance: f64| seen.iter().map(|(seen, after)| seen * after.chance(chance)).sum::<f64>();
    (0..100).rev().map(|percent| f64::from(percent) / 100.0).find(|chance| power(*chance) >= 0.8)
}

#[cfg(test)]
mod tests;
