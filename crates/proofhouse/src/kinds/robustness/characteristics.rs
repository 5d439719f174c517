//! What a policy can and cannot claim, computed exactly: dynamic programming over the policy's own decisions.

use std::collections::BTreeMap;

use proofhouse_ledger::record::{FailureStage, Mode, Observed, Termination};

use super::exact::conditional_p_value;
use super::policy::{ALPHA, Base, Policy, PolicyName, lower_bound, rule};
use crate::stats::binomial_upper_tail;

/// How a series of runs ends when each run succeeds with a given chance.
#[derive(Debug, Clone, PartialEq)]
pub struct Characteristics {
    /// The chance.
    pub share: f64,
    /// Runs on average.
    pub mean_runs: f64,
    /// Rule → the probability that it ends the series.
    pub rules: BTreeMap<String, f64>,
}

impl Characteristics {
    /// The probability that this rule ends the series.
    pub fn of(&self, rule: &str) -> f64 {
        self.rules.get(rule).copied().unwrap_or(0.0)
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

/// How a series without a baseline ends when each run succeeds with this chance, by the policy's own decisions.
///
/// Series that the policy cannot tell apart are one state: the last two runs and the number for the seed's baseline rule,
/// the counts for all other rules.
pub fn at_share(policy: &Policy, mode: Mode, share: f64) -> Characteristics {
    let mut states: BTreeMap<Vec<bool>, f64> = BTreeMap::from([(Vec::new(), 1.0)]);
    let mut found = Characteristics { share, mean_runs: 0.0, rules: BTreeMap::new() };
    while !states.is_empty() {
        let mut next: BTreeMap<Vec<bool>, f64> = BTreeMap::new();
        for (state, probability) in &states {
            for (success, chance) in [(true, share), (false, 1.0 - share)] {
                let weight = probability * chance;
                if weight == 0.0 {
                    continue;
                }
                let mut runs = state.clone();
                runs.push(success);
                let seen: Vec<Option<Observed>> =
                    runs.iter().map(|success| Some(outcome(*success))).collect();
                match policy.after(mode, &seen, &Base::default()) {
                    Some(stop) => {
                        found.mean_runs += weight * f64::from(stop.n);
                        *found.rules.entry(stop.rule).or_default() += weight;
                    }
                    None => *next.entry(representative(policy, mode, runs)).or_default() += weight,
                }
            }
        }
        states = next;
    }
    found
}

/// The chance that a base instruction is called stable when one of two outcomes has this share.
pub fn called_stable(policy: &Policy, share: f64) -> f64 {
    match policy.name {
        PolicyName::Seed => at_share(policy, Mode::Baseline, share).of(rule::LAST_THREE_EQUAL),
        PolicyName::Evidence => {
            let stops = Policy { compares: false, ..*policy };
            at_share(&stops, Mode::Baseline, share).of(rule::AGREEMENT)
        }
        PolicyName::Fixed => {
            let n = u64::from(policy.base_runs);
            let above = |k: u64| if k > n { 0.0 } else { binomial_upper_tail(k, n, share) };
            let stable = |k: &u64| lower_bound((*k).max(n - k) as usize, n as usize) >= policy.level;
            (0..=n).filter(stable).map(|k| above(k) - above(k + 1)).sum()
        }
    }
}

/// One series for all that the policy cannot tell apart from it.
fn representative(policy: &Policy, mode: Mode, mut runs: Vec<bool>) -> Vec<bool> {
    if (policy.name, mode) == (PolicyName::Seed, Mode::Baseline) {
        let keep = runs.len().saturating_sub(2);
        // Alternating runs before the last two never make three equal ones.
        for at in (0..keep).rev() {
            runs[at] = !runs[at + 1];
        }
        return runs;
    }
    runs.sort_unstable();
    runs
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

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(name: PolicyName, mode: Mode) -> Policy {
        let (base_runs, variant_runs) = Policy::default_runs(name, mode);
        Policy { name, base_runs, variant_runs, level: 0.5, compares: false }
    }

    /// All sequences one by one: what dynamic programming must equal.
    fn enumerated(policy: &Policy, mode: Mode, share: f64) -> Characteristics {
        let mut found = Characteristics { share, mean_runs: 0.0, rules: BTreeMap::new() };
        let mut open = vec![(Vec::<Option<Observed>>::new(), 1.0)];
        while let Some((runs, probability)) = open.pop() {
            for (success, chance) in [(true, share), (false, 1.0 - share)] {
                let mut runs = runs.clone();
                runs.push(Some(outcome(success)));
                let weight = probability * chance;
                match policy.after(mode, &runs, &Base::default()) {
                    Some(stop) => {
                        found.mean_runs += weight * f64::from(stop.n);
                        *found.rules.entry(stop.rule).or_default() += weight;
                    }
                    None => open.push((runs, weight)),
                }
            }
        }
        found
    }

    #[test]
    fn dynamic_programming_equals_enumeration() {
        for name in [PolicyName::Seed, PolicyName::Evidence, PolicyName::Fixed] {
            for mode in [Mode::Baseline, Mode::Stress] {
                for share in [0.2, 0.5, 0.9, 1.0] {
                    let policy = policy(name, mode);
                    let (a, b) = (at_share(&policy, mode, share), enumerated(&policy, mode, share));
                    assert!((a.mean_runs - b.mean_runs).abs() < 1e-9, "{name:?} {mode:?} {share}");
                    let sum: f64 = a.rules.values().sum();
                    assert!((sum - 1.0).abs() < 1e-9);
                    for (rule, probability) in &a.rules {
                        assert!((probability - b.of(rule)).abs() < 1e-9, "{name:?} {mode:?} {share} {rule}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_fair_coin_is_stable_to_the_seed_and_rarely_to_the_evidence() {
        let seed = at_share(&policy(PolicyName::Seed, Mode::Baseline), Mode::Baseline, 0.5);
        assert!((seed.of(rule::LAST_THREE_EQUAL) - (1.0 - 178.0 / 1024.0)).abs() < 1e-12);
        let evidence = at_share(&policy(PolicyName::Evidence, Mode::Baseline), Mode::Baseline, 0.5);
        assert!(evidence.of(rule::AGREEMENT) < 0.13, "{evidence:?}");
    }

    #[test]
    fn a_fixed_number_of_runs_is_read_by_its_bound() {
        let fixed = policy(PolicyName::Fixed, Mode::Baseline);
        // 9 or 10 of 10 alike: 2 × (10 + 1) of 1024 sequences of a fair coin.
        assert!((called_stable(&fixed, 0.5) - 22.0 / 1024.0).abs() < 1e-12);
        assert_eq!(called_stable(&fixed, 1.0), 1.0);
        assert_eq!(called_stable(&Policy { base_runs: 2, ..fixed }, 1.0), 0.0, "two runs show nothing");
    }

    #[test]
    fn the_stress_rule_errs_rarely_and_stops_early() {
        let policy = policy(PolicyName::Evidence, Mode::Stress);
        let (weak, strong) = (at_share(&policy, Mode::Stress, 0.2), at_share(&policy, Mode::Stress, 0.8));
        assert!(weak.of(rule::SPRT_SUCCESS) <= 0.016 && strong.of(rule::SPRT_FAILURE) <= 0.016);
        assert!((weak.mean_runs - 4.8).abs() < 0.05, "{}", weak.mean_runs);
        assert!((strong.mean_runs - weak.mean_runs).abs() < 1e-12);
    }

    #[test]
    fn sensitivity_says_when_nothing_can_be_seen() {
        let default = Policy { compares: true, ..policy(PolicyName::Evidence, Mode::Adversarial) };
        let one = sensitivity(&default, 1);
        assert_eq!(one.needed, Some(3));
        let many = sensitivity(&default, 46);
        assert_eq!(many.needed, Some(5));
        assert!(many.detectable.is_some_and(|rate| rate > 0.95));
        let hopeless = sensitivity(&Policy { variant_runs: 1, ..default }, 46);
        assert_eq!((hopeless.needed, hopeless.detectable), (None, None));
    }
}
