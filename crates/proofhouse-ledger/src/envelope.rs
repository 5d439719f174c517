//! The run envelope: the sidecar `D.run.json` that says who ran what, when, and how it ended.
//!
//! It is volatile by nature and therefore never inside the run directory. The first twenty fields are those of the
//! original proposal, by name; the rest is what an auditor asked for since.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::part::Part;
use crate::record::Kind;
use crate::{Digest, Json, RunId};

/// The version of the envelope format.
pub const SCHEMA_VERSION: &str = "1.1";

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It is still running, or it was killed and nobody has recovered it yet.
    InProgress,
    /// Every planned trial has its record.
    Normal,
    /// The run's deadline ended it, or it gave up on timeouts.
    Timeout,
    /// An error of ours or of the machine.
    Exception,
    /// A signal, or a process that vanished.
    ExternalKill,
}

/// The envelope. Fields that a rebuild cannot know are null there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// The version of this format.
    pub schema_version: String,
    /// What was run.
    pub run_id: RunId,
    /// This execution of it: a timestamp.
    pub run_instance_id: Option<String>,
    /// The suite.
    pub suite: String,
    /// The model, or `slot=model` for each of several.
    pub model_id: Option<String>,
    /// The kind of target, or one per slot.
    pub backend: Option<String>,
    /// The seed.
    pub seed: u64,
    /// `"1"`, `"2"`, `"auto"` or null.
    pub lane: Option<String>,
    /// The slots, in the suite's order.
    pub variant: Option<String>,
    /// The commit of the suite's repository.
    pub git_commit: Option<String>,
    /// Of the suite file's raw bytes; where `suite_file_sha256` is there, of the only file of cases.
    pub suite_sha256: Option<Digest>,
    /// Of the suite file's raw bytes, where `suite_sha256` is of the cases; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_file_sha256: Option<Digest>,
    /// Seconds.
    pub timeout_per_case: u64,
    /// Planned trials, after `--limit`.
    pub total_cases_expected: u64,
    /// Record lines on disk.
    pub total_cases_completed: u64,
    /// Wall clock.
    pub run_start_ts_utc: Option<String>,
    /// Wall clock; null while running.
    pub run_end_ts_utc: Option<String>,
    /// How it ended.
    pub exit_status: ExitStatus,
    /// Over the ordered outcomes: the same for two runs that came out the same. Null while running.
    pub determinism_hash: Option<Digest>,
    /// The records, relative to this file, with `/`.
    pub receipt_path: String,
    /// Equal to `sha256sum` of the records. Null while running.
    pub receipt_sha256: Option<Digest>,

    /// Of the suite's parsed content.
    pub suite_content_sha256: Option<Digest>,
    /// Equal to `sha256sum config.resolved.yaml`: every setting that took effect.
    pub spec_digest: Option<Digest>,
    /// Equal to `sha256sum manifest.json`: toolchains, sandbox and version cannot be edited apart. Null where there is none.
    #[serde(default)]
    pub manifest_sha256: Option<Digest>,
    /// Whether the suite's repository had uncommitted changes.
    pub git_dirty: Option<bool>,
    /// Of the proofhouse executable.
    pub tool_sha256: Option<Digest>,
    /// Trials that a judge could say something about.
    pub cases_assessed: u64,
    /// Trials without an answer in time.
    pub cases_timed_out: u64,
    /// Trials that failed for another reason than a wrong answer.
    pub cases_errored: u64,
    /// Answers that could not be read.
    pub cases_unparsed: u64,
    /// The sandbox tier reached; null where nothing was executed.
    pub sandbox_tier: Option<String>,
    /// Earlier instances that this one went on from.
    pub resumed_from: Vec<String>,
    /// The machine.
    pub host: Option<String>,
    /// The process.
    pub pid: Option<u32>,
    /// The boot of the machine, so that a pid can be told from its namesake.
    pub boot_id: Option<String>,
    /// What went wrong, for `exception`.
    pub error: Option<String>,
    /// Further facts of the kind, such as a lane's gate.
    #[schemars(with = "serde_json::Value")]
    pub details: Json,
}

