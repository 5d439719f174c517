//! HumanEval+ and MBPP+ beside EvalPlus itself: the same verdicts on reference solutions and on mutants of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use proofhouse::kinds::code::{Judge, Python, language_of, read_problems};
use serde_json::Value;

use crate::code::bench;

/// What EvalPlus says, where its environment and the data are there.
fn verdicts(file: &str, mutants: u32, step: u32) -> Option<(PathBuf, Vec<Value>)> {
    #[expect(clippy::disallowed_methods, reason = "only the tests know where conformance data is")]
    let data = std::env::var("PROOFHOUSE_CONFORMANCE_DATA").ok()?;
    let path = Path::new(&data).join("code").join(file);
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/evalplus");
    #[expect(clippy::disallowed_methods, reason = "the other harness is a program of its own")]
    let output = Command::new(tool)
        .args(["verdicts".as_ref(), path.as_os_str()])
        .args([mutants.to_string(), step.to_string()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    Some((path, lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()))
}

fn compare(file: &str, mutants: u32, step: u32) {
    let Some((path, verdicts)) = verdicts(file, mutants, step) else { return };
    let problems = read_problems(path.to_str().unwrap().into()).unwrap();
    assert_eq!(language_of(&problems).unwrap().as_str(), "python");
    let judge = Judge::new(bench(), Box::new(Python::find("python3".as_ref())), problems);
    let (mut differ, mut failed) = (Vec::new(), 0);
    for verdict in &verdicts {
        let text = |key: &str| verdict[key].as_str().unwrap();
        let judged = judge.judge_completion(text("task_id"), text("solution")).unwrap();
        let passed = verdict["passed"].as_bool().unwrap();
        failed += u32::from(!passed);
        if judged.passed() != passed {
            differ.push(format!("{} {}: evalplus {passed}, {judged:?}", text("task_id"), text("kind")));
        }
    }
    eprintln!("{file}: {} solutions, {failed} of them wrong", verdicts.len());
    assert!(verdicts.len() > 50 && failed > 10, "{} {failed}", verdicts.len());
    assert!(differ.is_empty(), "{} of {}:\n{}", differ.len(), verdicts.len(), differ.join("\n"));
}

#[test]
fn conformance_humaneval_plus_is_judged_as_evalplus_judges_it() {
    compare("humaneval_plus_dev.jsonl.gz", 3, 1);
}

#[test]
fn conformance_mbpp_plus_is_judged_as_evalplus_judges_it() {
    compare("mbpp_plus_dev.jsonl.gz", 2, 1);
}
