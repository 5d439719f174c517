//! What a `probe` run adds to what people are told: why an answer is wrong.

use proofhouse_ledger::Json;
use proofhouse_ledger::record::{Damage, HEAD, Line, PROBE};

use crate::spine::present::{OwnPresentation, Told};

pub(super) const PRESENTATION: OwnPresentation =
    OwnPresentation { asks_endpoints: true, failure: Some(failure), ..OwnPresentation::PLAIN };

/// Expected, answer, and the reason of the judge that decides, or of all where they decide together.
fn failure(line: &Line<'_>) -> Result<Told, Damage> {
    let deciding = line.get(HEAD.primary_metric)?;
    let reasons = line.get(PROBE.judge)?;
    let alone = deciding.filter(|name| reasons.contains_key(&**name));
    let given = reasons.iter().filter(|(name, _)| alone.as_ref().is_none_or(|alone| **alone == ***name));
    let why: Vec<String> = given.map(|(name, reason)| format!("{name}: {reason}")).collect();
    Ok(Told {
        expected: shown(line.get(PROBE.expected)?),
        answer: shown(line.get(PROBE.output)?),
        why: (!why.is_empty()).then(|| why.join("; ")),
    })
}

fn shown(value: Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}
