//! The record of a `code` trial: what the model wrote, and what compiler, linter and tests said of it.

use serde::{Deserialize, Serialize};

use super::{Field, Head, Kind, Status, push_not_held, push_record};
use crate::{Digest, Json, RecordId, RunId};

/// The fields that a `code` record has beside the head. Lists are canonical JSON values.
#[derive(Debug, Clone)]
pub struct Code<'a> {
    /// The task.
    pub task_id: Option<&'a str>,
    /// What the model wrote, bounded; null where there was nothing to read.
    pub completion: Option<&'a str>,
    /// Its true length.
    pub completion_bytes: Option<u64>,
    /// Which answer to the task it is, from 0.
    pub completion_id: u64,
    /// Did it compile? Null: not tried.
    pub compile_ok: Option<bool>,
    /// Was the linter content? Null: not asked.
    pub clippy_ok: Option<bool>,
    /// Did the tests pass? Null: not run.
    pub test_ok: Option<bool>,
    /// Whether the model wrote no `fn main`.
    pub main_free: Option<bool>,
    /// `separate`: completion and tests in two boxes; `shared`: in one process; null where no test was run.
    pub border: Option<&'a str>,
    /// Whether the model wrote `unsafe`; null where nothing was read, or the language has no such word.
    pub has_unsafe: Option<bool>,
    /// Whether the verdict was known already; null in deterministic mode.
    pub cached: Option<bool>,
    /// CPU time of the compiler; null unless it was measured.
    pub compile_time_ms: Option<u64>,
    /// Size of the test program; null unless it was measured.
    pub binary_size_bytes: Option<u64>,
    /// Size of a test program with next to nothing in it; null unless it was measured.
    pub baseline_size_bytes: Option<u64>,
    /// `passed`, `failed: …` or `timed out`, for older readers.
    pub result: &'a str,
    /// What the compiler or the tests said, bounded.
    pub stderr: &'a str,
    /// Its true length.
    pub stderr_bytes: u64,
    /// SHA-256 of all of it, where not all of it is there.
    pub stderr_sha256: Option<&'a str>,
    /// The compiler's errors.
    pub compile_errors: &'a Json,
    /// The linter's findings in the completion itself.
    pub lints: &'a Json,
    /// Each test that was reported.
    pub tests: &'a Json,
    /// The deciding panic, or null.
    pub panic: &'a Json,
    /// Crates that the task needs and that are not there.
    pub missing_crates: &'a Json,
    /// The error type of each try.
    pub tries: &'a Json,
    /// The case's tags.
    pub tags: &'a Json,
    /// What the sandbox on that host does not hold, in the doctor's words, where that lets an attack through; absent where it holds
    /// everything, and where nothing was run.
    pub sandbox_does_not_hold: Option<&'a Json>,
}

impl Code<'_> {
    /// Appends the line and gives its digest.
    pub fn push(&self, out: &mut Vec<u8>, head: &Head<'_>) -> Digest {
        let integer = |value: Option<u64>| value.map_or(Field::Null, Field::Integer);
        let boolean = |value: Option<bool>| value.map_or(Field::Null, Field::Bool);
        let mut body = vec![
            ("baseline_size_bytes", integer(self.baseline_size_bytes)),
            ("binary_size_bytes", integer(self.binary_size_bytes)),
            ("border", Field::text_or_null(self.border)),
            ("cached", boolean(self.cached)),
            ("clippy_ok", boolean(self.clippy_ok)),
            ("compile_errors", Field::Json(self.compile_errors)),
            ("compile_ok", boolean(self.compile_ok)),
            ("compile_time_ms", integer(self.compile_time_ms)),
            ("completion", Field::text_or_null(self.completion)),
            ("completion_bytes", integer(self.completion_bytes)),
            ("completion_id", Field::Integer(self.completion_id)),
            ("lints", Field::Json(self.lints)),
            ("main_free", boolean(self.main_free)),
            ("missing_crates", Field::Json(self.missing_crates)),
            ("panic", Field::Json(self.panic)),
            ("result", Field::Text(self.result)),
            ("stderr", Field::Text(self.stderr)),
            ("stderr_bytes", Field::Integer(self.stderr_bytes)),
            ("stderr_sha256", Field::text_or_null(self.stderr_sha256)),
            ("tags", Field::Json(self.tags)),
            ("task_id", Field::text_or_null(self.task_id)),
            ("test_ok", boolean(self.test_ok)),
            ("tests", Field::Json(self.tests)),
            ("tries", Field::Json(self.tries)),
            ("unsafe", boolean(self.has_unsafe)),
        ];
        push_not_held(&mut body, self.sandbox_does_not_hold);
        push_record(out, head, &body)
    }
}

