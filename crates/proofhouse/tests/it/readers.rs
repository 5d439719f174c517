//! What `export` writes, read by programs that nobody here wrote: DuckDB, pandas, Inspect, a validator of XML. `./test` installs them.

use std::process::Command;

use serde_json::Value;

use super::lab::{Lab, kept, variable};
use super::sample_run::HOSTILE;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1");
const KINDS: [&str; 4] = ["probe", "code", "robustness", "containment"];

/// What a reader says of a file of the lab, and whether it could read it; nothing where it is not installed and nobody insists.
pub(crate) fn read(lab: &Lab, args: &[&str]) -> Option<(bool, String)> {
    if !kept("readers").join("ready").exists() {
        assert!(variable("PROOFHOUSE_REQUIRE_READERS").is_none(), "tools/readers is not installed");
        eprintln!("SKIPPED: `tools/readers install` has not been run");
        return None;
    }
    #[expect(clippy::disallowed_methods, reason = "the test runs programs of others")]
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/readers"));
    let output = command.args(args).current_dir(lab.path("")).output().unwrap();
    let said = if output.status.success() { &output.stdout } else { &output.stderr };
    Some((output.status.success(), String::from_utf8_lossy(said).into_owned()))
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn duckdb_and_pandas_read_the_same_rows_from_every_format() {
    for kind in KINDS {
        let lab = Lab::new();
        for format in ["parquet", "csv", "jsonl"] {
            lab.run(&format!("export {GOLDEN}/{kind}/run --format {format} --out out")).exits(0);
        }
        let Some((whole, parquet)) = read(&lab, &["rows", "out/records.parquet"]) else { return };
        assert!(whole, "{kind}: {parquet}");
        let expected = rows(&lab.read("out/records.jsonl"));
        let found = rows(&parquet);
        assert_eq!(found.len(), expected.len(), "{kind}");
        for (found, expected) in found.iter().zip(&expected) {
            for (name, value) in expected.as_object().unwrap() {
                let same = match (value.as_f64(), found[name].as_f64()) {
                    (Some(one), Some(other)) => one.to_bits() == other.to_bits(),
                    _ => found[name] == *value,
                };
                assert!(same, "{kind}: {name}: {} is not {value}", found[name]);
            }
        }
        for file in ["out/records.csv", "out/records.jsonl"] {
            let (whole, said) = read(&lab, &["rows", file]).unwrap();
            assert!(whole, "{kind}: {file}: {said}");
            let outputs = |rows: &[Value]| -> Vec<Value> {
                rows.iter()
                    .map(|row| row["output"].clone())
                    .filter(|text| !text.is_null() && *text != "")
                    .collect()
            };
            assert_eq!(outputs(&rows(&said)).len(), outputs(&expected).len(), "{kind}: {file}");
        }
    }
}

#[test]
fn parquet_holds_nulls_hostile_texts_and_several_groups() {
    let lab = Lab::new();
    let cases: String = HOSTILE
        .iter()
        .enumerate()
        .map(|(at, (_, text))| {
            serde_json::json!({"id": format!("c{at}"), "input": text, "expected": text}).to_string() + "\n"
        })
        .chain(
            (0..60_000)
                .map(|at| format!("{{\"id\":\"n{at}\",\"input\":\"x{at}\",\"expected\":\"x{}\"}}\n", at % 7)),
        )
        .collect();
    lab.write("d.jsonl", cases);
    lab.write("s.yaml", "kind: probe\nsuite_id: s\ndatasets: [d.jsonl]\njudges: {same: {equals: {}}}\ntargets:\n  one: {scripted: {rules: [{contains: x3, fault: error, reply: boom}], otherwise: {reply: '{input}'}}}\n");
    lab.run("run s.yaml --run-dir run --quiet --skip-report").exits(0);
    lab.run("export run --format parquet --out out").exits(0);
    lab.run("export run --format jsonl --out out").exits(0);
    let Some((whole, said)) = read(&lab, &["rows", "out/records.parquet"]) else { return };
    assert!(whole, "{said}");
    let (found, expected) = (rows(&said), rows(&lab.read("out/records.jsonl")));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        for name in ["case_id", "status", "error", "passed", "input", "output", "why"] {
            assert_eq!(found[name], expected[name], "{name}");
        }
    }
}

