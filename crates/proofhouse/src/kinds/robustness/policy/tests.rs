//! Every sequence of outcomes up to length ten against a table written from the rules of `policy: seed`, and the noise tests.

use proofhouse_ledger::record::FailureStage;

use super::super::characteristics::outcome;
use super::*;

fn policy(name: PolicyName, mode: Mode) -> Policy {
    let (base_runs, variant_runs) = Policy::default_runs(name, mode);
    Policy { name, base_runs, variant_runs, level: 0.8, compares: mode == Mode::Adversarial, open: false }
}

/// Four outcomes that differ in exactly one of the fields that `policy: seed` compares.
fn classes() -> [Observed; 4] {
    let plain = Observed { attempts: Some(1), repairs_triggered: Some(0), ..outcome(true) };
    [
        plain,
        Observed { success: false, failure_stage: Some(FailureStage::Validation), ..plain },
        Observed { success: false, failure_stage: Some(FailureStage::Repair), ..plain },
        Observed { repairs_triggered: Some(1), ..plain },
    ]
}

/// Every sequence of the given alphabet up to a length, each with all its beginnings decided.
fn every_sequence(letters: usize, length: u32, mut look: impl FnMut(&[usize])) {
    for n in 1..=length {
        let mut digits = vec![0usize; n as usize];
        loop {
            look(&digits);
            let Some(at) = digits.iter().rposition(|digit| digit + 1 < letters) else { break };
            digits[at] += 1;
            digits[at + 1..].fill(0);
        }
    }
}

fn stops(policy: &Policy, mode: Mode, sequence: &[usize], base: &Base) -> Option<String> {
    let classes = classes();
    let runs: Vec<Option<Observed>> = sequence.iter().map(|class| Some(classes[*class])).collect();
    policy.after(mode, &runs, base).map(|stop| {
        assert_eq!(stop.n as usize, sequence.len());
        stop.rule
    })
}

/// `while len(runs) < 10: …; if len(runs) >= 3 and last_3_runs_are_identical(runs): break`
#[test]
fn the_seeds_baseline_rule_for_every_sequence() {
    let policy = policy(PolicyName::Seed, Mode::Baseline);
    let mut looked = 0;
    every_sequence(3, 10, |sequence| {
        let n = sequence.len();
        let expected = match n {
            3.. if sequence[n - 1] == sequence[n - 2] && sequence[n - 2] == sequence[n - 3] => {
                Some("last_three_equal")
            }
            10 => Some("cap"),
            _ => None,
        };
        assert_eq!(
            stops(&policy, Mode::Baseline, sequence, &Base::default()).as_deref(),
            expected,
            "{sequence:?}"
        );
        looked += 1;
    });
    assert_eq!(looked, (3usize.pow(11) - 3) / 2);
}

/// Two to five runs; from three on it ends at a failure rate of 80 % or a success rate of 100 %.
#[test]
fn the_seeds_stress_rule_for_every_sequence() {
    let policy = policy(PolicyName::Seed, Mode::Stress);
    every_sequence(3, 5, |sequence| {
        let n = sequence.len();
        let failures = sequence.iter().filter(|class| matches!(class, 1 | 2)).count();
        let rate = failures as f64 / n as f64;
        let expected = match n {
            1 | 2 => None,
            _ if rate >= 0.8 => Some("failure_rate"),
            _ if failures == 0 => Some("success_rate"),
            5 => Some("cap"),
            _ => None,
        };
        assert_eq!(
            stops(&policy, Mode::Stress, sequence, &Base::default()).as_deref(),
            expected,
            "{sequence:?}"
        );
    });
}

/// One run; up to three when any of the four fields differs from the baseline's modal outcome.
#[test]
fn the_seeds_adversarial_rule_for_every_sequence() {
    let policy = policy(PolicyName::Seed, Mode::Adversarial);
    let base = Base { outcomes: vec![classes()[1], classes()[0], classes()[0]] };
    every_sequence(4, 3, |sequence| {
        let expected = match sequence {
            [0] => Some("not_interesting"),
            [_] | [_, _] => None,
            _ => Some("cap"),
        };
        assert_eq!(stops(&policy, Mode::Adversarial, sequence, &base).as_deref(), expected, "{sequence:?}");
    });
    assert_eq!(stops(&policy, Mode::Adversarial, &[0], &Base::default()).as_deref(), Some("no_baseline"));
}

