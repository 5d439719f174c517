//! What the tokens of a completion tell before it is compiled: where it has to stand, and whether it can stand beside others.
//! Identifiers cannot be made up by stable macros, so a word that is not there as a token is not there at all.

use std::collections::BTreeSet;

use super::assemble::Assembled;
use super::frame::Frame;
use super::tokens::Lexed;
use super::types::parts;

/// Words by which code learns its own path or arguments, reaches beyond its module, or changes what a whole program is linked of.
const PLACE_WORDS: [&str; 34] = [
    "PhantomData",
    "link_section",
    "no_mangle",
    "export_name",
    "global_asm",
    "naked_asm",
    "asm",
    "global_allocator",
    "panic_handler",
    "process",
    "Command",
    "fs",
    "os",
    "extern",
    "include",
    "include_str",
    "include_bytes",
    "file",
    "module_path",
    "type_name",
    "type_name_of_val",
    "Location",
    "backtrace",
    "args",
    "args_os",
    "current_exe",
    "dbg",
    "path",
    "set_hook",
    "take_hook",
    "track_caller",
    "type_id",
    "TypeId",
    "update_hook",
];

/// What the tokens of a completion tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Screened {
    /// It names the crate or a parent module, or says something of the whole crate, so it must stand at the crate's root.
    pub(super) at_root: bool,
    /// It has `unsafe`.
    pub(super) has_unsafe: bool,
    /// It reaches below the language: `unsafe`, foreign functions, the linker.
    pub(super) reaches_below: bool,
    /// Crates of the prompt that are not there and that it (or the tests) cannot do without.
    pub(super) missing_crates: Vec<String>,
    /// It could tell where in a crate it stands, or reach beyond its own module: it is judged alone.
    pub(super) notices_its_place: bool,
    /// It could not be read at all.
    pub(super) unreadable: bool,
}

/// Looks at a completion in its place.
pub(super) fn screen(frame: &Frame, assembled: &Assembled) -> Screened {
    let Some(lexed) = Lexed::of(&assembled.source) else {
        return Screened { unreadable: true, ..Screened::default() };
    };
    let own: BTreeSet<&str> = lexed
        .words()
        .filter(|(at, _)| assembled.own.contains(&lexed.tokens[*at].from))
        .map(|(_, word)| word)
        .collect();
    let has = |name: &str| own.contains(name);
    let needed = |name: &str| has(name) || frame.checks.words.iter().any(|word| word == name);
    let missing = frame.missing.iter().filter(|leaf| needed(&leaf.name) || needed(leaf.root()));
    let missing: BTreeSet<String> = missing.map(|leaf| leaf.root().to_owned()).collect();
    let inner = lexed.has_inner_attribute();
    Screened {
        at_root: has("crate") || has("super") || has("macro_export") || inner,
        has_unsafe: lexed
            .words()
            .any(|(at, _)| lexed.at(at) == "unsafe" && assembled.own.contains(&lexed.tokens[at].from)),
        reaches_below: reaches_below(&lexed, assembled) || outlives(&lexed, assembled),
        missing_crates: missing.into_iter().collect(),
        notices_its_place: PLACE_WORDS.iter().any(|word| has(word)) || inner,
        unreadable: false,
    }
}

/// Whether the completion has a word that reaches below the language. A keyword that is written as a name is a name, and the
/// standard library is nothing foreign.
fn reaches_below(lexed: &Lexed<'_>, assembled: &Assembled) -> bool {
    lexed.words().filter(|(at, _)| assembled.own.contains(&lexed.tokens[*at].from)).any(|(at, word)| {
        let own_crate = word == "extern"
            && lexed.word(at + 1) == "crate"
            && matches!(lexed.word(at + 2), "std" | "core" | "alloc");
        let name = matches!(word, "unsafe" | "extern") && lexed.at(at).starts_with("r#");
        BELOW.contains(&word) && !own_crate && !name
    })
}

