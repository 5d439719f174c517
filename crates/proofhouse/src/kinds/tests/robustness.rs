//! Robustness suites: the schemas of its modes as written, and every rule of them with its place.

use proofhouse_ledger::record::Mode;
use std::sync::Arc;

use super::{Lab, Overrides};
use crate::kinds::robustness::PolicyName;
use crate::kinds::robustness::RobustnessBody;
use crate::kinds::robustness::RobustnessFlags;
use crate::kinds::suite_schema as schema;
use crate::spine::run::Job;

const BASELINE: &str = r#"suite_id: baseline_v1
mode: baseline

runs: 10
timeout_seconds: 60
repair_enabled: true
debug_enabled: true

cases:
  - id: one
    instruction: >
      Compile a list of email patterns into regex objects.

  - id: two
    instruction: "Design a cache.\n"
    runs: 4
    timeout_seconds: 5
"#;

const ADVERSARIAL: &str = r#"suite_id: adversarial_v1
category: adversarial
runs_per_variant: 3
base_case: one

cases:
  - id: spaces
    base_instruction: "Compile a list of email patterns into regex objects."
    variants:
      - generator: whitespace_noise
        params:
          count: 3
          intensity_min: 0.05
          intensity_max: 0.35
          seed: 1337
      - generator: synonym_substitution
        params: {max_replacements: 5}
        count: 2
        seed: 9
"#;

const STRESS: &str = r#"suite_id: stress_v1
mode: stress
runs_per_variant: 5

cases:
  - id: cache
    base_instruction: "Design a simple in-memory cache with get and set operations."
    stress_ladder:
      - level: 1
        generator: add_scope_detail
        params:
          additions:
            - "Support checking if a key exists."
          seed: 2101
      - level: 2
        generator: add_ambiguity
        params:
          additions:
            - "where appropriate"
"#;

const TOOL: &str = "targets:\n  tool:\n    command:\n      argv: [tool, \"{instruction}\"]\n      outcome: [{exit_code: 0, success: true}]\n";

fn body(job: &Job) -> &RobustnessBody {
    job.body_as().expect("a robustness suite")
}

#[test]
fn the_three_schemas_load_as_written() {
    let loaded = Lab::new(BASELINE).loaded();
    let cases = &body(&loaded).cases;
    assert_eq!(cases[0].instruction, "Compile a list of email patterns into regex objects.");
    assert!(cases[0].newline_removed, "a block's own newline is no part of the instruction");
    assert_eq!((cases[1].instruction.as_str(), cases[1].newline_removed), ("Design a cache.\n", false));
    assert_eq!((cases[0].base_runs, cases[1].base_runs), (Some(10), Some(4)));
    assert_eq!((cases[0].timeout_ms, cases[1].timeout_ms), (60_000, 5_000));
    assert_eq!(body(&loaded).trial_count(1), 14);

    let loaded = Lab::new(ADVERSARIAL).loaded();
    let case = &body(&loaded).cases[0];
    let ids: Vec<&str> = case.variants.iter().map(|variant| &*variant.id).collect();
    assert_eq!(
        ids,
        [
            "whitespace_noise_0001",
            "whitespace_noise_0002",
            "whitespace_noise_0003",
            "synonym_substitution_0001",
            "synonym_substitution_0002"
        ]
    );
    assert_eq!((case.asked[0].seed, case.asked[1].seed, case.asked[1].count), (1337, 9, 2));
    assert_eq!(body(&loaded).trial_count(1), 22 + 5 * 3);

    let loaded = Lab::new(STRESS).loaded();
    let case = &body(&loaded).cases[0];
    assert_eq!(case.base_runs, None, "a ladder needs no baseline");
    assert!(case.variants.iter().all(|variant| variant.mode == Mode::Stress));
    assert_eq!(
        case.variants[1].instruction,
        "Design a simple in-memory cache with get and set operations, where appropriate."
    );
    let seed = Overrides {
        own: vec![Arc::new(RobustnessFlags { policy: Some(PolicyName::Seed), target: None })],
        ..Overrides::default()
    };
    let loaded = Lab::new(STRESS).load_with(&seed).unwrap();
    assert_eq!(body(&loaded).trial_count(1), 10, "`policy: seed` runs a level at most five times");
}

#[test]
fn generators_are_part_of_the_identity() {
    let id = |suite: &str| Lab::new(suite).loaded().identity();
    let base = id(ADVERSARIAL);
    for (from, to) in [
        ("seed: 1337", "seed: 1338"),
        ("count: 3", "count: 4"),
        ("intensity_max: 0.35", "intensity_max: 0.3"),
        ("runs_per_variant: 3", "runs_per_variant: 4"),
        ("base_case: one", "debug_enabled: true"),
        ("patterns into", "patterns to"),
    ] {
        assert_ne!(id(&ADVERSARIAL.replace(from, to)), base, "{from}");
    }
    assert_eq!(id(&ADVERSARIAL.replace("category:", "mode:")), base, "two words for one thing");
    assert_eq!(id(&format!("title: other\n{ADVERSARIAL}")), base);
}

