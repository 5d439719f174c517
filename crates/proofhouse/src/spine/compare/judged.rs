//! Whether two runs were judged alike: what differs in their judges, thresholds, policies and versions.

use std::collections::BTreeSet;

use proofhouse_ledger::files;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::{Json, RunPaths};

/// How many places are named.
const MOST_PLACES: usize = 4;

/// Settings that decide what a verdict is.
const JUDGING: [&str; 14] = [
    "judges",
    "scoring",
    "agreement",
    "policy",
    "canaries",
    "lane1",
    "limits",
    "tools",
    "clippy",
    "unsafe",
    "edition",
    "crates",
    "count_tasks",
    "measure",
];

/// What does so within a case or a target.
const JUDGING_WITHIN: [&str; 7] =
    ["judges", "expected", "leak_patterns", "policy", "outcome", "task_judge", "attack_judge"];

/// What a run says of how it was judged.
pub(super) struct Judged {
    config: Json,
    manifest: Option<Manifest>,
}

impl Judged {
    /// Of a run; what cannot be read says nothing.
    pub(super) fn read(config: Json, paths: &RunPaths) -> Self {
        let manifest = files::read(&paths.manifest()).ok();
        Self { config, manifest: manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok()) }
    }

    /// What of it is otherwise in another run, in words; nothing where both were judged alike.
    pub(super) fn otherwise(&self, other: &Self) -> Option<String> {
        let mut found = Vec::new();
        let places = judging_places(&self.config, &other.config);
        if !places.is_empty() {
            found.push(named(places));
        }
        if let (Some(one), Some(two)) = (&self.manifest, &other.manifest) {
            let mut differ = |what: &str, one: &str, two: &str| {
                if one != two {
                    found.push(format!("{what}{one} and {two}"));
                }
            };
            differ("proofhouse ", &one.proofhouse_version, &two.proofhouse_version);
            let names: BTreeSet<&String> = one.toolchains.keys().chain(two.toolchains.keys()).collect();
            for name in names {
                let version =
                    |run: &Manifest| run.toolchains.get(name).cloned().unwrap_or_else(|| "none".to_owned());
                differ(&format!("{name} "), &version(one), &version(two));
            }
            let digests = |run: &Manifest| -> Vec<String> {
                run.datasets.iter().map(|dataset| dataset.dataset_hash.clone()).collect()
            };
            // Labelled answers are a dataset too, and judge no trial.
            let labelled = [self, other].iter().any(|run| run.config.get("calibration").is_some());
            if !labelled && digests(one) != digests(two) {
                found.push("the datasets, which may expect something else".to_owned());
            }
        }
        (!found.is_empty()).then(|| found.join("; "))
    }
}

/// Where two configurations differ in what decides about verdicts.
fn judging_places(a: &Json, b: &Json) -> Vec<String> {
    let (Json::Object(one), Json::Object(two)) = (a, b) else { return Vec::new() };
    let mut found = Vec::new();
    let value = |side: &Object, key: &str| side.get(key).cloned().unwrap_or_default();
    for key in JUDGING {
        places_that_differ(&value(one, key), &value(two, key), &mut format!("/{key}"), &mut found);
    }
    for key in ["cases", "targets"] {
        let mut places = Vec::new();
        places_that_differ(&value(one, key), &value(two, key), &mut format!("/{key}"), &mut places);
        let judges = |part: &str| {
            JUDGING_WITHIN.contains(&part) || part.starts_with("expected_") || part.starts_with("forbidden_")
        };
        found.extend(places.into_iter().filter(|place| place.split('/').any(judges)));
    }
    found
}

/// The pointers of what differs, down to single values; lists of another length differ as a whole.
pub(in crate::spine) fn places_that_differ(a: &Json, b: &Json, at: &mut String, places: &mut Vec<String>) {
    let mut into = |key: String, a: &Json, b: &Json| {
        let length = at.len();
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        places_that_differ(a, b, at, places);
        at.truncate(length);
    };
    match (a, b) {
        _ if a == b => {}
        (Json::Object(old), Json::Object(new)) => {
            let keys: BTreeSet<&str> = old.iter().chain(new.iter()).map(|(key, _)| key).collect();
            for key in keys {
                let value = |side: &Object| side.get(key).cloned().unwrap_or_default();
                into(key.to_owned(), &value(old), &value(new));
            }
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                into(index.to_string(), old, new);
            }
        }
        _ => places.push(at.clone()),
    }
}

/// The first of them, and how many more there are.
pub(in crate::spine) fn named(mut places: Vec<String>) -> String {
    let more = places.len().saturating_sub(MOST_PLACES);
    places.truncate(MOST_PLACES);
    let more = if more > 0 { format!(" and {more} more places") } else { String::new() };
    format!("{}{more}", places.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(config: &str) -> Judged {
        Judged { config: crate::text::yaml::read(config).unwrap(), manifest: None }
    }

    #[test]
    fn what_decides_about_verdicts_is_named_and_nothing_else() {
        let said = |a: &str, b: &str| judged(a).otherwise(&judged(b));
        let found = said(
            "judges: [{equals: {trim: true}, name: e}]\nscoring: {threshold: 0.6}\nseed: 1",
            "judges: [{equals: {trim: false}, name: e}]\nscoring: {threshold: 0.5}\nseed: 2",
        );
        assert_eq!(found.as_deref(), Some("/judges/0/equals/trim, /scoring/threshold"));
        let found = said(
            "policy: {forbidden: [exec]}\ntargets: [{slot: a, policy: null, target: x}]",
            "policy: {forbidden: []}\ntargets: [{slot: b, policy: {rules: []}, target: y}]",
        );
        assert_eq!(found.as_deref(), Some("/policy/forbidden, /targets/0/policy"));
        assert_eq!(
            said(
                "seed: 1\ntargets: [{slot: a}]\ncase_count: 3",
                "seed: 2\ntargets: [{slot: b}]\ncase_count: 4"
            ),
            None
        );
        let found =
            said("cases: [{id: x, expected: 1, input: a}]", "cases: [{id: x, expected: 2, input: b}]");
        assert_eq!(found.as_deref(), Some("/cases/0/expected"));
    }
}
