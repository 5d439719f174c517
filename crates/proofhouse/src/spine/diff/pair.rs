//! Two lines of the same trial: the same apart from what follows from the runs' identity, or else what differs.

use std::ops::Range;

use proofhouse_ledger::Digest;
use proofhouse_ledger::record::{CONTAINMENT, Damage, HEAD, Line, Spans};
use proofhouse_ledger::spine::StampTexts;

use super::findings::Findings;
use super::inspect::{Half, Inspection, place, trial};
use super::noise::case_key;
use super::peek::{PeekCase, PeekPassed};
use super::report::{Change, Class, Side};
use super::run::{Identity, Pairing};

/// A line and its number, from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberedLine<'l> {
    pub(super) line: &'l [u8],
    pub(super) number: u64,
}

/// The fields that are looked at one by one, in the order in which they stand in a line.
const SPECIAL: [&[u8]; 6] = [
    HEAD.completed_at.as_bytes(),
    HEAD.index.as_bytes(),
    HEAD.passed.as_bytes(),
    HEAD.record_sha256.as_bytes(),
    HEAD.run_id.as_bytes(),
    HEAD.started_at.as_bytes(),
];
const COMPLETED_AT: usize = 0;
const INDEX: usize = 1;
const PASSED: usize = 2;
const RECORD_SHA256: usize = 3;
const RUN_ID: usize = 4;
const STARTED_AT: usize = 5;

/// What two lines that say the same have to say.
struct Same {
    passed: (Option<bool>, Option<bool>),
    index: (u64, u64),
}

/// Whether a pair of lines could be held against each other.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// They are of one trial, and what there was to find is among the findings.
    Yes,
    /// They are of different trials, or one of them is no record.
    No,
}

/// Holds lines of A against lines of B.
pub(super) struct Comparer<'p> {
    pairing: &'p Pairing,
    spans_a: Spans,
    spans_b: Spans,
    passed: PeekPassed,
    case: PeekCase,
}

impl<'p> Comparer<'p> {
    pub(super) fn new(pairing: &'p Pairing) -> Self {
        let (passed, case) = (PeekPassed::new(), PeekCase::new());
        Self { pairing, spans_a: Spans::default(), spans_b: Spans::default(), passed, case }
    }

    /// A line that both runs of one id have, to the byte.
    pub(super) fn equal(&self, line: &[u8], findings: &mut Findings) {
        let passed = self.passed.read(line);
        match self.case.read(line) {
            Some((slot, case)) => findings.pair(&slot, case, (passed, passed)),
            None => findings.unreadable_pair(),
        }
    }

    /// Two lines that may or may not be of the same trial.
    pub(super) fn meet(&mut self, a: NumberedLine<'_>, b: NumberedLine<'_>, findings: &mut Findings) -> Met {
        let Ok(line_a) = Line::split(a.line, &mut self.spans_a) else { return Met::No };
        let Ok(line_b) = Line::split(b.line, &mut self.spans_b) else { return Met::No };
        if let Some(same) = same_but_identity(self.pairing, &line_a, &line_b) {
            settle(self.pairing, &same, (a, b), &line_a, findings);
            return Met::Yes;
        }
        match (line_a.record_id(), line_b.record_id()) {
            (Ok(id_a), Ok(id_b)) if id_a == id_b => {}
            _ => return Met::No,
        }
        let (a, b) = (Half { seen: a, line: line_a }, Half { seen: b, line: line_b });
        Inspection { pairing: self.pairing, a, b, moved: false }.run(findings);
        Met::Yes
    }

    /// Two lines that are known to belong together, `moved` against the others or not.
    pub(super) fn pair(
        &mut self,
        a: NumberedLine<'_>,
        b: NumberedLine<'_>,
        moved: bool,
        findings: &mut Findings,
    ) {
        if self.pairing.same_run && !moved && a.line == b.line {
            return self.equal(a.line, findings);
        }
        let (line_a, line_b) = match (record(a.line, &mut self.spans_a), record(b.line, &mut self.spans_b)) {
            (Ok(line_a), Ok(line_b)) => (line_a, line_b),
            (damage_a, damage_b) => {
                findings.unreadable_pair();
                if a.line != b.line || moved {
                    findings.changed_pairs += 1;
                    for (side, number, damage) in
                        [(Side::A, a.number, damage_a.err()), (Side::B, b.number, damage_b.err())]
                    {
                        damage.into_iter().for_each(|d| findings.unreadable(side, number, d.to_string()));
                    }
                }
                return;
            }
        };
        match same_but_identity(self.pairing, &line_a, &line_b) {
            Some(same) if !moved => settle(self.pairing, &same, (a, b), &line_a, findings),
            _ => {
                let (a, b) = (Half { seen: a, line: line_a }, Half { seen: b, line: line_b });
                Inspection { pairing: self.pairing, a, b, moved }.run(findings);
            }
        }
    }

