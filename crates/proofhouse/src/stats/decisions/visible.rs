//! What a comparison over so many cases can see at all: said before money is spent.

use super::{LEVEL, cases, grouped, level, percent, points};
use crate::stats::{Confidence, detectable_paired};
use crate::text::complaint::Complaint;

/// The share of cases on which two columns of single trials are taken to differ. Twice this share needs about twice the cases.
const DISCORDANCE: f64 = 0.2;
/// How often a difference is to be seen.
const POWER: f64 = 0.8;
/// A difference that people usually want to see.
const WANTED: f64 = 0.05;

/// What two columns are compared on, one by one: `case`, `task`, `attack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// The word for one of them; more have an `s`.
    pub word: &'static str,
    /// How many there are.
    pub count: u64,
}

impl Unit {
    fn counted(self, count: u64) -> String {
        format!("{} {}{}", grouped(count), self.word, if count == 1 { "" } else { "s" })
    }
}

/// The smallest difference between two columns that is seen with 80 % power.
#[derive(Debug, Clone, PartialEq)]
pub struct Visible {
    /// What there is to compare.
    pub unit: Unit,
    /// How many comparisons are made at once.
    pub family: u64,
    /// The difference; none where no difference is large enough.
    pub difference: Option<f64>,
    /// How many cases it takes to see 5 points.
    pub needed: u64,
}

/// What so many of them can see, if each is asked once and two columns differ on a fifth of them.
pub fn visible(unit: Unit, family: u64) -> Visible {
    let family = family.max(1);
    let confidence = Confidence::new(1.0 - LEVEL / family as f64).unwrap_or(Confidence::P95);
    let seen = |cases: u64| detectable_paired(cases, DISCORDANCE, confidence, POWER);
    let enough = |cases: u64| seen(cases).is_some_and(|difference| difference <= WANTED);
    let (mut short, mut needed) = (0, 1);
    while !enough(needed) {
        (short, needed) = (needed, needed * 2);
    }
    while needed - short > 1 {
        let middle = short + (needed - short) / 2;
        if enough(middle) { needed = middle } else { short = middle }
    }
    Visible { unit, family, difference: seen(unit.count), needed }
}

impl Visible {
    /// Whether a difference of 5 points goes unseen too often.
    pub fn is_coarse(&self) -> bool {
        self.unit.count < self.needed
    }

    /// All of it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        let count = self.unit.counted(self.unit.count);
        let assumed = format!("if two columns differ on {} of {}s", level(DISCORDANCE), self.unit.word);
        let adjusted = match self.family {
            1 => String::new(),
            family => format!(", adjusted for {family} comparisons"),
        };
        let needed = match self.is_coarse() {
            true => format!("; {} see 5 points", self.unit.counted(self.needed)),
            false => String::new(),
        };
        match self.difference {
            Some(difference) => format!(
                "{count} see a difference from {} points on with 80 % power ({assumed}{adjusted}){needed}",
                points(difference).trim_start_matches('+')
            ),
            None => format!(
                "{count} are too few to see any difference with 80 % power ({assumed}{adjusted}){needed}"
            ),
        }
    }
}

/// Whether a gate with a confidence can be held by so many cases of one trial each, in one sentence; `Err` where not even by all
/// of them.
pub fn gate_reach(cases_planned: u64, rate: f64, sure: f64) -> Result<String, Complaint> {
    let z = Confidence::new(2.0 * sure - 1.0).map_or(0.0, Confidence::z);
    let count = cases(cases_planned);
    let from = rate + z * (rate * (1.0 - rate) / cases_planned.max(1) as f64).sqrt();
    if from <= 1.0 {
        return Ok(format!(
            "a gate of {} with {} confidence holds from {} passed on, over {count}",
            percent(rate),
            level(sure),
            percent(from)
        ));
    }
    let needed = match rate < 1.0 {
        true => format!("; it takes {} that all pass", cases((z * z * rate / (1.0 - rate)).ceil() as u64)),
        false => String::new(),
    };
    Err(Complaint::new(format!(
        "a gate of {} with {} confidence cannot hold over {count}{needed}",
        percent(rate),
        level(sure)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: u64) -> Unit {
        Unit { word: "case", count }
    }

    /// Connor (1987): n = (z₀.₉₇₅ √ψ + z₀.₈ √(ψ − δ²))² / δ².
    #[test]
    fn connors_number_of_pairs() {
        let found = visible(of(1000), 1);
        let n = (1.959964 * 0.2f64.sqrt() + 0.841621 * (0.2f64 - 0.0025).sqrt()).powi(2) / 0.0025;
        assert_eq!(found.needed, n.ceil() as u64);
        assert!(!found.is_coarse() && found.difference.unwrap() < 0.05);
        assert!(visible(of(1000), 45).difference.unwrap() > found.difference.unwrap());
        assert_eq!(visible(of(5), 1).difference, None);
    }

    /// The limits of Wilson's interval agree: 97.4 % of 35 hold 90 %, and 24 that all pass do not.
    #[test]
    fn a_gate_that_cannot_hold_is_told() {
        assert!(gate_reach(25, 0.9, 0.95).is_ok());
        assert!(gate_reach(24, 0.9, 0.95).unwrap_err().what.contains("it takes 25 cases that all pass"));
        let all = |n: u64| crate::stats::wilson(n, n, Confidence::new(0.9).unwrap()).unwrap().low;
        assert!(all(25) >= 0.9 && all(24) < 0.9);
    }
}
