//! What holds a gate, what misses it, and what leaves it open.

use super::*;

/// Cases of one trial each: passed, failed and unassessed.
fn trials(passed: u64, failed: u64, open: u64) -> Trials {
    let mut trials =
        Trials { passed, assessed: passed + failed, planned: passed + failed + open, ..Trials::default() };
    for (count, low, high) in [(passed, 1.0, 1.0), (failed, 0.0, 0.0), (open, 0.0, 1.0)] {
        for _ in 0..count {
            trials.if_failed.push(low, 1);
            trials.if_passed.push(high, 1);
        }
    }
    trials
}

fn check(confidence: Option<f64>, passed: u64, failed: u64, open: u64) -> GateCheck {
    GateCheck::of_trials("a", Demand { rate: 0.9, confidence }, &trials(passed, failed, open))
}

#[test]
fn silence_does_not_hold_a_gate() {
    for (passed, failed, open, outcome) in [
        (10, 0, 90, Outcome::CannotTell),
        (90, 10, 0, Outcome::Held),
        (90, 0, 10, Outcome::Held),
        (89, 0, 11, Outcome::CannotTell),
        (89, 11, 0, Outcome::Missed),
        (50, 11, 39, Outcome::Missed),
        (0, 0, 0, Outcome::CannotTell),
    ] {
        let found = check(None, passed, failed, open);
        assert_eq!(found.outcome, outcome, "{found:?}");
    }
}

#[test]
fn confidence_asks_for_the_limit() {
    assert_eq!(check(Some(0.95), 93, 7, 0).outcome, Outcome::CannotTell);
    assert_eq!(check(Some(0.95), 980, 20, 0).outcome, Outcome::Held);
    assert_eq!(check(Some(0.95), 70, 30, 0).outcome, Outcome::Missed);
    assert_eq!(check(Some(0.95), 905, 0, 95).outcome, Outcome::CannotTell);
}

#[test]
fn repetitions_do_not_stand_for_cases() {
    let mut repeated = trials(0, 0, 0);
    for case in 0..20 {
        let passed = if case < 19 { 50.0 } else { 0.0 };
        repeated.if_failed.push(passed, 50);
        repeated.if_passed.push(passed, 50);
    }
    (repeated.passed, repeated.assessed, repeated.planned) = (950, 1000, 1000);
    let found = GateCheck::of_trials("a", Demand { rate: 0.9, confidence: Some(0.95) }, &repeated);
    assert_eq!(found.outcome, Outcome::CannotTell, "{found:?}");
}

#[test]
fn each_case_by_itself() {
    for (counts, outcome) in [
        ((0, 0, 5), Outcome::Held),
        ((0, 1, 5), Outcome::CannotTell),
        ((1, 4, 5), Outcome::Missed),
        ((0, 0, 0), Outcome::CannotTell),
    ] {
        assert_eq!(GateCheck::of_cases("a", (2, 3), counts).outcome, outcome);
    }
}

#[test]
fn metrics_have_three_outcomes_too() {
    let most = |limit| Limits { at_most: Some(limit), ..Limits::default() };
    let least = |limit| Limits { at_least: Some(limit), ..Limits::default() };
    let of = |limits, measured: Measured| GateCheck::of_metric("a", "attack_success_rate", limits, &measured);
    for (limits, measured, outcome) in [
        (most(0.05), Measured::share(0, 45, 0), Outcome::Held),
        (most(0.05), Measured::share(0, 5, 40), Outcome::CannotTell),
        (most(0.05), Measured::share(10, 40, 5), Outcome::Missed),
        (most(0.05), Measured::share(0, 0, 45), Outcome::CannotTell),
        (least(0.8), Measured::share(80, 100, 0), Outcome::Held),
        (least(0.8), Measured::share(80, 90, 10), Outcome::Held),
        (least(0.8), Measured::share(79, 90, 10), Outcome::CannotTell),
        (least(0.8), Measured::share(60, 90, 10), Outcome::Missed),
    ] {
        let found = of(limits, measured);
        assert_eq!(found.outcome, outcome, "{found:?}");
    }
    let demand = Demand { rate: 0.0, confidence: None };
    let open = of(most(0.05), Measured::share(1, 5, 40));
    insta::assert_snapshot!(gate_sentence(demand, "target", &[open]), @"gate cannot be judged: on these cases, a has attack_success_rate between 0.02222 and 0.9111 (at most 0.05 is asked for), as 40 were not assessed");
}

