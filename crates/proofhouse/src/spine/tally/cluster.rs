//! Scores of one case as one cluster: repetitions of a case are not independent, so cases are what is counted.

use proofhouse_ledger::summary::Mean;

use super::stats::{ClusterMoments, Confidence, SIGNIFICANT_DIGITS, round_sig};

/// The moments of the closed cases, and the sum of the open one.
#[derive(Debug, Clone, Default)]
pub(super) struct Clusters {
    sum: f64,
    count: u64,
    moments: ClusterMoments,
}

impl Clusters {
    /// Takes a score of the open case.
    pub(super) fn push(&mut self, score: f64) {
        self.sum += score;
        self.count += 1;
    }

    /// Closes the open case; one without scores does not count.
    pub(super) fn close(&mut self) {
        self.moments.push(std::mem::take(&mut self.sum), std::mem::take(&mut self.count));
    }

    /// The closed cases.
    pub(super) fn moments(&self) -> ClusterMoments {
        self.moments
    }

    /// The mean of all scores with its interval.
    pub(super) fn mean(&self) -> Mean {
        let estimate = self.moments.mean_estimate(Confidence::P95);
        let round = |value: f64| round_sig(value, SIGNIFICANT_DIGITS);
        Mean {
            count: self.moments.count(),
            clusters: self.moments.clusters(),
            value: estimate.map(|estimate| round(estimate.mean)),
            standard_error: estimate.and_then(|estimate| estimate.standard_error).map(round),
            low: estimate.map(|estimate| round(estimate.interval.low)),
            high: estimate.map(|estimate| round(estimate.interval.high)),
        }
    }

    /// The same for a rate, whose interval is the clustered Wilson one; none below two cases.
    pub(super) fn rate(&self) -> Option<Mean> {
        let interval = self.moments.rate_interval(Confidence::P95).filter(|_| self.moments.clusters() > 1)?;
        let round = |value: f64| Some(round_sig(value, SIGNIFICANT_DIGITS));
        Some(Mean { low: round(interval.low), high: round(interval.high), ..self.mean() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three of four cases: by Student's value the mean is 0.75 ± 3.182 × 0.25, by Wilson's the rate is between 0.3006 and 0.9544.
    #[test]
    fn the_interval_of_a_rate_is_wilsons_and_not_that_of_a_mean() {
        let mut clusters = Clusters::default();
        for score in [1.0, 1.0, 0.0, 1.0] {
            clusters.push(score);
            clusters.close();
        }
        let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-5;
        let (mean, rate) = (clusters.mean(), clusters.rate().unwrap());
        assert!(near(mean.low, 0.0) && near(mean.high, 1.0), "{mean:?}");
        assert!(near(rate.low, 0.300_642) && near(rate.high, 0.954_413), "{rate:?}");
        assert_eq!((rate.value, rate.count, rate.clusters), (Some(0.75), 4, 4));
    }
}