    /// A line without a partner on the other side.
    pub(super) fn lone(&mut self, side: Side, class: Class, seen: NumberedLine<'_>, findings: &mut Findings) {
        let line = match record(seen.line, &mut self.spans_a) {
            Ok(line) => line,
            Err(damage) => return findings.unreadable(side, seen.number, damage.to_string()),
        };
        // What tries the means may come and go: no target lost anything by it.
        let class = if class == Class::Removed && line.is_aside() { Class::Metadata } else { class };
        if let (false, Ok(index)) = (self.pairing.same_run, line.index()) {
            findings.place(side, index, seen.number);
        }
        if class == Class::Removed {
            let (slot, case) = whose(&line);
            findings.table.add(slot, case, (line.get(HEAD.passed).unwrap_or_default(), None));
        }
        findings.change(false, &[class], || {
            let place = Some(place(&line, seen.number));
            let (a, b) = if side == Side::A { (place, None) } else { (None, place) };
            let (classes, trial) = (vec![class], trial(&line));
            Change { class, classes, trial, a, b, fields: Vec::new(), more_fields: 0, flaws: Vec::new() }
        });
    }
}

/// A line that has at least an id.
fn record<'l>(bytes: &'l [u8], spans: &'l mut Spans) -> Result<Line<'l>, Damage> {
    let line = Line::split(bytes, spans)?;
    line.record_id().map(|_| line)
}

/// The slot of a line as it stands there, and the key of its case.
pub(super) fn whose<'l>(line: &Line<'l>) -> (&'l [u8], u64) {
    (line.raw(HEAD.slot).unwrap_or_default(), case_key(line.raw(HEAD.case_id).unwrap_or_default()))
}

fn settle(
    pairing: &Pairing,
    same: &Same,
    (a, b): (NumberedLine<'_>, NumberedLine<'_>),
    line: &Line<'_>,
    findings: &mut Findings,
) {
    let (slot, case) = whose(line);
    findings.pair(slot, case, same.passed);
    if !pairing.same_run {
        findings.place(Side::A, same.index.0, a.number);
        findings.place(Side::B, same.index.1, b.number);
    }
}

/// What is said of two lines that are the same but for the runs' identity.
pub(super) struct Settled {
    passed: Option<bool>,
    index: u64,
    /// Where in the line of A its slot stands.
    slot: Range<usize>,
    case: u64,
    /// The digests that both lines store.
    pub(super) stored: [Digest; 2],
}

impl Settled {
    /// Adds the pair to what is known; `line` is that of A, and both have this number.
    pub(super) fn tell(&self, line: &[u8], numbers: (u64, u64), findings: &mut Findings) {
        findings.pair(&line[self.slot.clone()], self.case, (self.passed, self.passed));
        findings.place(Side::A, self.index, numbers.0);
        findings.place(Side::B, self.index, numbers.1);
    }
}

/// The same as [`same_but_identity`] for lines of different runs that have every field at the same place, as runs on the spine do:
/// only A's line is split, for B's has its bytes wherever they do not follow from its identity.
pub(super) struct InPlace<'p> {
    pairing: &'p Pairing,
    /// Whether somebody else holds the digests that lines store against something; otherwise they are computed.
    as_stored: bool,
    spans: Spans,
    texts: [StampTexts; 2],
}

impl<'p> InPlace<'p> {
    pub(super) fn new(pairing: &'p Pairing, as_stored: bool) -> Self {
        Self { pairing, as_stored, spans: Spans::default(), texts: Default::default() }
    }

