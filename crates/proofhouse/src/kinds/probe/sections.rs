//! What a `probe` run adds to what people are told: why an answer is wrong.

use proofhouse_ledger::Json;
use proofhouse_ledger::record::{Damage, HEAD, Line, PROBE};

use crate::spine::present::{OwnPresentation, Told};

pub(super) const PRESENTATION: OwnPresentation =
    OwnPresentation { asks_endpoints: true, failure: Some(failure), ..OwnPresentation::PLAIN };

/// Expected, answer, and the reason of the judge that decides.
fn failure(line: &Line<'_>) -> Result<Told, Damage> {
    let deciding = line.get(HEAD.primary_metric)?;
    let reasons = line.get(PROBE.judge)?;
    let why = deciding.and_then(|name| Some(format!("{name}: {}", reasons.get(&*name)?)));
    Ok(Told { expected: shown(line.get(PROBE.expected)?), answer: shown(line.get(PROBE.output)?), why })
}

fn shown(value: Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}
