//! Runs of one group added up: `aggregate.json` of the `tree` export.

use std::collections::BTreeMap;

use proofhouse_ledger::record::{FailureStage, Mode, Observed};
use proofhouse_ledger::summary::robustness::Aggregate;

use crate::stats::{SIGNIFICANT_DIGITS, round_sig};

/// One assessed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// What was seen.
    pub observed: Observed,
    /// Wall time, where it is known.
    pub duration_ms: Option<u64>,
    /// Whether debug artefacts were there.
    pub debug: bool,
}

/// Adds up runs of one case and variant.
pub fn aggregate(suite: Mode, case_id: &str, variant: Option<&str>, runs: &[Run]) -> Aggregate {
    let total_runs = runs.len() as u64;
    let successes = runs.iter().filter(|run| run.observed.success).count() as u64;
    let share = |count: u64| {
        (total_runs > 0).then(|| round_sig(count as f64 / total_runs as f64, SIGNIFICANT_DIGITS))
    };
    let mut attempts_distribution: BTreeMap<String, u64> = BTreeMap::new();
    for run in runs {
        let key = run.observed.attempts.map_or("unknown".to_owned(), |attempts| attempts.to_string());
        *attempts_distribution.entry(key).or_default() += 1;
    }
    let mut durations: Vec<u64> = runs.iter().filter_map(|run| run.duration_ms).collect();
    durations.sort_unstable();
    Aggregate {
        suite,
        case_id: case_id.to_owned(),
        variant: variant.map(str::to_owned),
        total_runs,
        successes,
        failures: total_runs - successes,
        success_rate: share(successes),
        failure_breakdown: breakdown(runs.iter().map(|run| &run.observed)),
        attempts_distribution,
        avg_duration_ms: mean(&durations),
        p95_duration_ms: nearest_rank(&durations, 95),
        debug_coverage: share(runs.iter().filter(|run| run.debug).count() as u64),
    }
}

/// Failures by stage; every stage is listed.
pub(super) fn breakdown<'a>(outcomes: impl Iterator<Item = &'a Observed>) -> BTreeMap<String, u64> {
    let mut stages: BTreeMap<String, u64> =
        FailureStage::ALL.iter().map(|stage| (stage.as_str().to_owned(), 0)).collect();
    for outcome in outcomes.filter(|outcome| !outcome.success) {
        let stage = outcome.failure_stage.unwrap_or(FailureStage::Unknown);
        *stages.entry(stage.as_str().to_owned()).or_default() += 1;
    }
    stages
}

/// Rounded to the nearest whole number.
fn mean(values: &[u64]) -> Option<u64> {
    let count = values.len() as u64;
    (count > 0).then(|| (values.iter().sum::<u64>() + count / 2) / count)
}

/// The smallest value that at least this many of a hundred are not above.
fn nearest_rank(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::characteristics::outcome;
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(nearest_rank(&hundred, 95), Some(95));
        assert_eq!(nearest_rank(&[7], 95), Some(7));
        assert_eq!(
            nearest_rank(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20], 95),
            Some(19)
        );
        assert_eq!(nearest_rank(&[], 95), None);
        assert_eq!((mean(&[1, 2]), mean(&[1, 1, 2]), mean(&[])), (Some(2), Some(1), None));
    }

    #[test]
    fn nothing_adds_up_to_null() {
        let empty = aggregate(Mode::Baseline, "c", None, &[]);
        assert_eq!((empty.success_rate, empty.avg_duration_ms, empty.debug_coverage), (None, None, None));
        assert_eq!(empty.failure_breakdown.len(), 4);
    }

    proptest! {
        #[test]
        fn totals_add_up(seen in prop::collection::vec((any::<bool>(), prop::option::of(0u32..4), 0u64..9000), 0..50)) {
            let runs: Vec<Run> = seen
                .iter()
                .map(|(success, attempts, duration)| Run {
                    observed: Observed { attempts: *attempts, ..outcome(*success) },
                    duration_ms: Some(*duration),
                    debug: *success,
                })
                .collect();
            let sum = aggregate(Mode::Stress, "c", Some("level_1"), &runs);
            prop_assert_eq!(sum.successes + sum.failures, sum.total_runs);
            prop_assert_eq!(sum.failure_breakdown.values().sum::<u64>(), sum.failures);
            prop_assert_eq!(sum.attempts_distribution.values().sum::<u64>(), sum.total_runs);
            prop_assert_eq!(sum.avg_duration_ms.is_some(), !runs.is_empty());
            if let (Some(mean), Some(p95)) = (sum.avg_duration_ms, sum.p95_duration_ms) {
                let most = seen.iter().map(|run| run.2).max().unwrap_or(0);
                prop_assert!(mean <= most && p95 <= most);
            }
        }
    }
}
