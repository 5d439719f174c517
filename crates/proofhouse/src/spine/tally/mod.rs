//! What the records add up to: a pure function of the ledger, streamed.

use crate::text::complaint::Complaint;
use crate::text::yaml;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, Line, Spans};
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::{Json, RunPaths, canonical};

mod cluster;
mod expense;
mod gate;
pub(crate) mod heads;
mod pairs;
pub(crate) mod wordings;

pub use crate::stats;
pub use expense::{COST, EXPENSES, TIMED};
pub use heads::{FLAKY_CASES, GateTerms, Metric, OfKind, OwnTally, Tally};

/// Why a run cannot be added up.
#[derive(Debug, thiserror::Error)]
pub enum TallyError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A record that cannot be read.
    #[error("`records.jsonl` line {line} is damaged: {damage}")]
    Damaged {
        /// From 1.
        line: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// There is no record, and the configuration does not say what the run is.
    #[error("there is no record to add up")]
    Empty,
    /// The configuration cannot be read.
    #[error("`config.resolved.yaml` cannot be read: {0}")]
    Config(Complaint),
}

/// Adds up a run directory.
pub fn tally(paths: &RunPaths, kinds: OfKind) -> Result<Summary, TallyError> {
    let config = files::read(&paths.config())?;
    let config: Json = yaml::read_bytes(&config).map_err(TallyError::Config)?;
    let mut tally = Tally::new(&config, kinds);
    let path = paths.records();
    let mut reader = LineReader::open(&path)?;
    let mut spans = Spans::default();
    let mut number = 0;
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", &path))?;
        if block.is_empty() {
            break;
        }
        for line in lines(block) {
            number += 1;
            let pushed = Line::split(line, &mut spans).and_then(|line| tally.push(&line));
            pushed.map_err(|damage| TallyError::Damaged { line: number, damage })?;
        }
    }
    tally.finish().ok_or(TallyError::Empty)
}

/// Adds up a run directory and writes `summary.json`; gives the summary and its bytes.
pub fn write(paths: &RunPaths, kinds: OfKind) -> Result<(Summary, Vec<u8>), TallyError> {
    let summary = tally(paths, kinds)?;
    let bytes = canonical::to_file(&summary).expect("a summary holds finite numbers only");
    files::write_atomic(&paths.summary(), &bytes)?;
    Ok((summary, bytes))
}

#[cfg(test)]
mod tests;
