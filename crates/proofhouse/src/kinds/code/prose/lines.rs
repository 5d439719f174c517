//! Lines of a comment, a docstring or a plain text: which of them are prose, and which are examples or code.

use std::ops::Range;

/// A line as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::kinds::code) struct Raw {
    /// Its words, without white space and comment marks around them.
    pub(in crate::kinds::code) words: Range<usize>,
    /// What a line begins with that is broken off this one.
    pub(in crate::kinds::code) prefix: String,
}

impl Raw {
    /// Its words.
    pub(super) fn of<'a>(&self, prompt: &'a str) -> &'a str {
        &prompt[self.words.clone()]
    }
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Blank,
    Prose,
    /// Code or an example.
    Kept,
}

/// The lines of a stretch of text. One that is broken off the first line begins as `first` says, any other like the
/// line that it comes from.
pub(in crate::kinds::code) fn of_block(prompt: &str, inner: Range<usize>, first: &str) -> Vec<Raw> {
    let starred = is_starred(&prompt[inner.clone()]);
    let mut lines = Vec::new();
    let mut at = inner.start;
    for line in prompt[inner].split_inclusive('\n') {
        let begun = if starred && !lines.is_empty() {
            line.trim_start().trim_start_matches('*').trim_start()
        } else {
            line.trim_start()
        };
        let from = at + line.len() - begun.len();
        let words = from..from + begun.trim_end().len();
        let prefix = if lines.is_empty() { first } else { &prompt[at..from] };
        lines.push(Raw { words, prefix: prefix.trim_end_matches(['\r', '\n']).to_owned() });
        at += line.len();
    }
    lines
}

/// Whether every line behind the first begins with a star, as in block comments.
fn is_starred(text: &str) -> bool {
    let mut behind = text.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).peekable();
    behind.peek().is_some() && behind.all(|line| line.starts_with('*'))
}

/// The white space that the line of this place begins with.
pub(in crate::kinds::code) fn indentation(prompt: &str, at: usize) -> &str {
    let from = prompt[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = &prompt[from..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// What each line is. `entry` is the function that examples call; in a `plain` text code may stand between the prose.
pub(super) fn classify(lines: &[&str], entry: Option<&str>, plain: bool) -> Vec<What> {
    let call = entry.map(|entry| format!("{entry}("));
    let (mut fenced, mut kept) = (false, false);
    let mut paragraph_begins = true;
    let mut kinds: Vec<What> = Vec::with_capacity(lines.len());
    for line in lines {
        let fence = line.starts_with("```") || line.starts_with("~~~");
        if line.is_empty() && !fenced {
            kept = false;
        } else if begins_examples(line) || (plain && paragraph_begins && is_code(line)) {
            kept = true;
        }
        let stays = fence || fenced || kept || is_example(line, call.as_deref()) || (plain && is_code(line));
        fenced ^= fence;
        paragraph_begins = line.is_empty();
        kinds.push(match line.is_empty() {
            true => What::Blank,
            false if stays => What::Kept,
            false => What::Prose,
        });
    }
    keep_headings(lines, &mut kinds);
    kinds
}

/// A short line with a colon before examples belongs to them.
fn keep_headings(lines: &[&str], kinds: &mut [What]) {
    let mut follows = What::Blank;
    for at in (0..lines.len()).rev() {
        let heading = lines[at].ends_with(':') && lines[at].split_whitespace().count() <= 3;
        if kinds[at] == What::Prose && heading && follows == What::Kept {
            kinds[at] = What::Kept;
        }
        if kinds[at] != What::Blank {
            follows = kinds[at];
        }
    }
}

/// Whether this line and all to the next blank one are examples: a prompt of an interpreter with what it prints, or what
/// stands below "Example".
fn begins_examples(line: &str) -> bool {
    let begins = |word: &str| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let heading = line.ends_with(':') || line.split_whitespace().count() <= 2;
    line.starts_with(">>>") || begins("example") || (begins("for example") && heading)
}

/// Signs of equations and tables.
const RELATIONS: [&str; 12] = ["|", "=", "==", "===", "=>", "==>", "->", "➞", "→", "<=", ">=", "!="];

/// Whether a line shows instead of telling: an assertion, a call of the function, an equation, or data.
fn is_example(line: &str, call: Option<&str>) -> bool {
    let bare = without_code(line);
    let (mut chunks, mut words) = (0, 0);
    for chunk in bare.split_whitespace() {
        if RELATIONS.contains(&chunk) {
            return true;
        }
        chunks += 1;
        words += usize::from(is_word(chunk));
    }
    line.starts_with("assert")
        || line.starts_with('#')
        || call.is_some_and(|call| bare.contains(call))
        || (words < chunks && words * 2 <= chunks)
}

/// A line without what stands between backticks; each such stretch counts as a word.
fn without_code(line: &str) -> String {
    let mut pieces = line.split('`');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    while let (Some(_), Some(rest)) = (pieces.next(), pieces.next()) {
        out.push_str("code");
        out.push_str(rest);
    }
    out
}

/// Letters, perhaps with hyphens or apostrophes, between brackets and punctuation.
fn is_word(chunk: &str) -> bool {
    let core = chunk.trim_matches(|c: char| !c.is_alphanumeric());
    !core.is_empty() && core.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'))
}

/// Whether a text that begins like this is one for people.
pub(super) fn is_sentence(line: &str) -> bool {
    !is_code(line) && line.split_whitespace().filter(|chunk| is_word(chunk)).count() >= 3
}

const KEYWORDS: [&str; 24] = [
    "fn", "pub", "use", "let", "struct", "enum", "impl", "mod", "const", "static", "trait", "type", "def",
    "class", "import", "from", "async", "return", "if", "elif", "for", "while", "with", "match",
];

/// Whether a line of a text for people is code.
fn is_code(line: &str) -> bool {
    let marks = ["#[", "#!", "//", "/*", "*/", "@", "\"\"\"", "'''"];
    let keyword = line.split_whitespace().next().is_some_and(|word| KEYWORDS.contains(&word));
    let punctuated = line.ends_with([':', ',', ')']) || line.contains(['(', '=', '{', '}', ';']);
    line.ends_with(['{', '}', ';'])
        || marks.iter().any(|mark| line.starts_with(mark))
        || (keyword && punctuated)
}
