//! What a single line looks like.

use std::ops::Range;

/// A line without its line break.
pub(super) struct Line<'a> {
    pub(super) range: Range<usize>,
    text: &'a str,
}

impl Line<'_> {
    pub(super) fn trimmed(&self) -> &str {
        self.text.trim()
    }

    /// Bytes of white space before the first sign.
    pub(super) fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }
}

pub(super) fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    text.split('\n')
        .map(|line| {
            let range = start..start + line.len();
            start = range.end + 1;
            Line { range, text: line }
        })
        .collect()
}

/// A quick no for texts in which nothing can be code.
pub(super) fn may_have_code(text: &str) -> bool {
    text.contains(['(', '{', '=', ';', '<', '`', '@', '#', '[', '$', '>', '~'])
        || text.contains("import ")
        || is_query(text.trim())
        || text.contains("\nSELECT ")
        || text.contains("True")
        || text.contains("False")
}

/// The signs that open a fenced block.
pub(super) fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence) && !line[3..].contains(fence))
}

/// `def name(…` or `class Name…`.
pub(super) fn heads_block(line: &str) -> bool {
    let rest = line.strip_prefix("async ").unwrap_or(line);
    let function = rest.strip_prefix("def ").map(|rest| (rest, &['('][..]));
    let class = rest.strip_prefix("class ").map(|rest| (rest, &['(', ':'][..]));
    function.or(class).is_some_and(|(rest, after)| {
        let name = identifier(rest);
        !name.is_empty() && rest[name.len()..].starts_with(after)
    })
}

/// Opened minus closed brackets.
pub(super) fn balance(line: &str) -> i32 {
    line.chars()
        .map(|c| i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}')))
        .sum()
}

/// The bytes before the three quotation marks that open a docstring, and the marks.
pub(super) fn opens_docstring(line: &str) -> Option<(usize, &'static str)> {
    let before = line.len() - line.trim_start_matches(['r', 'R', 'u', 'U']).len();
    let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| line[before..].starts_with(quotes))?;
    (before <= 2).then_some((before, quotes))
}

/// The three quotation marks that a line opens and does not close.
pub(super) fn leaves_open(line: &str) -> Option<&'static str> {
    ["\"\"\"", "'''"].into_iter().find(|quotes| line.matches(quotes).count() % 2 == 1)
}

/// The letters, digits and underscores at the start.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

pub(super) fn is_query(line: &str) -> bool {
    ["SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ", "CREATE TABLE ", "ALTER TABLE "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Whether a line outside docstrings can only be code.
pub(super) fn is_code(line: &str) -> bool {
    is_import(line)
        || is_decorator(line)
        || is_statement(line)
        || is_assignment(line)
        || is_data(line)
        || is_formula(line)
        || line.starts_with("$ ")
        || line.starts_with("#include")
        || line.starts_with("#[")
        || line.starts_with("#!")
        || line.starts_with("if __name__")
        || (line.starts_with('<') && line.ends_with('>') && !line.contains(". "))
}

/// `import a.b, c` and `from a import b as c`: nothing but names.
fn is_import(line: &str) -> bool {
    let names = |list: &str| {
        let list = list
            .split(" #")
            .next()
            .unwrap_or_default()
            .trim()
            .trim_start_matches('(')
            .trim_end_matches([')', '\\', ';']);
        !list.trim().is_empty()
            && list.split(',').map(str::trim).filter(|name| !name.is_empty()).all(|name| {
                let mut parts = name.split(" as ");
                let is_name = |part: &str| {
                    part == "*" || part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
                };
                parts.all(is_name)
            })
    };
    if let Some(list) = line.strip_prefix("import ") {
        return names(list);
    }
    line.strip_prefix("from ")
        .and_then(|rest| rest.split_once(" import "))
        .is_some_and(|(from, list)| names(from) && (names(list) || list.trim() == "("))
}

fn is_decorator(line: &str) -> bool {
    line.strip_prefix('@').is_some_and(|rest| {
        let name = rest.split('(').next().unwrap_or_default();
        !name.is_empty()
            && !name.contains('@')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
    })
}

/// Statements of languages with braces and semicolons.
fn is_statement(line: &str) -> bool {
    let closers = line.contains(['{', '}', '(', ')', '[', ']', ';'])
        && line.chars().all(|c| matches!(c, '{' | '}' | '(' | ')' | '[' | ']' | ';' | ','));
    let brace = line.ends_with('{') || line.starts_with('}');
    let ended = line.ends_with(';')
        && (line.contains(['(', '='])
            || line.contains("::")
            || line.starts_with("use ")
            || line.starts_with("return"));
    closers || brace || ended
}

/// `name = value`, also with a type.
fn is_assignment(line: &str) -> bool {
    let name = identifier(line);
    let rest = line[name.len()..].trim_start();
    !name.is_empty()
        && (rest.starts_with("= ") || rest.starts_with("+= ") || rest.starts_with("-= "))
        && line[name.len()..].starts_with(' ')
}

/// A line of JSON or the like; a placeholder in braces is none.
fn is_data(line: &str) -> bool {
    let values = line.contains(['"', ':', ',']);
    let enclosed = line.starts_with(['{', '[']) && line.ends_with(['}', ']']) && values;
    let entry = line.starts_with('"') && line.contains("\": ") && line.ends_with([',', '}', ']', '"']);
    enclosed || entry
}

/// Nothing but truth values and what joins them.
fn is_formula(line: &str) -> bool {
    let words = ["True", "False", "not", "and", "or", "is", "(", ")"];
    line.contains(['T', 'F'])
        && line.split_whitespace().count() > 1
        && line.split_whitespace().all(|token| words.contains(&token))
}

/// Whether a line of a docstring shows a call or a value instead of saying something.
pub(super) fn is_example(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '-', '•', ' ']);
    let line = line.strip_prefix("assert ").unwrap_or(line);
    let name = identifier(line);
    let call = !name.is_empty() && line[name.len()..].starts_with('(') && line.contains(')');
    let shows =
        ["=", "->", "=>", "➞", "➔", "→", "returns", "should", "#"].iter().any(|sign| line.contains(sign));
    let literal =
        line.starts_with(['[', '{', '\'', '"', '(']) || line.starts_with(|c: char| c.is_ascii_digit());
    let words = line.split_whitespace().filter(|token| token.chars().all(char::is_alphabetic)).count();
    (call && (shows || line.ends_with(')')))
        || (literal && words * 2 < line.split_whitespace().count().max(2))
        || is_assignment(line)
}
