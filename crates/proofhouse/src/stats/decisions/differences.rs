//! Two columns of verdicts on the same cases: for each case the difference of its two means.

use std::collections::BTreeMap;

use crate::stats::Confidence;
use crate::stats::binomial::upper_tail;
use crate::stats::cluster::unseen_share;
use crate::stats::interval::{Interval, boundary};
use crate::stats::power::{power_of_mean, power_paired};

/// How often a number of cases that "would tell" does.
const POWER: f64 = 0.8;

/// The normal value that is below it.
const Z_POWER: f64 = 0.841_621_233_572_914_2;

/// Up to so many cases the exact test's own power is counted.
const COUNTED: u64 = 300;

/// By case, the share passed in the second column minus that in the first, as a count of each value that occurs: memory grows
/// with the number of repetitions, not with the number of cases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Differences {
    /// The difference as a reduced fraction → how many cases have it.
    values: BTreeMap<(i64, u64), u64>,
    /// Whether a case has more than one verdict on a side.
    repeated: bool,
    cases: u64,
}

impl Differences {
    /// Takes a case: passed and assessed in the first column, then in the second. A case without a verdict on one side is left
    /// out.
    pub fn push(&mut self, first: (u64, u64), second: (u64, u64)) {
        if first.1 == 0 || second.1 == 0 {
            return;
        }
        self.cases += 1;
        self.repeated |= first.1 > 1 || second.1 > 1;
        let numerator = second.0 as i64 * first.1 as i64 - first.0 as i64 * second.1 as i64;
        let denominator = first.1 * second.1;
        let common = gcd(numerator.unsigned_abs(), denominator);
        *self.values.entry((numerator / common as i64, denominator / common)).or_default() += 1;
    }

    /// Takes a case by its two means where they are no counts, to a millionth.
    pub fn push_shares(&mut self, first: f64, second: f64) {
        const GRID: u64 = 1_000_000;
        self.cases += 1;
        self.repeated = true;
        let numerator = ((second - first) * GRID as f64).round() as i64;
        let common = gcd(numerator.unsigned_abs(), GRID);
        *self.values.entry((numerator / common as i64, GRID / common)).or_default() += 1;
    }

    /// How many cases were taken.
    pub fn cases(&self) -> u64 {
        self.cases
    }

    /// Cases on which the first column did better, and cases on which the second did.
    pub fn better(&self) -> (u64, u64) {
        let count = |wanted: fn(i64) -> bool| {
            self.values.iter().filter(|((numerator, _), _)| wanted(*numerator)).map(|(_, count)| count).sum()
        };
        (count(|numerator| numerator < 0), count(|numerator| numerator > 0))
    }

