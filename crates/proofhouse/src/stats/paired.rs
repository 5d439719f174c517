//! Two runs of the same trials: is the difference more than noise, and how large is it?

use super::binomial::{lower_tail, pmf};
use super::interval::{Interval, wilson};
use super::quantile::Confidence;

/// How the trials of two runs fell out, pair by pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairedCounts {
    /// Passed in both runs.
    pub both: u64,
    /// Passed in the first run only.
    pub only_first: u64,
    /// Passed in the second run only.
    pub only_second: u64,
    /// Passed in neither.
    pub neither: u64,
}

/// The exact test of McNemar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemar {
    /// The two-sided exact conditional p-value; 1 when no pair differs.
    pub p_value: f64,
    /// The mid-p-value, which is less conservative and not guaranteed to keep its level.
    pub mid_p: f64,
}

/// The rate of the second run minus that of the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The difference, from −1 to 1: above zero when the second run is better.
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
}

impl PairedCounts {
    /// How many pairs there are.
    pub fn pairs(&self) -> u64 {
        self.both + self.only_first + self.only_second + self.neither
    }

    /// The share of pairs that differ; none without pairs.
    pub fn discordance(&self) -> Option<f64> {
        let pairs = self.pairs();
        (pairs > 0).then(|| (self.only_first + self.only_second) as f64 / pairs as f64)
    }

    /// McNemar's exact test that both runs have the same rate; none without pairs.
    ///
    /// The mid-p-value is that of Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91.
    pub fn mcnemar(&self) -> Option<McNemar> {
        if self.pairs() == 0 {
            return None;
        }
        let differing = self.only_first + self.only_second;
        let fewer = self.only_first.min(self.only_second);
        let at = pmf(fewer, differing, 0.5);
        if self.only_first == self.only_second {
            let mid_p = if differing == 0 { 1.0 } else { 1.0 - at / 2.0 };
            return Some(McNemar { p_value: 1.0, mid_p });
        }
        let p_value = (2.0 * lower_tail(fewer, differing, 0.5)).min(1.0);
        Some(McNemar { p_value, mid_p: p_value - at })
    }

    /// The difference of the two rates with its interval; none without pairs.
    ///
    /// The interval is method 10 of Newcombe (1998), Statistics in Medicine 17, 2635–2650: Wilson intervals of both
    /// rates, squared and added, with a correlation that is corrected for continuity. Unlike Tango's score interval,
    /// which is as good, it needs no iteration; it has a width also when no pair differs.
    pub fn difference(&self, confidence: Confidence) -> Option<Difference> {
        let pairs = self.pairs();
        let (first, second) = (self.both + self.only_first, self.both + self.only_second);
        let old = wilson(first, pairs, confidence)?;
        let new = wilson(second, pairs, confidence)?;
        let (p_old, p_new) = (first as f64 / pairs as f64, second as f64 / pairs as f64);
        let value = (self.only_second as f64 - self.only_first as f64) / pairs as f64;
        let phi = self.correlation();
        let reach = |a: f64, b: f64| (a * a - 2.0 * phi * a * b + b * b).max(0.0).sqrt();
        let low = value - reach(p_new - new.low, old.high - p_old);
        let high = value + reach(new.high - p_new, p_old - old.low);
        Some(Difference { value, interval: Interval { low: low.max(-1.0), high: high.min(1.0) } })
    }

