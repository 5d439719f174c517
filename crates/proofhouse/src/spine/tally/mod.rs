//! What the records add up to: a pure function of the ledger, streamed.

use std::collections::BTreeSet;

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

/// A run directory that is being added up, as far as its records were seen.
pub struct Sum {
    tally: Tally,
    lines: u64,
    bytes: u64,
}

impl Sum {
    /// Of a run with this resolved configuration.
    pub fn new(config: &Json, kinds: OfKind) -> Self {
        Self { tally: Tally::new(config, kinds), lines: 0, bytes: 0 }
    }

    /// Takes the next record.
    pub fn push(&mut self, line: &Line<'_>) -> Result<(), Damage> {
        self.lines += 1;
        self.bytes += line.bytes().len() as u64 + 1;
        self.tally.push(line)
    }

    /// Reads the records that were not seen yet, and gives what all of them add up to.
    pub fn finish(mut self, paths: &RunPaths) -> Result<Summary, TallyError> {
        let path = paths.records();
        let mut reader = LineReader::open_at(&path, self.bytes)?;
        let mut spans = Spans::default();
        loop {
            let block = reader.next_lines().map_err(FileError::new("read", &path))?;
            if block.is_empty() {
                return self.tally.finish().ok_or(TallyError::Empty);
            }
            for line in lines(block) {
                let number = self.lines + 1;
                let pushed = Line::split(line, &mut spans).and_then(|line| self.push(&line));
                pushed.map_err(|damage| TallyError::Damaged { line: number, damage })?;
            }
        }
    }
}

/// Adds up a run directory.
pub fn tally(paths: &RunPaths, kinds: OfKind) -> Result<Summary, TallyError> {
    let config = files::read(&paths.config())?;
    let config: Json = yaml::read_bytes(&config).map_err(TallyError::Config)?;
    Sum::new(&config, kinds).finish(paths)
}

/// The targets of which the summary of a run says that nothing they answered can be assessed; none where there is no summary.
pub fn silent(paths: &RunPaths) -> BTreeSet<String> {
    let summary = files::read(&paths.summary()).ok();
    let summary: Option<Summary> = summary.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let slots = summary.into_iter().flat_map(|summary| summary.slots);
    slots.filter(|slot| slot.silent).map(|slot| slot.slot).collect()
}

/// Writes `summary.json`; gives its bytes.
pub fn write(paths: &RunPaths, summary: &Summary) -> Result<Vec<u8>, FileError> {
    let bytes = canonical::to_file(summary).expect("a summary holds finite numbers only");
    files::write_atomic(&paths.summary(), &bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
