//! Intervals of a rate: Wilson's score interval, which every summary shows, and the exact one.

use super::binomial::{lower_tail, upper_tail};
use super::quantile::Confidence;

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the interval contains `x`.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// The interval of the opposite outcome: failures instead of successes.
    pub fn mirrored(self) -> Interval {
        Interval { low: 1.0 - self.high, high: 1.0 - self.low }
    }
}

/// Wilson's score interval of a rate; none without trials. It has a width also at 0 and 1.
///
/// Wilson (1927); recommended for any number of trials by Newcombe (1998) and Brown, Cai and DasGupta (2001).
///
/// # Panics
/// When there are more successes than trials.
pub fn wilson(successes: u64, trials: u64, confidence: Confidence) -> Option<Interval> {
    assert!(successes <= trials, "no more successes than trials");
    if trials == 0 {
        return None;
    }
    if 2 * u128::from(successes) > u128::from(trials) {
        // Computed from the nearer end, so that both ends of the scale have the same digits.
        return wilson(trials - successes, trials, confidence).map(Interval::mirrored);
    }
    Some(score_interval(successes as f64 / trials as f64, trials as f64, confidence.z()))
}

/// Wilson's interval around any rate in a sample of any effective size.
pub(super) fn score_interval(rate: f64, size: f64, z: f64) -> Interval {
    let z2 = z * z;
    let centre = rate + z2 / (2.0 * size);
    let spread = z * ((rate * (1.0 - rate) + z2 / (4.0 * size)) / size).sqrt();
    let scale = 1.0 + z2 / size;
    // At both ends of the scale one bound is the end itself, whatever rounding says.
    let low = if rate == 0.0 { 0.0 } else { ((centre - spread) / scale).clamp(0.0, rate) };
    let high = if rate == 1.0 { 1.0 } else { ((centre + spread) / scale).clamp(rate, 1.0) };
    Interval { low, high }
}

/// The exact interval of Clopper and Pearson (1934); none without trials. It never covers less than it says and often
/// more.
///
/// # Panics
/// When there are more successes than trials.
pub fn clopper_pearson(successes: u64, trials: u64, confidence: Confidence) -> Option<Interval> {
    assert!(successes <= trials, "no more successes than trials");
    if trials == 0 {
        return None;
    }
    let rate = successes as f64 / trials as f64;
    let tail = confidence.tail();
    let low =
        if successes == 0 { 0.0 } else { boundary(0.0, rate, |p| upper_tail(successes, trials, p) < tail) };
    let high = if successes == trials {
        1.0
    } else {
        boundary(rate, 1.0, |p| lower_tail(successes, trials, p) >= tail)
    };
    Some(Interval { low, high })
}

/// Where a property that holds from `low` up to some point ceases to hold, found by halving to the last bit.
pub(super) fn boundary(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const P95: Confidence = Confidence::P95;

    fn near(interval: Option<Interval>, low: f64, high: f64, within: f64) {
        let Interval { low: l, high: h } = interval.unwrap();
        assert!((l - low).abs() <= within && (h - high).abs() <= within, "[{l}, {h}] is not [{low}, {high}]");
    }

    /// One of a milliard, by arithmetic with 50 digits.
    #[test]
    fn an_end_near_zero_keeps_its_digits() {
        let low = wilson(1, 1_000_000_000, P95).unwrap().low;
        assert!((low / 1.765_245_549_569_631_3e-10 - 1.0).abs() < 1e-12, "{low}");
    }

    /// Newcombe (1998), Statistics in Medicine 17, 857–872, table I: methods 3 (Wilson) and 5 (Clopper–Pearson).
    #[test]
    fn the_table_of_newcombe() {
        for (successes, trials, score, exact) in [
            (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
            (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
            (0, 20, (0.0, 0.1611), (0.0, 0.1684)),
            (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
        ] {
            near(wilson(successes, trials, P95), score.0, score.1, 5e-5);
            near(clopper_pearson(successes, trials, P95), exact.0, exact.1, 5e-5);
        }
    }

    #[test]
    fn intervals_at_the_ends_have_a_width() {
        near(wilson(0, 10, P95), 0.0, 0.278, 5e-4);
        near(wilson(300, 300, P95), 0.987, 1.0, 5e-4);
        assert_eq!(wilson(300, 300, P95).unwrap().high, 1.0);
        assert_eq!(wilson(0, 10, P95).unwrap().low, 0.0);
        assert_eq!(wilson(0, 0, P95), None);
        assert_eq!(clopper_pearson(0, 0, P95), None);
    }

    /// Values of scipy 1.17 with their digits, the first of them R's `binom.test(682, 925)`; three of a million was
    /// solved in decimal arithmetic of 50 digits.
    #[test]
    fn exact_intervals_keep_their_digits() {
        near(clopper_pearson(682, 925, P95), 0.707668264079039, 0.7654065582414781, 1e-11);
        near(clopper_pearson(5, 10, P95), 0.1870860284474045, 0.8129139715525955, 1e-11);
        near(clopper_pearson(10, 10, P95), 0.6915028921812371, 1.0, 1e-11);
        near(clopper_pearson(499_000, 1_000_000, P95), 0.4980195240515341, 0.49998048174098836, 1e-13);
        near(clopper_pearson(3, 1_000_000, P95), 6.186725501906399e-7, 8.767247788145224e-6, 1e-20);
        near(wilson(682, 925, P95), 0.7079959876196205, 0.7646358009714889, 1e-11);
    }

    proptest! {
        #[test]
        fn intervals_contain_the_rate_mirror_and_narrow(trials in 1u64..3000, share in 0.0f64..=1.0) {
            let successes = (trials as f64 * share) as u64;
            let rate = successes as f64 / trials as f64;
            for method in [wilson, clopper_pearson] {
                let interval = method(successes, trials, P95).unwrap();
                prop_assert!(interval.contains(rate), "{:?} {}", interval, rate);
                prop_assert!(interval.low >= 0.0 && interval.high <= 1.0 && interval.low < interval.high);
                let other = method(trials - successes, trials, P95).unwrap().mirrored();
                prop_assert!((other.low - interval.low).abs() < 1e-12 && (other.high - interval.high).abs() < 1e-12);
                let wider = method(successes, trials, Confidence::new(0.99).unwrap()).unwrap();
                prop_assert!(wider.low <= interval.low && wider.high >= interval.high);
                let more = method(successes * 4, trials * 4, P95).unwrap();
                prop_assert!(more.high - more.low < interval.high - interval.low);
                if successes < trials {
                    let next = method(successes + 1, trials, P95).unwrap();
                    prop_assert!(next.low >= interval.low && next.high >= interval.high);
                }
            }
        }
    }
}
