//! The files of candidate programs and of checkers.
//!
//! ```text
//! candidate program            checker
//!   main.rs                      main.rs
//!   m0/candidate.rs              m0/task.rs     what the prompt defines, and a stub of the wanted function
//!   m0/border.rs   its shim      m0/tests.rs    the task's tests
//!   glue0.rs       for a signature
//! ```
//!
//! No file of one is ever with the other. Each text is a file of its own, so that nothing in one can reach the tokens of another:
//! an unclosed comment, a stray brace or a dangling `#[cfg(any())]` stays where it is.

use std::collections::BTreeMap;

use super::assemble::Assembled;
use super::checks::{LIST, Mode};
use super::items::Item;
use super::prepared::Prepared;
use super::signature::Signature;
use super::tokens::Lexed;

/// The library of both programs.
pub(super) const BORDER: &str = include_str!("border.rs.txt");
/// Its name.
pub(super) const BORDER_NAME: &str = "__proofhouse_border";

/// The line behind the completion. The constant takes what an attribute without an item would otherwise hit.
const BEHIND: &str = "\nconst _: () = ();\n#[path = \"border.rs\"] pub(crate) mod __proofhouse_shim;\n";

/// A file of a crate: its name and its text.
pub(super) type File = (String, String);

/// A program with one completion, its root first. Who names the crate, or says something of all of it, is its root.
pub(super) fn single(assembled: &Assembled, signature: &Signature, at_root: bool) -> Vec<File> {
    let mut glues = Glues::default();
    let path = glues.path(signature);
    let shim = ("border.rs".to_owned(), signature.shim(path.as_deref()));
    let serve = |module: &str| {
        format!(
            "extern crate {BORDER_NAME};\n{}fn main() {{ ::{BORDER_NAME}::serve({module}__proofhouse_shim::entry) }}\n",
            glues.items
        )
    };
    let mut files = if at_root {
        vec![("candidate.rs".to_owned(), without_main(&assembled.source) + BEHIND + &serve("crate::"))]
    } else {
        let root = format!("#[path = \"candidate.rs\"] mod candidate;\n{}", serve("candidate::"));
        vec![("main.rs".to_owned(), root), ("candidate.rs".to_owned(), assembled.source.clone() + BEHIND)]
    };
    files.push(shim);
    files.extend(glues.files);
    files
}

/// A program with many completions: it serves the one whose number it is given, or forks a process for each that is asked for.
pub(super) fn many(members: &[(&Assembled, &Signature)]) -> Vec<File> {
    let (mut root, mut entries, mut files) =
        (format!("extern crate {BORDER_NAME};\n"), String::new(), Vec::new());
    let mut glues = Glues::default();
    for (number, (assembled, signature)) in members.iter().enumerate() {
        let path = glues.path(signature);
        root.push_str(&format!("#[path = \"m{number}/candidate.rs\"] mod m{number};\n"));
        entries.push_str(&format!("m{number}::__proofhouse_shim::entry, "));
        files.push((format!("m{number}/candidate.rs"), assembled.source.clone() + BEHIND));
        files.push((format!("m{number}/border.rs"), signature.shim(path.as_deref())));
    }
    root.push_str(&glues.items);
    root.push_str(&format!("fn main() {{ ::{BORDER_NAME}::serve_many(&[{entries}]) }}\n"));
    files.extend(glues.files);
    files.insert(0, ("main.rs".to_owned(), root));
    files
}

/// The glue of each signature in a crate, once.
#[derive(Default)]
struct Glues {
    known: BTreeMap<String, usize>,
    items: String,
    files: Vec<File>,
}

impl Glues {
    /// Where the glue of this signature is; `None` where every completion needs its own.
    fn path(&mut self, signature: &Signature) -> Option<String> {
        if !signature.has_common_glue() {
            return None;
        }
        let next = self.known.len();
        let number = *self.known.entry(signature.key()).or_insert(next);
        let module = format!("__proofhouse_glue{number}");
        if number == next {
            self.items.push_str(&format!(
                "#[allow(warnings, clippy::all)] #[path = \"glue{number}.rs\"] mod {module};\n"
            ));
            self.files.push((format!("glue{number}.rs"), signature.glue()));
        }
        Some(format!("crate::{module}::call"))
    }
}

