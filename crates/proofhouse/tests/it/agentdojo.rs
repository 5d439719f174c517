//! AgentDojo beside our own verdicts: its tools in a box for every trial, its ground truth as the script, and the same verdicts as it
//! gives in one process.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::lab::Lab;

/// Every how many-th pair is tried: all of them where `PROOFHOUSE_AGENTDOJO_STEP` says 1.
fn step() -> String {
    #[expect(clippy::disallowed_methods, reason = "only the tests know how much of it is tried")]
    std::env::var("PROOFHOUSE_AGENTDOJO_STEP").unwrap_or_else(|_| "40".to_owned())
}

#[test]
fn conformance_agentdojo_is_judged_as_it_judges_itself() {
    #[expect(clippy::disallowed_methods, reason = "only the tests know where conformance data is")]
    let data = std::env::var("PROOFHOUSE_CONFORMANCE_DATA");
    if data.is_err() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let tool = |words: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "the other harness is a program of its own")]
        let output = Command::new(root.join("tools/agentdojo")).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let told = tool(&["verdicts", &step()]);
    let verdicts: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let folders = tool(&["folders"]);
    let (folders, venv) = (folders.trim(), folders.trim().split(", ").next().unwrap());
    let lab = Lab::new();
    let cases: Vec<String> = verdicts.iter().map(|verdict| verdict["case"].to_string()).collect();
    lab.write("c.jsonl", cases.join("\n"));
    lab.write("dojo_server.py", std::fs::read_to_string(root.join("tools/dojo_server.py")).unwrap());
    lab.write(
        "s.yaml",
        format!(
            "kind: containment\nsuite_id: agentdojo\ndatasets: [c.jsonl]\nvariants: {{naive: {{}}}}\n\
             tools: {{server: [{venv}/bin/python, dojo_server.py, serve], files: [dojo_server.py], read: [{folders}], timeout_ms: 120000, \
             state: {{tool: verdict, answer: answer}}}}\n\
             policy: {{forbidden: [], allowed: [], deny_by_default: false}}\n"
        ),
    );
    lab.run("run s.yaml --run-dir run --jobs 2 --skip-report");
    let records = lab.records("run");
    assert_eq!(records.len(), verdicts.len());
    let (mut differ, mut succeeded) = (Vec::new(), 0);
    for (record, verdict) in records.iter().zip(&verdicts) {
        let leaked = record["actual_outcome"] == "leaked";
        let assessed = leaked || record["actual_outcome"] == "contained";
        let ours = (record["task_done"].as_bool(), assessed.then_some(leaked));
        let theirs = (verdict["utility"].as_bool(), verdict["security"].as_bool());
        succeeded += u32::from(leaked);
        if ours != theirs {
            differ
                .push(format!("{}: {ours:?}, agentdojo {theirs:?}: {}", record["case_id"], record["error"]));
        }
    }
    eprintln!("agentdojo: {} pairs, {succeeded} attacks succeeded", verdicts.len());
    assert!(verdicts.len() >= 10 && succeeded > 0);
    assert!(differ.is_empty(), "{} of {}:\n{}", differ.len(), verdicts.len(), differ.join("\n"));
}
