//! What a comparison over so many cases can see at all: said before money is spent.

use super::{LEVEL, cases, level, percent, points};
use crate::stats::{Confidence, detectable_paired};

/// The share of cases on which two columns of single trials are taken to differ. Twice this share needs about twice the cases.
const DISCORDANCE: f64 = 0.2;
/// How often a difference is to be seen.
const POWER: f64 = 0.8;
/// A difference that people usually want to see.
const WANTED: f64 = 0.05;

/// The smallest difference between two columns that is seen with 80 % power.
#[derive(Debug, Clone, PartialEq)]
pub struct Visible {
    /// How many cases there are.
    pub cases: u64,
    /// How many comparisons are made at once.
    pub family: u64,
    /// The difference; none where no difference is large enough.
    pub difference: Option<f64>,
    /// How many cases it takes to see 5 points.
    pub needed: u64,
}

/// What so many cases can see, if each is asked once and two columns differ on a fifth of them.
pub fn visible(cases: u64, family: u64) -> Visible {
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
    Visible { cases, family, difference: seen(cases), needed }
}

impl Visible {
    /// Whether a difference of 5 points goes unseen too often.
    pub fn is_coarse(&self) -> bool {
        self.cases < self.needed
    }

    /// All of it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        let count = cases(self.cases);
        let assumed = format!("if two columns differ on {} of cases", level(DISCORDANCE));
        let adjusted = match self.family {
            1 => String::new(),
            family => format!(", adjusted for {family} comparisons"),
        };
        let needed = match self.is_coarse() {
            true => format!("; {} see 5 points", cases(self.needed)),
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
pub fn gate_reach(cases_planned: u64, rate: f64, sure: f64) -> Result<String, String> {
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
    Err(format!(
        "a gate of {} with {} confidence cannot hold over {count}{needed}",
        percent(rate),
        level(sure)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connor (1987): n = (z₀.₉₇₅ √ψ + z₀.₈ √(ψ − δ²))² / δ².
    #[test]
    fn connors_number_of_pairs() {
        let found = visible(1000, 1);
        let n = (1.959964 * 0.2f64.sqrt() + 0.841621 * (0.2f64 - 0.0025).sqrt()).powi(2) / 0.0025;
        assert_eq!(found.needed, n.ceil() as u64);
        assert!(!found.is_coarse() && found.difference.unwrap() < 0.05);
        assert!(visible(1000, 45).difference.unwrap() > found.difference.unwrap());
        assert_eq!(visible(5, 1).difference, None);
    }

    /// The limits of Wilson's interval agree: 97.4 % of 35 hold 90 %, and 24 that all pass do not.
    #[test]
    fn a_gate_that_cannot_hold_is_told() {
        assert!(gate_reach(25, 0.9, 0.95).is_ok());
        assert!(gate_reach(24, 0.9, 0.95).unwrap_err().contains("it takes 25 cases that all pass"));
        let all = |n: u64| crate::stats::wilson(n, n, Confidence::new(0.9).unwrap()).unwrap().low;
        assert!(all(25) >= 0.9 && all(24) < 0.9);
    }
}
