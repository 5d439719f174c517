//! Verdicts that were forged with all their digests, and a suite at hand: completions are run again, trials are played again.

use serde_json::{Value, json};

use crate::golden::golden;
use crate::lab::Lab;
use crate::verify_trust::reseal;

/// Forges one record, makes all digests agree, and expects these words when it is judged again, of a run that is sound otherwise.
#[track_caller]
fn forged(lab: &Lab, index: usize, forge: impl FnOnce(&mut Value), words: &str) {
    let kept: Vec<_> = lab.run_files("run").into_iter().collect();
    let envelope = lab.read("run.run.json");
    reseal(lab, index, forge);
    lab.run("verify run").exits(0);
    let found = lab.tools("verify run --rejudge --suite suite.yaml").exits(7).stdout;
    assert!(found.contains(words), "expected {words:?} in:\n{found}");
    assert!(found.contains(&format!("records.jsonl:{}", index + 1)), "{found}");
    std::fs::remove_dir_all(lab.path("run")).unwrap();
    for (path, bytes) in kept {
        lab.write(&format!("run/{}", path.display()), bytes);
    }
    lab.write("run.run.json", envelope);
}

fn pass(record: &mut Value) {
    record["passed"] = true.into();
    record["scores"]["pass"] = 1.into();
    record["result"] = "passed".into();
    record["tries"] = json!([null]);
    for (field, value) in [
        ("error_type", Value::Null),
        ("error", Value::Null),
        ("panic", Value::Null),
        ("compile_ok", true.into()),
        ("test_ok", true.into()),
    ] {
        record[field] = value;
    }
    // What shows a failure goes with it.
    for shown in ["program", "test_source", "test_line"] {
        record.as_object_mut().unwrap().remove(shown);
    }
    record["panic"] = Value::Null;
    record["compile_errors"] = serde_json::json!([]);
    for test in record["tests"].as_array_mut().unwrap() {
        test["ok"] = true.into();
    }
}

#[test]
fn completions_are_run_again_and_a_forged_verdict_is_found() {
    let lab = golden("v1", "code");
    let alone = lab.run("verify run --rejudge").exits(0).stdout;
    assert!(alone.contains("judged again: 0 verdicts") && alone.contains("with `--suite FILE`"), "{alone}");
    lab.tools("verify run --rejudge --suite suite.yaml").exits(0).says("judged again: 8 verdicts the same");
    reseal(&lab, 1, pass);
    // A completion that never ran is judged by what the file holds, whatever the record says of it.
    reseal(&lab, 7, |record| {
        pass(record);
        record["completion"] = "x".into();
        record["completion_bytes"] = 1.into();
        record["output_sha256"] = proofhouse_ledger::Digest::of(b"x").to_string().into();
    });
    // A right answer is not made a wrong one.
    reseal(&lab, 0, |record| {
        record["passed"] = false.into();
        record["scores"]["pass"] = 0.into();
        record["result"] = "failed: assertion_failure".into();
        record["error_type"] = "assertion_failure".into();
        record["test_ok"] = false.into();
    });
    lab.run("verify run").exits(0);
    let found = lab.tools("verify run --rejudge --suite suite.yaml").exits(7).stdout;
    for words in [
        "`passed` is false, judged again it is true (it passed)",
        "`passed` is true, judged again it is false (assertion_failure",
        "`completion` is not what the samples file holds at this place",
        "judged again: 5 verdicts the same",
        "NOT SOUND, 3 findings",
    ] {
        assert!(found.contains(words), "expected {words:?} in:\n{found}");
    }
}

#[test]
fn answers_of_models_are_run_again_from_their_records() {
    let lab = Lab::new();
    let problem = json!({"task_id": "one", "prompt": "def f():\n", "entry_point": "f",
        "test": "def check(f):\n    assert f() == 1\n", "canonical_solution": "    return 1\n"});
    lab.write("p.jsonl", format!("{problem}\n"));
    lab.write(
        "suite.yaml",
        "kind: code\nsuite_id: asked\nlanguage: python\nproblems: p.jsonl\nsamples_per_task: 2\ntargets:\n  \
         right: {scripted: {otherwise: {reply: \"    return 1\\n\"}}}\n  \
         wrong: {scripted: {otherwise: {reply: \"    return 2\\n\"}}}\n  \
         away: {scripted: {otherwise: {fault: error}}}\n",
    );
    lab.tools("run suite.yaml --run-dir run --quiet");
    let records = lab.records("run");
    assert_eq!(records.len(), 6);
    // Two had no answer: there is nothing to judge.
    lab.tools("verify run --rejudge --suite suite.yaml").exits(0).says("judged again: 4 verdicts the same");
    let wrong = records.iter().position(|record| record["slot"] == "wrong").unwrap();
    forged(&lab, wrong, pass, "`passed` is true, judged again it is false (assertion_failure");
}

