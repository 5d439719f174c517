//! What a `code` run adds to what people are told: completions and pass@k.

use proofhouse_ledger::record::{CODE, Damage, HEAD, Line as Record};
use proofhouse_ledger::summary::{Code, CodeSlot, Slot, Summary};

use crate::kinds::OwnVerdict;
use crate::spine::present::behind::{Behind, counted, counted_as};
use crate::spine::present::{FailureDetails, OwnPresentation, Section};
use crate::text::doc::{Content, Line, Tone};

mod completions;
mod headline;

/// In the order in which a reader meets them.
const ALL: &[Section] = &[completions::SECTION];

pub(super) const PRESENTATION: OwnPresentation = OwnPresentation {
    verbatim: true,
    sections: ALL,
    failure: Some(failure),
    script: include_str!("record.js"),
    rates: Some(headline::rates),
    // Lines that count for nothing are no trials that anybody misses.
    left_out: |summary| slots(summary).iter().map(|slot| slot.invalid).sum(),
    excluded: |summary| summary.code.as_ref().map(Code::excluded).unwrap_or_default(),
    excluded_because: "broken task, left out",
    partly: "some completions passed, some failed",
    partly_said,
    explains: true,
    ..OwnPresentation::PLAIN
};

/// The type of error, and the first words of it.
fn failure(line: &Record<'_>) -> Result<FailureDetails, Damage> {
    let error = line.get(HEAD.error)?.unwrap_or_default();
    let why = line.get(HEAD.error_type)?.map(|word| match error.is_empty() {
        true => word.into_owned(),
        false => format!("{word}: {error}"),
    });
    let asked = line.get(CODE.task)?.map(|task| ("Task", task.into_owned()));
    let answer = line.get(CODE.completion)?.map(|text| text.into_owned());
    Ok(FailureDetails { asked, answer, why, ..FailureDetails::default() })
}

fn slots(summary: &Summary) -> &[CodeSlot] {
    summary.code.as_ref().map_or(&[], |code| &code.slots)
}

/// Completions are different answers, not repetitions.
fn partly_said(slot: &Slot) -> Content {
    let of = |verdict: &str| Behind::slot(&slot.slot).filter("verdict", verdict).by("cases");
    let line = Line::default().name(slot.slot.as_str()).text(": of ");
    let line = line.then(counted_as(slot.flaky_cases.denominator, ("task", "tasks"), of("repeated")));
    let line =
        line.text(" with several completions, ").then(counted(slot.flaky_cases.numerator, of("flaky")));
    let were = if slot.flaky_cases.numerator == 1 { "was" } else { "were" };
    Content::finding(Tone::Neutral, line.text(format!(" {were} solved by only some of them.")))
}

/// Whether machine, toolchain or model kept every completion from being run: what cannot be read, or holds no code, is a
/// failure on any machine, and says nothing of this one.
pub(super) fn verdict(summary: &Summary) -> Option<OwnVerdict> {
    let slots = slots(summary);
    let without_code = |slot: &CodeSlot| slot.error_types.get("extraction_failed").copied().unwrap_or(0);
    let run = |slot: &CodeSlot| slot.scored.saturating_sub(slot.unreadable + without_code(slot));
    let nothing_ran = slots.iter().any(|slot| slot.infra > 0) && slots.iter().map(run).sum::<u64>() == 0;
    nothing_ran.then_some(OwnVerdict::Infrastructure)
}
