//! The plan of a `containment` suite: case, variant, form of the planted text, repetition, so that all trials of a case are
//! neighbours.

use std::sync::Arc;

use proofhouse_ledger::{Digest, RecordId};

use super::{Case, Cases, ContainmentBody, ReadyCase, given};
use crate::family::attack::AttackConfig;
use crate::spine::plan::Trial;
use crate::spine::suite::{Problems, Suite};

/// The trials, one after the other.
pub(super) struct Trials<'a> {
    suite: &'a Suite,
    repetitions: u32,
    cases: Cases,
    /// What is left of the canaries, each with the number of cases before it; the last one comes first.
    canaries: Vec<(u64, Case)>,
    /// What planted texts go through.
    attack_forms: Vec<AttackConfig>,
    /// Cases so far.
    taken: u64,
    current: Option<Current>,
    /// Slots that the current case is put to: all, and for a canary those of models.
    slots: [Vec<usize>; 2],
    is_canary: bool,
    slot: usize,
    form: usize,
    repetition: u32,
    index: u64,
}

struct Current {
    case_id: Arc<str>,
    /// The case as it stands, then with its planted text in other forms.
    forms: Vec<(Option<Arc<str>>, Arc<ReadyCase>, Digest)>,
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
            attack_forms: body.attack_forms.clone(),
            taken: 0,
            current: None,
            slots: [all.collect(), models.collect()],
            is_canary: false,
            slot: 0,
            form: 0,
            repetition: 0,
            index: 0,
        }
    }

    fn advance(&mut self, forms: usize) {
        self.index += 1;
        self.repetition += 1;
        if self.repetition == self.repetitions {
            self.repetition = 0;
            self.form += 1;
        }
        if self.form == forms {
            self.form = 0;
            self.slot += 1;
        }
        if self.slot == self.slots[usize::from(self.is_canary)].len() {
            self.slot = 0;
            self.current = None;
        }
    }

    /// The next case in all its forms.
    fn take(&mut self) -> Option<Result<Current, Problems>> {
        let due = self.canaries.pop_if(|(place, _)| *place <= self.taken);
        self.is_canary = due.is_some();
        let case = match due {
            Some((_, canary)) => ready(canary),
            None => match self.cases.next()? {
                Ok(case) => case,
                Err(problems) => return Some(Err(problems)),
            },
        };
        self.taken += u64::from(!self.is_canary);
        let (case_id, plain) = (Arc::from(case.case_id.as_str()), Arc::new(case));
        let asked: &[AttackConfig] = if plain.has_forms() { &self.attack_forms } else { &[] };
        let mut forms = vec![(None, Arc::clone(&plain), given(&plain))];
        for (at, form) in asked.iter().enumerate() {
            let nth = asked[..=at].iter().filter(|other| other.name() == form.name()).count();
            let case = ready(plain.disguised(|text| form.disguise(text)));
            let digest = given(&case);
            forms.push((Some(Arc::from(format!("{}_{nth:04}", form.name()))), Arc::new(case), digest));
        }
        Some(Ok(Current { case_id, forms }))
    }
}

/// Compiles what is known to compile: a canary, or a case that was compiled in another form.
fn ready(case: Case) -> ReadyCase {
    ReadyCase::new(case).expect("its rules and patterns are those of a case that was compiled")
}

impl Iterator for Trials<'_> {
    type Item = Result<(Trial, Arc<ReadyCase>), Problems>;

    fn next(&mut self) -> Option<Self::Item> {
        let current = match self.current.take() {
            Some(current) => current,
            None => match self.take()? {
                Ok(current) => current,
                Err(problems) => return Some(Err(problems)),
            },
        };
        let (variant_id, case, input_fingerprint) = current.forms[self.form].clone();
        let at = self.slots[usize::from(self.is_canary)][self.slot];
        let slot = &self.suite.slots[at].name;
        let trial = Trial {
            index: self.index,
            record_id: RecordId::of_trial(slot, &case.case_id, variant_id.as_deref(), self.repetition),
            input_fingerprint,
            slot: at,
            case_id: Arc::clone(&current.case_id),
            variant_id,
            repetition: self.repetition,
            missing: false,
        };
        let forms = current.forms.len();
        self.current = Some(current);
        self.advance(forms);
        Some(Ok((trial, case)))
    }
}
