//! A rate that was seen through somebody who errs: what it was, given how often he does.

use super::interval::Interval;
use super::quantile::Confidence;

/// How often a judge is right about answers of one kind: so many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hits {
    /// Those that he took for what they are.
    pub right: u64,
    /// All of them that he could judge.
    pub of: u64,
}

impl Hits {
    /// The share; none where he was never asked.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.right as f64 / self.of as f64)
    }
}

/// A rate corrected for the errors of its judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrected {
    /// The estimate, within 0..=1.
    pub rate: f64,
    /// Its interval, which holds the doubt about the rate and about the judge.
    pub interval: Interval,
}

/// What a rate of `seen` over so many independent trials was, if a judge calls right answers right with this sensitivity and wrong
/// ones wrong with this specificity; none where he was not tried on both, or is no better than chance.
///
/// The estimate of Rogan and Gladen (1978), American Journal of Epidemiology 107, 71–76, with the interval of Lang and
/// Reiczigel (2014), Preventive Veterinary Medicine 113, 13–22.
pub fn rogan_gladen(
    seen: f64,
    trials: f64,
    (sensitivity, specificity): (Hits, Hits),
    confidence: Confidence,
) -> Option<Corrected> {
    let (se, sp) = (sensitivity.share()?, specificity.share()?);
    if trials <= 0.0 || se + sp <= 1.0 {
        return None;
    }
    let rate = ((seen + sp - 1.0) / (se + sp - 1.0)).clamp(0.0, 1.0);
    let z = confidence.z();
    // Lang and Reiczigel add z² trials, half of them successes, to the rate, and two to each of the judge's.
    let more = |hits: Hits| {
        let of = hits.of as f64 + 2.0;
        ((hits.right as f64 + 1.0) / of, of)
    };
    let ((se, of_se), (sp, of_sp)) = (more(sensitivity), more(specificity));
    let all = trials + z * z;
    let seen = (seen * trials + z * z / 2.0) / all;
    let better = se + sp - 1.0;
    if better <= 0.0 {
        return Some(Corrected { rate, interval: Interval { low: 0.0, high: 1.0 } });
    }
    let middle = ((seen + sp - 1.0) / better).clamp(0.0, 1.0);
    let of_right = se * (1.0 - se) / of_se;
    let of_wrong = sp * (1.0 - sp) / of_sp;
    let variance = seen * (1.0 - seen) / all + middle * middle * of_right + (1.0 - middle).powi(2) * of_wrong;
    let shift = 2.0 * z * z * (middle * of_right - (1.0 - middle) * of_wrong);
    let reach = z * variance.sqrt() / better;
    let end = |value: f64| value.clamp(0.0, 1.0);
    let interval = Interval { low: end(middle + shift - reach), high: end(middle + shift + reach) };
    Some(Corrected { rate, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    const P95: Confidence = Confidence::P95;

    fn hits(right: u64, of: u64) -> Hits {
        Hits { right, of }
    }

    /// Of 100 answers 60 are right; a judge with 0.9 and 0.8 calls 0.9 · 60 + 0.2 · 40 = 62 right.
    #[test]
    fn the_judges_errors_are_taken_out() {
        let found = rogan_gladen(0.62, 100.0, (hits(90, 100), hits(80, 100)), P95).unwrap();
        assert!((found.rate - 0.6).abs() < 1e-12, "{found:?}");
        // The formulas of Lang and Reiczigel, by numpy.
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(found.interval.low, 0.4431781609436105);
        near(found.interval.high, 0.7494674208657239);
        near(
            rogan_gladen(0.3, 40.0, (hits(8, 10), hits(18, 20)), P95).unwrap().interval.high,
            0.6040778670351936,
        );
        let sure = rogan_gladen(0.62, 100.0, (hits(90_000, 100_000), hits(80_000, 100_000)), P95).unwrap();
        assert!(sure.interval.high - sure.interval.low < found.interval.high - found.interval.low);
    }

    #[test]
    fn a_judge_who_never_errs_changes_nothing_but_the_doubt() {
        let found = rogan_gladen(0.62, 100.0, (hits(50, 50), hits(50, 50)), P95).unwrap();
        assert!((found.rate - 0.62).abs() < 1e-12 && found.interval.contains(0.62), "{found:?}");
    }

    #[test]
    fn without_both_kinds_of_labels_or_with_a_coin_nothing_is_corrected() {
        assert_eq!(rogan_gladen(0.5, 10.0, (hits(5, 5), hits(0, 0)), P95), None);
        assert_eq!(rogan_gladen(0.5, 10.0, (hits(0, 0), hits(5, 5)), P95), None);
        assert_eq!(rogan_gladen(0.5, 10.0, (hits(5, 10), hits(5, 10)), P95), None);
        assert_eq!(rogan_gladen(0.5, 0.0, (hits(5, 5), hits(5, 5)), P95), None);
        let rate = |seen| rogan_gladen(seen, 50.0, (hits(8, 10), hits(8, 10)), P95).unwrap().rate;
        assert_eq!((rate(0.1), rate(0.95)), (0.0, 1.0), "never outside of 0 to 1");
    }
}
