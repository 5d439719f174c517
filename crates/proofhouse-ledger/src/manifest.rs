//! `manifest.json`: what was run and what came of it, as digests and counts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope;
use crate::part::Part;
use crate::record::Kind;
use crate::{Digest, Json, RunId};

/// The version of the manifest format.
pub const SCHEMA_VERSION: &str = "1.0";

/// Where a manifest's `sandbox`, an envelope's `details` and a record say what their sandbox does not hold.
pub const SANDBOX_GAPS: &str = "sandbox_does_not_hold";

/// The manifest of a run directory. It holds nothing that differs between hosts unless deterministic artefacts are off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of this format.
    pub schema_version: String,
    /// The kind of suite.
    pub kind: Kind,
    /// 12 hexadecimal digits over suite content, seed, dataset digests and target configuration.
    pub run_id: RunId,
    /// The suite's name.
    pub suite_id: String,
    /// Of the suite file's raw bytes.
    pub suite_sha256: Digest,
    /// Of the suite's parsed content: the same for other line ends, comments and key order.
    pub suite_content_sha256: Digest,
    /// Each dataset file, in the suite's order.
    pub datasets: Vec<Dataset>,
    /// Each target with its settings; secrets are never among them.
    pub targets: Vec<Target>,
    /// The seed of everything random.
    pub seed: u64,
    /// SHA-256 over one line `record_id input_fingerprint` per planned trial.
    pub plan_sha256: Digest,
    /// Lines in `records.jsonl`.
    pub record_count: u64,
    /// Records by status; every status is listed.
    pub counts: BTreeMap<String, u64>,
    /// Equal to `sha256sum records.jsonl`.
    pub records_sha256: Digest,
    /// Root of the Merkle tree over each record's `record_sha256`.
    pub records_merkle_root: Digest,
    /// Equal to `sha256sum config.resolved.yaml`.
    pub config_sha256: Digest,
    /// Equal to `sha256sum summary.json`.
    pub summary_sha256: Digest,
    /// The version of proofhouse that wrote this.
    pub proofhouse_version: String,
    /// The price list that costs follow from: its digest, and for each slot the row that holds for it; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub prices: Option<Json>,
    /// Compilers and linters that took part in verdicts: name → version text.
    pub toolchains: BTreeMap<String, String>,
    /// Sandbox policy and limits, null where nothing was executed.
    #[schemars(with = "serde_json::Value")]
    pub sandbox: Json,
    /// On the time spine: before the first trial.
    pub started_at: String,
    /// On the time spine: after the last trial.
    pub completed_at: String,
    /// How this run's bytes were made reproducible.
    pub determinism: Determinism,
    /// Operating system and architecture; null in deterministic mode.
    pub platform: Option<String>,
    /// The command line; null in deterministic mode.
    pub command: Option<Vec<String>>,
    /// Which part of a plan the records are; absent where they are the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

/// A run directory that holds a part of a plan, to be merged with the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Trials of the whole plan.
    pub plan_count: u64,
    /// Digest of the whole plan: what `plan_sha256` is once all parts are merged.
    pub plan_sha256: Digest,
    /// Which part.
    pub part: Part,
}

/// A dataset file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// As the suite writes it.
    pub path: String,
    /// `jsonl`, `csv`, `json`, `yaml` or `toml`.
    pub format: String,
    /// `sha256:` and the digest of the file's bytes.
    pub dataset_hash: String,
    /// Rows in it.
    pub rows: u64,
}

impl Manifest {
    /// What its run's envelope says of the suite.
    pub fn suite_digests(&self) -> (Digest, Option<Digest>) {
        let digest = |dataset: &Dataset| dataset.dataset_hash.strip_prefix("sha256:")?.parse().ok();
        let datasets: Option<Vec<Digest>> = self.datasets.iter().map(digest).collect();
        envelope::suite_digests(self.kind, self.suite_sha256, &datasets.unwrap_or_default())
    }
}

/// A target under its slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Its unique name in the suite.
    pub slot: String,
    /// Which family member it is.
    pub kind: String,
    /// Its settings.
    #[schemars(with = "serde_json::Value")]
    pub config: Json,
}

/// The two switches of deterministic output, as they took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Determinism {
    /// What has no canonical form is refused.
    pub strict_serialization: bool,
    /// Host facts and wall times are null.
    pub deterministic_artifacts: bool,
}
