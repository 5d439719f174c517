//! From what the tests' side said, and how the candidate's box ended, to a verdict.

use std::collections::BTreeSet;

use proofhouse_sandbox::{Infra, Status};
use serde::Deserialize;

use super::known::Decoy;
use super::modules;
use crate::kinds::code::output;
use crate::kinds::code::report::word;
use crate::kinds::code::verdict::{Border, ErrorType, Finding, Judged, TestOutcome};

const MAX_MESSAGE_CHARS: usize = 1000;

/// What the tests' side says of one answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    /// How it ended.
    pub(super) word: String,
    file: String,
    line: u64,
    message: String,
    /// The module that is missing, whether it is there after all, and whether the task itself wants it.
    module: String,
    known: bool,
    wanted: bool,
    /// Each test that ran.
    tests: Vec<(String, bool)>,
    stderr: String,
    /// Where the tests used an operator of the answer.
    pub(super) sites: BTreeSet<(u64, String)>,
    /// Why the tests may need more than a border carries.
    reasons: Vec<String>,
    /// Whether the answer changed what it was given.
    pub(super) mutates: bool,
    /// Whether something was not taken from it that could have decided.
    pub(super) refused: bool,
    /// Of each thing that its own objects decided, what else the tests could expect there.
    pub(super) doubts: Vec<Vec<Decoy>>,
    /// How many wrong expectations there are for one process.
    #[serde(skip)]
    pub(super) checks: u64,
    /// The signal that ended the tests themselves.
    signal: i32,
}

impl Said {
    /// Only how it ended.
    pub(super) fn word(word: &str) -> Said {
        Said { word: word.to_owned(), ..Said::default() }
    }

    /// Nothing was said in time.
    pub(super) fn nothing() -> Said {
        Said::word("nothing")
    }

    /// The machine failed, not the answer.
    pub(super) fn broken(why: &str) -> Said {
        Said { message: why.to_owned(), ..Said::word("broken") }
    }

    /// It passes whatever is expected.
    pub(super) fn unmoved() -> Said {
        let message = "the answer passes as well where the tests expect something else".to_owned();
        let tests = vec![("check".to_owned(), false)];
        Said { file: "tests.py".to_owned(), message, tests, ..Said::word("failed") }
    }

    /// It passes, for tests of ours.
    #[cfg(test)]
    pub(super) fn fine() -> Said {
        Said { tests: vec![("check".to_owned(), true)], ..Said::word("ok") }
    }

    /// It fails an assertion, for tests of ours.
    #[cfg(test)]
    pub(super) fn unequal() -> Said {
        Said { message: "AssertionError: ".to_owned(), ..Said::unmoved() }
    }

    /// It passes beside tests of which nothing can be made wrong, so that its pass shows nothing.
    pub(super) fn unproved() -> Said {
        let message = "beside its tests the answer could make them pass, and no wrong expectation shows whether it does";
        Said { message: message.to_owned(), ..Said::word("unproved") }
    }

    /// There are two reports, so one is of the answer's own making.
    pub(super) fn twice() -> Said {
        Said { message: "there are two reports".to_owned(), ..Said::word("garbled") }
    }

    /// Whether every test ran and was ok.
    pub(super) fn passed(&self) -> bool {
        self.word == "ok" && !self.tests.is_empty() && self.tests.iter().all(|(_, ok)| *ok)
    }

    /// Whether an assertion of the tests is what failed, or what they raise themselves: a wrong expectation that cannot even be
    /// looked at shows nothing.
    pub(super) fn fails_these(&self, tests: &str) -> bool {
        let kind = self.message.split(':').next().unwrap_or_default();
        let raised =
            kind == "AssertionError" || (!kind.is_empty() && tests.contains(&format!("raise {kind}")));
        self.word == "failed" && self.file == "tests.py" && raised
    }

    /// Whether it is what any box would say of the same answer: no crash, no limit, no doubt.
    pub(super) fn is_plain(&self) -> bool {
        let plain = ["failed", "syntax", "extraction", "no_tests", "missing", "profile"];
        self.passed() || plain.contains(&self.word.as_str())
    }

    /// Whether the border itself could be behind the failure: tests can look at more than values, at a log or a cache.
    pub(super) fn may_need_more(&self) -> bool {
        ["failed", "strange", "no_tests", "unproved"].contains(&self.word.as_str())
    }

    /// Whether the tests would have run what the answer wrote.
    pub(super) fn runs_answer(&self) -> bool {
        self.word == "unproved"
    }

    /// Whether prompt and tests alone say that no border can carry them.
    pub(super) fn has_reasons(&self) -> bool {
        !self.reasons.is_empty()
    }
}

