//! What a comparison of this size could find at all: the smallest detectable effect.

use super::binomial::{pmf, upper_tail};
use super::interval::boundary;
use super::quantile::{Confidence, normal_cdf};

/// The smallest differences in a rate that a comparison finds with the wanted power; none where even the largest
/// possible difference would not be found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detectable {
    /// An improvement over the baseline.
    pub rise: Option<f64>,
    /// A regression from the baseline.
    pub drop: Option<f64>,
}

/// The smallest detectable differences from a baseline rate between two independent samples of the same size, by a
/// two-sided test of two proportions at the level of `confidence`; none without trials.
///
/// The normal approximation of Fleiss (1981), the one of R's `power.prop.test`.
///
/// # Panics
/// When the baseline or the power is not within 0..=1.
pub fn detectable_unpaired(
    per_sample: u64,
    baseline: f64,
    confidence: Confidence,
    power: f64,
) -> Option<Detectable> {
    assert!(
        (0.0..=1.0).contains(&baseline) && (0.0..=1.0).contains(&power),
        "probabilities are within 0..=1"
    );
    if per_sample == 0 {
        return None;
    }
    let z = confidence.z();
    let power_at = |other: f64| {
        let pooled = (baseline + other) / 2.0;
        let under_null = (2.0 * pooled * (1.0 - pooled)).sqrt();
        let under_effect = (baseline * (1.0 - baseline) + other * (1.0 - other)).sqrt();
        chance((per_sample as f64).sqrt() * (other - baseline).abs() - z * under_null, under_effect)
    };
    Some(Detectable {
        rise: smallest(1.0 - baseline, power, |effect| power_at(baseline + effect)),
        drop: smallest(baseline, power, |effect| power_at(baseline - effect)),
    })
}

/// The smallest detectable difference between two runs of the same trials of which this share differs, by a two-sided
/// test of McNemar at the level of `confidence`; none when even all differing pairs in one direction are too few.
///
/// The normal approximation of Connor (1987), Biometrics 43, 207–211.
///
/// # Panics
/// When the discordance or the power is not within 0..=1.
pub fn detectable_paired(pairs: u64, discordance: f64, confidence: Confidence, power: f64) -> Option<f64> {
    assert!(
        (0.0..=1.0).contains(&discordance) && (0.0..=1.0).contains(&power),
        "probabilities are within 0..=1"
    );
    let z = confidence.z();
    smallest(discordance, power, |effect| {
        let excess = (pairs as f64).sqrt() * effect - z * discordance.sqrt();
        chance(excess, (discordance - effect * effect).max(0.0).sqrt())
    })
}

/// Above so many pairs the normal approximation is as good as counting.
const COUNTED: u64 = 2_000;

/// The chance that the two-sided exact test of McNemar at this level finds a difference of this size between columns of single trials
/// of which this share differs.
///
/// Counted over all numbers of differing pairs, as the test itself is done; above 2,000 pairs the normal approximation of Connor (1987),
/// which takes no account of the test's steps and so promises a few points too much for small numbers.
///
/// # Panics
/// When the discordance is not within 0..=1.
pub fn power_paired(pairs: u64, discordance: f64, effect: f64, level: f64) -> f64 {
    let effect = effect.min(discordance);
    if pairs > COUNTED || discordance <= 0.0 {
        let z = Confidence::new(1.0 - level).map_or(f64::INFINITY, Confidence::z);
        let excess = (pairs as f64).sqrt() * effect - z * discordance.sqrt();
        return chance(excess, (discordance - effect * effect).max(0.0).sqrt());
    }
    // The chance that a differing pair speaks for the better column.
    let favours = ((discordance + effect) / (2.0 * discordance)).min(1.0);
    let (mut needed, mut power) = (0, 0.0);
    for differing in 0..=pairs {
        while needed <= differing && 2.0 * upper_tail(needed, differing, 0.5) > level {
            needed += 1;
        }
        let weight = pmf(differing, pairs, discordance);
        if weight > 1e-12 && needed <= differing {
            power += weight * upper_tail(needed, differing, favours);
        }
    }
    power
}

/// The chance that a two-sided test at this level finds a mean difference of this size over so many cases whose differences have this
/// variance: Student's, with its noncentral distribution by a normal value.
///
/// A permutation test over means of repeated trials has the same power in the limit (Hoeffding 1952, Annals of Mathematical Statistics 23,
/// 169–192).
pub fn power_of_mean(cases: u64, variance: f64, effect: f64, level: f64) -> f64 {
    let (Some(confidence), true) = (Confidence::new(1.0 - level), cases > 1 && variance > 0.0) else {
        return 0.0;
    };
    let degrees = (cases - 1) as f64;
    let critical = confidence.t(cases - 1);
    let noncentral = effect / (variance / cases as f64).sqrt();
    // Johnson and Welch (1940), Biometrika 31, 362–389.
    let shrunk = critical * (1.0 - 1.0 / (4.0 * degrees));
    normal_cdf((noncentral - shrunk) / (1.0 + critical * critical / (2.0 * degrees)).sqrt())
}

/// The smallest difference that the exact test finds with this power; none where even all differing pairs in one direction are too
/// few.
pub fn detectable_exactly(pairs: u64, discordance: f64, level: f64, power: f64) -> Option<f64> {
    let found = |effect: f64| power_paired(pairs, discordance, effect, level) >= power;
    if discordance <= 0.0 || !found(discordance) {
        return None;
    }
    let (mut short, mut enough) = (0.0, discordance);
    // To a ten-thousandth of a point.
    while enough - short > 1e-6 {
        let middle = (short + enough) / 2.0;
        if found(middle) { enough = middle } else { short = middle }
    }
    Some(enough)
}

