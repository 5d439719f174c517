//! What a completion and the tests beside it see of each other: two crates, of which the tests' has only names that the task has.

use std::collections::BTreeSet;

use super::checks::LIST;
use super::decoys;
use super::imports;
use super::items::{Item, Kind};
use super::judge::Alone;
use super::library::PRELUDE;
use super::one_process::LIBRARY;
use super::prepared::Prepared;
use super::program::{self, BORDER_NAME};
use super::public::public;
use super::signature::{colon, parameter_list, plain_result};
use super::tokens::Lexed;
use super::types::parts;

/// What the two crates see of each other.
pub(super) struct Scope {
    /// The completion, made public.
    source: String,
    /// The module with the function of the task's own signature; empty where that cannot be written down.
    pinned: String,
    /// What the tests import from the prompt's own imports.
    imports: String,
    /// What the tests import from the completion, by name.
    names: Vec<String>,
    /// Functions and constants of the prompt that the completion has in other words: the tests get the prompt's.
    kept: String,
}

/// Tests of a task, as they stand beside a completion.
#[derive(Clone, Copy)]
pub(super) struct Tests<'a> {
    /// Whether they get what only the task's own solution defines.
    pub(super) lent: bool,
    pub(super) text: &'a str,
    /// At how many places they pick a value.
    pub(super) picks: usize,
}

impl Scope {
    pub(super) fn of(alone: &Alone<'_>) -> Scope {
        Scope::with(alone, false)
    }

    /// The same for a function that takes less than the task's does: its parameters are its own, in a scope where no name is, and
    /// its result is the task's.
    pub(super) fn narrowed(alone: &Alone<'_>) -> Scope {
        Scope::with(alone, true)
    }

    fn with(alone: &Alone<'_>, narrowed: bool) -> Scope {
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
            names.extend(asked_for(alone, &own));
        }
        names.sort_unstable();
        names.dedup();
        names.retain(|name| Some(name.as_str()) != frame.entry.as_deref());
        // Plain types of the standard library compare as they always do: a completion may give others than the prompt says.
        let result = frame.entry.as_deref().and_then(|entry| plain_result(&alone.assembled.source, entry));
        let pinned = frame.entry.as_deref().and_then(|entry| {
            if !narrowed {
                return pinned(&frame.head, entry, result.as_deref());
            }
            let result = result.clone().or_else(|| returned(&frame.head, entry))?;
            self::pinned(&alone.assembled.source, entry, Some(&result))
        });
        let pinned = pinned.map(|function| {
            let own: String = names.iter().map(|name| format!("use super::{name}; ")).collect();
            format!("#![allow(warnings, clippy::all)]\n{imports}{own}\n{function}\n")
        });
        let kept = kept(alone, &mut names);
        let source = public(&alone.assembled.source);
        Scope { source, pinned: pinned.unwrap_or_default(), imports, names, kept }
    }

    /// The completion as a library.
    pub(super) fn library(&self) -> Vec<program::File> {
        let behind = match self.pinned.is_empty() {
            true => "",
            false => "\nconst _: () = ();\n#[path = \"pinned.rs\"] pub mod __proofhouse_pinned;\n",
        };
        let root = ("candidate.rs".to_owned(), format!("{}{behind}", self.source));
        vec![root, ("pinned.rs".to_owned(), self.pinned.clone())]
    }

    /// Whether what only the solution of this task defines can stand beside the names of the completion.
    pub(super) fn may_be_lent(&self, task: &Prepared) -> bool {
        let lexed = Lexed::of(&task.lent);
        let items = lexed.as_ref().and_then(Item::all).unwrap_or_default();
        !items.is_empty() && !items.iter().any(|item| self.names.contains(&item.name))
    }

    /// Tests beside it.
    pub(super) fn tests(&self, task: &Prepared, tests: &Tests<'_>) -> Vec<program::File> {
        let mut text = format!("{}{}", self.imports, self.kept);
        for name in &self.names {
            text.push_str(&format!("use ::{LIBRARY}::{name}; "));
        }
        if let Some(entry) = &task.frame.entry {
            let module = if self.pinned.is_empty() { "" } else { "__proofhouse_pinned::" };
            text.push_str(&format!("use ::{LIBRARY}::{module}{entry}; "));
            let function = pinned(&task.frame.head, entry, None);
            if let (Some(owner), Some(function)) = (&task.frame.owner, function) {
                let function = function.replace(&format!("super::{entry}("), &format!("{entry}("));
                text.push_str(&format!("pub struct {owner}; impl {owner} {{ {function} }} "));
            }
        }
        if tests.lent {
            text.push_str(&task.lent);
        }
        text.push_str("\n#[path = \"tests.rs\"] pub(crate) mod __proofhouse_tests;\n");
        // Another value may be one that its type wraps; the real ones were compiled without this.
        let lint = if tests.picks > 0 { ", overflowing_literals" } else { "" };
        let root = format!(
            "#![allow(warnings{lint})]\nextern crate {BORDER_NAME} as __proofhouse_runner;\n\
             #[path = \"task.rs\"] mod task;\n{}\
             fn main() {{ __proofhouse_runner::beside(task::__proofhouse_tests::{LIST}, &__PROOFHOUSE_PLACES, &__PROOFHOUSE_SEEN) }}\n",
            decoys::root(tests.picks)
        );
        vec![
            ("main.rs".to_owned(), root),
            ("task.rs".to_owned(), text),
            ("tests.rs".to_owned(), program::tests(tests.text)),
        ]
    }
}

