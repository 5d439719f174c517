//! One completion through its phases: read, compile and lint, test.

use std::io;

use proofhouse_sandbox::recipes::{self, Toolchain};
use proofhouse_sandbox::{Arg, Outcome, Program, Spec, Status};

use super::assemble::{Assembled, assemble};
use super::diagnostics::{self, Told};
use super::frame::Frame;
use super::program;
use super::program::RUNNER_NAME;
use super::screen::{Screened, screen};
use super::{Clippy, Rust};
use crate::code::bench::Bench;
use crate::code::output;
use crate::code::report::{self, Report};
use crate::code::verdict::{ErrorType, Judged};

/// The largest test program that is run.
const MAX_PROGRAM_BYTES: u64 = 256 << 20;
const MAX_REPORT_BYTES: u64 = 4 << 20;

/// A compiled program, or why there is none.
enum Compiled {
    Program(Program),
    Stopped(ErrorType, String),
}

pub(super) fn judge(rust: &Rust, frame: &Frame, bench: &Bench, completion: &str) -> Judged {
    let toolchain = match &rust.toolchain {
        Ok(toolchain) => toolchain,
        Err(reason) => return Judged::refused(ErrorType::InfraMissingToolchain, reason.clone()),
    };
    let Some(assembled) = assemble(frame, completion) else {
        return Judged::refused(ErrorType::ExtractionFailed, "there is no code in the answer");
    };
    let screened = screen(frame, &assembled);
    let mut judged = Judged { main_free: Some(assembled.main_free), ..Judged::default() };
    if let Some((error_type, error)) = before_compiling(rust, frame, &screened) {
        judged.diagnostics.missing_crates = screened.missing_crates;
        return ended(judged, error_type, error);
    }
    if let Some(reason) = rust.unsound(bench) {
        return ended(judged, ErrorType::InfraToolchainBroken, reason);
    }
    let files = program::files(frame, &assembled, screened.at_root);
    let run = Run { rust, toolchain, bench, files: &files, own: &|at| assembled.is_own(at) };
    let program = match run.compile(&mut judged, screened.has_unsafe) {
        Compiled::Program(program) => program,
        Compiled::Stopped(error_type, error) => return ended(judged, error_type, error),
    };
    if screened.unreadable {
        let error = "the compiler reads what the harness cannot: the answer is not judged";
        return ended(judged, ErrorType::ExtractionFailed, error.to_owned());
    }
    judged.binary_size_bytes = Some(program.length());
    if rust.clippy == Clippy::Required && judged.clippy_ok == Some(false) {
        return lint_failure(judged);
    }
    run.test(judged, &frame.checks.names, program.run([]))
}

/// The verdict of a completion that compiles but that the linter does not accept.
pub(super) fn lint_failure(judged: Judged) -> Judged {
    let error = judged.diagnostics.lints.first().map_or_else(String::new, |lint| lint.message.clone());
    ended(judged, ErrorType::LintFailure, error)
}

fn before_compiling(rust: &Rust, frame: &Frame, screened: &Screened) -> Option<(ErrorType, String)> {
    if frame.checks.names.is_empty() {
        return Some((ErrorType::NoTests, "the task has no test that does anything".to_owned()));
    }
    if let Some(reason) = &screened.tampered {
        return Some((ErrorType::Tampered, reason.clone()));
    }
    if !screened.missing_crates.is_empty() {
        let error =
            format!("the task needs crates that are not there: {}", screened.missing_crates.join(", "));
        return Some((ErrorType::InfraMissingCrate, error));
    }
    let without = rust.toolchain.as_ref().is_ok_and(|toolchain| !toolchain.has_clippy());
    (rust.clippy == Clippy::Required && without)
        .then(|| (ErrorType::InfraMissingLinter, "the toolchain has no `clippy-driver`".to_owned()))
}

fn ended(mut judged: Judged, error_type: ErrorType, error: String) -> Judged {
    judged.error_type = Some(error_type);
    judged.error = Some(error);
    judged
}

/// One program on its way.
pub(super) struct Run<'a> {
    pub(super) rust: &'a Rust,
    pub(super) toolchain: &'a Toolchain,
    pub(super) bench: &'a Bench,
    /// The crate's root first.
    pub(super) files: &'a [(String, String)],
    /// What the model wrote of the file of the completion.
    pub(super) own: &'a dyn Fn(usize) -> bool,
}

