//! Python: the tests run in one process, the completion in another, and only plain values cross between them. Both are in
//! one box.
//!
//! In Python everything can be reached from everywhere, so no secret is safe in the completion's own process. The checker
//! reads the secret, starts the worker, and hands the tests a function that asks the worker; what the worker answers is
//! read as a literal, never executed.

pub(super) mod docstring;

use std::collections::BTreeMap;
use std::ffi::OsStr;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json};
use proofhouse_sandbox::Status;
use proofhouse_sandbox::recipes;

use super::bench::Bench;
use super::language::{Language, Task};
use super::output;
use super::problem::Problem;
use super::report::{self, Report};
use super::verdict::{ErrorType, Judged};

const CHECKER: &str = concat!(include_str!("answer.py.txt"), include_str!("checker.py.txt"));
const WORKER: &str = include_str!("worker.py.txt");
const MAX_REPORT_BYTES: u64 = 1 << 20;
/// With this code the checker ends when its report is no longer the file that it made.
const REPLACED: i32 = 3;

/// The Python language with one interpreter.
#[derive(Debug, Clone)]
pub struct Python {
    installed: Result<recipes::Python, String>,
}

impl Python {
    /// Finds the installation that a Python of the host belongs to. If there is none, every verdict says so.
    pub fn find(python: &OsStr) -> Python {
        let installed =
            recipes::Python::find(python).map_err(|error| format!("`{}`: {error}", python.display()));
        Python { installed }
    }
}

impl Language for Python {
    fn name(&self) -> &'static str {
        "python"
    }

    fn toolchains(&self) -> BTreeMap<String, String> {
        self.installed.iter().map(|python| ("python".to_owned(), python.version.clone())).collect()
    }

    fn conditions(&self) -> String {
        let programs = Digest::of_parts(&[CHECKER.as_bytes(), WORKER.as_bytes()]);
        format!("python {programs} {:?}", self.toolchains())
    }

    fn task(&self, problem: &Problem) -> Box<dyn Task> {
        Box::new(PythonTask { python: self.clone(), problem: problem.clone() })
    }
}

struct PythonTask {
    python: Python,
    problem: Problem,
}

impl Task for PythonTask {
    fn judge(&self, bench: &Bench, completion: &str) -> Judged {
        let python = match &self.python.installed {
            Ok(python) => python,
            Err(reason) => return Judged::refused(ErrorType::InfraMissingToolchain, reason.clone()),
        };
        let Some(entry) = &self.problem.entry_point else {
            return Judged::refused(ErrorType::NoTests, "the task does not name its `entry_point`");
        };
        if !tests_something(&self.problem.test) {
            return Judged::refused(ErrorType::NoTests, "the task has no test that does anything");
        }
        let secret = bench.secret();
        let spec = python
            .run(["checker.py"])
            .file("checker.py", CHECKER)
            .file("worker.py", WORKER)
            .file("task.json", self.task_file(entry, completion))
            .stdin(secret.as_bytes())
            .collect("report", MAX_REPORT_BYTES);
        let mut outcome = bench.test(spec);
        let bytes = outcome.collected.pop().and_then(|each| each.result.ok());
        let bytes = bytes.and_then(|found| found.read().ok()).unwrap_or_default();
        let sealed = unsealed(&bytes, &secret);
        let lines = sealed.unwrap_or_default();
        let report = report::read(&[lines, secret.as_bytes()].concat(), &names(lines), &secret);
        let mut judged = Judged { stderr: output::of_stream(&outcome.stderr), ..Judged::default() };
        judged.stderr.text =
            judged.stderr.text.replace("candidate.py:", "completion:").replace("tests.py:", "test:");
        judged.diagnostics.tests = report.tests.clone();
        let word = if sealed.is_none() && !bytes.is_empty() { b"forged" } else { ending(lines) };
        decide(&mut judged, &outcome.status, &report, word);
        judged
    }
}

impl PythonTask {
    fn task_file(&self, entry: &str, completion: &str) -> Vec<u8> {
        let mut task = Object::default();
        task.set("completion", completion);
        task.set("entry", entry);
        task.set("prompt", self.problem.prompt.as_str());
        task.set("test", self.problem.test.as_str());
        Json::Object(task).to_string().into_bytes()
    }
}

