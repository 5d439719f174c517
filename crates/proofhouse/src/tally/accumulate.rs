//! Collecting the input of the statistics in one pass over the records, in memory that does not grow with them.

use super::stats::{ClusterMoments, Confidence, Interval, MeanEstimate, wilson};

/// A rate that can be checked: what was counted, out of what, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// How many had it.
    pub numerator: u64,
    /// How many could have had it.
    pub denominator: u64,
    /// The rate; none without a denominator.
    pub value: Option<f64>,
    /// Wilson's 95 % interval; none without a denominator.
    pub interval: Option<Interval>,
}

/// Counts a numerator and a denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateAccumulator {
    numerator: u64,
    denominator: u64,
}

impl RateAccumulator {
    /// Counts one that could be assessed.
    pub fn push(&mut self, has_it: bool) {
        self.numerator += u64::from(has_it);
        self.denominator += 1;
    }

    /// Counts one if it could be assessed: what could not is in neither number.
    pub fn push_assessed(&mut self, has_it: Option<bool>) {
        if let Some(has_it) = has_it {
            self.push(has_it);
        }
    }

    /// The rate so far, its trials taken as independent.
    pub fn rate(&self) -> Rate {
        let RateAccumulator { numerator, denominator } = *self;
        Rate {
            numerator,
            denominator,
            value: (denominator > 0).then(|| numerator as f64 / denominator as f64),
            interval: wilson(numerator, denominator, Confidence::P95),
        }
    }
}

/// Collects values of which those of one case belong together.
///
/// The values of a case must come one after the other, as records in plan order do within a slot: a case that comes
/// back later would count as another cluster. Keep one accumulator per slot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClusterAccumulator {
    closed: ClusterMoments,
    case: String,
    sum: f64,
    count: u64,
}

impl ClusterAccumulator {
    /// Adds a value of a case.
    pub fn push(&mut self, case_id: &str, value: f64) {
        if self.case != case_id {
            self.closed = self.moments();
            self.case.clear();
            self.case.push_str(case_id);
            (self.sum, self.count) = (0.0, 0);
        }
        self.sum += value;
        self.count += 1;
    }

    /// What was collected so far, the open case included.
    pub fn moments(&self) -> ClusterMoments {
        let mut moments = self.closed;
        moments.push(self.sum, self.count);
        moments
    }
}

/// What the scores of a judge, or of a slot, add up to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreSummary {
    /// The mean with its clustered error and 95 % interval; none when nothing could be judged.
    pub mean: Option<MeanEstimate>,
    /// The lowest score.
    pub lowest: Option<f64>,
    /// The highest score.
    pub highest: Option<f64>,
    /// How many could not be judged; they are in no mean.
    pub unjudged: u64,
}

/// Collects scores within 0..=1, and counts those that are missing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreAccumulator {
    scores: ClusterAccumulator,
    lowest: Option<f64>,
    highest: Option<f64>,
    unjudged: u64,
}

impl ScoreAccumulator {
    /// Adds a score of a case, or that there is none. Those of a case must come one after the other.
    ///
    /// # Panics
    /// When the score is not within 0..=1.
    pub fn push(&mut self, case_id: &str, score: Option<f64>) {
        let Some(score) = score else {
            self.unjudged += 1;
            return;
        };
        assert!((0.0..=1.0).contains(&score), "a score is within 0..=1");
        self.scores.push(case_id, score);
        self.lowest = Some(self.lowest.map_or(score, |lowest| lowest.min(score)));
        self.highest = Some(self.highest.map_or(score, |highest| highest.max(score)));
    }

    /// What was collected so far.
    pub fn summary(&self) -> ScoreSummary {
        ScoreSummary {
            mean: self.scores.moments().mean_estimate(Confidence::P95),
            lowest: self.lowest,
            highest: self.highest,
            unjudged: self.unjudged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_without_a_denominator_is_nothing() {
        let mut rate = RateAccumulator::default();
        rate.push_assessed(None);
        assert_eq!(rate.rate(), Rate { numerator: 0, denominator: 0, value: None, interval: None });
        [Some(true), None, Some(false), Some(true)].into_iter().for_each(|passed| rate.push_assessed(passed));
        let rate = rate.rate();
        assert_eq!((rate.numerator, rate.denominator, rate.value), (2, 3, Some(2.0 / 3.0)));
        assert!(rate.interval.unwrap().contains(2.0 / 3.0));
    }

    #[test]
    fn values_of_a_case_form_one_cluster() {
        let mut values = ClusterAccumulator::default();
        for (case, value) in [("a", 1.0), ("a", 1.0), ("b", 0.0), ("c", 1.0), ("c", 0.0)] {
            values.push(case, value);
        }
        let mut expected = ClusterMoments::default();
        for (sum, count) in [(2.0, 2), (0.0, 1), (1.0, 2)] {
            expected.push(sum, count);
        }
        assert_eq!(values.moments(), expected);
        assert_eq!(values.moments(), expected, "looking changes nothing");
    }

    #[test]
    fn a_case_with_an_empty_id_is_a_case() {
        let mut values = ClusterAccumulator::default();
        values.push("", 1.0);
        values.push("a", 0.0);
        assert_eq!(values.moments().clusters(), 2);
    }

    #[test]
    fn missing_scores_are_counted_and_not_averaged() {
        let mut scores = ScoreAccumulator::default();
        assert_eq!(scores.summary(), ScoreSummary { mean: None, lowest: None, highest: None, unjudged: 0 });
        for (case, score) in [("a", Some(0.5)), ("a", None), ("b", Some(1.0)), ("c", None)] {
            scores.push(case, score);
        }
        let summary = scores.summary();
        let mean = summary.mean.unwrap();
        assert_eq!((mean.count, mean.clusters, mean.mean), (2, 2, 0.75));
        assert_eq!((summary.lowest, summary.highest, summary.unjudged), (Some(0.5), Some(1.0), 2));
    }
}
