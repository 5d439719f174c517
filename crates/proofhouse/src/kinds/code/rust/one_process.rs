//! One process for a completion and its tests, where values of the task's types cannot cross a border.
//!
//! The completion is compiled as a library, without any text of the tests; the tests are compiled against it, in a scope in which
//! nothing of its making has a name but what the task itself names, and call the wanted function through one of the task's own
//! signature. In the process nothing can be opened or started once the tests begin. What is left is code that reaches below the
//! language: it is not judged here unless the suite says so.

use proofhouse_sandbox::{Status, recipes};

use super::checks::{LIST, Mode};
use super::compile::Emit;
use super::imports;
use super::items::{Item, Kind};
use super::judge::{Alone, Compiled, ended, lint_failure};
use super::program::{self, BORDER_NAME};
use super::public::public;
use super::signature::{colon, parameter_list, plain_result};
use super::tested;
use super::tokens::Lexed;
use super::types::parts;
use super::{Clippy, diagnostics};
use crate::kinds::code::output;
use crate::kinds::code::report::{self, Report};
use crate::kinds::code::verdict::{Border, ErrorType, Judged};

const MAX_REPORT_BYTES: u64 = 1 << 20;
/// With this code the tests end where they could not be closed off.
const UNCLOSED: i32 = 7;
/// The name of the completion as a library.
const LIBRARY: &str = "__proofhouse_candidate";

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
    let files = scope.tests(alone);
    let mut outcome = alone.compiler.run_with(&files, LIBRARY, &library);
    let found = outcome.collected.pop().and_then(|each| each.result.ok());
    match (&outcome.status, found) {
        (Status::Ok, Some(found)) => {
            let program = alone.compiler.bench.sandbox().program(found);
            run(alone, judged, &program)
        }
        // The function is of the task's type: what its tests miss is the task's own affair.
        (Status::Exit(1), _) if !diagnostics::read(&outcome.stderr.head, &|_| false).errors.is_empty() => {
            alone.as_rustc_says_of_tests(judged)
        }
        (status, _) => {
            let error = format!("compiling the tests ended with `{}`", status.word());
            ended(judged, ErrorType::InfraToolchainBroken, error)
        }
    }
}

/// What the compiler derives says nothing but what it says of every type.
const DERIVED: [&str; 9] =
    ["Debug", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Default"];

/// A type or trait of the prompt that the completion defines otherwise: more derived traits are not otherwise.
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
    let own = items.iter().filter(|item| item.kind == Kind::Type && alone.assembled.own.contains(&item.from));
    let changed = |item: &&Item| {
        let known = defined.iter().find(|known| known.kind == Kind::Type && known.name == item.name);
        known.is_some_and(|known| {
            let ((wanted, text), (derives, own)) = (tokens(&prompt, known), tokens(&answer, item));
            let kept = wanted.iter().all(|name| derives.contains(name));
            text != own
                || !kept
                || !derives.iter().all(|name| wanted.contains(name) || DERIVED.contains(&name.as_str()))
        })
    };
    own.into_iter().find(changed).map(|item| item.name.clone())
}

