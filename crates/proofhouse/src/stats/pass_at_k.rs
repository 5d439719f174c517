//! pass@k: the chance that at least one of k completions passes, estimated without bias from n of them.

/// The unbiased estimate 1 − C(n−c, k) / C(n, k) of Chen et al. (2021), "Evaluating large language models trained on
/// code"; none when k is 0 or larger than n.
///
/// The quotient is a product of at most k factors, carried with twice the digits of a double, so that the result is the
/// double nearest to the exact fraction or its neighbour.
///
/// # Panics
/// When more completions passed than there are.
pub fn pass_at_k(completions: u64, passed: u64, k: u64) -> Option<f64> {
    assert!(passed <= completions, "no more passed than there are");
    if k == 0 || k > completions {
        return None;
    }
    if passed + k > completions {
        return Some(1.0);
    }
    // C(n−c, k) / C(n, k) is symmetric in c and k: the shorter product does.
    let (factors, taken) = (passed.min(k), passed.max(k));
    let mut none_passes = Double { high: 1.0, low: 0.0 };
    for i in 0..factors {
        none_passes = none_passes.times((completions - taken - i) as f64).over((completions - i) as f64);
    }
    Some((1.0 - none_passes.high) - none_passes.low)
}

/// An unevaluated sum of two doubles (Dekker 1971). `mul_add` is correctly rounded everywhere, so nothing depends on
/// the platform.
#[derive(Clone, Copy)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    fn times(self, factor: f64) -> Double {
        let product = self.high * factor;
        let error = self.high.mul_add(factor, -product);
        Double::sum(product, self.low.mul_add(factor, error))
    }

    fn over(self, divisor: f64) -> Double {
        let quotient = self.high / divisor;
        let rest = (-quotient).mul_add(divisor, self.high) + self.low;
        Double::sum(quotient, rest / divisor)
    }

    fn sum(high: f64, low: f64) -> Double {
        let sum = high + low;
        Double { high: sum, low: low - (sum - high) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(completions: u64, passed: u64, k: u64, expected: f64) {
        let value = pass_at_k(completions, passed, k).unwrap();
        let off = (value.to_bits() as i64 - expected.to_bits() as i64).abs();
        assert!(off <= 1, "{completions} {passed} {k}: {value} is not {expected}");
    }

    /// Exact fractions, worked out by hand.
    #[test]
    fn exact_values() {
        check(1, 0, 1, 0.0);
        check(1, 1, 1, 1.0);
        check(5, 2, 1, 2.0 / 5.0);
        check(5, 2, 2, 7.0 / 10.0);
        check(6, 2, 3, 4.0 / 5.0);
        check(10, 1, 10, 1.0);
        check(10, 3, 5, 11.0 / 12.0);
        check(20, 1, 10, 1.0 / 2.0);
        check(52, 4, 5, 1.0 - 1_712_304.0 / 2_598_960.0);
        check(1_000_000, 1, 1, 1e-6);
        check(1_000_000, 0, 500_000, 0.0);
        assert_eq!(pass_at_k(0, 0, 1), None);
        assert_eq!(pass_at_k(5, 2, 0), None);
        assert_eq!(pass_at_k(5, 2, 6), None);
    }

    /// The vectors of the conformance data, where the caller has them.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "only the tests know where conformance data is")]
    fn conformance_vectors() {
        let Ok(folder) = std::env::var("PROOFHOUSE_CONFORMANCE_DATA") else { return };
        let text = std::fs::read_to_string(format!("{folder}/code/passk_vectors.json")).unwrap();
        let vectors: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        assert!(!vectors.is_empty());
        for vector in vectors {
            let number = |key: &str| vector[key].as_u64().unwrap();
            check(number("n"), number("c"), number("k"), vector["value"].as_f64().unwrap());
        }
    }

    fn choose(n: u64, k: u64) -> u128 {
        (0..k).fold(1u128, |product, i| product * u128::from(n - i) / u128::from(i + 1))
    }

    proptest! {
        #[test]
        fn is_the_fraction_and_grows(n in 1u64..60, c in 0u64..60, k in 1u64..60) {
            prop_assume!(c <= n && k <= n);
            let value = pass_at_k(n, c, k).unwrap();
            let all = choose(n, k);
            let exact = (all - if n - c >= k { choose(n - c, k) } else { 0 }) as f64 / all as f64;
            prop_assert!((value - exact).abs() <= 4e-16, "{} {}", value, exact);
            prop_assert!((0.0..=1.0).contains(&value));
            if c < n {
                prop_assert!(pass_at_k(n, c + 1, k).unwrap() >= value);
            }
            if k < n {
                prop_assert!(pass_at_k(n, c, k + 1).unwrap() >= value);
            }
        }
    }
}
