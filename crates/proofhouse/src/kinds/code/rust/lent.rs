//! What the tests use and only the task's own solution defines: a helper, a constant, a type. An answer that defines them too
//! could say what its tests are to find, so the tests get the solution's own.

use std::collections::BTreeSet;

use super::assemble::Assembled;
use super::checks::is_test_only;
use super::frame::Frame;
use super::imports;
use super::items::{Item, Kind};
use super::tokens::Lexed;

/// The items of a solution that are neither the prompt's nor the wanted function; empty if the tests name none of them.
pub(super) fn lent(frame: &Frame, preamble: &str, solution: &Assembled) -> String {
    let (Some(lexed), Some(prompt)) = (Lexed::of(&solution.source), Lexed::of(preamble)) else {
        return String::new();
    };
    let (Some(items), Some(defined)) = (Item::all(&lexed), Item::all(&prompt)) else { return String::new() };
    let mut known: BTreeSet<String> = defined.iter().map(|item| item.name.clone()).collect();
    known.extend(imports::leaves(&prompt, &defined).into_iter().map(|leaf| leaf.name));
    known.extend([frame.entry.clone().unwrap_or_default(), "main".to_owned()]);
    let own = |item: &&Item| {
        solution.own.contains(&item.from) && item.kind != Kind::Inner && !is_test_only(&lexed, item)
    };
    let (mut text, mut named) = (String::new(), false);
    for item in items.iter().filter(own) {
        if item.kind == Kind::Use {
            let leaves = imports::of_item(&lexed, item);
            for leaf in leaves.iter().filter(|leaf| leaf.name == "_" || !known.contains(&leaf.name)) {
                text.push_str(&format!("{} ", leaf.item()));
            }
        } else if item.name.is_empty() || !known.contains(&item.name) {
            named |= !item.name.is_empty() && frame.checks.words.contains(&item.name);
            named |= lexed.word(item.keyword) == "trait"
                && methods(&lexed, item).any(|name| frame.checks.words.contains(&name));
            text.push_str(&solution.source[item.from..item.to]);
            text.push('\n');
        }
    }
    if named { text } else { String::new() }
}

/// The functions of a trait: tests may call them without its name.
fn methods<'a>(lexed: &'a Lexed<'_>, item: &Item) -> impl Iterator<Item = String> + 'a {
    let (open, close) = item.body.unwrap_or_default();
    (open..close).filter(|at| lexed.word(*at) == "fn").map(|at| lexed.word(at + 1).to_owned())
}
