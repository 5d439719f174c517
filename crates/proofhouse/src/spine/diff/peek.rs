//! One top-level field of a line, found without splitting the line.

use memchr::memmem::Finder;
use proofhouse_ledger::RecordId;
use proofhouse_ledger::record::{HEAD, Line, Name, Spans};

use super::noise::case_key;

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

/// Reads which target and case a line is of.
pub(super) struct PeekCase {
    slot: Peek,
    case: Peek,
}

impl PeekCase {
    pub(super) fn new() -> Self {
        Self { slot: Peek::new(HEAD.slot), case: Peek::new(HEAD.case_id) }
    }

    /// The slot as it stands in the line, quotes included, and the key of the case.
    pub(super) fn read(&self, line: &[u8]) -> Option<(Vec<u8>, u64)> {
        // It is the first field of most records, where no comma stands before it.
        let case = match line.strip_prefix(b"{\"case_id\":") {
            Some(value) => case_key(text(value)?),
            None => self.case.value(line, |value| text(value).map(case_key))?,
        };
        Some((self.slot.value(line, |value| text(value).map(<[u8]>::to_vec))?, case))
    }
}

/// The text that the bytes begin with, quotes included.
fn text(bytes: &[u8]) -> Option<&[u8]> {
    let mut from = 1;
    while bytes.first() == Some(&b'"') {
        let quote = from + memchr::memchr(b'"', &bytes[from..])?;
        let slashes = bytes[..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes.is_multiple_of(2) {
            return Some(&bytes[..=quote]);
        }
        from = quote + 1;
    }
    None
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

    #[test]
    fn case_and_slot_are_read_with_their_quotes() {
        let read = |line: &[u8]| PeekCase::new().read(line);
        let line = br#"{"case_id":"a \"b\\","passed":true,"slot":"s"}"#;
        assert_eq!(read(line), Some((b"\"s\"".to_vec(), case_key(br#""a \"b\\""#))));
        let later = br#"{"attack":true,"case_id":"x","output":{"slot":"no","slot":"t"},"slot":"s"}"#;
        assert_eq!(read(later), Some((b"\"s\"".to_vec(), case_key(b"\"x\""))));
        assert_eq!(read(b"garbage"), None);
    }
}
