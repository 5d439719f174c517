//! Checks against public data that is not part of the project. They say so and pass where the data is not there.

use std::path::PathBuf;

use proofhouse::vary::contract;
use proofhouse_ledger::Json;

use crate::lab::Lab;

pub fn data(name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the data is named by whoever runs the tests")]
    let root = std::env::var_os("PROOFHOUSE_CONFORMANCE_DATA");
    let Some(root) = root else {
        eprintln!("skipped: PROOFHOUSE_CONFORMANCE_DATA is not set");
        return None;
    };
    Some(PathBuf::from(root).join(name))
}

/// Every text below `instruction`, `base_instruction` or `additions`.
fn instructions(value: &Json, under: bool, found: &mut Vec<String>) {
    match value {
        Json::String(text) if under => found.push(text.clone()),
        Json::Array(list) => list.iter().for_each(|item| instructions(item, under, found)),
        Json::Object(object) => {
            for (key, item) in object.iter() {
                let named = matches!(key, "instruction" | "base_instruction" | "additions");
                instructions(item, under || named, found);
            }
        }
        _ => {}
    }
}

#[test]
fn conformance_of_the_contract_lint() {
    let Some(root) = data("ironclad") else { return };
    let mut findings = Vec::new();
    for name in ["baseline.yaml", "adversarial.yaml", "stress.yaml", "canonical.yaml"] {
        let text = std::fs::read_to_string(root.join(name)).unwrap();
        let suite: Json = serde_saphyr::from_str(&text).unwrap();
        let mut texts = Vec::new();
        instructions(&suite, false, &mut texts);
        assert!(!texts.is_empty(), "{name} has instructions");
        for text in texts {
            findings.extend(contract::findings(&text, &[]).into_iter().map(|finding| (name, finding.term)));
        }
    }
    assert_eq!(findings, [("stress.yaml", "performance")]);
}

/// Real data sets load as they are, run, and verify.
#[test]
fn conformance_of_datasets_that_people_have() {
    let Some(root) = data("code") else { return };
    for (name, field, rows) in [
        ("humaneval_python_dev.jsonl", "prompt", 82),
        ("humanevalpack_rust_dev.jsonl", "prompt", 82),
        ("gpt4_rust_completions_dev.jsonl", "task_id", 78),
    ] {
        let lab = Lab::new();
        lab.write("suite.yaml", format!(
            "kind: probe\nsuite_id: real\nprompt: '{{{field}}}'\ndatasets: [{{path: {name}, fields: {{id: task_id}}}}]\n\
             judges: {{any: {{regex: {{pattern: '.'}}}}}}\ntargets: {{echo: {{scripted: {{otherwise: {{reply: '{{input}}'}}}}}}}}\n"
        ));
        lab.run(&format!("run suite.yaml --run-dir run --quiet --data-root {}", root.display())).exits(0);
        assert_eq!(lab.records("run").len(), rows, "{name}");
        assert!(lab.records("run").iter().all(|record| record["input"] == record["output"]), "{name}");
        lab.run("verify run").exits(0);
    }
}