impl Run<'_> {
    /// Compiles and lints, in one pass where that says the same.
    fn compile(&self, judged: &mut Judged, has_unsafe: bool) -> Compiled {
        let lints = self.rust.clippy != Clippy::Off && self.toolchain.has_clippy();
        if lints && !has_unsafe {
            let outcome = self.drive(true, true);
            let told = diagnostics::read(&outcome.stderr.head, self.own);
            // Lints that the completion itself made errors: the compiler decides alone whether it compiles.
            let only_lints = matches!(outcome.status, Status::Exit(_)) && !told.real_error;
            if !only_lints || told.lints.is_empty() {
                return self.compiled(judged, outcome, told, true);
            }
        }
        let outcome = self.drive(false, true);
        let told = diagnostics::read(&outcome.stderr.head, self.own);
        let compiled = self.compiled(judged, outcome, told, false);
        if lints && matches!(compiled, Compiled::Program(_)) {
            let told = diagnostics::read(&self.drive(true, false).stderr.head, self.own);
            judged.clippy_ok = Some(told.lints.is_empty());
            judged.diagnostics.lints = told.lints;
        }
        compiled
    }

    /// One call of the compiler or of the linter.
    pub(super) fn drive(&self, clippy: bool, link: bool) -> Outcome {
        let runner = match self.rust.runner(self.toolchain, self.bench) {
            Ok(runner) => runner,
            Err(outcome) => return *outcome,
        };
        let mut args: Vec<Arg> = vec![
            format!("--edition={}", self.rust.edition).into(),
            "--crate-name=program".into(),
            "--crate-type=bin".into(),
            "--error-format=json".into(),
            "-Copt-level=0".into(),
            "-Cdebuginfo=0".into(),
            "-Ccodegen-units=1".into(),
            "-Cstrip=symbols".into(),
        ];
        args.push(if link { "--emit=link" } else { "--emit=metadata" }.into());
        // The linter's own errors are advice here; the compiler's warnings are of no interest.
        args.push(if clippy { "-Wclippy::correctness" } else { "-Awarnings" }.into());
        args.push(format!("--extern={RUNNER_NAME}=lib{RUNNER_NAME}.rlib").into());
        args.extend(self.rust.crates.arguments());
        args.extend(["-o".into(), Arg::from("program"), self.files[0].0.as_str().into()]);
        let mut spec = if clippy { self.toolchain.clippy(args) } else { self.toolchain.rustc(args) };
        spec = self.rust.crates.give(spec).collect("program", MAX_PROGRAM_BYTES);
        spec = spec.file(&format!("lib{RUNNER_NAME}.rlib"), runner.as_slice());
        for (name, text) in self.files {
            spec = spec.file(name, text.as_bytes());
        }
        self.bench.compile(spec)
    }

    fn compiled(&self, judged: &mut Judged, mut outcome: Outcome, told: Told, linted: bool) -> Compiled {
        judged.compile_time_ms = Some(outcome.usage.cpu_ms);
        let found = outcome.collected.pop().and_then(|each| each.result.ok());
        if outcome.status == Status::Ok
            && let Some(found) = found
        {
            judged.compile_ok = Some(true);
            if linted {
                judged.clippy_ok = Some(told.lints.is_empty());
                judged.diagnostics.lints = told.lints;
            }
            return Compiled::Program(self.bench.sandbox().program(found));
        }
        let (error_type, error) = self.why_not(&outcome, &told);
        if !error_type.is_infra() {
            judged.compile_ok = Some(false);
            judged.diagnostics.errors = told.errors;
        }
        judged.stderr = match told.rendered.is_empty() {
            true => output::of_text(&diagnostics::of_crash(&outcome.stderr.text())),
            false => output::of_text(&told.rendered),
        };
        Compiled::Stopped(error_type, error)
    }

    fn why_not(&self, outcome: &Outcome, told: &Told) -> (ErrorType, String) {
        // Whatever stops the compiler could be the machine's doing: then it stops a program that is known to be good too.
        let unless_broken = |error_type, what: String| match self.rust.broken(self.bench) {
            Some(reason) => (ErrorType::InfraToolchainBroken, reason),
            None => (error_type, what),
        };
        let doubtful = |what| unless_broken(ErrorType::CompileError, what);
        match &outcome.status {
            Status::CpuLimit | Status::WallLimit => {
                unless_broken(ErrorType::CompileTimeout, "compiling took longer than its budget".to_owned())
            }
            Status::MemoryLimit => {
                unless_broken(ErrorType::MemoryLimit, "compiling took more memory than its limit".to_owned())
            }
            Status::OutputLimit => {
                (ErrorType::OutputLimit, "the compiler said more than its limit".to_owned())
            }
            Status::InfraError(infra @ proofhouse_sandbox::Infra::Exec { .. }) => {
                (ErrorType::InfraMissingToolchain, infra.to_string())
            }
            Status::InfraError(infra) => (ErrorType::InfraSandbox, infra.to_string()),
            Status::Signal(9) => {
                (ErrorType::InfraToolchainBroken, "the compiler was killed from outside".to_owned())
            }
            Status::Exit(1) => match told.errors.iter().find(|error| error.file.is_some()) {
                Some(error) => (ErrorType::CompileError, error.message.clone()),
                None => doubtful(told.errors.first().map_or_else(String::new, |error| error.message.clone())),
            },
            other => doubtful(format!("the compiler ended with `{}`", other.word())),
        }
    }

    /// Runs the tests of a program: this is its call.
    pub(super) fn test(&self, mut judged: Judged, names: &[String], call: Spec) -> Judged {
        let secret = self.bench.secret();
        let spec =
            call.binds(recipes::libraries()).stdin(secret.as_bytes()).collect("report", MAX_REPORT_BYTES);
        let mut outcome = self.bench.test(spec);
        judged.stderr = output::of_stream(&outcome.stderr);
        judged.stderr.text =
            judged.stderr.text.replace("candidate.rs:", "completion:").replace("tests.rs:", "test:");
        let report = outcome.collected.pop().and_then(|each| each.result.ok());
        let report = report.and_then(|found| found.read().ok()).unwrap_or_default();
        let report = report::read(&report, names, &secret);
        judged.diagnostics.tests = report.tests.clone();
        judged.diagnostics.panic = report.panic.clone();
        match test_error(&outcome.status, &report) {
            None => judged.test_ok = Some(true),
            Some((error_type, error)) => {
                judged.test_ok = (!error_type.is_infra()).then_some(false);
                judged = ended(judged, error_type, error);
            }
        }
        judged
    }
}

