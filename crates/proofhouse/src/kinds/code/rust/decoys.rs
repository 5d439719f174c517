//! Tests that can expect something else at run time: the same program, in which some literals are picked by numbers that it is
//! told when it starts. Who shares a process with its tests and passes them honestly fails them with another value; who is equal
//! to everything, or writes the report itself, passes those too, and nothing tells it which of them are the real ones: every run
//! is of one program, with the same names, places and addresses, and where among the values the real one stands is drawn anew
//! for each completion, after that was compiled.

mod find;
mod other;
mod values;

pub(super) use crate::kinds::code::dice::Dice;
pub(super) use find::{Source, find};

use std::ops::Range;

use super::tokens::Lexed;

/// How often each completion is shown something wrong.
pub(super) const MAX_DECOYS: usize = 12;
/// Other values for one place, where there are few places.
const MAX_OTHERS: usize = 6;

/// What it says of an answer that it passes with another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Nobody can pass both: it is a part of what a result must be equal to.
    Whole,
    /// Nobody who solves the task as its own solution does: it is told to the result, or near to it.
    Told,
    /// Nobody can pass both, and who is equal to everything does not either: the claim is turned round.
    Denial,
    /// Little: only if nothing like it is failed either.
    Loose,
}

/// How a value is picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    Text,
    Bytes,
    /// Of an enum, which may not be copied.
    Variant,
    /// Of the claim from here to there.
    Claim,
    /// Of the equation whose other side is from here to there.
    Equation(usize, usize),
}

/// A place of the tests where something else can be expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Site {
    from: usize,
    to: usize,
    shape: Shape,
    /// What can stand there, the real one first.
    pub(super) texts: Vec<String>,
    pub(super) weight: Weight,
}

/// Tests with places to pick at, as one completion meets them.
pub(super) struct Dealt {
    /// Their text.
    pub(super) text: String,
    /// How many places there are.
    pub(super) count: usize,
    /// By place, where each of its values stands.
    places: Vec<Vec<u8>>,
}

impl Dealt {
    /// Deals the values of these places of a text.
    pub(super) fn of(source: &str, sites: &[Site], dice: &mut Dice) -> Dealt {
        let (mut places, mut edits) = (Vec::new(), Vec::new());
        for (number, site) in sites.iter().enumerate() {
            let mut order: Vec<usize> = (0..site.texts.len()).collect();
            dice.shuffle(&mut order);
            let dealt: Vec<&str> = order.iter().map(|at| site.texts[*at].as_str()).collect();
            site.edit(number, &dealt, &mut edits);
            let place = |at: usize| order.iter().position(|each| *each == at).unwrap_or(0) as u8;
            places.push((0..site.texts.len()).map(place).collect());
        }
        edits.sort_by_key(|(from, to, _)| (*from, *to));
        let (mut text, mut at) = (String::with_capacity(source.len() + 64 * edits.len()), 0);
        for (from, to, with) in edits {
            text.push_str(&source[at..from]);
            text.push_str(&with);
            at = to;
        }
        text.push_str(&source[at..]);
        Dealt { text, count: sites.len(), places }
    }

    /// What the program is told to show the real values, or at one place another one.
    pub(super) fn told(&self, decoy: Option<(usize, usize)>) -> String {
        let value = |number: usize| match decoy {
            Some((site, other)) if site == number => other,
            _ => 0,
        };
        let each = self.places.iter().enumerate();
        each.map(|(number, places)| format!("{:02x}", places[value(number)])).collect()
    }
}

impl Site {
    /// The edits by which the values are picked here.
    fn edit(&self, number: usize, values: &[&str], edits: &mut Vec<(usize, usize, String)>) {
        let pick = |with: &str| format!("crate::__proofhouse_{with}({number}, [{}])", values.join(", "));
        match self.shape {
            Shape::Number => edits.push((self.from, self.to, pick("pick"))),
            Shape::Text => edits.push((self.from, self.to, pick("text"))),
            Shape::Bytes => edits.push((self.from, self.to, pick("bytes"))),
            Shape::Variant => {
                let arm = |(at, value): (usize, &&str)| format!("{at} => {value}, ");
                let arms: String = values.iter().enumerate().map(arm).collect();
                let place = format!("crate::__proofhouse_place({number})");
                edits.push((
                    self.from,
                    self.to,
                    format!("(match {place} {{ {arms}_ => ::core::panic!() }})"),
                ));
            }
            Shape::Claim => {
                let turn = format!("crate::__proofhouse_turn({}, ", pick("pick"));
                edits.push((self.from, self.from, turn));
                edits.push((self.to, self.to, ")".to_owned()));
            }
            Shape::Equation(from, to) => {
                let left = format!("crate::__proofhouse_left({}, &(", pick("pick"));
                edits.push((self.from, self.from, left));
                edits.push((self.to, self.to, "))".to_owned()));
                edits.push((from, from, "crate::__proofhouse_right(&(".to_owned()));
                edits.push((to, to, "))".to_owned()));
            }
        }
    }
}

/// What the root of such a program has, with so many places.
pub(super) fn root(count: usize) -> String {
    format!("const __PROOFHOUSE_COUNT: usize = {count};\n{ROOT}")
}

