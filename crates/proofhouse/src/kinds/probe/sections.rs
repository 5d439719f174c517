//! What a `probe` run adds to what people are told: why an answer is wrong, and how far its judges can be trusted.

use proofhouse_ledger::Json;
use proofhouse_ledger::record::{Damage, HEAD, Line, PROBE};
use proofhouse_ledger::summary::calibration::Calibration;

use crate::spine::present::{Facts, FailureDetails, OwnPresentation, Section};
use crate::text::doc::{Cell, Column, Content, Doc, Line as Words, Table, Tone};
use crate::text::numbers::{interval, percent};

pub(super) const PRESENTATION: OwnPresentation = OwnPresentation {
    asks_endpoints: true,
    failure: Some(failure),
    sections: &[Section { id: "judges", title: "How far the judges can be trusted", body: judges }],
    left_out: |summary| summary.calibration.as_ref().map_or(0, |calibration| calibration.trials),
    left_out_as: "to try the judges",
    ..OwnPresentation::PLAIN
};

/// Errors of judges on labelled answers, rates without them, and how far models agree.
fn judges(facts: &Facts<'_>) -> Option<Doc> {
    let summary = facts.summary;
    let mut doc = Doc::new();
    for found in summary.calibration.iter() {
        for judge in &found.judges {
            doc.everywhere(Content::finding(Tone::Neutral, format!("{}.", judge.sentence)));
        }
        for rate in &found.corrected {
            doc.everywhere(Content::finding(Tone::Neutral, format!("{}.", rate.sentence)));
        }
        doc.documents(rates(found));
        doc.documents(Content::note(
            "Corrected after Rogan and Gladen (1978) with the interval of Lang and Reiczigel (2014): it holds if the judge errs on \
             the targets’ answers as often as on the labelled ones. Gates and comparisons use the rates as judged.",
        ));
    }
    for found in &summary.agreement {
        let sentence = Words::from(format!("{}; criterion: ", found.sentence)).name(found.criterion.as_str());
        doc.everywhere(Content::finding(Tone::Neutral, sentence));
    }
    (!doc.blocks.is_empty()).then_some(doc)
}

fn rates(found: &Calibration) -> Table {
    let columns = vec![
        Column::text("Target"),
        Column::number("As judged"),
        Column::number("Without the judge’s errors"),
        Column::number("95 % interval"),
    ];
    let mut table = Table::new("rates", "Pass rates without the judges’ errors", columns);
    for rate in &found.corrected {
        let shown = |value: Option<f64>| value.map_or_else(Cell::dash, |value| percent(value).into());
        table.row(vec![
            Words::default().name(rate.slot.as_str()).into(),
            shown(rate.judged),
            shown(rate.value),
            interval(rate.low, rate.high).map_or_else(Cell::dash, Cell::from),
        ]);
    }
    table
}

/// Expected, answer, and the reason of the judge that decides, or of all where they decide together.
fn failure(line: &Line<'_>) -> Result<FailureDetails, Damage> {
    let deciding = line.get(HEAD.primary_metric)?;
    let reasons = line.get(PROBE.judge)?;
    let alone = deciding.filter(|name| reasons.contains_key(&**name));
    let given = reasons.iter().filter(|(name, _)| alone.as_ref().is_none_or(|alone| **alone == ***name));
    let why: Vec<String> = given.map(|(name, reason)| format!("{name}: {reason}")).collect();
    Ok(FailureDetails {
        asked: shown(asked(line.get(PROBE.input)?)).map(|text| ("Question", text)),
        expected: shown(line.get(PROBE.expected)?),
        answer: shown(line.get(PROBE.output)?),
        why: (!why.is_empty()).then(|| why.join("; ")),
    })
}

/// The last thing that the user said in a conversation.
fn asked(input: Json) -> Json {
    let messages = input.get("messages").unwrap_or(&input);
    let user = |message: &&Json| message.get("role").and_then(Json::as_str) == Some("user");
    let last = match messages {
        Json::Array(messages) => messages.iter().rfind(user).and_then(|message| message.get("content")),
        _ => None,
    };
    last.cloned().unwrap_or(input)
}

fn shown(value: Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}
