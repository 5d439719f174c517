//! What a containment report shows of single records: transcripts of leaks, and benign cases that were turned away.

use proofhouse_ledger::record::containment::{CallVerdict, Outcome, Turn};
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
