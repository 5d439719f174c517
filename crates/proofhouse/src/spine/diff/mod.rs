//! What changed between two run directories: every difference in any field, aligned by trial, worst first.
//!
//! `run` opens each side, `join` walks both files in plan order and compares bytes first, `index` and `order` align
//! what is not in the same order, `pair` and `inspect` look into two lines that differ, `roots` holds stored digests against what the runs
//! were sealed with, `report` is what comes out and `render` how people read it. Nothing here runs or judges anything again.

mod cursor;
mod fields;
mod findings;
mod flaws;
mod gate;
mod index;
mod inspect;
mod join;
mod noise;
mod order;
mod pair;
mod peek;
mod render;
mod report;
mod roots;
mod run;
mod settings;
#[cfg(test)]
mod tests;

use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::FileError;

pub use gate::{Decision, Demand, decide};
pub use noise::{Noise, Worse};
pub use render::{Style, counts_line, remarks, render_github, render_json, render_markdown, render_text};
pub use report::{
    Change, Class, Excerpt, FieldChange, Flaw, RecordPlace, Report, RunFacts, Side, Torn, Trial, Unreadable,
};

pub use settings::RunClass;

use findings::Findings;
use run::{Pairing, Run};

/// What counts as a difference, and how many are told in detail.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Scores that differ by no more than this are equal; 0 is exact.
    pub tolerance: f64,
    /// RFC 6901 pointers into a record; differences there are not changes.
    pub ignore: Vec<String>,
    /// How many changed records are told in detail; the counts are always complete.
    pub limit: usize,
    /// By how much B may be worse than A; none where nobody asks.
    pub margin: Option<f64>,
    /// Whether single flips decide: the report says so first.
    pub flips: bool,
    /// What may differ between the runs as a whole.
    pub allow: Vec<RunClass>,
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: 0.0, ignore: Vec::new(), limit: 50, margin: None, flips: false, allow: Vec::new() }
    }
}

/// Why two runs could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is nothing of a run there.
    #[error(
        "`{0}` is not a run directory: it has no `records.jsonl`\n\nhint: give the directory that `proofhouse run` printed at its end"
    )]
    NotARun(camino::Utf8PathBuf),
    /// `--ignore` needs a pointer to a field.
    #[error(
        "`{0}` is not a JSON pointer to a field\n\nhint: write `--ignore /usage` or `--ignore /output/debug` (RFC 6901)"
    )]
    BadPointer(String),
    /// `--tolerance` needs a finite number that is not negative.
    #[error(
        "tolerance `{0}` is not usable\n\nhint: write a finite number of 0 or more, such as `--tolerance 0.01`"
    )]
    BadTolerance(f64),
    /// `--margin` needs a share.
    #[error(
        "margin `{0}` is not usable\n\nhint: write a share from 0 to 1, such as `--margin 0.03` for 3 points"
    )]
    BadMargin(f64),
    /// The fallback for files in another order counts lines in 32 bits.
    #[error("`{0}` has more than 4,294,967,295 lines\n\nhint: compare the shards one by one")]
    TooManyLines(camino::Utf8PathBuf),
}

/// Compares run `a` (before) with run `b` (after).
///
/// Both files are read once, in plan order; what is kept of them are some fifty bytes for each case and target. Only where one side's order is not the other's
/// are both indexed by record id (24 bytes a record) and read again.
pub fn compare(a: &RunPaths, b: &RunPaths, options: &Options) -> Result<Report, DiffError> {
    let rules = fields::Rules::new(options)?;
    let pairing = Pairing::new(Run::open(Side::A, a)?, Run::open(Side::B, b)?, rules);
    let findings = match join::in_order(&pairing, options.limit)? {
        Some(findings) => findings,
        None => index::by_id(&pairing, Findings::new(options.limit))?,
    };
    Ok(Report::new(&pairing, findings, options))
}
