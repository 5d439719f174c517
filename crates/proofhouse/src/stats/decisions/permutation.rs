//! The sign-flip permutation test over cases: if both columns were alike, each case's difference could as well have the other sign.

use super::differences::{Differences, gcd};
use crate::stats::binomial::{lower_tail, pmf};
use crate::stats::quantile::normal_cdf;

/// Up to this many cases that differ, every choice of signs is looked at.
const ENUMERATED: usize = 20;
/// Beyond, where the exact distribution is too large: so many draws.
const DRAWS: u64 = 100_000;
/// The largest number of products that the exact distribution may take.
const PRODUCTS: u128 = 20_000_000;
/// Above so many cases a normal value is nearer than draws are.
const MANY: u64 = 100_000;
/// The draws are the same everywhere and always.
const SEED: u64 = 0x5eed_0f5a_1f11_9515;

/// The two-sided p-value; none without cases.
///
/// Fisher (1935), *The Design of Experiments*, section 21. The distribution is exact wherever differences lie on a grid, as
/// those of verdicts do, and up to 20 cases that differ; with one verdict per case and side it is McNemar's exact test.
pub fn sign_flip(differences: &Differences) -> Option<f64> {
    if differences.cases() == 0 {
        return None;
    }
    let exact = Sizes::of(differences).and_then(|sizes| sizes.exact());
    Some(exact.unwrap_or_else(|| by_sampling(differences)).min(1.0))
}

/// The sizes of differences as whole numbers.
struct Sizes {
    /// Size → how many cases have it.
    groups: Vec<(u64, u64)>,
    /// The sum with the signs as they are, without its own.
    observed: u64,
    total: u64,
}

impl Sizes {
    /// None where there is no common denominator of a sensible size.
    fn of(differences: &Differences) -> Option<Self> {
        let mut denominator: u64 = 1;
        for ((_, each), _) in differences.values() {
            denominator =
                (denominator / gcd(denominator, each)).checked_mul(each).filter(|d| *d < 1 << 20)?;
        }
        let (mut groups, mut sum, mut total) = (std::collections::BTreeMap::new(), 0i64, 0u64);
        for ((numerator, each), count) in differences.values().filter(|((numerator, _), _)| *numerator != 0) {
            let size = numerator.checked_mul((denominator / each) as i64)?;
            *groups.entry(size.unsigned_abs()).or_insert(0) += count;
            sum = sum.checked_add(size.checked_mul(count as i64)?)?;
            total = total.checked_add(size.unsigned_abs().checked_mul(count)?)?;
        }
        let unit = groups.keys().copied().fold(0, gcd).max(1);
        let groups = groups.into_iter().map(|(size, count)| (size / unit, count)).collect();
        Some(Self { groups, observed: sum.unsigned_abs() / unit, total: total / unit })
    }

    /// Twice the chance that the sum of the sizes whose sign turned is as small as observed: both tails are alike.
    fn exact(&self) -> Option<f64> {
        let reach = (self.total - self.observed) / 2;
        // Sizes have no common divisor: a single one is 1.
        if let [(_, count)] = self.groups[..] {
            return Some(2.0 * lower_tail(reach, count, 0.5));
        }
        if self.products(reach) > PRODUCTS {
            return None;
        }
        let mut chances = vec![0.0; reach as usize + 1];
        chances[0] = 1.0;
        for (size, count) in &self.groups {
            let most = (*count).min(reach / size);
            let weights: Vec<f64> = (0..=most).map(|turned| pmf(turned, *count, 0.5)).collect();
            let mut next = vec![0.0; chances.len()];
            for (at, chance) in chances.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
                for (turned, weight) in weights.iter().enumerate() {
                    match next.get_mut(at + turned * *size as usize) {
                        Some(cell) => *cell += chance * weight,
                        None => break,
                    }
                }
            }
            chances = next;
        }
        Some(2.0 * chances.iter().sum::<f64>())
    }

    /// How many products the exact distribution takes up to this sum.
    fn products(&self, reach: u64) -> u128 {
        let of =
            |(size, count): &(u64, u64)| u128::from(reach + 1) * u128::from((*count).min(reach / size) + 1);
        self.groups.iter().map(of).sum()
    }
}

