//! What will run, frozen: every trial of a suite in its order, with its id and the digest of its input.
//!
//! The order is case, variant, slot, repetition, so all trials of a case are neighbours and a plan of a million trials
//! streams from its datasets without being held in memory.

use std::sync::Arc;

use proofhouse_ledger::totals::PlanHasher;
use proofhouse_ledger::{Digest, RecordId};

use crate::suite::{Case, CaseStream, Loaded, Problems};

/// One planned execution.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The place in the plan, from 0.
    pub index: u64,
    /// The trial, by what it is.
    pub record_id: RecordId,
    /// Digest of what the target receives.
    pub input_fingerprint: Digest,
    /// The case; shared by its trials.
    pub case: Arc<Case>,
    /// Which of the suite's targets.
    pub slot: usize,
    /// Which repetition, from 0.
    pub repetition: u32,
}

/// The trials of a suite, one after the other.
pub struct Trials<'a> {
    loaded: &'a Loaded,
    cases: CaseStream,
    current: Option<(Arc<Case>, Digest)>,
    slot: usize,
    repetition: u32,
    index: u64,
}

/// Streams a suite's plan.
pub fn trials(loaded: &Loaded) -> Result<Trials<'_>, Problems> {
    let cases = loaded.cases()?;
    Ok(Trials { loaded, cases, current: None, slot: 0, repetition: 0, index: 0 })
}

/// How many trials a suite plans.
pub fn count(loaded: &Loaded) -> u64 {
    loaded.case_count * loaded.suite.targets.len() as u64 * u64::from(loaded.suite.repetitions)
}

/// The digest over the whole plan; reads the datasets once more.
pub fn digest(loaded: &Loaded) -> Result<Digest, Problems> {
    let mut hasher = PlanHasher::default();
    for trial in trials(loaded)? {
        let trial = trial?;
        hasher.push(&trial.record_id, &trial.input_fingerprint);
    }
    Ok(hasher.finish())
}

impl Iterator for Trials<'_> {
    type Item = Result<Trial, Problems>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.current.is_none() {
            let case = match self.cases.next()? {
                Ok(case) => case,
                Err(problems) => return Some(Err(problems)),
            };
            let fingerprint = Digest::of(case.input.as_bytes());
            self.current = Some((Arc::new(case), fingerprint));
        }
        let (case, input_fingerprint) = self.current.clone()?;
        let slot = &self.loaded.suite.targets[self.slot].0;
        let trial = Trial {
            index: self.index,
            record_id: RecordId::of_trial(slot, &case.id, None, self.repetition),
            input_fingerprint,
            case,
            slot: self.slot,
            repetition: self.repetition,
        };
        self.advance();
        Some(Ok(trial))
    }
}

impl Trials<'_> {
    fn advance(&mut self) {
        self.index += 1;
        self.repetition += 1;
        if self.repetition == self.loaded.suite.repetitions {
            self.repetition = 0;
            self.slot += 1;
        }
        if self.slot == self.loaded.suite.targets.len() {
            self.slot = 0;
            self.current = None;
        }
    }
}
