//! Two lines of one trial that are not the same, looked into: only the fields that differ are parsed.

use std::borrow::Cow;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{self, Strictness};
use proofhouse_ledger::record::{CONTAINMENT, HEAD, Line, Name, PROBE, ROBUSTNESS};

use super::fields::{Difference, differences};
use super::findings::Findings;
use super::flaws::{flaws, recomputed};
use super::pair::{NumberedLine, whose};
use super::report::{Change, Class, Flaw, RecordPlace, Side, Trial};
use super::run::Pairing;

/// How many differing fields of one record are told.
const MAX_FIELDS: usize = 24;

/// A line, and the same line split.
#[derive(Debug, Clone, Copy)]
pub(super) struct Half<'l> {
    pub(super) seen: NumberedLine<'l>,
    pub(super) line: Line<'l>,
}

/// Two lines of one trial.
pub(super) struct Inspection<'l> {
    pub(super) pairing: &'l Pairing,
    pub(super) a: Half<'l>,
    pub(super) b: Half<'l>,
    /// Whether the record stands elsewhere in relation to the others.
    pub(super) moved: bool,
}

/// A top-level field that differs, parsed.
struct Field {
    key: String,
    old: Option<Json>,
    new: Option<Json>,
}

/// A field that is no JSON.
struct Broken {
    side: Side,
    what: String,
}

