//! Two columns of verdicts on the same cases: by how much they differ, and whether that is more than noise.

use std::collections::BTreeSet;

use super::differences::Differences;
use super::permutation::sign_flip;
use super::{cases, grouped, p_value, points};
use crate::stats::interval::Interval;
use crate::stats::{Confidence, holm_within};

/// The level of every test here, over a whole family of comparisons.
pub const LEVEL: f64 = 0.05;

/// A difference of three points is one that few decisions hang on: the margin of `--fail-on-worse`.
const NEGLIGIBLE: f64 = 0.03;

/// How the second of two columns compares with the first, over cases like these.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The first column.
    pub a: String,
    /// The second column.
    pub b: String,
    /// Cases with a verdict in both.
    pub cases: u64,
    /// Cases on which the first did better, and on which the second did.
    pub better: (u64, u64),
    /// The mean over cases of second minus first; none without cases.
    pub difference: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The permutation test's p-value.
    pub p: Option<f64>,
    /// The same, adjusted by Holm over the family.
    pub adjusted_p: Option<f64>,
    /// How many comparisons the family has, done or not.
    pub family: u64,
    /// About how many cases would tell this difference from none with 80 % power; more than there are, and none without one.
    pub needed: Option<u64>,
    /// Those of the two that answered nothing which can be assessed: they have no rate to compare.
    pub silent: Vec<String>,
    /// Whether more of what is compared is worse.
    pub is_harm: bool,
}

/// Compares two columns that nobody chose among others.
pub fn compare(a: &str, b: &str, differences: &Differences) -> Comparison {
    compare_family(&[(a.to_owned(), b.to_owned(), differences.clone())], 1).remove(0)
}

/// Compares pairs of columns, with p-values adjusted by Holm over `family` comparisons: those that could have been made, whether
/// they were or not. So pairs may be chosen by their results.
pub fn compare_family(pairs: &[(String, String, Differences)], family: u64) -> Vec<Comparison> {
    let family = family.max(pairs.len() as u64);
    let mut all: Vec<Comparison> =
        pairs.iter().map(|(a, b, differences)| unadjusted(a, b, differences, family)).collect();
    adjust(&mut all, family);
    all
}

/// Up to this many columns, every pair is compared.
const ALL_PAIRS: usize = 10;

/// How many pairs there are of so many columns.
pub fn all_pairs(columns: usize) -> u64 {
    columns as u64 * (columns as u64).saturating_sub(1) / 2
}

/// Which pairs of columns to compare: all of a few; of many, each with the first and with `top`, so that the work grows with the
/// columns and not with their square.
pub fn chosen_pairs(columns: usize, top: usize) -> Vec<(usize, usize)> {
    let pairs: BTreeSet<(usize, usize)> = match columns {
        0..=ALL_PAIRS => (0..columns).flat_map(|b| (0..b).map(move |a| (a, b))).collect(),
        _ => (0..columns)
            .flat_map(|at| [(0, at), (at.min(top), at.max(top))])
            .filter(|(a, b)| a != b)
            .collect(),
    };
    pairs.into_iter().collect()
}

fn unadjusted(a: &str, b: &str, differences: &Differences, family: u64) -> Comparison {
    Comparison {
        a: a.to_owned(),
        b: b.to_owned(),
        cases: differences.cases(),
        better: differences.better(),
        difference: differences.mean(),
        interval: differences.interval(Confidence::P95),
        p: sign_flip(differences),
        adjusted_p: None,
        family,
        needed: differences.cases_to_tell(LEVEL / family.max(1) as f64),
        silent: Vec::new(),
        is_harm: false,
    }
}

fn adjust(all: &mut [Comparison], family: u64) {
    // A pair without cases has no p-value. It still counts in the family: whether it has cases was seen in the data.
    let p_values: Vec<f64> = all.iter().map(|each| each.p.unwrap_or(1.0)).collect();
    for (each, adjusted) in all.iter_mut().zip(holm_within(&p_values, family)) {
        each.adjusted_p = each.p.map(|_| adjusted);
    }
}

impl Comparison {
    /// The smallest p-value that as many cases that differ could have: all of them in one direction.
    fn least_p(&self) -> f64 {
        let differ = self.better.0 + self.better.1;
        0.5f64.powi(i32::try_from(differ).unwrap_or(i32::MAX) - 1)
    }

