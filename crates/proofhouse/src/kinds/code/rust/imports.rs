//! What a `use` item imports, leaf by leaf.

use super::items::{Item, Kind};
use super::tokens::{Lexed, What};

/// Deeper trees are nobody's.
const MAX_DEPTH: usize = 32;

/// One imported name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The path, without the alias.
    pub(super) path: String,
    /// The name by which it is known; `*` for all of a module, `_` for a trait without a name.
    pub(super) name: String,
}

impl Leaf {
    /// The first segment: the crate, where it is not a local module.
    pub(super) fn root(&self) -> &str {
        self.path.trim_start_matches(':').split("::").next().unwrap_or_default()
    }

    /// The import as an item of its own.
    pub(super) fn item(&self) -> String {
        let last = self.path.rsplit("::").next().unwrap_or_default();
        if last == self.name {
            format!("use {};", self.path)
        } else {
            format!("use {} as {};", self.path, self.name)
        }
    }
}

/// The leaves of all imports among these items.
pub(super) fn leaves(lexed: &Lexed<'_>, items: &[Item]) -> Vec<Leaf> {
    items.iter().filter(|item| item.kind == Kind::Use).flat_map(|item| of_item(lexed, item)).collect()
}

/// The leaves of one import.
pub(super) fn of_item(lexed: &Lexed<'_>, item: &Item) -> Vec<Leaf> {
    let mut found = Vec::new();
    if item.name.is_empty() {
        tree(lexed, item.keyword + 1, &mut String::new(), &mut found, 0);
    } else {
        found.push(Leaf { path: item.name.clone(), name: item.name.clone() });
    }
    found
}

/// Reads one tree at this token and returns the token behind it.
fn tree(lexed: &Lexed<'_>, mut at: usize, prefix: &mut String, found: &mut Vec<Leaf>, depth: usize) -> usize {
    let kept = prefix.len();
    if depth > MAX_DEPTH {
        return lexed.tokens.len();
    }
    while at < lexed.tokens.len() {
        match lexed.tokens[at].what {
            What::Mark(':') => prefix.push(':'),
            What::Mark('*') => {
                found.push(Leaf { path: format!("{prefix}*"), name: "*".into() });
                prefix.truncate(kept);
                return at + 1;
            }
            What::Open('{', close) => {
                let mut inner = at + 1;
                while inner < close {
                    inner = tree(lexed, inner, prefix, found, depth + 1);
                    inner += usize::from(lexed.is_mark(inner, ','));
                }
                prefix.truncate(kept);
                return close + 1;
            }
            What::Word if lexed.is_mark(at + 1, ':') => prefix.push_str(lexed.at(at)),
            What::Word => {
                found.push(leaf(lexed, at, prefix));
                prefix.truncate(kept);
                return at + if lexed.word(at + 1) == "as" { 3 } else { 1 };
            }
            _ => break,
        }
        at += 1;
    }
    prefix.truncate(kept);
    at + 1
}

fn leaf(lexed: &Lexed<'_>, at: usize, prefix: &str) -> Leaf {
    let word = lexed.at(at);
    // `a::b::{self}` imports `a::b`.
    let path = match prefix.strip_suffix("::") {
        Some(module) if word == "self" => module.to_owned(),
        _ => format!("{prefix}{word}"),
    };
    let name = match lexed.word(at + 1) {
        "as" => lexed.at(at + 2).to_owned(),
        _ => path.rsplit("::").next().unwrap_or_default().to_owned(),
    };
    Leaf { path, name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_its_leaves() {
        let text = "use std::{slice::Iter, cmp::{max, self}, fmt as f, io::*,}; use ::rand::Rng as _; use md5; extern crate x;";
        let lexed = Lexed::of(text).unwrap();
        let items = Item::all(&lexed).unwrap();
        let told: Vec<_> =
            leaves(&lexed, &items).iter().map(|leaf| format!("{} {}", leaf.name, leaf.item())).collect();
        assert_eq!(
            told,
            [
                "Iter use std::slice::Iter;",
                "max use std::cmp::max;",
                "cmp use std::cmp;",
                "f use std::fmt as f;",
                "* use std::io::*;",
                "_ use ::rand::Rng as _;",
                "md5 use md5;",
                "x use x;",
            ]
        );
    }

    #[test]
    fn a_bottomless_tree_is_let_be() {
        let text = format!("use {}a{};", "{".repeat(5000), "}".repeat(5000));
        let lexed = Lexed::of(&text).unwrap();
        assert!(leaves(&lexed, &Item::all(&lexed).unwrap()).is_empty());
    }
}
