//! The binomial distribution, accurate for a million trials as for ten, and the exact test that follows from it.

use statrs::function::factorial::ln_factorial;

/// Probabilities that differ by less than this share count as equal in a two-sided test, as they do in R.
const SAME_PROBABILITY: f64 = 1.0 + 1e-7;

/// A probability together with that of the opposite, so that neither loses its digits when the other is near 1.
#[derive(Clone, Copy)]
struct Chance {
    hit: f64,
    miss: f64,
}

impl Chance {
    fn of(p: f64) -> Self {
        assert!((0.0..=1.0).contains(&p), "a probability is within 0..=1");
        Chance { hit: p, miss: 1.0 - p }
    }

    fn flipped(self) -> Self {
        Chance { hit: self.miss, miss: self.hit }
    }

    fn ln_hit(self) -> f64 {
        if self.miss < 0.5 { (-self.miss).ln_1p() } else { self.hit.ln() }
    }

    /// The probability of exactly `k` hits in `n` trials.
    ///
    /// After Loader (2000), "Fast and accurate computation of binomial probabilities": the saddle point form never
    /// takes the difference of large logarithms, so that it keeps its digits for any `n`.
    fn at(self, k: u64, n: u64) -> f64 {
        assert!(k <= n, "no more hits than trials");
        if self.hit == 0.0 || self.miss == 0.0 {
            let certain = if self.hit == 0.0 { 0 } else { n };
            return if k == certain { 1.0 } else { 0.0 };
        }
        let trials = n as f64;
        if k == 0 {
            return (trials * self.flipped().ln_hit()).exp();
        }
        if k == n {
            return (trials * self.ln_hit()).exp();
        }
        let (hits, misses) = (k as f64, (n - k) as f64);
        let exponent = stirling_error(n)
            - stirling_error(k)
            - stirling_error(n - k)
            - deviance(hits, trials * self.hit)
            - deviance(misses, trials * self.miss);
        exponent.exp() * (trials / (std::f64::consts::TAU * hits * misses)).sqrt()
    }

    /// The probability of at most `k` hits.
    fn up_to(self, k: u64, n: u64) -> f64 {
        if k >= n {
            return 1.0;
        }
        if k as f64 > n as f64 * self.hit {
            return 1.0 - self.flipped().falling_sum(n - k - 1, n);
        }
        self.falling_sum(k, n)
    }

    /// The sum of the probabilities of `k`, `k − 1`, …, each from the one before; from the mean downwards they fall.
    fn falling_sum(self, k: u64, n: u64) -> f64 {
        let mut term = self.at(k, n);
        let mut sum = term;
        let odds = self.miss / self.hit;
        for i in (1..=k).rev() {
            term *= i as f64 / (n - i + 1) as f64 * odds;
            let next = sum + term;
            if next == sum {
                break;
            }
            sum = next;
        }
        sum.min(1.0)
    }
}

/// The probability of exactly `k` successes in `n` trials.
pub(super) fn pmf(k: u64, n: u64, p: f64) -> f64 {
    Chance::of(p).at(k, n)
}

/// The probability of at most `k` successes.
pub(super) fn lower_tail(k: u64, n: u64, p: f64) -> f64 {
    Chance::of(p).up_to(k, n)
}

/// The probability of at least `k` successes.
pub fn upper_tail(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 { 1.0 } else { Chance::of(p).flipped().up_to(n - k, n) }
}

/// What Stirling's formula lacks: ln(n!) − ln(√(2πn) (n/e)ⁿ).
fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n <= 15 {
        return ln_factorial(n) - (0.5 * (std::f64::consts::TAU * x).ln() + x * x.ln() - x);
    }
    let x2 = x * x;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / x2) / x2) / x2) / x2) / x
}

/// x ln(x/m) + m − x, by its series where the two are close and the terms would cancel.
fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut term = 2.0 * x * v;
    let mut odd = 1.0;
    loop {
        term *= v * v;
        odd += 2.0;
        let next = sum + term / odd;
        if next == sum {
            return next;
        }
        sum = next;
    }
}

/// The exact two-sided test that the success rate is `p`: the probability of all outcomes that are no more likely
/// than the observed one. None without trials.
///
/// # Panics
/// When there are more successes than trials or `p` is not a probability.
pub fn binomial_test(successes: u64, trials: u64, p: f64) -> Option<f64> {
    assert!(successes <= trials, "no more successes than trials");
    if trials == 0 {
        return None;
    }
    let chance = Chance::of(p);
    let mean = trials as f64 * p;
    Some(match (successes as f64).total_cmp(&mean) {
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Less => two_sided(successes, trials, chance),
        std::cmp::Ordering::Greater => two_sided(trials - successes, trials, chance.flipped()),
    })
}

