//! From a model's answer to a program: finds the code in the answer and puts it together with the task's own.
//!
//! A reading is taken only if the text, read as Rust, is made of items with the wanted function among them; of several
//! readings the first of the most literal kind wins, and of several blocks the first that has the function, with what it
//! needs from the others. What cannot be read is joined as it is: the compiler will say why.

use std::collections::BTreeSet;
use std::ops::Range;

use super::checks;
use super::frame::{Frame, blank};
use super::imports;
use super::items::{Item, Kind};
use super::tokens::Lexed;
use entry::is_stub;

mod blocks;
mod entry;
mod needed;

#[cfg(test)]
pub(super) use entry::Entry;

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
    let completion = blocks::unescaped(said(completion));
    let completion = completion.as_ref();
    let blocks = blocks::blocks(completion);
    let texts =
        |rust: bool| blocks.iter().filter(move |block| block.rust == rust).map(|block| block.text.as_ref());
    let (rust, other): (Vec<&str>, Vec<&str>) = (texts(true).collect(), texts(false).collect());
    let mut assembled = whole(frame, completion)
        .or_else(|| body(frame, completion, "", frame.closes).filter(|found| !found.has_twice(frame)))
        .or_else(|| body(frame, within_type(frame, completion)?, "", frame.closes))
        .or_else(|| {
            std::iter::once(completion).chain(rust.iter().copied()).find_map(|text| methods(frame, text))
        })
        .or_else(|| whole_of_blocks(frame, &rust))
        .or_else(|| before_stray_fence(completion).and_then(|text| body(frame, text, "", frame.closes)))
        .or_else(|| body_of_blocks(frame, &rust))
        .or_else(|| between_prose(frame, completion))
        .or_else(|| before_prose(frame, completion))
        .or_else(|| whole_of_blocks(frame, &other))
        .or_else(|| body(frame, completion, "", frame.closes))
        .or_else(|| as_is(frame, completion, &rust))?;
    assembled.repeated = repeated(frame, &assembled);
    assembled.source = without_denials(assembled.source);
    Some(assembled)
}

/// What denies lints for its whole file denies them to the code around the answer too, and nobody asked the answer for any lints: it
/// warns of them. Every byte keeps its place.
fn without_denials(mut source: String) -> String {
    let mut words = Vec::new();
    if let Some(lexed) = Lexed::of(&source) {
        let items = Item::all(&lexed).unwrap_or_default();
        for item in items.iter().filter(|item| item.kind == Kind::Inner) {
            let at = lexed.tokens.iter().position(|token| token.from == item.from);
            // `#`, `!`, `[`, `deny`
            let word = at.map(|at| at + 3).filter(|at| ["deny", "forbid"].contains(&lexed.word(*at)));
            words.extend(word.map(|at| lexed.tokens[at].from..lexed.tokens[at].to));
        }
    }
    for word in words {
        let length = word.len();
        source.replace_range(word, &format!("{:length$}", "warn"));
    }
    source
}

/// A body without the last brace, which is that of the type around its function.
fn within_type<'a>(frame: &Frame, completion: &'a str) -> Option<&'a str> {
    frame.owner.as_ref().and_then(|_| completion.trim_end().strip_suffix('}'))
}

/// Elements in which models think before they answer.
const THOUGHTS: [&str; 6] =
    ["</think>", "</thinking>", "</thought>", "</thoughts>", "</reasoning>", "</scratchpad>"];

/// The answer without what a model thought before it.
fn said(completion: &str) -> &str {
    let mut completion = completion.strip_prefix('\u{feff}').unwrap_or(completion);
    for thought in THOUGHTS {
        if let Some((_, said)) = completion.rsplit_once(thought)
            && !said.trim().is_empty()
        {
            completion = said;
        }
    }
    completion.trim_start_matches('\u{feff}')
}

/// The first block that has the function and more than a stub of it, with what it needs from the others.
fn whole_of_blocks(frame: &Frame, blocks: &[&str]) -> Option<Assembled> {
    let fitting: Vec<usize> = (0..blocks.len()).filter(|at| whole(frame, blocks[*at]).is_some()).collect();
    let has_more = |at: &&usize| !entry::has_only_stub(frame, blocks[**at]);
    let Some(at) = fitting.iter().find(has_more).or(fitting.first()).copied() else {
        return (blocks.len() > 1).then(|| whole(frame, &blocks.join("\n"))).flatten();
    };
    let needed = needed::needed(blocks, at, &names_before(frame), frame.entry.as_deref());
    let (first, rest) = split_inner(blocks[at]);
    whole(frame, &format!("{first}{}{rest}\n{}", needed.before, needed.behind))
        .or_else(|| whole(frame, blocks[at]))
}