impl Inspection<'_> {
    pub(super) fn run(&self, findings: &mut Findings) {
        let (halves, pairing) = ([(Side::A, &self.a), (Side::B, &self.b)], self.pairing);
        let mut wrong = Vec::new();
        let fields = match self.fields(&mut wrong) {
            Ok(fields) => fields,
            Err(Broken { side, what }) => {
                let number = if side == Side::A { self.a.seen.number } else { self.b.seen.number };
                findings.unreadable_pair();
                findings.changed_pairs += 1;
                return findings.unreadable(side, number, what);
            }
        };
        let passed = halves.map(|(_, half)| half.line.get(HEAD.passed).unwrap_or_default());
        let (slot, case) = whose(&self.a.line);
        findings.pair(slot, case, (passed[0], passed[1]));
        if !pairing.same_run {
            for (side, half) in halves {
                half.line.index().into_iter().for_each(|index| findings.place(side, index, half.seen.number));
            }
        }
        wrong.extend(flaws(&pairing.a.identity, &self.a));
        wrong.extend(flaws(&pairing.b.identity, &self.b));
        wrong.retain(|flaw| !pairing.rules.ignores(&flaw.pointer));
        let mut found: Vec<Difference<'_>> = fields
            .iter()
            .flat_map(|field| differences(&field.key, field.old.as_ref(), field.new.as_ref(), &pairing.rules))
            .collect();
        found.retain(|difference| wrong.iter().all(|flaw| flaw.pointer != difference.pointer));
        self.tell(found, wrong, findings);
    }

    /// The fields that differ, apart from those that each side is checked for by itself.
    fn fields(&self, wrong: &mut Vec<Flaw>) -> Result<Vec<Field>, Broken> {
        let derived = self.derived();
        let mut fields = Vec::new();
        let (mut olds, mut news) = (self.a.line.fields().peekable(), self.b.line.fields().peekable());
        while let Some(key) = [olds.peek(), news.peek()].into_iter().flatten().map(|(key, _)| *key).min() {
            let old = olds.next_if(|(other, _)| *other == key).map(|(_, raw)| raw);
            let new = news.next_if(|(other, _)| *other == key).map(|(_, raw)| raw);
            if old == new || derived.iter().any(|other| other.as_bytes() == key) {
                continue;
            }
            let key = String::from_utf8_lossy(key).into_owned();
            let old = old.map(|raw| parse(Side::A, &key, raw, wrong)).transpose()?;
            let new = new.map(|raw| parse(Side::B, &key, raw, wrong)).transpose()?;
            fields.push(Field { key, old, new });
        }
        Ok(fields)
    }

    /// Whether B executed a forbidden call that A did not: whatever else changed, this is worse.
    fn newly_forbidden(&self) -> bool {
        let executed = |line: &Line<'_>| -> Vec<String> {
            let Some(Json::Array(calls)) = line.json(CONTAINMENT.calls) else { return Vec::new() };
            let forbidden =
                calls.iter().filter(|call| call.get("forbidden_executed") == Some(&Json::Bool(true)));
            forbidden.filter_map(|call| Some(call.get("executed")?.to_string())).collect()
        };
        let mut before = executed(&self.a.line);
        executed(&self.b.line).iter().any(|call| match before.iter().position(|old| old == call) {
            Some(at) => {
                before.swap_remove(at);
                false
            }
            None => true,
        })
    }

    /// Whether the score that decides fell beyond the tolerance, with the same verdict. Where none decides alone, scores fell and
    /// none rose.
    fn score_dropped(&self, found: &[Difference<'_>]) -> bool {
        let (Ok(a), Ok(b)) = (self.a.line.get(HEAD.passed), self.b.line.get(HEAD.passed)) else {
            return false;
        };
        let metric = self.b.line.get(HEAD.primary_metric).ok().flatten();
        let primary = metric.as_ref().map(|name| format!("/scores/{name}"));
        let moves: Vec<(&str, f64)> = found
            .iter()
            .filter(|difference| difference.key() == HEAD.scores.as_str())
            .filter_map(|difference| {
                Some((difference.pointer.as_str(), difference.new?.as_f64()? - difference.old?.as_f64()?))
            })
            .collect();
        let decides = |pointer: &str| primary.as_deref() == Some(pointer);
        let scores = self.b.line.get(HEAD.scores).ok();
        let fell = match scores.zip(metric) {
            Some((scores, name)) if scores.iter().any(|(known, _)| *known == *name) => {
                moves.iter().any(|(pointer, change)| decides(pointer) && *change < 0.0)
            }
            _ => !moves.is_empty() && moves.iter().all(|(_, change)| *change < 0.0),
        };
        a == b && a.is_some() && fell
    }

    fn derived(&self) -> Vec<Name> {
        let (a, b) = (&self.pairing.a.identity, &self.pairing.b.identity);
        let mut derived = vec![HEAD.record_sha256.name(), HEAD.run_id.name()];
        if a.deterministic && b.deterministic {
            derived.extend([HEAD.started_at, HEAD.completed_at].map(Name::from));
        }
        // A receipt says its completion twice.
        let repeats = |line: &Line<'_>| line.raw(CONTAINMENT.ts_utc) == line.raw(HEAD.completed_at);
        if repeats(&self.a.line) && repeats(&self.b.line) {
            derived.push(CONTAINMENT.ts_utc.name());
        }
        if !self.pairing.same_run {
            derived.push(HEAD.index.name());
        }
        let of_b: Vec<_> = recomputed(&self.b.line).collect();
        derived.extend(recomputed(&self.a.line).filter(|both| of_b.contains(both)).map(|both| both.digest));
        derived
    }

    fn tell(&self, mut found: Vec<Difference<'_>>, flaws: Vec<Flaw>, findings: &mut Findings) {
        let mut classes: Vec<Class> = found.iter().map(class).collect();
        classes.extend(self.newly_forbidden().then_some(Class::Forbidden));
        classes.extend(self.score_dropped(&found).then_some(Class::Dropped));
        classes.extend(self.moved.then_some(Class::Reordered));
        classes.extend((!flaws.is_empty()).then_some(Class::Metadata));
        classes.sort_unstable();
        classes.dedup();
        findings.change(true, &classes, || {
            found.sort_by_key(|difference| rank(difference.key()));
            Change {
                class: classes[0],
                classes: classes.clone(),
                trial: trial(&self.a.line),
                a: Some(place(&self.a.line, self.a.seen.number)),
                b: Some(place(&self.b.line, self.b.seen.number)),
                fields: found.iter().take(MAX_FIELDS).map(Difference::shown).collect(),
                more_fields: found.len().saturating_sub(MAX_FIELDS) as u64,
                flaws,
            }
        });
    }
}

