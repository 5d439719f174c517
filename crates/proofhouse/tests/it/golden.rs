//! Runs that earlier versions wrote are read, verified and compared by this one, and the same suite still gives their
//! records to the byte. One folder per version of the record format; a released one is never changed.

use crate::lab::Lab;

const VERSIONS: [&str; 1] = ["v1"];

fn copy(lab: &Lab, version: &str) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let run = ["config.resolved.yaml", "manifest.json", "records.jsonl", "summary.json"]
        .map(|name| format!("run/{name}"));
    for name in
        ["suite.yaml", "cases.jsonl", "run.run.json"].into_iter().chain(run.iter().map(String::as_str))
    {
        lab.write(name, std::fs::read(format!("{root}/{version}/{name}")).unwrap());
    }
}

#[test]
fn runs_of_every_version_verify_and_compare() {
    for version in VERSIONS {
        let lab = Lab::new();
        copy(&lab, version);
        lab.run("verify run").exits(0);
        lab.run("diff run run --fail-on-changes").exits(0);
        lab.run("report run").exits(0);
        lab.run("verify run").exits(0);
    }
}

#[test]
fn the_same_suite_still_gives_the_same_records() {
    let lab = Lab::new();
    copy(&lab, VERSIONS[VERSIONS.len() - 1]);
    lab.run("run suite.yaml --run-dir again --quiet").exits(0);
    for name in ["records.jsonl", "summary.json", "config.resolved.yaml"] {
        assert_eq!(lab.read(&format!("again/{name}")), lab.read(&format!("run/{name}")), "{name}");
    }
}