/// Where an envelope's `details` say which part of a plan its run is.
pub const SHARD: &str = "shard";

/// Where the `details` of a merged run list its parts.
pub const SHARDS: &str = "shards";

/// Where they list the parts that were missing, whose trials are recorded as not run.
pub const MISSING_SHARDS: &str = "missing_shards";

/// What an envelope says of a suite: its `suite_sha256`, and `suite_file_sha256` where that is another one.
///
/// Receipts of containment runs have always named the file of cases by that digest, so it is meant where there is exactly one.
pub fn suite_digests(kind: Kind, file: Digest, datasets: &[Digest]) -> (Digest, Option<Digest>) {
    match (kind, datasets) {
        (Kind::Containment, [cases]) => (*cases, Some(file)),
        _ => (file, None),
    }
}

impl Envelope {
    /// The part of a plan that its run is; nothing for a whole one.
    pub fn part(&self) -> Option<Part> {
        self.details.get(SHARD)?.as_str()?.parse().ok()
    }

    /// Of how many parts its run was merged, and those that were missing; nothing for a run that was not.
    pub fn merged_from(&self) -> Option<(usize, Vec<Part>)> {
        let list = |name| match self.details.get(name) {
            Some(Json::Array(list)) => Some(list),
            _ => None,
        };
        let missing = list(MISSING_SHARDS).into_iter().flatten();
        let missing = missing.filter_map(|part| part.as_str()?.parse().ok()).collect();
        Some((list(SHARDS)?.len(), missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Strictness, parse};

    fn envelope(details: &str) -> Envelope {
        let any = Digest::of(b"any");
        let text = format!(
            r#"{{"schema_version":"1.1","run_id":"000000000000","run_instance_id":null,"suite":"s","model_id":null,"backend":null,
                "seed":7,"lane":null,"variant":null,"git_commit":null,"suite_sha256":"{any}","timeout_per_case":60,
                "total_cases_expected":1,"total_cases_completed":1,"run_start_ts_utc":null,"run_end_ts_utc":null,
                "exit_status":"normal","determinism_hash":null,"receipt_path":"run/records.jsonl","receipt_sha256":null,
                "suite_content_sha256":null,"spec_digest":null,"git_dirty":null,"tool_sha256":null,"cases_assessed":1,
                "cases_timed_out":0,"cases_errored":0,"cases_unparsed":0,"sandbox_tier":null,"resumed_from":[],"host":null,
                "pid":null,"boot_id":null,"error":null,"details":null}}"#
        );
        let whole: Envelope = serde_json::from_str(&text).unwrap();
        Envelope { details: parse(details.as_bytes(), Strictness::Strict).unwrap(), ..whole }
    }

    #[test]
    fn an_envelope_says_which_part_its_run_is_and_of_which_it_was_merged() {
        let part = |index, count| Part::new(index, count).unwrap();
        for (details, expected, merged) in [
            ("null", None, None),
            (r#"{"shard":"3/4"}"#, Some(part(3, 4)), None),
            (r#"{"shard":"4/4"}"#, None, None),
            (r#"{"shards":["0/2","1/2"]}"#, None, Some((2, vec![]))),
            (
                r#"{"missing_shards":["1/3",7,"x","2/3"],"shards":["0/3"]}"#,
                None,
                Some((1, vec![part(1, 3), part(2, 3)])),
            ),
            (r#"{"missing_shards":["1/3"]}"#, None, None),
        ] {
            let envelope = envelope(details);
            assert_eq!((envelope.part(), envelope.merged_from()), (expected, merged), "{details}");
        }
    }

    #[test]
    fn receipts_name_the_only_file_of_cases() {
        let [file, one, other] = [b"file", b"one ", b"two "].map(|bytes| Digest::of(bytes));
        assert_eq!(suite_digests(Kind::Containment, file, &[one]), (one, Some(file)));
        for (kind, cases) in
            [(Kind::Containment, &[one, other][..]), (Kind::Containment, &[]), (Kind::Probe, &[one])]
        {
            assert_eq!(suite_digests(kind, file, cases), (file, None));
        }
    }
}
