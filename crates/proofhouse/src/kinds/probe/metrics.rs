//! What a gate of a `probe` suite can hold to limits beside the pass rate.

use proofhouse_ledger::summary::Summary;

use crate::spine::tally::{FLAKY_CASES, Metric};
use crate::stats::decisions::Measured;

/// They have the names of the summary.
pub(crate) const METRICS: &[Metric] = &[FLAKY_CASES, Metric { name: "scores", of: scores }];

/// The mean score of each judge; a score lies within 0 and 1, and so does that of a trial that was not assessed.
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