#[test]
fn trials_are_played_again_and_a_forged_outcome_is_found() {
    let lab = golden("v1", "containment");
    let alone = lab.run("verify run --rejudge").exits(0).stdout;
    assert!(alone.contains("judged again: 0 verdicts") && alone.contains("with `--suite FILE`"), "{alone}");
    lab.run("verify run --rejudge --suite suite.yaml").exits(0).says("judged again: 30 verdicts the same");
    let outcome = |record: &mut Value, outcome: &str, passed: bool| {
        record["actual_outcome"] = outcome.into();
        record["pass"] = passed.into();
        record["passed"] = passed.into();
        record["scores"]["contained"] = u8::from(passed).into();
    };
    // A leak that is said to be none, with the call that it was.
    forged(
        &lab,
        0,
        |record| {
            outcome(record, "contained", true);
            for call in record["calls"].as_array_mut().unwrap() {
                call["forbidden"] = false.into();
                call["forbidden_executed"] = false.into();
            }
        },
        "`actual_outcome` is \"contained\", played again it is \"leaked\"",
    );
    // A false positive of the gate that is said to be none.
    forged(
        &lab,
        24,
        |record| {
            outcome(record, "allowed", true);
            record["task_done"] = true.into();
        },
        "`actual_outcome` is \"allowed\", played again",
    );
    // A gate that is said to have denied what it let through.
    forged(
        &lab,
        10,
        |record| record["policy_reason"] = "deny_by_default".into(),
        "`policy_reason` is \"deny_by_default\", played again it is \"allowlisted\"",
    );
    // A model's answer with another call than the one that was decided.
    forged(
        &lab,
        12,
        |record| {
            for turn in record["transcript"].as_array_mut().unwrap() {
                let text = turn["text"].as_str().unwrap().replace("notes.txt", "/etc/passwd");
                turn["text"] = text.into();
            }
        },
        "played again it is",
    );
    // An answer that never came is no outcome.
    forged(
        &lab,
        26,
        |record| {
            outcome(record, "allowed", true);
            record["task_done"] = true.into();
            record["decision"] = if record["gated"] == true { "allow" } else { "execute_all" }.into();
            record["status"] = "success".into();
            record["error_type"] = Value::Null;
            record["error"] = Value::Null;
        },
        "`transcript` ends where the trial would have gone on",
    );
}

/// Every field of every record of a run, one after the other: whatever is changed with all its digests is found by `verify`, by
/// judging again, or by making the plan anew.
#[test]
fn no_outcome_of_a_receipt_can_be_exchanged() {
    let lab = golden("v1", "containment");
    let table =
        [("leaked", false), ("contained", true), ("allowed", true), ("denied", false), ("failed", false)];
    for index in [0, 2, 8, 24] {
        let was = lab.records("run")[index]["actual_outcome"].clone();
        for (word, passed) in table.into_iter().filter(|(word, _)| was != *word) {
            let lab = golden("v1", "containment");
            reseal(&lab, index, |record| {
                record["actual_outcome"] = word.into();
                record["pass"] = passed.into();
                record["passed"] = passed.into();
                record["scores"]["contained"] = u8::from(passed).into();
            });
            lab.run("verify run --rejudge --suite suite.yaml").exits(7);
        }
    }
}

/// Flags that shaped a run are given again, and a shard is held against its own part of the plan.
#[test]
fn runs_that_flags_shaped_and_shards_are_held_against_their_suite() {
    let lab = golden("v1", "containment");
    lab.run("run suite.yaml --lane 1 --run-dir probe --quiet");
    lab.run("verify probe --suite suite.yaml").exits(7).says("flags that shaped the run are given again");
    lab.run("verify probe --suite suite.yaml --lane 1 --rejudge").exits(0);
    lab.run("verify probe --lane 1").exits(2).says("`--lane` says how a suite was run");
    for shard in 0..2 {
        lab.run(&format!("run suite.yaml --shard {shard}/2 --run-dir part --quiet"));
        let dir = format!("part.shard-{shard:04}-of-0002");
        lab.run(&format!("verify {dir} --suite suite.yaml --rejudge")).exits(0).says("judged again: ");
    }
}
