//! What a completion must not contain, told from its tokens. Identifiers cannot be made up by stable macros, so a word that
//! is not there as a token is not there at all.

use std::collections::BTreeSet;

use super::assemble::Assembled;
use super::frame::Frame;
use super::imports;
use super::items::{Item, Kind};
use super::tokens::{Lexed, What};

/// Words that reach the linker or run before `main`: no answer to a task needs them.
const LINKING: [&str; 8] = [
    "link_section",
    "no_mangle",
    "export_name",
    "global_asm",
    "naked_asm",
    "global_allocator",
    "panic_handler",
    "link_name",
];

/// The macros that tests are made of.
const TEST_MACROS: [&str; 13] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "vec",
    "format",
    "matches",
    "unreachable",
    "println",
    "print",
];

/// Names that tests and signatures take for granted.
const TAKEN_FOR_GRANTED: [&str; 36] = [
    "std",
    "core",
    "alloc",
    "Vec",
    "String",
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "Box",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Iterator",
    "IntoIterator",
    "ToString",
    "ToOwned",
    "From",
    "Into",
    "AsRef",
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u32",
    "u64",
    "usize",
    "isize",
    "f32",
    "f64",
    "str",
];

/// Words by which code learns its own path or arguments, or reaches beyond its module.
const PLACE_WORDS: [&str; 21] = [
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
    /// Why it is not judged at all.
    pub(super) tampered: Option<String>,
    /// It names the crate or a parent module, so it must stand at the crate's root.
    pub(super) at_root: bool,
    /// It has `unsafe`.
    pub(super) has_unsafe: bool,
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
    let own: Vec<(usize, &str)> =
        lexed.words().filter(|(at, _)| assembled.own.contains(&lexed.tokens[*at].from)).collect();
    let has = |name: &str| own.iter().any(|(_, word)| *word == name);
    let items = Item::all(&lexed).unwrap_or_default();
    let tampered = own
        .iter()
        .find_map(|(at, word)| forbidden_word(&lexed, *at, word))
        .or_else(|| redefined_by_macro(&lexed, &own))
        .or_else(|| shadowed(&lexed, &items, assembled))
        .or_else(|| returns_own_type(&lexed, &items, frame, assembled));
    let needed = |name: &str| has(name) || frame.checks.words.iter().any(|word| word == name);
    let missing = frame.missing.iter().filter(|leaf| needed(&leaf.name) || needed(leaf.root()));
    let missing: BTreeSet<String> = missing.map(|leaf| leaf.root().to_owned()).collect();
    Screened {
        tampered,
        at_root: has("crate") || has("super") || has("macro_export"),
        has_unsafe: has("unsafe"),
        missing_crates: missing.into_iter().collect(),
        notices_its_place: PLACE_WORDS.iter().any(|word| has(word)) || lexed.has_inner_attribute(),
        unreadable: false,
    }
}

fn forbidden_word(lexed: &Lexed<'_>, at: usize, word: &str) -> Option<String> {
    if LINKING.contains(&word) || (word == "asm" && lexed.is_mark(at + 1, '!')) {
        return Some(format!("`{word}` reaches below the language"));
    }
    if matches!(word, "include" | "include_str" | "include_bytes") && lexed.is_mark(at + 1, '!') {
        // What the compiler's own files say is harmless, and files of the host are not there.
        let elsewhere =
            lexed.tokens.get(at + 3).is_some_and(|token| lexed.text[token.from..].starts_with("\"/"));
        return (!elsewhere).then(|| format!("`{word}!` reads files of the harness"));
    }
    if word.starts_with("__proofhouse") {
        return Some(format!("`{word}` is a name of the harness"));
    }
    let defines = at >= 2 && lexed.is_mark(at - 1, '!') && lexed.word(at - 2) == "macro_rules";
    (defines && TEST_MACROS.contains(&word)).then(|| format!("`{word}!` is redefined"))
}

/// A macro that defines macros by a name that it is given could be given one of the tests' own.
fn redefined_by_macro(lexed: &Lexed<'_>, own: &[(usize, &str)]) -> Option<String> {
    let makes = own
        .iter()
        .any(|(at, word)| *word == "macro_rules" && lexed.is_mark(at + 1, '!') && lexed.is_mark(at + 2, '$'));
    let given = own.iter().find(|(at, word)| TEST_MACROS.contains(word) && !lexed.is_mark(at + 1, '!'));
    given.filter(|_| makes).map(|(_, word)| format!("`{word}!` may be redefined by a macro"))
}

fn shadowed(lexed: &Lexed<'_>, items: &[Item], assembled: &Assembled) -> Option<String> {
    let own = items.iter().filter(|item| assembled.own.contains(&item.from));
    for item in own {
        if item.kind == Kind::Use {
            let foreign = imports::of_item(lexed, item).into_iter().find(|leaf| {
                TAKEN_FOR_GRANTED.contains(&leaf.name.as_str())
                    && !["std", "core", "alloc"].contains(&leaf.root())
            });
            if let Some(leaf) = foreign {
                return Some(format!("`{}` is given another meaning", leaf.name));
            }
        } else if TAKEN_FOR_GRANTED.contains(&item.name.as_str())
            && item.kind != Kind::Value
            // A result with one's own error type is everyday Rust.
            && !(item.name == "Result" && lexed.word(item.keyword) == "type")
        {
            return Some(format!("`{}` is given another meaning", item.name));
        }
    }
    None
}

/// A function that returns a type of the answer's own can make every comparison true.
fn returns_own_type(
    lexed: &Lexed<'_>,
    items: &[Item],
    frame: &Frame,
    assembled: &Assembled,
) -> Option<String> {
    let entry = items.iter().find(|item| frame.entry.as_ref().is_some_and(|name| item.is_function(name)))?;
    let (body, _) = entry.body?;
    let arrow = (entry.keyword..body).rev().find(|at| {
        lexed.is_mark(*at, '>')
            && lexed.is_mark(at - 1, '-')
            && lexed.tokens[at - 1].to == lexed.tokens[*at].from
    })?;
    let returned = (arrow..body).filter(|at| lexed.tokens[*at].what == What::Word).map(|at| lexed.word(at));
    let own: BTreeSet<&str> = items
        .iter()
        .filter(|item| item.kind == Kind::Type && assembled.own.contains(&item.from))
        .filter(|item| matches!(lexed.word(item.keyword), "struct" | "enum" | "union"))
        .map(|item| item.name.as_str())
        .collect();
    let head: BTreeSet<&str> = frame.head.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mentioned = |name: &str| head.contains(name) || frame.checks.words.iter().any(|word| word == name);
    let name = returned.into_iter().find(|word| own.contains(word) && !mentioned(word))?;
    Some(format!("the function returns `{name}`, a type that the task does not know"))
}
