//! The pieces of an answer that could be code: fenced blocks, `<pre>` elements, code within a line.

use std::borrow::Cow;

use crate::kinds::code::rust::tokens::Lexed;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether it is said to be Rust, or nothing is said.
    pub(super) rust: bool,
}

/// How many later fences are tried as the end of a block that is not Rust when it ends at the first.
const MAX_TRIED: usize = 16;

/// Entities, the ampersand last: what it makes is not read again.
const ENTITIES: [(&str, &str); 7] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&apos;", "'"),
    ("&nbsp;", " "),
    ("&amp;", "&"),
];

/// The pieces in their order; one that is not closed goes to the end.
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    let fenced = fenced(text);
    if !fenced.is_empty() {
        return fenced;
    }
    let elements = elements(text);
    if elements.is_empty() { inline(text) } else { elements }
}

/// A text whose arrows are written as entities is written so throughout.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    let escaped = ["-&gt;", "=&gt;"].iter().any(|arrow| text.contains(arrow));
    if escaped && !text.contains("->") && !text.contains("=>") { decoded(text) } else { Cow::Borrowed(text) }
}

fn decoded(text: &str) -> Cow<'_, str> {
    if !ENTITIES.iter().any(|(entity, _)| text.contains(entity)) {
        return Cow::Borrowed(text);
    }
    let all = ENTITIES.iter().fold(text.to_owned(), |text, (entity, sign)| text.replace(entity, sign));
    Cow::Owned(all)
}

/// A fence that opened a block.
struct Open {
    /// Where its code begins.
    from: usize,
    sign: char,
    length: usize,
    rust: bool,
}

fn fenced(text: &str) -> Vec<Block<'_>> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push((at, line));
        at += line.len();
    }
    let mut blocks = Vec::new();
    let mut open: Option<Open> = None;
    let mut next = 0;
    while let Some((from, line)) = lines.get(next).copied() {
        next += 1;
        let Some(fence) = &open else {
            match opening(from, line) {
                Some(Ok(fence)) => open = Some(fence),
                Some(Err(block)) => blocks.push(block),
                None => {}
            }
            continue;
        };
        let (sign, length) = run(line.trim());
        let info = line.trim().trim_start_matches(sign);
        if sign == fence.sign && length >= fence.length && info.is_empty() {
            let end = farther(text, &lines, fence, next - 1);
            blocks.push(Block { text: Cow::Borrowed(&text[fence.from..lines[end].0]), rust: fence.rust });
            next = end + 1;
            open = None;
        } else if sign == fence.sign && length >= fence.length && is_language(info) {
            // An opening fence where a closing one should be: the next block began.
            blocks.push(Block { text: Cow::Borrowed(&text[fence.from..from]), rust: fence.rust });
            open = opening(from, line).and_then(Result::ok);
        } else if let Some(end) = ends_in_line(line, fence) {
            blocks.push(Block { text: Cow::Borrowed(&text[fence.from..from + end]), rust: fence.rust });
            open = None;
        }
    }
    if let Some(fence) = open {
        blocks.push(Block { text: Cow::Borrowed(&text[fence.from..]), rust: fence.rust });
    }
    blocks
}

/// The line that closes a block: the first that can, or a later one if the code is Rust only up to there, because the
/// fences before it stand in comments or strings of the code.
fn farther(text: &str, lines: &[(usize, &str)], fence: &Open, first: usize) -> usize {
    if !fence.rust || Lexed::of(&text[fence.from..lines[first].0]).is_some() {
        return first;
    }
    let closes = |at: &usize| {
        let (sign, length) = run(lines[*at].1.trim());
        sign == fence.sign && length >= fence.length && lines[*at].1.trim().chars().count() == length
    };
    (first + 1..lines.len())
        .filter(closes)
        .take(MAX_TRIED)
        .find(|at| Lexed::of(&text[fence.from..lines[*at].0]).is_some())
        .unwrap_or(first)
}

