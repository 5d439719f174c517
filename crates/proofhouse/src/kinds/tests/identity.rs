//! What changes a run's identity, and what does not.

use proofhouse_ledger::Json;

use super::{GOOD, Lab, WITH_DATA};
use crate::spine::suite::{Overrides, yaml};

const ROW: &str = "{\"id\":\"a\",\"input\":\"1\"}\n";

fn identity(suite: &str) -> Json {
    Lab::new(suite).loaded().identity()
}

#[test]
fn what_cannot_change_a_record_is_not_identity() {
    let plain = identity(GOOD);
    for (from, to) in [
        ("cases:", "title: A\ndescription: B\ngate: {pass_rate: 0.5}\ncases:"),
        (
            "cases:",
            "seed: 0\nrepetitions: 1\ntimeout_ms: 60000\nprompt: '{input}'\nscoring: {threshold: 1, primary: exact}\ncases:",
        ),
        ("cases:", "determinism: {strict_serialization: true, deterministic_artifacts: null}\ncases:"),
        ("kind: probe\nsuite_id: demo", "# a comment\nsuite_id: demo\nkind: probe"),
        ("equals: {}", "equals: {ignore_case: false}"),
    ] {
        assert_eq!(identity(&GOOD.replace(from, to)), plain, "{to}");
    }
}

#[test]
fn what_can_change_a_record_is_identity() {
    let plain = identity(GOOD);
    for (from, to) in [
        ("demo", "other"),
        ("cases:", "seed: 1\ncases:"),
        ("cases:", "repetitions: 2\ncases:"),
        ("cases:", "timeout_ms: 1\ncases:"),
        ("cases:", "prompt: '{input}!'\ncases:"),
        ("cases:", "scoring: {threshold: 0.5}\ncases:"),
        ("cases:", "scoring: {weights: {exact: 2}}\ncases:"),
        ("cases:", "determinism: {strict_serialization: false}\ncases:"),
        ("equals: {}", "equals: {ignore_case: true}"),
        ("steady", "slow"),
        ("reply: \"4\"", "reply: \"5\""),
        ("id: add-1", "id: add-2"),
        ("expected: \"4\"", "expected: 4"),
    ] {
        assert_ne!(identity(&GOOD.replace(from, to)), plain, "{to}");
    }
    let lab = Lab::new(GOOD);
    for overrides in [
        Overrides { seed: Some(1), ..Overrides::default() },
        Overrides { limit: Some(1), ..Overrides::default() },
        Overrides { strict_serialization: Some(false), ..Overrides::default() },
    ] {
        assert_ne!(lab.load_with(&overrides).unwrap().identity(), plain, "{overrides:?}");
    }
}

#[test]
fn the_order_of_targets_is_the_order_of_the_plan() {
    let two = |first: &str, second: &str| {
        GOOD.replace(
            "  steady:\n    scripted: {otherwise: {reply: \"4\"}}\n",
            &format!("  {first}:\n    scripted: {{}}\n  {second}:\n    scripted: {{}}\n"),
        )
    };
    let (ab, ba) = (Lab::new(&two("a", "b")).loaded(), Lab::new(&two("b", "a")).loaded());
    assert_ne!(ab.identity(), ba.identity());
    assert_eq!(ab.suite_content_sha256, ba.suite_content_sha256);
    assert_eq!(ab.suite.targets[0].0, "a");
}

#[test]
fn a_dataset_is_its_bytes_and_not_its_path() {
    let here = Lab::new(WITH_DATA).file("data/x.jsonl", ROW).loaded();
    let there = Lab::new(&WITH_DATA.replace("data/x.jsonl", "y.jsonl")).file("y.jsonl", ROW).loaded();
    assert_eq!(here.identity(), there.identity());
    assert_ne!(here.resolved(), there.resolved());
    let changed = Lab::new(WITH_DATA).file("data/x.jsonl", format!("{ROW}\n")).loaded();
    assert_ne!(here.identity(), changed.identity());
    let pinned = format!("{WITH_DATA}    format: jsonl\n    sha256: {}\n", here.datasets[0].sha256);
    assert_eq!(Lab::new(&pinned).file("data/x.jsonl", ROW).loaded().identity(), here.identity());
}

#[test]
fn content_is_equal_for_other_line_ends_comments_and_orders() {
    let unix = Lab::new(GOOD).loaded();
    let reordered = GOOD.replace("kind: probe\nsuite_id: demo", "# why\nsuite_id: \"demo\"\nkind:   probe");
    for other in [GOOD.replace('\n', "\r\n"), format!("\u{feff}{GOOD}"), reordered] {
        let other = Lab::new(&other).loaded();
        assert_eq!(other.suite_content_sha256, unix.suite_content_sha256);
        assert_ne!(other.suite_sha256, unix.suite_sha256);
    }
    let titled = Lab::new(&GOOD.replace("cases:", "title: A\ncases:")).loaded();
    assert_ne!(titled.suite_content_sha256, unix.suite_content_sha256);
}

#[test]
fn resolved_configuration() {
    let suite = format!("{GOOD}datasets: [{{path: d.jsonl, fields: {{id: name}}}}]\ntitle: A demo\n");
    let loaded =
        Lab::new(&suite).file("d.jsonl", "{\"name\":\"a\",\"input\":\"1\",\"expected\":2}\n").loaded();
    insta::assert_snapshot!(yaml::emit(&loaded.resolved()), @r#"
    case_count: 2
    cases:
      - expected: "4"
        id: "add-1"
        input: "2 + 2"
    datasets:
      - fields:
          id: "name"
        format: "jsonl"
        path: "d.jsonl"
        rows: 1
        sha256: "sha256:a33fc48e614e8f981d9faddd59df6ebd5dbff534bf895525c44d615483691596"
    description: null
    determinism:
      deterministic_artifacts: true
      strict_serialization: true
    gate: null
    judges:
      - equals:
          collapse_whitespace: false
          ignore_case: false
          ignore_punctuation: false
          trim: true
          value: null
        name: "exact"
    kind: "probe"
    limit: null
    prompt: "{input}"
    repetitions: 1
    schema_version: "1.0"
    scoring:
      primary: "exact"
      threshold: 1
      weights:
        exact: 1
    seed: 0
    suite_id: "demo"
    targets:
      - scripted:
          answers: {}
          latency_ms: 0
          otherwise:
            chance: 1
            ignore_case: false
            reply: "4"
          rules: []
        slot: "steady"
    timeout_ms: 60000
    title: "A demo"
    "#);
}

#[test]
fn identity_in_full() {
    let loaded = Lab::new(WITH_DATA).file("data/x.jsonl", ROW).loaded();
    insta::assert_snapshot!(yaml::emit(&loaded.identity()), @r#"
    cases: []
    datasets:
      - fields: {}
        format: "jsonl"
        sha256: "sha256:f1d6ea1794b5caa4daadb64dc02a8abdf81e19908cf92944feddba70a12ec4e4"
    determinism:
      deterministic_artifacts: true
      strict_serialization: true
    identity_version: 1
    judges:
      - equals:
          collapse_whitespace: false
          ignore_case: false
          ignore_punctuation: false
          trim: true
          value: "4"
        name: "exact"
    kind: "probe"
    prompt: "{input}"
    repetitions: 1
    scoring:
      primary: "exact"
      threshold: 1
      weights:
        exact: 1
    seed: 0
    suite_id: "demo"
    targets:
      - scripted:
          answers: {}
          latency_ms: 0
          otherwise:
            chance: 1
            ignore_case: false
            reply: "4"
          rules: []
        slot: "steady"
    timeout_ms: 60000
    "#);
}
