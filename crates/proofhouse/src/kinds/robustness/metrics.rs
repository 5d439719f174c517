//! What a gate of a `robustness` suite can hold to limits beside the pass rate.

use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::summary::robustness::Robustness;

use crate::spine::tally::{FLAKY_CASES, Metric};
use crate::stats::decisions::Measured;

/// They have the names of the summary.
pub(crate) const METRICS: &[Metric] = &[
    FLAKY_CASES,
    Metric { name: "relative_drop", of: drops },
    // A difference of two shares.
    Metric {
        name: "sensitivity",
        of: |summary, slot| of_cases(summary, slot, |case| case.sensitivity, [-1.0, 1.0]),
    },
    // A wording that was not assessed may have been the worst.
    Metric { name: "worst", of: |summary, slot| of_cases(summary, slot, |case| case.worst, [0.0, 1.0]) },
];

/// How much of the success each generator takes away.
fn drops(summary: &Summary, slot: &str) -> Vec<Measured> {
    let generators = of(summary).flat_map(|found| &found.generators).filter(|each| each.slot == slot);
    let open = open(summary, slot);
    let told = |drop: f64| if open > 0 { [f64::NEG_INFINITY, 1.0] } else { [drop, drop] };
    let of = |each: &proofhouse_ledger::summary::robustness::Generator| Measured {
        of: Some(format!("generator {}", each.generator)),
        bounds: each.relative_drop.map(told),
        open,
    };
    generators.map(of).collect()
}

/// Trials that were needed and not assessed: what they would have been is not known of any case.
fn open(summary: &Summary, slot: &str) -> u64 {
    let slot = summary.slots.iter().find(|each| each.slot == slot);
    slot.map_or(0, |slot| slot.pass_rate_all.denominator.saturating_sub(slot.pass_rate.denominator))
}

/// Cases that were not reworded have no such figures.
fn of_cases(
    summary: &Summary,
    slot: &str,
    figure: fn(&proofhouse_ledger::summary::robustness::Case) -> Option<f64>,
    [least, most]: [f64; 2],
) -> Vec<Measured> {
    let cases = of(summary).flat_map(|found| &found.cases).filter(|case| case.slot == slot);
    let open = open(summary, slot);
    let told = |value: f64| match open {
        0 => [value, value],
        // The worst is at most what was seen, and a difference may be any.
        _ if least == 0.0 => [least, value],
        _ => [least, most],
    };
    let of = |case: &proofhouse_ledger::summary::robustness::Case| {
        let measured = |bounds| Measured { of: Some(format!("case {}", case.case_id)), bounds, open };
        match figure(case) {
            Some(value) => Some(measured(Some(told(value)))),
            None => (open > 0).then(|| measured(None)),
        }
    };
    cases.filter_map(of).collect()
}

fn of(summary: &Summary) -> impl Iterator<Item = &Robustness> {
    summary.robustness.iter()
}
