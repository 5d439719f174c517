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