#[test]
fn one_sentence_for_all() {
    let demand = Demand { rate: 0.9, confidence: None };
    let say = |checks: &[GateCheck]| gate_sentence(demand, "target", checks);
    insta::assert_snapshot!(say(&[check(None, 95, 5, 0)]), @"gate held: on these cases, every target passes at least 90.0 %: a passes 95.0 % of 100 trials");
    insta::assert_snapshot!(say(&[check(None, 95, 5, 0), check(None, 50, 50, 0)]), @"gate missed: on these cases, at least 90.0 % is asked for, and a passes 50.0 % of 100 trials");
    insta::assert_snapshot!(say(&[check(None, 10, 0, 90)]), @"gate cannot be judged: on these cases, at least 90.0 % is asked for, and a passes between 10.0 % and 100 % of 100 trials, as 90 were not assessed");
    insta::assert_snapshot!(say(&[]), @"gate cannot be judged: at least 90.0 % is asked for, and there is no target");
    let demand = Demand { rate: 0.9, confidence: Some(0.95) };
    insta::assert_snapshot!(gate_sentence(demand, "target", &[check(Some(0.95), 93, 7, 0)]), @"gate cannot be judged: on cases like these, at least 90.0 % (95 % sure) is asked for, and a passes at least 87.6 % and at most 96.2 %, each 95 % sure, over 100 cases; about 558 cases would decide with 80 % power, if they fall out like these");
}

#[test]
fn cases_hold_one_by_one() {
    let check = |missed, open, all| {
        let found = GateCheck::of_cases("a", (2, 3), (missed, open, all));
        (found.outcome, found.reason)
    };
    for (found, outcome, reason) in [
        (check(0, 0, 0), Outcome::CannotTell, "a has no case"),
        (check(0, 0, 5), Outcome::Held, "a passes at least 2 of 3 in each of 5 cases"),
        (check(1, 2, 5), Outcome::Missed, "a passes fewer than 2 of 3 in 1 of 5 cases"),
        (
            check(0, 2, 5),
            Outcome::CannotTell,
            "a may pass fewer than 2 of 3 in 2 of 5 cases, as trials were not assessed",
        ),
    ] {
        assert_eq!(found, (outcome, reason.to_owned()));
    }
}

/// A rate that can just be reached is not missed, and what is open is said.
#[test]
fn the_ends_of_what_is_possible_count_as_reached() {
    let check = |bounds, trials| {
        let found = GateCheck::of_bounds("a", 0.9, bounds, trials);
        (found.outcome, found.reason)
    };
    let both = "a passes between 50.0 % and 90.0 %";
    for (trials, more) in [
        (Some((10, 4)), " of 10 trials, as 4 were not assessed"),
        (Some((10, 1)), " of 10 trials, as 1 was not assessed"),
        (None, ", as some were not assessed"),
    ] {
        assert_eq!(check([0.5, 0.9], trials), (Outcome::CannotTell, format!("{both}{more}")));
    }
    assert_eq!(check([0.9, 0.9], None), (Outcome::Held, "a passes 90.0 %".to_owned()));
}

#[test]
fn a_metric_at_its_limit_holds_and_one_without_an_end_is_open() {
    let limits = Limits { at_least: None, at_most: Some(5.0) };
    let check = |bounds, open| {
        let measured = Measured { of: None, bounds: Some(bounds), open };
        let found = GateCheck::of_metric("a", "cost", limits, &measured);
        (found.outcome, found.reason)
    };
    assert_eq!(check([5.0, 5.0], 0), (Outcome::Held, "a has cost 5 (at most 5 is asked for)".to_owned()));
    let open = "a has cost of at least 3 (at most 5 is asked for), as 1 was not assessed";
    assert_eq!(check([3.0, f64::INFINITY], 1), (Outcome::CannotTell, open.to_owned()));
    assert_eq!(Measured::share(0, 0, 3).bounds, None);
}

