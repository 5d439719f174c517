//! What a comparison over so many cases can see at all: said before money is spent.

use super::{LEVEL, asked, cases, grouped, level, percent, points};
use crate::stats::binomial::{lower_tail, upper_tail};
use crate::stats::{Confidence, detectable_exactly, power_of_mean, power_paired};
use crate::text::complaint::Complaint;

/// The share of cases on which two columns of single trials are taken to differ. Twice this share needs about twice the cases.
const DISCORDANCE: f64 = 0.2;
/// How often a difference is to be seen.
const POWER: f64 = 0.8;
/// Above so many cases nobody looks for the number that would do.
const MOST_CASES: u64 = 1 << 40;

/// A difference that people usually want to see.
pub const WANTED: f64 = 0.05;

/// What two columns are compared on, one by one: `case`, `task`, `attack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// The word for one of them; more have an `s`.
    pub word: &'static str,
    /// How many there are.
    pub count: u64,
    /// How many trials of each there are.
    pub trials: u64,
}

impl Unit {
    fn counted(self, count: u64) -> String {
        format!("{} {}{}", grouped(count), self.word, if count == 1 { "" } else { "s" })
    }

    fn verb(self, one: &'static str, many: &'static str) -> &'static str {
        if self.count == 1 { one } else { many }
    }
}

/// The smallest difference between two columns that is seen with 80 % power.
#[derive(Debug, Clone, PartialEq)]
pub struct Visible {
    /// What there is to compare.
    pub unit: Unit,
    /// How many comparisons are made at once.
    pub family: u64,
    /// The difference that somebody wants to see.
    pub wanted: f64,
    /// The difference that is seen if each is asked once, or if trials of one always come out alike; none where no difference is
    /// large enough.
    pub difference: Option<f64>,
    /// The same where all that differs between two trials is chance, as far as repetitions help; none without repetitions.
    pub repeated: Option<f64>,
    /// How many cases it takes to see what is wanted, if each is asked once.
    pub needed: u64,
    /// The smallest margin by which equal columns are told to be not worse.
    pub margin: f64,
    /// How many cases it takes for the wanted one.
    pub needed_margin: u64,
}

/// What so many of them can see, if two columns of single trials differ on a fifth of them.
///
/// Single trials by the power of the exact test (McNemar's), repeated ones by Student's over cases, margins by the normal approximation,
/// all with a variance of one fifth for each pair of trials.
pub fn visible(unit: Unit, family: u64, wanted: f64) -> Visible {
    let family = family.max(1);
    let one = LEVEL / family as f64;
    let enough = |cases: u64| power_paired(cases, DISCORDANCE, wanted, one) >= POWER;
    let (mut short, mut needed) = (0, 1);
    while !enough(needed) && needed < MOST_CASES {
        (short, needed) = (needed, needed * 2);
    }
    while needed - short > 1 {
        let middle = short + (needed - short) / 2;
        if enough(middle) { needed = middle } else { short = middle }
    }
    let z = |share: f64| Confidence::new(2.0 * share - 1.0).map_or(f64::INFINITY, Confidence::z);
    let reach = (z(1.0 - one / 2.0) + z(POWER)) * DISCORDANCE.sqrt();
    let over = |cases: u64| reach / (cases.max(1) as f64).sqrt();
    // A test that flips the signs of a few cases has no small p-value, however often each is repeated.
    let possible = 0.5f64.powf(unit.count as f64 - 1.0) < one;
    Visible {
        unit,
        family,
        wanted,
        difference: detectable_exactly(unit.count, DISCORDANCE, one, POWER),
        repeated: (unit.trials > 1 && possible).then(|| repeated(unit, one)),
        needed,
        margin: over(unit.count),
        needed_margin: (reach / wanted).powi(2).ceil() as u64,
    }
}

/// The smallest difference that the mean over repeated cases sees, where only chance differs between two trials of a case.
fn repeated(unit: Unit, one: f64) -> f64 {
    let variance = DISCORDANCE / unit.trials as f64;
    let (mut short, mut enough) = (0.0, 1.0);
    while enough - short > 1e-6 {
        let middle = (short + enough) / 2.0;
        if power_of_mean(unit.count, variance, middle, one) >= POWER {
            enough = middle
        } else {
            short = middle
        }
    }
    enough
}

