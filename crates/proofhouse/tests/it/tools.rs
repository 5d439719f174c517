//! Black-box tools, beyond their outcome rules: judges of what they print, copies of what they leave, and models that reword for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::lab::Lab;
use crate::servers::{Act, Server, completion};

/// A suite with one tool, which is a shell script with the instruction as `$1`.
fn suite(head: &str, case: &str, script: &str, more: &str) -> String {
    let script = serde_json::to_string(script).unwrap();
    format!(
        "kind: robustness\nsuite_id: tools\npolicy: fixed\nruns: 2\n{head}\ncases:\n  - {{id: sum, instruction: Add two and three., {case}}}\n\
         targets: {{adder: {{command: {{argv: [sh, -c, {script}, x, '{{instruction}}']{more}}}}}}}\n"
    )
}

/// A rule of its own that every tool needs.
const CLEAN: &str = ", outcome: [{exit_code: 0, success: true}]";

fn texts<'a>(records: &'a [Value], key: &str) -> Vec<&'a str> {
    records.iter().map(|record| record[key].as_str().unwrap_or("-")).collect()
}

#[test]
fn judges_decide_what_a_clean_exit_is_worth() {
    let judged = |expected: &str, script: &str, more: &str| {
        let lab = Lab::new();
        let case = format!("expected: {expected}");
        lab.write(
            "suite.yaml",
            suite(
                "judges: {right: {numeric: {}}, short: {regex: {pattern: '^.{1,9}$'}}}",
                &case,
                script,
                more,
            ),
        );
        lab.run("run suite.yaml --run-dir run --quiet").exits(0);
        lab.run("verify run").exits(0);
        lab.records("run")[0].clone()
    };
    let right = judged("5", "echo 5", CLEAN);
    assert_eq!((&right["success"], &right["failure_stage"]), (&Value::Bool(true), &Value::Null));
    assert_eq!(right["scores"], serde_json::json!({"right": 1, "short": 1, "success": 1}));
    assert_eq!(right["judge"], serde_json::json!({}));
    let wrong = judged("6", "echo 5", CLEAN);
    assert_eq!(
        (&wrong["passed"], wrong["failure_stage"].as_str()),
        (&Value::Bool(false), Some("validation"))
    );
    assert!(wrong["judge"]["right"].as_str().unwrap().contains('6'), "{}", wrong["judge"]);
    let failed = judged("5", "echo 5; exit 3", CLEAN);
    assert_eq!((&failed["success"], &failed["scores"]["right"]), (&Value::Bool(false), &Value::Null));
    let own_rule = judged("5", "echo 5", ", outcome: [{stdout: saved, success: true}]");
    assert_eq!(own_rule["success"], Value::Bool(false), "its own rules have to hold too");
}

#[test]
fn judges_that_cannot_work_are_refused_with_a_hint() {
    for (head, case, what) in [
        ("judges: {right: {equals: {}}}", "judges: [right]", "judge `right` compares with `expected`"),
        ("judges: {right: {equals: {}}}", "judges: [rihgt], expected: 5", "no judge is named `rihgt`"),
        ("", "expected: 5", "the suite has no judge that would read `expected`"),
        (
            "judges: {kind: {rubric: {criterion: is it kind, model: {scripted: {otherwise: {reply: '1'}}}}}}",
            "expected: 5",
            "robustness suites ask their tools alone",
        ),
        ("judges: {success: {equals: {}}}", "expected: 5", "the name of the whole verdict"),
    ] {
        let lab = Lab::new();
        lab.write("suite.yaml", suite(head, case, "echo 5", CLEAN));
        let said = lab.run("check suite.yaml").exits(3).said();
        assert!(said.contains(what) || head.contains("rubric"), "{what}: {said}");
    }
}

/// Leaves a file, and fails every second time it is started.
const LEAVES: &str = "mkdir -p dbg/run/deep; echo \"told: $1\" > dbg/run/deep/note.txt; echo x > dbg/run/log.txt; [ $((N % 2)) = 0 ] && echo ok; exit 0";
const WATCHED: &str = ", debug_dir: dbg, seed_env: N, outcome: [{stdout: ok, success: true}]";

