//! One JSON value of a dataset: parsed strictly, and where in its text a value stands. For messages, not for speed.

use std::ops::Range;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Fault, ParseError, Strictness, parse};

use super::super::problem::{Code, Problem, quoted};
use super::super::tree::{Step, push_step};
use crate::spine::suite::problem::Place;

/// What parsing a row's text gave.
pub(super) enum Parsed {
    Value(Json),
    /// Parsed in lenient mode only; the error is what strict mode would have said.
    Softened(Json, ParseError),
    Wrong(ParseError),
}

/// Strict first, so that lenient mode can say what it let pass.
pub(super) fn parse_row(text: &[u8], lenient: bool) -> Parsed {
    match parse(text, Strictness::Strict) {
        Ok(value) => Parsed::Value(value),
        Err(error) if lenient => match parse(text, Strictness::Lenient) {
            Ok(value) => Parsed::Softened(value, error),
            Err(error) => Parsed::Wrong(named(text, error)),
        },
        Err(error) => Parsed::Wrong(named(text, error)),
    }
}

/// The pointer of the value that holds a byte of a text, which need not be UTF-8.
fn pointer_at(text: &[u8], byte: usize) -> String {
    let mut pointer = String::new();
    let mut scan = Scan { text, at: 0 };
    scan.white();
    loop {
        let keyed = match scan.peek() {
            b'{' => true,
            b'[' => false,
            _ => return pointer,
        };
        scan.at += 1;
        let mut index = 0;
        loop {
            scan.white();
            let mut token = index.to_string();
            if keyed {
                let from = scan.at;
                scan.skip_string();
                token = match parse(&text[from..scan.at], Strictness::Strict) {
                    Ok(Json::String(key)) => key.replace('~', "~0").replace('/', "~1"),
                    _ => return pointer,
                };
                scan.white();
                scan.at += 1;
                scan.white();
            }
            let from = scan.at;
            scan.skip_value();
            if (from..scan.at).contains(&byte) {
                pointer.push('/');
                pointer.push_str(&token);
                scan.at = from;
                break;
            }
            scan.white();
            if scan.peek() != b',' {
                return pointer;
            }
            scan.at += 1;
            index += 1;
        }
    }
}

/// Says what is there instead of what is missing, where that is what the author will look for.
fn named(text: &[u8], mut error: ParseError) -> ParseError {
    let at = error.offset.min(text.len());
    if error.fault == Fault::NotUtf8 {
        error.path = pointer_at(text, at);
    } else if text[..at].ends_with(b"-") && text[at..].starts_with(b"Infinity") {
        error.fault = Fault::NotANumber;
        error.what = "`-Infinity` is not JSON".to_owned();
        error.offset -= 1;
    } else if error.fault == Fault::DuplicateKey {
        let key = error.path.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
        error.what = format!("duplicate key {}", quoted(&key));
    }
    error
}

/// The problem of a text that does not parse.
pub(super) fn parse_problem(error: &ParseError, place: Place) -> Problem {
    let (code, hint) = match error.fault {
        Fault::InexactInteger => (
            Code::NotCanonical,
            "write it as text in double quotes, or let `determinism: {strict_serialization: false}` do so",
        ),
        Fault::NotANumber | Fault::TooLarge => {
            (Code::NotCanonical, "JSON has no such number; write null, or text in double quotes")
        }
        Fault::LoneSurrogate => {
            (Code::NotCanonical, "a character beyond U+FFFF is two escapes in a row: `\\ud83d\\ude00`")
        }
        Fault::DuplicateKey => (Code::DuplicateKey, "keep one of the two"),
        Fault::NotUtf8 => (Code::Syntax, "save the file as UTF-8"),
        Fault::Syntax => {
            (Code::Syntax, "check that the row is JSON: double quotes, no comma at the end, no comments")
        }
    };
    Problem::new(code, place, error.what.clone()).at_path(dotted(&error.path)).hint(hint)
}

