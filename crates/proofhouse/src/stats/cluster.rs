//! Scores that are not independent: repetitions and variants of one case stand or fall together.

use super::interval::{Interval, score_interval};
use super::quantile::Confidence;

/// The sums of scores by cluster that a mean and its error need: a few numbers, whatever the count.
///
/// Scores are taken relative to the first cluster's mean, so that scores which hardly differ keep their digits.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClusterMoments {
    clusters: u64,
    count: u64,
    largest: u64,
    origin: f64,
    shifted: f64,
    squares: f64,
    products: f64,
    sizes: f64,
}

/// A mean of scores within 0..=1 with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanEstimate {
    /// How many scores there are.
    pub count: u64,
    /// How many clusters they form.
    pub clusters: u64,
    /// Their mean.
    pub mean: f64,
    /// Its cluster-robust standard error; none for a single cluster.
    pub standard_error: Option<f64>,
    /// Its interval, within 0..=1.
    pub interval: Interval,
}

impl ClusterMoments {
    /// Adds a cluster: the sum of its scores and how many there are. A cluster without scores is left out.
    pub fn push(&mut self, sum: f64, count: u64) {
        if count == 0 {
            return;
        }
        let size = count as f64;
        if self.clusters == 0 {
            self.origin = sum / size;
        }
        let shifted = sum - self.origin * size;
        self.clusters += 1;
        self.count += count;
        self.largest = self.largest.max(count);
        self.shifted += shifted;
        self.squares += shifted * shifted;
        self.products += shifted * size;
        self.sizes += size * size;
    }

    /// How many clusters there are.
    pub fn clusters(&self) -> u64 {
        self.clusters
    }

    /// Whether a cluster has more than one score.
    pub(super) fn is_repeated(&self) -> bool {
        self.largest > 1
    }

    /// How many scores there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean of all scores; none without scores.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.origin + self.shifted / self.count as f64)
    }

    /// The standard error of the mean; none with fewer than two clusters.
    ///
    /// The cluster-robust variance of Liang and Zeger (1986) with the factor G/(G−1) of Cameron and Miller (2015); for
    /// evaluations see Miller (2024), "Adding error bars to evals". With clusters of one it is s/√n.
    pub fn standard_error(&self) -> Option<f64> {
        if self.clusters < 2 {
            return None;
        }
        let (count, clusters) = (self.count as f64, self.clusters as f64);
        let mean = self.shifted / count;
        let residuals = self.squares - 2.0 * mean * self.products + mean * mean * self.sizes;
        // What rounding leaves of residuals that are all zero is not an error of the mean: each cluster's sum is off by
        // a few units in its last place, and so is each of the three terms.
        let sums = (4.0 * f64::EPSILON * self.origin).powi(2) * self.sizes;
        let noise = sums + 8.0 * f64::EPSILON * (self.squares + mean * mean * self.sizes);
        let residuals = if residuals <= noise { 0.0 } else { residuals };
        Some((residuals * clusters / (clusters - 1.0)).sqrt() / count)
    }

    /// The mean with Student's interval on the number of clusters less one; none without scores.
    ///
    /// Scores that are all the same, or of one cluster, have no observed variance. As a score within 0..=1 varies at
    /// most as much as a rate does, the interval is then Wilson's with one trial per cluster: wide rather than empty.
    pub fn mean_estimate(&self, confidence: Confidence) -> Option<MeanEstimate> {
        let mean = self.mean()?.clamp(0.0, 1.0);
        let standard_error = self.standard_error();
        let interval = match standard_error {
            Some(error) if error > 0.0 => {
                let reach = confidence.t(self.clusters - 1) * error;
                Interval { low: (mean - reach).max(0.0), high: (mean + reach).min(1.0) }
            }
            _ => score_interval(mean, self.clusters as f64, confidence.z()),
        };
        Some(MeanEstimate { count: self.count, clusters: self.clusters, mean, standard_error, interval })
    }

    /// The interval of a rate (scores 0 and 1) whose trials are clustered; none without trials.
    ///
    /// Wilson's interval at the effective sample size, the trials over the design effect, corrected for the number of
    /// clusters: Korn and Graubard (1998), and Dean and Pagano (2015) for its use with Wilson's interval. Without
    /// clustering it is Wilson's interval; at a rate of 0 or 1, where no design effect can be seen, each cluster counts
    /// as one trial. Nor does it ever exclude more than clusters that all agree would: a share of clusters which behave
    /// otherwise may be absent from these by chance, and one failed repetition says nothing of them. Without this, five
    /// cases of twenty trials would be more certain with one failure than with none.
    pub fn rate_interval(&self, confidence: Confidence) -> Option<Interval> {
        let rate = self.mean()?.clamp(0.0, 1.0);
        let seen = score_interval(rate, self.effective_size(rate, confidence), confidence.z());
        if self.largest == 1 {
            return Some(seen);
        }
        let unseen = unseen_share(self.clusters as f64, confidence);
        Some(Interval { low: seen.low.min(1.0 - unseen), high: seen.high.max(unseen) })
    }

    /// How many independent trials these are worth.
    pub(super) fn effective_trials(&self, confidence: Confidence) -> f64 {
        self.mean().map_or(0.0, |rate| self.effective_size(rate.clamp(0.0, 1.0), confidence))
    }

    fn effective_size(&self, rate: f64, confidence: Confidence) -> f64 {
        if self.largest == 1 {
            return self.count as f64;
        }
        match self.standard_error() {
            None => 1.0,
            Some(_) if rate == 0.0 || rate == 1.0 => self.clusters as f64,
            Some(error) => {
                let correction = confidence.z() / confidence.t(self.clusters - 1);
                (rate * (1.0 - rate) / (error * error) * correction * correction).min(self.count as f64)
            }
        }
    }
}

