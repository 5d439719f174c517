//! The items of a piece of Rust: functions, types, imports, with the places of their parts. Strict: a text with anything
//! else between its items, such as prose or a dangling attribute, has no items at all.

use super::tokens::{Lexed, What};

/// One item at the outermost level of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// Its name; empty where it has none.
    pub(super) name: String,
    /// The first byte, attributes and doc comments included.
    pub(super) from: usize,
    /// The byte behind it.
    pub(super) to: usize,
    /// The token of its keyword.
    pub(super) keyword: usize,
    /// The tokens of its attributes.
    pub(super) attributes: std::ops::Range<usize>,
    /// The tokens of the braces of its body.
    pub(super) body: Option<(usize, usize)>,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Function,
    Use,
    Module,
    Type,
    Value,
    Impl,
    Macro,
    /// An attribute of the whole file.
    Inner,
}

const QUALIFIERS: [&str; 6] = ["const", "async", "unsafe", "extern", "safe", "default"];

impl Item {
    /// The items of the whole text, `None` if there is anything else in it.
    pub(super) fn all(lexed: &Lexed<'_>) -> Option<Vec<Item>> {
        Item::within(lexed, 0, lexed.tokens.len())
    }

    /// The items between two tokens.
    pub(super) fn within(lexed: &Lexed<'_>, mut at: usize, end: usize) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        while at < end {
            let (item, next) = one(lexed, at, end)?;
            items.push(item);
            at = next;
        }
        Some(items)
    }

    /// The type that an `impl` is for.
    pub(super) fn implemented<'a>(&self, lexed: &Lexed<'a>) -> Option<&'a str> {
        let (open, _) = self.body.filter(|_| self.kind == Kind::Impl)?;
        let mut from = self.keyword + 1;
        // Its own parameters stand first: `impl<T: Ord> Heap<T>`.
        if lexed.is_mark(from, '<') {
            let mut depth = 0_usize;
            from = (from..open).find(|at| {
                depth += usize::from(lexed.is_mark(*at, '<'));
                let closes = lexed.is_mark(*at, '>') && !lexed.is_mark(at - 1, '-');
                depth -= usize::from(closes);
                closes && depth == 0
            })? + 1;
        }
        let words: Vec<&str> =
            (from..open).map(|at| lexed.word(at)).filter(|word| !word.is_empty()).collect();
        match words.iter().position(|word| *word == "for") {
            Some(at) => words.get(at + 1).copied(),
            None => words.first().copied(),
        }
    }

    /// Whether it is a function of this name with a body.
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.kind == Kind::Function && self.body.is_some() && self.name == name
    }
}

fn one(lexed: &Lexed<'_>, start: usize, end: usize) -> Option<(Item, usize)> {
    let mut at = start;
    while at < end && lexed.is_mark(at, '#') {
        let inner = lexed.is_mark(at + 1, '!');
        let close = lexed.group(at + 1 + usize::from(inner), '[')?;
        if inner {
            let item = item(lexed, Kind::Inner, String::new(), (start, at, close));
            return (at == start).then_some((item, close + 1));
        }
        at = close + 1;
    }
    let attributes_end = at;
    if lexed.word(at) == "pub" {
        at += 1;
        at = lexed.group(at, '(').map_or(at, |close| close + 1);
    }
    let (kind, name, keyword, last) = declaration(lexed, at, end)?;
    let mut found = item(lexed, kind, name, (start, attributes_end, last));
    found.keyword = keyword;
    if let Some(What::Close(open)) = lexed.tokens.get(last).map(|token| token.what)
        && lexed.group(open, '{').is_some()
        && !matches!(kind, Kind::Use | Kind::Value)
    {
        found.body = Some((open, last));
    }
    Some((found, last + 1))
}

fn item(lexed: &Lexed<'_>, kind: Kind, name: String, place: (usize, usize, usize)) -> Item {
    let (start, attributes_end, last) = place;
    let (from, to) = (lexed.tokens[start].from, lexed.tokens[last].to);
    Item { kind, name, from, to, keyword: start, attributes: start..attributes_end, body: None }
}