#[test]
fn the_modal_outcome_of_a_tie_is_the_first() {
    let [a, b, ..] = classes();
    assert_eq!(modal(&[b, a, a, b]), Some((b, 2)));
    assert_eq!(modal(&[]), None);
}

#[test]
fn how_a_process_ended_counts_for_evidence_and_not_for_the_seed() {
    let plain = classes()[1];
    let hung = Observed { termination: Termination::Timeout, ..plain };
    let runs = [Some(plain), Some(hung), Some(plain)];
    let seed = policy(PolicyName::Seed, Mode::Baseline).after(Mode::Baseline, &runs, &Base::default());
    assert_eq!(seed.map(|stop| stop.rule).as_deref(), Some("last_three_equal"));
    assert_eq!(modal(&[plain, hung, plain]).map(|(_, count)| count), Some(2));
}

#[test]
fn agreement_needs_a_bound_and_says_it() {
    let evidence = policy(PolicyName::Evidence, Mode::Baseline);
    let same = [Some(classes()[0]); 14];
    assert_eq!(evidence.after(Mode::Baseline, &same[..13], &Base::default()), None);
    let stop = evidence.after(Mode::Baseline, &same, &Base::default()).unwrap();
    assert_eq!((stop.rule.as_str(), stop.n), (rule::AGREEMENT, 14));
    assert!(stop.reason.contains("at least 80.7 % are"), "{}", stop.reason);
    let mixed: Vec<_> = (0..12).map(|at| Some(classes()[at % 2])).collect();
    let stop = (1..=12).find_map(|n| evidence.after(Mode::Baseline, &mixed[..n], &Base::default())).unwrap();
    assert_eq!(stop.rule, rule::DISAGREEMENT, "{stop:?}");
    let open = Policy { open: true, base_runs: 30, ..evidence };
    let same = [Some(classes()[0]); 24];
    assert_eq!(open.after(Mode::Baseline, &same[..23], &Base::default()), None);
    assert_eq!(open.after(Mode::Baseline, &same, &Base::default()).unwrap().rule, rule::AGREEMENT);
}

#[test]
fn a_stress_level_is_clear_after_five_of_five() {
    let evidence = policy(PolicyName::Evidence, Mode::Stress);
    for (class, rule) in [(0, rule::CLEAR), (1, rule::SYSTEMATIC)] {
        let runs = [Some(classes()[class]); 5];
        assert_eq!(evidence.after(Mode::Stress, &runs[..4], &Base::default()), None);
        assert_eq!(evidence.after(Mode::Stress, &runs, &Base::default()).unwrap().rule, rule);
    }
}

#[test]
fn a_planted_break_uses_all_its_runs_and_a_stable_variant_few() {
    let evidence = policy(PolicyName::Evidence, Mode::Adversarial);
    let base = Base { outcomes: vec![classes()[0]; evidence.base_runs as usize] };
    let broken = [Some(classes()[1]); 5];
    for n in 1..5 {
        assert_eq!(evidence.after(Mode::Adversarial, &broken[..n], &base), None);
    }
    assert_eq!(evidence.after(Mode::Adversarial, &broken, &base).unwrap().rule, rule::CAP);
    let stable = [Some(classes()[0]); 5];
    assert_eq!(evidence.after(Mode::Adversarial, &stable[..3], &base), None);
    assert_eq!(evidence.after(Mode::Adversarial, &stable[..4], &base).unwrap().rule, rule::FUTILITY);
}

#[test]
fn runs_without_an_assessment_end_after_three_on_end() {
    for name in [PolicyName::Seed, PolicyName::Evidence, PolicyName::Fixed] {
        for mode in [Mode::Baseline, Mode::Adversarial, Mode::Stress] {
            let policy = Policy { variant_runs: 9, ..policy(name, mode) };
            let stop = policy.after(mode, &[None, None, None], &Base::default()).unwrap();
            assert_eq!(stop.rule, rule::UNASSESSED);
            assert_eq!(policy.after(mode, &[None, None], &Base::default()), None);
        }
    }
}
