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
    /// What the prompt ends in the middle of, where that is no function: then `entry` is a type.
    pub(super) block: Option<Block>,
}

/// A type or an `impl` that a prompt leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The type.
    owner: String,
    /// Where it begins.
    from: usize,
    /// The method that is left open in it, and where that begins.
    pub(super) method: Option<(String, usize)>,
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
            .unwrap_or_else(|| (problem.prompt.clone(), problem.entry_point.clone(), problem.prompt.len()));
        let is_function = entry_from < head.len();
        let block = named
            .filter(|_| !is_function)
            .and_then(|name| open_type(&problem.prompt, name).or_else(|| open_impl(&problem.prompt, name)));
        let (entry, entry_from) = match &block {
            Some(block) => (Some(block.owner.clone()), block.from),
            None => (entry, entry_from),
        };
        let (head, missing) = without_missing(&head, crates);
        let (test, test_closes) = match problem.test.trim_start().strip_prefix('}') {
            // MultiPL-E's tests begin with the brace at which the model was stopped.
            Some(rest) => (rest, true),
            None => (problem.test.as_str(), false),
        };
        let closes = test_closes || problem.stop_tokens.iter().any(|token| token.trim() == "}");
        Frame { head, entry, entry_from, closes, checks: Checks::of(test), missing, owner: None, block }
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

/// The type that a prompt ends in the middle of: `pub struct Stack`, with or without an open brace.
fn open_type(prompt: &str, name: &str) -> Option<Block> {
    [format!("{prompt}\n}}"), format!("{prompt}\n{{}}"), format!("{prompt}\n;")].iter().find_map(|closed| {
        let lexed = Lexed::of(closed)?;
        let items = Item::all(&lexed)?;
        let last = items.last()?;
        let is_open = last.kind == Kind::Type && last.name == name && last.to > prompt.len();
        is_open.then(|| Block { owner: name.to_owned(), from: last.from, method: None })
    })
}

/// The `impl` that a prompt ends in the middle of, of a type that it defines: `name` is that type, or a method of it.
fn open_impl(prompt: &str, name: &str) -> Option<Block> {
    ["\n}\n}", "\n{}\n}", "\n}"].iter().find_map(|closing| {
        let closed = format!("{prompt}{closing}");
        let lexed = Lexed::of(&closed)?;
        let items = Item::all(&lexed)?;
        let last = items.last().filter(|last| last.to > prompt.len())?;
        let owner = last.implemented(&lexed)?;
        let (open, close) = last.body?;
        let within = Item::within(&lexed, open + 1, close)?;
        let method = within.iter().rev().find(|item| item.kind == Kind::Function && item.to > prompt.len());
        let is_defined = items.iter().any(|item| item.kind == Kind::Type && item.name == owner);
        let is_named = name == owner || within.iter().any(|item| item.name == name);
        let method = method.map(|item| (item.name.clone(), item.from));
        (is_defined && is_named).then(|| Block { owner: owner.to_owned(), from: last.from, method })
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