/// How large the share of cases that behave otherwise can be although none of so many cases does: what Wilson's interval leaves
/// at a rate of 0.
pub(super) fn unseen_share(cases: f64, confidence: Confidence) -> f64 {
    let z2 = confidence.z().powi(2);
    z2 / (cases + z2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::interval::wilson;
    use super::*;

    const P95: Confidence = Confidence::P95;

    fn moments(clusters: &[&[f64]]) -> ClusterMoments {
        let mut moments = ClusterMoments::default();
        for cluster in clusters {
            moments.push(cluster.iter().sum(), cluster.len() as u64);
        }
        moments
    }

    /// The definition: the root of G/(G−1) Σ (Σ residuals)² over the count.
    fn naive_error(clusters: &[&[f64]]) -> f64 {
        let all: Vec<f64> = clusters.iter().flat_map(|cluster| cluster.iter().copied()).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let squares: f64 =
            clusters.iter().map(|cluster| cluster.iter().map(|x| x - mean).sum::<f64>().powi(2)).sum();
        let g = clusters.len() as f64;
        (squares * g / (g - 1.0)).sqrt() / all.len() as f64
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    /// Four scores of a mean of 0.5 and a standard error of 0.1290994449; t(3) is 3.1824463053.
    #[test]
    fn a_mean_of_scores_that_vary_has_students_interval() {
        let found = moments(&[&[0.2], &[0.4], &[0.6], &[0.8]]).mean_estimate(P95).unwrap();
        let reach = 3.182_446_305_284 * 0.129_099_444_873_58;
        assert!((found.interval.low - (0.5 - reach)).abs() < 1e-9, "{found:?}");
        assert!((found.interval.high - (0.5 + reach)).abs() < 1e-9, "{found:?}");
        let alike = moments(&[&[0.5], &[0.5], &[0.5], &[0.5]]).mean_estimate(P95).unwrap();
        assert_eq!(alike.interval, score_interval(0.5, 4.0, P95.z()), "wide rather than empty");
    }

    /// Student's (1908) own data, the extra sleep with drug 1: mean 0.75, standard error 0.5657, as R's `sleep` gives.
    #[test]
    fn clusters_of_one_are_the_classic_error() {
        let sleep = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let mut moments = ClusterMoments::default();
        sleep.iter().for_each(|hours| moments.push(*hours, 1));
        near(moments.mean().unwrap(), 0.75);
        assert!((moments.standard_error().unwrap() - 0.5657).abs() < 5e-5);
    }

    /// Five cases of twenty trials: the more fail, the lower the lower limit, wherever they fail.
    #[test]
    fn a_failure_never_raises_a_lower_limit() {
        let low = |failed: &[u64]| {
            let mut moments = ClusterMoments::default();
            failed.iter().for_each(|failed| moments.push((20 - failed) as f64, 20));
            moments.rate_interval(P95).unwrap().low
        };
        let lows = [[0; 5], [1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1; 5], [2; 5], [20, 1, 1, 1, 1]]
            .map(|failed| low(&failed));
        assert!(lows.is_sorted_by(|a, b| a + 1e-12 >= *b), "{lows:?}");
        near(lows[1], wilson(5, 5, P95).unwrap().low);
    }

    #[test]
    fn repetitions_that_agree_add_no_certainty() {
        let once: Vec<&[f64]> = vec![&[1.0], &[0.0], &[1.0], &[1.0]];
        let thrice: Vec<&[f64]> = vec![&[1.0; 3], &[0.0; 3], &[1.0; 3], &[1.0; 3]];
        near(moments(&once).standard_error().unwrap(), moments(&thrice).standard_error().unwrap());
        near(moments(&thrice).standard_error().unwrap(), naive_error(&thrice));
        // 0.75 · 0.25 / 0.25² are 3 trials; z is 1.959964 and t(3) is 3.182446.
        let worth = moments(&thrice).effective_trials(P95);
        assert!((worth - 3.0 * (1.959_963_984_540_f64 / 3.182_446_305_284).powi(2)).abs() < 1e-9, "{worth}");
        let interval = moments(&thrice).rate_interval(P95).unwrap();
        let naive = wilson(9, 12, P95).unwrap();
        assert!(interval.low < naive.low && interval.high > naive.high, "{interval:?} {naive:?}");
    }

    #[test]
    fn a_rate_without_clustering_has_wilsons_interval() {
        for (successes, trials) in [(0, 10), (3, 10), (10, 10)] {
            let mut moments = ClusterMoments::default();
            (0..trials).for_each(|at| moments.push(if at < successes { 1.0 } else { 0.0 }, 1));
            let (ours, theirs) =
                (moments.rate_interval(P95).unwrap(), wilson(successes, trials, P95).unwrap());
            near(ours.low, theirs.low);
            near(ours.high, theirs.high);
        }
    }

    #[test]
    fn the_ends_and_a_single_cluster_have_a_width() {
        let all_right = moments(&[&[1.0; 5], &[1.0; 5]]);
        let two = wilson(2, 2, P95).unwrap();
        near(all_right.rate_interval(P95).unwrap().low, two.low);
        near(all_right.mean_estimate(P95).unwrap().interval.low, two.low);
        assert_eq!(all_right.standard_error(), Some(0.0));
        let all_wrong = moments(&[&[0.0; 5], &[0.0; 5]]);
        assert_eq!((all_right.effective_trials(P95), all_wrong.effective_trials(P95)), (2.0, 2.0));
        assert_eq!((all_right.clusters(), all_right.count()), (2, 10));
        let alone = moments(&[&[1.0, 0.0, 1.0]]);
        assert_eq!(alone.standard_error(), None);
        for interval in [alone.rate_interval(P95).unwrap(), alone.mean_estimate(P95).unwrap().interval] {
            assert!(interval.high - interval.low > 0.8, "{interval:?}");
        }
        let nothing = moments(&[&[]]);
        assert_eq!(nothing.mean(), None);
        assert_eq!(nothing.mean_estimate(P95), None);
        assert_eq!(nothing.rate_interval(P95), None);
    }

    #[test]
    fn equal_scores_have_no_error_however_many() {
        let mut moments = ClusterMoments::default();
        (0..100_000).for_each(|_| moments.push(0.1 + 0.1 + 0.1, 3));
        assert_eq!(moments.standard_error(), Some(0.0));
        // 0.1 three times and 0.1 seven times are not the same sum per score.
        let uneven = moments_of_equal(0.1, &[3, 7, 2, 6, 1]);
        assert_eq!(uneven.standard_error(), Some(0.0));
        let interval = uneven.mean_estimate(P95).unwrap().interval;
        assert!(interval.high - interval.low > 0.2, "{interval:?}");
    }

    fn moments_of_equal(score: f64, sizes: &[u64]) -> ClusterMoments {
        let mut moments = ClusterMoments::default();
        sizes.iter().for_each(|size| moments.push((0..*size).map(|_| score).sum(), *size));
        moments
    }

    proptest! {
        #[test]
        fn streaming_agrees_with_the_definition(
            clusters in prop::collection::vec(prop::collection::vec(0.0f64..=1.0, 1..6), 2..40),
        ) {
            let clusters: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let moments = moments(&clusters);
            let error = moments.standard_error().unwrap();
            prop_assert!((error - naive_error(&clusters)).abs() < 1e-9);
            let estimate = moments.mean_estimate(P95).unwrap();
            prop_assert!(estimate.interval.contains(estimate.mean));
            prop_assert!(estimate.interval.low >= 0.0 && estimate.interval.high <= 1.0);
        }

        #[test]
        fn equal_scores_never_have_an_interval_without_width(
            score in 0.0f64..=1.0,
            sizes in prop::collection::vec(1u64..20, 1..50),
        ) {
            let moments = moments_of_equal(score, &sizes);
            let estimate = moments.mean_estimate(P95).unwrap();
            prop_assert!(estimate.standard_error.is_none_or(|error| error == 0.0), "{:?}", estimate);
            prop_assert!(estimate.interval.high - estimate.interval.low > 0.01, "{:?}", estimate);
        }

        #[test]
        fn rate_intervals_contain_the_rate_and_mirror(
            clusters in prop::collection::vec(prop::collection::vec(prop::bool::ANY, 1..6), 1..40),
        ) {
            let of = |wanted: bool| {
                let mut moments = ClusterMoments::default();
                for cluster in &clusters {
                    moments.push(cluster.iter().filter(|x| **x == wanted).count() as f64, cluster.len() as u64);
                }
                moments
            };
            let (passes, failures) = (of(true), of(false));
            let interval = passes.rate_interval(P95).unwrap();
            prop_assert!(interval.low < interval.high && interval.low >= 0.0 && interval.high <= 1.0);
            prop_assert!(interval.low <= passes.mean().unwrap() + 1e-12);
            prop_assert!(interval.high >= passes.mean().unwrap() - 1e-12);
            let mirrored = failures.rate_interval(P95).unwrap().mirrored();
            prop_assert!((mirrored.low - interval.low).abs() < 1e-9, "{:?} {:?}", mirrored, interval);
            prop_assert!((mirrored.high - interval.high).abs() < 1e-9, "{:?} {:?}", mirrored, interval);
        }
    }
}
