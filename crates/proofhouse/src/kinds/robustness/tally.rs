//! What a `robustness` run adds to the tally: stable or flaky, brittle or not, and where the boundary is.

use proofhouse_ledger::Json;
use proofhouse_ledger::config::{self, RobustnessCase};
use proofhouse_ledger::record::{Damage, Line, RobustnessRecord, Status};
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::summary::robustness::Shortfall;

use super::metrics::METRICS;
use super::{Finder, PolicyName, Terms};
use crate::spine::tally::{GateTerms, OwnTally};

/// Opens the tally of the run with this resolved configuration.
pub(super) fn open(config: &Json) -> Box<dyn OwnTally> {
    Box::new(RobustnessTally::new(config))
}

/// The part of a tally that only `robustness` runs have.
struct RobustnessTally {
    finder: Finder,
    terms: Terms,
    shortfalls: Vec<Shortfall>,
}

impl RobustnessTally {
    /// For the run with this resolved configuration.
    fn new(config: &Json) -> Self {
        let part: config::Robustness = config::part(config);
        let base_runs = part.cases.iter().filter_map(|case| Some((case.id.clone(), case.base_runs?)));
        let terms = Terms {
            policy: PolicyName::of(&part.policy).unwrap_or_default(),
            level: part.agreement,
            open: part.looks.is_some(),
            level_runs: part.level_runs,
            base_runs: base_runs.collect(),
        };
        Self { finder: Finder::default(), terms, shortfalls: shortfalls(&part.cases) }
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
        let mut found = self.finder.finish(&self.terms);
        found.shortfalls = self.shortfalls;
        summary.robustness = Some(found);
        GateTerms { metrics: METRICS, ..GateTerms::default() }
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
