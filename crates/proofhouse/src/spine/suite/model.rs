//! A suite as the program uses it: every default applied, every name resolved.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, to_json};
use proofhouse_ledger::record::Kind;

use super::file::Gate;
use crate::family::target::{self, TargetConfig};

/// A checked suite: what all kinds have in common, and the settings that its kind adds.
#[derive(Debug, Clone)]
pub struct Suite {
    /// Its name in run directories.
    pub suite_id: String,
    /// A line for people.
    pub title: Option<String>,
    /// A paragraph for people.
    pub description: Option<String>,
    /// Where all randomness comes from.
    pub seed: u64,
    /// How long one trial may take.
    pub timeout_ms: u64,
    /// What makes runs comparable.
    pub determinism: Determinism,
    /// Systems under test by the name of their slot, in the order of the suite.
    pub targets: Vec<(String, TargetConfig)>,
    /// Every slot of the plan, in its order.
    pub slots: Vec<Slot>,
    /// What has to hold for exit code 0.
    pub gate: Option<Gate>,
    /// What it asks.
    pub kind: Kind,
    /// Every setting that its kind adds, as it took effect.
    pub own: Object,
}

/// What stands in one slot, for manifests and envelopes.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// The slot's name.
    pub name: String,
    /// Which kind of target, or what else stands there.
    pub kind: String,
    /// Its settings; secrets are never among them.
    pub config: Json,
}

impl Slot {
    /// What the envelope calls the model.
    pub fn model_id(&self) -> String {
        target::model_id(&self.kind, &self.config)
    }

    /// The slot of a target.
    pub(crate) fn of_target(name: &str, target: &TargetConfig) -> Slot {
        Slot {
            name: name.to_owned(),
            kind: target.kind_name().to_owned(),
            config: to_json(target).unwrap_or(Json::Null),
        }
    }
}

/// Determinism controls with their defaults applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Determinism {
    /// Whether what has no exact JSON form is refused.
    pub strict_serialization: bool,
    /// Whether host and wall-clock facts stay out of the run directory.
    pub deterministic_artifacts: bool,
}
