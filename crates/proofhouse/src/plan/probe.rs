//! The plan of a `probe` suite: case, slot, repetition, so that all trials of a case are neighbours.

use std::sync::Arc;

use proofhouse_ledger::{Digest, RecordId};

use super::{Item, Trial};
use crate::suite::{Case, CaseStream, Probe, Problems, Suite};

/// The trials, one after the other.
pub(super) struct Trials<'a> {
    suite: &'a Suite,
    repetitions: u32,
    cases: CaseStream,
    current: Option<(Arc<Case>, Digest)>,
    slot: usize,
    repetition: u32,
    index: u64,
}

impl<'a> Trials<'a> {
    pub(super) fn new(suite: &'a Suite, probe: &Probe) -> Self {
        let (cases, repetitions) = (probe.cases(), probe.repetitions);
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
        let slot = &self.suite.slots[self.slot].name;
        let trial = Trial {
            index: self.index,
            record_id: RecordId::of_trial(slot, &case.id, None, self.repetition),
            input_fingerprint,
            slot: self.slot,
            variant_id: None,
            repetition: self.repetition,
            item: Item::Probe(case),
        };
        self.advance();
        Some(Ok(trial))
    }
}