fn run(alone: &Alone<'_>, mut judged: Judged, program: &proofhouse_sandbox::Program) -> Judged {
    let bench = alone.compiler.bench;
    let secret = bench.secret();
    let spec = program
        .run([])
        // It closes itself further, as one that boxes its own forks does.
        .as_zygote()
        .binds(recipes::libraries())
        .stdin(secret.as_bytes())
        .collect("report", MAX_REPORT_BYTES);
    let mut outcome = bench.test(spec);
    judged.border = Some(Border::Shared);
    judged.stderr = output::of_stream(&outcome.stderr);
    judged.stderr.text =
        judged.stderr.text.replace("candidate.rs:", "completion:").replace("tests.rs:", "test:");
    let report = outcome.collected.pop().and_then(|each| each.result.ok());
    let report = report.and_then(|found| found.read().ok()).unwrap_or_default();
    let report = report::read(&report, &alone.task.frame.checks.names, &secret);
    judged.diagnostics.tests = report.tests.clone();
    judged.diagnostics.panic = report.panic.clone();
    match error(&outcome.status, &report) {
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

/// What the two crates see of each other.
struct Scope {
    /// The completion, made public.
    source: String,
    /// The module with the function of the task's own signature; empty where that cannot be written down.
    pinned: String,
    /// What the tests import from the prompt's own imports.
    imports: String,
    /// What the tests import from the completion, by name.
    names: Vec<String>,
}

impl Scope {
    fn of(alone: &Alone<'_>) -> Scope {
        let frame = &alone.task.frame;
        let preamble = alone.task.preamble();
        let lexed = Lexed::of(preamble);
        let items = lexed.as_ref().and_then(Item::all).unwrap_or_default();
        let imports: String = lexed
            .as_ref()
            .map(|lexed| imports::leaves(lexed, &items))
            .unwrap_or_default()
            .iter()
            .map(|leaf| format!("{} ", leaf.item()))
            .collect();
        let known = |item: &&Item| {
            !matches!(item.kind, Kind::Use | Kind::Impl | Kind::Macro | Kind::Inner)
                && !item.name.is_empty()
                && item.name != "main"
        };
        let mut names: Vec<String> = items.iter().filter(known).map(|item| item.name.clone()).collect();
        // Types that the task names and only the completion defines.
        let declaration = &frame.head[frame.entry_from..];
        let words: Vec<&str> = declaration.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        if let Some(own) = Lexed::of(&alone.assembled.source) {
            let own = Item::all(&own).unwrap_or_default();
            let named =
                own.iter().filter(|item| item.kind == Kind::Type && words.contains(&item.name.as_str()));
            names.extend(named.map(|item| item.name.clone()));
        }
        names.sort_unstable();
        names.dedup();
        names.retain(|name| Some(name.as_str()) != frame.entry.as_deref());
        // Plain types of the standard library compare as they always do: a completion may give others than the prompt says.
        let result = frame.entry.as_deref().and_then(|entry| plain_result(&alone.assembled.source, entry));
        let pinned = frame.entry.as_deref().and_then(|entry| pinned(&frame.head, entry, result.as_deref()));
        let pinned = pinned.map(|function| {
            let own: String = names.iter().map(|name| format!("use super::{name}; ")).collect();
            format!("#![allow(warnings, clippy::all)]\n{imports}{own}\n{function}\n")
        });
        Scope { source: public(&alone.assembled.source), pinned: pinned.unwrap_or_default(), imports, names }
    }

    /// The completion as a library.
    fn library(&self) -> Vec<program::File> {
        let behind = match self.pinned.is_empty() {
            true => "",
            false => "\nconst _: () = ();\n#[path = \"pinned.rs\"] pub mod __proofhouse_pinned;\n",
        };
        let root = ("candidate.rs".to_owned(), format!("{}{behind}", self.source));
        vec![root, ("pinned.rs".to_owned(), self.pinned.clone())]
    }

    /// The tests beside it.
    fn tests(&self, alone: &Alone<'_>) -> Vec<program::File> {
        let root = format!(
            "#![allow(warnings)]\nextern crate {BORDER_NAME} as __proofhouse_runner;\n#[path = \"task.rs\"] mod task;\n\
             fn main() {{ __proofhouse_runner::beside(task::__proofhouse_tests::{LIST}) }}\n"
        );
        let mut task = self.imports.clone();
        for name in &self.names {
            task.push_str(&format!("use ::{LIBRARY}::{name}; "));
        }
        if let Some(entry) = &alone.task.frame.entry {
            let module = if self.pinned.is_empty() { "" } else { "__proofhouse_pinned::" };
            task.push_str(&format!("use ::{LIBRARY}::{module}{entry}; "));
            let function = pinned(&alone.task.frame.head, entry, None);
            if let (Some(owner), Some(function)) = (&alone.task.frame.owner, function) {
                let function = function.replace(&format!("super::{entry}("), &format!("{entry}("));
                task.push_str(&format!("pub struct {owner}; impl {owner} {{ {function} }} "));
            }
        }
        task.push_str("\n#[path = \"tests.rs\"] pub(crate) mod __proofhouse_tests;\n");
        vec![
            ("main.rs".to_owned(), root),
            ("task.rs".to_owned(), task),
            ("tests.rs".to_owned(), program::tests(alone.task)),
        ]
    }
}

/// A function of the signature that the prompt declares, which calls the completion's; `None` where it declares none. `result`
/// stands in place of the result that the prompt has.
fn pinned(head: &str, entry: &str, result: Option<&str>) -> Option<String> {
    [format!("{head}\n}}"), format!("{head}\n{{}}"), head.to_owned()].iter().find_map(|closed| {
        let lexed = Lexed::of(closed)?;
        let items = Item::all(&lexed)?;
        let item = items.iter().find(|item| item.is_function(entry))?;
        let (open, _) = item.body?;
        let (list, close) = parameter_list(&lexed, item)?;
        let text = |from: usize, to: usize| match from < to {
            true => &closed[lexed.tokens[from].from..lexed.tokens[to - 1].to],
            false => "",
        };
        let (mut parameters, mut names) = (Vec::new(), Vec::new());
        for (at, (from, to)) in parts(&lexed, list + 1, close).into_iter().enumerate() {
            parameters.push(format!("a{at}: {}", text(colon(&lexed, from, to)? + 1, to)));
            names.push(format!("a{at}"));
        }
        let words: Vec<&str> = (item.attributes.end..item.keyword).map(|at| lexed.word(at)).collect();
        let mut call = format!("super::{entry}({})", names.join(", "));
        if words.contains(&"async") {
            call.push_str(".await");
        }
        if words.contains(&"unsafe") {
            call = format!("unsafe {{ {call} }}");
        }
        let qualifiers: String = words
            .iter()
            .filter(|word| matches!(**word, "async" | "unsafe" | "const"))
            .map(|word| format!("{word} "))
            .collect();
        let clause = (close..open).find(|at| lexed.word(*at) == "where").unwrap_or(open);
        let (generics, clause) = (text(item.keyword + 2, list), text(clause, open));
        let result = match result {
            Some(result) => format!("-> {result} {clause}"),
            None => text(close + 1, open).to_owned(),
        };
        Some(format!("pub {qualifiers}fn {entry}{generics}({}) {result} {{ {call} }}", parameters.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_says_what_its_function_is() {
        let table = [
            (
                "fn f<F: Fn(i32) -> i32>(g: F, mut x: i32) -> i32 {\n",
                "pub fn f<F: Fn(i32) -> i32>(a0: F, a1: i32) -> i32 { super::f(a0, a1) }",
            ),
            ("async fn f((a, b): (u8, u8)) {\n", "pub async fn f(a0: (u8, u8))  { super::f(a0).await }"),
            (
                "pub fn f<T>(x: T) -> T where T: Ord {\n",
                "pub fn f<T>(a0: T) -> T where T: Ord { super::f(a0) }",
            ),
        ];
        for (head, expected) in table {
            assert_eq!(pinned(head, "f", None).as_deref(), Some(expected));
        }
        assert_eq!(pinned("struct F;\n", "F", None), None);
        let other = pinned("const fn f<T>(x: T) -> u8 where T: Ord {\n", "f", Some("u16"));
        assert_eq!(other.as_deref(), Some("pub const fn f<T>(a0: T) -> u16 where T: Ord { super::f(a0) }"));
    }
}
