//! What is said of a completion in the end.

use serde::{Deserialize, Serialize};

/// Why a completion did not pass. Words are stable: they are in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// There is no compiler or interpreter.
    InfraMissingToolchain,
    /// The linter is asked for and not there.
    InfraMissingLinter,
    /// The task's own code needs a crate that is not there.
    InfraMissingCrate,
    /// The task's own code, or the completion, needs a module that the interpreter does not have.
    InfraMissingModule,
    /// The box failed: nothing is known about the completion.
    InfraSandbox,
    /// A program that is known to be good fails too.
    InfraToolchainBroken,
    /// The line of the samples file has nothing to judge.
    InvalidSample,
    /// No problem has this task id.
    UnknownTask,
    /// There is no code in the answer.
    ExtractionFailed,
    /// It does not compile.
    CompileError,
    /// Compiling took longer than its budget.
    CompileTimeout,
    /// The linter found something, and the suite wants it clean.
    LintFailure,
    /// It panicked, aborted or was ended by a signal.
    RuntimeError,
    /// A test's own check failed.
    AssertionFailure,
    /// The tests took longer than their budget.
    TestTimeout,
    /// More memory than its limit.
    MemoryLimit,
    /// More output than its limit.
    OutputLimit,
    /// The task has no test that ran.
    NoTests,
    /// The task's own solution does not pass its tests: nobody is scored against it.
    BrokenTask,
    /// It ended as if all were well, but the tests did not say so.
    Tampered,
    /// It cannot be judged as it is: neither a pass nor a failure, but no pass in the headline either, or an answer could have itself
    /// left out of the score.
    Unsupported,
}

impl ErrorType {
    /// All of them, in the order of reports.
    pub const ALL: [ErrorType; 21] = [
        ErrorType::InfraMissingToolchain,
        ErrorType::InfraMissingLinter,
        ErrorType::InfraMissingCrate,
        ErrorType::InfraMissingModule,
        ErrorType::InfraSandbox,
        ErrorType::InfraToolchainBroken,
        ErrorType::InvalidSample,
        ErrorType::UnknownTask,
        ErrorType::ExtractionFailed,
        ErrorType::CompileError,
        ErrorType::CompileTimeout,
        ErrorType::LintFailure,
        ErrorType::RuntimeError,
        ErrorType::AssertionFailure,
        ErrorType::TestTimeout,
        ErrorType::MemoryLimit,
        ErrorType::OutputLimit,
        ErrorType::NoTests,
        ErrorType::BrokenTask,
        ErrorType::Tampered,
        ErrorType::Unsupported,
    ];

    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorType::InfraMissingToolchain => "infra_missing_toolchain",
            ErrorType::InfraMissingLinter => "infra_missing_linter",
            ErrorType::InfraMissingCrate => "infra_missing_crate",
            ErrorType::InfraMissingModule => "infra_missing_module",
            ErrorType::InfraSandbox => "infra_sandbox",
            ErrorType::InfraToolchainBroken => "infra_toolchain_broken",
            ErrorType::InvalidSample => "invalid_sample",
            ErrorType::UnknownTask => "unknown_task",
            ErrorType::ExtractionFailed => "extraction_failed",
            ErrorType::CompileError => "compile_error",
            ErrorType::CompileTimeout => "compile_timeout",
            ErrorType::LintFailure => "lint_failure",
            ErrorType::RuntimeError => "runtime_error",
            ErrorType::AssertionFailure => "assertion_failure",
            ErrorType::TestTimeout => "test_timeout",
            ErrorType::MemoryLimit => "memory_limit",
            ErrorType::OutputLimit => "output_limit",
            ErrorType::NoTests => "no_tests",
            ErrorType::BrokenTask => "broken_task",
            ErrorType::Tampered => "tampered",
            ErrorType::Unsupported => "unsupported",
        }
    }

    /// Whether it says nothing about the completion: never a pass and never a failure.
    pub fn is_infra(self) -> bool {
        self.as_str().starts_with("infra_")
    }

    /// Whether there was nothing to judge.
    pub fn is_invalid(self) -> bool {
        matches!(self, ErrorType::InvalidSample | ErrorType::UnknownTask)
    }

    /// Whether it says something about the task alone: nobody is scored against it.
    pub fn is_of_the_task(self) -> bool {
        matches!(self, ErrorType::NoTests | ErrorType::BrokenTask)
    }

    /// Whether time ran out.
    pub fn is_timeout(self) -> bool {
        matches!(self, ErrorType::CompileTimeout | ErrorType::TestTimeout)
    }
}