fn test_error(status: &Status, report: &Report) -> Option<(ErrorType, String)> {
    let failed = report.panic.as_ref().map(|panic| {
        let in_test = panic.file.as_deref() == Some("test");
        let error_type = if in_test { ErrorType::AssertionFailure } else { ErrorType::RuntimeError };
        (error_type, panic.message.clone())
    });
    Some(match status {
        Status::Ok if report.vouched => return None,
        Status::Ok => (
            ErrorType::Tampered,
            "the program ended well, but its tests did not say that they passed".to_owned(),
        ),
        Status::Exit(program::OWN_TYPE) if report.tests.is_empty() => {
            (ErrorType::Tampered, "the function returns a type that the task does not know".to_owned())
        }
        Status::Exit(code) => failed
            .unwrap_or_else(|| (ErrorType::RuntimeError, format!("the program ended with exit code {code}"))),
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
    })
}

/// Compiles and runs a program that is known to be good: its size, or what is wrong.
pub(super) fn known_good(rust: &Rust, bench: &Bench) -> Result<u64, String> {
    let toolchain = rust.toolchain.as_ref().map_err(String::clone)?;
    let assembled = Assembled {
        source: "fn one() -> i32 { 1 }\n".into(),
        own: 0..22,
        repeated: Vec::new(),
        main_free: true,
        reading: super::assemble::Reading::Whole,
    };
    let problem = crate::code::Problem {
        prompt: "fn one() -> i32 {\n".into(),
        test: "fn main() { assert_eq!(one(), 1); }".into(),
        ..crate::code::Problem::default()
    };
    let frame = Frame::of(&problem, &std::collections::BTreeSet::new());
    let files = program::files(&frame, &assembled, false);
    let run = Run { rust, toolchain, bench, files: &files, own: &|at| assembled.is_own(at) };
    let mut outcome = run.drive(false, true);
    let found = outcome.collected.pop().and_then(|each| each.result.ok());
    match (&outcome.status, found) {
        (Status::Ok, Some(found)) => {
            let program = bench.sandbox().program(found);
            let judged = run.test(Judged::default(), &frame.checks.names, program.run([]));
            match judged.error {
                None => Ok(program.length()),
                Some(error) => Err(format!("a program that is known to be good fails: {error}")),
            }
        }
        (status, _) => {
            let told = diagnostics::read(&outcome.stderr.head, &|_| false);
            let said =
                told.errors.first().map_or_else(|| outcome.stderr.text(), |error| error.message.clone());
            let said: String = said.chars().take(400).collect();
            Err(format!("a program that is known to be good does not compile (`{}`): {said}", status.word()))
        }
    }
}

/// Compiles the library that runs tests; what the compiler came to, if it could not.
pub(super) fn build_runner(toolchain: &Toolchain, bench: &Bench) -> Result<Vec<u8>, Box<Outcome>> {
    let file = format!("lib{RUNNER_NAME}.rlib");
    let args: Vec<Arg> = vec![
        "--edition=2021".into(),
        format!("--crate-name={RUNNER_NAME}").into(),
        "--crate-type=rlib".into(),
        "--error-format=json".into(),
        "-Copt-level=0".into(),
        "-Cdebuginfo=0".into(),
        "-Ccodegen-units=1".into(),
        "-o".into(),
        file.as_str().into(),
        "runner.rs".into(),
    ];
    let spec = toolchain.rustc(args).file("runner.rs", program::RUNNER).collect(&file, MAX_PROGRAM_BYTES);
    let mut outcome = bench.compile(spec);
    let found = outcome.collected.pop().and_then(|each| each.result.ok());
    match found.filter(|_| outcome.status == Status::Ok).and_then(|found| found.read().ok()) {
        Some(library) => Ok(library),
        None => Err(Box::new(outcome)),
    }
}

/// The toolchain that a `rustc` of the host belongs to.
pub(super) fn toolchain(rustc: &std::ffi::OsStr) -> Result<Toolchain, String> {
    Toolchain::rust(rustc).map_err(|error: io::Error| format!("`{}`: {error}", rustc.display()))
}
