//! A task made ready for its completions: read once, with the signature by which its tests call the wanted function.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use proofhouse_ledger::Digest;

use super::assemble::{Assembled, assemble};
use super::frame::Frame;
use super::imports;
use super::items::{Item, Kind};
use super::lent;
use super::library::PRELUDE;
use super::signature::{Declared, Signature};
use super::tokens::Lexed;
use super::trap::Beside;
use crate::kinds::code::problem::Problem;

/// A task, read once.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) frame: Frame,
    declared: Declared,
    /// The task's own solution, where it has one.
    pub(super) solution: Option<Assembled>,
    /// What is known of its function, where there is such a solution.
    solved: Option<Declared>,
    /// What the tests may need of it.
    pub(super) lent: String,
    /// Crates that are not there and that the task itself cannot do without.
    pub(super) needed: Vec<String>,
    /// Whether that passes only beside the tests, once it was asked.
    pub(super) beside_only: OnceLock<bool>,
    /// What is known of its tests where they share a process with completions, once it was asked.
    pub(super) beside: OnceLock<Beside>,
    /// What tells its tests from those of other tasks.
    pub(super) id: String,
    /// Set when the tests cannot stand apart from the completion: why.
    pub(super) inseparable: OnceLock<String>,
}

/// How a completion meets its tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// Over the border, by this signature.
    Border(Signature),
    /// In one process with them: why.
    Shared(String),
    /// Not at all: only the completion itself, not its task, has types that cannot cross.
    Refused,
}

impl Prepared {
    /// Reads a task. `crates` are the crates that are there beside the standard library.
    pub(super) fn of(problem: &Problem, crates: &BTreeSet<String>) -> Prepared {
        let frame = Frame::of(problem, crates);
        let head = &frame.head;
        let closings = [format!("{head}\n}}"), format!("{head}\n{{}}"), head.clone()];
        let declared = frame.entry.as_deref().map_or(Declared::Nowhere, |entry| {
            let found = closings.iter().map(|text| Declared::of(text, entry));
            found.into_iter().find(|found| *found != Declared::Nowhere).unwrap_or(Declared::Nowhere)
        });
        let declared = if looks_at_borrows(&frame) { Declared::Closed } else { declared };
        let solution = problem.canonical_solution.as_deref().filter(|text| !text.trim().is_empty());
        let solution = solution.and_then(|text| assemble(&frame, text));
        let solved = solution.as_ref().zip(frame.entry.as_deref());
        let solved = solved.map(|(solution, entry)| Declared::of(&solution.source, entry));
        let preamble = preamble(&frame);
        let lent = solution.as_ref().map_or_else(String::new, |own| lent::lent(&frame, preamble, own));
        let parts = [frame.head.as_bytes(), b"\0", frame.checks.source.as_bytes(), b"\0", lent.as_bytes()];
        let id = Digest::of_parts(&parts).to_string();
        let needed = needed(&frame, solution.as_ref());
        Prepared {
            frame,
            declared,
            solution,
            solved,
            lent,
            needed,
            beside_only: OnceLock::new(),
            beside: OnceLock::new(),
            id,
            inseparable: OnceLock::new(),
        }
    }

    /// Whether its tests can only be passed beside them; `None` as long as nobody has asked.
    pub(super) fn known_beside_only(&self) -> Option<bool> {
        if self.solution.is_none() { Some(false) } else { self.beside_only.get().copied() }
    }

    /// How this completion meets the tests. The need for one process is told by the task alone: a completion cannot choose it.
    pub(super) fn way(&self, assembled: &Assembled) -> Way {
        let Some(entry) = self.frame.entry.as_deref() else {
            return Way::Shared("the task does not name a function".to_owned());
        };
        if let Some(why) = self.inseparable.get() {
            return Way::Shared(why.clone());
        }
        let own = || match &self.declared {
            // Only beside what the task says of it is an error that shows itself enough.
            Declared::Open(_) | Declared::Nowhere => Declared::of_answer(&assembled.source, entry),
            Declared::Generic | Declared::Closed => Declared::of(&assembled.source, entry),
        };
        match &self.declared {
            // Who takes only types that cross is judged the stronger way.
            Declared::Generic => match own() {
                Declared::Open(own) if own.own_names().all(|name| self.defines(name)) => Way::Border(own),
                _ => Way::Shared("the function has type parameters".to_owned()),
            },
            // A type that only the completion defines: its fields cross, if it has some.
            Declared::Closed => match own() {
                Declared::Open(own) if self.leaves_open(&own) => Way::Border(own),
                _ if self.names_what_nobody_defines() && !self.solution_is_closed() => Way::Refused,
                _ => Way::Shared("values of these types cannot cross".to_owned()),
            },
            Declared::Nowhere => match own() {
                Declared::Open(own) => Way::Border(own),
                _ if self.solution_is_closed() || self.defines(entry) => {
                    Way::Shared("the task does not declare its function".to_owned())
                }
                // A function that takes many types takes those of the task's own solution too.
                _ => match &self.solved {
                    Some(Declared::Open(solved)) => Way::Border(solved.clone()),
                    _ => Way::Refused,
                },
            },
            Declared::Open(task) => match own() {
                Declared::Open(own)
                    if !own.answers_for(task) && !task.hides_its_result() && !own.lists_nothing(task) =>
                {
                    Way::Border(own)
                }
                _ => Way::Border(task.clone()),
            },
        }
    }

