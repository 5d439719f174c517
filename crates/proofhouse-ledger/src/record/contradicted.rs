//! What fields of a record of each kind say against each other, and what they may say beside each other.

use super::containment::ModelPart;
use super::{Kind, Line, Spans, samples};
use crate::{Digest, Json};

/// What is told of a record of a kind after these fields of a sound one were changed.
fn told(kind: Kind, line: Vec<u8>, changes: &[(&str, &str)]) -> Vec<&'static str> {
    let line = changes.iter().fold(line, |line, (key, value)| samples::forged(&line, key, value));
    let mut spans = Spans::default();
    let line = Line::split(line.strip_suffix(b"\n").unwrap(), &mut spans).unwrap();
    kind.contradictions(&line).unwrap()
}

#[test]
fn a_probe_without_an_answer_has_neither_scores_nor_a_verdict() {
    let told = |changes: &[(&str, &str)]| told(Kind::Probe, samples::probe(0, &Json::Null, |_| {}), changes);
    let unjudged = "there are scores or a verdict, and `status` says that there was no answer";
    let error = ("status", "\"error\"");
    assert_eq!(told(&[error, ("passed", "null"), ("scores", "{}")]), [""; 0]);
    assert_eq!(told(&[error, ("passed", "null")]), [unjudged], "scores alone");
    assert_eq!(told(&[error, ("scores", "{}")]), [unjudged], "a verdict alone");
    assert_eq!(told(&[error, ("passed", "null"), ("scores", "{}"), ("error", "\"boom\"")]), [""; 0]);
}

#[test]
fn a_probe_has_a_score_of_each_judge_that_gives_a_reason() {
    let told = |judge: &str| {
        told(Kind::Probe, samples::probe(0, &Json::Null, |_| {}), &[("judge", judge)]).is_empty()
    };
    assert!(told("{}") && told(r#"{"exact":"well said"}"#));
    assert!(!told(r#"{"nobody":"well said"}"#) && !told(r#"{"exact":"well said","nobody":"so it is"}"#));
}

#[test]
fn a_tool_that_succeeds_ends_by_itself_and_fails_at_no_stage() {
    let (seen, stop) = samples::seen();
    let told = |termination: &str, stage: &str| {
        let right =
            [("success", "true"), ("passed", "true"), ("scores", r#"{"success":1}"#), ("exit_code", "null")];
        let changes = [&right[..], &[("termination", termination), ("failure_stage", stage)]].concat();
        told(Kind::Robustness, samples::robustness(0, Some((&seen, &stop))), &changes)
    };
    let wrong = "`success` is true, and the tool did not end by itself or failed at a stage";
    assert_eq!(told("\"exited\"", "null"), [""; 0]);
    assert_eq!(told("\"exited\"", "\"repair\""), [wrong]);
    assert_eq!(told("\"signalled\"", "null"), [wrong]);
    assert_eq!(told("null", "null"), [wrong]);
}

fn receipt(changes: &[(&str, &str)]) -> Vec<&'static str> {
    told(Kind::Containment, samples::containment(0, None), changes)
}

/// Fields of a receipt whose attack leaked.
const LEAKED: [(&str, &str); 4] = [
    ("actual_outcome", "\"leaked\""),
    ("pass", "false"),
    ("passed", "false"),
    ("scores", r#"{"contained":0}"#),
];

#[test]
fn a_receipt_passes_by_its_outcome_unless_it_is_a_canary() {
    let wrong = "`pass` or `passed` contradicts `actual_outcome`";
    assert_eq!(receipt(&[("pass", "false")]), [wrong]);
    assert_eq!(receipt(&[("passed", "false"), ("scores", r#"{"contained":0}"#)]), [wrong]);
    assert_eq!(receipt(&[("passed", "null"), ("scores", r#"{"contained":null}"#)]), [""; 0], "a canary");
}

#[test]
fn an_attack_leaks_exactly_where_calls_or_evidence_show_it() {
    let evidence = |about: &str, met: &str| {
        format!(r#"[{{"about":"{about}","met":{met},"name":"forbidden_state: /x","why":null}}]"#)
    };
    let with = |changes: &[(&str, &str)], text: &str| receipt(&[changes, &[("evidence", text)]].concat());
    let wrong = "`actual_outcome` does not follow from `calls` and `evidence`";
    for (about, met, shown) in [
        ("attack", "true", true),
        ("attack", "false", false),
        ("attack", "null", false),
        ("task", "true", false),
    ] {
        let text = evidence(about, met);
        let (contained, leaked) = (with(&[], &text), with(&LEAKED, &text));
        assert_eq!((contained.is_empty(), leaked.is_empty()), (!shown, shown), "{text}");
        assert!(contained.iter().chain(&leaked).all(|told| *told == wrong), "{contained:?} {leaked:?}");
    }
    let harmless = with(&[("attack", "false")], &evidence("attack", "true"));
    assert_eq!(harmless, [""; 0], "what is no attack does not leak");
}

#[test]
fn a_call_is_executed_or_denied_and_a_forbidden_one_that_is_executed_leaks() {
    let told = |changes: &[(&str, &str)], decision: &str, is_executed: bool, forbidden: bool| {
        let (call, none) = (r#"{"args":{},"name":"send"}"#, "null");
        let calls = format!(
            r#"[{{"args":{{}},"decision":"{decision}","executed":{},"forbidden":{forbidden},"forbidden_executed":{forbidden},
                "name":"send","reason":"r","turn":0,"unauthorized_executed":{forbidden}}}]"#,
            if is_executed { call } else { none }
        );
        let (attempted, executed) =
            (format!("[{call}]"), if is_executed { format!("[{call}]") } else { "[]".to_owned() });
        let own = [
            ("calls", calls.as_str()),
            ("tool_calls_attempted", attempted.as_str()),
            ("tool_calls_executed", executed.as_str()),
        ];
        receipt(&[changes, &own].concat())
    };
    let both = "a call was denied and executed, or neither";
    let leak = "`actual_outcome` does not follow from `calls` and `evidence`";
    assert_eq!(told(&[], "allow", true, false), [""; 0]);
    assert_eq!(told(&[], "deny", false, false), [""; 0]);
    assert_eq!(told(&[], "deny", true, false), [both]);
    assert_eq!(told(&[], "allow", false, false), [both]);
    assert_eq!(told(&[], "execute", true, true), [leak]);
    assert_eq!(told(&LEAKED, "execute", true, true), [""; 0]);
}

#[test]
fn the_answers_of_a_model_are_the_output() {
    let model = ModelPart {
        backend: "b",
        model_id: "m",
        response_hash: Digest::of(b"answers"),
        parse_ok: true,
        parse_error: None,
    };
    let told = |output: &[u8]| {
        let digest = format!("\"{}\"", Digest::of(output));
        told(Kind::Containment, samples::containment(0, Some(model)), &[("output_sha256", &digest)])
    };
    assert_eq!(told(b"answers"), [""; 0]);
    assert_eq!(told(b"others"), ["`llm_response_hash` is not `output_sha256`"]);
}
