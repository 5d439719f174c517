//! Every demand against every finding that can meet or fail it.

use super::*;
use crate::spine::diff::noise::Worse;
use crate::spine::diff::report::RunFacts;

fn facts() -> RunFacts {
    RunFacts {
        dir: "run".to_owned(),
        run_id: None,
        suite_id: None,
        lines: 1,
        incomplete: Vec::new(),
        torn: None,
        misplaced: 0,
        first_misplaced_line: None,
    }
}

/// A report of two runs without any difference.
fn same() -> Report {
    let counts = || Class::ALL.iter().map(|class| (class.as_str().to_owned(), 0)).collect();
    Report {
        schema_version: String::new(),
        a: facts(),
        b: facts(),
        different_runs: true,
        warnings: Vec::new(),
        run_changes: Vec::new(),
        common: 1,
        unchanged: 1,
        counts: counts(),
        counts_any: counts(),
        unreadable_count: 0,
        unreadable: Vec::new(),
        changes: Vec::new(),
        own: Vec::new(),
        targets: Vec::new(),
        worse: None,
        counts_flips: false,
        tolerance: 0.0,
        ignored: Vec::new(),
    }
}

fn with(class: Class) -> Report {
    let mut report = same();
    for counts in [&mut report.counts, &mut report.counts_any] {
        counts.insert(class.as_str().to_owned(), 1);
    }
    report
}

fn told(verdicts: &[&str]) -> Report {
    let worse = |verdict: &&str| Worse {
        slot: "a".to_owned(),
        verdict: (*verdict).to_owned(),
        margin: 0.05,
        low: None,
        high: None,
        needed_cases: None,
        sentence: String::new(),
    };
    Report { worse: Some(verdicts.iter().map(worse).collect()), ..same() }
}

/// What comes of `--fail-on-changes`, `--fail-on-regressions` and `--fail-on-worse`, each by itself.
fn each(report: &Report) -> [Decision; 3] {
    let demand = |no_changes, no_regressions, not_worse| {
        decide(report, Demand { no_changes, no_regressions, not_worse })
    };
    assert_eq!(demand(false, false, false), Decision::Met, "who demands nothing gets it");
    [demand(true, false, false), demand(false, true, false), demand(false, false, true)]
}

use Decision::{CannotTell, Changes, Incomplete, Met, Regressions};

#[test]
fn runs_without_a_difference_meet_what_can_be_told() {
    assert_eq!(each(&same()), [Met, Met, CannotTell], "nobody asked whether a target is worse");
}

#[test]
fn what_got_worse_is_a_regression_and_what_only_changed_is_not() {
    let grave = [Class::Forbidden, Class::Regression, Class::Lost, Class::Dropped, Class::Removed];
    for class in Class::ALL {
        let regressions = if grave.contains(&class) { Regressions } else { Met };
        assert_eq!(each(&with(class))[1], regressions, "{}", class.as_str());
        assert_eq!(each(&with(class))[0], Changes, "{}", class.as_str());
    }
}

#[test]
fn a_run_that_is_not_whole_shows_nothing() {
    let torn = |mut report: Report, side: usize| {
        let sides = [&mut report.a, &mut report.b];
        sides[side].incomplete.push("it was stopped".to_owned());
        report
    };
    for side in [0, 1] {
        assert_eq!(each(&torn(same(), side)), [Incomplete, Incomplete, Incomplete]);
        // What is seen to be worse is worse, and what differs differs, whole or not.
        assert_eq!(each(&torn(with(Class::Regression), side))[..2], [Changes, Regressions]);
        assert_eq!(each(&torn(told(&["worse"]), side))[2], Regressions);
    }
    let unreadable = Report { unreadable_count: 1, ..same() };
    assert_eq!(each(&unreadable), [Changes, Incomplete, Incomplete]);
}

#[test]
fn a_target_is_worse_not_worse_or_it_cannot_be_told() {
    for (verdicts, expected) in [
        (&["not_worse"][..], Met),
        (&["worse"], Regressions),
        (&["cannot_tell"], CannotTell),
        (&["not_worse", "cannot_tell"], CannotTell),
        (&["cannot_tell", "worse"], Regressions),
        (&[], CannotTell),
    ] {
        assert_eq!(each(&told(verdicts)), [Met, Met, expected], "{verdicts:?}");
    }
}

#[test]
fn of_several_demands_the_gravest_failure_is_told() {
    let all = Demand { no_changes: true, no_regressions: true, not_worse: true };
    let mut report = Report { worse: told(&["cannot_tell"]).worse, ..with(Class::Regression) };
    assert_eq!(decide(&report, all), Regressions);
    report.counts_any.insert(Class::Regression.as_str().to_owned(), 0);
    assert_eq!(decide(&report, all), CannotTell, "before changes");
    report.b.incomplete.push("it was stopped".to_owned());
    assert_eq!(decide(&report, all), Incomplete, "before what cannot be told");
    report.worse = told(&["worse"]).worse;
    assert_eq!(decide(&report, all), Regressions);
}