#[test]
fn a_decided_gate_asks_for_no_more_cases_and_says_what_is_open() {
    let held = check(Some(0.95), 980, 20, 0).reason;
    assert!(!held.contains("would decide") && !held.contains("not assessed"), "{held}");
    let open = check(Some(0.95), 905, 0, 95).reason;
    assert!(open.contains(", 95 of 1,000 trials not assessed"), "{open}");
    let met = cases_to_decide(&trials(9, 1, 0), 0.9, Confidence::new(0.9).unwrap());
    assert_eq!(met, None, "no number of cases like these tells 0.9 from 0.9");
}

/// Wilson's interval of what passed always reaches to 1, and of what failed to 0: every trial that passes misses no gate, and a gate
/// of nothing is held by none that passes.
#[test]
fn with_confidence_all_do_not_miss_all_and_none_hold_nothing() {
    let outcome = |rate, passed, failed| {
        let demand = Demand { rate, confidence: Some(0.95) };
        GateCheck::of_trials("a", demand, &trials(passed, failed, 0)).outcome
    };
    assert_eq!(outcome(1.0, 20, 0), Outcome::CannotTell, "the next one may fail");
    assert_eq!(outcome(1.0, 19, 1), Outcome::Missed);
    assert_eq!(outcome(0.0, 0, 20), Outcome::Held);
}

/// Ten of a hundred passed and the others are open: 100 cases like these, the open ones failed, tell 0.1 from 0.9.
#[test]
fn more_cases_are_asked_for_only_where_more_are_needed_than_there_are() {
    let open = check(Some(0.95), 10, 0, 90);
    assert_eq!(open.outcome, Outcome::CannotTell);
    assert!(open.reason.ends_with("over 100 cases, 90 of 100 trials not assessed"), "{}", open.reason);
    // 2.7055 × 0.74 × 0.26 / 0.24² = 9.04: ten decide, and ten are there.
    let demand = Demand { rate: 0.74, confidence: Some(0.95) };
    let open = GateCheck::of_trials("a", demand, &trials(5, 0, 5));
    assert_eq!(open.outcome, Outcome::CannotTell);
    assert!(open.reason.ends_with("over 10 cases, 5 of 10 trials not assessed"), "{}", open.reason);
}

/// (1.644854 × 0.3 + 0.841621 × 0.217945)² / 0.05² = 183.4 for a share of 0.95 against 0.9, 67.6 for 0.8, and one for what is certain
/// at once.
#[test]
fn the_cases_that_decide_follow_from_the_gap() {
    let sure = Confidence::new(0.9).unwrap();
    let needed = |passed, failed, rate| cases_to_decide(&trials(passed, failed, 0), rate, sure);
    let by_hand = |seen: f64, rate: f64| {
        let root =
            1.644_853_627 * (rate * (1.0 - rate)).sqrt() + 0.841_621_234 * (seen * (1.0 - seen)).sqrt();
        (root / (seen - rate)).powi(2).ceil() as u64
    };
    assert_eq!(needed(95, 5, 0.9), Some(by_hand(0.95, 0.9)));
    assert_eq!(needed(80, 20, 0.9), Some(by_hand(0.8, 0.9)));
    assert_eq!(needed(0, 5, 1.0), Some(1), "one that fails is enough against all");
    assert_eq!(needed(0, 0, 0.9), None);
    assert_eq!(
        cases_to_decide(&trials(10, 0, 90), 0.9, sure),
        None,
        "more cases do not make up for what is open"
    );
    assert!(cases_to_decide(&trials(98, 0, 2), 0.9, sure).is_some());
    // Twenty cases of two trials that fall out alike: by Student's t of 1.7291, 40 trials are worth 19 × (1.6449 / 1.7291)² = 17.19.
    let mut alike = ClusterMoments::default();
    (0..20).for_each(|case| alike.push(if case < 15 { 2.0 } else { 0.0 }, 2));
    let alike = Trials { if_failed: alike, if_passed: alike, passed: 30, assessed: 40, planned: 40 };
    let independent = (1.644_853_627 * 0.3 + 0.841_621_234 * 0.1875f64.sqrt()).powi(2) / 0.0225;
    assert_eq!(cases_to_decide(&alike, 0.9, sure), Some((independent / (17.19 / 20.0)).ceil() as u64));
}