    /// Says which of the columns are of somebody who answered nothing that can be assessed.
    pub fn with_silent(mut self, is_silent: impl Fn(&str) -> bool) -> Self {
        self.silent = [&self.a, &self.b].into_iter().filter(|name| is_silent(name)).cloned().collect();
        self
    }

    /// Whether chance alone would seldom do this; none without cases.
    pub fn more_than_noise(&self) -> Option<bool> {
        self.adjusted_p.map(|p| p < LEVEL)
    }

    /// The same in a few words, for a cell of a table: `better (p = 0.020)`, `same within 3.0 points`, `about 14 more cases would
    /// tell`.
    pub fn in_short(&self) -> String {
        let (Some(difference), Some(interval), Some(p)) = (self.difference, self.interval, self.adjusted_p)
        else {
            return "nothing to compare".to_owned();
        };
        if p < LEVEL {
            let word = match (self.is_harm, difference < 0.0) {
                (false, true) => "worse",
                (false, false) => "better",
                (true, true) => "lower",
                (true, false) => "higher",
            };
            return format!("{word} ({})", p_value(p));
        }
        let reach = interval.high.max(-interval.low);
        match self.needed.filter(|needed| *needed > self.cases && reach > NEGLIGIBLE) {
            Some(needed) if self.better != (0, 0) => match needed - self.cases {
                1 => "about 1 more case would tell".to_owned(),
                more => format!("about {} more cases would tell", grouped(more)),
            },
            _ if interval.low <= 0.0 && interval.high >= 0.0 => {
                format!("same within {} points", size(reach))
            }
            _ => format!("may be noise ({})", p_value(p)),
        }
    }

    /// All of it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        let (a, b) = (&self.a, &self.b);
        match self.silent.as_slice() {
            [] => {}
            [one] => {
                let other = if one == a { b } else { a };
                return format!(
                    "nothing that {one} answered can be assessed, so it cannot be compared with {other}"
                );
            }
            _ => {
                return format!(
                    "nothing that {a} or {b} answered can be assessed, so they cannot be compared"
                );
            }
        }
        let (Some(difference), Some(interval), Some(p)) = (self.difference, self.interval, self.adjusted_p)
        else {
            return format!("no case was assessed for both {a} and {b}, so nothing can be compared");
        };
        let count = cases(self.cases);
        if self.better == (0, 0) {
            let reach = size(interval.high.max(-interval.low));
            let all = if self.cases == 1 { "the one case".to_owned() } else { format!("all {count}") };
            return format!(
                "{a} and {b} fare alike on {all}; on cases like these, a difference of up to {reach} points is not excluded"
            );
        }
        let test = match self.family {
            1 => p_value(p),
            family => format!("{}, adjusted for {} comparisons", p_value(p), grouped(family)),
        };
        let test = format!("permutation test over {count}, {test}");
        let range = |low: f64, high: f64| format!("95 % interval {} to {}", points(low), points(high));
        if p < LEVEL {
            let (less, more) = if self.is_harm { ("lower", "higher") } else { ("worse", "better") };
            let (word, by, low, high) = match difference < 0.0 {
                true => (less, -difference, -interval.high, -interval.low),
                false => (more, difference, interval.low, interval.high),
            };
            let by = points(by);
            let by = by.trim_start_matches('+');
            return format!(
                "on cases like these, {b} is {word} than {a} by {by} points ({}): more than noise ({test})",
                range(low, high)
            );
        }
        let outside = interval.low > 0.0 || interval.high < 0.0;
        let mut more = String::new();
        // The interval alone would say more than the test does: say why it is not believed.
        if outside && self.least_p() * self.family as f64 >= LEVEL {
            let differ = self.better.0 + self.better.1;
            let (noun, verb) =
                if differ == 1 { ("case that differs", "is") } else { ("cases that differ", "are") };
            more = format!("; {} {noun} {verb} too few to be sure of anything", grouped(differ));
        } else if outside && self.family > 1 {
            more = "; the interval is of this pair alone, not adjusted for the others".to_owned();
        }
        if let Some(needed) = self.needed.filter(|needed| *needed > self.cases) {
            more.push_str(&format!(
                "; about {} would tell with 80 % power, if they fall out like these",
                cases(needed)
            ));
        }
        format!(
            "on cases like these, {b} cannot be told from {a}: {} points ({}) may be noise ({test}){more}",
            points(difference),
            range(interval.low, interval.high)
        )
    }
}

/// How large a difference is, in points.
fn size(reach: f64) -> String {
    points(reach).trim_start_matches('+').to_owned()
}

#[cfg(test)]
mod tests;
