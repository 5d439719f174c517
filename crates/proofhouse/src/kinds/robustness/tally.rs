//! What a `robustness` run adds to the tally: stable or flaky, brittle or not, and where the boundary is.

use proofhouse_ledger::Json;
use proofhouse_ledger::config::{self, RobustnessCase};
use proofhouse_ledger::record::{Damage, Line, RobustnessRecord, Status};
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::summary::robustness::Shortfall;

use super::Finder;
use crate::spine::tally::{GateTerms, OwnTally};

/// Opens the tally of the run with this resolved configuration.
pub(super) fn open(config: &Json) -> Box<dyn OwnTally> {
    Box::new(RobustnessTally::new(config))
}

/// The part of a tally that only `robustness` runs have.
struct RobustnessTally {
    finder: Finder,
    policy: String,
    agreement: f64,
    shortfalls: Vec<Shortfall>,
}

impl RobustnessTally {
    /// For the run with this resolved configuration.
    fn new(config: &Json) -> Self {
        let config::Robustness { policy, agreement, cases } = config::part(config);
        Self { finder: Finder::default(), policy, agreement, shortfalls: shortfalls(&cases) }
    }
}

impl OwnTally for RobustnessTally {
    fn push(&mut self, line: &Line<'_>, _: usize, _: Status, _: Option<bool>) -> Result<(), Damage> {
        let record: RobustnessRecord =
            serde_json::from_slice(line.bytes()).map_err(|_| Damage::Field("a robustness record"))?;
        self.finder.push(&record);
        Ok(())
    }

    // The policy decides when enough has been seen.
    fn spares(&self) -> bool {
        true
    }

    // In its own section, beside its verdicts.
    fn tells_wordings(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>, summary: &mut Summary) -> GateTerms {
        let mut found = self.finder.finish(&self.policy, self.agreement);
        found.shortfalls = self.shortfalls;
        summary.robustness = Some(found);
        GateTerms::default()
    }
}

/// Variants that generators could not give, from the configuration.
fn shortfalls(cases: &[RobustnessCase]) -> Vec<Shortfall> {
    let asked = cases.iter().flat_map(|case| case.generators.iter().map(move |asked| (case, asked)));
    let short = asked.filter_map(|(case, asked)| {
        Some(Shortfall {
            case_id: case.id.clone(),
            generator: asked.name().to_owned(),
            requested: asked.count,
            produced: asked.produced,
            reason: asked.shortfall.clone()?,
        })
    });
    short.collect()
}
