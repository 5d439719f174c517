//! What the tokens of a completion tell before it is compiled: where it has to stand, and whether it can stand beside others.
//! Identifiers cannot be made up by stable macros, so a word that is not there as a token is not there at all.

use std::collections::BTreeSet;

use super::assemble::Assembled;
use super::frame::Frame;
use super::tokens::Lexed;

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
        has_unsafe: has("unsafe"),
        reaches_below: BELOW.iter().any(|word| has(word)),
        missing_crates: missing.into_iter().collect(),
        notices_its_place: PLACE_WORDS.iter().any(|word| has(word)) || inner,
        unreadable: false,
    }
}

/// Words by which a program reaches below the language.
const BELOW: [&str; 12] = [
    "unsafe",
    "extern",
    "link_section",
    "no_mangle",
    "export_name",
    "link_name",
    "global_asm",
    "naked_asm",
    "asm",
    "global_allocator",
    "panic_handler",
    "set_hook",
];
