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
    /// What is left of the canaries, each with the number of cases before it; the last one comes first.
    canaries: Vec<(u64, Case)>,
    /// Cases so far.
    taken: u64,
    current: Option<(Arc<Case>, Arc<str>, Digest)>,
    /// Slots that the current case is put to: all, and for a canary those of models.
    slots: [Vec<usize>; 2],
    is_canary: bool,
    slot: usize,
    repetition: u32,
    index: u64,
}

impl<'a> Trials<'a> {
    pub(super) fn new(suite: &'a Suite, body: &ContainmentBody) -> Self {
        let (cases, repetitions) = (body.cases(), body.repetitions);
        let mut canaries = body.canaries();
        canaries.reverse();
        let all = 0..suite.slots.len();
        let models = all.clone().filter(|slot| body.variants[*slot].target.is_some());
        Trials {
            suite,
            repetitions,
            cases,
            canaries,
            taken: 0,
            current: None,
            slots: [all.collect(), models.collect()],
            is_canary: false,
            slot: 0,
            repetition: 0,
            index: 0,
        }
    }

    fn advance(&mut self) {
        self.index += 1;
        self.repetition += 1;
        if self.repetition == self.repetitions {
            self.repetition = 0;
            self.slot += 1;
        }
        if self.slot == self.slots[usize::from(self.is_canary)].len() {
            self.slot = 0;
            self.current = None;
        }
    }
}

impl Iterator for Trials<'_> {
    type Item = Result<(Trial, Arc<Case>), Problems>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.current.is_none() {
            let due = self.canaries.pop_if(|(place, _)| *place <= self.taken);
            self.is_canary = due.is_some();
            let case = match due {
                Some((_, canary)) => canary,
                None => match self.cases.next()? {
                    Ok(case) => case,
                    Err(problems) => return Some(Err(problems)),
                },
            };
            self.taken += u64::from(!self.is_canary);
            let fingerprint = given(&case);
            let case_id = Arc::from(case.case_id.as_str());
            self.current = Some((Arc::new(case), case_id, fingerprint));
        }
        let (case, case_id, input_fingerprint) = self.current.clone()?;
        let at = self.slots[usize::from(self.is_canary)][self.slot];
        let slot = &self.suite.slots[at].name;
        let trial = Trial {
            index: self.index,
            record_id: RecordId::of_trial(slot, &case.case_id, None, self.repetition),
            input_fingerprint,
            slot: at,
            case_id,
            variant_id: None,
            repetition: self.repetition,
            missing: false,
        };
        self.advance();
        Some(Ok((trial, case)))
    }
}