/// The chance that a normal value of this spread stays below the excess.
fn chance(excess: f64, spread: f64) -> f64 {
    if spread == 0.0 { if excess > 0.0 { 1.0 } else { 0.0 } } else { normal_cdf(excess / spread) }
}

/// The smallest effect up to `largest` whose power suffices; the power grows with the effect.
fn smallest(largest: f64, power: f64, power_of: impl Fn(f64) -> f64) -> Option<f64> {
    (largest > 0.0 && power_of(largest) >= power)
        .then(|| boundary(0.0, largest, |effect| power_of(effect) < power))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const P95: Confidence = Confidence::P95;

    /// The examples of R's `power.prop.test`: 50 per group at 0.5 find 0.8026 with 90 %, and 0.75 with 74 % power;
    /// 76.7 per group find 0.75 with 90 %.
    #[test]
    fn the_examples_of_r() {
        let rise = |n, power| detectable_unpaired(n, 0.5, P95, power).unwrap().rise.unwrap();
        assert!((0.5 + rise(50, 0.9) - 0.8026).abs() < 5e-5, "{}", rise(50, 0.9));
        assert!((rise(50, 0.74) - 0.25).abs() < 2e-4, "{}", rise(50, 0.74));
        assert!(rise(76, 0.9) > 0.25 && rise(77, 0.9) < 0.25);
    }

    /// MESS 0.5, `power_mcnemar_test(paid = 0.05, psi = 9, power = 0.8)`: 22 pairs, half of them discordant.
    #[test]
    fn the_example_of_mess() {
        let effect = detectable_paired(22, 0.5, P95, 0.8).unwrap();
        assert!((effect - 0.4).abs() < 1e-3, "{effect}");
    }

    /// Ten pairs that all differ, 9 of 10 of them in one direction: rejected from 9 on at 5 % (2 · 11/1024), so that the power is
    /// 10 · 0.9⁹ · 0.1 + 0.9¹⁰.
    #[test]
    fn power_is_counted_as_the_test_is_done() {
        let power = power_paired(10, 1.0, 0.8, 0.05);
        assert!((power - (10.0 * 0.9f64.powi(9) * 0.1 + 0.9f64.powi(10))).abs() < 1e-12, "{power}");
        let size = power_paired(200, 0.2, 0.0, 0.05);
        assert!(size < 0.025, "one tail of an exact test: {size}");
        let effect = detectable_exactly(200, 0.2, 0.05, 0.8).unwrap();
        assert!((power_paired(200, 0.2, effect, 0.05) - 0.8).abs() < 1e-4);
        assert!(effect > detectable_paired(200, 0.2, P95, 0.8).unwrap(), "{effect}");
        let (counted, normal) = (power_paired(2_000, 0.2, 0.03, 0.05), power_paired(2_001, 0.2, 0.03, 0.05));
        assert!((counted - normal).abs() < 0.02, "{counted} {normal}");
        assert_eq!(detectable_exactly(5, 0.2, 0.05, 0.8), None);
    }

    /// Five of five have a p-value of exactly 2/32.
    #[test]
    fn what_is_as_unlikely_as_the_level_is_found() {
        assert_eq!((power_paired(5, 1.0, 1.0, 0.0625), power_paired(5, 1.0, 1.0, 0.0624)), (1.0, 0.0));
    }

    /// Ten and twenty cases: 0.8031 and 0.7210 by the noncentral distribution itself (scipy 1.17); these are Johnson and Welch's.
    #[test]
    fn the_power_of_students_test() {
        for (cases, variance, effect, expected) in [
            (10, 1.0, 1.0, 0.802258945299971),
            (20, 0.25, 0.3, 0.7207250669293592),
            (5, 1.0, 1.0, 0.3967392928269884),
        ] {
            let power = power_of_mean(cases, variance, effect, 0.05);
            assert!((power - expected).abs() < 1e-9, "{cases}: {power}");
        }
        assert_eq!((power_of_mean(1, 1.0, 1.0, 0.05), power_of_mean(10, 0.0, 1.0, 0.05)), (0.0, 0.0));
    }

    #[test]
    fn too_few_trials_detect_nothing() {
        assert_eq!(detectable_unpaired(0, 0.5, P95, 0.8), None);
        assert_eq!(detectable_paired(0, 0.5, P95, 0.8), None);
        assert_eq!(detectable_paired(1000, 0.0, P95, 0.8), None);
        assert_eq!(detectable_paired(5, 0.2, P95, 0.8), None);
        let at_the_end = detectable_unpaired(100, 1.0, P95, 0.8).unwrap();
        assert_eq!(at_the_end.rise, None);
        assert!(at_the_end.drop.is_some());
    }

    proptest! {
        #[test]
        fn more_trials_detect_less(n in 10u64..5000, baseline in 0.05f64..0.95, discordance in 0.02f64..1.0) {
            let (few, many) = (detectable_unpaired(n, baseline, P95, 0.8).unwrap(), detectable_unpaired(n * 2, baseline, P95, 0.8).unwrap());
            for (few, many) in [(few.rise, many.rise), (few.drop, many.drop),
                (detectable_paired(n, discordance, P95, 0.8), detectable_paired(n * 2, discordance, P95, 0.8))] {
                if let Some(few) = few {
                    prop_assert!(many.unwrap() < few);
                }
            }
            let mirrored = detectable_unpaired(n, 1.0 - baseline, P95, 0.8).unwrap();
            prop_assert_eq!(few.rise.is_some(), mirrored.drop.is_some());
            if let (Some(rise), Some(drop)) = (few.rise, mirrored.drop) {
                prop_assert!((rise - drop).abs() < 1e-9);
            }
        }
    }
}
