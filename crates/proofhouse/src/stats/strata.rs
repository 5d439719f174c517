//! Two groups compared within strata, such as runs as they stand and reworded ones within each case.

use super::interval::{Interval, wilson};
use super::quantile::{Confidence, normal_cdf};

/// One stratum: hits and runs of the first group, then of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stratum {
    /// Of the first group.
    pub first: (u64, u64),
    /// Of the second group.
    pub second: (u64, u64),
}

impl Stratum {
    fn counts(self) -> [f64; 4] {
        [self.first.0, self.first.1, self.second.0, self.second.1].map(|count| count as f64)
    }

    /// The weight of Cochran, and of Mantel and Haenszel: 0 where a group has no runs.
    fn weight(self) -> f64 {
        let [_, n, _, m] = self.counts();
        n * m / (n + m).max(1.0)
    }
}

/// The two-sided p-value that the two groups are alike in every stratum; none where no stratum can say anything.
///
/// Cochran (1954), Biometrics 10, 417–451; Mantel and Haenszel (1959), Journal of the National Cancer Institute 22, 719–748, without
/// their correction for continuity, which statsmodels' `test_null_odds` leaves out as well. Where all strata
/// together have few runs the sum of the exact distributions takes its place, so that its level holds there too.
pub fn cochran_mantel_haenszel(strata: &[Stratum]) -> Option<f64> {
    let telling: Vec<Stratum> = strata.iter().copied().filter(|stratum| variance(*stratum) > 0.0).collect();
    if telling.is_empty() {
        return strata.iter().any(|stratum| stratum.weight() > 0.0).then_some(1.0);
    }
    if let Some(p) = exact(&telling) {
        return Some(p);
    }
    let excess: f64 = telling.iter().map(|stratum| stratum.first.0 as f64 - expected(*stratum)).sum();
    let spread: f64 = telling.iter().map(|stratum| variance(*stratum)).sum();
    Some((2.0 * normal_cdf(-excess.abs() / spread.sqrt())).min(1.0))
}

fn expected(stratum: Stratum) -> f64 {
    let [a, n, b, m] = stratum.counts();
    n * (a + b) / (n + m)
}

fn variance(stratum: Stratum) -> f64 {
    let [a, n, b, m] = stratum.counts();
    let all = n + m;
    // Of two runs or more the denominator is 4 at least; of fewer, what is divided is 0.
    n * m * (a + b) * (all - a - b) / (all * all * (all - 1.0)).max(1.0)
}

/// The largest number of products for the exact distribution.
const PRODUCTS: u64 = 4_000_000;

/// The distribution of the sum of hits in the first group, given all margins (Birch 1964, Journal of the Royal Statistical Society B
/// 26, 313–324): all sums that are no more likely than the observed one. None where that would take long.
fn exact(strata: &[Stratum]) -> Option<f64> {
    let (mut chances, mut observed, mut products) = (vec![1.0], 0u64, 0u64);
    for stratum in strata {
        let (n, m) = (stratum.first.1, stratum.second.1);
        let hits = stratum.first.0 + stratum.second.0;
        let (least, most) = (hits.saturating_sub(m), hits.min(n));
        products += (most - least + 1) * chances.len() as u64;
        if products > PRODUCTS {
            return None;
        }
        let mut own = vec![1.0];
        for taken in least..most {
            // C(n, k) C(m, h − k), each from the one before.
            let up = (n - taken) as f64 * (hits - taken) as f64;
            let down = (taken + 1) as f64 * (m + taken + 1 - hits) as f64;
            own.push(own[own.len() - 1] * up / down);
        }
        // Beyond a double's range nothing is known of the shares; so many runs have a normal sum.
        let total: f64 = own.iter().sum();
        if !total.is_finite() {
            return None;
        }
        let mut next = vec![0.0; chances.len() + own.len() - 1];
        for (at, chance) in chances.iter().enumerate() {
            own.iter().enumerate().for_each(|(taken, weight)| next[at + taken] += chance * weight / total);
        }
        chances = next;
        observed += stratum.first.0 - least;
    }
    let limit = chances[observed as usize] * (1.0 + 1e-7);
    Some(chances.iter().filter(|chance| **chance <= limit).sum::<f64>().min(1.0))
}