/// The first block that continues the prompt, with what it needs from the others.
fn body_of_blocks(frame: &Frame, blocks: &[&str]) -> Option<Assembled> {
    let declares = |text: &str| {
        let lexed = Lexed::of(text)?;
        let items = Item::all(&lexed)?;
        Some(!items.is_empty() && items.iter().all(|item| item.kind != Kind::Macro || !item.name.is_empty()))
    };
    let fitting = (0..blocks.len()).filter(|at| !declares(blocks[*at]).unwrap_or(false));
    let any = 0..blocks.len();
    fitting.chain(any).find_map(|at| {
        let needed = needed::needed(blocks, at, &names_before(frame), frame.entry.as_deref());
        body(frame, blocks[at], &format!("{}{}", needed.before, needed.behind), true)
    })
}

/// The names that the prompt has before its function.
fn names_before(frame: &Frame) -> BTreeSet<String> {
    let Some(lexed) = Lexed::of(&frame.head[..frame.entry_from]) else { return BTreeSet::new() };
    let items = Item::all(&lexed).unwrap_or_default();
    let mut names: BTreeSet<String> = items.iter().map(|item| item.name.clone()).collect();
    names.extend(imports::leaves(&lexed, &items).into_iter().map(|leaf| leaf.name));
    names
}

