//! One process for a completion and its tests, where values of the task's types cannot cross a border.
//!
//! The completion is compiled as a library, without any text of the tests; the tests are compiled against it, in a scope in which
//! nothing of its making has a name but what the task itself names, and call the wanted function through one of the task's own
//! signature. In the process nothing can be opened or started once the tests begin. What is left is code that reaches below the
//! language: it is not judged here unless the suite says so.

use proofhouse_sandbox::{Found, Outcome, Program, Status, recipes};

use super::checks::Mode;
use super::compile::Emit;
use super::items::{Item, Kind};
use super::judge::{Alone, Compiled, ended, lint_failure};
use super::program;
use super::scope::{Scope, Tests};
use super::tested;
use super::tokens::Lexed;
use super::trap;
use super::{Clippy, diagnostics};
use crate::kinds::code::output;
use crate::kinds::code::report::{self, Report};
use crate::kinds::code::verdict::{Border, ErrorType, Judged};

const MAX_REPORT_BYTES: u64 = 1 << 20;
/// With this code the tests end where they could not be closed off.
const UNCLOSED: i32 = 7;
/// The name of the completion as a library.
pub(super) const LIBRARY: &str = "__proofhouse_candidate";

/// Judges a completion beside its tests.
pub(super) fn judge(alone: &Alone<'_>, mut judged: Judged) -> Judged {
    let rust = alone.compiler.rust;
    // Whether it compiles, and what the linter says, is asked of the completion as it is.
    let files = program::alone(alone.assembled, alone.screened.at_root);
    match alone.compile(&mut judged, &files, Emit::Program) {
        Compiled::Program(program) => judged.binary_size_bytes = Some(program.length()),
        Compiled::Stopped(error_type, error) => return ended(judged, error_type, error),
        Compiled::Misfit => return alone.as_rustc_says(judged),
    }
    if rust.clippy == Clippy::Required && judged.clippy_ok == Some(false) {
        return lint_failure(judged);
    }
    if (alone.screened.reaches_below || alone.screened.unreadable) && !rust.allows_unsafe {
        let error = "the task's types cannot be carried between two processes, and code that reaches below the language \
                     could read what the tests expect in one (`unsafe: allow` judges it all the same)";
        return ended(judged, ErrorType::Unsupported, error.to_owned());
    }
    if alone.task.frame.checks.mode == Mode::Harness {
        let error =
            "tests that a macro makes cannot be run beside a completion whose types cannot be carried";
        return ended(judged, ErrorType::Unsupported, error.to_owned());
    }
    if let Some(name) = redefined(alone) {
        judged.compile_ok = Some(false);
        judged.clippy_ok = None;
        judged.diagnostics.lints.clear();
        let error = format!("`{name}` is not what the task defines by that name");
        return ended(judged, ErrorType::CompileError, error);
    }
    let scope = Scope::of(alone);
    let library = alone.compiler.library(&scope.library(), LIBRARY);
    let Some(library) = library else { return alone.as_rustc_says(judged) };
    let known = trap::known(alone);
    // What only the solution defines is the tests' own, but an answer without it is what plain rustc says.
    if known.lent && !alone.compiles_plainly() {
        return alone.as_rustc_says(judged);
    }
    let tests = Tests { lent: known.lent, texts: vec![alone.task.frame.checks.source.as_str()] };
    match trap::compile(alone, &scope, &library, &tests) {
        Ok(program) => tested(alone, judged, &program, |alone| trap::catches(alone, &scope, &library)),
        Err(outcome) => {
            let blameless = known.compiles != Some(true) && misses_something(alone, &scope, &library, &tests);
            without_program(alone, judged, &outcome, blameless)
        }
    }
}

/// Whether it is by names and types that the tests do not compile: what stops the compiler later is in the completion's own code.
fn misses_something(alone: &Alone<'_>, scope: &Scope, library: &Found, tests: &Tests<'_>) -> bool {
    let files = scope.tests(alone.task, tests);
    alone.compiler.run_with(&files, Emit::Nothing, (LIBRARY, library)).status == Status::Exit(1)
}

/// The tests do not compile beside the completion: its own fault, unless they miss what no answer can give them.
fn without_program(alone: &Alone<'_>, mut judged: Judged, outcome: &Outcome, blameless: bool) -> Judged {
    let told = diagnostics::read(&outcome.stderr.head, &|_| false);
    if blameless && outcome.status == Status::Exit(1) && !told.errors.is_empty() {
        return alone.as_rustc_says_of_tests(judged);
    }
    judged.clippy_ok = None;
    judged.diagnostics.lints.clear();
    let (error_type, error) = alone.stopped(&mut judged, outcome, told);
    ended(judged, error_type, error)
}