    /// Newcombe's estimate of the correlation between the runs: a positive one is shrunk by half a count.
    fn correlation(&self) -> f64 {
        let [both, first, second, neither] =
            [self.both, self.only_first, self.only_second, self.neither].map(|count| count as f64);
        let margins = (both + first) * (second + neither) * (both + second) * (first + neither);
        if margins == 0.0 {
            return 0.0;
        }
        let agreement = both * neither - first * second;
        let half = (both + first + second + neither) / 2.0;
        let corrected = if agreement > 0.0 { (agreement - half).max(0.0) } else { agreement };
        corrected / margins.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(both: u64, only_first: u64, only_second: u64, neither: u64) -> PairedCounts {
        PairedCounts { both, only_first, only_second, neither }
    }

    fn test(only_first: u64, only_second: u64) -> McNemar {
        counts(10, only_first, only_second, 10).mcnemar().unwrap()
    }

    #[test]
    fn exact_tests_of_small_counts() {
        assert_eq!(test(0, 5).p_value, 0.0625);
        assert!((test(1, 8).p_value - 0.0390625).abs() < 1e-15);
        assert_eq!(test(0, 0), McNemar { p_value: 1.0, mid_p: 1.0 });
        assert_eq!(test(4, 4).p_value, 1.0);
        assert!((test(4, 4).mid_p - (1.0 - 70.0 / 256.0 / 2.0)).abs() < 1e-14);
        assert_eq!(counts(0, 0, 0, 0).mcnemar(), None);
    }

    /// Bentur et al. (2009), airway hyper-responsiveness, as analysed by Fagerland, Lydersen and Laake (2013).
    #[test]
    fn the_tests_of_fagerland() {
        let bentur = counts(1, 1, 7, 12).mcnemar().unwrap();
        assert!((bentur.p_value - 0.0703).abs() < 5e-5, "{bentur:?}");
        assert!((bentur.mid_p - 0.0391).abs() < 5e-5, "{bentur:?}");
    }

    /// Cavo et al. (2012), complete response, in Fagerland, Lydersen and Laake, "Statistical Analysis of Contingency
    /// Tables" (2017), chapter 8: −0.0621 (−0.1186 to −0.0046). They subtract the other way round.
    #[test]
    fn the_interval_of_newcombe() {
        let Difference { value, interval } = counts(59, 6, 16, 80).difference(Confidence::P95).unwrap();
        assert!((value - 0.0621).abs() < 5e-5, "{value}");
        assert!((interval.low - 0.0046).abs() < 5e-5, "{interval:?}");
        assert!((interval.high - 0.1186).abs() < 5e-5, "{interval:?}");
    }

    #[test]
    fn a_difference_of_nothing_still_has_a_width() {
        for same in [counts(10, 0, 0, 0), counts(0, 0, 0, 10), counts(5, 0, 0, 5)] {
            let Difference { value, interval } = same.difference(Confidence::P95).unwrap();
            assert_eq!(value, 0.0);
            assert!(interval.low < -0.01 && interval.high > 0.01, "{interval:?}");
        }
        assert_eq!(counts(0, 0, 0, 0).difference(Confidence::P95), None);
        assert_eq!(counts(0, 0, 0, 0).discordance(), None);
        assert_eq!(counts(0, 1, 1, 2).discordance(), Some(0.5));
    }

    proptest! {
        #[test]
        fn relabelling_turns_the_sign(a in 0u64..60, b in 0u64..60, c in 0u64..60, d in 0u64..60) {
            prop_assume!(a + b + c + d > 0);
            let one = counts(a, b, c, d).difference(Confidence::P95).unwrap();
            prop_assert!(one.interval.contains(one.value));
            prop_assert!(one.interval.low >= -1.0 && one.interval.high <= 1.0);
            for swapped in [counts(a, c, b, d), counts(d, b, c, a)] {
                let other = swapped.difference(Confidence::P95).unwrap();
                prop_assert!((one.value + other.value).abs() < 1e-12 || swapped == counts(d, b, c, a));
                let runs_swapped = swapped == counts(a, c, b, d);
                if runs_swapped {
                    prop_assert!((one.interval.low + other.interval.high).abs() < 1e-12);
                    prop_assert!((one.interval.high + other.interval.low).abs() < 1e-12);
                }
                let (p, q) = (counts(a, b, c, d).mcnemar().unwrap(), swapped.mcnemar().unwrap());
                prop_assert!((p.p_value - q.p_value).abs() < 1e-12 && (p.mid_p - q.mid_p).abs() < 1e-12);
                prop_assert!(p.mid_p <= p.p_value && p.mid_p > 0.0 && p.p_value <= 1.0);
            }
        }

        #[test]
        fn more_one_sided_is_more_significant(fewer in 0u64..50, more in 50u64..200) {
            prop_assert!(test(fewer, more + 1).p_value <= test(fewer, more).p_value + 1e-15);
        }
    }
}
