//! Two targets on the same trials, with cases as what is counted.
//!
//! Repetitions of a case stand or fall together, so a hundred of them are no hundred witnesses. The test asks each case
//! once which target did better on it; without repetitions that is McNemar's exact test.

use proofhouse_ledger::summary::Comparison;

use super::heads::round;
use super::stats::{ClusterMoments, Confidence, PairedCounts};

/// The pairs of two slots so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    trials: PairedCounts,
    /// Cases: better in the first only, in the second only, and even.
    cases: PairedCounts,
    /// Passed in the second minus passed in the first, moved from -1..=1 to 0..=1, with cases as clusters.
    differences: ClusterMoments,
    repeated: bool,
}

impl Pairs {
    /// Takes a case: each slot's verdicts by repetition, in the order of repetitions.
    pub(super) fn close_case(&mut self, a: &[(u64, bool)], b: &[(u64, bool)]) {
        let mut table = PairedCounts::default();
        let mut rest = b.iter().peekable();
        for (repetition, passed_a) in a {
            while rest.next_if(|(other, _)| other < repetition).is_some() {}
            let Some((_, passed_b)) = rest.next_if(|(other, _)| other == repetition) else { continue };
            match (passed_a, passed_b) {
                (true, true) => table.both += 1,
                (true, false) => table.only_first += 1,
                (false, true) => table.only_second += 1,
                (false, false) => table.neither += 1,
            }
        }
        let pairs = table.pairs();
        if pairs == 0 {
            return;
        }
        self.repeated |= pairs > 1;
        self.trials.both += table.both;
        self.trials.only_first += table.only_first;
        self.trials.only_second += table.only_second;
        self.trials.neither += table.neither;
        match table.only_first.cmp(&table.only_second) {
            std::cmp::Ordering::Greater => self.cases.only_first += 1,
            std::cmp::Ordering::Less => self.cases.only_second += 1,
            std::cmp::Ordering::Equal => self.cases.both += 1,
        }
        let difference = table.only_second as f64 - table.only_first as f64;
        self.differences.push((difference + pairs as f64) / 2.0, pairs);
    }

    /// The comparison for the summary.
    pub(super) fn compare(&self, a: &str, b: &str) -> Comparison {
        let PairedCounts { both, only_first, only_second, neither } = self.trials;
        let difference = self.trials.difference(Confidence::P95);
        let interval = if self.repeated {
            let estimate = self.differences.mean_estimate(Confidence::P95);
            estimate.map(|estimate| (2.0 * estimate.interval.low - 1.0, 2.0 * estimate.interval.high - 1.0))
        } else {
            difference.map(|difference| (difference.interval.low, difference.interval.high))
        };
        Comparison {
            a: a.to_owned(),
            b: b.to_owned(),
            pairs: self.trials.pairs(),
            both_passed: both,
            only_a: only_first,
            only_b: only_second,
            neither,
            cases: self.cases.pairs(),
            cases_a: self.cases.only_first,
            cases_b: self.cases.only_second,
            difference: difference.map(|difference| round(difference.value)),
            low: interval.map(|(low, _)| round(low)),
            high: interval.map(|(_, high)| round(high)),
            p_value: self.cases.mcnemar().map(|test| round(test.p_value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(passed: &[bool]) -> Vec<(u64, bool)> {
        passed.iter().enumerate().map(|(repetition, passed)| (repetition as u64, *passed)).collect()
    }

    #[test]
    fn repetitions_of_one_case_prove_nothing() {
        let mut pairs = Pairs::default();
        pairs.close_case(&verdicts(&[true; 10]), &verdicts(&[false; 10]));
        let comparison = pairs.compare("a", "b");
        assert_eq!((comparison.only_a, comparison.cases, comparison.cases_a), (10, 1, 1));
        assert_eq!(comparison.p_value, Some(1.0));
        assert!(comparison.high.unwrap() > -0.9, "one case has a wide interval: {comparison:?}");
    }

    #[test]
    fn without_repetitions_it_is_mcnemar() {
        let mut pairs = Pairs::default();
        for _ in 0..5 {
            pairs.close_case(&verdicts(&[false]), &verdicts(&[true]));
        }
        pairs.close_case(&verdicts(&[true]), &verdicts(&[true]));
        let comparison = pairs.compare("a", "b");
        assert_eq!((comparison.p_value, comparison.cases_b), (Some(0.0625), 5));
        let newcombe = pairs.trials.difference(Confidence::P95).unwrap();
        assert_eq!(comparison.low, Some(round(newcombe.interval.low)));
    }

    #[test]
    fn missing_repetitions_are_no_pairs() {
        let mut pairs = Pairs::default();
        pairs.close_case(&[(0, true), (2, true)], &[(1, false), (2, false)]);
        assert_eq!(pairs.compare("a", "b").pairs, 1);
        assert_eq!(Pairs::default().compare("a", "b").p_value, None);
    }
}
