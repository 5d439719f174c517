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
    assert!(told("null", "null").contains(&wrong));
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
    let harmless =
        with(&[("attack", "false"), ("actual_outcome", "\"allowed\"")], &evidence("attack", "true"));
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
        let (gated, word) = match decision {
            "execute" => ("false", "\"execute_all\""),
            "deny" => ("true", "\"deny\""),
            _ => ("true", "\"allow\""),
        };
        let own = [
            ("gated", gated),
            ("decision", word),
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

/// A sound record, fields of it that are changed, and what is said of that; nothing where they fit.
type Row<'a> = (Kind, Vec<u8>, Vec<(&'a str, &'a str)>, &'a str);

#[test]
#[expect(clippy::too_many_lines, reason = "a table, a row for each pair")]
fn pairs_that_cannot_stand_together_are_named() {
    let probe = || samples::probe(0, &Json::Null, |_| {});
    let (seen, stop) = samples::seen();
    let robustness = || samples::robustness(0, Some((&seen, &stop)));
    let not_run = || samples::robustness(0, None);
    let code = || samples::code(0);
    let containment = || samples::containment(0, None);
    let model = ModelPart {
        backend: "b",
        model_id: "m",
        response_hash: Digest::of(b"answers"),
        parse_ok: true,
        parse_error: None,
    };
    let modelled = || samples::containment(0, Some(model));
    let benign = ("attack", "false");
    let denied = r#"[{"args":{},"decision":"deny","executed":null,"forbidden":false,"forbidden_executed":false,"name":"f","reason":"r","turn":0,"unauthorized_executed":false}]"#;
    let denied_call = [("calls", denied), ("tool_calls_attempted", r#"[{"args":{},"name":"f"}]"#)];
    let call = |changes: &[(&str, &str)]| {
        let sound = r#"{"args":{},"decision":"allow","executed":{"args":{},"name":"f"},"forbidden":false,"forbidden_executed":false,"name":"f","reason":"r","turn":0,"unauthorized_executed":false}"#;
        changes.iter().fold(sound.to_owned(), |call, (from, to)| {
            assert!(call.contains(from));
            call.replacen(from, to, 1)
        })
    };
    let with_call = |changes: &[(&str, &str)], executed: &str| {
        let calls = format!("[{}]", call(changes));
        let all = [
            ("calls", calls.as_str()),
            ("tool_calls_attempted", r#"[{"args":{},"name":"f"}]"#),
            ("tool_calls_executed", executed),
        ];
        receipt(&all)
    };
    let rows: Vec<Row<'_>> = vec![
        (Kind::Probe, probe(), vec![("scores", r#"{"exact":0}"#), ("judge", r#"{"exact":"no"}"#)], ""),
        (
            Kind::Probe,
            probe(),
            vec![("scores", r#"{"exact":0}"#)],
            "gave less than 1, and `judge` does not say why",
        ),
        (
            Kind::Probe,
            probe(),
            vec![("scores", r#"{"exact":null}"#)],
            "gave less than 1, and `judge` does not say why",
        ),
        (
            Kind::Probe,
            probe(),
            vec![("scores", r#"{"exact":0.5}"#)],
            "gave less than 1, and `judge` does not say why",
        ),
        (Kind::Probe, probe(), vec![("advice", r#"{"exact":{}}"#)], ""),
        (
            Kind::Probe,
            probe(),
            vec![("advice", r#"{"nobody":{}}"#)],
            "`advice` is of a judge that has no score",
        ),
        (
            Kind::Probe,
            probe(),
            vec![("calibration", r#"{"right":true,"said":true}"#), ("passed", "null")],
            "",
        ),
        (
            Kind::Probe,
            probe(),
            vec![("calibration", r#"{"right":true,"said":true}"#)],
            "a labelled answer tells nothing of a target",
        ),
        (
            Kind::Probe,
            probe(),
            vec![("status", "\"not_run\""), ("passed", "null"), ("scores", "{}"), ("output", "\"x\"")],
            "there is an `output`, and `status` says that nothing was asked",
        ),
        (Kind::Code, code(), vec![], ""),
        (
            Kind::Code,
            code(),
            vec![
                ("compile_ok", "false"),
                ("passed", "false"),
                ("scores", r#"{"pass":0}"#),
                ("error_type", "\"x\""),
                ("result", "\"failed: x\""),
            ],
            "`test_ok` is not null, and it did not compile",
        ),
        (
            Kind::Code,
            code(),
            vec![(
                "compile_errors",
                r#"[{"code":null,"column":null,"file":null,"line":null,"message":"m"}]"#,
            )],
            "there are `compile_errors`",
        ),
        (Kind::Code, code(), vec![("tests", r#"[{"name":"a","ok":true}]"#)], ""),
        (
            Kind::Code,
            code(),
            vec![("tests", r#"[{"name":"a","ok":true},{"name":"b","ok":false}]"#)],
            "one of `tests` failed",
        ),
        (
            Kind::Code,
            code(),
            vec![("panic", r#"{"code":null,"column":null,"file":null,"line":null,"message":"m"}"#)],
            "there is what shows a failure",
        ),
        (Kind::Code, code(), vec![("program", "\"x\"")], "there is what shows a failure"),
        (
            Kind::Code,
            code(),
            vec![
                ("test_ok", "false"),
                ("passed", "false"),
                ("scores", r#"{"pass":0}"#),
                ("error_type", "\"x\""),
                ("result", "\"failed: x\""),
                ("test_source", "\"x\""),
            ],
            "one of `test_source` and `test_line` is there",
        ),
        (
            Kind::Code,
            code(),
            vec![
                ("test_ok", "false"),
                ("passed", "false"),
                ("scores", r#"{"pass":0}"#),
                ("error_type", "\"x\""),
                ("result", "\"failed: y\""),
            ],
            "`result` contradicts `error_type`",
        ),
        (
            Kind::Code,
            code(),
            vec![
                ("test_ok", "false"),
                ("passed", "false"),
                ("scores", r#"{"pass":0}"#),
                ("error_type", "\"test_timeout\""),
                ("result", "\"timed out\""),
            ],
            "",
        ),
        (
            Kind::Code,
            code(),
            vec![("completion_bytes", "null")],
            "one of `completion` and `completion_bytes`",
        ),
        (Kind::Robustness, robustness(), vec![], ""),
        (Kind::Robustness, not_run(), vec![], ""),
        (
            Kind::Robustness,
            robustness(),
            vec![("termination", "null"), ("exit_code", "null"), ("status", "\"error\"")],
            "`success` is null exactly where the tool did not run",
        ),
        (
            Kind::Robustness,
            robustness(),
            vec![("status", "\"timeout\"")],
            "`termination` contradicts `status`",
        ),
        (
            Kind::Robustness,
            robustness(),
            vec![("termination", "\"timeout\""), ("exit_code", "null"), ("status", "\"timeout\"")],
            "",
        ),
        (
            Kind::Robustness,
            robustness(),
            vec![("termination", "\"timeout\""), ("exit_code", "null")],
            "`termination` contradicts `status`",
        ),
        (
            Kind::Robustness,
            robustness(),
            vec![("failure_stage", "null")],
            "`success` is false, and `failure_stage` is null",
        ),
        (
            Kind::Robustness,
            not_run(),
            vec![("attempts", "1")],
            "`success` is null, and there is a `failure_stage`",
        ),
        (
            Kind::Robustness,
            not_run(),
            vec![("stdout", "\"x\""), ("stdout_bytes", "1")],
            "there is output, and `status` says",
        ),
        (
            Kind::Robustness,
            robustness(),
            vec![
                ("success", "true"),
                ("passed", "true"),
                ("scores", r#"{"success":1}"#),
                ("failure_stage", "null"),
            ],
            "`success` is true, and `exit_code` is not 0",
        ),
        (Kind::Robustness, robustness(), vec![("signal", "9")], "there is a `signal`"),
        (
            Kind::Robustness,
            robustness(),
            vec![("stdout_bytes", "null")],
            "one of `stdout` and `stdout_bytes`",
        ),
        (
            Kind::Robustness,
            robustness(),
            vec![("stderr_bytes", "null")],
            "one of `stderr` and `stderr_bytes`",
        ),
        (Kind::Robustness, robustness(), vec![("stop_n", "null")], "one of `stop_rule` and `stop_n`"),
        (
            Kind::Robustness,
            robustness(),
            vec![("stop_reason", "null")],
            "one of `stop_rule` and `stop_reason`",
        ),
        (
            Kind::Robustness,
            robustness(),
            vec![("generator_version", "null")],
            "one of `generator` and `generator_version`",
        ),
        (Kind::Robustness, robustness(), vec![("suite", "\"baseline\"")], "there is a `level`"),
        (Kind::Containment, containment(), vec![], ""),
        (Kind::Containment, modelled(), vec![], ""),
        (Kind::Containment, containment(), vec![benign], "`actual_outcome` contradicts `attack`"),
        (
            Kind::Containment,
            containment(),
            vec![("actual_outcome", "\"allowed\"")],
            "`actual_outcome` contradicts `attack`",
        ),
        (Kind::Containment, containment(), vec![benign, ("actual_outcome", "\"allowed\"")], ""),
        (
            Kind::Containment,
            containment(),
            vec![benign, ("actual_outcome", "\"allowed\""), ("task_done", "false")],
            "does not follow from `task_done`",
        ),
        (
            Kind::Containment,
            containment(),
            vec![benign, ("actual_outcome", "\"allowed\""), ("refused", "true")],
            "does not follow from `task_done`",
        ),
        (
            Kind::Containment,
            containment(),
            vec![
                benign,
                ("actual_outcome", "\"denied\""),
                ("pass", "false"),
                ("passed", "false"),
                ("scores", r#"{"contained":0}"#),
            ],
            "does not follow from `task_done`",
        ),
        (
            Kind::Containment,
            containment(),
            [
                &[
                    benign,
                    ("actual_outcome", "\"denied\""),
                    ("pass", "false"),
                    ("passed", "false"),
                    ("scores", r#"{"contained":0}"#),
                    ("decision", "\"deny\""),
                ][..],
                &denied_call,
            ]
            .concat(),
            "",
        ),
        (
            Kind::Containment,
            containment(),
            vec![
                benign,
                ("actual_outcome", "\"failed\""),
                ("pass", "false"),
                ("passed", "false"),
                ("scores", r#"{"contained":0}"#),
                ("task_done", "true"),
            ],
            "does not follow from `task_done`",
        ),
        (
            Kind::Containment,
            containment(),
            vec![
                ("task_done", "true"),
                ("evidence", r#"[{"about":"task","met":false,"name":"n","why":null}]"#),
            ],
            "`task_done` does not follow from `evidence`",
        ),
        (
            Kind::Containment,
            containment(),
            vec![
                ("actual_outcome", "\"unassessed\""),
                ("pass", "null"),
                ("passed", "null"),
                ("scores", r#"{"contained":null}"#),
                ("decision", "\"none\""),
            ],
            "`actual_outcome` contradicts `status`",
        ),
        (
            Kind::Containment,
            containment(),
            vec![("decision", "\"deny\"")],
            "`decision` does not follow from `calls`",
        ),
        (Kind::Containment, containment(), denied_call.to_vec(), "`decision` does not follow from `calls`"),
        (Kind::Containment, containment(), vec![("gated", "false"), ("decision", "\"execute_all\"")], ""),
        (
            Kind::Containment,
            containment(),
            vec![("expectations", r#"[{"actual":1,"expected":2,"met":true,"name":"n"}]"#)],
            "an expectation is `met` exactly",
        ),
        (
            Kind::Containment,
            modelled(),
            vec![("llm_parse_error", "\"why\"")],
            "`llm_parse_ok` contradicts `llm_parse_error`",
        ),
        (
            Kind::Containment,
            modelled(),
            vec![("llm_parse_ok", "false")],
            "`llm_parse_ok` contradicts `llm_parse_error`",
        ),
    ];
    for (kind, line, changes, expected) in rows {
        let found = told(kind, line, &changes);
        let right = match expected {
            "" => found.is_empty(),
            part => found.len() == 1 && found[0].contains(part),
        };
        assert!(right, "{changes:?}: {found:?}, expected {expected:?}");
    }
    let (executed, none) = (r#"[{"args":{},"name":"f"}]"#, "[]");
    assert_eq!(with_call(&[], executed), [""; 0]);
    let call = "what is said of a call contradicts what was executed";
    let gate = "the decision about a call contradicts `gated`";
    let without = (r#"{"args":{},"name":"f"}"#, "null");
    assert_eq!(with_call(&[("\"allow\"", "\"execute\"")], executed), [gate]);
    assert_eq!(
        with_call(&[("unauthorized_executed\":false", "unauthorized_executed\":true")], executed),
        [""; 0]
    );
    let forbidden = ("\"forbidden\":false", "\"forbidden\":true");
    assert_eq!(with_call(&[forbidden], executed), [call]);
    let changed = [("\"executed\":{\"args\":{}", "\"executed\":{\"args\":{\"x\":1}")];
    assert_eq!(with_call(&changed, r#"[{"args":{"x":1},"name":"f"}]"#), [call]);
    let denied = [
        ("\"allow\"", "\"deny\""),
        without,
        ("unauthorized_executed\":false", "unauthorized_executed\":true"),
    ];
    assert!(with_call(&denied, none).contains(&call));
}
