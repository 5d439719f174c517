//! Code that stands in an instruction without quotation marks: functions, imports, statements, queries, examples.
//!
//! Prompts such as a `def` with its docstring are half code, half prose. What is found here is never touched by any
//! generator; the words of a docstring or a block comment are prose, apart from the examples in them. In doubt a line is
//! code: then it stays as it is, which costs variants and breaks nothing.

use std::ops::Range;

mod lines;

use self::lines::{Line, lines_of};

/// The stretches that are code, in order and without overlap. Lines of code that follow each other are one stretch.
pub(super) fn ranges(text: &str) -> Vec<Range<usize>> {
    if !lines::may_have_code(text) {
        return Vec::new();
    }
    let mut reader = Reader { text, lines: lines_of(text), found: Vec::new(), docstrings: Vec::new() };
    reader.read();
    reader.comments_beside_code();
    merged(text, reader.found)
}

/// What stands between the signs of every docstring and block comment, examples and all.
pub(super) fn docstrings(text: &str) -> Vec<Range<usize>> {
    let mut reader = Reader { text, lines: lines_of(text), found: Vec::new(), docstrings: Vec::new() };
    reader.read();
    reader.docstrings
}

struct Reader<'a> {
    text: &'a str,
    lines: Vec<Line<'a>>,
    found: Vec<Range<usize>>,
    docstrings: Vec<Range<usize>>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let mut at = 0;
        while at < self.lines.len() {
            let line = &self.lines[at];
            at = if let Some(fence) = lines::fence(line.trimmed()) {
                self.until(at, |later| later.trimmed().starts_with(fence))
            } else if let Some(body) = self.header(at) {
                self.block(at, body)
            } else if line.trimmed().starts_with("/*") {
                self.comment(at)
            } else if line.trimmed().starts_with(">>>") {
                self.session(at, self.lines.len())
            } else if lines::is_query(line.trimmed()) {
                self.query(at)
            } else if !lines::is_code(line.trimmed()) {
                at + 1
            } else if let Some(quotes) = lines::leaves_open(line.trimmed()) {
                self.until(at, |later| later.trimmed().contains(quotes))
            } else {
                self.found.push(line.range.clone());
                at + 1
            };
        }
    }

    /// Takes lines as code up to one that closes them, or to the end.
    fn until(&mut self, at: usize, closes: impl Fn(&Line<'_>) -> bool) -> usize {
        let last = (at + 1..self.lines.len()).find(|&later| closes(&self.lines[later]));
        let last = last.unwrap_or(self.lines.len() - 1);
        self.found.push(self.lines[at].range.start..self.lines[last].range.end);
        last + 1
    }

    /// A query goes on to its semicolon or to a blank line.
    fn query(&mut self, at: usize) -> usize {
        let ends = |line: &Line<'_>| line.trimmed().is_empty() || line.trimmed().ends_with(';');
        let last = (at..self.lines.len()).find(|&later| ends(&self.lines[later]));
        let last = last.unwrap_or(self.lines.len() - 1);
        self.found.push(self.lines[at].range.start..self.lines[last].range.end);
        last + 1
    }

    /// Where the body begins, if this line heads a Python block; a header may take several lines.
    fn header(&self, at: usize) -> Option<usize> {
        if !lines::heads_block(self.lines[at].trimmed()) {
            return None;
        }
        let mut open = 0i32;
        for (offset, line) in self.lines[at..].iter().take(40).enumerate() {
            open += lines::balance(line.trimmed());
            let code = line.trimmed().split(" #").next().unwrap_or_default().trim_end();
            if open <= 0 && code.ends_with(':') {
                return Some(at + offset + 1);
            }
            if open <= 0 {
                return None;
            }
        }
        None
    }

    /// The lines below a header that are indented deeper; the words of a docstring in them are prose.
    fn block(&mut self, header: usize, body: usize) -> usize {
        let depth = self.lines[header].indent();
        self.found.push(self.lines[header].range.start..self.lines[body - 1].range.end);
        let mut at = body;
        while at < self.lines.len() {
            let line = &self.lines[at];
            if line.trimmed().is_empty() {
                at += 1;
                continue;
            }
            if line.indent() <= depth {
                break;
            }
            at = match lines::opens_docstring(line.trimmed()) {
                Some((before, quotes)) => self.docstring(at, before, quotes),
                None => {
                    self.found.push(line.range.clone());
                    at + 1
                }
            };
        }
        at
    }

    /// `before` bytes stand between the line's indentation and its three quotation marks.
    fn docstring(&mut self, at: usize, before: usize, quotes: &str) -> usize {
        let line = self.lines[at].range.clone();
        let inside = line.start + self.lines[at].indent() + before + quotes.len();
        self.found.push(line.start..inside);
        let end = self.text[inside..].find(quotes).map(|offset| inside + offset);
        self.prose(inside..end.unwrap_or(self.text.len()));
        self.close(end, at)
    }

    fn comment(&mut self, at: usize) -> usize {
        let line = self.lines[at].range.clone();
        let inside = line.start + self.lines[at].indent() + 2;
        self.found.push(line.start..inside);
        let end = self.text[inside..].find("*/").map(|offset| inside + offset);
        self.prose(inside..end.unwrap_or(self.text.len()));
        self.close(end, at)
    }

    /// What closes a docstring or a comment is code, with the rest of its line.
    fn close(&mut self, end: Option<usize>, at: usize) -> usize {
        let Some(end) = end else { return self.lines.len() };
        let last =
            self.lines[at..].iter().position(|line| line.range.end >= end).map_or(at, |more| at + more);
        self.found.push(end..self.lines[last].range.end);
        last + 1
    }

    /// Prose between code, with examples in it.
    fn prose(&mut self, inside: Range<usize>) {
        let part = lines_of(&self.text[inside.clone()]);
        self.docstrings.push(inside.clone());
        let mut output = false;
        for line in part {
            let trimmed = line.trimmed();
            let prompt = trimmed.starts_with(">>>");
            output = prompt || (output && !trimmed.is_empty());
            if output || lines::is_example(trimmed) {
                self.found.push(inside.start + line.range.start..inside.start + line.range.end);
            }
        }
    }

    /// A session at a prompt: its lines and what they gave, up to a blank line.
    fn session(&mut self, at: usize, end: usize) -> usize {
        let last = (at..end).find(|&later| self.lines[later].trimmed().is_empty()).unwrap_or(end) - 1;
        self.found.push(self.lines[at].range.start..self.lines[last].range.end);
        last + 1
    }

    /// A line that begins with `#` or `//` is a comment where code stands above or below it.
    fn comments_beside_code(&mut self) {
        let mut code: Vec<bool> = self
            .lines
            .iter()
            .map(|line| {
                let own = line.range.start + line.indent()..line.range.end;
                self.found.iter().any(|range| range.start <= own.start && own.end <= range.end)
            })
            .collect();
        let is_comment =
            |line: &Line<'_>| line.trimmed().starts_with('#') || line.trimmed().starts_with("//");
        let mut again = true;
        while again {
            again = false;
            for at in 0..self.lines.len() {
                let beside = (at > 0 && code[at - 1]) || code.get(at + 1).is_some_and(|code| *code);
                if !code[at] && beside && is_comment(&self.lines[at]) {
                    code[at] = true;
                    again = true;
                    self.found.push(self.lines[at].range.clone());
                }
            }
        }
    }
}

