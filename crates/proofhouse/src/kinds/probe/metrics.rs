//! What a gate of a `probe` suite can hold to limits beside the pass rate.

use proofhouse_ledger::summary::calibration::{Agreement, JudgeErrors};
use proofhouse_ledger::summary::{Rate, Summary};

use crate::spine::tally::{COST, FLAKY_CASES, Metric};
use crate::stats::decisions::Measured;

/// They have the names of the summary.
pub(crate) const METRICS: &[Metric] = &[
    FLAKY_CASES,
    COST,
    Metric { name: "scores", of: scores },
    Metric { name: "corrected_pass_rate", of: corrected },
    Metric { name: "sensitivity", of: |summary, _| of_judges(summary, |judge| &judge.sensitivity) },
    Metric { name: "specificity", of: |summary, _| of_judges(summary, |judge| &judge.specificity) },
    Metric { name: "agreement", of: agreement },
];

/// The pass rate without the judges' errors; trials that were not assessed may have gone either way.
fn corrected(summary: &Summary, slot: &str) -> Vec<Measured> {
    let found = summary.calibration.iter().flat_map(|found| &found.corrected).find(|each| each.slot == slot);
    let Some(slot) = summary.slots.iter().find(|each| each.slot == slot) else { return Vec::new() };
    let Rate { denominator: assessed, .. } = slot.pass_rate;
    let open = slot.trials.saturating_sub(assessed);
    let all = slot.trials as f64;
    let bounds = found.and_then(|found| found.value).map(|value| {
        let sum = value * assessed as f64;
        [sum / all, (sum + open as f64) / all]
    });
    vec![Measured { of: None, bounds, open }]
}

/// How often the deciding verdict and each judge take answers for what they are.
fn of_judges(summary: &Summary, rate: fn(&JudgeErrors) -> &Rate) -> Vec<Measured> {
    let judges = summary.calibration.iter().flat_map(|found| &found.judges);
    let of = |judge: &JudgeErrors| {
        let rate = rate(judge);
        let measured = Measured::share(rate.numerator, rate.denominator, judge.unjudged);
        Measured { of: Some(format!("judge {}", judge.judge)), ..measured }
    };
    judges.map(of).collect()
}

fn agreement(summary: &Summary, _: &str) -> Vec<Measured> {
    let of = |found: &Agreement| Measured {
        of: Some(format!("judges {}", found.raters.join(", "))),
        bounds: found.alpha.map(|alpha| [alpha, alpha]),
        open: 0,
    };
    summary.agreement.iter().map(of).collect()
}

/// The mean score of each judge; a score lies from 0 to 1, and so does that of a trial that was not assessed.
fn scores(summary: &Summary, slot: &str) -> Vec<Measured> {
    let Some(slot) = summary.slots.iter().find(|each| each.slot == slot) else { return Vec::new() };
    let of_judge = |(judge, mean): (&String, &proofhouse_ledger::summary::Mean)| {
        let open = slot.trials.saturating_sub(mean.count);
        let all = (mean.count + open) as f64;
        let bounds = mean.value.map(|value| {
            let sum = value * mean.count as f64;
            [sum / all, (sum + open as f64) / all]
        });
        Measured { of: Some(format!("judge {judge}")), bounds, open }
    };
    slot.scores.iter().map(of_judge).collect()
}
