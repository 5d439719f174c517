//! A record's line seen without parsing it: where each top-level field lies.
//!
//! `verify`, `diff` and the tally look at a handful of fields of each of a million lines. Splitting a line into spans
//! costs a fraction of a parse, and what is compared are the bytes themselves.

use std::sync::atomic::{AtomicU8, Ordering};

use memchr::memchr2;

use super::{CALIBRATION, CANARY, Field, HEAD, Kind, Name, Status, Stored};
use crate::{Digest, Json, RecordId, RunId};

/// Why a line is not a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Not a flat JSON object in canonical form.
    #[error("not a canonical JSON object (byte {offset}: {what})")]
    Malformed {
        /// Where.
        offset: usize,
        /// What.
        what: &'static str,
    },
    /// A field that every record has is missing, or of another type.
    #[error("field `{0}` is missing or of the wrong type")]
    Field(&'static str),
}

/// Reusable memory for the spans of one line.
#[derive(Debug, Default)]
pub struct Spans {
    all: Vec<Span>,
    places: Places,
}

/// Where keys were found last: the lines of a file have the same keys at the same places.
#[derive(Debug)]
struct Places([AtomicU8; 64]);

impl Default for Places {
    fn default() -> Self {
        Self([const { AtomicU8::new(0) }; 64])
    }
}

impl Places {
    /// What is remembered of a key, or of one that shares its place.
    fn of(&self, key: &[u8]) -> &AtomicU8 {
        let ends = key.first().zip(key.last()).map_or(0, |(first, last)| {
            usize::from(*first).wrapping_mul(31).wrapping_add(usize::from(*last).wrapping_mul(7))
        });
        &self.0[(ends + key.len() * 11) % 64]
    }
}

#[derive(Debug, Clone, Copy)]
struct Span {
    /// The key without its quotes.
    key: (u32, u32),
    value: (u32, u32),
}

/// One line, split into its top-level fields.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
    places: &'a Places,
}

impl<'a> Line<'a> {
    /// Splits a line (without its newline). Keys must be in canonical order, without spaces between tokens.
    pub fn split(bytes: &'a [u8], spans: &'a mut Spans) -> Result<Self, Damage> {
        spans.all.clear();
        let mut scanner = Scanner { bytes, at: 0 };
        scanner.fields(&mut spans.all)?;
        Ok(Self { bytes, spans: &spans.all, places: &spans.places })
    }

    /// The whole line.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Keys and raw values, in order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&'a [u8], &'a [u8])> {
        let bytes = self.bytes;
        self.spans.iter().map(move |span| (slice(bytes, span.key), slice(bytes, span.value)))
    }

    /// The value of a field; damage where it is missing or not what it should be.
    pub fn get<T: Stored>(&self, field: Field<T>) -> Result<T::Seen<'a>, Damage> {
        let seen = match self.raw(field) {
            Some(raw) => T::see(raw),
            None => T::missing(),
        };
        seen.ok_or(field.damage())
    }

    /// The raw canonical JSON of a field.
    pub fn raw(&self, name: impl Into<Name>) -> Option<&'a [u8]> {
        self.find(name.into()).map(|at| slice(self.bytes, self.spans[at].value))
    }

    /// The raw canonical JSON of a field that must be there.
    pub fn require<T>(&self, field: Field<T>) -> Result<&'a [u8], Damage> {
        self.raw(field).ok_or(field.damage())
    }

    /// A field as a value, whatever it is.
    pub fn json(&self, name: impl Into<Name>) -> Option<Json> {
        Json::see(self.raw(name)?)
    }

    /// The place of a key: mostly where it was in the line before. Otherwise, as a record has some thirty keys of many lengths,
    /// comparing lengths first beats a search.
    fn find(&self, name: Name) -> Option<usize> {
        let key = name.as_bytes();
        let length = key.len() as u32;
        let is_here = |span: &Span| span.key.1 - span.key.0 == length && slice(self.bytes, span.key) == key;
        let last = self.places.of(key);
        let place = usize::from(last.load(Ordering::Relaxed));
        if self.spans.get(place).is_some_and(is_here) {
            return Some(place);
        }
        let found = self.spans.iter().position(is_here)?;
        last.store(u8::try_from(found).unwrap_or(u8::MAX), Ordering::Relaxed);
        Some(found)
    }

    /// The place in the plan.
    pub fn index(&self) -> Result<u64, Damage> {
        self.get(HEAD.index)
    }

    /// The trial.
    pub fn record_id(&self) -> Result<RecordId, Damage> {
        self.get(HEAD.record_id)
    }

    /// The run.
    pub fn run_id(&self) -> Result<RunId, Damage> {
        self.get(HEAD.run_id)
    }

    /// The kind of suite.
    pub fn kind(&self) -> Result<Kind, Damage> {
        self.get(HEAD.kind)
    }

    /// Whether nobody is scored on it: it tries the means, a model's tools or a judge, and says nothing of the cases.
    pub fn is_aside(&self) -> bool {
        let case = self.raw(HEAD.case_id).and_then(|raw| raw.strip_prefix(b"\""));
        case.is_some_and(|id| [CANARY, CALIBRATION].iter().any(|prefix| id.starts_with(prefix.as_bytes())))
    }

    /// What became of the trial.
    pub fn status(&self) -> Result<Status, Damage> {
        self.get(HEAD.status)
    }

    /// The digest of the line without its own digest, computed anew.
    pub fn recompute_digest(&self) -> Result<Digest, Damage> {
        self.recompute_digest_of(self.bytes)
    }

    /// The same of another line whose fields stand at the same places.
    pub fn recompute_digest_of(&self, other: &[u8]) -> Result<Digest, Damage> {
        let missing = HEAD.record_sha256.damage();
        let at = self.find(HEAD.record_sha256.name()).ok_or_else(|| missing.clone())?;
        // Neither the first nor the last field of a record, so the comma behind it goes with it.
        let from = self.spans[at].key.0 as usize - 1;
        let to = self.spans.get(at + 1).ok_or_else(|| missing.clone())?.key.0 as usize - 1;
        let (before, behind) = other.get(..from).zip(other.get(to..)).ok_or(missing)?;
        Ok(Digest::of_parts(&[before, behind]))
    }

    /// Where the value of a field lies in the line.
    pub fn range(&self, name: impl Into<Name>) -> Option<std::ops::Range<usize>> {
        let (from, to) = self.spans[self.find(name.into())?].value;
        Some(from as usize..to as usize)
    }
}

fn slice(bytes: &[u8], (from, to): (u32, u32)) -> &[u8] {
    &bytes[from as usize..to as usize]
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

    fn fields(&mut self, spans: &mut Vec<Span>) -> Result<(), Damage> {
        if self.bytes.len() > u32::MAX as usize {
            return Err(self.fail("longer than 4 GiB"));
        }
        self.expect(b'{', "expected `{`")?;
        let mut last: &[u8] = b"";
        loop {
            let key_from = self.at + 1;
            self.string()?;
            let key = &self.bytes[key_from..self.at - 1];
            if !spans.is_empty() && key <= last {
                return Err(self.fail("keys out of order"));
            }
            last = key;
            let key_span = (key_from as u32, self.at as u32 - 1);
            self.expect(b':', "expected `:`")?;
            let value_from = self.at as u32;
            self.value()?;
            spans.push(Span { key: key_span, value: (value_from, self.at as u32) });
            match self.bytes.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.fail("expected `,` or `}`")),
            }
        }
        self.at += 1;
        if self.at != self.bytes.len() {
            return Err(self.fail("text after the object"));
        }
        Ok(())
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