/// Where differences lie on no grid, or on too fine a one.
fn by_sampling(differences: &Differences) -> f64 {
    let groups: Vec<(f64, u64)> = differences
        .values()
        .filter(|((numerator, _), _)| *numerator != 0)
        .map(|((numerator, denominator), count)| (numerator as f64 / denominator as f64, count))
        .collect();
    let observed = groups.iter().map(|(value, count)| value * *count as f64).sum::<f64>().abs();
    let scale: f64 = groups.iter().map(|(value, count)| value.abs() * *count as f64).sum();
    // Sums that differ by rounding alone are the same.
    let at_least = observed - 1e-9 * scale;
    let count: u64 = groups.iter().map(|(_, count)| count).sum();
    if count as usize <= ENUMERATED {
        let values: Vec<f64> =
            groups.iter().flat_map(|(value, count)| (0..*count).map(|_| value.abs())).collect();
        return enumerated(&values, at_least);
    }
    if count > MANY {
        let spread = groups.iter().map(|(value, count)| value * value * *count as f64).sum::<f64>().sqrt();
        return 2.0 * normal_cdf(-observed / spread);
    }
    let hits = (0..DRAWS).filter(|draw| drawn(&groups, *draw).abs() >= at_least).count();
    (hits as f64 + 1.0) / (DRAWS as f64 + 1.0)
}

/// Over every choice of signs.
fn enumerated(values: &[f64], at_least: f64) -> f64 {
    let all = 1u64 << values.len();
    let sum = |signs: u64| -> f64 {
        values.iter().enumerate().map(|(at, v)| if signs >> at & 1 == 1 { -v } else { *v }).sum()
    };
    let hits = (0..all).filter(|signs| sum(*signs).abs() >= at_least).count();
    hits as f64 / all as f64
}

