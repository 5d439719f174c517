//! Confidence levels and the quantiles that belong to them.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// A two-sided confidence level, strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence(f64);

/// From this many degrees of freedom on, the expansion in their inverse is right to the eleventh digit, while the
/// search for the quantile becomes slow and coarse.
const MANY_DEGREES: f64 = 1000.0;

impl Confidence {
    /// 95 %, which every interval of a summary has.
    pub const P95: Confidence = Confidence(0.95);

    /// A level; none unless it is strictly between 0 and 1.
    pub fn new(level: f64) -> Option<Self> {
        (level > 0.0 && level < 1.0).then_some(Confidence(level))
    }

    /// The level.
    pub fn level(self) -> f64 {
        self.0
    }

    /// The chance of missing on either side.
    pub(super) fn tail(self) -> f64 {
        (1.0 - self.0) / 2.0
    }

    /// The normal quantile: 1.96 at 95 %.
    pub(super) fn z(self) -> f64 {
        normal_quantile(1.0 - self.tail())
    }

    /// The quantile of Student's t.
    pub(super) fn t(self, degrees: u64) -> f64 {
        assert!(degrees > 0, "t has at least one degree of freedom");
        let degrees = degrees as f64;
        if degrees >= MANY_DEGREES {
            return cornish_fisher(self.z(), degrees);
        }
        let t = StudentsT::new(0.0, 1.0, degrees).expect("the degrees of freedom are above zero");
        t.inverse_cdf(1.0 - self.tail())
    }
}

/// The expansion of Student's quantile in inverse degrees of freedom (Abramowitz and Stegun 1964, 26.7.5). From a thousand degrees
/// on, its next term is in the twelfth digit.
fn cornish_fisher(z: f64, degrees: f64) -> f64 {
    let z2 = z * z;
    let g1 = z * (z2 + 1.0) / 4.0;
    let g2 = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    z + (g1 + (g2 + g3 / degrees) / degrees) / degrees
}

/// The number below which a standard normal value falls with this probability.
pub(super) fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// The probability that a standard normal value falls below `x`.
pub(super) fn normal_cdf(x: f64) -> f64 {
    Normal::standard().cdf(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles as every table has them, with the digits of a double.
    #[test]
    fn quantiles_of_the_tables() {
        let p99 = Confidence::new(0.99).unwrap();
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-10, "{a} {b}");
        near(Confidence::P95.z(), 1.959963984540054);
        near(p99.z(), 2.5758293035489004);
        near(normal_quantile(0.8), 0.8416212335729143);
        near(normal_cdf(1.959963984540054), 0.975);
        for (degrees, at95, at99) in [
            (1, 12.706204736174694, 63.656741162871526),
            (2, 4.302652729749462, 9.924843200918287),
            (3, 3.1824463052837078, 5.840909309733355),
            (4, 2.7764451051977934, 4.604094871349992),
            (10, 2.228138851986274, 3.16927267261695),
            (29, 2.045229642132703, 2.756385903670605),
            (30, 2.0422724563012378, 2.7499956535672254),
            (120, 1.9799304050824402, 2.6174211451068654),
            (999, 1.9623414611334493, 2.5807596372676365),
            (1000, 1.9623390808264083, 2.580754698065951),
            (5000, 1.9604385517065073, 2.5768129665562802),
            (1_000_000, 1.959966356814107, 2.5758342201053344),
        ] {
            near(Confidence::P95.t(degrees), at95);
            near(p99.t(degrees), at99);
            let off = (Confidence::P95.t(degrees) / at95 - 1.0).abs();
            assert!(off < 2e-12 || degrees < 1_000, "{degrees}: {off}");
        }
    }

    #[test]
    fn a_level_is_between_the_ends() {
        assert_eq!(Confidence::new(0.0), None);
        assert_eq!(Confidence::new(1.0), None);
        assert_eq!(Confidence::new(f64::NAN), None);
        assert_eq!(Confidence::new(0.9).map(Confidence::level), Some(0.9));
    }
}
