//! Checks against public data that is not part of the project. They say so and pass where the data is not there.

use std::path::PathBuf;

use proofhouse::family::target::Command;
use proofhouse::family::target::command::{Evidence, Reader};
use proofhouse::family::vary::contract;
use proofhouse::kinds::robustness::{Base, Finder, Policy, PolicyName, Terms, modal};
use proofhouse_ledger::Json;
use proofhouse_ledger::record::{FailureStage, Mode, Observed, Termination};
use proofhouse_ledger::summary::robustness::VariantVerdict;

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

/// Each line of the observed runs: what the tool printed, and how it is rightly read.
fn observed_runs() -> Option<Vec<serde_json::Value>> {
    let text = std::fs::read_to_string(data("ironclad")?.join("observed_runs.jsonl")).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn derived(run: &serde_json::Value) -> Observed {
    let derived = &run["derived"];
    let number = |key: &str| derived[key].as_u64().map(|number| number as u32);
    Observed {
        termination: Termination::Exited,
        success: derived["success"].as_bool().unwrap(),
        failure_stage: derived["failure_stage"].as_str().and_then(FailureStage::from_word),
        attempts: number("validation_cycles"),
        repairs_triggered: number("repairs"),
    }
}

#[test]
fn conformance_of_the_ironclad_preset() {
    let Some(runs) = observed_runs() else { return };
    let command: Command =
        serde_saphyr::from_str("argv: [python, -m, ironclad, '{instruction}']\npreset: ironclad\n").unwrap();
    assert_eq!(command.check(), []);
    let reader = Reader::new(&command).unwrap();
    assert!(runs.len() > 80);
    for run in &runs {
        let expected = derived(run);
        let seen = reader.read(&Evidence {
            termination: Termination::Exited,
            exit_code: Some(i32::from(!expected.success)),
            stdout: run["stdout"].as_str().unwrap(),
            stderr: "",
            files: &[],
            artefacts: &[],
        });
        assert_eq!(seen, expected, "{}", run["path"]);
    }
}

/// Variants that change nothing, drawn from real runs of one instruction: the statistical policy keeps calm, the rule of
/// thumb does not.
#[test]
fn conformance_of_policies_on_real_noise() {
    let Some(runs) = observed_runs() else { return };
    let pool: Vec<Observed> = runs
        .iter()
        .filter(|run| run["path"].as_str().unwrap().contains("/baseline_v1/compile_email_regex/"))
        .map(derived)
        .collect();
    assert!(pool.len() >= 15, "{}", pool.len());
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        pool[(state >> 33) as usize % pool.len()]
    };
    let policy = Policy {
        name: PolicyName::Evidence,
        base_runs: 10,
        variant_runs: 5,
        level: 0.8,
        compares: true,
        open: false,
    };
    let base_runs = std::collections::BTreeMap::from([("case".to_owned(), 10)]);
    let terms = Terms { policy: PolicyName::Evidence, level: 0.8, open: false, level_runs: 15, base_runs };
    let (mut structural, mut different, mut variants) = (0, 0, 0);
    for _ in 0..200 {
        let base = Base { outcomes: (0..10).map(|_| draw()).collect() };
        let (usual, _) = modal(&base.outcomes).unwrap();
        let mut finder = Finder::default();
        for outcome in &base.outcomes {
            finder.take(("tool", "case", None), Mode::Baseline, Some(*outcome), None);
        }
        for nth in 0..20 {
            let name = format!("noop_{nth:04}");
            let mut seen = Vec::new();
            loop {
                seen.push(Some(draw()));
                let stop = policy.after(Mode::Adversarial, &seen, &base);
                finder.take(
                    ("tool", "case", Some(&name)),
                    Mode::Adversarial,
                    seen[seen.len() - 1],
                    stop.as_ref(),
                );
                if stop.is_some() {
                    break;
                }
            }
            different += u32::from(seen[0] != Some(usual));
            variants += 1;
        }
        let found = finder.finish(&terms);
        structural +=
            found.variants.iter().filter(|variant| variant.verdict == VariantVerdict::Structural).count();
    }
    let share = |count: f64| count / f64::from(variants);
    assert!(share(structural as f64) <= 0.05, "{structural} of {variants}");
    assert!(
        (0.5..0.9).contains(&share(f64::from(different))),
        "the rule of thumb fires on {different} of {variants}"
    );
}

/// The suites as people have them: they load unedited, with the one finding.
#[test]
fn conformance_of_robustness_suites() {
    let Some(root) = data("ironclad") else { return };
    let lab = Lab::new();
    for (name, trials) in
        [("baseline", "30 trials"), ("adversarial", "608 trials"), ("canonical", "4 trials")]
    {
        lab.run(&format!("check {}/{name}.yaml", root.display())).exits(0).says(trials);
        lab.run(&format!("plan {}/{name}.yaml", root.display())).exits(0).says("policy:      evidence");
    }
    let refused = lab.run(&format!("check {}/stress.yaml", root.display())).exits(3);
    assert_eq!(refused.stderr.matches("belongs to the harness").count(), 1, "{}", refused.stderr);
    refused.says("stress.yaml:79:15: the instruction mentions `performance`");
}
