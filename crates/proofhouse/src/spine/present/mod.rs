//! Telling people: terminal, Markdown, `report.html` and JSON, as pure functions of the ledger.
//!
//! The same run directory gives the same bytes, always: no clock, no environment, no path of this machine reaches a
//! document. `survey` reads the records once, `sections` say what there is to say, once for all forms; the back ends of
//! [`crate::text::doc`] give it a form. `embed` puts the records behind the page for its table, and `page` puts all of it into
//! one file that needs no network.

use std::io::Write;

use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::record::{Damage, Kind};
use proofhouse_ledger::summary::Summary;

pub(crate) mod behind;
mod embed;
pub(crate) mod failures;
mod own;
mod page;
mod parts;
pub(crate) mod sections;
mod store;
pub(crate) mod survey;
mod timing;
mod versus;
pub(crate) mod words;

pub use embed::{CLIP_BYTES, MAX_DATA_BYTES};
pub use failures::FailureDetails;
pub use own::{OwnPresentation, OwnSurvey};
pub use page::policy_of;
pub use parts::is_part;
pub use sections::{Facts, Section};
pub use store::{gist, json, markdown, matches, render_timing, terminal, write, write_timing};
pub use survey::{MAX_EMBEDDED, MAX_HEAT_CASES, MAX_HEAT_CELLS};
pub(crate) use timing::latencies;
pub use versus::page::{Heading, changed, compared};

/// What a kind adds to what people are told, by the kind of the run.
pub type OfKind = fn(Kind) -> &'static OwnPresentation;

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file of the run directory could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// `manifest.json` or `summary.json` is not what this version reads.
    #[error(
        "`{file}` cannot be understood\n\nhint: `proofhouse verify` says what is wrong with a run directory"
    )]
    Format {
        /// The file's name in the run directory.
        file: &'static str,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A line of `records.jsonl` is not a record.
    #[error(
        "line {line} of `records.jsonl` is not a record\n\nhint: `proofhouse verify` names what was altered"
    )]
    Record {
        /// From 1, as editors and `sed` count.
        line: u64,
        /// Why.
        #[source]
        source: Damage,
    },
    /// The three files do not belong together.
    #[error(
        "the files of this run directory contradict each other: {0}\n\nhint: `proofhouse verify` names what was altered"
    )]
    Contradiction(String),
    /// The page could not be written.
    #[error("cannot write the report")]
    Output(#[source] std::io::Error),
}

/// Writes `report.html` of a run directory to `out`, in memory that does not grow with the number of records.
///
/// Rates, intervals and comparisons come from `summary.json` and are never computed here a second time. Records beyond
/// [`MAX_EMBEDDED`] and texts beyond [`CLIP_BYTES`] stay in `records.jsonl`; the page says where that is so.
pub fn render(run: &RunPaths, kinds: OfKind, out: &mut dyn Write) -> Result<(), ReportError> {
    render_with(run, kinds, None, out, None)
}

/// The same with how long answers took, for a page that lies beside the run directory, and with the parts of a run that is too large
/// for one page.
fn render_with(
    run: &RunPaths,
    kinds: OfKind,
    timing: Option<&timing::Timing>,
    out: &mut dyn Write,
    take: Option<parts::Take<'_>>,
) -> Result<(), ReportError> {
    let manifest: Manifest = read(&run.manifest(), "manifest.json")?;
    let summary: Summary = read(&run.summary(), "summary.json")?;
    let own = kinds(summary.kind);
    let survey = survey::survey(&run.records(), &summary, own)?;
    agree(&manifest, &summary, &survey)?;
    let failures = failures::first(&run.records(), &summary, own, failures::MAX_SHOWN)?;
    let (survey_of, failures) = (Some(&survey), &failures);
    let facts = Facts {
        dir_name: run.dir.file_name().unwrap_or_default(),
        manifest: &manifest,
        summary: &summary,
        timing,
        survey: survey_of,
        failures,
        own,
    };
    page::write_top(out, &facts).map_err(ReportError::Output)?;
    embed::write_records(out, &run.records(), &facts, &survey)?;
    page::write_end(out, own).map_err(ReportError::Output)?;
    match take {
        Some(take) if survey.parts() > 0 => parts::each(run, &facts, &survey, take),
        _ => Ok(()),
    }
}

fn read<T: serde::de::DeserializeOwned>(
    path: &camino::Utf8Path,
    file: &'static str,
) -> Result<T, ReportError> {
    serde_json::from_slice(&files::read(path)?).map_err(|source| ReportError::Format { file, source })
}

/// A page whose table contradicts its headline would be worse than none. `verify` finds out which file was altered.
fn agree(manifest: &Manifest, summary: &Summary, survey: &survey::Survey) -> Result<(), ReportError> {
    if survey.records != manifest.record_count || survey.records != summary.trials {
        return Err(ReportError::Contradiction(format!(
            "`records.jsonl` has {} lines, `manifest.json` says {}, `summary.json` says {}",
            survey.records, manifest.record_count, summary.trials
        )));
    }
    for (slot, outcomes) in summary.slots.iter().zip(&survey.outcomes) {
        let (passed, assessed) = (outcomes.passed(), outcomes.passed() + outcomes.failed());
        if (passed, assessed) != (slot.pass_rate.numerator, slot.pass_rate.denominator) {
            return Err(ReportError::Contradiction(format!(
                "{passed} of {assessed} assessed records of `{}` passed, `summary.json` says {} of {}",
                slot.slot, slot.pass_rate.numerator, slot.pass_rate.denominator
            )));
        }
    }
    Ok(())
}
