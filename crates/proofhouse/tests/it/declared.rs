//! What a sandbox does not hold is said in the same words wherever somebody might look: doctor, manifest, report, envelope, records.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lab::Lab;

const SUITE: &str = "kind: robustness\nsuite_id: declared\ntargets:\n  shell: {command: {argv: [echo, '{instruction}'], \
     outcome: [{stdout: hello, success: true}]}}\ncases: [{id: a, instruction: hello}]\n";

/// The sentences about one tier that the doctor prints.
fn doctor(lab: &Lab, tier: &str) -> BTreeSet<String> {
    let said = lab.tools(&format!("doctor --sandbox {tier}")).exits(0);
    let prefix = format!("gap of {tier}: ");
    let sentence = |line: &str| Some(line.strip_prefix(&prefix)?.split_once("  ")?.1.trim().to_owned());
    said.stdout.lines().filter_map(sentence).collect()
}

fn sentences(value: &Value) -> BTreeSet<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The sentences of the report, as a reader sees them.
fn report(page: &str) -> BTreeSet<String> {
    let parts = page.split("<dt>The sandbox does not hold</dt><dd>").skip(1);
    parts.map(|part| part.split_once("</dd>").unwrap().0.to_owned()).collect()
}

#[test]
fn what_confined_does_not_hold_is_said_everywhere_in_the_same_words() {
    let lab = Lab::new();
    lab.write("suite.yaml", SUITE);
    let declared = doctor(&lab, "confined");
    assert!(declared.iter().any(|text| text.contains("size of the work directory")), "{declared:?}");
    for run in ["a", "b"] {
        lab.tools(&format!("run suite.yaml --sandbox confined --run-dir {run}")).exits(0);
    }
    assert_eq!(sentences(&lab.json("a/manifest.json")["sandbox"]["sandbox_does_not_hold"]), declared);
    assert_eq!(report(&lab.read("a/report.html")), declared);
    assert_eq!(sentences(&lab.json("a.run.json")["details"]["sandbox_does_not_hold"]), declared);
    // A record names those by which something gets through, in the same words.
    let records = lab.records("a");
    let ran: Vec<&Value> = records.iter().filter(|record| record["status"] == "success").collect();
    assert!(!ran.is_empty());
    for record in ran {
        let told = sentences(&record["sandbox_does_not_hold"]);
        assert!(told.is_subset(&declared), "{told:?}");
        for part in ["size of the work directory", "names of host files"] {
            assert!(told.iter().any(|text| text.contains(part)), "{part}: {told:?}");
        }
        let memory = |told: &BTreeSet<String>| told.iter().any(|text| text.contains("memory is not held"));
        assert_eq!(memory(&told), memory(&declared));
    }
    // The same suite under the same sandbox has the same bytes.
    assert_eq!(lab.run_files("a"), lab.run_files("b"));
    lab.tools("verify a").exits(0);
}

#[test]
fn a_record_under_a_sandbox_that_lets_nothing_through_says_nothing_of_it() {
    let lab = Lab::new();
    lab.write("suite.yaml", SUITE);
    let declared = doctor(&lab, "strong");
    lab.tools("run suite.yaml --sandbox strong --run-dir a").exits(0);
    assert_eq!(sentences(&lab.json("a/manifest.json")["sandbox"]["sandbox_does_not_hold"]), declared);
    assert_eq!(report(&lab.read("a/report.html")), declared);
    let told: BTreeSet<String> =
        declared.into_iter().filter(|text| !text.contains("a short peak may be missed")).collect();
    for record in lab.records("a").iter().filter(|record| record["status"] == "success") {
        assert_eq!(sentences(&record["sandbox_does_not_hold"]), told);
    }
}
