//! Judging one Rust completion by itself: extract → compile → lint → test, each in the sandbox with its own error type.

use std::io;

use proofhouse_sandbox::recipes::Toolchain;
use proofhouse_sandbox::{Infra, Outcome, Program, Status};

use super::assemble::{Assembled, Reading, assemble};
use super::checker::{Checker, Checking, checking, under_harness};
use super::compile::{Compiler, Emit};
use super::diagnostics::{self, CompilerReport};
use super::prepared::{Prepared, Way};
use super::program::{self, File};
use super::screen::{Screened, screen};
use super::signature::Signature;
use super::{Clippy, Rust, one_process, rescue, tested};
use crate::kinds::code::bench::Bench;
use crate::kinds::code::output;
use crate::kinds::code::verdict::{ErrorType, Finding, Judged};
use crate::text::complaint::Complaint;

/// What compiling came to.
pub(super) enum Compiled {
    Program(Program),
    Stopped(ErrorType, String),
    /// The completion compiles, but its function is not what the border calls.
    Misfit,
}

/// Judges a completion once.
pub(super) fn judge(rust: &Rust, task: &Prepared, bench: &Bench, completion: &str) -> Judged {
    let toolchain = match &rust.toolchain {
        Ok(toolchain) => toolchain,
        Err(reason) => return Judged::refused(ErrorType::InfraMissingToolchain, reason.clone()),
    };
    let Some(assembled) = assemble(&task.frame, completion) else {
        return Judged::refused(ErrorType::ExtractionFailed, "there is no code in the answer");
    };
    let screened = screen(&task.frame, &assembled);
    let mut judged = begun(&assembled, &screened);
    if let Some((error_type, error)) = before_compiling(rust, task) {
        judged.diagnostics.missing_crates = task.needed.clone();
        return ended(judged, error_type, error);
    }
    if let Some(reason) = rust.unsound(bench) {
        return ended(judged, ErrorType::InfraToolchainBroken, reason.to_string());
    }
    let compiler = Compiler { rust, toolchain, bench };
    let alone = Alone { compiler, task, assembled: &assembled, screened: &screened };
    let judged = match task.way(&assembled) {
        Way::Border(signature) => alone.over_the_border(judged, &signature),
        Way::Shared(_) => one_process::judge(&alone, judged),
        Way::Refused => alone.beside_its_own(judged),
    };
    if judged.error_type == Some(ErrorType::CompileError) {
        return without_crates(task, judged, &screened);
    }
    judged
}

/// An answer that does not compile, and perhaps for want of a crate that the prompt has. A task with a solution can do without it:
/// then it was the answer's own choice. Without one nobody knows, and it is said of this answer alone.
fn without_crates(task: &Prepared, mut judged: Judged, screened: &Screened) -> Judged {
    judged.diagnostics.missing_crates = screened.missing_crates.clone();
    let missing =
        task.frame.missing.iter().filter(|leaf| screened.missing_crates.contains(&leaf.root().to_owned()));
    let names: Vec<String> =
        missing.flat_map(|leaf| [format!("`{}`", leaf.name), format!("`{}`", leaf.root())]).collect();
    let told = |error: &Finding| names.iter().any(|name| error.message.contains(name.as_str()));
    if task.solution.is_some() || !judged.diagnostics.errors.iter().any(told) {
        return judged;
    }
    judged.compile_ok = None;
    let error = format!(
        "the answer uses crates of the prompt that are not there: {}",
        screened.missing_crates.join(", ")
    );
    ended(judged, ErrorType::InfraMissingCrate, error)
}

/// What is known before anything is compiled.
pub(super) fn begun(assembled: &Assembled, screened: &Screened) -> Judged {
    Judged {
        main_free: Some(assembled.main_free),
        has_unsafe: (!screened.unreadable).then_some(screened.has_unsafe),
        ..Judged::default()
    }
}

/// The verdict of a completion that compiles but that the linter does not accept.
pub(super) fn lint_failure(judged: Judged) -> Judged {
    let error = judged.diagnostics.lints.first().map_or_else(String::new, |lint| lint.message.clone());
    ended(judged, ErrorType::LintFailure, error)
}