/// Suite, what is changed in it, where the message stands, and what it says.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    (
        ADVERSARIAL,
        "category: adversarial",
        "category: adversarial\nmode: stress",
        "suite.yaml:2:11: `category: adversarial` disagrees with `mode: stress`",
    ),
    (
        ADVERSARIAL,
        "        params: {max_replacements: 5}\n        count: 2",
        "        params: {max_replacements: 5, count: 3}\n        count: 2",
        "suite.yaml:18:16: `count` is 2 here and 3 in `params`",
    ),
    (
        ADVERSARIAL,
        "          intensity_max: 0.35",
        "          intensity_max: 1.5",
        "suite.yaml:11:9: `intensity_max` is 1.5",
    ),
    (
        ADVERSARIAL,
        "          intensity_min: 0.05",
        "          intensity_min: 0.5",
        "suite.yaml:11:9: `intensity_min` (0.5) is greater than `intensity_max` (0.35)",
    ),
    (
        ADVERSARIAL,
        "        count: 2",
        "        intensity_min: 2",
        "suite.yaml:18:24: expected a number from 0 to 1",
    ),
    (
        ADVERSARIAL,
        "          count: 3",
        "          count: 0",
        "suite.yaml:12:18: expected a whole number from 1 to 10000, found `0`",
    ),
    (
        ADVERSARIAL,
        "generator: whitespace_noise",
        "generator: whitespace_nois",
        "suite.yaml:10:20: no generator is named `whitespace_nois`",
    ),
    (ADVERSARIAL, "intensity_min: 0.05", "intensity: 0.05", "suite.yaml:13:22: unknown field `intensity`"),
    (
        ADVERSARIAL,
        "    base_instruction: \"Compile a list of email patterns into regex objects.\"\n",
        "",
        "suite.yaml:7:5: missing key `base_instruction`",
    ),
    (
        ADVERSARIAL,
        "Compile a list of email patterns into regex objects.",
        "  ",
        "suite.yaml:8:23: the instruction is empty",
    ),
    (
        ADVERSARIAL,
        "regex objects.",
        "regex objects and validate them.",
        "suite.yaml:8:23: the instruction mentions `validate`, which belongs to the harness",
    ),
    (
        ADVERSARIAL,
        "category: adversarial",
        "category: baseline",
        "suite.yaml:9:5: `variants` has no place in a suite with `mode: baseline`",
    ),
    (ADVERSARIAL, "    variants:", "    stress_ladder:", "suite.yaml:10:9: "),
    (ADVERSARIAL, "runs_per_variant: 3", "policy: sometimes", "suite.yaml:3:9: "),
    (
        ADVERSARIAL,
        "runs_per_variant: 3",
        "runs_per_varian: 3",
        "suite.yaml:3:1: unknown key `runs_per_varian`",
    ),
    (ADVERSARIAL, "  - id: spaces", "  - id: ../spaces", "suite.yaml:7:9: "),
    (BASELINE, "  - id: two", "  - id: one", "suite.yaml:14:9: duplicate id `one`"),
    (BASELINE, "runs: 10", "runs: 0", "suite.yaml:4:7: "),
    (BASELINE, "timeout_seconds: 60", "timeout_seconds: soon", "suite.yaml:5:18: "),
    (
        BASELINE,
        "    runs: 4",
        "    base_instruction: x",
        "suite.yaml:16:23: `base_instruction` differs from `instruction`",
    ),
    (
        BASELINE,
        "mode: baseline",
        "mode: baseline\nsmall: [{id: three, instruction: x}]",
        "suite.yaml:3:1: `small` belongs to suites with `mode: canonical`",
    ),
    (STRESS, "level: 2", "level: 1", "suite.yaml:15:16: level 1 does not come after level 1"),
    (
        STRESS,
        "\"Support checking if a key exists.\"",
        "\"Prefer performance of reads.\"",
        "suite.yaml:13:15: the instruction mentions `performance`, which belongs to the harness",
    ),
    (
        STRESS,
        "generator: add_ambiguity",
        "generator: ai_rewrite",
        "suite.yaml:18:11: unknown field `additions`",
    ),
    (
        STRESS,
        "            - \"where appropriate\"",
        "            - \"where appropriate\"\n          cumulative: true",
        "suite.yaml:20:23: a rung is one instruction",
    ),
    (
        STRESS,
        "    stress_ladder:",
        "    allow_terms: [x]\n    stress_ladder:\n      - {level: 9, generator: add_scope_detail, params: {additions: [More.]}}",
        "suite.yaml:11:16: level 1 does not come after level 9",
    ),
];

#[test]
fn every_rule_has_its_error_with_file_and_line() {
    for (suite, from, to, expected) in MISTAKES {
        assert!(suite.contains(from), "{from}");
        let message = Lab::new(&suite.replacen(from, to, 1)).refused();
        assert!(message.contains(expected), "{to}:\nexpected {expected}\n{message}");
        assert!(message.contains("hint: ") || !message.contains("belongs"), "{message}");
    }
}

