//! What a gate of a `robustness` suite can hold to limits beside the pass rate.

use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::summary::robustness::Robustness;

use crate::spine::tally::{FLAKY_CASES, Metric};
use crate::stats::decisions::Measured;

/// They have the names of the summary.
pub(crate) const METRICS: &[Metric] = &[
    FLAKY_CASES,
    Metric { name: "relative_drop", of: drops },
    Metric { name: "sensitivity", of: |summary, slot| of_cases(summary, slot, |case| case.sensitivity) },
    Metric { name: "worst", of: |summary, slot| of_cases(summary, slot, |case| case.worst) },
];

/// How much of the success each generator takes away.
fn drops(summary: &Summary, slot: &str) -> Vec<Measured> {
    let generators = of(summary).flat_map(|found| &found.generators).filter(|each| each.slot == slot);
    generators.map(|each| known(format!("generator {}", each.generator), each.relative_drop)).collect()
}

/// Cases that were not reworded have no such figures.
fn of_cases(
    summary: &Summary,
    slot: &str,
    figure: fn(&proofhouse_ledger::summary::robustness::Case) -> Option<f64>,
) -> Vec<Measured> {
    let cases = of(summary).flat_map(|found| &found.cases).filter(|case| case.slot == slot);
    cases.filter_map(|case| Some(known(format!("case {}", case.case_id), Some(figure(case)?)))).collect()
}

fn of(summary: &Summary) -> impl Iterator<Item = &Robustness> {
    summary.robustness.iter()
}

fn known(of: String, value: Option<f64>) -> Measured {
    Measured { of: Some(of), bounds: value.map(|value| [value, value]), open: 0 }
}