/// The test of a count below its mean. Beyond the mean the probabilities fall, so the first count that is as unlikely
/// as the observed one is found by halving.
fn two_sided(hits: u64, trials: u64, chance: Chance) -> f64 {
    let limit = chance.at(hits, trials) * SAME_PROBABILITY;
    let (mut likely, mut unlikely) = ((trials as f64 * chance.hit).floor() as u64, trials + 1);
    while unlikely - likely > 1 {
        let middle = likely + (unlikely - likely) / 2;
        if chance.at(middle, trials) <= limit { unlikely = middle } else { likely = middle }
    }
    let above = if unlikely > trials { 0.0 } else { chance.flipped().up_to(trials - unlikely, trials) };
    (chance.up_to(hits, trials) + above).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-11 * b.abs(), "{a} {b}");
    }

    /// Values of scipy 1.17, of which R gives the same.
    #[test]
    fn agrees_with_other_implementations() {
        for (k, n, p, at, below) in [
            (0, 5, 0.5, 0.03125, 0.03125),
            (3, 15, 0.1, 0.12850543909885495, 0.944444369992464),
            (7, 20, 0.3, 0.1642619852172366, 0.7722717974181608),
            (500, 1000, 0.51, 0.020651671825821116, 0.2739014442694964),
            (499_000, 1_000_000, 0.5, 0.00010798197801891438, 0.0228041499326948),
            (12_345, 1_000_000, 0.0125, 0.001359826127101747, 0.08196331743036447),
        ] {
            near(pmf(k, n, p), at);
            near(lower_tail(k, n, p), below);
        }
    }

    /// ln(16!) less Stirling's formula by arithmetic with 60 digits: the first that the series gives.
    #[test]
    fn the_series_of_stirlings_error_keeps_all_digits() {
        let error = stirling_error(16);
        assert!((error - 0.005207655919609641).abs() < 2e-16, "{error}");
    }

    #[test]
    fn chances_near_nothing_and_certainty_keep_their_digits() {
        near(pmf(0, 1_000_000_000_000_000, 1e-17), (-0.01_f64).exp());
        assert_eq!(lower_tail(900, 1000, 0.001), 1.0, "900 hits have no probability that can be written");
        assert_eq!((pmf(0, 0, 1.0), pmf(0, 0, 0.0), pmf(3, 5, 0.0), pmf(5, 5, 1.0)), (1.0, 1.0, 0.0, 1.0));
    }

    /// Conover (1971), p. 97: Mendel's peas, 682 of 925, the example of R's `binom.test`; p = 0.3825.
    #[test]
    fn the_test_of_the_textbook() {
        let p = binomial_test(682, 925, 0.75).unwrap();
        assert!((p - 0.3825).abs() < 5e-5, "{p}");
        near(p, 0.3824915595748517);
        near(binomial_test(3, 15, 0.1).unwrap(), 0.18406106910639106);
        near(binomial_test(7, 20, 0.3).unwrap(), 0.6294979666766769);
        near(binomial_test(499_000, 1_000_000, 0.5).unwrap(), 0.0456082998653896);
        near(binomial_test(12_345, 1_000_000, 0.0125).unwrap(), 0.16434103291807606);
        assert_eq!(binomial_test(0, 0, 0.5), None);
        assert_eq!(binomial_test(5, 10, 0.5), Some(1.0));
        assert_eq!(binomial_test(1, 10, 0.0), Some(0.0));
        assert_eq!(binomial_test(10, 10, 1.0), Some(1.0));
    }

    proptest! {
        #[test]
        fn tails_meet_and_mirror(n in 1u64..400, share in 0.0f64..1.0, p in 0.001f64..0.999) {
            let k = (n as f64 * share) as u64;
            let above = if k == n { 0.0 } else { upper_tail(k + 1, n, p) };
            prop_assert!((lower_tail(k, n, p) + above - 1.0).abs() < 1e-12);
            let mirrored = binomial_test(n - k, n, 1.0 - p).unwrap();
            let test = binomial_test(k, n, p).unwrap();
            prop_assert!((0.0..=1.0).contains(&test));
            prop_assert!((test - mirrored).abs() < 1e-9, "{} {}", test, mirrored);
        }

        #[test]
        fn the_test_is_the_sum_of_what_is_as_unlikely(n in 1u64..80, share in 0.0f64..1.0, p in 0.01f64..0.99) {
            let k = (n as f64 * share) as u64;
            let limit = pmf(k, n, p) * SAME_PROBABILITY;
            let naive: f64 = (0..=n).map(|i| pmf(i, n, p)).filter(|each| *each <= limit).sum();
            prop_assert!((binomial_test(k, n, p).unwrap() - naive.min(1.0)).abs() < 1e-9);
        }
    }
}
