//! Two lines of the same trial: the same apart from what follows from the runs' identity, or else what differs.

use proofhouse_ledger::json::{self, Strictness};
use proofhouse_ledger::record::{Damage, Kind, Line, Spans, output_digest};
use proofhouse_ledger::{Digest, Json, RecordId};

use super::fields::{Difference, differences};
use super::findings::Findings;
use super::peek::PeekPassed;
use super::report::{Change, Class, Flaw, Place, Side, Trial};
use super::run::{Identity, Pairing};

/// How many differing fields of one record are told.
const MAX_FIELDS: usize = 24;

/// A line and its number, from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'l> {
    pub(super) line: &'l [u8],
    pub(super) number: u64,
}

/// The fields that are looked at one by one, in the order in which they stand in a line.
const SPECIAL: [&[u8]; 6] =
    [b"completed_at", b"index", b"passed", b"record_sha256", b"run_id", b"started_at"];
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
}

impl<'p> Comparer<'p> {
    pub(super) fn new(pairing: &'p Pairing) -> Self {
        Self { pairing, spans_a: Spans::default(), spans_b: Spans::default(), passed: PeekPassed::new() }
    }

    /// A line that both runs of one id have, to the byte.
    pub(super) fn equal(&self, line: &[u8], findings: &mut Findings) {
        let passed = self.passed.read(line);
        findings.pair((passed, passed));
    }

    /// Two lines that may or may not be of the same trial.
    pub(super) fn meet(&mut self, a: Seen<'_>, b: Seen<'_>, findings: &mut Findings) -> Met {
        let Ok(line_a) = Line::split(a.line, &mut self.spans_a) else { return Met::No };
        let Ok(line_b) = Line::split(b.line, &mut self.spans_b) else { return Met::No };
        if let Some(same) = same_but_identity(self.pairing, &line_a, &line_b) {
            settle(self.pairing, &same, (a, b), findings);
            return Met::Yes;
        }
        match (line_a.record_id(), line_b.record_id()) {
            (Ok(id_a), Ok(id_b)) if id_a == id_b => {}
            _ => return Met::No,
        }
        Inspection { pairing: self.pairing, a, b, line_a, line_b, moved: false }.run(findings);
        Met::Yes
    }