    pub(super) fn same(&mut self, a: &[u8], b: &[u8]) -> Option<Settled> {
        let (identity_a, identity_b) = (&self.pairing.a.identity, &self.pairing.b.identity);
        if a.len() != b.len() || !identity_a.deterministic || !identity_b.deterministic {
            return None;
        }
        let line = Line::split(a, &mut self.spans).ok()?;
        let index: u64 = std::str::from_utf8(line.raw(HEAD.index)?).ok()?.parse().ok()?;
        let completed = line.range(HEAD.completed_at)?;
        let (digest, run_id) = (line.range(HEAD.record_sha256)?, line.range(HEAD.run_id)?);
        let started = line.range(HEAD.started_at)?;
        // In the order of a line; a receipt says its completion twice, under the name that its original has.
        let again = line.range(CONTAINMENT.ts_utc);
        let mut from = 0;
        for special in [&completed, &digest, &run_id, &started].into_iter().chain(&again) {
            if a.get(from..special.start)? != b.get(from..special.start)? {
                return None;
            }
            from = special.end;
        }
        if a[from..] != b[from..] {
            return None;
        }
        let as_stored = self.as_stored;
        let stored = |identity: &Identity, bytes: &[u8], texts: &mut StampTexts| {
            let [b'"', own @ .., b'"'] = &bytes[digest.clone()] else { return None };
            let own = Digest::from_hex(own)?;
            let moments = (&bytes[started.clone()], &bytes[completed.clone()]);
            let fits = bytes[run_id.clone()] == *identity.run_id_raw
                && identity.both_right(moments, index, texts)
                && again.as_ref().is_none_or(|again| bytes[again.clone()] == *moments.1)
                && (as_stored || line.recompute_digest_of(bytes) == Ok(own));
            fits.then_some(own)
        };
        let [texts_a, texts_b] = &mut self.texts;
        let stored = [stored(identity_a, a, texts_a)?, stored(identity_b, b, texts_b)?];
        let (passed, slot) = (verdict(line.raw(HEAD.passed)?)?, line.range(HEAD.slot)?);
        Some(Settled { passed, index, slot, case: case_key(line.raw(HEAD.case_id)?), stored })
    }
}

/// Whether two lines are equal in every field that is content, and each side derives the others rightly.
///
/// Nothing is parsed: raw fields are compared as bytes. `None` says that it takes a closer look, not what is wrong.
fn same_but_identity(pairing: &Pairing, a: &Line<'_>, b: &Line<'_>) -> Option<Same> {
    let (fields_a, fields_b) = (a.fields(), b.fields());
    if fields_a.len() != fields_b.len() {
        return None;
    }
    let (mut special_a, mut special_b): ([&[u8]; 6], [&[u8]; 6]) = ([b""; 6], [b""; 6]);
    let mut next = 0;
    for ((key_a, value_a), (key_b, value_b)) in fields_a.zip(fields_b) {
        if key_a != key_b {
            return None;
        }
        if SPECIAL.get(next).is_some_and(|key| *key == key_a) {
            (special_a[next], special_b[next]) = (value_a, value_b);
            next += 1;
            // The others follow from the run's identity and are checked below; `passed` is content as well.
            if next - 1 != PASSED {
                continue;
            }
        }
        // A receipt says its completion twice, under the name that its original has.
        if key_a == CONTAINMENT.ts_utc.as_bytes()
            && value_a == special_a[COMPLETED_AT]
            && value_b == special_b[COMPLETED_AT]
        {
            continue;
        }
        if value_a != value_b && !pairing.rules.ignores_key(key_a) {
            return None;
        }
    }
    let (identity_a, identity_b) = (&pairing.a.identity, &pairing.b.identity);
    let spined = identity_a.deterministic && identity_b.deterministic;
    let stamps_fine = spined
        || [COMPLETED_AT, STARTED_AT]
            .iter()
            .all(|at| special_a[*at] == special_b[*at] || pairing.rules.ignores_key(SPECIAL[*at]));
    let index = (derived(identity_a, a, &special_a)?, derived(identity_b, b, &special_b)?);
    let places_fine = !pairing.same_run || index.0 == index.1;
    let passed = (verdict(special_a[PASSED])?, verdict(special_b[PASSED])?);
    (next == SPECIAL.len() && stamps_fine && places_fine).then_some(Same { passed, index })
}

/// The record's index, if run id, timestamps and digest are what they must be.
fn derived(identity: &Identity, line: &Line<'_>, special: &[&[u8]; 6]) -> Option<u64> {
    let index: u64 = std::str::from_utf8(special[INDEX]).ok()?.parse().ok()?;
    let stamps_right = !identity.deterministic
        || identity.started_right(special[STARTED_AT], index)
            && identity.completed_right(special[COMPLETED_AT], index);
    let digest = line.recompute_digest().ok()?.hex();
    let digest_right = matches!(special[RECORD_SHA256], [b'"', hex @ .., b'"'] if *hex == digest);
    (stamps_right && digest_right && special[RUN_ID] == identity.run_id_raw).then_some(index)
}

fn verdict(raw: &[u8]) -> Option<Option<bool>> {
    match raw {
        b"true" => Some(Some(true)),
        b"false" => Some(Some(false)),
        b"null" => Some(None),
        _ => None,
    }
}