/// The verdict.
pub(super) fn decide(said: &Said, status: Option<&Status>, border: Border, completion: &str) -> Judged {
    let error = error(said, status, completion);
    let error_type = error.as_ref().map(|(error_type, _)| *error_type);
    let stopped = [ErrorType::CompileError, ErrorType::ExtractionFailed, ErrorType::NoTests];
    let stopped = error_type.is_some_and(|each| stopped.contains(&each));
    let infra = error_type.is_some_and(ErrorType::is_infra);
    let finding = (!said.message.is_empty()).then(|| Finding {
        code: None,
        message: said.message.chars().take(MAX_MESSAGE_CHARS).collect(),
        file: Some(word(&said.file).to_owned()).filter(|file| !file.is_empty()),
        line: Some(said.line).filter(|line| *line > 0),
        column: None,
    });
    let text = said.stderr.replace("candidate.py:", "completion:").replace("tests.py:", "test:");
    let mut judged = Judged { stderr: output::of_text(&text), ..Judged::default() };
    judged.compile_ok = match error_type {
        Some(ErrorType::CompileError) => Some(false),
        Some(ErrorType::ExtractionFailed | ErrorType::NoTests) => None,
        _ if infra => None,
        _ => Some(true),
    };
    if !stopped && !infra {
        judged.test_ok = Some(error.is_none());
        judged.border = Some(border);
        let outcome = |(name, ok): &(String, bool)| TestOutcome { name: name.clone(), ok: *ok };
        judged.diagnostics.tests = said.tests.iter().map(outcome).collect();
    }
    match error_type {
        Some(ErrorType::CompileError) => judged.diagnostics.errors = finding.into_iter().collect(),
        Some(ErrorType::AssertionFailure | ErrorType::RuntimeError) => judged.diagnostics.panic = finding,
        _ => {}
    }
    judged.error_type = error_type;
    judged.error = error.map(|(_, error)| error);
    judged
}

fn error(said: &Said, status: Option<&Status>, completion: &str) -> Option<(ErrorType, String)> {
    let message = said.message.clone();
    Some(match said.word.as_str() {
        "ok" if said.passed() => return None,
        "failed" if said.file == "tests.py" => (ErrorType::AssertionFailure, message),
        "failed" | "strange" => (ErrorType::RuntimeError, message),
        "syntax" => (ErrorType::CompileError, message),
        "extraction" => (ErrorType::ExtractionFailed, message),
        "no_tests" => (ErrorType::NoTests, message),
        "missing" => missing(said, completion),
        "garbled" => (
            ErrorType::Tampered,
            format!("the answer wrote messages of its own making to the tests: {message}"),
        ),
        "gone" => gone(status),
        "checker" if said.signal == SIGKILL || said.signal == SIGXCPU => late(),
        "checker" => (
            ErrorType::RuntimeError,
            format!("the tests could not go on with what the answer gave (signal {})", said.signal),
        ),
        "nothing" => match status {
            None | Some(Status::Ok) => late(),
            some => gone(some),
        },
        "unproved" => (ErrorType::Unsupported, message),
        "broken" => (ErrorType::InfraSandbox, message),
        other => (ErrorType::InfraSandbox, format!("the tests ended with an unknown word `{other}`")),
    })
}

const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

fn late() -> (ErrorType, String) {
    (ErrorType::TestTimeout, "the tests took longer than their budget".to_owned())
}

fn missing(said: &Said, completion: &str) -> (ErrorType, String) {
    let top = said.module.split('.').next().unwrap_or_default();
    if !said.known && (said.wanted || (modules::is_package(top) && modules::is_imported(top, completion))) {
        return (ErrorType::InfraMissingModule, format!("the interpreter has no module `{top}`"));
    }
    let kind = if said.file == "tests.py" { ErrorType::AssertionFailure } else { ErrorType::RuntimeError };
    (kind, said.message.clone())
}

/// The answer's process ended while the tests still asked: how, is its own doing.
fn gone(status: Option<&Status>) -> (ErrorType, String) {
    let runtime = |text: String| (ErrorType::RuntimeError, text);
    match status {
        None | Some(Status::InfraError(Infra::Cancelled)) => {
            runtime("the program closed its way to the tests".to_owned())
        }
        Some(Status::Ok) => runtime("the program ended before its tests were done".to_owned()),
        Some(Status::Exit(code)) => {
            runtime(format!("the program ended with exit code {code} before its tests were done"))
        }
        Some(Status::Signal(signal)) => runtime(format!("the program was ended by signal {signal}")),
        Some(Status::CpuLimit | Status::WallLimit) => late(),
        Some(Status::MemoryLimit) => {
            (ErrorType::MemoryLimit, "the tests took more memory than their limit".to_owned())
        }
        Some(Status::OutputLimit | Status::FileLimit) => {
            (ErrorType::OutputLimit, "the program wrote more than its limit".to_owned())
        }
        Some(Status::Denied) => runtime("the program did what the sandbox denies".to_owned()),
        Some(Status::InfraError(infra @ Infra::Exec { .. })) => {
            (ErrorType::InfraMissingToolchain, infra.to_string())
        }
        Some(Status::InfraError(infra)) => (ErrorType::InfraSandbox, infra.to_string()),
    }
}
