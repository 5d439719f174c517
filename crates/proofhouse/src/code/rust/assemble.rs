//! From a model's answer to a program: finds the code in the answer and puts it together with the task's own.
//!
//! A reading is taken only if the text, read as Rust, is made of items with the wanted function among them; of several
//! readings the first of the most literal kind wins. What cannot be read is joined as it is: the compiler will say why.

use std::collections::BTreeSet;
use std::ops::Range;

use super::frame::{Frame, blank};
use super::imports;
use super::items::{Item, Kind};
use super::tokens::Lexed;

/// A completion in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assembled {
    /// The source text, without the tests.
    pub(super) source: String,
    /// What the model wrote of it.
    pub(super) own: Range<usize>,
    /// Lines of that which only repeat the prompt: what the linter finds there is not the model's doing.
    pub(super) repeated: Vec<Range<usize>>,
    /// Whether the model wrote no `fn main`.
    pub(super) main_free: bool,
    /// How the answer was read.
    pub(super) reading: Reading,
}

/// How an answer was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// It continues the prompt.
    Body,
    /// It has the whole function.
    Whole,
    /// It could not be read, and is joined as it is.
    AsIs,
}

/// Longer answers are not searched for code between prose.
const MAX_SEARCHED_BYTES: usize = 64 << 10;
/// Lines at which code between prose is tried to begin, and to end.
const MAX_TRIED: usize = 24;

/// Puts a completion in its place; `None` if there is no code in it at all.
pub(super) fn assemble(frame: &Frame, completion: &str) -> Option<Assembled> {
    let completion = said(completion);
    let blocks = fenced(completion);
    let mut assembled = whole(frame, completion)
        .or_else(|| body(frame, completion, frame.closes).filter(|found| !found.has_twice(frame)))
        .or_else(|| blocks.iter().find_map(|block| whole(frame, block)))
        .or_else(|| (blocks.len() > 1).then(|| whole(frame, &blocks.join("\n"))).flatten())
        .or_else(|| before_stray_fence(completion).and_then(|text| body(frame, text, frame.closes)))
        .or_else(|| blocks.iter().find_map(|block| body(frame, block, true)))
        .or_else(|| between_prose(frame, completion))
        .or_else(|| body(frame, completion, frame.closes))
        .or_else(|| as_is(frame, completion, &blocks))?;
    assembled.repeated = repeated(frame, &assembled);
    Some(assembled)
}

/// The answer without what a model thought before it.
fn said(completion: &str) -> &str {
    let completion = completion.strip_prefix('\u{feff}').unwrap_or(completion);
    match completion.rsplit_once("</think>") {
        Some((_, said)) if !said.trim().is_empty() => said,
        _ => completion,
    }
}

/// What stands before a fence that closes nothing: the rest of an answer whose opening fence was in the prompt.
fn before_stray_fence(text: &str) -> Option<&str> {
    let (before, behind) = text.split_once("\n```")?;
    let is_code = |text: &str| text.contains(['{', '}', ';']);
    (!before.contains("```") && is_code(before) && !is_code(behind) && !behind.contains("```"))
        .then_some(before)
}

/// Shorter lines, such as a closing brace, are in every program and repeat nothing.
const MIN_REPEATED_CHARS: usize = 4;

/// The lines of the completion that the prompt has too.
fn repeated(frame: &Frame, assembled: &Assembled) -> Vec<Range<usize>> {
    let prompt: BTreeSet<&str> =
        frame.head.lines().map(str::trim).filter(|line| line.len() >= MIN_REPEATED_CHARS).collect();
    let mut lines = Vec::new();
    let mut from = assembled.own.start;
    for line in assembled.source[assembled.own.clone()].split_inclusive('\n') {
        if prompt.contains(line.trim()) {
            lines.push(from..from + line.len());
        }
        from += line.len();
    }
    lines
}

impl Assembled {
    /// Whether the wanted function is there once more inside of what was read as its body.
    fn has_twice(&self, frame: &Frame) -> bool {
        let Some(lexed) = Lexed::of(&self.source) else { return false };
        let own = |at: usize| self.own.contains(&lexed.tokens[at].from);
        let entry = frame.entry.as_deref().unwrap_or_default();
        lexed.words().any(|(at, word)| word == "fn" && own(at) && lexed.word(at + 1) == entry)
    }

