//! What a `probe` run adds to the tally: nothing that other runs do not have.

use proofhouse_ledger::summary::Summary;

use super::metrics::METRICS;
use crate::spine::tally::{GateTerms, OwnTally};

/// Nothing of its own.
pub(super) struct ProbeTally;

impl OwnTally for ProbeTally {
    fn finish(self: Box<Self>, _: &mut Summary) -> GateTerms {
        GateTerms { metrics: METRICS, ..GateTerms::default() }
    }
}