/// What the compiler derives says nothing but what it says of every type.
const DERIVED: [&str; 9] =
    ["Debug", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Default"];

/// A type, trait or static of the prompt that the completion defines otherwise: more derived traits are not otherwise.
fn redefined(alone: &Alone<'_>) -> Option<String> {
    let tokens = |lexed: &Lexed<'_>, item: &Item| {
        let of_item = |token: &&super::tokens::Token| {
            token.from >= lexed.tokens[item.keyword].from && token.to <= item.to
        };
        let derives = item.attributes.clone().filter(|at| lexed.word(*at) != "doc").map(|at| lexed.word(at));
        let derives = derives.filter(|word| word.starts_with(char::is_uppercase)).map(str::to_owned);
        let derives: Vec<String> = derives.collect();
        let text: String =
            lexed.tokens.iter().filter(of_item).map(|token| &lexed.text[token.from..token.to]).collect();
        (derives, text)
    };
    let prompt = Lexed::of(alone.task.preamble())?;
    let answer = Lexed::of(&alone.assembled.source)?;
    let defined = Item::all(&prompt)?;
    let items = Item::all(&answer)?;
    // Functions and constants can be the prompt's for the tests and the answer's for itself; there is only one of a static.
    let is_static = |known: &Item| known.kind == Kind::Value && prompt.word(known.keyword) == "static";
    let own = items.iter().filter(|item| alone.assembled.own.contains(&item.from));
    let changed = |item: &&Item| {
        let has_name = |known: &&Item| known.name == item.name && !known.name.is_empty();
        let known = defined.iter().filter(has_name).find(|known| match item.kind {
            Kind::Type => known.kind == Kind::Type,
            Kind::Value | Kind::Function => is_static(known),
            _ => false,
        });
        known.is_some_and(|known| {
            let ((wanted, text), (derives, own)) = (tokens(&prompt, known), tokens(&answer, item));
            let kept = wanted.iter().all(|name| derives.contains(name));
            text != own
                || !kept
                || !derives.iter().all(|name| wanted.contains(name) || DERIVED.contains(&name.as_str()))
        })
    };
    let mut own = own;
    own.find(changed).map(|item| item.name.clone())
}

/// One run of tests beside a completion.
pub(super) struct Ran {
    outcome: Outcome,
    report: Report,
    /// Whether all of them were run and are ok.
    pub(super) passed: bool,
}

/// Runs the tests with this number of a program.
pub(super) fn run(alone: &Alone<'_>, program: &Program, number: usize) -> Ran {
    let bench = alone.compiler.bench;
    let secret = bench.secret();
    let spec = program
        .run([])
        // It closes itself further, as one that boxes its own forks does.
        .as_zygote()
        .binds(recipes::libraries())
        .stdin(format!("{number}\n{secret}"))
        .collect("report", MAX_REPORT_BYTES);
    let mut outcome = bench.test(spec);
    let report = outcome.collected.pop().and_then(|each| each.result.ok());
    let report = report.and_then(|found| found.read().ok()).unwrap_or_default();
    let report = report::read(&report, &alone.task.frame.checks.names, &secret);
    let passed = error(&outcome.status, &report).is_none();
    Ran { outcome, report, passed }
}

fn tested(
    alone: &Alone<'_>,
    mut judged: Judged,
    program: &Program,
    is_unmoved: impl FnOnce(&Alone<'_>) -> bool,
) -> Judged {
    let Ran { outcome, report, passed } = run(alone, program, 0);
    judged.border = Some(Border::Shared);
    judged.stderr = output::of_stream(&outcome.stderr);
    judged.stderr.text =
        judged.stderr.text.replace("candidate.rs:", "completion:").replace("tests.rs:", "test:");
    judged.diagnostics.tests = report.tests.clone();
    judged.diagnostics.panic = report.panic.clone();
    let wrong = match error(&outcome.status, &report) {
        None if passed && is_unmoved(alone) => {
            let error = "the answer passes as well where the tests expect something else";
            Some((ErrorType::Tampered, error.to_owned()))
        }
        other => other,
    };
    match wrong {
        None => judged.test_ok = Some(true),
        Some((error_type, error)) => {
            judged.test_ok = (!error_type.is_infra()).then_some(false);
            judged = ended(judged, error_type, error);
        }
    }
    judged
}

fn error(status: &Status, report: &Report) -> Option<(ErrorType, String)> {
    match status {
        Status::Ok if report.vouched => None,
        Status::Exit(1) if report.panic.is_some() => tested::panicked(report),
        Status::Exit(UNCLOSED) => Some((
            ErrorType::InfraSandbox,
            "what shares a process with its tests could not be closed off".to_owned(),
        )),
        other => Some(tested::gone(other)),
    }
}