/// A field's value. That it could have been written in another way is a flaw, that it is no JSON an end.
fn parse(side: Side, key: &str, raw: &[u8], wrong: &mut Vec<Flaw>) -> Result<Json, Broken> {
    let value = json::parse(raw, Strictness::Canonical)
        .map_err(|error| Broken { side, what: format!("field `{key}`: {error}") })?;
    let canonical = value.to_string();
    if canonical.as_bytes() != raw {
        wrong.push(Flaw {
            side,
            pointer: format!("/{key}"),
            what: "is not in canonical form".to_owned(),
            stored: String::from_utf8_lossy(raw).into_owned(),
            right: Some(canonical),
        });
    }
    Ok(value)
}

fn class(difference: &Difference<'_>) -> Class {
    const PASSED: &str = HEAD.passed.as_str();
    const STATUS: &str = HEAD.status.as_str();
    const SCORES: &str = HEAD.scores.as_str();
    const OUTPUT_SHA256: &str = HEAD.output_sha256.as_str();
    const INPUT_FINGERPRINT: &str = HEAD.input_fingerprint.as_str();
    const OUTPUT: &str = PROBE.output.as_str();
    const EXPECTED: &str = PROBE.expected.as_str();
    const INPUT: &str = PROBE.input.as_str();
    const INSTRUCTION: &str = ROBUSTNESS.instruction.as_str();
    const DECISION: &str = CONTAINMENT.decision.as_str();
    const EXECUTED: &str = CONTAINMENT.tool_calls_executed.as_str();
    const REASON: &str = CONTAINMENT.policy_reason.as_str();
    const CALLS: &str = CONTAINMENT.calls.as_str();
    match difference.key() {
        PASSED => match (difference.old, difference.new) {
            (Some(Json::Bool(true)), Some(Json::Bool(false))) => Class::Regression,
            (Some(Json::Bool(true)), Some(Json::Null)) => Class::Lost,
            (Some(Json::Bool(false)), Some(Json::Bool(true))) => Class::Improvement,
            _ => Class::Verdict,
        },
        DECISION => Class::Decision,
        EXECUTED => Class::Accepted,
        REASON => Class::Reason,
        CALLS if difference.pointer.ends_with("/reason") => Class::Reason,
        STATUS => Class::Status,
        SCORES => Class::Score,
        OUTPUT | OUTPUT_SHA256 => Class::Output,
        EXPECTED => Class::Expected,
        INPUT | INSTRUCTION | INPUT_FINGERPRINT => Class::Input,
        _ => Class::Metadata,
    }
}

/// What people want to read first.
fn rank(key: &str) -> usize {
    const ORDER: [&str; 13] = [
        HEAD.passed.as_str(),
        HEAD.status.as_str(),
        CONTAINMENT.actual_outcome.as_str(),
        CONTAINMENT.decision.as_str(),
        CONTAINMENT.policy_reason.as_str(),
        CONTAINMENT.tool_calls_executed.as_str(),
        HEAD.error_type.as_str(),
        HEAD.error.as_str(),
        PROBE.output.as_str(),
        HEAD.scores.as_str(),
        PROBE.judge.as_str(),
        PROBE.expected.as_str(),
        PROBE.input.as_str(),
    ];
    ORDER.iter().position(|other| *other == key).unwrap_or(ORDER.len())
}

/// Which trial a line is of.
pub(super) fn trial(line: &Line<'_>) -> Trial {
    let text = |field| line.get(field).map(Cow::into_owned).unwrap_or_default();
    Trial {
        record_id: line.record_id().ok(),
        case_id: text(HEAD.case_id),
        slot: text(HEAD.slot),
        variant_id: line.get(HEAD.variant_id).ok().flatten().map(Cow::into_owned),
        repetition: line.get(HEAD.repetition).unwrap_or_default().into(),
    }
}

/// Where a line stands, and what it says in short.
pub(super) fn place(line: &Line<'_>, number: u64) -> RecordPlace {
    RecordPlace {
        line: number + 1,
        index: line.index().ok(),
        status: line.json(HEAD.status).and_then(|status| status.as_str().map(str::to_owned)),
        passed: line.get(HEAD.passed).unwrap_or_default(),
    }
}
