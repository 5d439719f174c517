//! A row as it was written: its texts, and its data byte for byte.
//!
//! Test inputs are read by Python alone: integers of any length, `NaN` and `Infinity` mean something there, and a double
//! could not hold them. So the fields that hold such data are kept as they stand, and everything else is parsed.

use std::ops::Range;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};

/// Fields whose value is kept as text: data for tests, which only Python reads.
const DATA: [&str; 9] = [
    "base_input",
    "plus_input",
    "input_output",
    "inputs",
    "outputs",
    "public_tests",
    "private_tests",
    "generated_tests",
    "solutions",
];

/// One object of a problem file.
pub(in crate::kinds::code) struct Row {
    fields: Object,
    data: Vec<(&'static str, String)>,
}

/// Why a line is not a row.
#[derive(Debug, thiserror::Error)]
pub(in crate::kinds::code) enum RowError {
    /// It is JSON, but no object.
    #[error("expected an object, found {0}")]
    NotAnObject(&'static str),
    /// It is not JSON.
    #[error("{0}")]
    NotJson(String),
}

impl Row {
    /// Reads a line.
    pub(in crate::kinds::code) fn read(line: &[u8]) -> Result<Row, RowError> {
        let mut data = Vec::new();
        let mut rest = Vec::with_capacity(line.len().min(1 << 16));
        let mut copied = 0;
        for (key, value) in top_level(line) {
            let Some(name) = DATA.into_iter().find(|name| line[key.clone()] == *name.as_bytes()) else {
                continue;
            };
            let Ok(text) = std::str::from_utf8(&line[value.clone()]) else { continue };
            data.push((name, text.to_owned()));
            rest.extend_from_slice(&line[copied..value.start]);
            rest.extend_from_slice(b"null");
            copied = value.end;
        }
        rest.extend_from_slice(&line[copied..]);
        match parse(&rest, Strictness::Lenient) {
            Ok(Json::Object(fields)) => Ok(Row { fields, data }),
            Ok(other) => Err(RowError::NotAnObject(other.type_name())),
            Err(error) => Err(RowError::NotJson(error.to_string())),
        }
    }

    /// Whether there is such a field.
    pub(in crate::kinds::code) fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some()
    }

    /// The value of a field that is not data.
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.fields.get(name)
    }

    /// The text of the first of these fields that is there.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.fields.get(name)).and_then(Json::as_str).map(str::to_owned)
    }

    /// The texts of a list.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        match self.fields.get(name) {
            Some(Json::Array(values)) => values.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    /// A field of data as it was written, if it holds anything.
    pub(super) fn data(&self, name: &str) -> Option<&str> {
        let (_, text) = self.data.iter().find(|(key, _)| *key == name)?;
        (text != "null").then_some(text)
    }

    /// The task's name: a text, or a number.
    pub(super) fn task_id(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.fields.get(name)).and_then(name_of)
    }
}

/// A name that is a text or a whole number.
pub(in crate::kinds::code) fn name_of(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(format!("{number:.0}")),
        _ => None,
    }
}

/// The keys and values of an object as they stand, up to where it ceases to be one.
pub(in crate::kinds::code) fn texts_of(line: &[u8]) -> Vec<(&[u8], &[u8])> {
    top_level(line).into_iter().map(|(key, value)| (&line[key], &line[value])).collect()
}

/// Where the keys and values of an object are. What is not JSON ends the list early: the parser will say why.
fn top_level(line: &[u8]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = skip(line, 0, is_white);
    if line.get(at) != Some(&b'{') {
        return found;
    }
    at += 1;
    loop {
        at = skip(line, at, |byte| is_white(byte) || byte == b',');
        let Some(key_end) = string_end(line, at) else { return found };
        let key = at + 1..key_end - 1;
        at = skip(line, key_end, |byte| is_white(byte) || byte == b':');
        let Some(end) = value_end(line, at) else { return found };
        found.push((key, at..end));
        at = end;
    }
}

fn is_white(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

fn skip(line: &[u8], from: usize, skipped: impl Fn(u8) -> bool) -> usize {
    (from..line.len()).find(|at| !skipped(line[*at])).unwrap_or(line.len())
}

/// Behind the string that begins here.
fn string_end(line: &[u8], from: usize) -> Option<usize> {
    if line.get(from) != Some(&b'"') {
        return None;
    }
    let mut at = from + 1;
    loop {
        match line.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Behind the value that begins here.
fn value_end(line: &[u8], from: usize) -> Option<usize> {
    let (mut at, mut depth) = (from, 0_u32);
    loop {
        match line.get(at)? {
            b'"' => at = string_end(line, at)?,
            b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b']' | b'}' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b',' | b'}' | b']' if depth == 0 => return (at > from).then_some(at),
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_kept_as_it_was_written() {
        let line = r#" {"task_id": 7, "plus_input": [[1e400, -Infinity, 99999999999999999999], ["]}\"", {"a": [NaN]}]], "prompt": "p", "inputs": null}"#;
        let row = Row::read(line.as_bytes()).unwrap();
        assert_eq!(
            row.data("plus_input"),
            Some(r#"[[1e400, -Infinity, 99999999999999999999], ["]}\"", {"a": [NaN]}]]"#)
        );
        assert_eq!((row.data("inputs"), row.data("base_input")), (None, None));
        assert_eq!(row.text(&["prompt"]).as_deref(), Some("p"));
        assert_eq!(row.task_id(&["task_id"]).as_deref(), Some("7"));
        assert!(row.has("plus_input") && !row.has("base_input"));
    }

    #[test]
    fn what_is_not_json_is_said_by_the_parser() {
        for line in [r#"{"plus_input": [1, "a"#, r#"{"plus_input": "#, "{", r#"{"a": 1,, }"#, r#"{"inputs"#] {
            assert!(matches!(Row::read(line.as_bytes()), Err(RowError::NotJson(_))), "{line}");
        }
        assert!(matches!(Row::read(b"[]"), Err(RowError::NotAnObject("array"))));
    }
}
