//! How far several raters agree beyond chance: Krippendorff's alpha, with cases as what is counted.

use super::interval::Interval;
use super::quantile::Confidence;

/// What raters said of units (answers), by case: a few numbers for each case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ratings {
    /// Units and their sums, of each case.
    closed: Vec<(u64, Part)>,
    open: (u64, Part),
}

/// Sums over units that at least two raters rated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Part {
    values: f64,
    sum: f64,
    squares: f64,
    /// For each unit, squared differences of all ordered pairs, over the number of its ratings less one.
    within: f64,
}

/// Krippendorff's alpha: 1 for raters who always agree, 0 for raters who agree by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alpha {
    /// The estimate.
    pub value: f64,
    /// Its interval over cases; none below two cases, or where nothing varies.
    pub interval: Option<Interval>,
}

impl Ratings {
    /// Takes one unit's ratings, within 0..=1. A unit with one rating says nothing of agreement.
    pub fn push(&mut self, ratings: &[f64]) {
        if ratings.len() < 2 {
            return;
        }
        let count = ratings.len() as f64;
        let sum: f64 = ratings.iter().sum();
        let squares: f64 = ratings.iter().map(|rating| rating * rating).sum();
        let (units, open) = &mut self.open;
        *units += 1;
        open.values += count;
        open.sum += sum;
        open.squares += squares;
        open.within += 2.0 * (count * squares - sum * sum).max(0.0) / (count - 1.0);
    }

    /// All units of a case have been taken.
    pub fn close_case(&mut self) {
        let case = std::mem::take(&mut self.open);
        if case.0 > 0 {
            self.closed.push(case);
        }
    }

    /// How many units at least two raters rated.
    pub fn units(&self) -> u64 {
        self.closed.iter().map(|(units, _)| units).sum()
    }

    /// How many cases those are of.
    pub fn cases(&self) -> u64 {
        self.closed.len() as u64
    }

    /// How far they agree; none where there is nothing to compare, or all say the same of everything.
    ///
    /// Krippendorff (2004), *Content Analysis*, chapter 11, with squared differences, which for right and wrong is the nominal
    /// alpha. The interval is the jackknife's over cases (Arvesen 1969, Annals of Mathematical Statistics 40, 2076–2100).
    pub fn alpha(&self, confidence: Confidence) -> Option<Alpha> {
        let all = self.closed.iter().fold(Part::default(), |sum, (_, case)| sum.plus(case, 1.0));
        let value = all.alpha()?;
        Some(Alpha { value, interval: self.interval(&all, value, confidence) })
    }

    fn interval(&self, all: &Part, value: f64, confidence: Confidence) -> Option<Interval> {
        let count = self.closed.len() as f64;
        // Without its only case there is nothing, of which there is no alpha.
        let without: Option<Vec<f64>> =
            self.closed.iter().map(|(_, case)| all.plus(case, -1.0).alpha()).collect();
        let without = without?;
        let mean = without.iter().sum::<f64>() / count;
        let squares: f64 = without.iter().map(|each| (each - mean).powi(2)).sum();
        let error = ((count - 1.0) / count * squares).sqrt();
        let reach = confidence.t(self.closed.len() as u64 - 1) * error;
        (error > 1e-12).then(|| Interval { low: (value - reach).max(-1.0), high: (value + reach).min(1.0) })
    }
}

impl Part {
    fn plus(&self, other: &Part, sign: f64) -> Part {
        Part {
            values: self.values + sign * other.values,
            sum: self.sum + sign * other.sum,
            squares: self.squares + sign * other.squares,
            within: self.within + sign * other.within,
        }
    }

    fn alpha(&self) -> Option<f64> {
        let expected = 2.0 * (self.values * self.squares - self.sum * self.sum) / (self.values - 1.0);
        (expected > 1e-9).then(|| 1.0 - self.within / expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P95: Confidence = Confidence::P95;

    /// Krippendorff (2011), "Computing Krippendorff's alpha-reliability", example B: two observers, binary data, ten units, no
    /// missing: alpha 0.095.
    #[test]
    fn the_example_of_two_observers() {
        let (a, b) = ([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]);
        let mut ratings = Ratings::default();
        for (a, b) in a.into_iter().zip(b) {
            ratings.push(&[f64::from(a), f64::from(b)]);
            ratings.close_case();
        }
        let found = ratings.alpha(P95).unwrap();
        assert!((found.value - 0.095).abs() < 5e-4, "{found:?}");
        assert!(found.interval.unwrap().contains(0.0), "{found:?}");
        assert_eq!((ratings.units(), ratings.cases()), (10, 10));
    }

    #[test]
    fn units_with_one_rating_and_raters_of_one_mind_say_nothing() {
        let mut ratings = Ratings::default();
        ratings.push(&[1.0]);
        ratings.close_case();
        assert_eq!((ratings.alpha(P95), ratings.units(), ratings.cases()), (None, 0, 0));
        for _ in 0..5 {
            ratings.push(&[1.0, 1.0]);
            ratings.close_case();
        }
        assert_eq!(ratings.alpha(P95), None, "nobody can agree beyond chance where nothing differs");
        ratings.push(&[0.0, 0.0]);
        ratings.close_case();
        assert_eq!(ratings.alpha(P95).map(|found| (found.value, found.interval)), Some((1.0, None)));
    }
    /// Without the first case alpha is 1 - 2/2 = 0, without the second 1 - 0 = 1, of all 1 - 2 / (30/7) = 8/15. The jackknife's
    /// error is 0.5, and Student's quantile for one degree of freedom 12.7: the interval is all there is.
    #[test]
    fn two_cases_have_an_interval_and_one_has_none() {
        let mut ratings = Ratings::default();
        ratings.push(&[1.0, 1.0]);
        ratings.push(&[0.0, 0.0]);
        ratings.close_case();
        assert_eq!(ratings.alpha(P95).map(|found| (found.value, found.interval)), Some((1.0, None)));
        ratings.push(&[1.0, 0.0]);
        ratings.push(&[1.0, 1.0]);
        ratings.close_case();
        let found = ratings.alpha(P95).unwrap();
        assert!((found.value - 8.0 / 15.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.interval, Some(Interval { low: -1.0, high: 1.0 }));
    }
}
