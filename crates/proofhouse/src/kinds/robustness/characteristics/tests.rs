//! Dynamic programming against every sequence, and the promises of the words.

use super::*;

fn policy(name: PolicyName, mode: Mode) -> Policy {
    let (base_runs, variant_runs) = Policy::default_runs(name, mode);
    Policy { name, base_runs, variant_runs, level: 0.8, compares: false, open: false }
}

/// All sequences one by one, by the decisions that a run takes: what dynamic programming must equal.
fn enumerated(policy: &Policy, mode: Mode) -> BTreeMap<(u64, u64), f64> {
    let mut found = BTreeMap::new();
    let mut open = vec![Vec::<Option<Observed>>::new()];
    while let Some(runs) = open.pop() {
        for success in [true, false] {
            let mut runs = runs.clone();
            runs.push(Some(outcome(success)));
            match policy.after(mode, &runs, &Base::default()) {
                Some(stop) => {
                    let misses = runs.iter().flatten().filter(|seen| !seen.success).count() as u64;
                    *found.entry((u64::from(stop.n), misses)).or_default() += 1.0;
                }
                None => open.push(runs),
            }
        }
    }
    found
}

#[test]
fn dynamic_programming_equals_enumeration() {
    for name in [PolicyName::Seed, PolicyName::Evidence, PolicyName::Fixed] {
        for (mode, open) in [(Mode::Baseline, false), (Mode::Stress, false), (Mode::Stress, true)] {
            let policy = Policy { base_runs: 12, variant_runs: 12, open, ..policy(name, mode) };
            let policy = match (name, mode) {
                (PolicyName::Seed, Mode::Baseline) => Policy { base_runs: 10, ..policy },
                (PolicyName::Seed, _) => Policy { variant_runs: 5, ..policy },
                _ => policy,
            };
            let all = enumerated(&policy, mode);
            let own = ends(&policy, mode);
            assert_eq!(own.len(), all.len(), "{name:?} {mode:?}");
            for end in own {
                let ways = all[&(end.runs, end.misses)];
                assert!((end.ln_ways.exp() / ways - 1.0).abs() < 1e-9, "{name:?} {mode:?} {end:?} {ways}");
            }
        }
    }
}

/// The promises: a share at the level is called stable, and a coin clear or a failure, in at most 5 % of runs each.
#[test]
fn words_keep_their_promises() {
    for level in [0.6, 0.8, 0.9] {
        for (name, open) in [
            (PolicyName::Evidence, false),
            (PolicyName::Evidence, true),
            (PolicyName::Fixed, false),
            (PolicyName::Seed, false),
        ] {
            let policy = Policy { level, open, ..policy(name, Mode::Baseline) };
            for share in [0.5, 0.55, 0.7, 0.8, 0.9] {
                let found = at_share(&policy, Mode::Baseline, share);
                assert!((found.words.values().sum::<f64>() - 1.0).abs() < 1e-9);
                assert!(share > level || found.of("stable") <= 0.05, "{name:?} {level} {found:?}");
                assert!(share < level || found.of("flaky") <= 0.05, "{name:?} {level} {found:?}");
            }
        }
    }
    for (name, open) in [
        (PolicyName::Evidence, false),
        (PolicyName::Evidence, true),
        (PolicyName::Fixed, false),
        (PolicyName::Seed, false),
    ] {
        let policy = Policy { open, ..policy(name, Mode::Stress) };
        let coin = at_share(&policy, Mode::Stress, 0.5);
        assert!(coin.of("clear") <= 0.05 && coin.of("systematic failure") <= 0.05, "{name:?} {coin:?}");
        for (share, wrong) in [(0.2, "flaky"), (0.8, "flaky"), (0.3, "clear"), (0.7, "systematic failure")] {
            assert!(at_share(&policy, Mode::Stress, share).of(wrong) <= 0.05, "{name:?} {share}");
        }
    }
}

#[test]
fn the_default_policy_sees_what_it_should() {
    let stable = |share| at_share(&policy(PolicyName::Evidence, Mode::Baseline), Mode::Baseline, share);
    let always = stable(1.0);
    assert_eq!((always.of("stable"), always.mean_runs), (1.0, 14.0));
    assert!(stable(0.5).of("flaky") > 0.7, "{:?}", stable(0.5));
    let stress = |share| at_share(&policy(PolicyName::Evidence, Mode::Stress), Mode::Stress, share);
    assert_eq!((stress(1.0).of("clear"), stress(1.0).mean_runs), (1.0, 5.0));
    assert_eq!((stress(0.0).of("systematic failure"), stress(0.0).mean_runs), (1.0, 5.0));
    assert!(stress(0.5).of("flaky") > 0.35, "{:?}", stress(0.5));
}

/// The rules of thumb stop as they stop, and the words say how little that shows.
#[test]
fn the_rules_of_thumb_claim_nothing() {
    let seed = |mode, share| at_share(&policy(PolicyName::Seed, mode), mode, share);
    assert_eq!(seed(Mode::Baseline, 1.0).of("consistent so far"), 1.0);
    assert_eq!(seed(Mode::Baseline, 1.0).mean_runs, 3.0);
    assert_eq!(seed(Mode::Stress, 1.0).of("undetermined"), 1.0);
}

#[test]
fn sensitivity_says_when_nothing_can_be_seen() {
    let default = Policy { compares: true, base_runs: 10, ..policy(PolicyName::Evidence, Mode::Adversarial) };
    let one = sensitivity(&default, 1);
    assert_eq!(one.needed, Some(3));
    let many = sensitivity(&default, 46);
    assert_eq!(many.needed, Some(5));
    assert!(many.detectable.is_some_and(|rate| rate > 0.95));
    let hopeless = sensitivity(&Policy { variant_runs: 1, ..default }, 46);
    assert_eq!((hopeless.needed, hopeless.detectable), (None, None));
    assert_eq!(calm_variant_runs(&default), 3);
}
