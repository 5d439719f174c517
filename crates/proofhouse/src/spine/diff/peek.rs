//! One top-level field of a line, found without splitting the line.

use memchr::memmem::Finder;
use proofhouse_ledger::RecordId;
use proofhouse_ledger::record::{HEAD, Line, Name, Spans};

/// Looks for `,"key":`.
///
/// Inside text every quote is escaped, so the needle can only be a key; where it stands once it is the record's own,
/// because every record has the field and not as its first. Where a nested object has such a key too, the line is split.
pub(super) struct Peek {
    key: Name,
    finder: Finder<'static>,
}

impl Peek {
    pub(super) fn new(key: impl Into<Name>) -> Self {
        let key = key.into();
        Self { key, finder: Finder::new(format!(",\"{}\":", key.as_str()).as_bytes()).into_owned() }
    }

    /// Reads the field from the line's text, which begins with the field's value.
    fn value<T>(&self, line: &[u8], read: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        let behind = self.finder.find(line)? + self.key.as_str().len() + 4;
        let rest = &line[behind..];
        if self.finder.find(rest).is_none() {
            return read(rest);
        }
        let mut spans = Spans::default();
        Line::split(line, &mut spans).ok()?.raw(self.key).and_then(read)
    }
}

/// Reads `passed`.
pub(super) struct PeekPassed(Peek);

impl PeekPassed {
    pub(super) fn new() -> Self {
        Self(Peek::new(HEAD.passed))
    }

    pub(super) fn read(&self, line: &[u8]) -> Option<bool> {
        self.0.value(line, |value| match value {
            [b't', b'r', b'u', b'e', ..] => Some(true),
            [b'f', b'a', b'l', b's', b'e', ..] => Some(false),
            _ => None,
        })
    }
}

/// Reads `record_id`.
pub(super) struct PeekId(Peek);

impl PeekId {
    pub(super) fn new() -> Self {
        Self(Peek::new(HEAD.record_id))
    }

    pub(super) fn read(&self, line: &[u8]) -> Option<RecordId> {
        self.0.value(line, |value| {
            let text = value.strip_prefix(b"\"")?;
            RecordId::from_hex(&text[..memchr::memchr(b'"', text)?])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_or_quoted_namesake_is_not_the_field() {
        let passed = |line: &[u8]| PeekPassed::new().read(line);
        assert_eq!(passed(br#"{"case_id":"x","passed":true,"z":1}"#), Some(true));
        assert_eq!(passed(br#"{"case_id":"x","output":{"a":1,"passed":true},"passed":false}"#), Some(false));
        assert_eq!(
            passed(br#"{"case_id":"x","output":"{\"a\":1,\"passed\":true}","passed":false}"#),
            Some(false)
        );
        assert_eq!(passed(br#"{"case_id":"x","passed":null}"#), None);
        assert_eq!(passed(b"garbage"), None);
    }
}