/// The difference of the two groups' shares, second minus first, weighted as by Cochran, with its interval; none without a stratum
/// that has both.
///
/// The interval is put together from Wilson's intervals of each group and stratum (MOVER: Newcombe 1998, Statistics in Medicine 17,
/// 873–890, for one stratum; Zou and Donner 2008, Statistics in Medicine 27, 1693–1702; Yan and Su 2010, Statistics in Biopharmaceutical Research 2,
/// 329–335, for several), so that it has a width also where nothing ever failed.
pub fn stratified_difference(strata: &[Stratum], confidence: Confidence) -> Option<(f64, Interval)> {
    let total: f64 = strata.iter().map(|stratum| stratum.weight()).sum();
    if total == 0.0 {
        return None;
    }
    // Below and above, of the first group and of the second.
    let (mut difference, mut reach) = (0.0, [0.0f64; 4]);
    for stratum in strata.iter().filter(|stratum| stratum.weight() > 0.0) {
        let weight = stratum.weight() / total;
        let side = |(hits, runs): (u64, u64)| {
            let interval = wilson(hits, runs, confidence)?;
            let rate = hits as f64 / runs as f64;
            Some((rate, rate - interval.low, interval.high - rate))
        };
        let ((first, below, above), (second, under, over)) = (side(stratum.first)?, side(stratum.second)?);
        difference += weight * (second - first);
        for (sum, part) in reach.iter_mut().zip([below, above, under, over]) {
            *sum += (weight * part).powi(2);
        }
    }
    let [below, above, under, over] = reach;
    let low = (difference - (under + above).sqrt()).max(-1.0);
    let high = (difference + (over + below).sqrt()).min(1.0);
    Some((difference, Interval { low, high }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stratum(a: u64, n: u64, b: u64, m: u64) -> Stratum {
        Stratum { first: (a, n), second: (b, m) }
    }

    /// Agresti, *Categorical Data Analysis*, table 6.9: eight centres, CMH = 6.38, p = 0.012.
    #[test]
    fn the_example_of_agresti() {
        let centres = [
            stratum(11, 36, 10, 37),
            stratum(16, 20, 22, 32),
            stratum(14, 19, 7, 19),
            stratum(2, 16, 1, 17),
            stratum(6, 17, 0, 12),
            stratum(1, 11, 0, 10),
            stratum(1, 5, 1, 9),
            stratum(4, 6, 6, 7),
        ];
        let excess: f64 = centres.iter().map(|centre| centre.first.0 as f64 - expected(*centre)).sum();
        let spread: f64 = centres.iter().map(|centre| variance(*centre)).sum();
        assert!((excess * excess / spread - 6.3841).abs() < 5e-4, "{}", excess * excess / spread);
        let p = cochran_mantel_haenszel(&centres).unwrap();
        assert!(p > 0.005 && p < 0.02, "{p}");
    }

    /// One stratum is Fisher's exact test.
    #[test]
    fn one_stratum_is_fishers_test() {
        let p = cochran_mantel_haenszel(&[stratum(10, 10, 0, 5)]).unwrap();
        assert!((p - 1.0 / 3003.0).abs() < 1e-12, "{p}");
        let p = cochran_mantel_haenszel(&[stratum(3, 4, 1, 4)]).unwrap();
        assert!((p - 0.485_714_285_714_286).abs() < 1e-12, "{p}");
        assert_eq!(cochran_mantel_haenszel(&[stratum(5, 5, 5, 5)]), Some(1.0));
        assert_eq!(cochran_mantel_haenszel(&[stratum(5, 5, 0, 0)]), None);
        for nothing in [stratum(0, 0, 0, 0), stratum(1, 1, 0, 0), stratum(0, 0, 3, 7)] {
            assert_eq!((variance(nothing), nothing.weight()), (0.0, 0.0), "{nothing:?}");
        }
    }

    #[test]
    fn the_normal_value_agrees_where_the_exact_one_is_too_large() {
        let many = vec![stratum(600, 1000, 500, 900); 40];
        assert!(exact(&many).is_none());
        assert!(cochran_mantel_haenszel(&many).unwrap() < 1e-6);
        // 505 where 500 are expected, forty times, with a variance of 118.5 each.
        let p = cochran_mantel_haenszel(&vec![stratum(505, 1000, 445, 900); 40]).unwrap();
        assert!((p - 0.0036705624852620294).abs() < 1e-9, "{p}");
        let fair = vec![stratum(500, 1000, 450, 900); 40];
        assert_eq!(cochran_mantel_haenszel(&fair), Some(1.0));
    }

    /// 2,000 numbers of hits in the first stratum times 1,999 in the second, and the 2,000 before: 4,000,000 products are taken.
    #[test]
    fn the_exact_distribution_is_left_where_it_takes_too_many_products() {
        let (many, one_less) = (stratum(1_000, 2_000, 999, 1_000_000), stratum(1_000, 2_000, 998, 1_000_000));
        let mirrored = stratum(998_500, 1_000_000, 1_501, 2_000);
        assert!(exact(&[many, one_less]).is_some() && exact(&[mirrored, one_less]).is_some());
        assert!(exact(&[many, many]).is_none() && exact(&[mirrored, many]).is_none());
    }

    /// Weights 2 · 6 / 8 and 1 · 3 / 4, differences 1/6 and −2/3; where one group has no runs there is no difference.
    #[test]
    fn strata_weigh_as_their_smaller_group_allows() {
        let strata = [stratum(1, 2, 4, 6), stratum(1, 1, 1, 3), stratum(5, 5, 0, 0), stratum(0, 0, 0, 0)];
        let (value, _) = stratified_difference(&strata, Confidence::P95).unwrap();
        assert!((value - (1.5 / 6.0 - 0.75 * 2.0 / 3.0) / 2.25).abs() < 1e-12, "{value}");
        assert_eq!(stratified_difference(&strata[2..], Confidence::P95), None);
    }

    /// Newcombe's example of unpaired shares, 56 of 70 against 48 of 80: 0.2 (0.0524 to 0.3339).
    #[test]
    fn one_stratum_is_newcombes_interval() {
        let (value, interval) = stratified_difference(&[stratum(48, 80, 56, 70)], Confidence::P95).unwrap();
        assert!((value - 0.2).abs() < 1e-12);
        assert!(
            (interval.low - 0.0524).abs() < 5e-5 && (interval.high - 0.3339).abs() < 5e-5,
            "{interval:?}"
        );
        let (value, interval) = stratified_difference(&[stratum(22, 22, 20, 20)], Confidence::P95).unwrap();
        assert!(value == 0.0 && interval.low < -0.1 && interval.high > 0.1, "{interval:?}");
        assert_eq!(stratified_difference(&[stratum(1, 1, 0, 0)], Confidence::P95), None);
    }

    proptest! {
        #[test]
        fn groups_may_be_swapped(rows in prop::collection::vec((0u64..12, 0u64..12, 0u64..12, 0u64..12), 1..6)) {
            let rows: Vec<Stratum> = rows.into_iter().map(|(a, x, b, y)| stratum(a, a + x, b, b + y)).collect();
            let swapped: Vec<Stratum> = rows.iter().map(|row| Stratum { first: row.second, second: row.first }).collect();
            match (cochran_mantel_haenszel(&rows), cochran_mantel_haenszel(&swapped)) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-9 && (0.0..=1.0).contains(&a)),
                (a, b) => prop_assert_eq!(a, b),
            }
            if let Some((value, interval)) = stratified_difference(&rows, Confidence::P95) {
                prop_assert!(interval.contains(value));
                let (other, turned) = stratified_difference(&swapped, Confidence::P95).unwrap();
                prop_assert!((value + other).abs() < 1e-12 && (interval.low + turned.high).abs() < 1e-12);
            }
        }
    }
}