/// Kind, name, keyword and last token of what is declared at this token.
fn declaration(lexed: &Lexed<'_>, start: usize, end: usize) -> Option<(Kind, String, usize, usize)> {
    let mut at = start;
    // `const fn`, `unsafe extern "C" fn`, but `const X`, `extern crate`, `unsafe impl`, `extern "C" { … }` too.
    while QUALIFIERS.contains(&lexed.word(at)) && at < end {
        at += 1;
        if lexed.tokens.get(at).is_some_and(|token| token.what == What::Literal) {
            at += 1;
        }
    }
    let name = |at: usize| Some(lexed.word(at)).filter(|word| !word.is_empty()).map(str::to_owned);
    let qualified = |word: &str| (start..at).any(|index| lexed.word(index) == word);
    match lexed.word(at) {
        "fn" => Some((Kind::Function, name(at + 1)?, at, ends_with_body(lexed, at + 2, end)?)),
        "struct" | "enum" | "union" | "trait" => {
            Some((Kind::Type, name(at + 1)?, at, ends_with_body(lexed, at + 2, end)?))
        }
        "impl" => Some((Kind::Impl, String::new(), at, ends_with_body(lexed, at + 1, end)?)),
        "mod" => Some((Kind::Module, name(at + 1)?, at, ends_with_body(lexed, at + 2, end)?)),
        "type" => Some((Kind::Type, name(at + 1)?, at, semicolon(lexed, at + 2, end)?)),
        "use" => {
            let last = semicolon(lexed, at + 1, end)?;
            is_path(lexed, at + 1, last).then_some((Kind::Use, String::new(), at, last))
        }
        "static" => {
            let named = at + 1 + usize::from(lexed.word(at + 1) == "mut");
            Some((Kind::Value, name(named)?, at, semicolon(lexed, named + 1, end)?))
        }
        "macro_rules" if lexed.is_mark(at + 1, '!') => {
            Some((Kind::Macro, name(at + 2)?, at, invocation(lexed, at + 3, end)?))
        }
        "crate" if qualified("extern") => {
            Some((Kind::Use, name(at + 1)?, at, semicolon(lexed, at + 2, end)?))
        }
        _ if qualified("extern") && lexed.group(at, '{').is_some() => {
            Some((Kind::Impl, String::new(), at, lexed.group(at, '{')?))
        }
        word if qualified("const") && lexed.is_mark(at + 1, ':') && !word.is_empty() => {
            Some((Kind::Value, word.to_owned(), at, semicolon(lexed, at + 1, end)?))
        }
        word if at == start && !word.is_empty() && lexed.is_mark(at + 1, '!') => {
            Some((Kind::Macro, String::new(), at, invocation(lexed, at + 2, end)?))
        }
        _ => None,
    }
}

/// The closing brace of the body, or the semicolon of a declaration without one.
fn ends_with_body(lexed: &Lexed<'_>, mut at: usize, end: usize) -> Option<usize> {
    while at < end {
        if lexed.is_mark(at, ';') {
            return Some(at);
        }
        match lexed.tokens[at].what {
            // A brace behind `<`, `=` is a constant in a type.
            What::Open('{', close) if lexed.is_mark(at - 1, '<') || lexed.is_mark(at - 1, '=') => at = close,
            What::Open('{', close) => return Some(close),
            What::Open(_, close) => at = close,
            // Another item's keyword: what stood before was not a declaration.
            What::Word if matches!(lexed.word(at), "let" | "use" | "struct") => return None,
            What::Word if lexed.word(at) == "fn" && lexed.group(at + 1, '(').is_none() => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

fn semicolon(lexed: &Lexed<'_>, mut at: usize, end: usize) -> Option<usize> {
    while at < end {
        if lexed.is_mark(at, ';') {
            return Some(at);
        }
        if let What::Open(_, close) = lexed.tokens[at].what {
            at = close;
        }
        at += 1;
    }
    None
}

/// The end of a macro's arguments: braces, or other brackets and a semicolon.
fn invocation(lexed: &Lexed<'_>, at: usize, end: usize) -> Option<usize> {
    match lexed.tokens.get(at)?.what {
        What::Open('{', close) => Some(close),
        What::Open(_, close) if close + 1 < end && lexed.is_mark(close + 1, ';') => Some(close + 1),
        _ => None,
    }
}

/// Whether these tokens could be the path of an import: prose that begins with "use" is not.
fn is_path(lexed: &Lexed<'_>, from: usize, to: usize) -> bool {
    let mut previous_word = false;
    (from..to).all(|at| {
        let word = lexed.word(at);
        let fits = match lexed.tokens[at].what {
            What::Word => !previous_word || word == "as" || lexed.word(at - 1) == "as",
            What::Mark(mark) => matches!(mark, ':' | ',' | '*'),
            What::Open(bracket, _) => bracket == '{',
            What::Close(_) => true,
            What::Literal => false,
        };
        previous_word = !word.is_empty();
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<String> {
        let lexed = Lexed::of(text)?;
        let items = Item::all(&lexed)?;
        Some(items.iter().map(|item| format!("{:?} {}", item.kind, item.name)).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn items_of_every_kind() {
        let text = r#"
            #![allow(dead_code)]
            use std::{fmt, collections::{HashMap as Map, *}};
            extern crate core;
            /// Documented
            #[derive(Debug, Clone)]
            pub(crate) struct Point<const N: usize = { 1 + 1 }> { x: i32 }
            struct Unit; struct Pair(i32, i32);
            enum E { A { x: i32 } }
            unsafe impl Send for Unit {}
            pub const unsafe extern "C" fn f<T>(g: fn(T) -> T) -> [u8; { 2 }] where T: Copy { [0; 2] }
            const X: i32 = { 1 };
            static mut Y: [i32; 2] = [1, 2];
            type Z = fn(i32) -> i32;
            macro_rules! m { () => { fn main() {} } }
            m!(); m! { }
            mod inner { fn main() {} }
            extern "C" { fn abort(); }
            trait T { fn g(); }
        "#;
        assert_eq!(
            told(text).unwrap(),
            "Inner , Use , Use core, Type Point, Type Unit, Type Pair, Type E, Impl , Function f, Value X, Value Y, \
             Type Z, Macro m, Macro , Macro , Module inner, Impl , Type T"
        );
    }

    #[test]
    fn what_is_not_made_of_items_has_none() {
        for text in [
            "Here is the code: fn f() {}",
            "use this function: fn f() {}",
            "fn f() {} #[cfg(any())]",
            "fn f() {} That works.",
            "let x = 1;",
            "1",
            "fn f() -> i32",
            "struct of data fn f() {}",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
