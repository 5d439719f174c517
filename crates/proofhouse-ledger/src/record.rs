//! One judged trial, one line: a flat JSON object, a common head and then the kind's own fields.
//!
//! Writing is the hot path of a run, so a line is merged from two sorted lists of fields straight into a buffer.
//! Every line carries `record_sha256`, the digest of the line without that field, so that an altered record can be
//! named and not only noticed. `jq -cS 'del(.record_sha256)' | sha256sum` over a line recomputes it.

use serde::{Deserialize, Serialize};

use crate::canonical::{push_integer, push_json, push_number, push_text};
use crate::digest::Hasher;
use crate::manifest::SANDBOX_GAPS;
use crate::spine::Stamp;
use crate::{Digest, Json, RecordId, RunId};

mod code;
pub mod containment;
mod line;
mod probe;
mod robustness;

pub use code::{Code, CodeRecord, Finding, TestOutcome};
pub use containment::{Containment, ContainmentRecord};
pub use line::{Damage, Line, Spans};
pub use probe::{Probe, ProbeRecord, output_digest};
pub use robustness::{FailureStage, Mode, Observed, Robustness, RobustnessRecord, Stop, Termination};

/// The version of the record format.
pub const SCHEMA_VERSION: &str = "1.0";

/// The longest line that a reader accepts: a record is bounded, whatever a target printed.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// Which question a suite asks; it decides the fields after the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Are the answers right, and what changed?
    Probe,
    /// Does generated code compile, pass and satisfy the linter?
    Code,
    /// Is a black-box tool stable, brittle, beyond its boundary?
    Robustness,
    /// Do injected instructions reach forbidden tools?
    Containment,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Probe, Kind::Code, Kind::Robustness, Kind::Containment];

    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Probe => "probe",
            Kind::Code => "code",
            Kind::Robustness => "robustness",
            Kind::Containment => "containment",
        }
    }
}

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

    /// The status of a word.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().as_bytes() == word)
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