/// One message of a compiler, a linter or a panic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// `E0382`, `clippy::needless_return`; null where there is none.
    pub code: Option<String>,
    /// The column, from 1.
    pub column: Option<u64>,
    /// `completion`, `test`, or a path of the toolchain's own sources.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// What it says.
    pub message: String,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestOutcome {
    /// Its path.
    pub name: String,
    /// Whether it passed.
    pub ok: bool,
}

/// A `code` record as it is read; also what its JSON Schema is generated from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeRecord {
    /// Size of a test program with next to nothing in it; null unless it was measured.
    pub baseline_size_bytes: Option<u64>,
    /// Size of the test program; null unless it was measured.
    pub binary_size_bytes: Option<u64>,
    /// `separate`: completion and tests in two boxes; `shared`: in one process; null where no test was run.
    pub border: Option<String>,
    /// Whether the verdict was known already; null in deterministic mode.
    pub cached: Option<bool>,
    /// The case.
    pub case_id: String,
    /// Was the linter content? Null: not asked.
    pub clippy_ok: Option<bool>,
    /// The compiler's errors.
    pub compile_errors: Vec<Finding>,
    /// Did it compile? Null: not tried.
    pub compile_ok: Option<bool>,
    /// CPU time of the compiler; null unless it was measured.
    pub compile_time_ms: Option<u64>,
    /// On the time spine in deterministic mode.
    pub completed_at: String,
    /// What the model wrote, bounded.
    pub completion: Option<String>,
    /// Its true length.
    pub completion_bytes: Option<u64>,
    /// Which answer to the task it is, from 0.
    pub completion_id: u64,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// Null exactly when it passed.
    pub error_type: Option<String>,
    /// The place in the plan.
    pub index: u64,
    /// SHA-256 of what the model was shown.
    pub input_fingerprint: Digest,
    /// Always `code`.
    pub kind: Kind,
    /// Null in deterministic mode.
    pub latency_ms: Option<f64>,
    /// The linter's findings in the completion itself.
    pub lints: Vec<Finding>,
    /// Whether the model wrote no `fn main`.
    pub main_free: Option<bool>,
    /// Crates that the task needs and that are not there.
    pub missing_crates: Vec<String>,
    /// SHA-256 of the whole completion.
    pub output_sha256: Option<Digest>,
    /// The deciding panic, or null.
    pub panic: Option<Finding>,
    /// Whether it passed; null where that could not be said.
    pub passed: Option<bool>,
    /// Which score decides.
    pub primary_metric: Option<String>,
    /// The trial within the plan.
    pub record_id: RecordId,
    /// SHA-256 of this line without this field.
    pub record_sha256: Digest,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// `passed`, `failed: …` or `timed out`, for older readers.
    pub result: String,
    /// The run.
    pub run_id: RunId,
    /// What the sandbox on that host does not hold, in the doctor's words, where that lets an attack through; absent where it holds
    /// everything, and where nothing was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandbox_does_not_hold: Vec<String>,
    /// The version of this format.
    pub schema_version: String,
    /// Each score, 0 to 1; null where it could not be said.
    pub scores: std::collections::BTreeMap<String, Option<f64>>,
    /// The target's name in the suite.
    pub slot: String,
    /// On the time spine in deterministic mode.
    pub started_at: String,
    /// What became of the trial.
    pub status: Status,
    /// What the compiler or the tests said, bounded.
    pub stderr: String,
    /// Its true length.
    pub stderr_bytes: u64,
    /// SHA-256 of all of it, where not all of it is there.
    pub stderr_sha256: Option<String>,
    /// The suite.
    pub suite_id: String,
    /// The case's tags.
    pub tags: Vec<String>,
    /// The task.
    pub task_id: Option<String>,
    /// Did the tests pass? Null: not run.
    pub test_ok: Option<bool>,
    /// Each test that was reported.
    pub tests: Vec<TestOutcome>,
    /// The error type of each try.
    pub tries: Vec<Option<String>>,
    /// Whether the model wrote `unsafe`; null where nothing was read, or the language has no such word.
    #[serde(rename = "unsafe")]
    pub has_unsafe: Option<bool>,
    /// Tokens and the like, as the target reported them.
    #[schemars(with = "serde_json::Value")]
    pub usage: Json,
    /// The variant of the case, if a generator made one.
    pub variant_id: Option<String>,
}
