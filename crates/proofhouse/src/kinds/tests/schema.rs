//! The schema for editors: of one mind with the loader.

use super::{GOOD, Lab, Overrides, WITH_DATA, load};
use crate::kinds::probe::Probe;
use crate::kinds::suite_schema as schema;

const FULL: &str = include_str!("full.yaml");

fn as_json(suite: &str) -> serde_json::Value {
    serde_saphyr::from_str(suite).unwrap()
}

#[test]
fn good_suites_are_valid() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for suite in [GOOD, WITH_DATA, FULL] {
        let errors: Vec<String> =
            validator.iter_errors(&as_json(suite)).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
    let row = "{\"task_id\":\"t\",\"question\":\"q\",\"answer\":\"a\"}\n";
    Lab::new(FULL).file("data/x.jsonl", row).loaded();
}

/// The suites that we ship load, and an editor finds nothing to mark in them.
#[test]
fn shipped_suites_are_good() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let folder = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    for name in ["quickstart.yaml", "quickstart-next.yaml"] {
        let path = folder.join(name);
        let errors: Vec<String> = validator
            .iter_errors(&as_json(&std::fs::read_to_string(&path).unwrap()))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
        let loaded = load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(
            loaded.body_as::<Probe>().unwrap().cases().filter(Result::is_ok).count() as u64,
            loaded.case_count,
            "{name}"
        );
    }
}

#[test]
fn bad_suites_are_not() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for (from, to) in [
        ("kind: probe", "kind: code"),
        ("suite_id: demo\n", ""),
        ("suite_id: demo", "suite_id: ../demo"),
        ("  exact: {equals: {}}", "  {}"),
        ("cases:", "repetition: 3\ncases:"),
        ("cases:", "repetitions: 0\ncases:"),
        ("cases:", "seed: 9007199254740993\ncases:"),
        ("cases:", "determinism: {strict_serialization: \"true\"}\ncases:"),
        ("cases:", "scoring: {threshold: 2}\ncases:"),
        ("cases:", "scoring: {weights: {exact: -1}}\ncases:"),
        ("cases:", "gate: {}\ncases:"),
        ("cases:", "datasets: [{path: x.jsonl, format: xml}]\ncases:"),
        ("cases:", "datasets: [{path: x.jsonl, sha256: abc}]\ncases:"),
        ("scripted:", "scriptd:"),
        ("{reply: \"4\"}", "{reply: \"4\", chance: 2}"),
        ("{reply: \"4\"}", "{fault: nothing}"),
    ] {
        let suite = GOOD.replace(from, to);
        assert!(!validator.is_valid(&as_json(&suite)), "{to}");
        assert!(Lab::new(&suite).load().is_err(), "{to}");
    }
}