    /// Whether the model is behind what stands there.
    pub(super) fn is_own(&self, at: usize) -> bool {
        self.own.contains(&at) && !self.repeated.iter().any(|line| line.contains(&at))
    }
}

/// The answer has the whole function: it stands behind what the prompt has before that function.
fn whole(frame: &Frame, text: &str) -> Option<Assembled> {
    let lexed = Lexed::of(text)?;
    let items = Item::all(&lexed)?;
    let has_entry = match &frame.entry {
        Some(entry) => items.iter().any(|item| item.is_function(entry)),
        None => items.iter().any(|item| item.kind == Kind::Function && item.body.is_some()),
    };
    if !has_entry {
        return None;
    }
    let first_inner = items.first().is_some_and(|item| item.kind == Kind::Inner);
    let mut source = preamble(frame, &lexed, &items);
    if first_inner && source.trim().is_empty() {
        source.clear();
    }
    let from = source.len();
    source.push_str(&without_missing(frame, &lexed, &items));
    let main_free = !items.iter().any(|item| item.is_function("main"));
    Some(Assembled {
        own: from..source.len(),
        repeated: Vec::new(),
        source,
        main_free,
        reading: Reading::Whole,
    })
}

/// The answer without imports that only repeat those of the prompt from crates that are not there. Whether the rest can do
/// without them is looked at later.
fn without_missing(frame: &Frame, lexed: &Lexed<'_>, items: &[Item]) -> String {
    let mut out = lexed.text.as_bytes().to_vec();
    for item in items.iter().filter(|item| item.kind == Kind::Use) {
        let leaves = imports::of_item(lexed, item);
        if !leaves.is_empty() && leaves.iter().all(|leaf| frame.missing.contains(leaf)) {
            blank(&mut out[item.from..item.to]);
        }
    }
    String::from_utf8(out).expect("only whole items were replaced, by spaces")
}

/// The answer continues the prompt, perhaps without the last brace.
fn body(frame: &Frame, text: &str, may_close: bool) -> Option<Assembled> {
    let endings: &[&str] = if may_close { &["", "\n}\n"] } else { &[""] };
    endings.iter().find_map(|ending| {
        let source = format!("{}{text}{ending}", frame.head);
        let lexed = Lexed::of(&source)?;
        let items = Item::all(&lexed)?;
        let from = frame.head.len();
        let continues = |item: &Item| {
            let is_entry = frame.entry.as_ref().is_none_or(|entry| item.is_function(entry));
            is_entry && item.body.is_some() && item.from < from && item.to > from
        };
        items.iter().any(continues).then_some(())?;
        let main_free = !items.iter().any(|item| item.is_function("main") && item.from >= from);
        Some(Assembled {
            own: from..from + text.len(),
            repeated: Vec::new(),
            source,
            main_free,
            reading: Reading::Body,
        })
    })
}

/// Nothing fits: the answer is joined as it is, unless there is no sign of code in it.
fn as_is(frame: &Frame, completion: &str, blocks: &[&str]) -> Option<Assembled> {
    let text = blocks.first().copied().unwrap_or(completion);
    let code =
        text.trim().is_empty() || text.contains(['{', '}', ';', '(', '=']) || Lexed::of(text).is_some();
    let prose = text.split_whitespace().count() > 3 && !text.contains(['{', '}', ';']);
    if !code || prose {
        return None;
    }
    let from = frame.head.len();
    let source = format!("{}{text}", frame.head);
    // Unread text can still show a `fn main` of its own; only tokens count, never strings or comments.
    let main_free = Lexed::of(text)
        .is_none_or(|lexed| !lexed.words().any(|(at, word)| word == "fn" && lexed.word(at + 1) == "main"));
    Some(Assembled {
        own: from..source.len(),
        repeated: Vec::new(),
        source,
        main_free,
        reading: Reading::AsIs,
    })
}

