//! What rules read, and rules that cannot work.

use super::*;

fn rules(text: &str) -> Command {
    let outcome: Vec<OutcomeRule> = serde_json::from_str(text).unwrap();
    Command { argv: vec!["tool".into(), "{instruction}".into()], outcome, ..Command::default() }
}

fn evidence(stdout: &str) -> Evidence<'_> {
    Evidence {
        termination: Termination::Exited,
        exit_code: Some(0),
        stdout,
        stderr: "",
        files: &[],
        artefacts: &[],
    }
}

#[test]
fn the_first_rule_that_says_something_wins_for_each_field() {
    let reader = Reader::new(&rules(
        r#"[{"stdout": "took (\\d+)", "attempts": "{1}"},
            {"stdout": "try", "attempts": "count", "repairs_triggered": "count"},
            {"stdout": "done", "success": true},
            {"exit_code": 0, "success": false, "failure_stage": "validation"}]"#,
    ))
    .unwrap();
    let seen = reader.read(&evidence("try try took 7 done"));
    assert_eq!((seen.success, seen.failure_stage), (true, None));
    assert_eq!((seen.attempts, seen.repairs_triggered), (Some(7), Some(2)));
    let seen = reader.read(&evidence("try took 99999999999"));
    assert_eq!((seen.success, seen.failure_stage), (false, Some(FailureStage::Validation)));
    assert_eq!(seen.attempts, Some(1), "a group that is no number says nothing");
    let crashed = Evidence { exit_code: Some(1), ..evidence("done") };
    let seen = reader.read(&crashed);
    assert_eq!(
        (seen.success, seen.failure_stage),
        (false, Some(FailureStage::Unknown)),
        "success needs a clean exit"
    );
    let killed = Evidence { termination: Termination::Signalled, exit_code: None, ..evidence("") };
    let seen = reader.read(&killed);
    assert_eq!((seen.attempts, seen.repairs_triggered, seen.success), (None, None, false));
}

#[test]
fn pointers_and_artefacts() {
    let reader = Reader::new(&rules(
        r#"[{"json": "/ok", "equals": true, "success": true},
            {"json": "/tries", "file": "out/result.json", "attempts": "value"},
            {"json": "/stage", "failure_stage": "value"},
            {"artefact": "build/**/*.py", "repairs_triggered": 0}]"#,
    ))
    .unwrap();
    assert_eq!(reader.files(), ["out/result.json"]);
    assert!(reader.wants_artefacts());
    let files = [("out/result.json".to_owned(), br#"{"tries": 4}"#.to_vec())];
    let artefacts = ["build/deep/er/x.py".to_owned()];
    let seen = reader.read(&Evidence {
        files: &files,
        artefacts: &artefacts,
        ..evidence("chatter\n{\"ok\": true, \"stage\": \"repair\"}\n")
    });
    assert_eq!((seen.success, seen.attempts, seen.repairs_triggered), (true, Some(4), Some(0)));
    let seen = reader.read(&evidence(r#"{"ok": 1, "stage": "repair"}"#));
    assert_eq!((seen.success, seen.failure_stage), (false, Some(FailureStage::Repair)));
    assert_eq!((seen.attempts, seen.repairs_triggered), (None, None));
}

#[test]
fn rules_that_cannot_work_are_named() {
    for (text, what) in [
        (r#"[{"stdout": "(", "success": true}]"#, "the pattern cannot be read"),
        (
            r#"[{"stdout": "x", "attempts": "{1}", "success": true}]"#,
            "no pattern of this rule has a group `1`",
        ),
        (r#"[{"exit_code": 0, "attempts": "count", "success": true}]"#, "this rule has no pattern"),
        (r#"[{"exit_code": 0, "attempts": "value", "success": true}]"#, "this rule has none"),
        (r#"[{"exit_code": 0, "failure_stage": "later", "success": true}]"#, "expected `generation`"),
        (r#"[{"exit_code": 0, "success": 1}]"#, "expected `true`"),
        (r#"[{"json": "ok", "success": true}]"#, "begins with `/`"),
        (r#"[{"file": "x", "success": true}]"#, "belong to a pointer"),
        (r#"[{"json": "/x", "file": "../x", "success": true}]"#, "leads out"),
        (r#"[{"artefact": "out**", "success": true}]"#, "has a `**` beside other characters"),
        (r#"[{"exit_code": 0}]"#, "the rule says nothing"),
        (r#"[{"exit_code": 3, "failure_stage": "repair"}]"#, "no rule says when the tool succeeded"),
    ] {
        let found = check(&rules(text));
        assert!(found.iter().any(|complaint| complaint.what.contains(what)), "{text}: {found:?}");
    }
}
