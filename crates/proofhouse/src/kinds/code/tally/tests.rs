//! What records of completions add up to, counted by hand.

use proofhouse_ledger::json::{Strictness, parse};
use proofhouse_ledger::record::Spans;
use proofhouse_ledger::summary::Rate;

use super::*;

fn json(text: &str) -> Json {
    parse(text.as_bytes(), Strictness::Strict).unwrap()
}

/// A record with the fields that the tally reads: `more` are further ones, or others in their place.
fn line(task: &str, passed: Option<bool>, error_type: Option<&str>, more: &str) -> String {
    let Json::Object(mut record) = json(
        r#"{"baseline_size_bytes":null,"binary_size_bytes":null,"clippy_ok":null,"compile_errors":[],"compile_ok":true,
            "compile_time_ms":null,"completion":null,"completion_id":0,"error":null,"lints":[],"main_free":true,
            "missing_crates":[],"variant_id":null}"#,
    ) else {
        panic!("an object")
    };
    record.set("case_id", task);
    record.set("passed", passed.map_or(Json::Null, Json::Bool));
    record.set("error_type", error_type.map(str::to_owned));
    let Json::Object(more) = json(more) else { panic!("an object") };
    more.iter().for_each(|(key, value)| record.set(key, value.clone()));
    Json::Object(record).to_string()
}

