//! Finding the top-level fields of a line, with the keys of the line before as a guess.
//!
//! The lines of a file mostly have the same keys. Where the bytes of the next key are those that stood there in the line before, neither its
//! end has to be looked for nor its order to be checked; and what was found out about one line's keys holds for all lines of the
//! same layout.

use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr2;

use super::Damage;
use super::line::Span;

/// A list of keys. No two lists that differ have the same number in one process, whichever thread met them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LayoutId(u64);

impl LayoutId {
    /// The number of no list.
    pub(crate) const NONE: LayoutId = LayoutId(0);

    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        LayoutId(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// The keys of the line before.
#[derive(Debug)]
pub(super) struct Layout {
    /// None while they are being changed, and after a line that broke off while they were.
    id: LayoutId,
    /// Each key with its quotes and colon, one after the other.
    keys: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Default for Layout {
    fn default() -> Self {
        Self { id: LayoutId::NONE, keys: Vec::new(), ends: Vec::new() }
    }
}

impl Layout {
    /// Adds the spans of a line's fields. Keys must be in canonical order, without spaces between tokens.
    pub(super) fn scan(&mut self, bytes: &[u8], spans: &mut Vec<Span>) -> Result<LayoutId, Damage> {
        let mut scanner = Scanner { bytes, at: 0 };
        if bytes.len() > u32::MAX as usize {
            return Err(scanner.fail("longer than 4 GiB"));
        }
        scanner.expect(b'{', "expected `{`")?;
        let mut count = 0;
        let mut last: &[u8] = b"";
        loop {
            let key_from = scanner.at + 1;
            if let Some(behind) = self.follows(count, &bytes[scanner.at..]) {
                scanner.at += behind;
            } else {
                scanner.key(last, count == 0)?;
                self.put(count, &bytes[key_from - 1..scanner.at]);
            }
            let key_to = scanner.at - 2;
            last = &bytes[key_from..key_to];
            count += 1;
            let value_from = scanner.at as u32;
            scanner.value()?;
            let key = (key_from as u32, key_to as u32);
            spans.push(Span { key, value: (value_from, scanner.at as u32) });
            match bytes.get(scanner.at) {
                Some(b',') => scanner.at += 1,
                Some(b'}') => break,
                _ => return Err(scanner.fail("expected `,` or `}`")),
            }
        }
        scanner.at += 1;
        if scanner.at != bytes.len() {
            return Err(scanner.fail("text after the object"));
        }
        self.cut(count);
        if self.id == LayoutId::NONE {
            self.id = LayoutId::next();
        }
        Ok(self.id)
    }

    /// How long the n-th key is with its quotes and colon, if it stands here.
    fn follows(&self, nth: usize, bytes: &[u8]) -> Option<usize> {
        let to = *self.ends.get(nth)?;
        let from = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        bytes.starts_with(&self.keys[from..to]).then_some(to - from)
    }

    /// Takes another n-th key; what came after it is not known any more.
    fn put(&mut self, nth: usize, key: &[u8]) {
        self.cut(nth);
        self.id = LayoutId::NONE;
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
    }

    /// Keeps so many keys.
    fn cut(&mut self, count: usize) {
        if count < self.ends.len() {
            self.id = LayoutId::NONE;
            self.ends.truncate(count);
            self.keys.truncate(self.ends.last().copied().unwrap_or(0));
        }
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn fail(&self, what: &'static str) -> Damage {
        Damage::Malformed { offset: self.at, what }
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Damage> {
        if self.bytes.get(self.at) != Some(&byte) {
            return Err(self.fail(what));
        }
        self.at += 1;
        Ok(())
    }

    /// A key with its colon, which must come after the last one.
    fn key(&mut self, last: &[u8], is_first: bool) -> Result<(), Damage> {
        let from = self.at + 1;
        self.string()?;
        if !is_first && &self.bytes[from..self.at - 1] <= last {
            return Err(self.fail("keys out of order"));
        }
        self.expect(b':', "expected `:`")
    }

    fn string(&mut self) -> Result<(), Damage> {
        self.expect(b'"', "expected `\"`")?;
        loop {
            let Some(found) = memchr2(b'"', b'\\', &self.bytes[self.at..]) else {
                return Err(self.fail("string without an end"));
            };
            self.at += found;
            if self.bytes[self.at] == b'"' {
                self.at += 1;
                return Ok(());
            }
            if self.at + 2 > self.bytes.len() {
                return Err(self.fail("string without an end"));
            }
            self.at += 2;
        }
    }

    fn value(&mut self) -> Result<(), Damage> {
        match self.bytes.get(self.at) {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.nested(),
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                let rest = &self.bytes[self.at..];
                let length = rest.iter().position(|b| matches!(b, b',' | b'}' | b']')).unwrap_or(rest.len());
                self.at += length;
                Ok(())
            }
            _ => Err(self.fail("expected a value")),
        }
    }

    fn nested(&mut self) -> Result<(), Damage> {
        let mut depth = 0usize;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth -= 1,
                Some(_) => {}
                None => return Err(self.fail("value without an end")),
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Json;
    use crate::record::{HEAD, Line, Name, PROBE, Spans, samples};

    /// Every field of a line with its bytes, and what is found of some names.
    type Asked = (Vec<(Vec<u8>, Vec<u8>)>, Vec<Option<Vec<u8>>>);

    fn asked(bytes: &[u8], spans: &mut Spans) -> Option<Asked> {
        let line = Line::split(bytes, spans).ok()?;
        let fields = line.fields().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
        let names: [Name; 8] = [
            HEAD.case_id.into(),
            HEAD.error.into(),
            HEAD.error_type.into(),
            HEAD.record_sha256.into(),
            HEAD.variant_id.into(),
            PROBE.input.into(),
            PROBE.reasoning.into(),
            PROBE.tags.into(),
        ];
        Some((fields, names.map(|name| line.raw(name).map(<[u8]>::to_vec)).to_vec()))
    }

    #[test]
    fn the_first_list_of_keys_has_a_number_like_all_others() {
        let id = |text: &[u8]| Layout::default().scan(text, &mut Vec::new()).unwrap();
        let (first, second) = (id(br#"{"a":1}"#), id(br#"{"b":1}"#));
        assert!(first != LayoutId::NONE && second != LayoutId::NONE && first != second);
    }

    #[test]
    fn lines_of_the_same_keys_have_one_number_as_long_as_no_other_comes_between() {
        let mut layout = Layout::default();
        let mut id = |text: &[u8]| layout.scan(text, &mut Vec::new()).unwrap();
        let first = id(br#"{"a":1,"bc":2}"#);
        assert_eq!(id(br#"{"a":"x","bc":[]}"#), first);
        assert_ne!(id(br#"{"a":1}"#), first, "a key less");
        assert_ne!(id(br#"{"a":1,"bc":2}"#), first, "what came between is not remembered");
    }

    /// Lines of all kinds, some with fields that others lack.
    fn line(kind: usize, index: u64) -> Vec<u8> {
        let mut line = match kind {
            0 => samples::probe(index, &Json::from("out"), |_| {}),
            1 => samples::code(index),
            2 => samples::robustness(index, None),
            3 => samples::containment(index, None),
            _ => br#"{"a":1,"b":{"c":[]},"case_id":"c","error":null} "#.to_vec(),
        };
        line.pop();
        line
    }

    proptest! {
        #[test]
        fn what_is_remembered_of_other_lines_changes_nothing(
            edits in prop::collection::vec((0usize..5, 0u64..3, any::<prop::sample::Index>(), 0u8..5, any::<u8>()), 1..24)
        ) {
            let mut remembering = Spans::default();
            for (kind, index, place, edit, byte) in edits {
                let mut bytes = line(kind, index);
                let at = place.index(bytes.len());
                match edit {
                    0 => bytes[at] = byte,
                    1 => bytes.truncate(at),
                    // A field less, or one twice.
                    2 | 3 => {
                        let from = bytes[..at].iter().rposition(|byte| *byte == b',').unwrap_or(0);
                        let to = at + bytes[at..].iter().position(|byte| *byte == b',').unwrap_or(0);
                        let field = bytes[from..to].to_vec();
                        if edit == 2 { bytes.drain(from..to); } else { bytes.splice(from..from, field); }
                    }
                    _ => {}
                }
                prop_assert_eq!(asked(&bytes, &mut remembering), asked(&bytes, &mut Spans::default()));
            }
        }
    }
}
