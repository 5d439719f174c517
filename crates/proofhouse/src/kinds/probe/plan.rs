//! The plan of a `probe` suite: case, wording, slot, repetition, so that all trials of a case are neighbours.

use std::sync::Arc;
use std::vec::IntoIter;

use proofhouse_ledger::{Digest, RecordId};

use super::Probe;
use super::calibration::Calibration;
use crate::family::vary::Variant;
use crate::spine::plan::Trial;
use crate::spine::suite::{Case, CaseStream, Lacking, Problems, Sent, Suite, Wordable, Wording};

/// What a trial asks; the case is shared by its trials.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// A question.
    Asked(Arc<Case>, Arc<Sent>),
    /// A wording of this case that its generator could not make, and why.
    Missing(Arc<Case>, Arc<str>),
    /// A labelled answer, which is judged and never asked for, and what it would answer.
    Labelled(Arc<Case>, Arc<Sent>),
}

/// A wording that is planned: its id, and for each prompt what is asked and the digest of that.
type Planned = (Option<Arc<str>>, Vec<(Item, Digest)>);

/// The filled text of a prompt, which generators reword.
struct Text<'a>(&'a str);

impl Wordable for Text<'_> {
    fn base(&self) -> Result<&str, &'static str> {
        Ok(self.0)
    }

    fn reworded(&self, variant: Variant) -> Result<String, &'static str> {
        Ok(variant.text)
    }
}

/// The trials, one after the other.
pub(super) struct Trials<'a> {
    suite: &'a Suite,
    probe: &'a Probe,
    cases: CaseStream,
    /// What judges are tried on, behind all cases and in the place of the first slot.
    labelled: Option<CaseStream>,
    /// The case whose turn it is as it stands, and for each prompt the other wordings of it that are left.
    case: Option<(Arc<Case>, Vec<IntoIter<Wording>>)>,
    /// Its id, shared by its trials.
    case_id: Arc<str>,
    current: Option<Planned>,
    slot: usize,
    repetition: u32,
    index: u64,
}

impl<'a> Trials<'a> {
    pub(super) fn new(suite: &'a Suite, probe: &'a Probe) -> Self {
        let (case, case_id, current) = (None, Arc::from(""), None);
        let labelled = probe.calibration.as_ref().map(Calibration::answers);
        Trials {
            suite,
            probe,
            cases: probe.cases(),
            labelled,
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
        if let Some((_, items)) = &self.current
            && matches!(items.as_slice(), [(Item::Labelled(..), _)])
        {
            self.current = None;
            return;
        }
        self.repetition += 1;
        if self.repetition == self.probe.repetitions {
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
        if let Some((case, left)) = &mut self.case {
            let next: Option<Vec<Wording>> = left.iter_mut().map(Iterator::next).collect();
            if let Some(wordings) = next.filter(|wordings| !wordings.is_empty()) {
                let variant_id = Arc::clone(&wordings[0].0);
                let items = wordings.into_iter().map(|(_, made)| {
                    let fingerprint = Digest::of(made.as_deref().unwrap_or_default().as_bytes());
                    let item = match made {
                        Ok(input) => Item::Asked(Arc::clone(case), Arc::new(Sent::Text(input))),
                        Err(Lacking(reason)) => Item::Missing(Arc::clone(case), Arc::from(reason)),
                    };
                    (item, fingerprint)
                });
                return Some(Ok((Some(variant_id), items.collect())));
            }
        }
        let mut case = match self.cases.next() {
            Some(Ok(case)) => case,
            Some(Err(problems)) => return Some(Err(problems)),
            None => return self.labelled(),
        };
        let reworded = |sent: &Sent| match sent {
            Sent::Text(text) => self.probe.wordings.of(&case.id, &Text(text)).into_iter(),
            Sent::Talk(_) => Vec::new().into_iter(),
        };
        let wordings = case.sent.iter().map(reworded).collect();
        let sent = std::mem::take(&mut case.sent);
        let own = Arc::new(case);
        self.case_id = Arc::from(own.id.as_str());
        self.case = Some((Arc::clone(&own), wordings));
        let items = sent.into_iter().map(|sent| {
            let fingerprint = sent.fingerprint();
            (Item::Asked(Arc::clone(&own), Arc::new(sent)), fingerprint)
        });
        Some(Ok((None, items.collect())))
    }

    /// The next labelled answer.
    fn labelled(&mut self) -> Option<Result<Planned, Problems>> {
        let mut answer = match self.labelled.as_mut()?.next()? {
            Ok(answer) => answer,
            Err(problems) => return Some(Err(problems)),
        };
        self.case = None;
        self.case_id = Arc::from(answer.id.as_str());
        let sent = std::mem::take(&mut answer.sent).into_iter().next().unwrap_or_default();
        let fingerprint = sent.fingerprint();
        Some(Ok((None, vec![(Item::Labelled(Arc::new(answer), Arc::new(sent)), fingerprint)])))
    }
}

impl Iterator for Trials<'_> {
    type Item = Result<(Trial, Item), Problems>;

    /// A resumed run asks for the first trial that it has not: whole cases before it need not be made.
    fn nth(&mut self, count: usize) -> Option<Self::Item> {
        let mut left = count as u64;
        let each = (self.suite.slots.len() as u64 * u64::from(self.probe.repetitions)).max(1);
        if self.case.is_none() && self.probe.wordings.per_case() == 1 {
            let passed = self.cases.pass_over(left / each) * each;
            self.index += passed;
            left -= passed;
        }
        for _ in 0..left {
            if let Err(problems) = self.next()? {
                return Some(Err(problems));
            }
        }
        self.next()
    }

    fn next(&mut self) -> Option<Self::Item> {
        if self.current.is_none() {
            match self.wording()? {
                Ok(wording) => self.current = Some(wording),
                Err(problems) => return Some(Err(problems)),
            }
        }
        let (variant_id, items) = self.current.as_ref()?;
        let (item, input_fingerprint) = match items.as_slice() {
            [only] => only.clone(),
            several => several[self.probe.cells[self.slot].prompt].clone(),
        };
        let slot = &self.suite.slots[self.slot].name;
        let trial = Trial {
            index: self.index,
            record_id: RecordId::of_trial(slot, &self.case_id, variant_id.as_deref(), self.repetition),
            input_fingerprint,
            slot: self.slot,
            case_id: Arc::clone(&self.case_id),
            variant_id: variant_id.clone(),
            repetition: self.repetition,
            missing: matches!(item, Item::Missing(..)),
        };
        self.advance();
        Some(Ok((trial, item)))
    }
}