// Texts are copied: where a literal stands in the program would tell it from others.
const ROOT: &str = "\
use ::std::sync::atomic::{AtomicBool as __Flag, AtomicU8 as __Byte, Ordering as __Order};
const __BYTE: __Byte = __Byte::new(0);
const __FLAG: __Flag = __Flag::new(false);
static __PROOFHOUSE_PLACES: [__Byte; __PROOFHOUSE_COUNT] = [__BYTE; __PROOFHOUSE_COUNT];
static __PROOFHOUSE_SEEN: [__Flag; __PROOFHOUSE_COUNT] = [__FLAG; __PROOFHOUSE_COUNT];
pub(crate) fn __proofhouse_place(site: usize) -> usize {
    __PROOFHOUSE_SEEN[site].store(true, __Order::Relaxed);
    __PROOFHOUSE_PLACES[site].load(__Order::Relaxed) as usize
}
pub(crate) fn __proofhouse_pick<T: ::core::marker::Copy, const N: usize>(site: usize, all: [T; N]) -> T {
    all[__proofhouse_place(site)]
}
pub(crate) fn __proofhouse_text<const N: usize>(site: usize, all: [&'static str; N]) -> &'static str {
    ::std::string::String::from(__proofhouse_pick(site, all)).leak()
}
pub(crate) fn __proofhouse_bytes<const L: usize, const N: usize>(site: usize, all: [&'static [u8; L]; N]) -> &'static [u8; L] {
    ::std::boxed::Box::leak(::std::boxed::Box::new(*__proofhouse_pick(site, all)))
}
pub(crate) fn __proofhouse_turn(turned: bool, claim: bool) -> bool { turned != claim }
pub(crate) struct __Left<'a, T: ?Sized>(bool, &'a T);
pub(crate) struct __Right<'a, T: ?Sized>(&'a T);
pub(crate) fn __proofhouse_left<T: ?Sized>(turned: bool, value: &T) -> __Left<'_, T> { __Left(turned, value) }
pub(crate) fn __proofhouse_right<T: ?Sized>(value: &T) -> __Right<'_, T> { __Right(value) }
impl<A: ?Sized + ::core::cmp::PartialEq<B>, B: ?Sized> ::core::cmp::PartialEq<__Right<'_, B>> for __Left<'_, A> {
    fn eq(&self, other: &__Right<'_, B>) -> bool { (*self.1 == *other.0) != self.0 }
}
impl<T: ?Sized + ::core::fmt::Debug> ::core::fmt::Debug for __Left<'_, T> {
    fn fmt(&self, to: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { self.1.fmt(to) }
}
impl<T: ?Sized + ::core::fmt::Debug> ::core::fmt::Debug for __Right<'_, T> {
    fn fmt(&self, to: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { self.0.fmt(to) }
}
";

/// Whether a text says itself when its types are equal: then not every other value is another.
pub(super) fn defines_equality(text: &str) -> bool {
    let defines = |lexed: Lexed<'_>| {
        lexed.words().any(|(at, word)| word == "eq" && lexed.word(at.wrapping_sub(1)) == "fn")
    };
    Lexed::of(text).is_none_or(defines)
}

/// Where in these tests a claim that fails is a failure: not in those that have to panic. `None` is everywhere.
pub(super) fn calm(source: &str) -> Option<Vec<Range<usize>>> {
    const PANICS: &str = "::core::option::Option::Some(";
    if !source.contains(PANICS) {
        return None;
    }
    let Some(lexed) = Lexed::of(source) else { return Some(Vec::new()) };
    let entries = source.split("list.push((\"").skip(1).filter_map(|entry| entry.split_once("\", "));
    let entries: Vec<(&str, bool)> = entries
        .map(|(name, rest)| (name.rsplit("::").next().unwrap_or(name), rest.starts_with(PANICS)))
        .collect();
    let is_calm = |name: &str| {
        entries.iter().any(|(known, _)| *known == name)
            && entries.iter().all(|(known, panics)| *known != name || !panics)
    };
    let functions = lexed.words().filter(|(at, word)| *word == "fn" && is_calm(lexed.word(at + 1)));
    let bodies = functions.filter_map(|(at, _)| {
        let open = (at..lexed.tokens.len()).find(|at| lexed.group(*at, '{').is_some())?;
        Some(lexed.tokens[open].from..lexed.tokens[lexed.group(open, '{')?].to)
    });
    Some(bodies.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_has_to_panic_shows_nothing() {
        let source = "fn a() { assert_eq!(f(1), 7); } fn b() { assert_eq!(f(2), 8); } \
                      list.push((\"t::a\", ::core::option::Option::None, x)); list.push((\"t::b\", ::core::option::Option::Some(\"\"), x));";
        let found: Vec<&str> = calm(source).unwrap().into_iter().map(|body| &source[body]).collect();
        assert_eq!(found, ["{ assert_eq!(f(1), 7); }"]);
        assert_eq!(calm("fn a() { assert_eq!(f(1), 7); }"), None);
    }

    #[test]
    fn a_type_may_say_itself_what_it_is_equal_to() {
        assert!(defines_equality("impl PartialEq for P { fn eq(&self, o: &P) -> bool { true } }"));
        assert!(!defines_equality("#[derive(PartialEq)] struct P(u8);"));
    }
}
