//! Each kind of change by itself: in runs of one id and of two.

use proofhouse_ledger::Json;
use proofhouse_ledger::record::Status;

use super::lab::{Lab, Lines, Row, assert_counts, check, json, lines, row, six};
use crate::spine::diff::{Class, Decision, Demand, Options, Report, decide};

const GATE: Demand = Demand { no_changes: true, no_regressions: false, not_worse: false };
const SAFE: Demand = Demand { no_changes: false, no_regressions: true, not_worse: false };

/// Edits one row and compares, once as the same run and once as another.
fn edited(edit: impl Fn(&mut Row), expected: &[(&str, u64)]) -> Report {
    let rows = six();
    let mut changed = rows.clone();
    edit(&mut changed[3]);
    check(("x", &lines("x", &rows)), ("y", &lines("y", &changed)), expected);
    let report = check(("x", &lines("x", &rows)), ("x", &lines("x", &changed)), expected);
    assert_eq!((report.common, report.unchanged), (6, 5), "all others are common and unchanged");
    assert_eq!(decide(&report, GATE), Decision::Changes);
    assert_eq!(report.changes[0].trial.case_id, "two");
    assert_eq!(report.changes[0].trial.slot, "right");
    report
}

fn pointers(report: &Report) -> Vec<&str> {
    report.changes.iter().flat_map(|change| &change.fields).map(|field| field.pointer.as_str()).collect()
}

#[test]
fn identical_runs_have_no_change() {
    let rows = lines("x", &six());
    let report = check(("x", &rows), ("x", &rows), &[]);
    assert_eq!(
        decide(&report, Demand { no_changes: true, no_regressions: true, not_worse: false }),
        Decision::Met
    );
    assert!(!report.different_runs);
    assert_eq!(
        report.targets.iter().map(|target| (target.both_passed, target.pairs)).collect::<Vec<_>>(),
        [(3, 3); 2]
    );
}

#[test]
fn another_run_of_the_same_content_has_no_change() {
    let report = check(("x", &lines("x", &six())), ("y", &lines("y", &six())), &[]);
    assert_eq!(decide(&report, GATE), Decision::Met);
    assert!(report.different_runs);
    assert_eq!((report.common, report.unchanged), (6, 6));
}

#[test]
fn a_changed_output_is_one_change() {
    let report = edited(|row| row.output = Json::from("no idea"), &[("output", 1)]);
    assert_eq!(pointers(&report), ["/output"]);
    assert!(report.changes[0].flaws.is_empty(), "its digests follow from it");
}

