//! What a `robustness` run adds to the tally: stable or flaky, brittle or not, and where the boundary is.

use proofhouse_ledger::Json;
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
        Self {
            finder: Finder::default(),
            policy: config.get("policy").and_then(Json::as_str).unwrap_or_default().to_owned(),
            agreement: config.get("agreement").and_then(Json::as_f64).unwrap_or_default(),
            shortfalls: shortfalls(config),
        }
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
fn shortfalls(config: &Json) -> Vec<Shortfall> {
    let list = |value: Option<&Json>| match value {
        Some(Json::Array(list)) => list.clone(),
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for case in list(config.get("cases")) {
        let case_id = case.get("id").and_then(Json::as_str).unwrap_or_default().to_owned();
        for asked in list(case.get("generators")) {
            let Some(reason) = asked.get("shortfall").and_then(Json::as_str) else { continue };
            let number = |key: &str| asked.get(key).and_then(Json::as_f64).unwrap_or_default() as u32;
            let generator = asked.get("generator").and_then(Json::as_object);
            let name = generator.and_then(|generator| Some(generator.iter().next()?.0.to_owned()));
            found.push(Shortfall {
                case_id: case_id.clone(),
                generator: name.unwrap_or_default(),
                requested: number("count"),
                produced: number("produced"),
                reason: reason.to_owned(),
            });
        }
    }
    found
}
