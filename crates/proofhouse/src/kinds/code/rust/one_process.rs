//! One process for a completion and its tests, where values of the task's types cannot cross a border.
//!
//! The completion is compiled as a library, without any text of the tests; the tests are compiled against it, in a scope in which
//! nothing of its making has a name but what the task itself names, and call the wanted function through one of the task's own
//! signature. In the process nothing can be opened or started once the tests begin. What is left is code that reaches below the
//! language: it is not judged here unless the suite says so.

use proofhouse_sandbox::{Outcome, Program, Status, recipes};

use super::checks::Mode;
use super::compile::Emit;
use super::items::{Item, Kind};
use super::judge::{Alone, Compiled, ended, lint_failure};
use super::program;
use super::scope::Scope;
use super::tested;
use super::tokens::Lexed;
use super::trap::{self, Belief, Room};
use super::{Clippy, diagnostics};
use crate::kinds::code::output;
use crate::kinds::code::report::{self, Report};
use crate::kinds::code::verdict::{Border, ErrorType, Judged};

const MAX_REPORT_BYTES: u64 = 1 << 20;
/// What the tests report, before the secret, where they could not be closed off.
const UNCLOSED: &str = "unclosed\n";
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
    if alone.task.frame.checks.mode == Mode::Harness {
        let error =
            "tests that a macro makes cannot be run beside a completion whose types cannot be carried";
        // No answer can choose it: it is the task that cannot be tried here.
        return ended(judged, ErrorType::NoTests, error.to_owned());
    }
    if let Some(name) = redefined(alone) {
        judged.compile_ok = Some(false);
        judged.clippy_ok = None;
        judged.diagnostics.lints.clear();
        let error = format!("`{name}` is not what the task defines by that name");
        return ended(judged, ErrorType::CompileError, error);
    }
    let library = [Scope::of, Scope::narrowed].into_iter().find_map(|scope| {
        let scope = scope(alone);
        Some((alone.compiler.library(&scope.library(), LIBRARY)?, scope))
    });
    let Some((library, scope)) = library else { return alone.as_rustc_says(judged) };
    let known = trap::known(alone);
    // What only the solution defines is the tests' own, but an answer without it is what plain rustc says.
    if known.lent && !alone.compiles_plainly() {
        return alone.as_rustc_says(judged);
    }
    let room = Room { alone, scope: &scope, library: &library, lent: known.lent };
    match room.real() {
        Ok(program) => tested(&room, judged, &program),
        Err(outcome) => {
            let blameless = known.compiles != Some(true) && misses_something(&room);
            without_program(alone, judged, &outcome, blameless)
        }
    }
}

/// Whether it is by names and types that the tests do not compile: what stops the compiler later is in the completion's own code.
fn misses_something(room: &Room<'_>) -> bool {
    let task = room.alone.task;
    let files = room.scope.tests(task, &room.tests(&task.frame.checks.source, 0));
    room.alone.compiler.run_with(&files, Emit::Nothing, (LIBRARY, room.library)).status == Status::Exit(1)
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
    /// By place where tests pick a value, whether they did.
    seen: Vec<bool>,
    /// Why it is no pass.
    error: Option<(ErrorType, String)>,
    /// Whether all of them were run and are ok.
    pub(super) passed: bool,
}

impl Ran {
    /// Whether the tests picked a value at this place.
    pub(super) fn seen(&self, site: usize) -> bool {
        self.seen.get(site).copied().unwrap_or(false)
    }
}

/// Runs the tests of a program with the values that it is told to pick.
pub(super) fn run(alone: &Alone<'_>, program: &Program, told: &str) -> Ran {
    let bench = alone.compiler.bench;
    let secret = bench.secret();
    let spec = program
        .run([])
        // It closes itself further, as one that boxes its own forks does.
        .as_zygote()
        .binds(recipes::libraries())
        .stdin(format!("{told}\n{secret}"))
        .collect("report", MAX_REPORT_BYTES);
    let mut outcome = bench.test(spec);
    let bytes = outcome.collected.pop().and_then(|each| each.result.ok());
    let bytes = bytes.and_then(|found| found.read().ok()).unwrap_or_default();
    // Only who is told the secret can say so: an exit code could be anybody's.
    let unclosed = bytes == format!("{UNCLOSED}{secret}").as_bytes();
    let text = String::from_utf8_lossy(&bytes);
    let seen = text.lines().find_map(|line| line.strip_prefix("seen\t"));
    let seen = seen.unwrap_or_default().bytes().map(|byte| byte == b'1').collect();
    let report = report::read(&bytes, &alone.task.frame.checks.names, &secret);
    let error = match unclosed {
        true => Some((
            ErrorType::InfraSandbox,
            "what shares a process with its tests could not be closed off".to_owned(),
        )),
        false => error(&outcome.status, &report),
    };
    Ran { outcome, report, seen, passed: error.is_none(), error }
}

fn tested(room: &Room<'_>, mut judged: Judged, program: &Program) -> Judged {
    let mut ran = run(room.alone, program, "");
    judged.border = Some(Border::Shared);
    let mut wrong = ran.error.take();
    if wrong.is_none() {
        let below = room.alone.screened.reaches_below || room.alone.screened.unreadable;
        let belief = match below && !room.alone.compiler.rust.allows_unsafe {
            true => None,
            false => Some(trap::belief(room.alone, room.scope, room.library)),
        };
        wrong = match belief {
            None => Some((ErrorType::Unsupported, BELOW.to_owned())),
            Some(Belief::Believed) => None,
            Some(Belief::Unmoved) => Some((ErrorType::Tampered, UNMOVED.to_owned())),
            Some(Belief::Untestable) => Some((ErrorType::Unsupported, UNTESTABLE.to_owned())),
            Some(Belief::Failed(again)) => {
                ran = *again;
                ran.error.take()
            }
        };
    }
    judged.stderr = output::of_stream(&ran.outcome.stderr);
    judged.stderr.text =
        judged.stderr.text.replace("candidate.rs:", "completion:").replace("tests.rs:", "test:");
    judged.diagnostics.tests = ran.report.tests.clone();
    judged.diagnostics.panic = ran.report.panic.clone();
    match wrong {
        None => judged.test_ok = Some(true),
        Some((error_type, error)) => {
            let is_known = !error_type.is_infra() && error_type != ErrorType::Unsupported;
            judged.test_ok = is_known.then_some(false);
            judged = ended(judged, error_type, error);
        }
    }
    judged
}

const BELOW: &str = "the answer passes, but the task's types cannot be carried between two processes, and code that reaches below \
                     the language could read what the tests expect in one (`unsafe: allow` judges it all the same)";
const UNMOVED: &str = "the answer passes as well where the tests expect something else";
const UNTESTABLE: &str = "the answer passes, but beside it the tests cannot be made to expect something else, as they can beside \
                          the task's own solution: whether it does what they say cannot be told";

fn error(status: &Status, report: &Report) -> Option<(ErrorType, String)> {
    match status {
        Status::Ok if report.vouched => None,
        Status::Exit(1) if report.panic.is_some() => tested::panicked(report),
        other => Some(tested::gone(other)),
    }
}
