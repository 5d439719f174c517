//! What a `robustness` run adds to what people are told: stable or flaky, brittle or not, and where the boundary is.

use proofhouse_ledger::record::{Damage, Line, ROBUSTNESS, Termination};

use crate::spine::present::{FailureDetails, OwnPresentation, Section};

pub(super) mod words;

mod answers;
mod attribution;
mod behind;
mod calibration;
mod heat_map;
mod ladder;
mod verdicts;

pub(super) use calibration::outcome;

/// In the order in which a reader meets them.
const ALL: &[Section] =
    &[answers::SECTION, calibration::SECTION, heat_map::SECTION, ladder::SECTION, attribution::SECTION];

pub(super) const PRESENTATION: OwnPresentation = OwnPresentation {
    sections: ALL,
    failure: Some(failure),
    script: include_str!("record.js"),
    spares: true,
    rates: Some(verdicts::rates),
    ..OwnPresentation::PLAIN
};

/// The instruction, what the tool printed, and where it failed.
fn failure(line: &Line<'_>) -> Result<FailureDetails, Damage> {
    let streams = [line.get(ROBUSTNESS.stdout)?, line.get(ROBUSTNESS.stderr)?];
    let answer = streams.into_iter().flatten().find(|text| !text.trim().is_empty());
    let stage = line.get(ROBUSTNESS.failure_stage)?.map(|stage| format!("failed in {}", stage.as_str()));
    let ended = match line.get(ROBUSTNESS.termination)? {
        Some(Termination::Exited) => line.get(ROBUSTNESS.exit_code)?.map(|code| format!("exit code {code}")),
        Some(Termination::Signalled) => {
            line.get(ROBUSTNESS.signal)?.map(|signal| format!("ended by signal {signal}"))
        }
        Some(other) => Some(other.as_str().replace('_', " ")),
        None => None,
    };
    let why: Vec<String> = [stage, ended].into_iter().flatten().collect();
    Ok(FailureDetails {
        asked: Some(("Instruction", line.get(ROBUSTNESS.instruction)?.into_owned())),
        expected: None,
        answer: answer.map(|text| text.into_owned()),
        why: (!why.is_empty()).then(|| why.join(", ")),
    })
}
