//! A record's line seen without parsing it: where each top-level field lies.
//!
//! `verify`, `diff` and the tally look at a handful of fields of each of a million lines. Splitting a line into spans
//! costs a fraction of a parse, and what is compared are the bytes themselves.

use std::cell::Cell;

use super::layout::{Layout, LayoutId};
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

/// Reusable memory for the spans of one line, and what is remembered of the line before.
#[derive(Debug, Default)]
pub struct Spans {
    all: Vec<Span>,
    layout: Layout,
    places: Places,
}

impl Spans {
    /// Splits a line, and gives its spans away: for whoever looks at it again on another thread.
    pub(crate) fn split_into(&mut self, bytes: &[u8], spans: &mut Vec<Span>) -> Result<LayoutId, Damage> {
        let from = spans.len();
        let split = self.layout.scan(bytes, spans);
        if split.is_err() {
            spans.truncate(from);
        }
        split
    }

    /// A line that was split elsewhere.
    pub(crate) fn line<'a>(&'a self, bytes: &'a [u8], spans: &'a [Span], layout: LayoutId) -> Line<'a> {
        Line { bytes, spans, layout, places: &self.places }
    }
}

/// Where keys were found last: the lines of a file have the same keys at the same places.
#[derive(Debug)]
struct Places([Cell<Place>; 64]);

/// What is known of a name in one layout.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Where the name's bytes lie in the program: names are constants, so that equal ones need not be compared byte by byte.
    name: (usize, usize),
    layout: LayoutId,
    /// Which of the spans it is, if it is there.
    at: Option<usize>,
}

impl Default for Places {
    fn default() -> Self {
        const NOTHING: Place = Place { name: (0, 0), layout: LayoutId::NONE, at: None };
        Self([const { Cell::new(NOTHING) }; 64])
    }
}

impl Places {
    /// What is remembered of a name, or of one that shares its place.
    fn of(&self, (address, length): (usize, usize)) -> &Cell<Place> {
        &self.0[(address ^ (address >> 6) ^ length.wrapping_mul(11)) % 64]
    }
}

/// Where a key and its value lie in a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// The key without its quotes.
    pub(super) key: (u32, u32),
    pub(super) value: (u32, u32),
}

/// One line, split into its top-level fields.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
    layout: LayoutId,
    places: &'a Places,
}

impl<'a> Line<'a> {
    /// Splits a line (without its newline). Keys must be in canonical order, without spaces between tokens.
    pub fn split(bytes: &'a [u8], spans: &'a mut Spans) -> Result<Self, Damage> {
        spans.all.clear();
        let layout = spans.layout.scan(bytes, &mut spans.all)?;
        Ok(Self { bytes, spans: &spans.all, layout, places: &spans.places })
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

    /// Which keys it has, in one number: lines of the same one have the same.
    pub(crate) fn layout(&self) -> LayoutId {
        self.layout
    }

    /// The place of a key: mostly where it was in the line before. Otherwise, as a record has some thirty keys of many lengths,
    /// comparing lengths first beats a search.
    fn find(&self, name: Name) -> Option<usize> {
        let key = name.as_bytes();
        let constant = (key.as_ptr().addr(), key.len());
        let known = self.places.of(constant);
        let place = known.get();
        if place.layout == self.layout && place.name == constant {
            return place.at;
        }
        let length = key.len() as u32;
        let is_here = |span: &Span| span.key.1 - span.key.0 == length && slice(self.bytes, span.key) == key;
        let at = self.spans.iter().position(is_here);
        known.set(Place { name: constant, layout: self.layout, at });
        at
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
