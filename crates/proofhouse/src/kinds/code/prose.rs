//! The prose of a prompt: what it tells a reader, apart from its code and its examples.
//!
//! Generators reword the prose as one instruction. What they change is carried back edit by edit, so that every other
//! byte of the prompt stays as it is, and a rewording after which the prompt would be other code is refused.

use std::ops::Range;

use super::python::docstring::{self, Literal};
use super::rust::comments;
use crate::family::vary::Edit;

mod lines;

use lines::What;
pub(super) use lines::{Raw, indentation, of_block};

/// A prompt taken apart.
#[derive(Debug, Clone)]
pub struct Prose<'a> {
    prompt: &'a str,
    /// The prose as one instruction: its lines without indentation and comment marks.
    text: String,
    lines: Vec<Line>,
    guard: Guard,
}

/// A line of the prose.
#[derive(Debug, Clone)]
struct Line {
    /// Where its words stand in the text.
    text: Range<usize>,
    /// Where they begin in the prompt.
    from: usize,
    /// What a line begins with that is broken off this one.
    prefix: String,
    /// Whether code or an example stands between the line before and this one.
    barrier: bool,
}

/// What has to be the same after a rewording.
#[derive(Debug, Clone)]
enum Guard {
    /// Every token, once this text closes what the prompt leaves open.
    Rust(&'static str),
    /// The string literal that the prose stands in has to end where it should.
    Python(Literal),
    /// There is no code around the prose.
    Plain,
}

/// Why a prompt has no such rewording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// It says nothing in prose.
    NoProse,
    /// Words would move past code or an example.
    AcrossExample,
    /// It would be other code, or none.
    BreaksCode,
}

impl Unfit {
    /// Its word in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Unfit::NoProse => "no_prose",
            Unfit::AcrossExample => "across_an_example",
            Unfit::BreaksCode => "breaks_the_code",
        }
    }
}

impl<'a> Prose<'a> {
    /// The comments of the function that a Rust prompt asks for, or a prompt that is prose itself.
    pub fn in_rust(prompt: &'a str, entry: Option<&str>) -> Prose<'a> {
        match comments::of_function(prompt, entry) {
            Some((found, closing)) => {
                let found = found.into_iter().map(|raw| Prose::of(prompt, raw, entry, Guard::Rust(closing)));
                found.into_iter().find(|prose| prose.text().is_ok()).unwrap_or_else(|| Prose::none(prompt))
            }
            None => Prose::plain(prompt, entry),
        }
    }

    /// The docstring of the function that a Python prompt asks for, or a prompt that is prose itself.
    pub fn in_python(prompt: &'a str, entry: Option<&str>) -> Prose<'a> {
        match docstring::of_function(prompt, entry) {
            Some(literal) => {
                let raw =
                    lines::of_block(prompt, literal.inner.clone(), lines::indentation(prompt, literal.from));
                Prose::of(prompt, raw, entry, Guard::Python(literal))
            }
            None => Prose::plain(prompt, entry),
        }
    }

    /// A prompt that is prose itself.
    pub(super) fn plain(prompt: &'a str, entry: Option<&str>) -> Prose<'a> {
        let raw = lines::of_block(prompt, 0..prompt.len(), "");
        if !raw
            .iter()
            .find(|line| !line.words.is_empty())
            .is_some_and(|line| lines::is_sentence(line.of(prompt)))
        {
            return Prose::none(prompt);
        }
        Prose::of(prompt, raw, entry, Guard::Plain)
    }

    fn none(prompt: &'a str) -> Prose<'a> {
        Prose { prompt, text: String::new(), lines: Vec::new(), guard: Guard::Plain }
    }

    fn of(prompt: &'a str, raw: Vec<Raw>, entry: Option<&str>, guard: Guard) -> Prose<'a> {
        let words: Vec<&str> = raw.iter().map(|line| line.of(prompt)).collect();
        let kinds = lines::classify(&words, entry, matches!(guard, Guard::Plain));
        let mut prose = Prose { guard, ..Prose::none(prompt) };
        let (mut apart, mut barrier) = (false, false);
        for (line, what) in raw.into_iter().zip(kinds) {
            match what {
                What::Blank => apart = true,
                What::Kept => (apart, barrier) = (true, true),
                What::Prose => {
                    if !prose.text.is_empty() {
                        prose.text.push_str(if apart { "\n\n" } else { "\n" });
                    }
                    let from = prose.text.len();
                    prose.text.push_str(line.of(prompt));
                    let text = from..prose.text.len();
                    prose.lines.push(Line { text, from: line.words.start, prefix: line.prefix, barrier });
                    (apart, barrier) = (false, false);
                }
            }
        }
        prose
    }

    /// What generators work on.
    pub fn text(&self) -> Result<&str, Unfit> {
        if self.text.is_empty() { Err(Unfit::NoProse) } else { Ok(&self.text) }
    }

    /// The prompt with its prose changed; `edits` are those of a variant of [`Prose::text`].
    pub fn reword(&self, edits: &[Edit]) -> Result<String, Unfit> {
        let mut out = String::with_capacity(self.prompt.len() + 64);
        let mut done = 0;
        for edit in edits {
            let (first, last) = (self.line_of(edit.at), self.line_of(edit.at + edit.removed.len()));
            if self.lines[first + 1..=last.max(first)].iter().any(|line| line.barrier) {
                return Err(Unfit::AcrossExample);
            }
            let from = self.place(first, edit.at);
            // A backslash before an edit would take the first new sign with it, and a new one the sign behind it.
            if matches!(self.guard, Guard::Python(_))
                && (edit.inserted.contains('\\') || self.prompt[..from].ends_with('\\'))
            {
                return Err(Unfit::BreaksCode);
            }
            out.push_str(&self.prompt[done..from]);
            out.push_str(&edit.inserted.replace('\n', &format!("\n{}", self.lines[first].prefix)));
            done = self.place(last, edit.at + edit.removed.len());
        }
        out.push_str(&self.prompt[done..]);
        let holds = match &self.guard {
            Guard::Rust(closing) => comments::is_same_code(self.prompt, &out, closing),
            Guard::Python(literal) => literal.ends_as_before(self.prompt, &out),
            Guard::Plain => true,
        };
        if holds { Ok(out) } else { Err(Unfit::BreaksCode) }
    }

    /// The line that a place of the text is in, or behind.
    fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.text.start <= at).saturating_sub(1)
    }

    /// A place of the text in the prompt.
    fn place(&self, line: usize, at: usize) -> usize {
        let line = &self.lines[line];
        line.from + (at.min(line.text.end) - line.text.start)
    }
}

#[cfg(test)]
mod tests;
