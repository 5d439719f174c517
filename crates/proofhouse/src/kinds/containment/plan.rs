//! The plan of a `containment` suite: case, variant, repetition, so that all trials of a case are neighbours.

use std::sync::Arc;

use proofhouse_ledger::{Digest, RecordId};

use super::{Case, Cases, ContainmentBody, given};
use crate::spine::plan::Trial;
use crate::spine::suite::{Problems, Suite};

/// The trials, one after the other.
pub(super) struct Trials<'a> {
    suite: &'a Suite,
    repetitions: u32,
    cases: Cases,
    current: Option<(Arc<Case>, Arc<str>, Digest)>,
    slot: usize,
    repetition: u32,
    index: u64,
}

impl<'a> Trials<'a> {
    pub(super) fn new(suite: &'a Suite, body: &ContainmentBody) -> Self {
        let (cases, repetitions) = (body.cases(), body.repetitions);
        Trials { suite, repetitions, cases, current: None, slot: 0, repetition: 0, index: 0 }
    }

    fn advance(&mut self) {
        self.index += 1;
        self.repetition += 1;
        if self.repetition == self.repetitions {
            self.repetition = 0;
            self.slot += 1;
        }
        if self.slot == self.suite.slots.len() {
            self.slot = 0;
            self.current = None;
        }
    }
}

impl Iterator for Trials<'_> {
    type Item = Result<(Trial, Arc<Case>), Problems>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.current.is_none() {
            let case = match self.cases.next()? {
                Ok(case) => case,
                Err(problems) => return Some(Err(problems)),
            };
            let fingerprint = given(&case);
            let case_id = Arc::from(case.case_id.as_str());
            self.current = Some((Arc::new(case), case_id, fingerprint));
        }
        let (case, case_id, input_fingerprint) = self.current.clone()?;
        let slot = &self.suite.slots[self.slot].name;
        let trial = Trial {
            index: self.index,
            record_id: RecordId::of_trial(slot, &case.case_id, None, self.repetition),
            input_fingerprint,
            slot: self.slot,
            case_id,
            variant_id: None,
            repetition: self.repetition,
            missing: false,
        };
        self.advance();
        Some(Ok((trial, case)))
    }
}