#[test]
fn inspect_reads_a_log_for_each_target() {
    for kind in KINDS {
        let lab = Lab::new();
        let run = format!("{GOLDEN}/{kind}/run");
        let said = lab.run(&format!("export {run} --format inspect --out logs")).exits(0).stdout;
        let text = |name: &str| std::fs::read_to_string(format!("{run}/{name}")).unwrap();
        let records = rows(&text("records.jsonl"));
        let summary: Value = serde_json::from_str(&text("summary.json")).unwrap();
        let slots = summary["slots"].as_array().unwrap();
        assert_eq!(said.lines().count(), slots.len());
        for (file, slot) in said.lines().zip(slots) {
            let Some((whole, log)) = read(&lab, &["inspect", file]) else { return };
            assert!(whole, "{kind}: {log}");
            let log: Value = serde_json::from_str(&log).unwrap();
            let own: Vec<&Value> = records.iter().filter(|record| record["slot"] == slot["slot"]).collect();
            assert_eq!((log["status"].as_str(), &log["eval"]["model"]), (Some("success"), &slot["slot"]));
            let samples = log["samples"].as_array().unwrap();
            assert_eq!(samples.len(), own.len(), "{kind}");
            for (sample, record) in samples.iter().zip(&own) {
                assert_eq!(sample["metadata"]["record_id"], record["record_id"]);
                let verdict = match record["passed"].as_bool() {
                    Some(true) => Value::from("C"),
                    Some(false) => "I".into(),
                    None => Value::Null,
                };
                assert_eq!(sample["scores"]["passed"]["value"], verdict, "{kind}: {sample}");
                assert_eq!(sample["error"].is_null(), record["status"] == "success", "{kind}: {sample}");
            }
            let accuracy = &log["results"]["scores"][0]["metrics"]["accuracy"]["value"];
            assert_eq!(accuracy.as_f64(), slot["pass_rate"]["value"].as_f64(), "{kind}");
        }
    }
}

#[test]
fn junit_files_are_valid_by_their_schema() {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/junit.xsd");
    for kind in KINDS {
        let lab = Lab::new();
        lab.run(&format!("export {GOLDEN}/{kind}/run --format junit --out out")).exits(0);
        let Some((valid, said)) = read(&lab, &["xsd", schema, "out/junit.xml"]) else { return };
        assert!(valid, "{kind}: {said}");
        // A schema that accepts everything would show nothing.
        let broken = lab.read("out/junit.xml").replacen("classname=", "class=", 1);
        lab.write("broken.xml", broken);
        assert!(!read(&lab, &["xsd", schema, "broken.xml"]).unwrap().0, "{kind}");
    }
    let lab = Lab::new();
    let cases: String = HOSTILE
        .iter()
        .enumerate()
        .map(|(at, (_, text))| {
            serde_json::json!({"id": format!("{at} <&\"'>"), "input": text, "expected": "x"}).to_string()
                + "\n"
        })
        .collect();
    lab.write("d.jsonl", cases);
    lab.write("s.yaml", "kind: probe\nsuite_id: s\ndatasets: [d.jsonl]\njudges: {same: {equals: {}}}\ntargets:\n  one: {scripted: {otherwise: {reply: '{input}'}}}\n");
    lab.run("run s.yaml --run-dir run --quiet").exits(0);
    lab.run("export run --format junit --out out").exits(0);
    let (valid, said) = read(&lab, &["xsd", schema, "out/junit.xml"]).unwrap();
    assert!(valid, "{said}");
}