/// `12.4`
fn size(difference: f64) -> String {
    points(difference).trim_start_matches('+').to_owned()
}

impl Visible {
    /// Whether the wanted difference goes unseen too often.
    pub fn is_coarse(&self) -> bool {
        self.unit.count < self.needed
    }

    /// Whether equal columns are told to be not worse by the wanted margin too seldom.
    pub fn is_wide(&self) -> bool {
        self.unit.count < self.needed_margin
    }

    fn assumed(&self) -> String {
        let adjusted = match self.family {
            1 => String::new(),
            family => format!(", adjusted for {family} comparisons"),
        };
        format!("if two columns differ on {} of {}s{adjusted}", level(DISCORDANCE), self.unit.word)
    }

    /// What is seen between columns, in one sentence without a full stop.
    pub fn sentence(&self) -> String {
        let count = self.unit.counted(self.unit.count);
        let assumed = self.assumed();
        let needed = match self.is_coarse() {
            true => format!("; {} see {} points", self.unit.counted(self.needed), size(self.wanted)),
            false => String::new(),
        };
        let repeated =
            match self.repeated.filter(|repeated| self.difference.is_none_or(|seen| *repeated < seen)) {
                Some(repeated) => format!(
                    ", with {} trials of each from {} points on where only chance differs",
                    self.unit.trials,
                    size(repeated)
                ),
                None => String::new(),
            };
        match self.difference {
            Some(difference) => format!(
                "{count} {} a difference from {} points on with 80 % power ({assumed}){repeated}{needed}",
                self.unit.verb("sees", "see"),
                size(difference)
            ),
            None => format!(
                "{count} {} too few to see any difference with 80 % power ({assumed}){repeated}{needed}",
                self.unit.verb("is", "are")
            ),
        }
    }

    /// What `--fail-on-worse` can tell, in one sentence without a full stop.
    pub fn margin_sentence(&self) -> String {
        let needed = match self.is_wide() {
            true => {
                format!("; {} do for {} points", self.unit.counted(self.needed_margin), size(self.wanted))
            }
            false => String::new(),
        };
        if self.margin >= 1.0 {
            let count = self.unit.counted(self.unit.count);
            let are = self.unit.verb("is", "are");
            return format!("{count} {are} too few for any margin of `--fail-on-worse`{needed}");
        }
        format!(
            "two runs that are alike pass `--fail-on-worse` from a margin of {} points on with 80 % power ({}){needed}",
            size(self.margin),
            self.assumed()
        )
    }
}

/// What a gate over so many cases of one trial each can tell, in one sentence; `Err` where it cannot be held by any result.
pub fn gate_reach(cases_planned: u64, rate: f64, sure: Option<f64>) -> Result<String, Complaint> {
    let count = cases(cases_planned);
    let all = cases_planned.max(1);
    let z = sure.and_then(|sure| Confidence::new(2.0 * sure - 1.0)).map_or(0.0, Confidence::z);
    let from = rate + z * (rate * (1.0 - rate) / all as f64).sqrt();
    let with = sure.map_or(String::new(), |sure| format!(" with {} confidence", level(sure)));
    if from > 1.0 {
        // A rate of 1 has no such limit: all that pass reach it.
        let needed = cases((z * z * rate / (1.0 - rate)).ceil() as u64);
        let what = format!(
            "a gate of {}{with} cannot hold over {count}; it takes {needed} that all pass",
            asked(rate)
        );
        return Err(Complaint::new(what));
    }
    // Doubles that should be whole may be a trifle above.
    let passes = (from * all as f64 - 1e-9).ceil().max(0.0) as u64;
    let holds = truth(|share| upper_tail(passes, all, share) >= POWER);
    let held = format!(
        "a gate of {}{with} over {count} is held from {} passed on: with 80 % power by a target that passes {} or more",
        asked(rate),
        percent(passes as f64 / all as f64),
        percent(holds)
    );
    // With a confidence, too few passes leave it open: what misses it then is another rate.
    let least = rate - z * (rate * (1.0 - rate) / all as f64).sqrt();
    let missed_below = (least * all as f64 - 1e-9).ceil().max(0.0) as u64;
    let missed = match missed_below {
        0 => "cannot be missed".to_owned(),
        below => {
            let misses = truth(|share| lower_tail(below - 1, all, share) < POWER);
            format!("missed by one that passes {} or less", percent(misses))
        }
    };
    Ok(format!("{held}, and {missed}"))
}