/// What the prompt has before its function, without what the answer has too.
fn preamble(frame: &Frame, answer: &Lexed<'_>, answer_items: &[Item]) -> String {
    let text = &frame.head[..frame.entry_from];
    let Some(lexed) = Lexed::of(text) else { return String::new() };
    let Some(items) = Item::all(&lexed) else { return String::new() };
    let mut names: BTreeSet<String> = answer_items.iter().map(|item| item.name.clone()).collect();
    names.extend(imports::leaves(answer, answer_items).into_iter().map(|leaf| leaf.name));
    let mut out = text.as_bytes().to_vec();
    let mut kept_imports = String::new();
    for item in &items {
        let repeated = match item.kind {
            Kind::Use => {
                let leaves = imports::of_item(&lexed, item);
                let repeated = leaves.iter().any(|leaf| leaf.name != "_" && names.contains(&leaf.name));
                if repeated {
                    let kept = leaves.iter().filter(|leaf| leaf.name == "_" || !names.contains(&leaf.name));
                    kept.for_each(|leaf| kept_imports.push_str(&format!("{} ", leaf.item())));
                }
                repeated
            }
            Kind::Function if item.name == "main" => true,
            // The answer has the type, so it has what belongs to it.
            Kind::Impl => impl_of(&lexed, item).is_some_and(|name| names.contains(name)),
            _ => !item.name.is_empty() && names.contains(&item.name),
        };
        if repeated {
            blank(&mut out[item.from..item.to]);
        }
    }
    let rest = String::from_utf8(out).expect("only whole items were replaced, by spaces");
    format!("{kept_imports}{rest}")
}

/// The type that an `impl` is for: the last word before its body.
fn impl_of<'a>(lexed: &Lexed<'a>, item: &Item) -> Option<&'a str> {
    let (open, _) = item.body?;
    let words = (item.keyword + 1..open).map(|at| lexed.word(at)).filter(|word| !word.is_empty());
    let words: Vec<_> = words.collect();
    match words.iter().position(|word| *word == "for") {
        Some(at) => words.get(at + 1).copied(),
        None => words.first().copied(),
    }
}

/// The fenced blocks of an answer that could be Rust; an unclosed one goes to the end.
fn fenced(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, bool)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if let Some(info) = trimmed.strip_prefix("```") {
            match open.take() {
                Some((from, rust)) => {
                    if rust {
                        blocks.push(&text[from..at]);
                    }
                    // An opening fence where a closing one should be: the next block began.
                    if !info.is_empty() {
                        open = Some((at + line.len(), is_rust(info)));
                    }
                }
                None => open = Some((at + line.len(), is_rust(info))),
            }
        }
        at += line.len();
    }
    if let Some((from, true)) = open {
        blocks.push(&text[from..]);
    }
    blocks
}

fn is_rust(info: &str) -> bool {
    let language = info.trim().split([',', ' ', '{']).next().unwrap_or_default().to_ascii_lowercase();
    matches!(language.as_str(), "" | "rust" | "rs")
}

/// Code with prose before and behind it, without a fence.
fn between_prose(frame: &Frame, text: &str) -> Option<Assembled> {
    if text.len() > MAX_SEARCHED_BYTES || !text.contains("fn") {
        return None;
    }
    let mut starts = Vec::new();
    let mut ends = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if begins_item(line) {
            starts.push(at);
        }
        at += line.len();
        if line.trim_end().ends_with(['}', ';']) {
            ends.push(at);
        }
    }
    let mut tried = starts.iter().take(MAX_TRIED).flat_map(|from| {
        let behind = ends.iter().rev().filter(move |to| *to > from).take(MAX_TRIED);
        behind.map(move |to| &text[*from..*to])
    });
    tried.find_map(|piece| whole(frame, piece))
}

fn begins_item(line: &str) -> bool {
    const STARTS: [&str; 20] = [
        "fn ",
        "pub ",
        "pub(",
        "use ",
        "struct ",
        "enum ",
        "impl ",
        "impl<",
        "trait ",
        "const ",
        "static ",
        "type ",
        "mod ",
        "macro_rules!",
        "#[",
        "#![",
        "///",
        "//!",
        "unsafe ",
        "async ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests;