    /// Two lines that are known to belong together, `moved` against the others or not.
    pub(super) fn pair(&mut self, a: Seen<'_>, b: Seen<'_>, moved: bool, findings: &mut Findings) {
        if self.pairing.same_run && !moved && a.line == b.line {
            return self.equal(a.line, findings);
        }
        let (line_a, line_b) = match (record(a.line, &mut self.spans_a), record(b.line, &mut self.spans_b)) {
            (Ok(line_a), Ok(line_b)) => (line_a, line_b),
            (damage_a, damage_b) => {
                findings.pair((None, None));
                if a.line != b.line {
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
            Some(same) if !moved => settle(self.pairing, &same, (a, b), findings),
            _ => Inspection { pairing: self.pairing, a, b, line_a, line_b, moved }.run(findings),
        }
    }

    /// A line without a partner on the other side.
    pub(super) fn lone(&mut self, side: Side, class: Class, seen: Seen<'_>, findings: &mut Findings) {
        let line = match record(seen.line, &mut self.spans_a) {
            Ok(line) => line,
            Err(damage) => return findings.unreadable(side, seen.number, damage.to_string()),
        };
        if let (false, Ok(index)) = (self.pairing.same_run, line.index()) {
            findings.place(side, index, seen.number);
        }
        let place = Some(place(&line, seen.number));
        let (a, b) = if side == Side::A { (place, None) } else { (None, place) };
        findings.change(Change {
            class,
            classes: vec![class],
            trial: trial(&line),
            a,
            b,
            fields: Vec::new(),
            more_fields: 0,
            flaws: Vec::new(),
        });
    }
}

/// A line that has at least an id.
fn record<'l>(bytes: &'l [u8], spans: &'l mut Spans) -> Result<Line<'l>, Damage> {
    let line = Line::split(bytes, spans)?;
    line.record_id().map(|_| line)
}

fn settle(pairing: &Pairing, same: &Same, (a, b): (Seen<'_>, Seen<'_>), findings: &mut Findings) {
    findings.pair(same.passed);
    if !pairing.same_run {
        findings.place(Side::A, same.index.0, a.number);
        findings.place(Side::B, same.index.1, b.number);
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
            if next - 1 != PASSED {
                continue;
            }
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

/// Two lines of one trial that are not the same, looked into.
struct Inspection<'l> {
    pairing: &'l Pairing,
    a: Seen<'l>,
    b: Seen<'l>,
    line_a: Line<'l>,
    line_b: Line<'l>,
    moved: bool,
}

impl Inspection<'_> {
    fn run(&self, findings: &mut Findings) {
        let old = json::parse(self.a.line, Strictness::Canonical);
        let new = json::parse(self.b.line, Strictness::Canonical);
        let (mut old, mut new) = match (old, new) {
            (Ok(old), Ok(new)) => (old, new),
            (old, new) => {
                findings.pair((None, None));
                findings.changed_pairs += 1;
                for (side, number, error) in
                    [(Side::A, self.a.number, old.err()), (Side::B, self.b.number, new.err())]
                {
                    error.into_iter().for_each(|error| findings.unreadable(side, number, error.to_string()));
                }
                return;
            }
        };
        let passed = [&self.line_a, &self.line_b].map(|line| line.boolean("passed").unwrap_or_default());
        findings.pair((passed[0], passed[1]));
        if !self.pairing.same_run {
            for (side, line, number) in
                [(Side::A, &self.line_a, self.a.number), (Side::B, &self.line_b, self.b.number)]
            {
                line.index().into_iter().for_each(|index| findings.place(side, index, number));
            }
        }
        let mut flaws = flaws(&self.pairing.a.identity, self.a, &self.line_a, &old);
        flaws.extend(flaws_of_b(self, &new));
        flaws.retain(|flaw| !self.pairing.rules.ignores(&flaw.pointer));
        self.leave_derived(&mut old, &mut new);
        let mut found = differences(&old, &new, &self.pairing.rules);
        found.retain(|difference| flaws.iter().all(|flaw| flaw.pointer != difference.pointer));
        self.tell(found, flaws, findings);
    }

    /// Takes out what each side has been checked for by itself.
    fn leave_derived(&self, old: &mut Json, new: &mut Json) {
        let (a, b) = (&self.pairing.a.identity, &self.pairing.b.identity);
        let mut derived = vec!["record_sha256", "run_id"];
        if a.deterministic && b.deterministic {
            derived.extend(["started_at", "completed_at"]);
        }
        if !self.pairing.same_run {
            derived.push("index");
        }
        for (key, of) in CONTENT_DIGESTS {
            if content_digest(old, of).is_some() && content_digest(new, of).is_some() {
                derived.push(key);
            }
        }
        for record in [old, new] {
            if let Json::Object(object) = record {
                derived.iter().for_each(|key| drop(object.remove(key)));
            }
        }
    }

    fn tell(&self, mut found: Vec<Difference<'_>>, flaws: Vec<Flaw>, findings: &mut Findings) {
        let mut classes: Vec<Class> = found.iter().map(class).collect();
        classes.extend(self.moved.then_some(Class::Reordered));
        classes.extend((!flaws.is_empty()).then_some(Class::Metadata));
        classes.sort_unstable();
        classes.dedup();
        let Some(worst) = classes.first().copied() else { return };
        let more_fields = found.len().saturating_sub(MAX_FIELDS) as u64;
        if findings.wants(worst) {
            found.sort_by_key(|difference| rank(difference.key()));
            found.truncate(MAX_FIELDS);
        } else {
            found.clear();
        }
        findings.change(Change {
            class: worst,
            classes,
            trial: trial(&self.line_a),
            a: Some(place(&self.line_a, self.a.number)),
            b: Some(place(&self.line_b, self.b.number)),
            fields: found.iter().map(Difference::shown).collect(),
            more_fields,
            flaws,
        });
    }
}

fn flaws_of_b(inspection: &Inspection<'_>, new: &Json) -> Vec<Flaw> {
    flaws(&inspection.pairing.b.identity, inspection.b, &inspection.line_b, new)
}

fn class(difference: &Difference<'_>) -> Class {
    match difference.key() {
        "passed" => match (difference.old, difference.new) {
            (Some(Json::Bool(true)), Some(Json::Bool(false))) => Class::Regression,
            (Some(Json::Bool(false)), Some(Json::Bool(true))) => Class::Improvement,
            _ => Class::Verdict,
        },
        "status" => Class::Status,
        "scores" => Class::Score,
        "output" | "output_sha256" => Class::Output,
        "expected" => Class::Expected,
        "input" | "input_fingerprint" => Class::Input,
        _ => Class::Metadata,
    }
}

/// What people want to read first.
fn rank(key: &str) -> usize {
    const ORDER: [&str; 9] =
        ["passed", "status", "error_type", "error", "output", "scores", "judge", "expected", "input"];
    ORDER.iter().position(|other| *other == key).unwrap_or(ORDER.len())
}

/// Stored digests of a record's own content, and what they are of.
const CONTENT_DIGESTS: [(&str, &str); 2] = [("output_sha256", "output"), ("input_fingerprint", "input")];

/// The digest of a field, computed anew. Only a kind that has the field says what its digest is.
fn content_digest(record: &Json, of: &str) -> Option<Option<Digest>> {
    let kind = [Kind::Probe, Kind::Code, Kind::Robustness, Kind::Containment]
        .into_iter()
        .find(|kind| record.get("kind").and_then(Json::as_str) == Some(kind.as_str()))?;
    match kind {
        Kind::Probe => record.get(of).map(output_digest),
        Kind::Code | Kind::Robustness | Kind::Containment => None,
    }
}

/// What does not follow from the rest of the line or from the run, as it should.
fn flaws(identity: &Identity, seen: Seen<'_>, line: &Line<'_>, record: &Json) -> Vec<Flaw> {
    let mut found = Vec::new();
    let mut flaw = |key: &str, what: &str, right: Option<String>| {
        let stored = record.get(key).map_or_else(|| "(missing)".to_owned(), Json::to_text);
        let pointer = if key.is_empty() { String::new() } else { format!("/{key}") };
        found.push(Flaw { side: identity.side, pointer, what: what.to_owned(), stored, right });
    };
    let digest_right = |key: &str, right: &Option<Digest>| match (record.get(key), right) {
        (Some(Json::String(stored)), Some(right)) => *stored == right.to_string(),
        (Some(Json::Null), None) => true,
        _ => false,
    };
    let own = line.recompute_digest().ok();
    if own.is_none() || !digest_right("record_sha256", &own) {
        flaw("record_sha256", DIGEST_WRONG, own.map(|digest| digest.to_string()));
    }
    for (key, of) in CONTENT_DIGESTS {
        if let Some(right) = content_digest(record, of)
            && !digest_right(key, &right)
        {
            flaw(
                key,
                DIGEST_WRONG,
                Some(right.map_or_else(|| "null".to_owned(), |digest| digest.to_string())),
            );
        }
    }
    let id = record_id_of(record);
    if record.get("record_id").and_then(Json::as_str) != id.map(|id| id.to_string()).as_deref() {
        let what = "stored id does not follow from slot, case, variant and repetition";
        flaw("record_id", what, id.map(|id| id.to_string()));
    }
    if line.raw("run_id") != Some(&identity.run_id_raw) {
        flaw("run_id", "the record is of another run", identity.run_id.map(|id| id.to_string()));
    }
    if let Some((key, what)) = place_flaw(identity, seen, line) {
        flaw(key, what, None);
    }
    if record.to_string().as_bytes() != seen.line {
        flaw("", "the line is not in canonical form", None);
    }
    found
}

const DIGEST_WRONG: &str = "stored digest does not match";

fn record_id_of(record: &Json) -> Option<RecordId> {
    let text = |key: &str| record.get(key).and_then(Json::as_str);
    let repetition = record.get("repetition").and_then(Json::as_f64)?;
    Some(RecordId::of_trial(text("slot")?, text("case_id")?, text("variant_id"), repetition as u32))
}

/// Index and both timestamps follow from each other; the one that the other two contradict is named.
fn place_flaw(identity: &Identity, seen: Seen<'_>, line: &Line<'_>) -> Option<(&'static str, &'static str)> {
    let Ok(index) = line.index() else {
        return Some(("index", "missing or not a whole number"));
    };
    if !identity.deterministic {
        return None;
    }
    let (started, completed) =
        (line.raw("started_at").unwrap_or_default(), line.raw("completed_at").unwrap_or_default());
    let right = |index| (identity.started_right(started, index), identity.completed_right(completed, index));
    match right(index) {
        (true, true) => None,
        (false, true) => Some(("started_at", "does not follow from run_id and index")),
        (true, false) => Some(("completed_at", "does not follow from run_id and index")),
        (false, false) if right(seen.number) == (true, true) => {
            Some(("index", "is not the record's place, its timestamps are"))
        }
        (false, false) => Some(("started_at", "nor completed_at follows from run_id and index")),
    }
}

fn trial(line: &Line<'_>) -> Trial {
    let text = |key| line.text(key).map(|text| text.into_owned());
    Trial {
        record_id: line.record_id().ok(),
        case_id: text("case_id").unwrap_or_default(),
        slot: text("slot").unwrap_or_default(),
        variant_id: text("variant_id"),
        repetition: line.integer("repetition").unwrap_or_default(),
    }
}

fn place(line: &Line<'_>, number: u64) -> Place {
    Place {
        line: number + 1,
        index: line.index().ok(),
        status: line.text("status").map(|text| text.into_owned()),
        passed: line.boolean("passed").unwrap_or_default(),
    }
}