/// A field's value on its way into a line.
#[derive(Debug, Clone, Copy)]
pub enum Field<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Integer(u64),
    /// A finite number.
    Number(f64),
    /// Text.
    Text(&'a str),
    /// Text that is known to need no escape.
    Plain(&'a [u8]),
    /// Any value.
    Json(&'a Json),
    /// Bytes that are canonical JSON already.
    Raw(&'a [u8]),
}

impl<'a> Field<'a> {
    /// Text or `null`.
    pub fn text_or_null(text: Option<&'a str>) -> Self {
        text.map_or(Field::Null, Field::Text)
    }

    fn push(self, out: &mut Vec<u8>) {
        match self {
            Field::Null => out.extend_from_slice(b"null"),
            Field::Bool(true) => out.extend_from_slice(b"true"),
            Field::Bool(false) => out.extend_from_slice(b"false"),
            Field::Integer(number) => push_integer(out, number),
            Field::Number(number) => push_number(out, number),
            Field::Text(text) => push_text(out, text),
            Field::Plain(bytes) => {
                out.push(b'"');
                out.extend_from_slice(bytes);
                out.push(b'"');
            }
            Field::Json(value) => push_json(out, value),
            Field::Raw(bytes) => out.extend_from_slice(bytes),
        }
    }
}

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

/// Appends a record's line to `out` and gives its `record_sha256`. `body` must be sorted by key.
pub fn push_record(out: &mut Vec<u8>, head: &Head<'_>, body: &[(&str, Field<'_>)]) -> Digest {
    let scores = Scores(head.scores);
    let mut scores_text = Vec::with_capacity(64);
    scores.push(&mut scores_text);
    let (run_id, record_id) = (head.run_id.hex(), head.record_id.hex());
    let (started, completed) = (head.started_at.text(), head.completed_at.text());
    let fingerprint = head.input_fingerprint.hex();
    let output_sha256 = head.output_sha256.map(|digest| digest.hex());
    let fields: [(&str, Field<'_>); 22] = [
        ("case_id", Field::Text(head.case_id)),
        ("completed_at", Field::Plain(&completed)),
        ("error", Field::text_or_null(head.error)),
        ("error_type", Field::text_or_null(head.error_type)),
        ("index", Field::Integer(head.index)),
        ("input_fingerprint", Field::Plain(&fingerprint)),
        ("kind", Field::Plain(head.kind.as_str().as_bytes())),
        ("latency_ms", head.latency_ms.map_or(Field::Null, Field::Number)),
        ("output_sha256", output_sha256.as_ref().map_or(Field::Null, |hex| Field::Plain(hex))),
        ("passed", head.passed.map_or(Field::Null, Field::Bool)),
        ("primary_metric", Field::text_or_null(head.primary_metric)),
        ("record_id", Field::Plain(&record_id)),
        (SELF_DIGEST, Field::Null),
        ("repetition", Field::Integer(head.repetition.into())),
        ("run_id", Field::Plain(&run_id)),
        ("schema_version", Field::Plain(SCHEMA_VERSION.as_bytes())),
        ("scores", Field::Raw(&scores_text)),
        ("slot", Field::Text(head.slot)),
        ("started_at", Field::Plain(&started)),
        ("status", Field::Plain(head.status.as_str().as_bytes())),
        ("suite_id", Field::Text(head.suite_id)),
        ("usage", head.usage.map_or(Field::Null, Field::Json)),
    ];
    // `variant_id` sorts behind everything above, so it joins the merge from the body's side.
    let tail = [("variant_id", Field::text_or_null(head.variant_id))];
    merge(out, &fields, body, &tail)
}

/// Adds to the fields of a kind, which are sorted, what its sandbox does not hold. A record under a sandbox that holds everything says
/// nothing of it, so that its bytes do not depend on the host.
fn push_not_held<'a>(body: &mut Vec<(&'a str, Field<'a>)>, gaps: Option<&'a Json>) {
    if let Some(gaps) = gaps {
        let place = body.partition_point(|(name, _)| *name < SANDBOX_GAPS);
        body.insert(place, (SANDBOX_GAPS, Field::Json(gaps)));
    }
}

/// The field that digests its own line.
pub const SELF_DIGEST: &str = "record_sha256";

fn merge(
    out: &mut Vec<u8>,
    head: &[(&str, Field<'_>)],
    body: &[(&str, Field<'_>)],
    tail: &[(&str, Field<'_>)],
) -> Digest {
    debug_assert!(body.is_sorted_by(|a, b| a.0 < b.0), "a record's own fields are sorted");
    let from = out.len();
    let mut cut = from;
    out.push(b'{');
    let mut body = body.iter().peekable();
    for (key, field) in head.iter().chain(tail) {
        while let Some((own, value)) = body.next_if(|(own, _)| own < key) {
            push_field(out, own, *value);
        }
        if *key == SELF_DIGEST {
            cut = out.len();
        } else {
            push_field(out, key, *field);
        }
    }
    for (own, value) in body {
        push_field(out, own, *value);
    }
    out.pop();
    out.push(b'}');

    let mut hasher = Hasher::default();
    hasher.update(&out[from..]);
    let digest = hasher.finish();
    let mut field = [0u8; SELF_FIELD_BYTES];
    self_field(&digest, &mut field);
    out.splice(cut..cut, field);
    out.push(b'\n');
    digest
}

fn push_field(out: &mut Vec<u8>, key: &str, value: Field<'_>) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
    value.push(out);
    out.push(b',');
}

/// `"record_sha256":"…64…",` is always this long.
const SELF_FIELD_BYTES: usize = SELF_DIGEST.len() + 3 + 66 + 1;

fn self_field(digest: &Digest, out: &mut [u8; SELF_FIELD_BYTES]) {
    let key = SELF_DIGEST.len();
    out[0] = b'"';
    out[1..=key].copy_from_slice(SELF_DIGEST.as_bytes());
    out[key + 1..key + 4].copy_from_slice(b"\":\"");
    out[key + 4..key + 68].copy_from_slice(&digest.hex());
    out[key + 68..].copy_from_slice(b"\",");
}

struct Scores<'a>(&'a [(&'a str, Option<f64>)]);

impl Scores<'_> {
    /// Scores are few and in the suite's order; the file wants them sorted.
    fn push(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        let mut last: Option<&str> = None;
        for at in 0..self.0.len() {
            let next = self
                .0
                .iter()
                .filter(|(name, _)| last.is_none_or(|last| crate::json::key_order(last, name).is_lt()))
                .min_by(|a, b| crate::json::key_order(a.0, b.0));
            let Some((name, score)) = next else { break };
            if at > 0 {
                out.push(b',');
            }
            push_text(out, name);
            out.push(b':');
            score.map_or(Field::Null, Field::Number).push(out);
            last = Some(name);
        }
        out.push(b'}');
    }
}