/// What each demand asks for stands beside what became of it, and a sentence about these cases is none about cases like these.
#[test]
fn every_demand_says_what_it_asks_for_and_of_whom() {
    let demand = Demand { rate: 0.9, confidence: None };
    let tag = |rate, passed, failed| {
        GateCheck::of_tag("a", "hard", Demand { rate, ..demand }, &trials(passed, failed, 0))
    };
    let say = |checks: &[GateCheck]| gate_sentence(demand, "target", checks);
    insta::assert_snapshot!(say(&[check(None, 95, 5, 0), tag(0.5, 6, 4)]), @"gate held: on these cases, every target passes at least 90.0 %: a passes 95.0 % of 100 trials; a, tag hard, passes 60.0 % of 10 trials (at least 50.0 % is asked for)");
    insta::assert_snapshot!(say(&[check(None, 95, 5, 0), tag(0.7, 6, 4)]), @"gate missed: on these cases, a, tag hard, passes 60.0 % of 10 trials (at least 70.0 % is asked for)");
    insta::assert_snapshot!(say(&[check(None, 95, 5, 0), GateCheck::of_cases("a", (2, 3), (1, 0, 30))]), @"gate missed: on these cases, a passes fewer than 2 of 3 in 1 of 30 cases");
    insta::assert_snapshot!(say(&[check(None, 8996, 1004, 0)]), @"gate missed: on these cases, at least 90.0 % is asked for, and a passes 89.96 % of 10,000 trials");
    let limits = Limits { at_least: None, at_most: Some(0.05) };
    let metric = GateCheck::of_metric("a", "flaky_cases", limits, &Measured::share(500_004, 10_000_000, 0));
    insta::assert_snapshot!(say(&[metric]), @"gate missed: on these cases, a has flaky_cases 0.0500004 (at most 0.05 is asked for)");
    let sure = Demand { rate: 0.9, confidence: Some(0.95) };
    let held = GateCheck::of_metric("a", "flaky_cases", limits, &Measured::share(4, 100, 0));
    insta::assert_snapshot!(gate_sentence(sure, "target", &[check(Some(0.95), 980, 20, 0), held]), @"gate held: on cases like these, every target passes at least 90.0 % (95 % sure): a passes at least 97.1 % and at most 98.6 %, each 95 % sure, over 1,000 cases; on these cases, a has flaky_cases 0.04 (at most 0.05 is asked for)");
    let tag = GateCheck::of_tag("a", "hard", sure, &trials(19, 1, 0));
    insta::assert_snapshot!(gate_sentence(sure, "target", &[tag]), @"gate cannot be judged: on cases like these, a, tag hard, passes at least 80.4 % and at most 98.9 %, each 95 % sure, over 20 cases (at least 90.0 %, 95 % sure, is asked for); about 184 cases would decide with 80 % power, if they fall out like these");
}

/// Nine scores of a mean of 2/9, told to twelve digits, and one trial without: 0.2 at least, which is what is asked for.
#[test]
fn a_metric_at_its_limit_is_not_missed_by_its_rounding() {
    let least = 0.222_222_222_222 * 9.0 / 10.0;
    assert!(least < 0.2);
    let outcome = |limits, bounds| {
        let measured = Measured { of: None, bounds: Some(bounds), open: 0 };
        let found = GateCheck::of_metric("a", "score", limits, &measured);
        (found.outcome, found.reason)
    };
    let at_least = Limits { at_least: Some(0.2), at_most: None };
    let at_most = Limits { at_least: None, at_most: Some(0.7) };
    assert_eq!(
        outcome(at_least, [least; 2]),
        (Outcome::Held, "a has score 0.2 (at least 0.2 is asked for)".to_owned())
    );
    assert_eq!(outcome(at_most, [0.7 + 2e-13; 2]).0, Outcome::Held);
    assert_eq!(outcome(at_most, [0.700_000_1; 2]).0, Outcome::Missed);
    assert_eq!(outcome(Limits { at_least: None, at_most: Some(0.0) }, [1e-6; 2]).0, Outcome::Missed);
    assert_eq!(outcome(Limits { at_least: None, at_most: Some(0.0) }, [0.0; 2]).0, Outcome::Held);
}
