//! The plan of a `probe` suite: case, wording, slot, repetition, so that all trials of a case are neighbours.

use std::sync::Arc;
use std::vec::IntoIter;

use proofhouse_ledger::{Digest, RecordId};

use super::Probe;
use crate::spine::plan::Trial;
use crate::spine::suite::{Case, CaseStream, Lacking, Problems, Suite, Wording, Wordings};

/// What a trial asks; the case is shared by its trials.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// A question.
    Asked(Arc<Case>),
    /// A wording of this case that its generator could not make, and why.
    Missing(Arc<Case>, Arc<str>),
}

impl Item {
    /// The case.
    pub(super) fn case(&self) -> &Case {
        match self {
            Item::Asked(case) | Item::Missing(case, _) => case,
        }
    }
}

/// A wording that is planned: its id, what is asked, and the digest of that.
type Planned = (Option<Arc<str>>, Item, Digest);

/// The trials, one after the other.
pub(super) struct Trials<'a> {
    suite: &'a Suite,
    wordings: &'a Wordings,
    repetitions: u32,
    cases: CaseStream,
    /// The case whose turn it is as it stands, and the other wordings of it that are left.
    case: Option<(Arc<Case>, IntoIter<Wording>)>,
    /// Its id, shared by its trials.
    case_id: Arc<str>,
    current: Option<Planned>,
    slot: usize,
    repetition: u32,
    index: u64,
}

impl<'a> Trials<'a> {
    pub(super) fn new(suite: &'a Suite, probe: &'a Probe) -> Self {
        let (cases, repetitions, wordings) = (probe.cases(), probe.repetitions, &probe.wordings);
        let (case, case_id, current) = (None, Arc::from(""), None);
        Trials {
            suite,
            wordings,
            repetitions,
            cases,
            case,
            case_id,
            current,
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
        if self.slot == self.suite.slots.len() {
            self.slot = 0;
            self.current = None;
        }
    }

    /// The next wording of this case, or the next case as it stands.
    fn wording(&mut self) -> Option<Result<Planned, Problems>> {
        if let Some((case, left)) = &mut self.case
            && let Some((variant_id, made)) = left.next()
        {
            let fingerprint = Digest::of(made.as_deref().unwrap_or_default().as_bytes());
            let item = match made {
                Ok(input) => Item::Asked(Arc::new(Case { input, ..Case::clone(case) })),
                Err(Lacking(reason)) => Item::Missing(Arc::clone(case), Arc::from(reason)),
            };
            return Some(Ok((Some(variant_id), item, fingerprint)));
        }
        let case = match self.cases.next()? {
            Ok(case) => case,
            Err(problems) => return Some(Err(problems)),
        };
        let wordings = self.wordings.of(&case.id, &case);
        let fingerprint = Digest::of(case.input.as_bytes());
        let own = Arc::new(case);
        self.case_id = Arc::from(own.id.as_str());
        self.case = Some((Arc::clone(&own), wordings.into_iter()));
        Some(Ok((None, Item::Asked(own), fingerprint)))
    }
}

impl Iterator for Trials<'_> {
    type Item = Result<(Trial, Item), Problems>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.current.is_none() {
            match self.wording()? {
                Ok(wording) => self.current = Some(wording),
                Err(problems) => return Some(Err(problems)),
            }
        }
        let (variant_id, item, input_fingerprint) = self.current.clone()?;
        let slot = &self.suite.slots[self.slot].name;
        let trial = Trial {
            index: self.index,
            record_id: RecordId::of_trial(slot, &self.case_id, variant_id.as_deref(), self.repetition),
            input_fingerprint,
            slot: self.slot,
            case_id: Arc::clone(&self.case_id),
            variant_id,
            repetition: self.repetition,
            missing: matches!(item, Item::Missing(..)),
        };
        self.advance();
        Some(Ok((trial, item)))
    }
}
