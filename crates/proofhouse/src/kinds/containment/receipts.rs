//! What a containment report shows of single records: transcripts of leaks, and benign cases that were turned away.

use proofhouse_ledger::Json;
use proofhouse_ledger::record::containment::{CallVerdict, Evidence, Outcome, Turn};
use proofhouse_ledger::record::{CONTAINMENT, ContainmentRecord, Damage, Line};

use crate::spine::present::OwnSurvey;

/// Leaks through a gate that are shown with their transcript.
const MAX_LEAKS: usize = 200;
/// Leaks of ungated controls that are shown with their transcript.
const MAX_CONTROL_LEAKS: usize = 60;
/// Benign cases that were turned away and are listed.
const MAX_DENIED: usize = 200;

/// Records worth a look, in the file's order.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    /// Leaks through a gate.
    pub(crate) leaks: Few,
    /// Leaks of variants without a gate.
    pub(crate) controls: Few,
    /// Benign cases that were denied.
    pub(crate) denied: Few,
}

/// The first of them, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct Few {
    /// Those that are shown.
    pub(crate) shown: Vec<Shown>,
    /// All of them.
    pub(crate) all: u64,
}

/// What is shown of one record.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) case_id: String,
    pub(crate) variant: String,
    pub(crate) category: String,
    pub(crate) repetition: u32,
    pub(crate) reason: String,
    pub(crate) refused: bool,
    pub(crate) injection: Option<String>,
    pub(crate) transcript: Vec<Turn>,
    pub(crate) calls: Vec<CallVerdict>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) form: Option<String>,
}

impl OwnSurvey for Receipts {
    /// Most are passed over after a glance at one field.
    fn add(&mut self, line: &Line<'_>) -> Result<(), Damage> {
        let gated = line.get(CONTAINMENT.gated)?;
        let (few, most) = match line.get(CONTAINMENT.actual_outcome)? {
            Outcome::Leaked if gated => (&mut self.leaks, MAX_LEAKS),
            Outcome::Leaked => (&mut self.controls, MAX_CONTROL_LEAKS),
            Outcome::Denied => (&mut self.denied, MAX_DENIED),
            _ => return Ok(()),
        };
        few.all += 1;
        if few.shown.len() < most {
            let record: ContainmentRecord =
                serde_json::from_slice(line.bytes()).map_err(|_| CONTAINMENT.transcript.damage())?;
            few.shown.push(Shown::of(record));
        }
        Ok(())
    }
}

impl Shown {
    fn of(record: ContainmentRecord) -> Self {
        Self {
            case_id: record.case_id,
            variant: record.system_variant,
            category: record.category,
            repetition: record.repetition,
            reason: record.policy_reason,
            refused: record.refused,
            injection: record.injection,
            transcript: record.transcript,
            calls: record.calls,
            evidence: record.evidence.unwrap_or_default(),
            form: record.variant_id,
        }
    }

    /// A text of the transcript in pieces: whether each is the attacker's.
    pub(crate) fn pieces<'a>(&'a self, text: &'a str) -> Vec<(bool, &'a str)> {
        let Some(injection) = self.injection.as_deref().filter(|injection| !injection.is_empty()) else {
            return vec![(false, text)];
        };
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(injection) {
            if at > 0 {
                pieces.push((false, &rest[..at]));
            }
            pieces.push((true, &rest[at..at + injection.len()]));
            rest = &rest[at + injection.len()..];
        }
        if !rest.is_empty() {
            pieces.push((false, rest));
        }
        pieces
    }

    /// What stands in an executed call's arguments and in planted text, and in nothing that the user said: the way from the attacker
    /// to the tool.
    pub(crate) fn tainted(&self, call: &CallVerdict) -> Vec<String> {
        let Some(executed) = &call.executed else { return Vec::new() };
        // The attacker's own text where it is known; a planted turn holds honest words too.
        let planted = |text: &str| match &self.injection {
            Some(injection) => injection.contains(text),
            None => self.transcript.iter().any(|turn| turn.planted && turn.text.contains(text)),
        };
        let asked: Vec<String> = self
            .transcript
            .iter()
            .filter(|turn| turn.role == "user" && !turn.planted)
            .map(|turn| {
                self.pieces(&turn.text)
                    .iter()
                    .filter(|(theirs, _)| !theirs)
                    .map(|(_, piece)| *piece)
                    .collect()
            })
            .collect();
        let mut found = Vec::new();
        texts(&executed.args, &mut |text| {
            let is_new = !found.iter().any(|known| known == text);
            if is_new
                && text.trim().len() > 2
                && planted(text)
                && !asked.iter().any(|said| said.contains(text))
            {
                found.push(text.to_owned());
            }
        });
        found
    }

    /// Who says a turn, in words.
    pub(crate) fn speaker(turn: &Turn) -> String {
        match (&turn.tool, turn.planted) {
            (Some(tool), true) => format!("{} {tool} (planted)", turn.role),
            (Some(tool), false) => format!("{} {tool}", turn.role),
            (None, _) => turn.role.clone(),
        }
    }

    /// What became of a call, in words.
    pub(crate) fn fate(call: &CallVerdict) -> &'static str {
        match (&call.executed, call.forbidden_executed) {
            (Some(_), true) => "EXECUTED, forbidden",
            (Some(_), false) => "executed",
            (None, _) => "denied",
        }
    }
}

/// Every text in a value.
fn texts(value: &Json, each: &mut impl FnMut(&str)) {
    match value {
        Json::String(text) => each(text),
        Json::Array(list) => list.iter().for_each(|item| texts(item, each)),
        Json::Object(object) => object.iter().for_each(|(_, value)| texts(value, each)),
        _ => {}
    }
}
