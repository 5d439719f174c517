//! Whether the difference in passed trials is more than noise: the same trials on both sides, so the test is paired.

use schemars::JsonSchema;
use serde::Serialize;

use crate::spine::tally::stats::{self, PairedCounts};
use crate::text::numbers::{NBSP, count, p_value, percent, points, spaced};

/// Common trials by what both runs said of them; trials that one of them could not assess are in none.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Table(PairedCounts);

impl Table {
    pub(super) fn add(&mut self, passed: (Option<bool>, Option<bool>)) {
        match passed {
            (Some(true), Some(true)) => self.0.both += 1,
            (Some(true), Some(false)) => self.0.only_first += 1,
            (Some(false), Some(true)) => self.0.only_second += 1,
            (Some(false), Some(false)) => self.0.neither += 1,
            (None, _) | (_, None) => {}
        }
    }
}

/// The paired comparison of `passed` over the trials that both runs could assess.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Noise {
    /// Trials that both runs could assess.
    pub pairs: u64,
    /// Passed in both.
    pub both_passed: u64,
    /// Passed in A only.
    pub only_a: u64,
    /// Passed in B only.
    pub only_b: u64,
    /// Passed in neither.
    pub neither: u64,
    /// Pass rate of B minus that of A; null without pairs.
    pub difference: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Exact McNemar, two-sided; null without pairs.
    pub p_value: Option<f64>,
    /// Whether `p_value` is below 0.05; null without pairs.
    pub more_than_noise: Option<bool>,
    /// All of that in words.
    pub sentence: String,
}

/// The level of the test, the usual one.
const LEVEL: f64 = 0.05;

impl Noise {
    pub(super) fn of(table: &Table) -> Self {
        let counts = table.0;
        let p_value = counts.mcnemar().map(|test| test.p_value);
        let difference = counts.difference(stats::Confidence::P95);
        let mut noise = Self {
            pairs: counts.pairs(),
            both_passed: counts.both,
            only_a: counts.only_first,
            only_b: counts.only_second,
            neither: counts.neither,
            difference: difference.map(|difference| difference.value),
            low: difference.map(|difference| difference.interval.low),
            high: difference.map(|difference| difference.interval.high),
            p_value,
            more_than_noise: p_value.map(|p| p < LEVEL),
            sentence: String::new(),
        };
        noise.sentence = noise.in_words();
        noise
    }

    fn in_words(&self) -> String {
        let (Some(difference), Some(p)) = (self.difference, self.p_value) else {
            return "no trial was assessed in both runs, so nothing can be said about the pass rate"
                .to_owned();
        };
        let trials = spaced(self.pairs, "trial", "trials");
        let rate = |passed: u64| percent((self.both_passed + passed) as f64 / self.pairs as f64);
        let (old, new) = (rate(self.only_a), rate(self.only_b));
        let sentence = if self.only_a + self.only_b == 0 {
            format!("pass rate {old} in both, the same verdict on all {trials} assessed in both")
        } else {
            let interval = match (self.low, self.high) {
                (Some(low), Some(high)) => format!(", 95 % interval {} to {}", points(low), points(high)),
                _ => String::new(),
            };
            let verdict = if p < LEVEL { "more than noise" } else { "may be noise" };
            format!(
                "pass rate {old} → {new} ({} points{interval}) on {trials} assessed in both: {verdict} (exact McNemar \
                 over trials taken as independent, {}; {} newly failed, {} newly passed)",
                points(difference),
                p_value(p),
                count(self.only_a),
                count(self.only_b),
            )
        };
        sentence.replace(NBSP, " ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(both: u64, only_a: u64, only_b: u64, neither: u64) -> Noise {
        Noise::of(&Table(PairedCounts { both, only_first: only_a, only_second: only_b, neither }))
    }

    #[test]
    fn published_values() {
        for (only_a, only_b, p) in [(0, 5, 0.0625), (1, 8, 0.0391), (8, 1, 0.0391), (0, 0, 1.0), (4, 4, 1.0)]
        {
            let found = noise(1, only_a, only_b, 0).p_value.unwrap();
            assert!((found - p).abs() < 5e-5, "{only_a} {only_b}: {found}");
        }
        assert!(noise(0, 0, 0, 0).p_value.is_none());
        assert!(noise(36, 2, 12, 0).low.unwrap() > 0.0);
        let (there, back) = (noise(36, 2, 12, 7), noise(36, 12, 2, 7));
        assert!((there.low.unwrap() + back.high.unwrap()).abs() < 1e-12, "the interval has no side");
        let same = noise(10, 0, 0, 0);
        assert!(same.low.unwrap() < 0.0 && same.high.unwrap() > 0.0, "never of no width");
    }

    #[test]
    fn the_sentence_says_whether_it_is_noise() {
        insta::assert_snapshot!(noise(0, 0, 0, 0).sentence, @"no trial was assessed in both runs, so nothing can be said about the pass rate");
        insta::assert_snapshot!(noise(1_200, 0, 0, 34).sentence, @"pass rate 97.2 % in both, the same verdict on all 1,234 trials assessed in both");
        insta::assert_snapshot!(noise(80, 2, 1, 17).sentence, @"pass rate 82.0 % → 81.0 % (−1.0 points, 95 % interval −5.6 to +3.4) on 100 trials assessed in both: may be noise (exact McNemar over trials taken as independent, p = 1.000; 2 newly failed, 1 newly passed)");
        insta::assert_snapshot!(noise(80, 15, 1, 4).sentence, @"pass rate 95.0 % → 81.0 % (−14.0 points, 95 % interval −22.4 to −6.5) on 100 trials assessed in both: more than noise (exact McNemar over trials taken as independent, p < 0.001; 15 newly failed, 1 newly passed)");
    }
}