/// The tests of these tasks, each with a stub of its function in place of a completion, and with what their solutions lend them.
pub(super) fn checker(tasks: &[(&Prepared, &Signature)], lent: bool) -> Vec<File> {
    let mut root = format!("#![allow(warnings)]\nextern crate {BORDER_NAME} as __proofhouse_runner;\n");
    let (mut list, mut files) = (String::new(), Vec::new());
    for (number, (task, signature)) in tasks.iter().enumerate() {
        root.push_str(&format!("#[path = \"m{number}/task.rs\"] mod m{number};\n"));
        let listed = task.frame.checks.mode == Mode::Listed;
        if listed {
            list.push_str(&format!("m{number}::__proofhouse_tests::{LIST}, "));
        }
        let text = format!(
            "{}\n{}{}{}{}{}#[path = \"tests.rs\"] pub(crate) mod __proofhouse_tests;\n",
            task.preamble(),
            if lent { task.lent.as_str() } else { "" },
            signature.copies(&|name| task.defines(name)),
            signature.carriers("self::"),
            signature.stub(),
            task.frame.owner.as_ref().map(|owner| signature.under(owner)).unwrap_or_default(),
        );
        files.push((format!("m{number}/task.rs"), text));
        files.push((format!("m{number}/tests.rs"), tests(&task.frame.checks.source)));
    }
    root.push_str(&format!("fn main() {{ __proofhouse_runner::test(&[{list}]) }}\n"));
    files.insert(0, ("main.rs".to_owned(), root));
    files
}

/// The completion with nothing else.
pub(super) fn alone(assembled: &Assembled, at_root: bool) -> Vec<File> {
    const MAIN: &str = "fn main() {}\n";
    if at_root {
        return vec![(
            "candidate.rs".to_owned(),
            without_main(&assembled.source) + "\nconst _: () = ();\n" + MAIN,
        )];
    }
    let root = format!("#[allow(dead_code)] #[path = \"candidate.rs\"] mod candidate;\n{MAIN}");
    vec![("main.rs".to_owned(), root), ("candidate.rs".to_owned(), assembled.source.clone())]
}

/// Completion and tests in one crate, as everybody has them: only ever looked at by the compiler, never run.
pub(super) fn plain(task: &Prepared, assembled: &Assembled, at_root: bool) -> Vec<File> {
    const TESTS: &str = "\nconst _: () = ();\n#[path = \"tests.rs\"] pub(crate) mod __proofhouse_tests;\n";
    let main = format!("extern crate {BORDER_NAME} as __proofhouse_runner;\nfn main() {{}}\n");
    let tests = ("tests.rs".to_owned(), tests(&task.frame.checks.source));
    if at_root {
        return vec![("candidate.rs".to_owned(), without_main(&assembled.source) + TESTS + &main), tests];
    }
    let root = format!("#[path = \"candidate.rs\"] mod candidate;\n{main}");
    vec![("main.rs".to_owned(), root), ("candidate.rs".to_owned(), assembled.source.clone() + TESTS), tests]
}

/// The file of the tests.
pub(super) fn tests(source: &str) -> String {
    format!("#[allow(unused_imports)] use super::*; {source}")
}

/// At the root there can be only one `main`, and it is not the completion's: another gets a name of the same length.
fn without_main(source: &str) -> String {
    let mut out = source.to_owned();
    let Some(lexed) = Lexed::of(source) else { return out };
    for item in Item::all(&lexed).unwrap_or_default().iter().filter(|item| item.is_function("main")) {
        let name = &lexed.tokens[item.keyword + 1];
        out.replace_range(name.from..name.to, "_ain");
    }
    out
}