/// What is known of the task alone: no answer decides it.
pub(super) fn before_compiling(rust: &Rust, task: &Prepared) -> Option<(ErrorType, String)> {
    if task.frame.checks.is_empty() {
        return Some((ErrorType::NoTests, "the task has no test that does anything".to_owned()));
    }
    if !task.needed.is_empty() {
        let error = format!("the task needs crates that are not there: {}", task.needed.join(", "));
        return Some((ErrorType::InfraMissingCrate, error));
    }
    let without = rust.toolchain.as_ref().is_ok_and(|toolchain| !toolchain.has_clippy());
    (rust.clippy == Clippy::Required && without)
        .then(|| (ErrorType::InfraMissingLinter, "the toolchain has no `clippy-driver`".to_owned()))
}

pub(super) fn ended(mut judged: Judged, error_type: ErrorType, error: String) -> Judged {
    judged.error_type = Some(error_type);
    judged.error = Some(error);
    judged
}

/// One completion that is judged by itself.
pub(super) struct Alone<'a> {
    pub(super) compiler: Compiler<'a>,
    pub(super) task: &'a Prepared,
    pub(super) assembled: &'a Assembled,
    pub(super) screened: &'a Screened,
}

impl Alone<'_> {
    fn over_the_border(&self, new: Judged, signature: &Signature) -> Judged {
        let judged = self.across(new.clone(), signature);
        if rescue::concerns(&judged) && rescue::needs_one_process(&self.compiler, self.task) {
            return one_process::judge(self, new);
        }
        judged
    }

    /// Judges it over the border, whatever its task is.
    pub(super) fn across(&self, mut judged: Judged, signature: &Signature) -> Judged {
        let rust = self.compiler.rust;
        let files = program::single(self.assembled, signature, self.screened.at_root);
        let program = match self.compile(&mut judged, &files, Emit::Program) {
            Compiled::Program(program) => program,
            Compiled::Stopped(error_type, error) => return ended(judged, error_type, error),
            Compiled::Misfit => return self.as_rustc_says(judged),
        };
        judged.binary_size_bytes = Some(program.length());
        if rust.clippy == Clippy::Required && judged.clippy_ok == Some(false) {
            return lint_failure(judged);
        }
        if signature.shows_its_error() && !self.compiles_plainly() {
            return self.as_rustc_says(judged);
        }
        match rust.checkers.of(&self.compiler, &[(self.task, signature)]).pop() {
            Some(Checker::Ready(checker, number)) => self.test(judged, &program, &checker, number),
            Some(Checker::Lent(checker)) if self.compiles_plainly() => {
                self.test(judged, &program, &checker, 0)
            }
            Some(Checker::Lent(_)) => self.as_rustc_says(judged),
            Some(Checker::Harness(_, names)) if names.is_empty() => {
                ended(judged, ErrorType::NoTests, "the task has no test that is run".to_owned())
            }
            Some(Checker::Harness(checker, names)) => {
                match under_harness(self.compiler.bench, &checker, &names, tested::call(&program, None)) {
                    Ok((told, candidate)) => tested::judge(judged, &names, told, &candidate, None),
                    Err(error) => ended(judged, ErrorType::InfraSandbox, error.to_string()),
                }
            }
            Some(Checker::Broken(_)) if self.task.is_own(signature) => match signature.showing_its_error() {
                Some(shown) => self.across(begun(self.assembled, self.screened), &shown),
                None => self.beside_its_own(judged),
            },
            Some(Checker::Broken(why)) => {
                let _ = self.task.inseparable.set(why);
                one_process::judge(self, judged)
            }
            Some(Checker::Unknown) | None => {
                let error = "the tests of the task could not be compiled".to_owned();
                ended(judged, ErrorType::InfraToolchainBroken, error)
            }
        }
    }

    fn test(&self, judged: Judged, program: &Program, checker: &Program, number: usize) -> Judged {
        let work = |checking: &mut Checking<'_>| checking.test(number, tested::call(program, None));
        match checking(self.compiler.bench, checker, 1, work) {
            Ok((Ok((told, candidate)), checker)) => {
                tested::judge(judged, &self.task.frame.checks.names, told, &candidate, Some(&checker))
            }
            Ok((Err(error), _)) | Err(error) => ended(judged, ErrorType::InfraSandbox, error.to_string()),
        }
    }

    /// What the compiler says of completion and tests together.
    fn plainly(&self) -> Outcome {
        let files = program::plain(self.task, self.assembled, self.screened.at_root);
        self.compiler.run(&files, false, Emit::Nothing)
    }

    /// Whether completion and tests compile together.
    pub(super) fn compiles_plainly(&self) -> bool {
        self.plainly().status == Status::Ok
    }

    /// Only the completion says what its types are, because the task leaves that open. Beside its tests it could say what they are to
    /// find, so that there it has to fail wrong ones.
    fn beside_its_own(&self, judged: Judged) -> Judged {
        if !self.task.leaves_its_function_open() || !self.compiles_plainly() {
            return self.as_rustc_says(judged);
        }
        one_process::judge(self, judged)
    }

    /// The function's own types keep it from being called over the border. Whether its tests would compile with it at all is
    /// asked of the compiler; they are not run.
    pub(super) fn as_rustc_says(&self, judged: Judged) -> Judged {
        self.as_said_plainly(judged, self.task.leaves_its_function_open())
    }

    /// The function is what the task declares, and the tests do not compile beside it all the same: they take something else of
    /// the answer's, by which it could say what they are to find.
    pub(super) fn as_rustc_says_of_tests(&self, judged: Judged) -> Judged {
        self.as_said_plainly(judged, true)
    }

    fn as_said_plainly(&self, mut judged: Judged, blameless: bool) -> Judged {
        let outcome = self.plainly();
        let told = diagnostics::read(&outcome.stderr.head, &|at| self.assembled.is_own(at));
        judged.compile_time_ms = Some(outcome.usage.cpu_ms);
        if outcome.status == Status::Ok {
            return of_another_type(judged, blameless);
        }
        judged.clippy_ok = None;
        judged.diagnostics.lints.clear();
        let (error_type, error) = self.stopped(&mut judged, &outcome, told);
        ended(judged, error_type, error)
    }

    /// Compiles and lints, in one pass where that says the same.
    pub(super) fn compile(&self, judged: &mut Judged, files: &[File], emit: Emit<'_>) -> Compiled {
        let own = |at| self.assembled.is_own(at);
        let compiler = &self.compiler;
        let lints = compiler.rust.clippy != Clippy::Off && compiler.toolchain.has_clippy();
        if lints && !self.screened.has_unsafe {
            let outcome = compiler.run(files, true, emit);
            let told = diagnostics::read(&outcome.stderr.head, &own);
            // Lints that the completion itself made errors: the compiler decides alone whether it compiles.
            let only_lints = matches!(outcome.status, Status::Exit(_)) && !told.real_error;
            if !only_lints || told.lints.is_empty() {
                return self.compiled(judged, outcome, told, true);
            }
        }
        let outcome = compiler.run(files, false, emit);
        let told = diagnostics::read(&outcome.stderr.head, &own);
        let compiled = self.compiled(judged, outcome, told, false);
        if lints && matches!(compiled, Compiled::Program(_)) {
            let told = diagnostics::read(&compiler.run(files, true, Emit::Nothing).stderr.head, &own);
            judged.clippy_ok = Some(told.lints.is_empty());
            judged.diagnostics.lints = told.lints;
        }
        compiled
    }

    fn compiled(
        &self,
        judged: &mut Judged,
        mut outcome: Outcome,
        told: CompilerReport,
        linted: bool,
    ) -> Compiled {
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
            return Compiled::Program(self.compiler.bench.sandbox().program(found));
        }
        if outcome.status == Status::Exit(1) && told.is_of_border() {
            return Compiled::Misfit;
        }
        let (error_type, error) = self.stopped(judged, &outcome, told);
        Compiled::Stopped(error_type, error)
    }

    /// Why the compiler made no program; what it said goes to the record.
    pub(super) fn stopped(
        &self,
        judged: &mut Judged,
        outcome: &Outcome,
        told: CompilerReport,
    ) -> (ErrorType, String) {
        let (error_type, error) = self.why_not(outcome, &told);
        if !error_type.is_infra() {
            judged.compile_ok = Some(false);
            judged.diagnostics.errors = told.errors;
        }
        judged.stderr = match told.rendered.is_empty() {
            true => output::of_text(&diagnostics::of_crash(&outcome.stderr.text())),
            false => output::of_text(&told.rendered),
        };
        (error_type, error)
    }

    fn why_not(&self, outcome: &Outcome, told: &CompilerReport) -> (ErrorType, String) {
        // Whatever stops the compiler could be the machine's doing: then it stops a program that is known to be good too.
        let unless_broken = |error_type, what: String| match self.compiler.rust.broken(self.compiler.bench) {
            Some(reason) => (ErrorType::InfraToolchainBroken, reason.to_string()),
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
            Status::InfraError(infra @ Infra::Exec { .. }) => {
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
}

/// It compiles with its tests, but not as what the task declares. Where the task leaves open what its function is, that is
/// nobody's fault; where it does not, the answer is not one to it: else any answer could have itself left out of the score.
fn of_another_type(mut judged: Judged, blameless: bool) -> Judged {
    if blameless {
        let error = "the function's own types cannot be carried to the tests, and beside them it could say what they are to find";
        return ended(judged, ErrorType::Unsupported, error.to_owned());
    }
    judged.compile_ok = Some(false);
    judged.clippy_ok = None;
    judged.diagnostics.lints.clear();
    let error = "the function is not of the type that the task declares, and its own type cannot be carried to the tests";
    ended(judged, ErrorType::CompileError, error.to_owned())
}

/// Compiles and tests a program that is known to be good: its size, or what is wrong.
pub(super) fn known_good(rust: &Rust, bench: &Bench) -> Result<u64, Complaint> {
    let toolchain = rust.toolchain.as_ref().map_err(Complaint::clone)?;
    let compiler = Compiler { rust, toolchain, bench };
    let source = "fn one() -> i32 { 1 }\n".to_owned();
    let assembled = Assembled {
        own: 0..source.len(),
        source,
        repeated: Vec::new(),
        main_free: true,
        reading: Reading::Whole,
    };
    let problem = crate::kinds::code::Problem {
        prompt: "fn one() -> i32 {\n".into(),
        test: "fn main() { assert_eq!(one(), 1); }".into(),
        ..crate::kinds::code::Problem::default()
    };
    let task = Prepared::of(&problem, &std::collections::BTreeSet::new());
    let Way::Border(signature) = task.way(&assembled) else {
        return Err(Complaint::new("a plain signature does not cross"));
    };
    let mut outcome = compiler.run(&program::single(&assembled, &signature, false), false, Emit::Program);
    let found = outcome.collected.pop().and_then(|each| each.result.ok());
    let (Status::Ok, Some(found)) = (&outcome.status, found) else {
        let told = diagnostics::read(&outcome.stderr.head, &|_| false);
        let said = told.errors.first().map_or_else(|| outcome.stderr.text(), |error| error.message.clone());
        let said: String = said.chars().take(400).collect();
        let word = outcome.status.word();
        return Err(Complaint::new(format!(
            "a program that is known to be good does not compile (`{word}`): {said}"
        )));
    };
    let program = bench.sandbox().program(found);
    let Some(Checker::Ready(checker, number)) = rust.checkers.of(&compiler, &[(&task, &signature)]).pop()
    else {
        return Err(Complaint::new("tests that are known to be good do not compile"));
    };
    let tested = checking(bench, &checker, 1, |checking| checking.test(number, tested::call(&program, None)));
    let judged = match tested {
        Ok((Ok((told, candidate)), checker)) => {
            tested::judge(Judged::default(), &task.frame.checks.names, told, &candidate, Some(&checker))
        }
        Ok((Err(error), _)) | Err(error) => {
            ended(Judged::default(), ErrorType::InfraSandbox, error.to_string())
        }
    };
    match judged.error {
        None => Ok(program.length()),
        Some(error) => Err(Complaint::new(format!("a program that is known to be good fails: {error}"))),
    }
}

/// The toolchain that a `rustc` of the host belongs to.
pub(super) fn toolchain(rustc: &std::ffi::OsStr) -> Result<Toolchain, Complaint> {
    Toolchain::rust(rustc)
        .map_err(|error: io::Error| Complaint::new(format!("`{}`: {error}", rustc.display())))
}
