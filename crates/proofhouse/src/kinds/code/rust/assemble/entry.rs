//! How an answer gives the wanted function: as a function, by an import, or otherwise.

use crate::kinds::code::rust::frame::Frame;
use crate::kinds::code::rust::imports;
use crate::kinds::code::rust::items::{Item, Kind};
use crate::kinds::code::rust::tokens::Lexed;

/// What gives the wanted function its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kinds::code::rust) enum Entry {
    /// A function at the outermost level, written out.
    Function,
    /// A `use` of something in a module of the answer.
    Import,
    /// Something else: a type, a constant that can be called, or what a macro makes.
    Other,
}

/// How the items give the wanted function, and what must be added behind them for it; `None` if they do not.
pub(super) fn given(frame: &Frame, lexed: &Lexed<'_>, items: &[Item]) -> Option<(Entry, String)> {
    let nothing = String::new();
    let Some(entry) = &frame.entry else {
        let is_function = |item: &Item| item.kind == Kind::Function && item.body.is_some();
        return items.iter().any(is_function).then_some((Entry::Function, nothing));
    };
    if items.iter().any(|item| item.is_function(entry)) {
        return Some((Entry::Function, nothing));
    }
    let is_module = |name: &str| items.iter().any(|item| item.kind == Kind::Module && item.name == name);
    let imported = imports::leaves(lexed, items).iter().any(|leaf| {
        let path = leaf.path.strip_prefix("self::").unwrap_or(&leaf.path);
        leaf.name == *entry && is_module(path.split("::").next().unwrap_or_default())
    });
    if imported {
        return Some((Entry::Import, nothing));
    }
    let is_value = |item: &Item| matches!(item.kind, Kind::Value | Kind::Type) && item.name == *entry;
    if items.iter().any(is_value) || items.iter().any(|item| is_made(lexed, items, item, entry)) {
        return Some((Entry::Other, nothing));
    }
    // The prompt has the type, and the answer what belongs to it.
    if frame.block.is_some() && items.iter().any(|item| item.implemented(lexed) == Some(entry)) {
        return Some((Entry::Other, nothing));
    }
    let owner = items.iter().find_map(|item| has_function(lexed, item, entry))?;
    let declared = items.iter().any(|item| item.kind == Kind::Type && item.name == owner);
    let declaration = if declared { nothing } else { format!("struct {owner};\n") };
    Some((Entry::Function, format!("\n{declaration}{}", forward(frame, owner)?)))
}

/// Whether the item calls a macro of the answer that makes something by this name.
fn is_made(lexed: &Lexed<'_>, items: &[Item], item: &Item, entry: &str) -> bool {
    if item.kind != Kind::Macro || !item.name.is_empty() {
        return false;
    }
    let name = lexed.word(item.keyword);
    let made_by = |other: &&Item| other.kind == Kind::Macro && other.name == name;
    let Some(defined) = items.iter().find(made_by) else { return false };
    let says = |item: &Item| {
        lexed.words().any(|(at, word)| word == entry && (item.from..item.to).contains(&lexed.tokens[at].from))
    };
    says(item) || says(defined)
}

/// The type in whose `impl` there is such a function without `self`.
fn has_function<'a>(lexed: &Lexed<'a>, item: &Item, entry: &str) -> Option<&'a str> {
    let (open, close) = item.body.filter(|_| item.kind == Kind::Impl)?;
    let mut words = (item.keyword + 1..open).map(|at| lexed.word(at)).filter(|word| !word.is_empty());
    let owner = words.next().filter(|_| words.next().is_none())?;
    let functions = Item::within(lexed, open + 1, close)?;
    let function = functions.iter().find(|function| function.is_function(entry))?;
    let (body, _) = function.body?;
    let has_self = (function.keyword..body).any(|at| lexed.word(at) == "self");
    (!has_self).then_some(owner)
}

/// The prompt's function, with a call of the same function of a type as its body.
fn forward(frame: &Frame, owner: &str) -> Option<String> {
    let entry = frame.entry.as_deref()?;
    let head = &frame.head[frame.entry_from..];
    let mut closed = format!("{head}\n}}");
    if Lexed::of(&closed).is_none() {
        // The prompt has closed it already.
        closed = head.to_owned();
    }
    let lexed = Lexed::of(&closed)?;
    let item = Item::all(&lexed)?.into_iter().find(|item| item.is_function(entry))?;
    let (open, _) = item.body?;
    let list = (item.keyword + 2..open).find(|at| lexed.group(*at, '(').is_some())?;
    let close = lexed.group(list, '(')?;
    let is_name = |at: &usize| {
        let behind = *at == list + 1 || lexed.is_mark(at - 1, ',') || lexed.word(at - 1) == "mut";
        behind && lexed.is_mark(at + 1, ':') && !lexed.is_mark(at + 2, ':')
    };
    let names: Vec<&str> = (list + 1..close).filter(is_name).map(|at| lexed.at(at)).collect();
    let head = &closed[lexed.tokens[item.attributes.end].from..lexed.tokens[open].to];
    Some(format!("{head} {owner}::{entry}({}) }}\n", names.join(", ")))
}

/// Whether a text has nothing but a stub of the wanted function.
pub(super) fn has_only_stub(frame: &Frame, text: &str) -> bool {
    let Some(lexed) = Lexed::of(text) else { return false };
    let Some(items) = Item::all(&lexed) else { return false };
    let mut entries =
        items.iter().filter(|item| frame.entry.as_ref().is_some_and(|entry| item.is_function(entry)));
    entries.clone().next().is_some() && entries.all(|item| is_stub(&lexed, item))
}

/// Whether a function only says that it is not written yet.
pub(super) fn is_stub(lexed: &Lexed<'_>, item: &Item) -> bool {
    let Some((open, close)) = item.body else { return true };
    let gives = (item.keyword..open).any(|at| lexed.is_mark(at, '-') && lexed.is_mark(at + 1, '>'));
    if open + 1 == close {
        return gives;
    }
    if (open + 1..close).all(|at| lexed.is_mark(at, '.')) {
        return true;
    }
    let end = lexed.group(open + 3, '(').map_or(close, |end| end + 1);
    matches!(lexed.word(open + 1), "todo" | "unimplemented")
        && lexed.is_mark(open + 2, '!')
        && (end == close || (lexed.is_mark(end, ';') && end + 1 == close))
}