/// Tasks a (passed twice, failed once), b (failed, not assessed), c (nobody answered), broken, and a line of no task.
fn run(config: &str) -> (Code, Vec<Option<[f64; 2]>>) {
    let measured =
        r#"{"binary_size_bytes":300,"baseline_size_bytes":100,"compile_time_ms":40,"clippy_ok":true}"#;
    let found = r#"{"lints":[{"code":"clippy::x","column":1,"file":"completion","line":1,"message":"m"},
                             {"code":"clippy::x","column":2,"file":"completion","line":2,"message":"m"}]}"#;
    let lines = [
        (Some(true), line("a", Some(true), None, measured)),
        (
            Some(true),
            line(
                "a",
                Some(true),
                None,
                r#"{"binary_size_bytes":500,"compile_time_ms":60,"clippy_ok":false}"#,
            ),
        ),
        (Some(false), line("a", Some(false), Some("assertion_failure"), found)),
        (
            Some(false),
            line("b", Some(false), Some("compile_error"), r#"{"compile_ok":false,"main_free":false}"#),
        ),
        (None, line("b", None, Some("infra_sandbox"), "{}")),
        (Some(false), line("b", Some(false), Some("invalid_sample"), "{}")),
        (None, line("broken", None, Some("broken_task"), r#"{"error":"its solution fails\nat line 3"}"#)),
        (None, line("elsewhere", None, Some("unknown_task"), "{}")),
    ];
    let mut tally = CodeTally::new(&json(config));
    let mut spans = Spans::default();
    for (passed, line) in &lines {
        let line = Line::split(line.as_bytes(), &mut spans).unwrap();
        tally.push(0, &line, Status::Success, *passed).unwrap();
    }
    let slots = tally.slots.iter().map(|counts| counts.finish("s", &tally)).collect();
    (Code { slots }, tally.gate_bounds())
}

fn parts(rate: &Rate) -> (u64, u64) {
    (rate.numerator, rate.denominator)
}

const ALL: &str = r#"{"k":[1,2],"task_ids":["a","b","c","broken"],"count_tasks":"all","language":"rust"}"#;

#[test]
fn every_line_is_counted_in_one_place() {
    let (code, _) = run(ALL);
    let slot = &code.slots[0];
    assert_eq!((slot.total, slot.scored, slot.infra, slot.unknown, slot.excluded), (8, 5, 1, 1, 1));
    assert_eq!((slot.invalid, slot.unreadable, slot.unsupported, slot.tasks_planned), (2, 1, 0, 4));
    assert_eq!((slot.unanswered.clone(), slot.unanswered_fail), (vec!["c".to_owned()], true));
    let broken: Vec<_> = slot.broken.iter().map(|each| (each.task_id.as_str(), each.why.as_str())).collect();
    assert_eq!(broken, [("broken", "its solution fails")]);
    assert_eq!(slot.unknown_tasks, [("elsewhere".to_owned(), 1)].into());
    assert_eq!((slot.tasks, parts(&slot.tasks_solved)), (2, (1, 2)));
    assert_eq!((parts(&slot.worst), parts(&slot.best)), ((2, 6), (3, 6)));
    assert_eq!(slot.error_types.values().sum::<u64>(), 6);
    assert_eq!(slot.lint_names, [("clippy::x".to_owned(), 1)].into(), "once per record");
}

#[test]
fn measures_are_means_over_what_was_measured() {
    let (code, _) = run(ALL);
    let slot = &code.slots[0];
    assert_eq!((parts(&slot.compile_rate), parts(&slot.clippy_rate)), ((5, 6), (1, 2)));
    assert_eq!(parts(&slot.main_free_rate), (5, 6));
    assert_eq!((slot.mean_compile_time_ms, slot.mean_binary_size_bytes), (Some(50.0), Some(400.0)));
    assert_eq!(slot.mean_binary_size_over_baseline_bytes, Some(200.0));
}

/// Task a: 2 of 3 pass; b: none of 2, or 1 of 3 if what was not assessed had passed; c: nobody answered.
#[test]
fn pass_at_k_counts_tasks_that_nobody_answered() {
    let (code, gate) = run(ALL);
    let slot = &code.slots[0];
    let ks: Vec<_> = slot.pass_at_k.iter().map(|point| (point.k, point.tasks, point.value)).collect();
    assert_eq!(ks, [(1, 3, round(2.0 / 9.0)), (2, 3, round(1.0 / 3.0))]);
    let first = &slot.pass_at_k[0];
    assert_eq!((first.worst, first.best), (Some(round(2.0 / 9.0)), Some(round(1.0 / 3.0))));
    let bounds = gate[0].expect("pass@1 has bounds").map(round);
    assert_eq!(bounds, [round(2.0 / 9.0), round(1.0 / 3.0)]);
    assert_eq!(slot.scored_pass_at_k[0].value, round(1.0 / 3.0));

    let (code, gate) = run(&ALL.replace("\"all\"", "\"answered\""));
    assert_eq!((code.slots[0].pass_at_k[0].tasks, code.slots[0].unanswered_fail), (2, false));
    assert_eq!(gate[0].map(|bounds| bounds.map(round)), Some([round(1.0 / 3.0), 0.5]));
}

#[test]
fn a_k_that_a_task_has_too_few_completions_for_is_left_out_with_its_reason() {
    let (code, _) = run(&ALL.replace("[1,2]", "[3]"));
    let omitted: Vec<_> = code.slots[0].omitted_k.iter().map(|each| (each.k, each.reason.as_str())).collect();
    assert_eq!(omitted, [(3, "1 of 2 tasks has fewer than 3 scored completions; `b` has 2")]);
    assert!(code.slots[0].pass_at_k.is_empty());
}

/// A tally of these lines, each with its slot and verdict.
fn tallied(config: &str, lines: &[(usize, Status, Option<bool>, String)]) -> CodeTally {
    let mut tally = CodeTally::new(&json(config));
    let mut spans = Spans::default();
    for (slot, status, passed, line) in lines {
        let line = Line::split(line.as_bytes(), &mut spans).unwrap();
        OwnTally::push(&mut tally, &line, *slot, *status, *passed).unwrap();
    }
    tally
}

/// A line with this verdict of the first slot.
fn said(
    task: &str,
    passed: Option<bool>,
    error_type: Option<&str>,
    more: &str,
) -> (usize, Status, Option<bool>, String) {
    (0, Status::Success, passed, line(task, passed, error_type, more))
}

#[test]
fn a_task_that_cannot_be_tried_is_nobodys_fault_unless_somebody_tried_it() {
    let untried = |task| said(task, None, Some("no_tests"), r#"{"error":"has no tests\nnone"}"#);
    let excluded = |more: &[(usize, Status, Option<bool>, String)]| {
        let lines: Vec<_> = [untried("u"), untried("w")].into_iter().chain(more.iter().cloned()).collect();
        let tally = tallied(ALL, &lines);
        let list = tally.excluded();
        for task in ["u", "w", "a"] {
            assert_eq!(tally.excludes(task), list.iter().any(|each| each.task_id == task), "{task}");
        }
        list.iter().map(|each| format!("{}: {}", each.task_id, each.why)).collect::<Vec<_>>()
    };
    let (u, w) = ("u: has no tests", "w: has no tests");
    assert_eq!(excluded(&[]), [u, w]);
    let failed = |error_type| said("w", Some(false), Some(error_type), "{}");
    assert_eq!(excluded(&[failed("assertion_failure")]), [u], "somebody's answer was run");
    for never in ["extraction_failed", "invalid_sample"] {
        assert_eq!(excluded(&[failed(never)]), [u, w], "{never}: nobody got as far as the task");
    }
    assert_eq!(excluded(&[said("w", Some(true), None, "{}")]), [u]);
    assert_eq!(excluded(&[said("w", None, Some("infra_sandbox"), "{}")]), [u, w], "no verdict");
    let nothing_left = tallied(&ALL.replace("\"all\"", "\"answered\""), &[untried("u")]);
    assert_eq!(nothing_left.gate_bounds(), [None]);
    // Its own solution fails: whoever passes it, it is broken, and the first reason is told.
    let broken = |why: &str| said("a", None, Some("broken_task"), &format!(r#"{{"error":"{why}"}}"#));
    assert_eq!(
        excluded(&[broken("one"), broken("two"), said("a", Some(true), None, "{}")]),
        ["a: one", u, w]
    );
}

/// One answer of two passed, the other is of a form that cannot be judged: no pass in the headline, open in the bounds.
#[test]
fn an_answer_that_cannot_be_judged_as_it_is_is_no_pass() {
    let lines = [said("a", Some(true), None, "{}"), said("a", None, Some("unsupported"), "{}")];
    let tally = tallied(r#"{"k":[1],"task_ids":["a"],"count_tasks":"all","language":"rust"}"#, &lines);
    let slot = tally.slots[0].finish("s", &tally);
    assert_eq!((slot.scored, slot.infra, slot.unsupported, slot.invalid), (1, 1, 1, 0));
    assert_eq!((slot.pass_at_k[0].value, slot.scored_pass_at_k[0].value), (0.5, 1.0));
    assert_eq!((slot.pass_at_k[0].worst, slot.pass_at_k[0].best), (Some(0.5), Some(1.0)));
    assert_eq!((parts(&slot.worst), parts(&slot.best)), ((1, 2), (2, 2)));
    assert!(slot.unassessed_tasks.is_empty() && slot.nothing_passed.is_none());
    // Whoever answers nothing else is counted as well, and not as unassessed.
    let tally = tallied(ALL, &lines[1..]);
    let slot = tally.slots[0].finish("s", &tally);
    assert!(slot.unassessed_tasks.is_empty() && slot.nothing_passed.is_some());
    assert_eq!((slot.tasks, slot.pass_at_k[0].value), (0, 0.0));
}

#[test]
fn a_task_without_any_verdict_is_named_and_bounds_hold_it() {
    let lines = [
        said("x", Some(true), None, "{}"),
        said("x", Some(false), Some("assertion_failure"), "{}"),
        said("y", None, Some("infra_sandbox"), "{}"),
    ];
    let tally = tallied(r#"{"k":[2],"task_ids":["x","y"],"count_tasks":"all","language":"rust"}"#, &lines);
    let slot = tally.slots[0].finish("s", &tally);
    assert_eq!(slot.unassessed_tasks, ["y"]);
    // One of any two answers to x passes; y has one answer, and if that passed, y is solved.
    let point = &slot.pass_at_k[0];
    assert_eq!((point.tasks, point.value, point.worst, point.best), (1, 1.0, Some(0.5), Some(1.0)));
    // pass@1 is a half for x, and for y nothing or all.
    assert_eq!(tally.gate_bounds(), [Some([0.25, 0.75])]);
}

/// Estimates 1, 0, 0, 0: their variance is a quarter, that of their mean a sixteenth.
#[test]
fn unanswered_tasks_are_part_of_the_error() {
    let point = at(1, [(1, 1), (1, 0)].into_iter(), 2).unwrap();
    assert_eq!((point.tasks, point.value, point.standard_error), (4, 0.25, Some(0.25)));
    assert!(point.low >= 0.0 && point.low < 0.25 && point.high > 0.25 && point.high <= 1.0, "{point:?}");
    assert_eq!(at(2, [(2, 1), (1, 1)].into_iter(), 0), None, "one has too few for two");
}

#[test]
fn all_tasks_may_have_too_few_completions() {
    let lines = [
        said("a", Some(true), None, "{}"),
        said("a", Some(true), None, "{}"),
        said("b", Some(true), None, "{}"),
    ];
    let omitted = |config: &str, lines: &[(usize, Status, Option<bool>, String)]| {
        let tally = tallied(config, lines);
        let slot = tally.slots[0].finish("s", &tally);
        slot.omitted_k.iter().map(|each| each.reason.clone()).collect::<Vec<_>>()
    };
    let of_three = ALL.replace("[1,2]", "[3]");
    let all = "2 of 2 tasks have fewer than 3 scored completions; `b` has 1";
    assert_eq!(omitted(&of_three, &lines), [all]);
    assert_eq!(
        omitted(&ALL.replace("[1,2]", "[2]"), &lines[2..]),
        ["1 of 1 task has fewer than 2 scored completions; `b` has 1"]
    );
    assert_eq!(
        omitted(&of_three, &[said("a", None, Some("infra_sandbox"), "{}")]),
        ["no completion was scored"]
    );
}

/// Before plans were kept, a line that answered no task was one that was skipped.
#[test]
fn without_a_plan_what_was_skipped_answers_no_task() {
    let skipped = (0, Status::Skipped, None, line("elsewhere", None, Some("unknown_task"), "{}"));
    let tally =
        tallied(r#"{"k":[1],"count_tasks":"answered"}"#, &[said("a", Some(true), None, "{}"), skipped]);
    let slot = tally.slots[0].finish("s", &tally);
    assert_eq!((slot.total, slot.scored, slot.unknown, slot.tasks_planned), (2, 1, 1, 1));
    assert_eq!(
        (slot.mean_compile_time_ms, slot.mean_binary_size_bytes),
        (None, None),
        "nothing was measured"
    );
    assert_eq!(slot.unknown_tasks, [("elsewhere".to_owned(), 1)].into());
}

#[test]
fn another_wording_is_no_completion_of_its_own() {
    let reworded = said("a", Some(false), Some("assertion_failure"), r#"{"variant_id":"noise_0000"}"#);
    let tally = tallied(ALL, &[said("a", Some(true), None, "{}"), reworded]);
    let slot = tally.slots[0].finish("s", &tally);
    assert_eq!((slot.total, slot.scored, slot.error_types.len()), (1, 1, 0));
    assert_eq!(slot.robust.len(), 2, "the generator, and all wordings");
    assert_eq!(slot.robust[0].at_k[0].value, 0.0);
    assert_eq!(tally.gate_bounds(), [None], "a gate counts wordings too");
    // One that cannot be judged as it is is no robust pass either, and no missing verdict.
    let unsupported = said("a", None, Some("unsupported"), r#"{"variant_id":"noise_0000"}"#);
    let tally = tallied(ALL, &[said("a", Some(true), None, "{}"), unsupported]);
    let slot = tally.slots[0].finish("s", &tally);
    assert_eq!(slot.robust[0].at_k[0].value, 0.0);
}

#[test]
fn names_of_what_went_wrong_are_counted_once_per_record() {
    let code = r#"{"code":"E0308","column":1,"file":"completion","line":1,"message":"m"}"#;
    let more = format!(r#"{{"compile_errors":[{code},{code}],"missing_crates":["rand","serde"]}}"#);
    let lines = [
        said("a", Some(false), Some("compile_error"), &more),
        said("b", Some(false), Some("compile_error"), r#"{"missing_crates":["rand"]}"#),
    ];
    let tally = tallied(ALL, &lines);
    let slot = tally.slots[0].finish("s", &tally);
    assert_eq!(slot.compile_error_codes, [("E0308".to_owned(), 1)].into());
    assert_eq!(slot.missing_crates, [("rand".to_owned(), 2), ("serde".to_owned(), 1)].into());
    assert_eq!(slot.error_types, [("compile_error".to_owned(), 2)].into());
}

/// Two slots: the second answers nothing of what the first does.
#[test]
fn each_slot_is_added_up_by_itself_and_told_in_the_summary() {
    use proofhouse_ledger::RunId;
    use proofhouse_ledger::record::Kind;

    let mut tally = open(&json(r#"{"k":[1],"task_ids":["a","b"],"count_tasks":"all","language":"rust"}"#));
    assert!(!tally.has_neighbours(), "samples stand in the order of their file");
    let mut spans = Spans::default();
    for (slot, task, passed) in [(0, "a", true), (1, "b", false)] {
        let line = line(task, Some(passed), None, "{}");
        let line = Line::split(line.as_bytes(), &mut spans).unwrap();
        tally.push(&line, slot, Status::Success, Some(passed)).unwrap();
    }
    let broken = line("b", None, Some("broken_task"), "{}");
    tally.push(&Line::split(broken.as_bytes(), &mut spans).unwrap(), 1, Status::Success, None).unwrap();
    assert!(tally.excludes("b") && !tally.excludes("a"));
    let mut summary = Summary::empty(Kind::Code, RunId::of_identity(b"run"), "suite");
    let named = |slot: &str| {
        let text = format!(
            r#"{{"slot":"{slot}","trials":0,"counts":{{}},"pass_rate":R,"pass_rate_all":R,"pass_rate_clustered":null,
                "scores":{{}},"tags":{{}},"flaky_cases":R,"latency_ms":null,"usage":null}}"#
        );
        let rate = r#"{"numerator":0,"denominator":0,"value":null,"low":null,"high":null,"records":""}"#;
        serde_json::from_str::<Slot>(&text.replace('R', rate)).unwrap()
    };
    summary.slots = vec![named("s"), named("t")];
    let terms = tally.finish(&mut summary);
    assert_eq!(
        (terms.bounds, terms.metrics.len()),
        (vec![Some([1.0, 1.0]), Some([0.0, 0.0])], METRICS.len())
    );
    let code = summary.code.unwrap();
    let slots: Vec<_> = code.slots.iter().map(|slot| (slot.slot.as_str(), slot.scored)).collect();
    assert_eq!(slots, [("s", 1), ("t", 0)]);
    assert_eq!(code.slots[1].unanswered, ["a"]);
}