#[test]
fn debug_artefacts_are_kept_where_the_references_point() {
    for (keep, every) in [("keep_debug: always", true), ("keep_debug: on_failure", false), ("", false)] {
        let lab = Lab::new();
        let head = format!("debug_enabled: true\n{keep}");
        lab.write("suite.yaml", suite(&head, "runs: 6", LEAVES, WATCHED));
        lab.run("run suite.yaml --run-dir out/run --quiet").exits(0);
        let records = lab.records("out/run");
        let mut outcomes = [0, 0];
        for record in &records {
            let success = record["success"].as_bool().unwrap();
            outcomes[usize::from(success)] += 1;
            assert_eq!(record["debug_artifacts_present"], Value::Bool(true));
            assert_eq!(record["debug_path"].is_string(), every || !success, "{record}");
            if let Some(path) = record["debug_path"].as_str() {
                assert_eq!(path, format!("adder/sum/base/{}", record["run_name"].as_str().unwrap()));
                assert_eq!(
                    lab.read(&format!("out/run.debug/{path}/deep/note.txt")),
                    "told: Add two and three.\n"
                );
            }
        }
        assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
        let references: Vec<_> = lab
            .run_files("out/run.tree")
            .into_keys()
            .filter(|path| path.ends_with("debug_ref.txt"))
            .collect();
        let kept = records.iter().filter(|record| record["debug_path"].is_string()).count();
        assert_eq!(references.len(), kept);
        for file in references {
            let file = lab.path("out/run.tree").join(file);
            let place = std::fs::read_to_string(&file).unwrap();
            assert!(file.parent().unwrap().join(place.trim_end()).join("log.txt").is_file(), "{place}");
        }
        lab.run("verify out/run").exits(0);
        lab.write("suite.yaml", suite("debug_enabled: true\nkeep_debug: never", "runs: 6", LEAVES, WATCHED));
        lab.run("run suite.yaml --run-dir out/run --overwrite --quiet").exits(0);
        assert!(!lab.path("out/run.debug").exists(), "copies of the run before are gone");
        assert!(lab.records("out/run").iter().all(|record| record["debug_path"].is_null()));
    }
}

#[test]
fn too_many_debug_artefacts_are_left_out_and_that_is_said() {
    let lab = Lab::new();
    let script = "mkdir dbg; echo small > dbg/a.txt; yes x | head -c 2000000 > dbg/b.bin; exit 1";
    lab.write("suite.yaml", suite("debug_enabled: true", "runs: 1", script, WATCHED));
    lab.run("run suite.yaml --run-dir run --quiet").exits(0);
    assert_eq!(lab.read("run.debug/adder/sum/base/run_001/a.txt"), "small\n");
    assert!(lab.read("run.debug/adder/sum/base/run_001/LEFT_OUT.txt").starts_with("1 files are not here"));
    assert!(!lab.path("run.debug/adder/sum/base/run_001/b.bin").exists());
}

const BASE: &str = "Convert a list of dictionaries into a dictionary keyed by id.";
const GOOD: &str = "Turn a list of dictionaries into one dictionary keyed by id.";

fn rewritten(rewriter: &str) -> String {
    format!(
        "suite_id: reworded\nmode: adversarial\nruns: 2\nruns_per_variant: 1\npolicy: fixed\ntimeout_seconds: 1\nrewriter: {rewriter}\n\
         cases:\n  - {{id: list, base_instruction: {BASE}, variants: [{{generator: ai_semantic_restatement, count: 1, seed: 1}}]}}\n\
         targets: {{echo: {{command: {{argv: [printf, '%s', '{{instruction}}'], outcome: [{{exit_code: 0, success: true}}]}}}}}}\n"
    )
}