/// The sign that a line begins with, and how often.
fn run(line: &str) -> (char, usize) {
    match line.chars().next() {
        Some(sign @ ('`' | '~')) => (sign, line.chars().take_while(|c| *c == sign).count()),
        _ => (' ', 0),
    }
}

/// A block that begins in this line, or one that is all of it.
fn opening(from: usize, line: &str) -> Option<Result<Open, Block<'_>>> {
    let start = match run(line.trim_start()) {
        (_, length) if length >= 3 => line.len() - line.trim_start().len(),
        _ => line.find("```").filter(|_| !line.trim_start().starts_with("//"))?,
    };
    let (sign, length) = run(&line[start..]);
    let rest = &line[start + length..];
    let (rust, code) = language(rest);
    let fence = String::from(sign).repeat(length);
    if let Some(end) = rest.find(&fence) {
        let code = code.min(end);
        return Some(Err(Block { text: Cow::Borrowed(&rest[code..end]), rust }));
    }
    let begins_here = begins_code(rest[code..].trim_start());
    let from = from + if begins_here { start + length + code } else { line.len() };
    Some(Ok(Open { from, sign, length, rust }))
}

/// Whether the word behind a fence could be Rust, and where what follows it begins.
fn language(info: &str) -> (bool, usize) {
    if begins_code(info.trim_start()) {
        return (true, 0);
    }
    let skipped = info.len() - info.trim_start().len();
    let word = info.trim_start();
    let length = word.find([',', ' ', '{', ':', '\t', '\n', '\r']).unwrap_or(word.len());
    let name = word[..length].to_ascii_lowercase();
    (matches!(name.as_str(), "" | "rust" | "rs" | "rust-lang" | "rustlang"), skipped + length)
}

fn is_language(info: &str) -> bool {
    info.trim().starts_with(|c: char| c.is_ascii_alphabetic() || c == '{')
}

/// Whether code follows a fence in its own line.
fn begins_code(text: &str) -> bool {
    const STARTS: [&str; 9] = ["fn ", "pub ", "use ", "#[", "#![", "//", "struct ", "let ", "const "];
    STARTS.iter().any(|start| text.starts_with(start))
}

/// Where a block ends that is closed behind its last line of code.
fn ends_in_line(line: &str, fence: &Open) -> Option<usize> {
    let trimmed = line.trim();
    let comment = ["//", "*", "/*"].iter().any(|start| trimmed.starts_with(start));
    let close = String::from(fence.sign).repeat(fence.length);
    if comment || !trimmed.ends_with(&close) || line.matches(&close).count() != 1 {
        return None;
    }
    line.find(&close).filter(|at| !line[..*at].trim().is_empty())
}

/// `<pre>` and `<code>` elements, with their entities read.
fn elements(text: &str) -> Vec<Block<'_>> {
    let lower = text.to_ascii_lowercase();
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(found) = ["<pre", "<code"].iter().filter_map(|tag| lower[at..].find(tag)).min() {
        let Some(mut from) = tag_end(&lower, at + found) else { break };
        let inner = from + (lower[from..].len() - lower[from..].trim_start().len());
        if lower[inner..].starts_with("<code") {
            from = tag_end(&lower, inner).unwrap_or(from);
        }
        let ends = ["</code>", "</pre>"].iter().filter_map(|tag| lower[from..].find(tag));
        let to = from + ends.min().unwrap_or(lower.len() - from);
        blocks.push(Block { text: decoded(&text[from..to]), rust: true });
        at = to;
    }
    blocks
}

fn tag_end(text: &str, from: usize) -> Option<usize> {
    Some(from + text[from..].find('>')? + 1)
}

/// Functions between single backticks.
fn inline(text: &str) -> Vec<Block<'_>> {
    let spans = text.split('`').skip(1).step_by(2);
    spans.filter(|span| span.contains("fn ")).map(|span| Block { text: span.into(), rust: true }).collect()
}