/// The sum with the signs of one draw: 64 of them from each number, which follows from the draw and its place alone.
fn drawn(groups: &[(f64, u64)], draw: u64) -> f64 {
    let mut place = 0;
    let mut sum = 0.0;
    for (value, count) in groups {
        let mut left = *count;
        let mut turned = 0;
        while left > 0 {
            let bits = mixed(mixed(SEED ^ draw).wrapping_add(place));
            let taken = left.min(64);
            turned += u64::from((bits & (u64::MAX >> (64 - taken))).count_ones());
            left -= taken;
            place += 1;
        }
        sum += value * (*count as f64 - 2.0 * turned as f64);
    }
    sum
}

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014).
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::PairedCounts;

    /// Passed and assessed on each side.
    type Case = ((u64, u64), (u64, u64));

    fn of(cases: &[Case]) -> Differences {
        let mut differences = Differences::default();
        cases.iter().for_each(|(first, second)| differences.push(*first, *second));
        differences
    }

    /// Darwin's maize, as Fisher (1935) has it: 15 pairs in eighths of an inch; of 32,768 choices of signs, 863 are at or
    /// beyond what was seen on each side.
    #[test]
    fn fishers_example() {
        let maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
        let cases: Vec<_> = maize.iter().map(|d| ((100, 200), ((100 + d) as u64, 200))).collect();
        let p = sign_flip(&of(&cases)).unwrap();
        assert!((p - 1726.0 / 32768.0).abs() < 1e-12, "{p}");
    }

    /// +2/5, −4/5 and +4/5, twice: in units of 2/5 they are 1, 2, 2, 1, 2, 2, and their sum is 2 of 10.
    #[test]
    fn sizes_are_counted_in_the_largest_common_unit() {
        let one = [((1, 5), (3, 5)), ((4, 5), (0, 5)), ((0, 5), (4, 5)), ((2, 2), (1, 1))];
        let sizes = Sizes::of(&of(&[one, one].concat())).unwrap();
        assert_eq!((sizes.groups, sizes.observed, sizes.total), (vec![(1, 2), (2, 4)], 2, 10));
        let alike = of(&[((1, 2), (2, 4)); 5]);
        assert_eq!(sign_flip(&alike), Some(1.0), "cases that do not differ speak for neither");
    }

    /// Up to a sum of 4, four sizes of 1 can all be turned, and one of the two sizes of 3: five sums by five and by two counts.
    #[test]
    fn what_would_take_too_long_is_not_computed() {
        let sizes = |groups: Vec<(u64, u64)>| {
            let total = groups.iter().map(|(size, count)| size * count).sum();
            Sizes { groups, observed: 0, total }
        };
        assert_eq!(sizes(vec![(1, 4), (3, 2)]).products(4), 35);
        assert_eq!(
            sizes(vec![(1, 5000), (2, 5000)]).exact(),
            None,
            "7,501 sums by 5,001 and by 3,751 counts"
        );
    }

    #[test]
    fn a_grid_finer_than_a_millionth_is_none() {
        let finest = |places: u32| Sizes::of(&of(&[((0, 1), (1, 1 << places))])).is_some();
        assert!(finest(19) && !finest(20));
    }

    #[test]
    fn single_verdicts_are_mcnemars_test() {
        for (worse, better) in [(0, 5), (1, 8), (15, 1), (4, 4), (0, 0), (300, 200)] {
            let mut cases = vec![((1, 1), (1, 1)); 3];
            cases.extend(vec![((1, 1), (0, 1)); worse]);
            cases.extend(vec![((0, 1), (1, 1)); better]);
            let table =
                PairedCounts { both: 3, only_first: worse as u64, only_second: better as u64, neither: 0 };
            let (ours, theirs) = (sign_flip(&of(&cases)).unwrap(), table.mcnemar().unwrap().p_value);
            assert!((ours - theirs).abs() < 1e-12, "{worse} {better}: {ours} {theirs}");
        }
        assert_eq!(sign_flip(&Differences::default()), None);
    }

    /// Sizes without a small common denominator are drawn; on a grid the exact value is known beside it.
    #[test]
    fn draws_agree_with_the_exact_value_and_with_themselves() {
        let cases: Vec<_> = (0..60).map(|at| ((2, 5), (if at % 3 == 0 { 1 } else { 3 }, 5))).collect();
        let mut differences = of(&cases);
        (0..40).for_each(|at| differences.push((1 + at % 2, 4), (2, 4)));
        let exact = Sizes::of(&differences).unwrap().exact().unwrap();
        let by_draws = by_sampling(&differences);
        assert!((exact - by_draws).abs() < 0.001 && exact < 0.05, "{exact} {by_draws}");
        assert_eq!(by_draws, by_sampling(&differences));
    }

    /// So many cases that differ by a fifth and by a quarter, for the better and for the worse.
    fn fifths_and_quarters([up5, down5, up4, down4]: [u64; 4]) -> Differences {
        let mut differences = Differences::default();
        for (count, first, second) in
            [(up5, (2, 5), (3, 5)), (down5, (3, 5), (2, 5)), (up4, (1, 4), (2, 4)), (down4, (2, 4), (1, 4))]
        {
            (0..count).for_each(|_| differences.push(first, second));
        }
        differences
    }

    #[test]
    fn draws_find_what_is_neither_rare_nor_certain() {
        for counts in [[30, 24, 20, 16], [80, 70, 70, 72], [25, 20, 0, 3]] {
            let differences = fifths_and_quarters(counts);
            let exact = Sizes::of(&differences).unwrap().exact().unwrap();
            let by_draws = by_sampling(&differences);
            assert!((exact - by_draws).abs() < 0.006 && exact > 0.1 && exact < 0.9, "{exact} {by_draws}");
        }
    }

    #[test]
    fn what_no_draw_reaches_is_not_called_impossible() {
        assert_eq!(by_sampling(&fifths_and_quarters([40, 0, 40, 0])), 1.0 / 100_001.0);
    }

    #[test]
    fn a_hundred_thousand_cases_are_normal() {
        let differences = fifths_and_quarters([60_000, 59_000, 0, 0]);
        let exact = Sizes::of(&differences).unwrap().exact().unwrap();
        let normal = by_sampling(&differences);
        assert!((exact / normal - 1.0).abs() < 0.02 && exact > 0.003 && exact < 0.005, "{exact} {normal}");
    }

    proptest! {
        #[test]
        fn the_distribution_is_what_enumeration_finds(
            cases in prop::collection::vec((0u64..=3, 0u64..=3, 1u64..=2), 1..12),
        ) {
            let cases: Vec<_> = cases.iter().map(|(a, b, r)| (((*a).min(3 * r), 3 * r), ((*b).min(3 * r), 3 * r))).collect();
            let differences = of(&cases);
            let values: Vec<f64> = cases.iter().map(|(a, b)| b.0 as f64 / b.1 as f64 - a.0 as f64 / a.1 as f64).collect();
            let observed = values.iter().sum::<f64>().abs();
            let naive = enumerated(&values, observed - 1e-9);
            prop_assert!((sign_flip(&differences).unwrap() - naive).abs() < 1e-9);
        }
    }
}