/// The smallest share from which on something holds that holds for large ones, to a hundredth of a point.
fn truth(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut short, mut enough) = (0.0, 1.0);
    while enough - short > 1e-4 {
        let middle = (short + enough) / 2.0;
        if holds(middle) { enough = middle } else { short = middle }
    }
    (enough * 1e4_f64).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: u64) -> Unit {
        Unit { word: "case", count, trials: 1 }
    }

    /// Connor (1987): n = (z₀.₉₇₅ √ψ + z₀.₈ √(ψ − δ²))² / δ²; the exact test takes some more.
    #[test]
    fn a_few_more_than_connors_number_of_pairs() {
        let found = visible(of(1000), 1, WANTED);
        let n = (1.959964 * 0.2f64.sqrt() + 0.841621 * (0.2f64 - 0.0025).sqrt()).powi(2) / 0.0025;
        assert!((n..1.08 * n).contains(&(found.needed as f64)), "{n} {}", found.needed);
        assert!(!found.is_coarse() && found.difference.unwrap() < 0.05);
        assert!(visible(of(1000), 45, WANTED).difference.unwrap() > found.difference.unwrap());
        assert_eq!(visible(of(5), 1, WANTED).difference, None);
        // Far above what is counted, both are one.
        let many = visible(of(10), 1, 0.01).needed as f64;
        let n = (1.959964 * 0.2f64.sqrt() + 0.841621 * (0.2f64 - 0.0001).sqrt()).powi(2) / 0.0001;
        assert!((many - n).abs() < 2.0, "{many} {n}");
    }

    /// n = ψ (z₀.₉₇₅ + z₀.₈)² / margin².
    #[test]
    fn margins_and_repetitions() {
        let found = visible(of(100), 1, 0.03);
        assert_eq!(found.needed_margin, (0.2 * (1.959964f64 + 0.841621).powi(2) / 0.0009).ceil() as u64);
        assert!(found.is_wide() && (found.margin - 0.12529).abs() < 1e-4, "{found:?}");
        let five = visible(Unit { trials: 5, ..of(100) }, 1, 0.03);
        assert!((five.repeated.unwrap() - found.margin / 5f64.sqrt()).abs() < 2e-3, "{five:?}");
        assert_eq!(
            visible(Unit { trials: 10, ..of(3) }, 1, 0.03).repeated,
            None,
            "three cases have no p below 0.25"
        );
        assert_eq!(five.difference, found.difference, "repetitions of a case are no cases");
        insta::assert_snapshot!(five.sentence(), @"100 cases see a difference from 12.8 points on with 80 % power (if two columns differ on 20 % of cases), with 5 trials of each from 5.7 points on where only chance differs; 1,800 cases see 3.0 points");
        insta::assert_snapshot!(five.margin_sentence(), @"two runs that are alike pass `--fail-on-worse` from a margin of 12.5 points on with 80 % power (if two columns differ on 20 % of cases); 1,745 cases do for 3.0 points");
        insta::assert_snapshot!(visible(of(5), 3, 0.03).margin_sentence(), @"two runs that are alike pass `--fail-on-worse` from a margin of 64.7 points on with 80 % power (if two columns differ on 20 % of cases, adjusted for 3 comparisons); 2,327 cases do for 3.0 points");
    }

    /// The limits of Wilson's interval agree: 97.4 % of 35 hold 90 %, and 24 that all pass do not.
    #[test]
    fn a_gate_that_cannot_hold_is_told() {
        assert!(gate_reach(25, 0.9, Some(0.95)).is_ok());
        let short = gate_reach(24, 0.9, Some(0.95)).unwrap_err();
        assert!(short.what.contains("it takes 25 cases that all pass"), "{short:?}");
        let all = |n: u64| crate::stats::wilson(n, n, Confidence::new(0.9).unwrap()).unwrap().low;
        assert!(all(25) >= 0.9 && all(24) < 0.9);
    }

    /// A gate of 90 % over 100 is held from 90 on: P(X ≥ 90) is 0.8 at a share of 0.918, P(X < 90) is 0.8 at 0.866.
    #[test]
    fn what_a_gate_can_tell() {
        insta::assert_snapshot!(gate_reach(100, 0.9, None).unwrap(), @"a gate of 90.0 % over 100 cases is held from 90.0 % passed on: with 80 % power by a target that passes 91.8 % or more, and missed by one that passes 86.6 % or less");
        insta::assert_snapshot!(gate_reach(100, 0.9, Some(0.95)).unwrap(), @"a gate of 90.0 % with 95 % confidence over 100 cases is held from 95.0 % passed on: with 80 % power by a target that passes 96.1 % or more, and missed by one that passes 82.3 % or less");
        insta::assert_snapshot!(gate_reach(3, 1.0, None).unwrap(), @"a gate of 100 % over 3 cases is held from 100 % passed on: with 80 % power by a target that passes 92.8 % or more, and missed by one that passes 58.5 % or less");
    }

    #[test]
    fn what_is_needed_is_the_first_number_that_is_enough() {
        let needed = visible(of(10), 1, 0.01).needed;
        let power = |cases: u64| power_paired(cases, 0.2, 0.01, 0.05);
        assert!(power(needed) >= 0.8 && power(needed - 1) < 0.8, "{needed}");
        assert_eq!(visible(of(10), 1, 0.0).needed, 1 << 40, "nobody sees nothing");
        let at = |count: u64| visible(of(count), 1, 0.03);
        let (enough, wide) = (at(1).needed, at(1).needed_margin);
        assert!(at(enough - 1).is_coarse() && !at(enough).is_coarse());
        assert!(at(wide - 1).is_wide() && !at(wide).is_wide());
        assert!(!at(enough).sentence().contains("1,800 cases see 3.0"), "{}", at(enough).sentence());
        assert!(!at(wide).margin_sentence().contains(';'), "{}", at(wide).margin_sentence());
        assert_eq!(visible(of(10), 0, 0.03).family, 1, "a comparison is one at least");
    }

    /// The sign flips of five cases have no p below 2/32, those of six none below 2/64; adjusted for two, six are too few as well.
    #[test]
    fn repetitions_help_where_the_cases_can_have_a_small_p() {
        let repeated = |count, trials, family| visible(Unit { trials, ..of(count) }, family, 0.03).repeated;
        assert!(repeated(6, 10, 1).is_some() && repeated(7, 10, 2).is_some());
        assert_eq!((repeated(5, 10, 1), repeated(6, 10, 2)), (None, None));
        assert_eq!(repeated(100, 1, 1), None, "there are none");
    }

    /// (1.959964 + 0.841621) × √0.2 = 1.2529 over one case, and 0.8859 over two.
    #[test]
    fn a_single_case_has_no_margin() {
        let one = visible(of(1), 1, 0.03);
        assert!((one.margin - 1.25290).abs() < 1e-4, "{one:?}");
        assert_eq!(
            one.margin_sentence(),
            "1 case is too few for any margin of `--fail-on-worse`; 1,745 cases do for 3.0 points"
        );
        assert!(one.sentence().starts_with("1 case is too few to see any difference"), "{}", one.sentence());
        let two = visible(of(2), 1, 0.03).margin_sentence();
        assert!(two.contains("from a margin of 88.6 points on"), "{two}");
    }

    /// 0.2 ± 1.645 √(0.2 × 0.8 / 5) is −0.09 to 0.494: three of five hold it, and none miss it. P(X ≥ 3) is 0.8 at 0.6734.
    #[test]
    fn a_gate_that_cannot_be_missed_is_told() {
        let found = gate_reach(5, 0.2, Some(0.95)).unwrap();
        assert!(
            found.contains(
                "is held from 60.0 % passed on: with 80 % power by a target that passes 67.3 % or more"
            ),
            "{found}"
        );
        assert!(found.ends_with(", and cannot be missed"), "{found}");
    }
}
