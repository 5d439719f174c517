//! What a task gives every one of its completions: the text before a body, the function that is asked for, the tests.

use std::collections::BTreeSet;

use super::checks::Checks;
use super::imports::{self, Leaf};
use super::items::{Item, Kind};
use super::owner::{self, Freed};
use super::tokens::Lexed;
use crate::kinds::code::problem::Problem;

/// A task, read once.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// The prompt's code. A body continues it.
    pub(super) head: String,
    /// The function that is asked for.
    pub(super) entry: Option<String>,
    /// Where in `head` that function begins, with its doc comment: what stands before belongs to a whole function too.
    pub(super) entry_from: usize,
    /// Whether the closing brace of the function is not the completion's: the model was stopped before it.
    pub(super) closes: bool,
    /// The tests.
    pub(super) checks: Checks,
    /// Crates that the prompt imports and that are not there, with the names that came from them.
    pub(super) missing: Vec<Leaf>,
    /// The type that the function is asked for as a function of.
    pub(super) owner: Option<String>,
}

impl Frame {
    /// Reads a task. `crates` are the crates that are there beside the standard library.
    pub(super) fn of(problem: &Problem, crates: &BTreeSet<String>) -> Frame {
        let declared = problem.declaration.iter().chain([&problem.prompt]);
        let mut freed =
            declared.filter_map(|text| owner::freed(text, problem.entry_point.as_deref(), &problem.test));
        if let Some(Freed { prompt, owner, entry }) = freed.next() {
            let entry_point = Some(entry);
            let problem = Problem { prompt, entry_point, declaration: None, ..problem.clone() };
            return Frame { owner: Some(owner), ..Frame::of_function(&problem, crates) };
        }
        Frame::of_function(problem, crates)
    }

    fn of_function(problem: &Problem, crates: &BTreeSet<String>) -> Frame {
        let texts = [Some(&problem.prompt), problem.declaration.as_ref()];
        let find = |entry: Option<&str>| {
            texts.into_iter().flatten().find_map(|text| {
                let (entry, from) = open_function(text, entry)?;
                Some((text.clone(), Some(entry), from))
            })
        };
        // Some tasks name another function than the one that their prompt declares and their tests call.
        let tested = |name: &str| {
            problem.test.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
        };
        let named = problem.entry_point.as_deref();
        let (head, entry, entry_from) = find(named)
            .or_else(|| {
                let declared = find(None).filter(|(_, entry, _)| entry.as_deref().is_some_and(tested));
                declared.filter(|_| named.is_some_and(|name| !tested(name)))
            })
            .unwrap_or_else(|| {
                let from = named.and_then(|name| open_type(&problem.prompt, name));
                (problem.prompt.clone(), problem.entry_point.clone(), from.unwrap_or(problem.prompt.len()))
            });
        let (head, missing) = without_missing(&head, crates);
        let (test, test_closes) = match problem.test.trim_start().strip_prefix('}') {
            // MultiPL-E's tests begin with the brace at which the model was stopped.
            Some(rest) => (rest, true),
            None => (problem.test.as_str(), false),
        };
        let closes = test_closes || problem.stop_tokens.iter().any(|token| token.trim() == "}");
        Frame { head, entry, entry_from, closes, checks: Checks::of(test), missing, owner: None }
    }
}

/// The function that a prompt leaves open (or that it declares), and where it begins.
fn open_function(prompt: &str, entry: Option<&str>) -> Option<(String, usize)> {
    for closed in [format!("{prompt}\n}}"), format!("{prompt}\n{{}}"), prompt.to_owned()] {
        let Some(lexed) = Lexed::of(&closed) else { continue };
        let Some(items) = Item::all(&lexed) else { continue };
        let mut functions = items.iter().filter(|item| item.kind == Kind::Function).rev();
        let found = match entry {
            Some(name) => functions.find(|item| item.name == name),
            None => functions.next(),
        };
        if let Some(item) = found {
            return Some((item.name.clone(), item.from));
        }
    }
    None
}

/// Where the type begins that a prompt ends in the middle of: `pub struct Stack`, with or without an open brace.
fn open_type(prompt: &str, name: &str) -> Option<usize> {
    [format!("{prompt}\n}}"), format!("{prompt}\n{{}}"), format!("{prompt}\n;")].iter().find_map(|closed| {
        let lexed = Lexed::of(closed)?;
        let items = Item::all(&lexed)?;
        let last = items.last()?;
        (last.kind == Kind::Type && last.name == name && last.to > prompt.len()).then_some(last.from)
    })
}

/// The prompt without imports from crates that are not there; every byte keeps its place.
fn without_missing(head: &str, crates: &BTreeSet<String>) -> (String, Vec<Leaf>) {
    let closed = format!("{head}\n}}");
    let mut out = head.as_bytes().to_vec();
    let mut missing = Vec::new();
    let Some(lexed) = Lexed::of(&closed) else { return (head.to_owned(), missing) };
    let items = Item::all(&lexed).unwrap_or_default();
    let local: BTreeSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
    for item in items.iter().filter(|item| item.kind == Kind::Use) {
        let leaves = imports::of_item(&lexed, item);
        let gone = |leaf: &Leaf| {
            let root = leaf.root();
            !["std", "core", "alloc", "crate", "self", "super"].contains(&root)
                && !crates.contains(root)
                && !local.contains(root)
        };
        if !leaves.is_empty() && leaves.iter().all(gone) {
            blank(&mut out[item.from..item.to]);
            missing.extend(leaves);
        }
    }
    (String::from_utf8(out).expect("only whole items were replaced, by spaces"), missing)
}

/// Replaces text by spaces, so that every other byte and line keeps its place.
pub(super) fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}
