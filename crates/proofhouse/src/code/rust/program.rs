//! The files of one test program.
//!
//! ```text
//! main.rs        the crate, unless the completion names the crate itself: then `candidate.rs` is its root
//! candidate.rs   the prompt, the completion, and behind it one line that brings in the guard
//! guard.rs       gives the tests the standard macros, whatever the completion calls by their names
//! tests.rs       the task's tests
//! (runner)       a library of ours, compiled once, that runs them
//! ```
//!
//! Each text is a file of its own, so that nothing in one can reach the tokens of another: an unclosed comment, a stray
//! brace or a dangling `#[cfg(any())]` stays where it is.

use super::assemble::Assembled;
use super::checks::LIST;
use super::frame::Frame;
use super::items::{Item, Kind};
use super::returned;
use super::tokens::Lexed;

/// The library that runs tests.
pub(super) const RUNNER: &str = include_str!("runner.rs.txt");
/// Its name, and the item at the root of a crate that brings it in.
pub(super) const RUNNER_NAME: &str = "__proofhouse_runner";
pub(super) const RUNNER_ITEM: &str = "extern crate __proofhouse_runner;\n";

/// The line behind the completion. The constant takes what an attribute without an item would otherwise hit.
const BEHIND: &str = "\nconst _: () = ();\n#[path = \"guard.rs\"] pub(crate) mod __proofhouse_guard;\n";

/// The exit code of a program whose function returns a type of the completion's own; the runner knows it too.
pub(super) const OWN_TYPE: i32 = 117;

/// Names by which tests mean the standard library's, and where they come from.
const TAKEN_FOR_GRANTED: [(&str, &str); 9] = [
    ("Option", "option::Option"),
    ("Some", "option::Option::Some"),
    ("None", "option::Option::None"),
    ("Result", "result::Result"),
    ("Ok", "result::Result::Ok"),
    ("Err", "result::Result::Err"),
    ("String", "string::String"),
    ("Vec", "vec::Vec"),
    ("Box", "boxed::Box"),
];

/// The guard: what tests take for granted means what they think, whatever the completion calls so. Only the task itself may
/// give such a name another meaning.
pub(super) fn guard(frame: &Frame) -> String {
    let closed = format!("{}\n}}", frame.head);
    let lexed = Lexed::of(&closed);
    let items = lexed.as_ref().and_then(Item::all).unwrap_or_default();
    let of_task = |name: &str| items.iter().any(|item| item.name == name && item.kind != Kind::Use);
    let granted = TAKEN_FOR_GRANTED.iter().filter(|(name, _)| !of_task(name));
    let granted: String = granted.map(|(_, path)| format!("use ::std::{path}; ")).collect();
    format!(
        "#![allow(unused_imports)] use super::*;\n\
         use ::std::{{assert, assert_eq, assert_ne, debug_assert, debug_assert_eq, debug_assert_ne, \
         format, matches, panic, print, println, unreachable, vec}}; {granted}\n\
         #[path = \"tests.rs\"] pub(crate) mod __proofhouse_tests;\n"
    )
}

/// Names and texts of the files, the crate's root first.
pub(super) fn files(frame: &Frame, assembled: &Assembled, at_root: bool) -> Vec<(String, String)> {
    let run = |path: &str| format!("{RUNNER_ITEM}fn main() {{ {} }}\n", run(path));
    let [candidate, guard, tests] = member_files(frame, assembled);
    let mut files = if at_root {
        vec![(candidate.0, without_main(&assembled.source) + BEHIND + &run(""))]
    } else {
        let root = format!("#[path = \"candidate.rs\"] mod candidate;\n{}", run("candidate::"));
        vec![("main.rs".to_owned(), root), candidate]
    };
    files.extend([guard, tests]);
    files
}

/// The statements that run the tests of the completion in this module.
pub(super) fn run(module: &str) -> String {
    let guard = format!("{module}__proofhouse_guard");
    format!("{guard}::__proofhouse_returns(); __proofhouse_runner::run({guard}::__proofhouse_tests::{LIST})")
}

/// The files of one completion: itself, the guard, the tests.
pub(super) fn member_files(frame: &Frame, assembled: &Assembled) -> [(String, String); 3] {
    [
        ("candidate.rs".to_owned(), format!("{}{BEHIND}", assembled.source)),
        ("guard.rs".to_owned(), guard(frame) + &returned::item(frame, assembled)),
        ("tests.rs".to_owned(), tests(frame)),
    ]
}

/// The file of the tests.
pub(super) fn tests(frame: &Frame) -> String {
    format!("#[allow(unused_imports)] use super::*; {}", frame.checks.source)
}

/// At the root there can be only one `main`, and it is the runner's: another gets a name of the same length.
fn without_main(source: &str) -> String {
    let mut out = source.to_owned();
    let Some(lexed) = Lexed::of(source) else { return out };
    for item in Item::all(&lexed).unwrap_or_default().iter().filter(|item| item.is_function("main")) {
        let name = &lexed.tokens[item.keyword + 1];
        out.replace_range(name.from..name.to, "_ain");
    }
    out
}