/// Whether the completion could make references live longer than what they point to, by a known hole of the compiler: a function
/// with a parameter that says of two named lifetimes that one outlives the other, which takes something of the one and gives
/// something of the other, taken as a pointer.
fn outlives(lexed: &Lexed<'_>, assembled: &Assembled) -> bool {
    let own = |at: usize| assembled.own.contains(&lexed.tokens[at].from);
    let pointer = |at: usize| lexed.word(at) == "fn" && lexed.group(at + 1, '(').is_some();
    if !(0..lexed.tokens.len()).any(|at| own(at) && pointer(at)) {
        return false;
    }
    // A lifetime is a mark and a word.
    let named = |range: std::ops::Range<usize>| -> Vec<&str> {
        let names = range.filter(|at| lexed.is_mark(*at, '\'')).map(|at| lexed.word(at + 1));
        names.filter(|name| !matches!(*name, "" | "_")).collect()
    };
    let changes = |at: usize| {
        let list = (at..lexed.tokens.len()).find(|at| lexed.group(*at, '(').is_some());
        let Some((list, close)) = list.and_then(|list| Some((list, lexed.group(list, '(')?))) else {
            return false;
        };
        let end =
            (close..lexed.tokens.len()).find(|at| lexed.group(*at, '{').is_some() || lexed.is_mark(*at, ';'));
        let (taken, given) = (named(list..close), named(close..end.unwrap_or(lexed.tokens.len())));
        let together = |one: &str, other: &str| {
            parts(lexed, list + 1, close).into_iter().any(|(from, to)| {
                let names = named(from..to);
                names.contains(&one) && names.contains(&other)
            })
        };
        let twice = |name: &str| taken.iter().filter(|each| **each == name).count() > 1;
        given
            .iter()
            .any(|given| taken.iter().any(|taken| taken != given && twice(taken) && together(given, taken)))
    };
    (0..lexed.tokens.len())
        .any(|at| own(at) && lexed.word(at) == "fn" && !lexed.word(at + 1).is_empty() && changes(at))
}

/// Words by which a program reaches below the language; `asm` and `naked_asm` do not without `unsafe`.
const BELOW: [&str; 10] = [
    "unsafe",
    "extern",
    "link_section",
    "no_mangle",
    "export_name",
    "link_name",
    "global_asm",
    "global_allocator",
    "panic_handler",
    "set_hook",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::code::rust::assemble::Reading;

    fn is_hole(source: &str) -> bool {
        let assembled = Assembled {
            own: 0..source.len(),
            source: source.to_owned(),
            repeated: Vec::new(),
            main_free: true,
            reading: Reading::Whole,
        };
        outlives(&Lexed::of(source).unwrap(), &assembled)
    }

    #[test]
    fn only_what_lengthens_a_lifetime_reaches_below() {
        let pointer = "fn y<'b, T>(x: &T) -> &'b T { let f: for<'x> fn(_, &'x T) -> &'b T = t; f(&&(), x) }";
        for hole in [
            "fn t<'a, 'b, T>(_: &'a &'b (), v: &'b T) -> &'a T { v }",
            "fn t<'a, 'b, T>(_: W<'a, &'b ()>, v: &'b T) -> &'a T { v }",
            "fn t<'a, 'b, T>(v: (&'a &'b (), &'b mut T)) -> &'a mut T { v.1 }",
        ] {
            assert!(is_hole(&format!("{hole} {pointer}")), "{hole}");
            assert!(!is_hole(hole), "{hole}");
        }
        for honest in [
            "fn x<'a, 'b>(_: &'a &'b ()) {} fn y(_: fn(u8)) {}",
            "fn first<'a, 'b>(v: &'a [&'b str]) -> &'b str { v[0] } fn y(_: fn(u8)) {}",
            "fn longer<'a>(x: &'a str, y: &'a str) -> &'a str { x } fn y(_: fn(&str) -> usize) {}",
        ] {
            assert!(!is_hole(honest), "{honest}");
        }
    }
}