/// From `/meta/tags/0` to `meta.tags[0]`.
pub(super) fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        match token.parse() {
            Ok(index) => push_step(&mut path, Step::Index(index)),
            Err(_) => push_step(&mut path, Step::Key(&token)),
        }
    }
    path
}

/// The bytes that an error is about: the parser stops behind a number or an escape, and before the value of a key.
pub(super) fn error_range(text: &[u8], error: &ParseError) -> Range<usize> {
    let at = error.offset.min(text.len());
    let before = &text[..at];
    if error.fault == Fault::DuplicateKey {
        let end = memchr::memrchr(b'"', before).map_or(at, |quote| quote + 1);
        let from = memchr::memrchr(b'"', &text[..end.saturating_sub(1)]).unwrap_or(at);
        return from..end;
    }
    if error.fault == Fault::LoneSurrogate {
        let from = memchr::memmem::rfind(before, b"\\u").unwrap_or(at);
        return from..(from + 6).min(text.len());
    }
    if matches!(error.fault, Fault::InexactInteger | Fault::TooLarge) {
        let digits = before
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        return at - digits.count()..at;
    }
    let word = text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    at..at + word.max(1)
}

/// The bytes of the value that steps lead to, in text that parses; the longest way that exists.
pub(super) fn locate(text: &[u8], steps: &[Step<'_>]) -> Range<usize> {
    let mut scan = Scan { text, at: 0 };
    scan.white();
    for step in steps {
        let back = scan.at;
        if !scan.enter(*step) {
            scan.at = back;
            break;
        }
    }
    let from = scan.at;
    scan.skip_value();
    from..scan.at
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn white(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// Moves to the value of a step, if it is there.
    fn enter(&mut self, step: Step<'_>) -> bool {
        let (open, close) = match step {
            Step::Key(_) => (b'{', b'}'),
            Step::Index(_) => (b'[', b']'),
        };
        if self.peek() != open {
            return false;
        }
        self.at += 1;
        for index in 0.. {
            self.white();
            if self.peek() == close || self.at >= self.text.len() {
                return false;
            }
            let here = match step {
                Step::Key(key) => {
                    let from = self.at;
                    self.skip_string();
                    let found = parse(&self.text[from..self.at], Strictness::Strict);
                    self.white();
                    self.at += 1;
                    self.white();
                    found.is_ok_and(|found| found.as_str() == Some(key))
                }
                Step::Index(wanted) => index == wanted,
            };
            if here {
                return true;
            }
            self.skip_value();
            self.white();
            self.at += usize::from(self.peek() == b',');
        }
        false
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while self.at < self.text.len() && self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(self.text.len());
    }

    fn skip_value(&mut self) {
        let mut depth = 0usize;
        while self.at < self.text.len() {
            match self.peek() {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found() {
        let text = br#" {"a\"}": [1, {"b": "x,]"}, true], "c": {"d": -1.5} , "e":null}"#;
        let at = |steps: &[Step<'_>]| String::from_utf8(text[locate(text, steps)].to_vec()).unwrap();
        assert_eq!(at(&[Step::Key("a\"}"), Step::Index(1), Step::Key("b")]), "\"x,]\"");
        assert_eq!(at(&[Step::Key("a\"}"), Step::Index(2)]), "true");
        assert_eq!(at(&[Step::Key("c"), Step::Key("d")]), "-1.5");
        assert_eq!(at(&[Step::Key("e")]), "null");
        assert_eq!(at(&[Step::Key("c"), Step::Key("nowhere")]), "{\"d\": -1.5}");
        assert_eq!(at(&[Step::Key("e"), Step::Index(3)]), "null");
    }

    #[test]
    fn bytes_are_named() {
        let text = b"{\"a\": {\"b/c\": [1, \"caf\xe9\"]}, \"\xe9\": 1}";
        assert_eq!(pointer_at(text, memchr::memchr(0xe9, text).unwrap()), "/a/b~1c/1");
        assert_eq!(pointer_at(text, memchr::memrchr(0xe9, text).unwrap()), "");
        assert_eq!(pointer_at(b"[[[", 2), "/0/0");
    }
}
