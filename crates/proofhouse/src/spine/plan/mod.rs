//! What will run, frozen: every trial of a suite in its order, with its id and the digest of its input.
//!
//! Each kind has its own order in its own file; all of them stream, so a plan of a million trials is never held in memory.

use std::sync::Arc;

use proofhouse_ledger::totals::PlanHasher;
use proofhouse_ledger::{Digest, RecordId};

use crate::kinds::code::Sample;
use crate::kinds::containment::Case as Attack;
use crate::spine::suite::{Body, Case, Loaded, Problems};

mod code;
mod containment;
mod probe;
mod robustness;

pub use code::Question;
pub use robustness::Order;

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
    /// Which variant of the case, where there are any.
    pub variant_id: Option<Arc<str>>,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// What is carried out.
    pub item: Item,
}

/// What a trial carries out, by kind.
#[derive(Debug, Clone)]
pub enum Item {
    /// A question; shared by the trials of its case.
    Probe(Arc<Case>),
    /// A wording of this item that its generator could not make, and why; it is recorded and never asked.
    Missing(Arc<Item>, Arc<str>),
    /// A line of a samples file.
    Sample(Arc<Sample>),
    /// A task that a model is asked for; shared by the trials of its wording.
    Task(Arc<Question>),
    /// An instruction for a tool; shared by its repetitions.
    Tool(Arc<Order>),
    /// An attack or its benign twin; shared by the trials of its case.
    Attack(Arc<Attack>),
}

impl Item {
    /// The case.
    pub fn case_id(&self) -> &str {
        match self {
            Item::Probe(case) => &case.id,
            Item::Missing(own, _) => own.case_id(),
            Item::Sample(sample) => code::case_id(sample),
            Item::Task(question) => &question.task_id,
            Item::Tool(order) => &order.case_id,
            Item::Attack(case) => &case.case_id,
        }
    }
}

impl Trial {
    /// The case.
    pub fn case_id(&self) -> &str {
        self.item.case_id()
    }
}

/// The trials of a suite, one after the other.
pub type Trials<'a> = Box<dyn Iterator<Item = Result<Trial, Problems>> + 'a>;

/// Streams a suite's plan.
pub fn trials(loaded: &Loaded) -> Result<Trials<'_>, Problems> {
    match &loaded.suite.body {
        Body::Probe(probe) => Ok(Box::new(probe::Trials::new(&loaded.suite, probe))),
        Body::Code(code) => Ok(Box::new(code::trials(&loaded.suite, code))),
        Body::Robustness(body) => Ok(Box::new(robustness::trials(&loaded.suite, body))),
        Body::Containment(body) => Ok(Box::new(containment::Trials::new(&loaded.suite, body))),
    }
}

/// How many trials a suite plans.
pub fn count(loaded: &Loaded) -> u64 {
    let targets = loaded.suite.targets.len();
    match &loaded.suite.body {
        Body::Probe(probe) => {
            let wordings = probe.wordings.per_case();
            loaded.case_count * wordings * targets as u64 * u64::from(probe.repetitions)
        }
        Body::Code(code) => code.trial_count(targets),
        Body::Robustness(body) => body.trial_count(loaded.suite.slots.len()),
        Body::Containment(body) => {
            loaded.case_count * loaded.suite.slots.len() as u64 * u64::from(body.repetitions)
        }
    }
}

/// How many trials of the plan stand for wordings that cannot be made; reads the datasets once more.
pub fn count_missing(loaded: &Loaded) -> Result<u64, Problems> {
    let mut missing = 0;
    for trial in trials(loaded)? {
        missing += u64::from(matches!(trial?.item, Item::Missing(..)));
    }
    Ok(missing)
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
