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