/// The attributes and comments that a file begins with and that are about the file, and the rest.
fn split_inner(text: &str) -> (&str, &str) {
    let Some(lexed) = Lexed::of(text) else { return ("", text) };
    let items = Item::all(&lexed).unwrap_or_default();
    let last = items.iter().take_while(|item| item.kind == Kind::Inner).last();
    let end = last.map_or(0, |item| item.to);
    // A comment ends with its line.
    let end = if end == 0 { 0 } else { text[end..].find('\n').map_or(text.len(), |line| end + line + 1) };
    let next = items.iter().find(|item| item.kind != Kind::Inner).map_or(text.len(), |item| item.from);
    text.split_at(end.min(next))
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

    /// What gives the wanted function its name; `None` where the source cannot be read.
    #[cfg(test)]
    pub(super) fn entry(&self, frame: &Frame) -> Option<Entry> {
        let lexed = Lexed::of(&self.source)?;
        let items = Item::all(&lexed)?;
        entry::given(frame, &lexed, &items).map(|(entry, _)| entry)
    }

    /// Whether the answer has attributes of the whole crate. They stand at the top of the source, and mean what they say
    /// only if that is the crate's root.
    #[cfg(test)]
    pub(super) fn inner(&self) -> bool {
        let Some(lexed) = Lexed::of(&self.source) else { return false };
        let is_attribute = |item: &Item| {
            item.kind == Kind::Inner
                && self.own.contains(&item.from)
                && self.source[item.from..].starts_with('#')
        };
        Item::all(&lexed).unwrap_or_default().iter().any(is_attribute)
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
    let (_, forward) = entry::given(frame, &lexed, &items)?;
    let before = preamble(frame, &lexed, &items);
    let own = cleaned(frame, &lexed, &items, 0) + &forward;
    // What is about the whole file must come first. The order of items means nothing, so the prompt's own come behind.
    let (first, behind) = match items.first() {
        Some(item) if item.kind == Kind::Inner => split_inner(&before),
        _ => (before.as_str(), ""),
    };
    let behind = if behind.trim().is_empty() { "" } else { behind };
    let from = first.len();
    let source = format!("{first}{own}{}{behind}", if behind.is_empty() { "" } else { "\n" });
    Some(Assembled {
        own: from..from + own.len(),
        repeated: Vec::new(),
        source,
        main_free: !items.iter().any(|item| item.is_function("main")),
        reading: Reading::Whole,
    })
}

/// The answer has whole methods of the block that the prompt ends in, the open one among them.
fn methods(frame: &Frame, text: &str) -> Option<Assembled> {
    let (method, from) = frame.block.as_ref()?.method.as_ref()?;
    let lexed = Lexed::of(text)?;
    let items = Item::all(&lexed)?;
    let only_functions = items.iter().all(|item| item.kind == Kind::Function);
    if !only_functions || !items.iter().any(|item| item.is_function(method)) {
        return None;
    }
    Some(Assembled {
        source: format!("{}{text}\n}}\n", &frame.head[..*from]),
        own: *from..*from + text.len(),
        repeated: Vec::new(),
        main_free: true,
        reading: Reading::Whole,
    })
}

/// The answer without what does not matter: imports that only repeat those of the prompt from crates that are not there
/// (whether the rest can do without them is looked at later), tests of its own, and a stub of what it has in full. Every
/// other byte keeps its place.
fn cleaned(frame: &Frame, lexed: &Lexed<'_>, items: &[Item], from: usize) -> String {
    let mut out = lexed.text.as_bytes().to_vec();
    let entries: Vec<&Item> = items
        .iter()
        .filter(|item| frame.entry.as_ref().is_some_and(|entry| item.is_function(entry)))
        .collect();
    for item in items.iter().filter(|item| item.from >= from) {
        let leaves = || imports::of_item(lexed, item);
        let missing = item.kind == Kind::Use && !frame.missing.is_empty() && {
            let leaves = leaves();
            !leaves.is_empty() && leaves.iter().all(|leaf| frame.missing.contains(leaf))
        };
        let stub = entries.len() > 1 && entries.contains(&item) && is_stub(lexed, item);
        if missing || stub || checks::is_test_only(lexed, item) {
            blank(&mut out[item.from..item.to]);
        }
    }
    String::from_utf8(out).expect("only whole items were replaced, by spaces")
}

/// The answer continues the prompt, perhaps without the last brace. `behind` are items that it needs.
fn body(frame: &Frame, text: &str, behind: &str, may_close: bool) -> Option<Assembled> {
    let endings: &[&str] = if may_close { &["", "\n}\n"] } else { &[""] };
    endings.iter().find_map(|ending| {
        let line = if behind.is_empty() { "" } else { "\n" };
        let source = format!("{}{text}{ending}{line}{behind}", frame.head);
        let lexed = Lexed::of(&source)?;
        let items = Item::all(&lexed)?;
        let from = frame.head.len();
        let continues = |item: &Item| {
            let is_entry = frame.entry.as_ref().is_none_or(|entry| item.is_function(entry));
            let is_block = frame.block.is_some() && matches!(item.kind, Kind::Impl | Kind::Type);
            (is_entry || is_block) && item.body.is_some() && item.from < from && item.to > from
        };
        items.iter().any(continues).then_some(())?;
        let main_free = !items.iter().any(|item| item.is_function("main") && item.from >= from);
        let to = if behind.is_empty() { from + text.len() } else { source.len() };
        Some(Assembled {
            own: from..to,
            repeated: Vec::new(),
            source: cleaned(frame, &lexed, &items, from),
            main_free,
            reading: Reading::Body,
        })
    })
}

/// A body with prose behind its last brace.
fn before_prose(frame: &Frame, text: &str) -> Option<Assembled> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let behind = text[at..].trim_start();
        let is_prose = behind.starts_with(char::is_alphabetic) && !behind.contains(['{', '}', ';', '#']);
        if line.trim_end() == "}" && is_prose && !opens_comment(behind) {
            return body(frame, &text[..at], "", false);
        }
    }
    None
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
            Kind::Impl => item.implemented(&lexed).is_some_and(|name| names.contains(name)),
            _ => !item.name.is_empty() && names.contains(&item.name),
        };
        if repeated {
            blank(&mut out[item.from..item.to]);
        }
    }
    let rest = String::from_utf8(out).expect("only whole items were replaced, by spaces");
    format!("{kept_imports}{rest}")
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
        behind.filter(|to| !opens_comment(&text[**to..])).map(move |to| &text[*from..*to])
    });
    tried.find_map(|piece| whole(frame, piece))
}

/// Whether a text opens a comment that it does not close: then it is code that does not compile, and no prose.
fn opens_comment(text: &str) -> bool {
    text.rfind("/*").is_some_and(|at| !text[at..].contains("*/"))
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
mod answers;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;
