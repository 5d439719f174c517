//! The record of a `code` trial: what the model wrote, and what compiler, linter and tests said of it.

use serde::{Deserialize, Serialize};

use super::declare::record;
use super::field::structures;
use super::rules::{is_digest_of, score_is_the_verdict};
use super::{Damage, HEAD, Line, Status};

record! {
    fields CODE: CodeFields;
    /// A `code` record as it is read; also what its JSON Schema is generated from.
    reads CodeRecord;
    /// The fields that a `code` record has beside the head. Lists of structures are canonical JSON values.
    writes Code;
    own {
        /// The task.
        task_id: Option<String>,
        /// What the model was shown, its beginning; absent where that is not known.
        task [absent if "Option::is_none"]: Option<String>,
        /// The program that was judged, its beginning, which the lines of `compile_errors` and `lints` are of; absent where it passed, and
        /// where the language puts answer and task together elsewhere.
        program [absent if "Option::is_none"]: Option<String>,
        /// The lines of the test around the one that failed, or its beginning; absent where it passed.
        test_source [absent if "Option::is_none"]: Option<String>,
        /// The number of the first of them, from 1.
        test_line [absent if "Option::is_none"]: Option<u64>,
        /// What the model wrote, bounded.
        completion: Option<String>,
        /// Its true length.
        completion_bytes: Option<u64>,
        /// Which answer to the task it is, from 0.
        completion_id: u64,
        /// Did it compile? Null: not tried.
        compile_ok: Option<bool>,
        /// Was the linter content? Null: not asked.
        clippy_ok: Option<bool>,
        /// Did the tests pass? Null: not run.
        test_ok: Option<bool>,
        /// Whether the model wrote no `fn main`.
        main_free: Option<bool>,
        /// `separate`: completion and tests in two boxes; `shared`: in one process; null where no test was run.
        border: Option<String>,
        /// Whether the model wrote `unsafe`; null where nothing was read, or the language has no such word.
        has_unsafe as "unsafe": Option<bool>,
        /// Whether the verdict was known already; null in deterministic mode.
        cached: Option<bool>,
        /// CPU time of the compiler; null unless it was measured.
        compile_time_ms: Option<u64>,
        /// Size of the test program; null unless it was measured.
        binary_size_bytes: Option<u64>,
        /// Size of a test program with next to nothing in it; null unless it was measured.
        baseline_size_bytes: Option<u64>,
        /// `passed`, `failed: …` or `timed out`, for older readers.
        result: String,
        /// What the compiler or the tests said, bounded.
        stderr: String,
        /// Its true length.
        stderr_bytes: u64,
        /// SHA-256 of all of it, where not all of it is there.
        stderr_sha256: Option<String>,
        /// The compiler's errors.
        compile_errors: Vec<Finding>,
        /// The linter's findings in the completion itself.
        lints: Vec<Finding>,
        /// Each test that was reported.
        tests: Vec<TestOutcome>,
        /// The deciding panic, or null.
        panic: Option<Finding>,
        /// Crates that the task needs and that are not there.
        missing_crates: Vec<String>,
        /// The error type of each try.
        tries: Vec<Option<String>>,
        /// The case's tags.
        tags: Vec<String>,
        /// What the sandbox on that host does not hold, in the doctor's words, where that lets an attack through; absent where it holds
        /// everything, and where nothing was run.
        sandbox_does_not_hold [absent if "Vec::is_empty"]: Vec<String>,
    }
    given {}
    derived {}
    means {
        error_type: "Null exactly when it passed.",
        input_fingerprint: "SHA-256 of what the model was shown.",
        kind: "Always `code`.",
        output_sha256: "SHA-256 of the whole completion.",
    }
    digests {}
}

structures!(Vec<Finding>, Vec<TestOutcome>, Finding);

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

/// Fields of a `code` record that say different things.
pub(super) fn contradictions(line: &Line<'_>) -> Result<Vec<&'static str>, Damage> {
    let mut wrong = Vec::new();
    score_is_the_verdict(line, "pass", false, &mut wrong)?;
    let passed = line.get(HEAD.passed)?;
    if passed.is_some() != (line.status()? == Status::Success) {
        wrong.push("`passed` is null exactly where `status` is not `success`, and here it is not");
    }
    if (passed == Some(true)) != line.get(HEAD.error_type)?.is_none() {
        wrong.push("`error_type` is null exactly where it passed, and here it is not");
    }
    let (compiled, tested) = (line.get(CODE.compile_ok)?, line.get(CODE.test_ok)?);
    if passed == Some(true) && [compiled, tested].contains(&Some(false)) {
        wrong.push("`passed` is true, and it did not compile or a test failed");
    }
    if compiled == Some(false) && tested.is_some() {
        wrong.push("`test_ok` is not null, and it did not compile");
    }
    let is_empty = |raw: &[u8]| raw == b"[]";
    if compiled == Some(true) && !is_empty(line.require(CODE.compile_errors)?) {
        wrong.push("`compile_ok` is true, and there are `compile_errors`");
    }
    if tested == Some(true)
        && !is_empty(line.require(CODE.tests)?)
        && line.get(CODE.tests)?.iter().any(|test| !test.ok)
    {
        wrong.push("`test_ok` is true, and one of `tests` failed");
    }
    let shown = [line.raw(CODE.program), line.raw(CODE.test_source), line.raw(CODE.test_line)];
    let shows_failure = line.require(CODE.panic)? != b"null" || shown.iter().any(Option::is_some);
    if passed == Some(true) && shows_failure {
        wrong
            .push("`passed` is true, and there is what shows a failure: `panic`, `program` or `test_source`");
    }
    if line.raw(CODE.test_source).is_some() != line.raw(CODE.test_line).is_some() {
        wrong.push("one of `test_source` and `test_line` is there and the other is not");
    }
    let (result, error_type) = (line.get(CODE.result)?, line.get(HEAD.error_type)?);
    if (passed == Some(true)) != (result == "passed") {
        wrong.push("`result` contradicts `passed`");
    }
    let is_of_type = |error_type: &str| match result.strip_prefix("failed: ") {
        Some(named) => named == error_type,
        None => result == "passed" || error_type.ends_with("timeout"),
    };
    if error_type.as_deref().is_some_and(|error_type| !is_of_type(error_type)) {
        wrong.push("`result` contradicts `error_type`");
    }
    let (completion, length) = (line.get(CODE.completion)?, line.get(CODE.completion_bytes)?);
    if completion.is_some() != length.is_some() {
        wrong.push("one of `completion` and `completion_bytes` is null and the other is not");
    }
    if !is_digest_of(completion.as_deref(), length, line.get(HEAD.output_sha256)?) {
        wrong.push("`output_sha256` is not the digest of `completion`");
    }
    Ok(wrong)
}