/// What else the prompt asks for in words, where only the completion can give it: its tests take it from there.
fn asked_for(alone: &Alone<'_>, own: &[Item]) -> Vec<String> {
    if !alone.task.leaves_its_function_open() {
        return Vec::new();
    }
    let frame = &alone.task.frame;
    let told: BTreeSet<&str> = frame.head.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let known = |name: &str| PRELUDE.iter().any(|(each, _)| *each == name);
    let wanted = |item: &&Item| {
        matches!(item.kind, Kind::Type | Kind::Function | Kind::Value)
            && told.contains(item.name.as_str())
            && frame.checks.words.contains(&item.name)
            && !known(&item.name)
    };
    own.iter().filter(wanted).map(|item| item.name.clone()).collect()
}

/// The functions and constants of the prompt, where the completion has one of them in other words; their names are no longer
/// imported from it.
fn kept(alone: &Alone<'_>, names: &mut Vec<String>) -> String {
    let (prompt, answer) = (Lexed::of(alone.task.preamble()), Lexed::of(&alone.assembled.source));
    let (Some(prompt), Some(answer)) = (prompt, answer) else { return String::new() };
    let (Some(defined), Some(items)) = (Item::all(&prompt), Item::all(&answer)) else { return String::new() };
    let tokens = |lexed: &Lexed<'_>, item: &Item| -> Vec<String> {
        let of_item = |token: &&super::tokens::Token| {
            token.from >= lexed.tokens[item.keyword].from && token.to <= item.to
        };
        lexed.tokens.iter().filter(of_item).map(|token| lexed.text[token.from..token.to].to_owned()).collect()
    };
    let is_pure = |item: &&Item| {
        matches!(item.kind, Kind::Function | Kind::Value)
            && prompt.word(item.keyword) != "static"
            && item.name != "main"
            && names.contains(&item.name)
    };
    let pure: Vec<&Item> = defined.iter().filter(is_pure).collect();
    let other = |known: &&&Item| {
        let own =
            items.iter().find(|item| item.name == known.name && alone.assembled.own.contains(&item.from));
        own.is_some_and(|own| tokens(&answer, own) != tokens(&prompt, known))
    };
    if pure.iter().find(other).is_none() {
        return String::new();
    }
    names.retain(|name| !pure.iter().any(|item| item.name == *name));
    pure.iter().map(|item| format!("{}\n", &prompt.text[item.from..item.to])).collect()
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

/// The result that the prompt declares.
fn returned(head: &str, entry: &str) -> Option<String> {
    [format!("{head}\n}}"), format!("{head}\n{{}}"), head.to_owned()].iter().find_map(|closed| {
        let lexed = Lexed::of(closed)?;
        let items = Item::all(&lexed)?;
        let item = items.iter().find(|item| item.is_function(entry))?;
        let (open, _) = item.body?;
        let (_, close) = parameter_list(&lexed, item)?;
        let end = (close..open).find(|at| lexed.word(*at) == "where").unwrap_or(open);
        // An arrow is two marks.
        match close + 3 < end {
            true => Some(closed[lexed.tokens[close + 3].from..lexed.tokens[end - 1].to].to_owned()),
            false => Some("()".to_owned()),
        }
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
        assert_eq!(returned("fn f<T>(x: T) -> Vec<T> where T: Ord {\n", "f").as_deref(), Some("Vec<T>"));
        assert_eq!(returned("fn f(x: u8) {\n", "f").as_deref(), Some("()"));
        assert_eq!(pinned("struct F;\n", "F", None), None);
        let other = pinned("const fn f<T>(x: T) -> u8 where T: Ord {\n", "f", Some("u16"));
        assert_eq!(other.as_deref(), Some("pub const fn f<T>(a0: T) -> u16 where T: Ord { super::f(a0) }"));
    }
}
