//! Finding the JSON value in an answer that may wrap it in prose or a fenced block.

use std::borrow::Cow;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Strictness, parse};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::text::excerpt;
use crate::text::complaint::Complaint;

/// Where in an answer its JSON value is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extract {
    /// The whole answer if it is JSON, else the last fenced block that is, else the longest object or list in it.
    #[default]
    Auto,
    /// The whole answer, white space at both ends apart.
    Whole,
}

/// Each place where a value could start may be read to the end of the answer, so what is read in vain is bounded.
const MAX_READ_BYTES: usize = 1 << 22;

/// The answer's JSON value as text, or why there is none.
pub(super) fn json_text(answer: &str, extract: Extract) -> Result<&str, Complaint> {
    let whole = answer.trim();
    if whole.is_empty() {
        return Err(Complaint::new("the answer is empty"));
    }
    if is_json(whole) || extract == Extract::Whole {
        return Ok(whole);
    }
    fenced(whole)
        .or_else(|| embedded(whole))
        .ok_or_else(|| Complaint::new(format!("there is no JSON value in {}", excerpt(whole))))
}

/// The answer's JSON value: a structure as it is, a text parsed; digits beyond 2^53 are kept as text.
pub(super) fn json_value(output: &Json, extract: Extract) -> Result<Cow<'_, Json>, Complaint> {
    let Json::String(answer) = output else {
        return Ok(Cow::Borrowed(output));
    };
    let text = json_text(answer, extract)?;
    match parse(text.as_bytes(), Strictness::Lenient) {
        Ok(value) => Ok(Cow::Owned(value)),
        Err(error) => Err(Complaint::new(format!("the answer is not JSON: {error}"))),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The last block between two lines that start with three backticks or tildes, if it is JSON.
fn fenced(text: &str) -> Option<&str> {
    let mut found = None;
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (open, mark) {
            (None, Some(mark)) => open = Some((mark, next)),
            (Some((mark, start)), Some(close)) if mark == close => {
                let block = text[start..at].trim();
                if is_json(block) {
                    found = Some(block);
                }
                open = None;
            }
            _ => {}
        }
        at = next;
    }
    found
}

/// The longest object or list; of an answer that is full of half-open ones, the longest that was found in time.
fn embedded(text: &str) -> Option<&str> {
    let mut longest: Option<&str> = None;
    let mut from = 0;
    let mut budget = MAX_READ_BYTES;
    while let Some(found) = text[from..].find(['{', '[']) {
        let start = from + found;
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
        match stream.next()? {
            Ok(_) => {
                let end = start + stream.byte_offset();
                let value = &text[start..end];
                if longest.is_none_or(|longest| longest.len() < value.len()) {
                    longest = Some(value);
                }
                from = end;
            }
            Err(error) => {
                from = start + 1;
                match budget.checked_sub(read_until(&text[start..], &error)) {
                    Some(rest) => budget = rest,
                    None => break,
                }
            }
        }
    }
    longest
}

/// How many bytes were read before the error.
fn read_until(text: &str, error: &serde_json::Error) -> usize {
    let lines_before = error.line().saturating_sub(1);
    let line_start = match lines_before {
        0 => 0,
        several => memchr::memchr_iter(b'\n', text.as_bytes()).nth(several - 1).unwrap_or(text.len()),
    };
    line_start + error.column()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: &str) {
        assert_eq!(json_text(answer, Extract::Auto).as_deref(), Ok(expected), "{answer}");
    }

    #[test]
    fn finds_the_value_wherever_models_put_it() {
        check(" {\"a\": 1}\n", "{\"a\": 1}");
        check("\"text\"", "\"text\"");
        check("Sure!\n```json\n{\"a\": 1}\n```\nDone.", "{\"a\": 1}");
        check("```\n[1]\n```\nor rather\n```\n[2]\n```", "[2]");
        check("~~~json\n{\"a\":\"```\"}\n~~~", "{\"a\":\"```\"}");
        check("```python\nx = {}\n```\n```json\n{\"a\":1}\n```", "{\"a\":1}");
        check("As in [1], it is {\"a\": {\"b\": [1]}}, see [2].", "{\"a\": {\"b\": [1]}}");
        check("```json\n{\"a\": 1}", "{\"a\": 1}");
        check(&format!("{} {{\"a\":1}}", "\\frac{x}{y} ".repeat(1000)), "{\"a\":1}");
        check("{not json} but {\"a\":\"}\"}", "{\"a\":\"}\"}");
    }

    #[test]
    fn says_why_there_is_none() {
        let why = |answer: &str| json_value(&Json::from(answer), Extract::Auto).unwrap_err().what;
        assert_eq!(why(" \n"), "the answer is empty");
        assert_eq!(why("no idea"), "there is no JSON value in `no idea`");
        assert_eq!(why("{\"a\":1,\"a\":2}"), "the answer is not JSON: duplicate key at `/a`");
        let whole = json_value(&Json::from("x {}"), Extract::Whole).unwrap_err().what;
        assert_eq!(whole, "the answer is not JSON: expected a JSON value");
    }

    #[test]
    fn hostile_nesting_is_bounded_work() {
        for hostile in ["[", "{", "[{\"a\":", "{\"a\":[1,", "```\n", "[[\"", "]}"] {
            let answer = hostile.repeat(200_000 / hostile.len());
            assert!(json_value(&Json::from(answer), Extract::Auto).is_err(), "{hostile}");
        }
    }
}