/// What stood between a completion and its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Border {
    /// Two processes in two boxes: only values cross.
    Separate,
    /// One process: what the task is about cannot cross.
    Shared,
}

impl Border {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Border::Separate => "separate",
            Border::Shared => "shared",
        }
    }
}

/// Everything that is known of one judged completion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Null exactly when it passed.
    pub error_type: Option<ErrorType>,
    /// Why, in words.
    pub error: Option<String>,
    /// Did it compile? `None`: not tried.
    pub compile_ok: Option<bool>,
    /// Was the linter content? `None`: not asked.
    pub clippy_ok: Option<bool>,
    /// Did the tests pass? `None`: not run.
    pub test_ok: Option<bool>,
    /// Whether the model wrote no `fn main`; `None` where nothing was read.
    pub main_free: Option<bool>,
    /// What stood between the completion and its tests; `None` where they were not run.
    pub border: Option<Border>,
    /// Whether the model wrote `unsafe`; `None` where nothing was read, or the language has no such word.
    pub has_unsafe: Option<bool>,
    /// CPU time of the compiler.
    pub compile_time_ms: Option<u64>,
    /// Size of the test program.
    pub binary_size_bytes: Option<u64>,
    /// Size of a test program with next to nothing in it.
    pub baseline_size_bytes: Option<u64>,
    /// What the compiler or the tests said, bounded.
    pub stderr: Bounded,
    /// What went wrong, as structure.
    pub diagnostics: Diagnostics,
    /// The error type of each try: more than one where time or the machine was in doubt.
    pub tries: Vec<Option<ErrorType>>,
    /// Whether it was known already: told beside the record, never in it.
    #[serde(skip)]
    pub from_cache: bool,
}

impl Judged {
    /// A completion that was not run at all.
    pub fn refused(error_type: ErrorType, error: impl Into<String>) -> Judged {
        Judged {
            error_type: Some(error_type),
            error: Some(error.into()),
            tries: vec![Some(error_type)],
            ..Judged::default()
        }
    }

    /// Whether it passed.
    pub fn passed(&self) -> bool {
        self.error_type.is_none()
    }

    /// Whether a loaded or broken machine could be behind it.
    pub fn is_doubtful(&self) -> bool {
        let infra = [ErrorType::InfraSandbox, ErrorType::InfraToolchainBroken];
        self.error_type.is_some_and(|each| each.is_timeout() || infra.contains(&each))
    }

    /// The line that older readers know: `passed`, `failed: …` or `timed out`.
    pub fn result(&self) -> String {
        match self.error_type {
            None => "passed".to_owned(),
            Some(error_type) if error_type.is_timeout() => "timed out".to_owned(),
            Some(error_type) => format!("failed: {}", error_type.as_str()),
        }
    }
}

/// What went wrong, as structure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// The compiler's errors.
    pub errors: Vec<Finding>,
    /// What the linter found in the completion itself.
    pub lints: Vec<Finding>,
    /// Each test that was reported.
    pub tests: Vec<TestOutcome>,
    /// Where the deciding panic was.
    pub panic: Option<Finding>,
    /// Crates that the task needs and that are not there.
    pub missing_crates: Vec<String>,
}

/// One message of a compiler or of a panic, with its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `E0382`, `clippy::needless_return`; `None` where there is none.
    pub code: Option<String>,
    /// What it says.
    pub message: String,
    /// `completion`, `test`, or a path of the toolchain's own sources.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column, from 1.
    pub column: Option<u64>,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestOutcome {
    /// Its path.
    pub name: String,
    /// Whether it passed.
    pub ok: bool,
}

/// Text of which at most a head and a tail are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounded {
    /// Head and tail, with a line between that says what is missing.
    pub text: String,
    /// The true length in bytes.
    pub bytes: u64,
    /// SHA-256 of all of it, as hexadecimal digits, where not all of it is in `text`.
    pub sha256: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_results_serve_old_readers() {
        let words: std::collections::BTreeSet<_> = ErrorType::ALL.iter().map(|each| each.as_str()).collect();
        assert_eq!(words.len(), ErrorType::ALL.len());
        for error_type in ErrorType::ALL {
            let result = Judged::refused(error_type, "").result();
            assert!(result.starts_with("failed: ") || result == "timed out");
        }
        assert_eq!(Judged::default().result(), "passed");
    }
}
