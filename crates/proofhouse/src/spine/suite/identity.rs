//! What a run is: the identity that `run_id` hashes, and the configuration that took effect.

use proofhouse_ledger::json::{Object, to_json};
use proofhouse_ledger::{Json, config};
use serde::Serialize;

use super::load::{DatasetFacts, Loaded};
use super::model::Slot;

impl Loaded {
    /// What makes this run what it is: [`config::identity`] of everything that took effect.
    ///
    /// Targets and judges are lists, because their order is the order of the plan and of the scores.
    pub fn identity(&self) -> Json {
        config::identity(&self.resolved())
    }

    /// Every setting that took effect: the content of `config.resolved.yaml`.
    pub fn resolved(&self) -> Json {
        let mut resolved = self.settings();
        resolved.set("schema_version", config::SCHEMA_VERSION);
        resolved.set("title", self.suite.title.clone());
        resolved.set("description", self.suite.description.clone());
        resolved.set("gate", json(&self.suite.gate));
        resolved.set("limit", json(&self.limit));
        resolved.set("case_count", json(&self.case_count));
        resolved.set("datasets", Json::Array(self.datasets.iter().map(dataset).collect()));
        if let Some(prices) = &self.prices {
            resolved.set("prices", prices.clone());
        }
        if let Some(origin) = &self.derived_from {
            resolved.set("derived_from", origin.clone());
        }
        Json::Object(resolved)
    }

    /// What both have in common.
    fn settings(&self) -> Object {
        let suite = &self.suite;
        let determinism = Object::from_iter([
            ("deterministic_artifacts", Json::from(suite.determinism.deterministic_artifacts)),
            ("strict_serialization", Json::from(suite.determinism.strict_serialization)),
        ]);
        let mut settings = Object::from_iter([
            ("determinism", Json::Object(determinism)),
            ("kind", Json::from(suite.kind.as_str())),
            ("seed", json(&suite.seed)),
            ("suite_id", Json::from(suite.suite_id.as_str())),
            ("targets", Json::Array(suite.slots.iter().map(slot).collect())),
            ("timeout_ms", json(&suite.timeout_ms)),
        ]);
        for (key, value) in suite.own.iter() {
            settings.set(key, value.clone());
        }
        settings
    }
}

/// `{slot: …, scripted: {…}}`
fn slot(slot: &Slot) -> Json {
    let mut entry = slot.config.as_object().cloned().unwrap_or_default();
    entry.set("slot", slot.name.as_str());
    Json::Object(entry)
}

fn dataset(facts: &DatasetFacts) -> Json {
    let mut dataset = Object::from_iter([
        ("fields", json(&facts.fields)),
        ("format", Json::from(facts.format.name())),
        ("path", Json::from(facts.path.as_str())),
        ("rows", json(&facts.rows)),
        ("sha256", Json::from(facts.sha256.prefixed())),
    ]);
    if let Some(condition) = &facts.chosen.condition {
        dataset.set("where", condition.as_str());
    }
    if let Some((count, seed)) = facts.chosen.sample {
        dataset.set("sample", Object::from_iter([("count", json(&count)), ("seed", json(&seed))]));
    }
    Json::Object(dataset)
}

/// A list of `{name: …, equals: {…}}`.
pub(crate) fn named<T: Serialize>(key: &str, members: &[(String, T)]) -> Json {
    let list = members.iter().map(|(name, config)| {
        let mut member = match json(config) {
            Json::Object(member) => member,
            other => Object::from_iter([("config", other)]),
        };
        member.set(key, name.as_str());
        Json::Object(member)
    });
    Json::Array(list.collect())
}

pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Json {
    to_json(value).expect("settings hold finite numbers, safe integers and text keys only")
}