#[test]
fn a_rewriter_that_did_not_answer_is_asked_again_in_the_next_run() {
    let awake = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&awake);
    let server = Server::start(move |_, _| match seen.load(Ordering::SeqCst) {
        true => Act::Json(200, completion(GOOD)),
        false => Act::Hang,
    });
    let lab = Lab::new();
    let target =
        format!("openai: {{model: m, base_url: '{}', transport: {{max_attempts: 1}}}}", server.base());
    lab.write("suite.yaml", rewritten(&format!("{{max_attempts: 1, target: {{{target}}}}}")));
    lab.run("run suite.yaml --run-dir one")
        .exits(0)
        .says("the model did not answer for 1; the next run asks again");
    let records = lab.records("one");
    assert_eq!(texts(&records, "status"), ["success", "success", "skipped"]);
    assert!(
        records[2]["error"].as_str().unwrap().contains("the next run asks again"),
        "{}",
        records[2]["error"]
    );
    assert_eq!(records[2]["generation"]["rejections"][0]["no_answer"], Value::Bool(true));
    assert_eq!(lab.json("one/summary.json")["robustness"]["shortfalls"][0]["reason"], "no_answer");
    lab.run("run suite.yaml --run-dir one --resume").exits(0);
    assert_eq!(server.seen().len(), 1, "a resumed run keeps its plan");
    awake.store(true, Ordering::SeqCst);
    lab.run("run suite.yaml --run-dir two").exits(0).says("the rewriter was asked for 1 variants");
    assert_eq!(lab.records("two")[2]["instruction"], GOOD);
    lab.run("run suite.yaml --run-dir three").exits(0);
    assert_eq!(server.seen().len(), 2, "what was answered is not asked again");
    assert_eq!(lab.run_files("two"), lab.run_files("three"));
}

#[test]
fn a_model_may_refuse_what_the_rules_let_pass() {
    let guarded = |guard: &str| {
        let lab = Lab::new();
        let target = format!("{{scripted: {{otherwise: {{reply: '{GOOD}'}}}}}}");
        lab.write(
            "suite.yaml",
            rewritten(&format!(
                "{{max_attempts: 2, target: {target}, guard: {{target: {{scripted: {guard}}}}}}}"
            )),
        );
        lab.run("run suite.yaml --run-dir run --quiet").exits(0);
        lab.run("verify run").exits(0);
        (lab.records("run")[2].clone(), lab.read("suite.variants.jsonl"))
    };
    let (same, recorded) = guarded("{rules: [{contains: 'First instruction', reply: SAME}]}");
    assert_eq!((same["status"].as_str(), same["instruction"].as_str()), (Some("success"), Some(GOOD)));
    assert!(recorded.contains("\"guard\":\"SAME\""), "{recorded}");
    let (changed, _) = guarded("{otherwise: {reply: 'CHANGED.'}}");
    let reasons = |record: &Value| record["generation"]["rejections"][1]["failure_reasons"].clone();
    assert_eq!(
        (changed["status"].as_str(), reasons(&changed)),
        (Some("skipped"), serde_json::json!(["model_says_changed"]))
    );
    let (unclear, _) = guarded("{otherwise: {reply: 'Hard to say.'}}");
    assert_eq!(reasons(&unclear), serde_json::json!(["model_check_failed"]));
    let error = unclear["generation"]["rejections"][0]["error"].as_str().unwrap();
    assert!(error.contains("neither `SAME` nor `CHANGED`: Hard to say."), "{error}");
    let (silent, _) = guarded("{rules: [{contains: 'First instruction', fault: timeout}]}");
    assert_eq!(silent["generation"]["rejections"][0]["error"], "the guard's model: no answer in time");
    assert!(silent["error"].as_str().unwrap().contains("the next run asks again"), "{}", silent["error"]);
}

/// What `vary` shows is what a suite would make.
#[test]
fn vary_shows_variants_with_settings_and_without() {
    let lab = Lab::new();
    let shown = |args: &[&str]| lab.finish(&mut lab.command(args)).exits(0).stdout;
    let plain = shown(&["vary", "lexical_shuffle", "--instruction", "Convert the rows into records."]);
    assert!(plain.contains("Into records, convert the rows."), "{plain}");
    let set = shown(&[
        "vary",
        "synonym_substitution",
        "--instruction",
        "Sort the row.",
        "--params",
        "{whitelist: [row]}",
    ]);
    assert!(set.contains("Sort the record."), "{set}");
}
