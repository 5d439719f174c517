//! What `cfg` predicates come to where tests are run: on this kind of machine, with `test` set.

use crate::kinds::code::rust::tokens::{Lexed, What};

/// Deeper predicates are nobody's.
const MAX_DEPTH: usize = 32;

/// The value of the predicate between two tokens; `None` where only the compiler knows.
pub(in crate::kinds::code::rust) fn holds(
    lexed: &Lexed<'_>,
    from: usize,
    to: usize,
    test: bool,
) -> Option<bool> {
    predicate(lexed, from, to, test, 0)
}

fn predicate(lexed: &Lexed<'_>, from: usize, to: usize, test: bool, depth: usize) -> Option<bool> {
    let name = lexed.word(from);
    if depth > MAX_DEPTH || from >= to {
        return None;
    }
    if let Some(close) = lexed.group(from + 1, '(') {
        let mut values = Vec::new();
        let mut start = from + 2;
        for at in parts(lexed, from + 2, close) {
            values.push(predicate(lexed, start, at, test, depth + 1));
            start = at + 1;
        }
        return match name {
            "all" if values.contains(&Some(false)) => Some(false),
            "all" => (!values.contains(&None)).then_some(true),
            "any" if values.contains(&Some(true)) => Some(true),
            "any" => (!values.contains(&None)).then_some(false),
            "not" if values.len() == 1 => values[0].map(|value| !value),
            _ => None,
        };
    }
    let value = lexed.is_mark(from + 1, '=').then(|| lexed.at(from + 2).trim_matches('"'));
    match (name, value) {
        ("test", None) => Some(test),
        ("true" | "unix" | "debug_assertions" | "overflow_checks", None) => Some(true),
        ("false" | "windows" | "miri" | "doc" | "doctest" | "proc_macro" | "fuzzing" | "loom", None) => {
            Some(false)
        }
        ("feature", Some(_)) => Some(false),
        ("target_os", Some(os)) => Some(os == "linux"),
        ("target_family", Some(family)) => Some(family == "unix"),
        ("target_arch", Some(arch)) => Some(arch == std::env::consts::ARCH),
        ("target_endian", Some(endian)) => Some((endian == "little") == cfg!(target_endian = "little")),
        ("target_pointer_width", Some(width)) => Some(width == usize::BITS.to_string()),
        ("panic", Some(way)) => Some(way == "unwind"),
        _ => None,
    }
}

/// Where each part of a list ends.
fn parts(lexed: &Lexed<'_>, from: usize, close: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut start = from;
    let mut at = from;
    while at < close {
        match lexed.tokens[at].what {
            What::Open(_, partner) => at = partner,
            What::Mark(',') => {
                ends.push(at);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if start < close {
        ends.push(close);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_are_what_rustc_makes_of_them() {
        for (text, expected) in [
            ("test", Some(true)),
            ("all(test, unix)", Some(true)),
            ("all(test, feature = \"slow\")", Some(false)),
            ("all(test, not(feature = \"slow\"),)", Some(true)),
            ("any(windows, target_os = \"linux\")", Some(true)),
            ("not(test)", Some(false)),
            ("not(any(test, windows))", Some(false)),
            ("all(test, debug_assertions, target_pointer_width = \"64\")", Some(true)),
            ("all()", Some(true)),
            ("any()", Some(false)),
            ("all(test, target_env = \"gnu\")", None),
            ("any(test, target_env = \"gnu\")", Some(true)),
            ("something(test)", None),
        ] {
            let lexed = Lexed::of(text).unwrap();
            assert_eq!(holds(&lexed, 0, lexed.tokens.len(), true), expected, "{text}");
        }
        let deep = format!("{}test{}", "not(".repeat(9000), ")".repeat(9000));
        let lexed = Lexed::of(&deep).unwrap();
        assert_eq!(holds(&lexed, 0, lexed.tokens.len(), true), None);
    }
}