#[test]
fn a_base_case_exists_and_matches() {
    Lab::new(ADVERSARIAL).file("baseline.yaml", BASELINE).loaded();
    let unknown =
        Lab::new(&ADVERSARIAL.replace("base_case: one", "base_case: three")).file("baseline.yaml", BASELINE);
    assert!(
        unknown.refused().contains("suite.yaml:4:12: `baseline.yaml` has no case `three`"),
        "{}",
        unknown.refused()
    );
    let other =
        Lab::new(&ADVERSARIAL.replace("base_case: one", "base_case: two")).file("baseline.yaml", BASELINE);
    assert!(
        other.refused().contains("the instruction of `two` in `baseline.yaml` is another one"),
        "{}",
        other.refused()
    );
    let missing = Lab::new(&format!("baseline: elsewhere.yaml\n{ADVERSARIAL}"));
    assert!(missing.refused().contains("suite.yaml:1:11: `elsewhere.yaml`"), "{}", missing.refused());
}

#[test]
fn allowed_terms_are_recorded() {
    let suite = STRESS
        .replace("\"Support checking if a key exists.\"", "\"Prefer performance of reads.\"")
        .replace("    stress_ladder:", "    allow_terms: [performance]\n    stress_ladder:");
    let loaded = Lab::new(&suite).loaded();
    assert!(loaded.resolved().to_string().contains("\"allow_terms\":[\"performance\"]"));
}

#[test]
fn what_no_tool_can_receive_is_refused() {
    let tool = |instruction: &str| {
        Lab::new(&format!(
            "suite_id: x\nmode: baseline\ncases: [{{id: a, instruction: {instruction}}}]\n{TOOL}"
        ))
    };
    assert!(tool("\"a\\0b\"").refused().contains(": the instruction holds a NUL character at byte 1"));
    let long = tool(&format!("\"{}\"", "x".repeat(131_072)));
    assert!(long.refused().contains("an argument of 131072 bytes"), "{}", &long.refused()[..200]);
    tool(&format!("\"{}\"", "x".repeat(131_071))).loaded();
}

#[test]
fn tools_are_commands_and_can_hear_the_switches() {
    let suite = |extra: &str| format!("{BASELINE}\n{TOOL}{extra}");
    Lab::new(&suite("")).loaded();
    let deaf = Lab::new(&suite("").replace("repair_enabled: true", "repair_enabled: false"));
    assert!(
        deaf.refused().contains("suite.yaml:6:17: `repair_enabled: false` cannot reach the target `tool`"),
        "{}",
        deaf.refused()
    );
    let model =
        Lab::new(&format!("{BASELINE}\ntargets: {{model: {{scripted: {{otherwise: {{reply: x}}}}}}}}\n"));
    assert!(model.refused().contains("`model` is not a tool"), "{}", model.refused());
    let rule = Lab::new(&suite("").replace("exit_code: 0, success: true", "exit_code: 0, attempts: many"));
    assert!(rule.refused().contains("expected a whole number"), "{}", rule.refused());
    let folder =
        Lab::new(&suite("      workdir: files\n")).file("files/a/b.txt", "content").file("files/run.sh", "");
    let loaded = folder.loaded();
    let paths: Vec<&str> = body(&loaded).tools[0].files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a/b.txt", "run.sh"]);
    let gone = Lab::new(&suite("      workdir: files\n"));
    assert!(gone.refused().contains("`files`: "), "{}", gone.refused());
}

#[test]
fn targets_may_come_from_a_file() {
    let lab = Lab::new(BASELINE)
        .file("tools.yaml", TOOL.replace("targets:\n", "").replace("\n  ", "\n").trim_start());
    let overrides = Overrides {
        own: vec![Arc::new(RobustnessFlags {
            target: Some(lab.path("tools.yaml")),
            ..RobustnessFlags::default()
        })],
        files: vec![lab.path("tools.yaml")],
        ..Overrides::default()
    };
    assert_eq!(lab.load_with(&overrides).unwrap().suite.targets[0].0, "tool");
    let lab = lab.file("tools.yaml", "tool: {command: {argv: [x]}}\n");
    let message = lab.shown(&lab.load_with(&overrides).unwrap_err());
    assert!(
        message.contains("tools.yaml: target `tool`: expected `{instruction}` in one place"),
        "{message}"
    );
    let lab = lab.file("tools.yaml", "tool: [\n");
    assert!(lab.load_with(&overrides).is_err());
}

#[test]
fn the_schema_accepts_them() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for suite in [BASELINE, ADVERSARIAL, STRESS, include_str!("../robustness/init/robustness.yaml")] {
        let json: serde_json::Value = serde_saphyr::from_str(suite).unwrap();
        assert!(validator.is_valid(&json), "{suite}");
    }
}