    /// Each value that occurs, as numerator and denominator, and how many cases have it.
    pub(super) fn values(&self) -> impl Iterator<Item = ((i64, u64), u64)> + '_ {
        self.values.iter().map(|(value, count)| (*value, *count))
    }

    /// The mean over cases; none without cases.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.values().map(|(value, count)| share(value) * count as f64).sum();
        (self.cases > 0).then(|| sum / self.cases as f64)
    }

    /// The standard deviation over cases; none below two cases.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.cases > 1)?;
        let squares: f64 =
            self.values().map(|(value, count)| (share(value) - mean).powi(2) * count as f64).sum();
        Some((squares / (self.cases - 1) as f64).sqrt())
    }

    /// The interval of the mean over cases like these; none without cases.
    ///
    /// Student's over cases; with one verdict on each side of each case, the score interval of Tango (1998), Statistics in
    /// Medicine 17, 891–908.
    pub fn interval(&self, confidence: Confidence) -> Option<Interval> {
        self.interval_of(1.0, confidence)
    }

    /// The same, if there were `factor` times as many cases that fall out like these.
    fn interval_of(&self, factor: f64, confidence: Confidence) -> Option<Interval> {
        let mean = self.mean()?;
        let size = self.cases as f64 * factor;
        if !self.repeated {
            return Some(self.tango(factor, confidence.z()));
        }
        let deviation = self.deviation().unwrap_or(0.0);
        if deviation <= 1e-12 {
            // Nothing varies, or there is one case only: what is left is what may not have been seen.
            let unseen = unseen_share(size, confidence);
            return Some(Interval { low: mean - unseen * (mean + 1.0), high: mean + unseen * (1.0 - mean) });
        }
        let reach = confidence.t((size as u64).max(2) - 1) * deviation / size.sqrt();
        Some(Interval { low: (mean - reach).max(-1.0), high: (mean + reach).min(1.0) })
    }

    /// The same with a lower limit that also allows for cases which lose everything and are absent from these by chance: what a
    /// claim that nothing got worse must withstand. With one verdict on each side Tango's interval does so by itself.
    fn cautious_of(&self, factor: f64, confidence: Confidence) -> Option<Interval> {
        let (mean, seen) = (self.mean()?, self.interval_of(factor, confidence)?);
        let unseen = unseen_share(self.cases as f64 * factor, confidence);
        Some(Interval { low: seen.low.min(mean - unseen * (mean + 1.0)), high: seen.high })
    }

    /// The interval for a claim that nothing got worse; none without cases.
    pub fn cautious(&self, confidence: Confidence) -> Option<Interval> {
        self.cautious_of(1.0, confidence)
    }

    fn tango(&self, factor: f64, z: f64) -> Interval {
        let pairs = self.cases as f64 * factor;
        let (worse, better) = self.better();
        let (worse, better) = (worse as f64 * factor, better as f64 * factor);
        let score = |delta: f64| tango_score(pairs, worse, better, delta);
        let estimate = (better - worse) / pairs;
        let low = if estimate <= -1.0 { -1.0 } else { boundary(-1.0, estimate, |delta| score(delta) > z) };
        let high = if estimate >= 1.0 { 1.0 } else { boundary(estimate, 1.0, |delta| score(delta) > -z) };
        Interval { low, high }
    }

    /// About how many cases the permutation test needs to tell this difference from none at this level with 80 % power, if further
    /// ones fall out like these; always more than there are. None without a difference, and where a thousand times as many do not do.
    ///
    /// One verdict on each side: the exact test's own power, begun at the number of Connor (1987), Biometrics 43, 207–211, with a correction
    /// for its steps. Repeated cases: Student's. Either way at least as many cases have to differ as can have a p-value below the level.
    pub fn cases_to_tell(&self, level: f64) -> Option<u64> {
        let effect = self.mean()?.abs();
        if effect < 1e-12 {
            return None;
        }
        let (worse, better) = self.better();
        let differing = (worse + better) as f64 / self.cases as f64;
        let (more, most) = (self.cases + 1, self.cases.checked_mul(1000)?);
        let first = |enough: &dyn Fn(u64) -> bool| {
            let (mut short, mut found) = (self.cases, more);
            while !enough(found) {
                (short, found) = (found, found.checked_mul(2).filter(|next| *next <= 2 * most)?);
            }
            while found - short > 1 {
                let middle = short + (found - short) / 2;
                if enough(middle) { found = middle } else { short = middle }
            }
            Some(found)
        };
        // The fewest cases that differ, all in one direction, with a small enough p-value.
        let fewest = (1..64).find(|count| 0.5f64.powi(count - 1) < level)? as u64;
        let can_be_small =
            first(&|cases| cases >= fewest && upper_tail(fewest, cases, differing.min(1.0)) >= POWER)?;
        let found = if self.repeated {
            let variance = self.deviation().map_or(0.0, |deviation| deviation * deviation);
            match variance <= 1e-12 {
                true => can_be_small,
                false => first(&|cases| power_of_mean(cases, variance, effect, level) >= POWER)?,
            }
        } else {
            let z = Confidence::new(1.0 - level)?.z();
            let spread = z * differing.sqrt() + Z_POWER * (differing - effect * effect).max(0.0).sqrt();
            let root = (spread + (spread * spread + 4.0 * effect).sqrt()) / (2.0 * effect);
            let mut found = ((root * root).ceil() as u64).max(more);
            while found <= COUNTED && power_paired(found, differing, effect, level) < POWER {
                found += 1;
            }
            found
        };
        Some(found.max(can_be_small)).filter(|found| *found <= most)
    }

    /// About how many cases it takes until the cautious interval fulfils `decided` with 80 % power, if further ones fall out like these;
    /// none where a thousand times as many do not do.
    pub fn cases_until_sure(
        &self,
        confidence: Confidence,
        decided: impl Fn(Interval) -> bool,
    ) -> Option<u64> {
        let deviation = self.deviation().unwrap_or(0.0);
        self.least(|factor| {
            // In four of five runs of so many cases the mean is not further off than this, to either side.
            let off = Z_POWER * deviation / (self.cases as f64 * factor).sqrt();
            self.cautious_of(factor, confidence).is_some_and(|Interval { low, high }| {
                decided(Interval { low: low - off, high: high - off })
                    && decided(Interval { low: low + off, high: high + off })
            })
        })
    }

    fn least(&self, fulfils: impl Fn(f64) -> bool) -> Option<u64> {
        let fulfils = |cases: u64| fulfils(cases as f64 / self.cases as f64);
        let most = self.cases.checked_mul(1000).filter(|most| fulfils(*most))?;
        let (mut short, mut enough) = (0, most);
        while enough - short > 1 {
            let middle = short + (enough - short) / 2;
            if fulfils(middle) { enough = middle } else { short = middle }
        }
        Some(enough)
    }
}