/// In order, with those joined that only white space parts.
fn merged(text: &str, mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.retain(|range| !range.is_empty());
    found.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in found {
        match merged.last_mut() {
            Some(last) if range.start <= last.end || text[last.end..range.start].trim().is_empty() => {
                last.end = last.end.max(range.end);
            }
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text without its code, line by line.
    fn prose(text: &str) -> Vec<String> {
        let mut left = String::new();
        let mut done = 0;
        for range in ranges(text) {
            left.push_str(&text[done..range.start]);
            left.push('\n');
            done = range.end;
        }
        left.push_str(&text[done..]);
        left.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn a_docstring_is_prose_and_its_examples_are_not() {
        let text = "import re\nfrom typing import List\n\n\n@cache\ndef pick(\n    rows: List[int],  # all\n    n: int = 3,\n) -> List[int]:\n    \"\"\" Pick the rows\n    that are odd.\n    >>> pick([1])\n    [1]\n\n    Keep their order.\n    pick([2]) == []\n    \"\"\"\n    return []\n\nExplain it.";
        assert_eq!(prose(text), ["Pick the rows", "that are odd.", "Keep their order.", "Explain it."]);
        assert_eq!(prose("class A:\n    '''Holds names.'''\n    x = 1\n"), ["Holds names."]);
        assert_eq!(
            prose("def f(x):\n    \"\"\"Never closed, and\n    so to the end"),
            ["Never closed, and", "so to the end"]
        );
    }

    #[test]
    fn statements_of_other_languages_are_code() {
        let text = "use std::io;\n\n/*\n Sum the rows.\n*/\nfn sum(rows: &[i32]) -> i32 {\n    rows.iter().sum()\n}\n";
        assert_eq!(prose(text), ["Sum the rows.", "rows.iter().sum()"]);
        assert_eq!(
            prose("Fix this:\n// sums\nlet a = 1;\nconst f = (x) => {\n};\nThanks"),
            ["Fix this:", "Thanks"]
        );
        assert_eq!(prose("Explain\nSELECT a\nFROM b\n\nin one line"), ["Explain", "in one line"]);
        assert_eq!(prose("What is\n```\nnot prose\n```\nabout?"), ["What is", "about?"]);
        assert_eq!(prose("not ( True ) and ( False ) is"), Vec::<String>::new());
        assert_eq!(prose(">>> 1 + 1\n2\n\nWhy?"), ["Why?"]);
        assert_eq!(prose("TEXT = \"\"\"\nno prose\n\"\"\"\nWhy?"), ["Why?"]);
    }

    #[test]
    fn prose_is_not_code() {
        for text in [
            "Define the class of 2020: who was in it?",
            "From the list import the names.\nUse a loop; then stop.",
            "def is a word of Python.",
            "# A heading\nSome text.",
            "Import pandas and read the file.\nReturn the sum.",
            "Tom has 3 apples;\nAnna has 4.",
            "(each brace is closed)",
            "let me know when you are done",
        ] {
            assert!(ranges(text).is_empty(), "{text}");
        }
    }
}