    /// Whether the task's own solution has values that cannot cross, where only that can tell.
    fn solution_is_closed(&self) -> bool {
        self.solved.as_ref().is_some_and(|solved| !matches!(solved, Declared::Open(_)))
    }

    /// Whether the prompt does not say what its function takes and gives.
    pub(super) fn leaves_its_function_open(&self) -> bool {
        match &self.declared {
            Declared::Nowhere => true,
            Declared::Closed => self.names_what_nobody_defines(),
            Declared::Generic | Declared::Open(_) => false,
        }
    }

    /// Whether a signature is not the one that the task declares.
    pub(super) fn is_own(&self, signature: &Signature) -> bool {
        !matches!(&self.declared, Declared::Open(task) if task == signature)
    }

    /// Whether the types of a completion's own are such as the task names without defining them.
    fn leaves_open(&self, own: &Signature) -> bool {
        let mentioned = |name: &str| {
            self.frame.head[self.frame.entry_from..]
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == name)
        };
        own.own_names().next().is_some() && own.own_names().any(mentioned)
    }

    /// Whether the declaration has a type that neither the prompt nor the standard library defines.
    fn names_what_nobody_defines(&self) -> bool {
        const TRAITS: [&str; 31] = [
            "Self",
            "Fn",
            "FnMut",
            "FnOnce",
            "Iterator",
            "IntoIterator",
            "DoubleEndedIterator",
            "ExactSizeIterator",
            "Clone",
            "Copy",
            "Send",
            "Sync",
            "Sized",
            "Drop",
            "AsRef",
            "AsMut",
            "Into",
            "From",
            "Default",
            "ToString",
            "PartialEq",
            "Eq",
            "PartialOrd",
            "Ord",
            "Extend",
            "Debug",
            "Display",
            "Hash",
            "FromStr",
            "FromIterator",
            "Any",
        ];
        let head = &self.frame.head;
        let lexed = [format!("{head}\n}}"), format!("{head}\n{{}}"), head.clone()];
        lexed.iter().any(|closed| {
            let Some(lexed) = Lexed::of(closed) else { return false };
            let items = Item::all(&lexed).unwrap_or_default();
            let entry = self.frame.entry.as_deref().unwrap_or_default();
            let Some(item) = items.iter().find(|item| item.is_function(entry)) else { return false };
            let end = item.body.map_or(item.keyword, |(open, _)| open);
            let imported: Vec<_> =
                imports::leaves(&lexed, &items).into_iter().map(|leaf| leaf.name).collect();
            let known = |word: &str| {
                TRAITS.contains(&word)
                    || PRELUDE.iter().any(|(name, _)| *name == word)
                    || imported.iter().any(|name| name == word || name == "*")
                    || items.iter().any(|item| item.name == word)
            };
            let unknown = |at: &usize| {
                let word = lexed.word(*at);
                let in_path =
                    lexed.is_mark(at.wrapping_sub(1), ':') && lexed.is_mark(at.wrapping_sub(2), ':');
                // `Item = …` is the trait's.
                let bound = lexed.is_mark(at + 1, '=');
                word.starts_with(char::is_uppercase) && !in_path && !bound && !known(word)
            };
            (item.keyword + 2..end).any(|at| unknown(&at))
        })
    }

    /// What the prompt has before the function, where that is code.
    pub(super) fn preamble(&self) -> &str {
        preamble(&self.frame)
    }

    /// Whether the prompt defines a type of this name.
    pub(super) fn defines(&self, name: &str) -> bool {
        Lexed::of(self.preamble()).is_some_and(|lexed| {
            let items = Item::all(&lexed).unwrap_or_default();
            items.iter().any(|item| item.kind == Kind::Type && item.name == name)
        })
    }
}

/// Whether the tests look at what of a `Cow` no copy of its value tells.
fn looks_at_borrows(frame: &Frame) -> bool {
    let declaration = &frame.head[frame.entry_from..];
    let mut words = declaration.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == "Cow")
        && frame.checks.words.iter().any(|word| matches!(word.as_str(), "Borrowed" | "Owned"))
}

/// What the prompt has before the function, where that is code.
fn preamble(frame: &Frame) -> &str {
    let text = &frame.head[..frame.entry_from];
    let is_code = Lexed::of(text).is_some_and(|lexed| Item::all(&lexed).is_some());
    if is_code { text } else { "" }
}

/// The crates of the prompt that are not there and that its own code, its tests or its solution use: what an answer uses beyond
/// that is its own affair.
fn needed(frame: &Frame, solution: Option<&Assembled>) -> Vec<String> {
    if frame.missing.is_empty() {
        return Vec::new();
    }
    let texts = [format!("{}\n}}", frame.head), solution.map(|own| own.source.clone()).unwrap_or_default()];
    let lexed: Vec<Lexed<'_>> = texts.iter().filter_map(|text| Lexed::of(text)).collect();
    let words = lexed.iter().flat_map(Lexed::words).map(|(_, word)| word);
    let words: BTreeSet<&str> = words.chain(frame.checks.words.iter().map(String::as_str)).collect();
    let missing =
        frame.missing.iter().filter(|leaf| words.contains(&*leaf.name) || words.contains(leaf.root()));
    missing.map(|leaf| leaf.root().to_owned()).collect::<BTreeSet<_>>().into_iter().collect()
}
