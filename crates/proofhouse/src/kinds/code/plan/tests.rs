//! The order of a plan with wordings.

use camino::Utf8Path;

use super::Item;
use crate::kinds::code::CodeBody;
use crate::kinds::load;
use crate::spine::plan;
use crate::spine::run::Job;
use crate::spine::run::job::SuiteBody as _;
use crate::spine::suite::Overrides;

const PROBLEMS: &str = concat!(
    r#"{"task_id":"sum","prompt":"/// Adds two numbers.\n/// Returns the sum.\nfn sum(a: i32, b: i32) -> i32 {\n","test":"t"}"#,
    "\n",
    r#"{"task_id":"one","prompt":"fn one() -> i32 {\n","test":"t"}"#,
    "\n",
);

const SUITE: &str = "kind: code\nsuite_id: s\nproblems: p.jsonl\nprompt: 'Complete: {prompt}'\nsamples: {file: s.jsonl}\nsamples_per_task: 2\n\
                     targets: {a: {scripted: {}}, b: {scripted: {}}}\n";

fn loaded(vary: &str) -> Job {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    for (name, text) in [
        ("p.jsonl", PROBLEMS),
        (
            "s.jsonl",
            "{\"task_id\":\"sum\",\"completion\":\"a\"}\n{\"task_id\":\"one\",\"completion\":\"b\"}\n",
        ),
        ("suite.yaml", &format!("{SUITE}{vary}")),
    ] {
        std::fs::write(root.join(name), text).unwrap();
    }
    let loaded = load(&root.join("suite.yaml"), &Overrides::default()).unwrap();
    // The plan reads the samples once more.
    std::mem::forget(folder);
    loaded
}

#[test]
fn task_wording_slot_and_repetition_in_this_order() {
    let plain = loaded("");
    let varied = loaded("vary: [{generator: whitespace_noise, count: 2}]\n");
    assert_eq!((plain.trial_count, varied.trial_count), (2 + 8, 2 + 24));
    let trials: Vec<_> = varied.trials().map(Result::unwrap).collect();
    assert_eq!(trials.len(), 26);
    assert!(trials.iter().zip(0..).all(|(trial, index)| trial.index == index));
    let place = |nth: usize| {
        let trial = &trials[nth];
        (&*trial.case_id, trial.variant_id.as_deref(), trial.slot, trial.repetition)
    };
    assert_eq!(place(0), ("sum", None, 0, 0), "lines of samples first");
    assert_eq!(place(2), ("sum", None, 1, 0), "then each task as it stands");
    assert_eq!(place(5), ("sum", None, 2, 1));
    assert_eq!(place(6), ("sum", Some("whitespace_noise_0001"), 1, 0));
    assert_eq!(place(13), ("sum", Some("whitespace_noise_0002"), 2, 1));
    assert_eq!(place(14), ("one", None, 1, 0));
    let ids: std::collections::BTreeSet<_> = trials.iter().map(|trial| trial.record_id).collect();
    assert_eq!(ids.len(), 26);
    // What stood in the plan without wordings is in it with them.
    for trial in plain.trials() {
        let trial = trial.unwrap();
        let same = trials.iter().find(|other| other.record_id == trial.record_id).unwrap();
        assert_eq!(same.input_fingerprint, trial.input_fingerprint);
    }
}

#[test]
fn what_is_asked_is_what_the_fingerprint_is_of() {
    let loaded = loaded("vary: [{generator: whitespace_noise, count: 1}]\n");
    let mut missing = 0;
    for planned in loaded.body_as::<CodeBody>().unwrap().plan(&loaded.suite) {
        let (trial, item) = planned.unwrap();
        match item {
            Item::Task(question) => {
                assert!(question.input.starts_with("Complete: "));
                assert_eq!(trial.input_fingerprint, proofhouse_ledger::Digest::of(question.input.as_bytes()));
            }
            Item::Missing(reason) => {
                assert_eq!((&*trial.case_id, &*reason, trial.missing), ("one", "no_prose", true));
                missing += 1;
            }
            Item::Sample(_) => {}
        }
    }
    assert_eq!(missing, 4, "one wording, two models, two samples");
    assert_eq!(plan::count_missing(loaded.trials()).unwrap(), 4);
}
