//! Runs that earlier versions wrote are read, verified and compared by this one, and the same suites still give their
//! records to the byte. One folder per version of the record format, in it one per kind; a released one is never changed.

use std::path::Path;

use crate::lab::Lab;

const VERSIONS: [&str; 1] = ["v1"];

/// Every kind, and what its run exits with: the gate of the code run is missed, and half of the probe run is not assessed.
const KINDS: [(&str, i32); 4] = [("probe", 9), ("code", 4), ("robustness", 0), ("containment", 0)];

fn copy(from: &Path, lab: &Lab, below: &str) {
    #[expect(clippy::disallowed_methods, reason = "the order of copies does not matter")]
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{below}{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => copy(&path, lab, &format!("{name}/")),
            false => drop(lab.write(&name, std::fs::read(&path).unwrap())),
        }
    }
}

pub fn golden(version: &str, kind: &str) -> Lab {
    let lab = Lab::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(version).join(kind), &lab, "");
    lab
}

#[test]
fn runs_of_every_version_verify_and_compare() {
    for (version, (kind, _)) in VERSIONS.into_iter().flat_map(|version| KINDS.map(|kind| (version, kind))) {
        let lab = golden(version, kind);
        lab.run("verify run").exits(0);
        lab.run("diff run run --fail-on-changes").exits(0);
        lab.run("report run").exits(0);
        lab.run("verify run").exits(0);
    }
}

fn the_same_suite_still_gives_the_same_records(kind: &str) {
    let (_, exit) = KINDS.into_iter().find(|(name, _)| *name == kind).unwrap();
    let lab = golden(VERSIONS[VERSIONS.len() - 1], kind);
    lab.tools("run suite.yaml --run-dir again --quiet --no-cache").exits(exit);
    for name in ["records.jsonl", "summary.json", "config.resolved.yaml"] {
        assert_eq!(lab.read(&format!("again/{name}")), lab.read(&format!("run/{name}")), "{kind}: {name}");
    }
}

#[test]
fn a_probe_suite_still_gives_the_same_records() {
    the_same_suite_still_gives_the_same_records("probe");
}

#[test]
fn a_code_suite_still_gives_the_same_records() {
    the_same_suite_still_gives_the_same_records("code");
}

#[test]
fn a_robustness_suite_still_gives_the_same_records() {
    the_same_suite_still_gives_the_same_records("robustness");
}

#[test]
fn a_containment_suite_still_gives_the_same_records() {
    the_same_suite_still_gives_the_same_records("containment");
}