/// Tango's score for a true difference of `delta`: positive where more is observed.
fn tango_score(pairs: f64, worse: f64, better: f64, delta: f64) -> f64 {
    let linear = (2.0 * pairs + worse - better) * delta - (worse + better);
    let constant = -worse * delta * (1.0 - delta);
    let root = (linear * linear - 8.0 * pairs * constant).max(0.0).sqrt();
    // The most likely share of pairs that are worse, if the difference is delta.
    let share = ((root - linear) / (4.0 * pairs)).max(0.0).max(-delta);
    let variance = pairs * (2.0 * share + delta * (1.0 - delta));
    let excess = better - worse - pairs * delta;
    // Rounding may leave less than nothing of it next to a difference of all.
    excess / variance.max(0.0).sqrt()
}

fn share((numerator, denominator): (i64, u64)) -> f64 {
    numerator as f64 / denominator as f64
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P95: Confidence = Confidence::P95;

    fn single(both: u64, worse: u64, better: u64, neither: u64) -> Differences {
        let mut differences = Differences::default();
        for (count, first, second) in [(both, 1, 1), (worse, 1, 0), (better, 0, 1), (neither, 0, 0)] {
            (0..count).for_each(|_| differences.push((first, 1), (second, 1)));
        }
        differences
    }

    /// Bentur et al. (2009) as analysed by Fagerland, Lydersen and Laake (2014), Statistics in Medicine 33, 2850–2875: Tango's
    /// interval is −0.517 to −0.026.
    #[test]
    fn the_interval_of_tango() {
        let interval = single(1, 7, 1, 12).interval(P95).unwrap();
        assert!((interval.low + 0.517).abs() < 5e-4 && (interval.high + 0.026).abs() < 5e-4, "{interval:?}");
        let turned = single(1, 1, 7, 12).interval(P95).unwrap();
        assert!((turned.low + interval.high).abs() < 1e-9 && (turned.high + interval.low).abs() < 1e-9);
    }

    /// Where no pair differs, the limits solve n δ² = z² (δ − δ²), as no pair is worse in the most likely case.
    #[test]
    fn pairs_that_all_agree_leave_room() {
        let interval = single(60, 0, 0, 40).interval(P95).unwrap();
        let z2 = P95.z().powi(2);
        assert!((interval.high - z2 / (100.0 + z2)).abs() < 1e-9, "{interval:?}");
        assert!((interval.low + interval.high).abs() < 1e-9, "{interval:?}");
        let all = single(0, 0, 5, 0).interval(P95).unwrap();
        assert!(all.high == 1.0 && all.low > 0.0 && all.low < 0.6, "{all:?}");
        let none = single(0, 5, 0, 0).interval(P95).unwrap();
        assert!(none.low == -1.0 && (none.high + all.low).abs() < 1e-9, "{none:?}");
    }

    /// Student's (1908) paired t on differences of 0.2, 0.4, 0.4, 0, 0.6: mean 0.32, deviation 0.228, t 2.776.
    #[test]
    fn repeated_cases_have_students_interval() {
        let mut differences = Differences::default();
        for gained in [1, 2, 2, 0, 3] {
            differences.push((1, 5), (1 + gained, 5));
        }
        let interval = differences.interval(P95).unwrap();
        let reach = 2.7764451051977934 * 0.052_f64.sqrt() / 5.0_f64.sqrt();
        assert!((differences.mean().unwrap() - 0.32).abs() < 1e-12);
        assert!((interval.low - (0.32 - reach)).abs() < 1e-9, "{interval:?}");
        assert_eq!(differences.better(), (0, 4));
    }

    #[test]
    fn repetitions_of_one_case_prove_nothing() {
        let mut differences = Differences::default();
        differences.push((10, 10), (0, 10));
        let interval = differences.interval(P95).unwrap();
        // Wilson's interval of one case that lost everything: what is left is 1.96² / (1 + 1.96²) of the way from −1 to 1.
        let unseen = P95.z().powi(2) / (1.0 + P95.z().powi(2));
        assert!(interval.low == -1.0 && (interval.high - (2.0 * unseen - 1.0)).abs() < 1e-9, "{interval:?}");
        assert_eq!(differences.deviation(), None);
        differences.push((0, 0), (1, 1));
        differences.push((1, 1), (0, 0));
        assert_eq!(differences.cases(), 1);
        assert_eq!(Differences::default().interval(P95), None);
    }

    #[test]
    fn the_number_that_would_do_is_the_least() {
        let differences = single(80, 6, 2, 12);
        let below_zero = |interval: Interval| interval.high < 0.0;
        let wanted = differences.cases_until_sure(P95, below_zero).unwrap();
        // In four of five runs the mean is no more than 0.8416 standard errors above what it is here.
        let high = |cases: u64| {
            let off = Z_POWER * differences.deviation().unwrap() / (cases as f64).sqrt();
            differences.interval_of(cases as f64 / 100.0, P95).unwrap().high + off
        };
        assert!(high(wanted) < 0.0 && high(wanted - 1) >= 0.0, "{wanted}");
        assert!((300..500).contains(&wanted), "{wanted}");
        assert_eq!(single(80, 4, 4, 12).cases_until_sure(P95, below_zero), None);
    }

    /// One side alone that is repeated makes differences that are no verdicts: 0, 1/2 and 1 have mean 1/2 and deviation 1/2.
    #[test]
    fn a_column_that_alone_is_repeated_has_students_interval_too() {
        let reach = 4.302652729911275 * 0.5 / 3.0_f64.sqrt();
        let near = |interval: Interval, low: f64, high: f64| {
            assert!((interval.low - low).abs() < 1e-9 && (interval.high - high).abs() < 1e-9, "{interval:?}");
        };
        let (mut second, mut first) = (Differences::default(), Differences::default());
        for passed in [0, 1, 2] {
            second.push((0, 1), (passed, 2));
            first.push((passed, 2), (0, 1));
        }
        assert!(reach > 1.0 / 2.0, "the ends are those of what is possible");
        near(second.interval(P95).unwrap(), 0.5 - reach, 1.0);
        near(first.interval(P95).unwrap(), -1.0, reach - 0.5);
    }

    /// Five cases that all gained a fifth: 1.96² / (5 + 1.96²) = 0.43448 of cases may be otherwise, and lose all or gain all.
    #[test]
    fn cases_that_all_fare_alike_leave_room_for_others() {
        let mut differences = Differences::default();
        (0..5).for_each(|_| differences.push((1, 5), (2, 5)));
        let unseen = P95.z().powi(2) / (5.0 + P95.z().powi(2));
        let expected = Interval { low: 0.2 - 1.2 * unseen, high: 0.2 + 0.8 * unseen };
        for interval in [differences.interval(P95).unwrap(), differences.cautious(P95).unwrap()] {
            let off = (interval.low - expected.low).abs().max((interval.high - expected.high).abs());
            assert!(off < 1e-9, "{interval:?} {expected:?}");
        }
        // 1.2 × 1.96² / (n + 1.96²) is below 0.2 from 5 × 1.96² = 19.2 cases on.
        assert_eq!(differences.cases_until_sure(P95, |interval| interval.low > 0.0), Some(20));
        assert_eq!(
            Differences::default().cases_until_sure(P95, |_| true),
            None,
            "nothing falls out like no case"
        );
        // Six that all gain have a p-value of 1/32, five one of 1/16.
        assert_eq!(differences.cases_to_tell(0.05), Some(6));
        assert_eq!(Differences::default().cases_to_tell(0.05), None);
    }

    /// Of each eight cases one loses a half, one gains a half, and two gain a quarter: a mean of 1/16, and a variance of
    /// (5/8 − 8/256) / 7 = 0.0848. By the normal value 1.96² × 0.0848 / 0.0039 = 83.4 cases are enough, by Student's some more.
    #[test]
    fn repeated_cases_that_would_do_are_the_least_by_students_value() {
        let mut differences = Differences::default();
        for (first, second) in [(2, 0), (0, 2), (1, 2), (1, 2), (1, 1), (2, 2), (0, 0), (3, 3)] {
            differences.push((first, 4), (second, 4));
        }
        let deviation = (5.0f64 / 8.0 - 8.0 / 256.0).sqrt() / 7f64.sqrt();
        assert!((differences.deviation().unwrap() - deviation).abs() < 1e-12);
        let reach = |cases: u64| P95.t(cases - 1) * deviation / (cases as f64).sqrt();
        let needed = differences.cases_to_tell(0.05).unwrap();
        let power = |cases: u64| power_of_mean(cases, deviation * deviation, 0.0625, 0.05);
        assert!(power(needed) >= POWER && power(needed - 1) < POWER, "{needed}");
        // (1.959964 + 0.841621)² × 0.0848 / 0.0039 = 170.4 by the normal value.
        assert!((171..176).contains(&needed), "{needed}");
        // To be sure that nothing got worse by 20 points takes fewer, as a share of 1.96² / (n + 1.96²) that is unseen may lose the mean
        // and all of 1, and the mean lies lower by 0.8416 standard errors in one run of five.
        let sure = differences.cases_until_sure(P95, |interval| interval.low > -0.2).unwrap();
        let lost = |cases: u64| {
            let unseen = 1.0625 * P95.z().powi(2) / (cases as f64 + P95.z().powi(2)) - 0.0625;
            unseen.max(reach(cases) - 0.0625) + Z_POWER * deviation / (cases as f64).sqrt()
        };
        assert!(lost(sure) < 0.2 && lost(sure - 1) >= 0.2, "{sure}");
    }

    #[test]
    fn shares_are_taken_as_they_are() {
        let mut differences = Differences::default();
        differences.push_shares(0.25, 0.75);
        differences.push_shares(0.5, 0.25);
        assert_eq!((differences.cases(), differences.mean()), (2, Some(0.125)));
        assert_eq!(differences.values().collect::<Vec<_>>(), [((-1, 4), 1), ((1, 2), 1)]);
    }
}
