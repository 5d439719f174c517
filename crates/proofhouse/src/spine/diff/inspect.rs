//! Two lines of one trial that are not the same, looked into: only the fields that differ are parsed.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{self, Strictness};
use proofhouse_ledger::record::Line;

use super::fields::{Difference, differences};
use super::findings::Findings;
use super::flaws::{CONTENT_DIGESTS, flaws, is_recomputed};
use super::pair::{Seen, whose};
use super::report::{Change, Class, Flaw, Place, Side, Trial};
use super::run::Pairing;

/// How many differing fields of one record are told.
const MAX_FIELDS: usize = 24;

/// A line, and the same line split.
#[derive(Debug, Clone, Copy)]
pub(super) struct Half<'l> {
    pub(super) seen: Seen<'l>,
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
        let passed = halves.map(|(_, half)| half.line.boolean("passed").unwrap_or_default());
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
            let Some(Json::Array(calls)) = line.json("calls") else { return Vec::new() };
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
        let (Ok(a), Ok(b)) = (self.a.line.boolean("passed"), self.b.line.boolean("passed")) else {
            return false;
        };
        let primary = self.b.line.text("primary_metric").map(|name| format!("/scores/{name}"));
        let moves: Vec<(&str, f64)> = found
            .iter()
            .filter(|difference| difference.key() == "scores")
            .filter_map(|difference| {
                Some((difference.pointer.as_str(), difference.new?.as_f64()? - difference.old?.as_f64()?))
            })
            .collect();
        let decides = |pointer: &str| primary.as_deref() == Some(pointer);
        let fell = match self.b.line.json("scores").zip(self.b.line.text("primary_metric")) {
            Some((scores, name)) if scores.get(&name).is_some() => {
                moves.iter().any(|(pointer, change)| decides(pointer) && *change < 0.0)
            }
            _ => !moves.is_empty() && moves.iter().all(|(_, change)| *change < 0.0),
        };
        a == b && a.is_some() && fell
    }

    fn derived(&self) -> Vec<&'static str> {
        let (a, b) = (&self.pairing.a.identity, &self.pairing.b.identity);
        let mut derived = vec!["record_sha256", "run_id"];
        if a.deterministic && b.deterministic {
            derived.extend(["started_at", "completed_at"]);
        }
        // A receipt says its completion twice.
        let repeats = |line: &Line<'_>| line.raw("ts_utc") == line.raw("completed_at");
        if repeats(&self.a.line) && repeats(&self.b.line) {
            derived.push("ts_utc");
        }
        if !self.pairing.same_run {
            derived.push("index");
        }
        let both = |of| is_recomputed(&self.a.line, of) && is_recomputed(&self.b.line, of);
        derived.extend(CONTENT_DIGESTS.iter().filter(|(_, of)| both(of)).map(|(key, _)| *key));
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
    match difference.key() {
        "passed" => match (difference.old, difference.new) {
            (Some(Json::Bool(true)), Some(Json::Bool(false))) => Class::Regression,
            (Some(Json::Bool(true)), Some(Json::Null)) => Class::Lost,
            (Some(Json::Bool(false)), Some(Json::Bool(true))) => Class::Improvement,
            _ => Class::Verdict,
        },
        "decision" => Class::Decision,
        "tool_calls_executed" => Class::Accepted,
        "policy_reason" => Class::Reason,
        "calls" if difference.pointer.ends_with("/reason") => Class::Reason,
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
    const ORDER: [&str; 13] = [
        "passed",
        "status",
        "actual_outcome",
        "decision",
        "policy_reason",
        "tool_calls_executed",
        "error_type",
        "error",
        "output",
        "scores",
        "judge",
        "expected",
        "input",
    ];
    ORDER.iter().position(|other| *other == key).unwrap_or(ORDER.len())
}

/// Which trial a line is of.
pub(super) fn trial(line: &Line<'_>) -> Trial {
    let text = |key| line.text(key).map(|text| text.into_owned());
    Trial {
        record_id: line.record_id().ok(),
        case_id: text("case_id").unwrap_or_default(),
        slot: text("slot").unwrap_or_default(),
        variant_id: text("variant_id"),
        repetition: line.integer("repetition").unwrap_or_default(),
    }
}

/// Where a line stands, and what it says in short.
pub(super) fn place(line: &Line<'_>, number: u64) -> Place {
    Place {
        line: number + 1,
        index: line.index().ok(),
        status: line.text("status").map(|text| text.into_owned()),
        passed: line.boolean("passed").unwrap_or_default(),
    }
}
