//! What will run, frozen: every trial of a suite in its order, with its id and the digest of its input.
//!
//! Each kind has its own order in its own folder; all of them stream, so a plan of a million trials is never held in memory.

use std::sync::Arc;

use proofhouse_ledger::totals::PlanHasher;
use proofhouse_ledger::{Digest, RecordId};

use super::suite::Problems;

/// One planned execution.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The place in the plan, from 0.
    pub index: u64,
    /// The trial, by what it is.
    pub record_id: RecordId,
    /// Digest of what the target receives.
    pub input_fingerprint: Digest,
    /// Which of the suite's slots.
    pub slot: usize,
    /// The case; shared by its trials.
    pub case_id: Arc<str>,
    /// Which variant of the case, where there are any.
    pub variant_id: Option<Arc<str>>,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// Whether it stands for a wording that cannot be made: it is recorded and never asked.
    pub missing: bool,
}

/// A suite's trials one after the other, each with what its kind carries out.
pub type Planned<'a, I> = Box<dyn Iterator<Item = Result<(Trial, I), Problems>> + 'a>;

/// The same without what is carried out.
pub type Trials<'a> = Box<dyn Iterator<Item = Result<Trial, Problems>> + 'a>;

/// How many trials stand for wordings that cannot be made.
pub fn count_missing(trials: Trials<'_>) -> Result<u64, Problems> {
    let mut missing = 0;
    for trial in trials {
        missing += u64::from(trial?.missing);
    }
    Ok(missing)
}

/// The digest over a whole plan.
pub fn digest(trials: Trials<'_>) -> Result<Digest, Problems> {
    let mut hasher = PlanHasher::default();
    for trial in trials {
        let trial = trial?;
        hasher.push(&trial.record_id, &trial.input_fingerprint);
    }
    Ok(hasher.finish())
}
