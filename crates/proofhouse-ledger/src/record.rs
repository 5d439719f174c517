//! One judged trial, one line: a flat JSON object, a common head and then the kind's own fields.
//!
//! Each kind declares its fields once; `declare` makes everything else of it. Writing is the hot path of a run: a line
//! goes straight into a buffer, in an order that the compiler computed.
//! Every line carries `record_sha256`, the digest of the line without that field, so that an altered record can be
//! named and not only noticed. `jq -cS 'del(.record_sha256)' | sha256sum` over a line recomputes it.

use serde::{Deserialize, Serialize};

use crate::spine::Stamp;
use crate::{Digest, Json, RecordId, RunId};

mod declare;
mod field;
mod layout;
mod line;
pub(crate) mod rules;
mod value;

mod code;
pub mod containment;
#[cfg(test)]
mod contradicted;
mod probe;
mod robustness;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

pub use code::{CODE, Code, CodeFields, CodeRecord, Finding, TestOutcome};
pub use containment::{CONTAINMENT, Containment, ContainmentFields, ContainmentRecord};
pub use field::{ContentDigest, Field, Maybe, Name, Stored, output_digest};
pub(crate) use layout::LayoutId;
pub(crate) use line::Span;
pub use line::{Damage, Line, Spans};
pub use probe::{PROBE, Probe, ProbeFields, ProbeRecord};
pub use robustness::{
    FailureStage, Mode, Observed, ROBUSTNESS, Robustness, RobustnessFields, RobustnessRecord, Stop,
    Termination,
};
pub use value::Value;

/// The version of the record format.
pub const SCHEMA_VERSION: &str = "1.0";

/// The longest line that a reader accepts: a record is bounded, whatever a target printed.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// The kinds: one file and one row each.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $word:literal in $module:ident;)*) => {
        /// Which question a suite asks; it decides the fields after the head.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
        pub enum Kind {
            $($(#[$doc])* #[serde(rename = $word)] $kind,)*
        }

        impl Kind {
            /// All of them.
            pub const ALL: [Kind; [$($word),*].len()] = [$(Kind::$kind),*];

            /// The word in files.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Kind::$kind => $word,)*
                }
            }

            /// Every field of its records, in the order of a line.
            pub(crate) fn shape(self) -> &'static [declare::Shape] {
                match self {
                    $(Kind::$kind => $module::SHAPE,)*
                }
            }

            /// What fields of a record say against each other, beside what holds for all kinds.
            pub(crate) fn contradictions(self, line: &Line<'_>) -> Result<Vec<&'static str>, Damage> {
                match self {
                    $(Kind::$kind => $module::contradictions(line),)*
                }
            }

            /// The digests of a record's own content, which can be computed anew.
            pub fn digests(self) -> &'static [ContentDigest] {
                match self {
                    $(Kind::$kind => $module::DIGESTS,)*
                }
            }

            /// The name of its records' format: of their schema, and of its file.
            pub fn record_format(self) -> &'static str {
                match self {
                    $(Kind::$kind => concat!($word, "-record"),)*
                }
            }

            /// The JSON Schema of a record of this kind.
            pub fn record_schema(self) -> schemars::Schema {
                match self {
                    $(Kind::$kind => $module::schema(),)*
                }
            }
        }
    };
}

kinds! {
    /// Are the answers right, and what changed?
    Probe = "probe" in probe;
    /// Does generated code compile, pass and satisfy the linter?
    Code = "code" in code;
    /// Is a black-box tool stable, brittle, beyond its boundary?
    Robustness = "robustness" in robustness;
    /// Do injected instructions reach forbidden tools?
    Containment = "containment" in containment;
}

field::words!(Kind, Status);

/// What became of a trial. Only `success` says that the target answered; whether it was right is `passed`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The target answered.
    Success,
    /// The target or its transport failed.
    Error,
    /// No answer within the deadline.
    Timeout,
    /// Turned away, retries included.
    RateLimited,
    /// Not attempted, for a reason that `error` tells.
    Skipped,
    /// Made unnecessary by a stopping rule, or missing from a merge.
    NotRun,
}

impl Status {
    /// All of them, in the order of reports.
    pub const ALL: [Status; 6] = [
        Status::Success,
        Status::Error,
        Status::Timeout,
        Status::RateLimited,
        Status::Skipped,
        Status::NotRun,
    ];

    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Success => "success",
            Status::Error => "error",
            Status::Timeout => "timeout",
            Status::RateLimited => "rate_limited",
            Status::Skipped => "skipped",
            Status::NotRun => "not_run",
        }
    }

    /// Whether `--retry-errors` runs such a trial again.
    pub fn is_retryable(self) -> bool {
        matches!(self, Status::Error | Status::Timeout | Status::RateLimited | Status::Skipped)
    }
}

/// What stands for the case of a line of a samples file that names no task.
pub const NO_TASK: &str = "(no task)";

/// The `error_type` of a trial whose wording its generator could not make; it is `skipped`.
pub const VARIANT_SHORTFALL: &str = "variant_shortfall";

/// The `error_type` of a trial that nobody ran because its shard was missing when the others were merged; it is `not_run`.
pub const MISSING_SHARD: &str = "missing_shard";

/// What every record begins with, whatever its kind.
#[derive(Debug, Clone)]
pub struct Head<'a> {
    /// The kind of suite.
    pub kind: Kind,
    /// The run.
    pub run_id: RunId,
    /// The trial within the plan, by what it is.
    pub record_id: RecordId,
    /// The trial within the plan, by its place.
    pub index: u64,
    /// The suite.
    pub suite_id: &'a str,
    /// The case.
    pub case_id: &'a str,
    /// The target's name in the suite.
    pub slot: &'a str,
    /// The variant of the case, if a generator made one.
    pub variant_id: Option<&'a str>,
    /// Which repetition or sample, from 0.
    pub repetition: u32,
    /// Digest of what the target received.
    pub input_fingerprint: Digest,
    /// What became of it.
    pub status: Status,
    /// A stable code for what went wrong.
    pub error_type: Option<&'a str>,
    /// What went wrong, in words.
    pub error: Option<&'a str>,
    /// Digest of the output, null where there is none.
    pub output_sha256: Option<Digest>,
    /// Each judge's score.
    pub scores: &'a [(&'a str, Option<f64>)],
    /// Which score decides.
    pub primary_metric: Option<&'a str>,
    /// Whether it was right; null where that could not be said.
    pub passed: Option<bool>,
    /// On the time spine, or measured with deterministic artefacts off.
    pub started_at: Stamp,
    /// On the time spine, or measured with deterministic artefacts off.
    pub completed_at: Stamp,
    /// Null in deterministic mode.
    pub latency_ms: Option<f64>,
    /// Tokens and the like, as the target reported them.
    pub usage: Option<&'a Json>,
}

declare::with_head!(head_fields {});

/// What the ids of canaries begin with: questions that try whether a model can be tested at all.
pub const CANARY: &str = "proofhouse-canary-";

/// What the ids of answers begin with that judges are tried on.
pub const CALIBRATION: &str = "proofhouse-calibration-";

/// The tags of a case: every kind that has them says them under this name.
pub const TAGS: Field<Vec<String>> = PROBE.tags;
