//! Rounding to significant decimal digits: the last step before a number is written.

/// How many significant digits a written number has: enough for any use, few enough to hide the last bits in which
/// platforms differ.
pub const SIGNIFICANT_DIGITS: usize = 12;

/// The double nearest to `x` rounded to `digits` significant decimal digits.
///
/// It goes through text, so that it is exact: formatting and parsing are correctly rounded on every platform. Zero
/// loses its sign; what is not finite stays as it is.
///
/// # Panics
/// When `digits` is 0.
pub fn round_sig(x: f64, digits: usize) -> f64 {
    assert!(digits > 0, "a number has at least one significant digit");
    if x == 0.0 || !x.is_finite() {
        return x + 0.0;
    }
    format!("{x:.*e}", digits - 1).parse().expect("a formatted double parses")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rounds_to_significant_digits() {
        for (x, digits, expected) in [
            (1.0 / 3.0, 3, 0.333),
            (0.1 + 0.2, 12, 0.3),
            (123_456.0, 2, 120_000.0),
            (-2.0 / 3.0, 12, -0.666_666_666_667),
            (9.999_999_999_999_9, 12, 10.0),
            (1.0, 12, 1.0),
            (5e-324, 12, 5e-324),
        ] {
            assert_eq!(round_sig(x, digits), expected, "{x}");
        }
        assert!(round_sig(-0.0, 12).is_sign_positive());
        assert!(round_sig(f64::NAN, 12).is_nan());
    }

    proptest! {
        #[test]
        fn is_idempotent_monotone_and_close(a in -1e9f64..1e9, b in -1e9f64..1e9) {
            let (x, y) = (round_sig(a, 12), round_sig(b, 12));
            prop_assert_eq!(round_sig(x, 12), x);
            prop_assert!((x - a).abs() <= 1e-11 * a.abs());
            prop_assert!(a > b || x <= y);
        }

        #[test]
        fn hides_the_last_bits(x in 1e-6f64..1.0) {
            let neighbour = f64::from_bits(x.to_bits() + 1);
            // Only a number that lies on the border between two roundings can tell them apart.
            let border = (x * 10f64.powf(11.0 - x.log10().floor())).fract() - 0.5;
            prop_assume!(border.abs() > 1e-3);
            prop_assert_eq!(round_sig(x, 12), round_sig(neighbour, 12));
        }
    }
}