#[test]
fn a_changed_field_of_a_structured_output_is_named() {
    let mut rows = six();
    rows[2].output = json(r#"{"answer":[1,2],"debug":"x"}"#);
    let mut changed = rows.clone();
    changed[2].output = json(r#"{"answer":[3,2],"debug":"y"}"#);
    let (a, b) = (lines("x", &rows), lines("y", &changed));
    let report = check(("x", &a), ("y", &b), &[("output", 1)]);
    assert_eq!(pointers(&report), ["/output/answer/0", "/output/debug"]);
    let report = Lab::with(("x", &a), ("y", &b)).ignoring("/output/debug").report();
    assert_eq!(pointers(&report), ["/output/answer/0"]);
    assert_counts(&Lab::with(("x", &a), ("y", &b)).ignoring("/output").report(), &[]);
}

#[test]
fn an_error_text_and_a_secondary_score_count() {
    let report = edited(|row| row.error = Some("other words".to_owned()), &[("metadata", 1)]);
    assert_eq!(pointers(&report), ["/error"]);
    let report = edited(|row| row.scores.1 = 0.75, &[("score", 1)]);
    assert_eq!(pointers(&report), ["/scores/style"]);
}

#[test]
fn a_score_within_the_tolerance_is_no_change() {
    let mut changed = six();
    changed[0].scores.1 = 0.55;
    let mut lab = Lab::with(("x", &lines("x", &six())), ("x", &lines("x", &changed)));
    lab.options.tolerance = 0.1;
    assert_counts(&lab.report(), &[]);
    lab.options.tolerance = 0.01;
    assert_counts(&lab.report(), &[("score", 1)]);
}

#[test]
fn verdicts_and_statuses_have_their_classes() {
    let report = edited(|row| row.passed = Some(false), &[("regression", 1)]);
    assert_eq!(decide(&report, SAFE), Decision::Regressions);
    assert_eq!((report.targets[1].only_a, report.targets[1].both_passed), (1, 2));
    let report = edited(|row| row.passed = None, &[("lost", 1)]);
    assert_eq!(decide(&report, SAFE), Decision::Regressions, "nobody can say any more that it passes");
    assert_eq!(report.targets[1].pairs, 2, "what one side could not assess is in no pair");
    edited(|row| row.status = Status::Timeout, &[("status", 1)]);
    edited(|row| row.expected = Json::from("43"), &[("expected", 1)]);
    edited(|row| row.usage = Json::Null, &[("metadata", 1)]);

    let mut failed = six();
    failed[0].passed = Some(false);
    check(("x", &lines("x", &failed)), ("x", &lines("x", &six())), &[("improvement", 1)]);
}

#[test]
fn a_score_that_falls_with_the_same_verdict_is_a_regression() {
    let report = edited(|row| row.scores.0 = 0.75, &[("score", 1), ("score_drop", 1)]);
    assert_eq!(decide(&report, SAFE), Decision::Regressions);
    let mut changed = six();
    changed[0].scores.0 = 0.95;
    let mut lab = Lab::with(("x", &lines("x", &six())), ("x", &lines("x", &changed)));
    lab.options.tolerance = 0.1;
    assert_eq!(decide(&lab.report(), SAFE), Decision::Met);
    let report = edited(|row| row.scores.1 = 0.25, &[("score", 1)]);
    assert_eq!(decide(&report, SAFE), Decision::Met, "a score that does not decide is none");
}

#[test]
fn lost_trials_do_not_pass_by_silence() {
    let rows: Vec<Row> = (0..1000).map(|at| row(&format!("case {at}"), "only")).collect();
    let mut lost = rows.clone();
    for row in &mut lost[1..] {
        (row.passed, row.status) = (None, Status::Error);
    }
    let mut lab = Lab::with(("x", &lines("x", &rows)), ("y", &lines("y", &lost)));
    lab.options.margin = Some(0.03);
    let report = lab.report();
    assert_eq!(report.count(Class::Lost), 999);
    assert_eq!(decide(&report, SAFE), Decision::Regressions);
    let not_worse = Demand { not_worse: true, ..Demand::default() };
    assert_eq!(decide(&report, not_worse), Decision::CannotTell);
    let mut same = Lab::with(("x", &lines("x", &rows)), ("y", &lines("y", &rows)));
    same.options.margin = Some(0.03);
    assert_eq!(decide(&same.report(), not_worse), Decision::Met);
}

#[test]
fn one_edited_dataset_row_is_one_changed_record() {
    let report = edited(|row| row.input = "What is 2?".to_owned(), &[("input", 1)]);
    assert_eq!(pointers(&report), ["/input"]);
}

#[test]
fn a_record_is_grouped_under_its_worst_class() {
    let edit = |row: &mut Row| {
        row.output = Json::from("wrong");
        row.scores.0 = 0.0;
        row.passed = Some(false);
    };
    let report = edited(edit, &[("regression", 1), ("output", 1), ("score", 1)]);
    assert_eq!(report.count(crate::spine::diff::Class::Regression), 1);
    assert_eq!(report.changed(), 1);
    assert_eq!(pointers(&report), ["/passed", "/output", "/scores/exact"]);
}

/// The same edit of lines, in a run of the same id and in another run whose places follow from its lines.
fn reshaped(edit: impl Fn(&mut Vec<Row>), expected: &[(&str, u64)]) -> Report {
    let rows = six();
    let mut changed = rows.clone();
    edit(&mut changed);
    check(("x", &lines("x", &rows)), ("y", &lines("y", &changed)), expected)
}

#[test]
fn removed_added_duplicate_and_reordered_records() {
    let report = reshaped(|rows| drop(rows.remove(2)), &[("removed", 1)]);
    assert_eq!(report.common, 5);
    assert_eq!(decide(&report, SAFE), Decision::Regressions);
    let report = reshaped(|rows| rows.insert(2, row("new", "left")), &[("added", 1)]);
    assert_eq!((decide(&report, SAFE), decide(&report, GATE)), (Decision::Met, Decision::Changes));
    reshaped(|rows| rows.push(rows[0].clone()), &[("duplicate", 1)]);
    reshaped(|rows| rows.insert(1, rows[0].clone()), &[("duplicate", 1)]);
    reshaped(|rows| rows.swap(1, 2), &[("reordered", 1)]);
    reshaped(|rows| rows.rotate_left(1), &[("reordered", 1)]);
}

/// Edits the lines themselves, so that places stay what they were.
fn cut(edit: impl Fn(&mut Lines), expected: &[(&str, u64)]) {
    let rows = lines("x", &six());
    let mut changed = rows.clone();
    edit(&mut changed);
    let there = check(("x", &rows), ("x", &changed), expected);
    assert_eq!(decide(&there, GATE), Decision::Changes);
}

#[test]
fn removed_added_duplicate_and_reordered_lines() {
    cut(|lines| drop(lines.remove(0)), &[("removed", 1)]);
    cut(|lines| drop(lines.pop()), &[("removed", 1)]);
    cut(|lines| lines.insert(3, super::lab::line("x", 6, &row("new", "left"))), &[("added", 1)]);
    cut(|lines| lines.push(lines[5].clone()), &[("duplicate", 1)]);
    cut(|lines| lines.insert(0, lines[5].clone()), &[("duplicate", 1)]);
    cut(|lines| lines.swap(0, 1), &[("reordered", 1)]);
    cut(|lines| lines.clear(), &[("removed", 6)]);
}

#[test]
fn two_targets_of_one_model_are_never_confused() {
    let mut rows = six();
    rows[3].output = Json::from("only right said this");
    let mut swapped = rows.clone();
    (swapped[2].slot, swapped[3].slot) = (swapped[3].slot, swapped[2].slot);
    let report =
        check(("x", &lines("x", &rows)), ("y", &lines("y", &swapped)), &[("reordered", 1), ("output", 2)]);
    assert!(report.changes.iter().all(|change| change.trial.case_id == "two"));

    // The slot's name alone edited: the id no longer follows from it.
    let good = lines("x", &rows);
    let mut bad = good.clone();
    bad[2] = bad[2].replace("\"slot\":\"left\"", "\"slot\":\"right\"");
    let report = check(("x", &good), ("x", &bad), &[("metadata", 1)]);
    let flaws: Vec<&str> = report.changes[0].flaws.iter().map(|flaw| flaw.pointer.as_str()).collect();
    assert_eq!((pointers(&report), flaws), (vec!["/slot"], vec!["/record_sha256", "/record_id"]));
}

#[test]
fn the_limit_bounds_details_and_never_counts() {
    let mut changed = six();
    changed.iter_mut().take(4).for_each(|row| row.usage = Json::Null);
    changed[5].passed = Some(false);
    let mut lab = Lab::with(("x", &lines("x", &six())), ("x", &lines("x", &changed)));
    lab.options = Options { limit: 2, ..Options::default() };
    let report = lab.report();
    assert_counts(&report, &[("regression", 1), ("metadata", 4)]);
    let shown: Vec<&str> = report.changes.iter().map(|change| change.class.as_str()).collect();
    assert_eq!(shown, ["regression", "metadata"], "the worst first, wherever it stands");
    lab.options.limit = 0;
    assert_counts(&lab.report(), &[("regression", 1), ("metadata", 4)]);
}

/// Long runs, so that the files are larger than what is held of them at once.
fn long(run: &str, without: &[usize], swapped: Option<(usize, usize)>) -> Lines {
    let mut rows: Vec<Row> = (0..2_000).map(|at| row(&format!("case {at}"), "left")).collect();
    rows.extend([row("last", "left")]);
    if let Some((a, b)) = swapped {
        rows.swap(a, b);
    }
    let mut at = 0;
    rows.retain(|_| {
        at += 1;
        !without.contains(&(at - 1))
    });
    lines(run, &rows)
}

#[test]
fn a_missing_line_needs_no_index_and_a_moved_one_does() {
    let whole = long("x", &[], None);
    for (b, removed, reordered, indexed) in [
        (long("y", &[], None), 0, 0, false),
        (long("y", &[0, 700, 701, 1_400, 2_000], None), 5, 0, false),
        (long("y", &[700], Some((300, 1_900))), 1, 2, true),
    ] {
        for (old, new) in [(("x", &whole), ("y", &b)), (("y", &b), ("x", &whole))] {
            let lab = Lab::with(old, new);
            let report = lab.report();
            let gone = if old.0 == "x" { "removed" } else { "added" };
            let expected = [(gone, removed), ("reordered", reordered)];
            assert_counts(&report, &expected.into_iter().filter(|(_, count)| *count > 0).collect::<Vec<_>>());
            assert_eq!(lab.needs_index(), indexed, "{removed} removed, {reordered} reordered");
        }
    }
}
