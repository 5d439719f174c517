//! From how the two processes ended to a verdict.

use proofhouse_sandbox::{Outcome, Program, Spec, Status, Stream, recipes};

use super::checker::{Ending, Tested};
use super::judge::ended;
use crate::kinds::code::output;
use crate::kinds::code::report::{self, Report};
use crate::kinds::code::verdict::{Border, ErrorType, Judged};

/// A run of a candidate's program; of the member with this number where there are many.
pub(super) fn call(program: &Program, number: Option<usize>) -> Spec {
    program.run(number.map(|number| number.to_string().into())).binds(recipes::libraries())
}

/// How the completion's side ended.
pub(super) struct Candidate<'a> {
    pub(super) status: &'a Status,
    pub(super) stderr: &'a Stream,
}

impl<'a> From<&'a Outcome> for Candidate<'a> {
    fn from(outcome: &'a Outcome) -> Candidate<'a> {
        Candidate { status: &outcome.status, stderr: &outcome.stderr }
    }
}

/// The verdict. `checker` is how the box of the tests ended, where that is known.
pub(super) fn judge<'a>(
    mut judged: Judged,
    names: &[String],
    tested: Tested,
    candidate: impl Into<Candidate<'a>>,
    checker: Option<&Outcome>,
) -> Judged {
    let candidate = candidate.into();
    judged.border = Some(Border::Separate);
    judged.stderr = output::of_stream_and(candidate.stderr, &tested.said);
    judged.stderr.text =
        judged.stderr.text.replace("candidate.rs:", "completion:").replace("tests.rs:", "test:");
    let report = report::of_lines(&tested.lines, names);
    judged.diagnostics.tests = report.tests.clone();
    judged.diagnostics.panic = report.panic.clone();
    match error(&report, tested.ending, candidate.status, checker.map(|outcome| &outcome.status)) {
        None => judged.test_ok = Some(true),
        Some((error_type, error)) => {
            judged.test_ok = (!error_type.is_infra()).then_some(false);
            judged = ended(judged, error_type, error);
        }
    }
    judged
}

fn error(
    report: &Report,
    ending: Ending,
    candidate: &Status,
    checker: Option<&Status>,
) -> Option<(ErrorType, String)> {
    // Nothing that a completion sends can be told from its silence if its box itself failed.
    if let Status::InfraError(infra) = candidate {
        return Some((ErrorType::InfraSandbox, infra.to_string()));
    }
    Some(match ending {
        Ending::Done if report.all_ok => return None,
        Ending::Done => panicked(report)
            .unwrap_or_else(|| (ErrorType::RuntimeError, "a test ended without a word".to_owned())),
        Ending::Gone => gone(candidate),
        Ending::Garbled => {
            (ErrorType::Tampered, "the completion answered a call with bytes that are not a value".to_owned())
        }
        Ending::TooLarge => (
            ErrorType::MemoryLimit,
            "the completion answered a call with more than can be carried".to_owned(),
        ),
        Ending::Late => (ErrorType::TestTimeout, "the tests took longer than their budget".to_owned()),
        Ending::Died(signal) => (ErrorType::RuntimeError, format!("the tests were ended by signal {signal}")),
        Ending::Lost => match checker {
            Some(Status::MemoryLimit) => {
                (ErrorType::MemoryLimit, "the tests took more memory than their limit".to_owned())
            }
            Some(Status::CpuLimit | Status::WallLimit) => {
                (ErrorType::TestTimeout, "the tests took longer than their budget".to_owned())
            }
            Some(Status::InfraError(infra)) => (ErrorType::InfraSandbox, infra.to_string()),
            Some(other) => (
                ErrorType::InfraSandbox,
                format!("the tests did not report: their box ended with `{}`", other.word()),
            ),
            None => (ErrorType::InfraSandbox, "the tests did not report".to_owned()),
        },
    })
}

/// The verdict of a test that panicked, by where that was.
pub(super) fn panicked(report: &Report) -> Option<(ErrorType, String)> {
    let panic = report.panic.as_ref()?;
    let in_test = panic.file.as_deref() == Some("test");
    let error_type = if in_test { ErrorType::AssertionFailure } else { ErrorType::RuntimeError };
    Some((error_type, panic.message.clone()))
}

/// How the completion's own process ended before it had answered.
pub(super) fn gone(status: &Status) -> (ErrorType, String) {
    match status {
        Status::Ok => {
            (ErrorType::RuntimeError, "the program ended with exit code 0 before it had answered".to_owned())
        }
        Status::Exit(code) => (ErrorType::RuntimeError, format!("the program ended with exit code {code}")),
        Status::Signal(signal) => {
            (ErrorType::RuntimeError, format!("the program was ended by signal {signal}"))
        }
        Status::CpuLimit | Status::WallLimit => {
            (ErrorType::TestTimeout, "the tests took longer than their budget".to_owned())
        }
        Status::MemoryLimit => {
            (ErrorType::MemoryLimit, "the tests took more memory than their limit".to_owned())
        }
        Status::OutputLimit | Status::FileLimit => {
            (ErrorType::OutputLimit, "the program wrote more than its limit".to_owned())
        }
        Status::Denied => (ErrorType::RuntimeError, "the program did what the sandbox denies".to_owned()),
        Status::InfraError(infra) => (ErrorType::InfraSandbox, infra.to_string()),
    }
}
