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

    /// A tool may do what is asked and say nothing.
    fn answers_in_words(&self) -> bool {
        false
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

#[cfg(test)]
mod tests {
    use proofhouse_ledger::json::{Strictness, parse};
    use proofhouse_ledger::record::Spans;

    use super::*;
    use crate::spine::tally::Tally;

    const RECORDS: &str = include_str!("../../../tests/golden/v1/robustness/run/records.jsonl");

    /// The golden run: 106 trials planned, of which the policy spared 34; 59 of the others passed.
    #[test]
    fn trials_that_were_spared_are_no_part_of_a_rate_and_what_was_missing_is_told() {
        let config = br#"{"policy":"evidence","agreement":0.8,"level_runs":15,"cases":[
            {"id":"plain","base_runs":22,"generators":[
                {"generator":{"typo":{}},"count":3,"produced":1,"shortfall":"the text is short"},
                {"generator":{"whitespace_noise":{}},"count":2,"produced":2}]},
            {"id":"moody","base_runs":22},{"id":"ladder","base_runs":22}]}"#;
        let config = parse(config, Strictness::Strict).unwrap();
        let mut tally = Tally::new(&config, |_, config| open(config));
        let mut spans = Spans::default();
        for line in RECORDS.lines() {
            tally.push(&Line::split(line.as_bytes(), &mut spans).unwrap()).unwrap();
        }
        let summary = tally.finish().unwrap();
        let [slot] = &summary.slots[..] else { panic!("one target") };
        for rate in [&slot.pass_rate, &slot.pass_rate_all] {
            assert_eq!((slot.trials, rate.numerator, rate.denominator), (106, 59, 72));
        }
        assert!(summary.wordings.is_empty(), "told beside the verdicts");
        let found = summary.robustness.expect("the kind's own part");
        let cases: Vec<_> = found.cases.iter().map(|case| case.case_id.as_str()).collect();
        assert_eq!(cases, ["plain", "ladder"], "those that have other wordings");
        let [short] = &found.shortfalls[..] else { panic!("one generator gave fewer") };
        assert_eq!((short.case_id.as_str(), short.generator.as_str()), ("plain", "typo"));
        assert_eq!((short.requested, short.produced, short.reason.as_str()), (3, 1, "the text is short"));
    }

    #[test]
    fn a_gate_can_ask_for_what_robustness_measures() {
        use proofhouse_ledger::RunId;
        use proofhouse_ledger::record::Kind;

        let mut summary = Summary::empty(Kind::Robustness, RunId::of_identity(b"run"), "suite");
        let terms = open(&Json::Null).finish(&mut summary);
        assert_eq!(terms.metrics.len(), METRICS.len());
    }
}
