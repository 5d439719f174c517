//! A text in which every item of the outermost level, every field and every method can be seen from another crate: what shares a
//! process with its tests is compiled without them, so they can only come to it from outside.

use super::items::{Item, Kind};
use super::tokens::{Lexed, What};
use super::types::parts;

/// Makes everything public that tests beside the text would see.
pub(super) fn public(source: &str) -> String {
    let Some(lexed) = Lexed::of(source) else { return source.to_owned() };
    let Some(items) = Item::all(&lexed) else { return source.to_owned() };
    let mut edits: Vec<(usize, usize)> = Vec::new();
    for item in &items {
        match item.kind {
            Kind::Function | Kind::Value | Kind::Module => {
                edits.extend(visibility(&lexed, item.attributes.end))
            }
            Kind::Type => {
                edits.extend(visibility(&lexed, item.attributes.end));
                if lexed.word(item.keyword) == "struct" {
                    edits.extend(fields(&lexed, item));
                }
            }
            Kind::Impl => edits.extend(methods(&lexed, item)),
            Kind::Use | Kind::Macro | Kind::Inner => {}
        }
    }
    edits.sort_unstable();
    let mut out = String::with_capacity(source.len() + 4 * edits.len());
    let mut at = 0;
    for (from, to) in edits {
        out.push_str(&source[at..from]);
        out.push_str("pub ");
        at = to;
    }
    out + &source[at..]
}

/// The bytes that `pub ` takes the place of: those of a narrower visibility at this token, or none before it.
fn visibility(lexed: &Lexed<'_>, at: usize) -> Option<(usize, usize)> {
    let start = lexed.tokens.get(at)?.from;
    if lexed.word(at) != "pub" {
        return Some((start, start));
    }
    let close = lexed.group(at + 1, '(')?;
    let narrow = matches!(lexed.word(at + 2), "crate" | "super" | "self" | "in");
    narrow.then(|| (start, lexed.tokens[close].to))
}

fn fields(lexed: &Lexed<'_>, item: &Item) -> Vec<(usize, usize)> {
    let open = (item.keyword + 2..lexed.tokens.len())
        .find(|at| matches!(lexed.tokens[*at].what, What::Open('{' | '(', _)) || lexed.is_mark(*at, ';'));
    let Some((open, What::Open(_, close))) = open.map(|open| (open, lexed.tokens[open].what)) else {
        return Vec::new();
    };
    let field = |(mut from, _): (usize, usize)| {
        while let (true, Some(close)) = (lexed.is_mark(from, '#'), lexed.group(from + 1, '[')) {
            from = close + 1;
        }
        visibility(lexed, from)
    };
    parts(lexed, open + 1, close).into_iter().filter_map(field).collect()
}

/// The methods of an `impl` that is of no trait.
fn methods(lexed: &Lexed<'_>, item: &Item) -> Vec<(usize, usize)> {
    let Some((open, close)) = item.body else { return Vec::new() };
    if lexed.word(item.keyword) != "impl" || (item.keyword..open).any(|at| lexed.word(at) == "for") {
        return Vec::new();
    }
    let inner = Item::within(lexed, open + 1, close).unwrap_or_default();
    inner.iter().filter_map(|item| visibility(lexed, item.attributes.end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_tests_would_see_is_public() {
        let text = "use std::fmt;\n/// A point.\nstruct Point { x: i32, #[allow(dead_code)] pub(crate) y: (u8, u8) }\nstruct Pair<T>(T, pub i32);\n\
                    enum E { A { x: i32 } }\nimpl Point { fn new() -> Self { todo!() } pub const N: u8 = 1; }\nimpl fmt::Debug for E { fn fmt(&self) {} }\n\
                    const N: u8 = 1;\nasync fn f() {}\npub(super) trait T { fn g(); }\n";
        let expected = "use std::fmt;\n/// A point.\npub struct Point { pub x: i32, #[allow(dead_code)] pub  y: (u8, u8) }\npub struct Pair<T>(pub T, pub i32);\n\
                    pub enum E { A { x: i32 } }\nimpl Point { pub fn new() -> Self { todo!() } pub const N: u8 = 1; }\nimpl fmt::Debug for E { fn fmt(&self) {} }\n\
                    pub const N: u8 = 1;\npub async fn f() {}\npub  trait T { fn g(); }\n";
        assert_eq!(public(text), expected);
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        assert_eq!(public("fn f( {"), "fn f( {");
        assert_eq!(public("some words"), "some words");
    }
}