/// What the checker wrote, without its seal; `None` if anybody else wrote it. The completion can reach the file, but who
/// does not know the secret cannot seal it.
fn unsealed<'a>(bytes: &'a [u8], secret: &str) -> Option<&'a [u8]> {
    let (lines, seal) = bytes.split_at_checked(bytes.len().checked_sub(64)?)?;
    (Digest::of_parts(&[secret.as_bytes(), lines, secret.as_bytes()]).hex() == seal).then_some(lines)
}

/// The tests that ran.
fn names(lines: &[u8]) -> Vec<String> {
    let name = |line: &str| line.split('\t').nth(1).map(str::to_owned);
    String::from_utf8_lossy(lines).lines().filter_map(name).collect()
}

/// How it ended: the word of the first test that was not ok.
fn ending(lines: &[u8]) -> &[u8] {
    let mut words =
        lines.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b'\t').next());
    words.find(|word| *word != b"ok").unwrap_or_default()
}

/// Whether the tests check anything: a text without `assert` or `raise` cannot fail.
fn tests_something(test: &str) -> bool {
    ["assert", "raise", "unittest"].iter().any(|word| test.contains(word))
}

fn decide(judged: &mut Judged, status: &Status, report: &Report, word: &[u8]) {
    let message = report.panic.as_ref().map(|panic| panic.message.clone()).unwrap_or_default();
    let in_test = report.panic.as_ref().is_some_and(|panic| panic.file.as_deref() == Some("test"));
    let error = match (status, word) {
        (Status::Ok, _) if report.vouched && !report.tests.is_empty() => None,
        (Status::Ok, _) => Some((ErrorType::Tampered, "the tests did not say that they passed".to_owned())),
        (Status::Exit(REPLACED), _) | (Status::Exit(_), b"forged") => {
            Some((ErrorType::Tampered, "the report of the tests was replaced".to_owned()))
        }
        (Status::Exit(_), b"no_tests") => Some((ErrorType::NoTests, message)),
        (Status::Exit(_), b"syntax") => Some((ErrorType::CompileError, message)),
        (Status::Exit(_), b"extraction") => Some((ErrorType::ExtractionFailed, message)),
        (Status::Exit(_), b"left") => Some((ErrorType::Tampered, message)),
        (Status::Exit(_), b"failed") if in_test => Some((ErrorType::AssertionFailure, message)),
        (Status::Exit(code), b"") => {
            Some((ErrorType::RuntimeError, format!("the program ended with exit code {code}")))
        }
        (Status::Exit(_), _) => Some((ErrorType::RuntimeError, message)),
        (Status::Signal(signal), _) => {
            Some((ErrorType::RuntimeError, format!("the program was ended by signal {signal}")))
        }
        (Status::CpuLimit | Status::WallLimit, _) => {
            Some((ErrorType::TestTimeout, "the tests took longer than their budget".to_owned()))
        }
        (Status::MemoryLimit, _) => {
            Some((ErrorType::MemoryLimit, "the tests took more memory than their limit".to_owned()))
        }
        (Status::OutputLimit | Status::FileLimit, _) => {
            Some((ErrorType::OutputLimit, "the program wrote more than its limit".to_owned()))
        }
        (Status::Denied, _) => {
            Some((ErrorType::RuntimeError, "the program did what the sandbox denies".to_owned()))
        }
        (Status::InfraError(infra @ proofhouse_sandbox::Infra::Exec { .. }), _) => {
            Some((ErrorType::InfraMissingToolchain, infra.to_string()))
        }
        (Status::InfraError(infra), _) => Some((ErrorType::InfraSandbox, infra.to_string())),
    };
    let error_type = error.as_ref().map(|(error_type, _)| *error_type);
    let stopped = matches!(
        error_type,
        Some(ErrorType::CompileError | ErrorType::ExtractionFailed | ErrorType::NoTests)
    );
    let infra = error_type.is_some_and(ErrorType::is_infra);
    judged.compile_ok = match error_type {
        Some(ErrorType::CompileError) => Some(false),
        Some(ErrorType::ExtractionFailed | ErrorType::NoTests) => None,
        _ if infra => None,
        _ => Some(true),
    };
    judged.test_ok = (!stopped && !infra).then_some(error.is_none());
    match error_type {
        Some(ErrorType::CompileError) => {
            judged.diagnostics.errors = report.panic.clone().into_iter().collect()
        }
        Some(ErrorType::AssertionFailure | ErrorType::RuntimeError) => {
            judged.diagnostics.panic = report.panic.clone();
        }
        _ => {}
    }
    if stopped || infra {
        judged.diagnostics.tests.clear();
    }
    judged.error_type = error_type;
    judged.error = error.map(|(_, error)| error);
}
