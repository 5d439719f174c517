//! Formats that runs of several kinds can be written in.

use super::lab::Lab;

#[test]
fn every_trial_is_a_test_case_of_junit() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir run --quiet").exits(0);
    lab.run("export run --format junit").exits(0).says("run.junit/junit.xml");
    let text = lab.read("run.junit/junit.xml");
    let records = lab.records("run");
    let failed = records.iter().filter(|record| record["passed"] == false).count();
    let errors = records.iter().filter(|record| record["status"] == "error").count();
    assert!(failed > 0 && errors > 0, "both are there to be told");
    let head = format!("tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\" skipped=\"0\"", records.len());
    assert!(text.contains(&format!("<testsuite name=\"small\" {head}>")), "{text}");
    assert_eq!(text.matches("<testcase ").count(), records.len());
    assert_eq!(text.matches("<failure ").count(), failed);
    assert!(text.contains("<testcase classname=\"small.two\" name=\"b #1\"><failure "), "{text}");
    assert!(text.contains("message=\"boom\"/></testcase>"), "{text}");
}

/// The golden runs are of every kind.
#[test]
fn runs_of_every_kind_can_be_written_as_junit() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1");
    for kind in ["probe", "code", "robustness", "containment"] {
        let lab = Lab::new();
        let run = format!("{golden}/{kind}/run");
        lab.run(&format!("export {run} --format junit --out out")).exits(0);
        let records = std::fs::read_to_string(format!("{run}/records.jsonl")).unwrap().lines().count();
        assert_eq!(lab.read("out/junit.xml").matches("<testcase ").count(), records, "{kind}");
    }
}

#[test]
fn runs_of_every_kind_can_be_written_as_rows_and_as_markdown() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v1");
    for kind in ["probe", "code", "robustness", "containment"] {
        let lab = Lab::new();
        let run = format!("{golden}/{kind}/run");
        for format in ["csv", "jsonl", "markdown"] {
            lab.run(&format!("export {run} --format {format} --out out")).exits(0);
        }
        let records = std::fs::read_to_string(format!("{run}/records.jsonl")).unwrap();
        let rows = lab.read("out/records.jsonl");
        assert_eq!(rows.lines().count(), records.lines().count(), "{kind}");
        let mut csv = csv::Reader::from_path(lab.path("out/records.csv")).unwrap();
        let titles = csv.headers().unwrap().clone();
        let place = |title: &str| titles.iter().position(|other| other == title).unwrap();
        for ((cells, row), record) in csv.records().zip(rows.lines()).zip(records.lines()) {
            let (cells, row): (_, serde_json::Value) = (cells.unwrap(), serde_json::from_str(row).unwrap());
            let record: serde_json::Value = serde_json::from_str(record).unwrap();
            for (title, field) in
                [("record_id", "record_id"), ("case_id", "case_id"), ("target", "slot"), ("status", "status")]
            {
                assert_eq!(
                    (&cells[place(title)], &row[title]),
                    (record[field].as_str().unwrap(), &record[field]),
                    "{kind}"
                );
            }
            assert_eq!(row["passed"], record["passed"], "{kind}");
            assert_eq!(
                &cells[place("passed")],
                record["passed"].as_bool().map_or(String::new(), |passed| passed.to_string())
            );
            assert_eq!(
                &cells[place("output")],
                row["output"].as_str().unwrap_or_default(),
                "{kind}: text of any length and shape"
            );
        }
        assert!(lab.read("out/report.md").starts_with("### "), "{kind}");
    }
}

#[test]
fn what_verify_refuses_is_not_exported_and_an_export_leaves_the_run_sound() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir run --quiet").exits(0);
    for format in ["csv", "jsonl", "parquet", "inspect", "markdown", "junit"] {
        lab.run(&format!("export run --format {format}")).exits(0);
    }
    lab.run("verify run").exits(0);
    let records = lab.read("run/records.jsonl").replacen("\"passed\":false", "\"passed\":true", 1);
    lab.write("run/records.jsonl", records);
    for format in ["csv", "jsonl", "parquet", "inspect", "markdown", "junit"] {
        lab.run(&format!("export run --format {format} --out other")).exits(7);
    }
    assert!(!lab.path("other").exists(), "nothing was begun");
}
