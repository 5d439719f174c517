//! The plan of a `robustness` suite: case by case the instruction itself, its variants and its ladder, each with as many
//! repetitions as the policy could ever need.

use std::sync::Arc;

use proofhouse_ledger::record::Mode;
use proofhouse_ledger::{Digest, RecordId};

use super::{RobustnessBody, ToolCase, ToolVariant};
use crate::spine::plan::Trial;
use crate::spine::suite::{Problems, Suite};

/// What a tool is told, and what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The case.
    pub case_id: Arc<str>,
    /// The case's place in the suite.
    pub case: usize,
    /// The variant's place in the case; none for the instruction itself.
    pub variant: Option<usize>,
    /// Which question it belongs to.
    pub mode: Mode,
}

impl Order {
    /// The case in its suite.
    pub fn case<'a>(&self, body: &'a RobustnessBody) -> &'a ToolCase {
        &body.cases[self.case]
    }

    /// The variant in its case.
    pub fn variant<'a>(&self, body: &'a RobustnessBody) -> Option<&'a ToolVariant> {
        self.variant.map(|at| &self.case(body).variants[at])
    }

    /// Exactly what the tool receives.
    pub fn instruction<'a>(&self, body: &'a RobustnessBody) -> &'a str {
        self.variant(body).map_or(&self.case(body).instruction, |variant| &variant.instruction)
    }
}

/// The trials, one after the other.
pub(super) fn trials<'a>(
    suite: &'a Suite,
    body: &'a RobustnessBody,
) -> impl Iterator<Item = Result<(Trial, Arc<Order>), Problems>> + 'a {
    let orders = body.cases.iter().enumerate().flat_map(move |(at, case)| {
        let base = case.base_runs.map(|runs| (order(case, at, None), None, runs));
        let variants = case.variants.iter().enumerate().map(move |(nth, variant)| {
            let runs = match (variant.can_run(), variant.mode) {
                (false, _) => 1,
                (true, mode) => body.policy(case, mode).cap(mode),
            };
            (order(case, at, Some(nth)), Some(Arc::clone(&variant.id)), runs)
        });
        base.into_iter().chain(variants)
    });
    let planned = orders.flat_map(move |(order, variant_id, runs)| {
        let fingerprint = Digest::of(order.instruction(body).as_bytes());
        let order = Arc::new(order);
        (0..suite.slots.len()).flat_map(move |slot| {
            let (order, variant_id) = (Arc::clone(&order), variant_id.clone());
            (0..runs).map(move |repetition| {
                let trial = Trial {
                    index: 0,
                    record_id: RecordId::of_trial(
                        &suite.slots[slot].name,
                        &order.case_id,
                        variant_id.as_deref(),
                        repetition,
                    ),
                    input_fingerprint: fingerprint,
                    slot,
                    case_id: Arc::clone(&order.case_id),
                    variant_id: variant_id.clone(),
                    repetition,
                    missing: false,
                };
                (trial, Arc::clone(&order))
            })
        })
    });
    planned.enumerate().map(|(index, (trial, order))| Ok((Trial { index: index as u64, ..trial }, order)))
}

fn order(case: &ToolCase, at: usize, variant: Option<usize>) -> Order {
    let mode = variant.map_or(Mode::Baseline, |nth| case.variants[nth].mode);
    Order { case_id: Arc::clone(&case.id), case: at, variant, mode }
}
