//! One instruction, run again and again: how alike its runs are, and whether a level of stress is within what the tool can do.
//!
//! Every word comes with its bound, and the bound says whether the looks at the runs were planned.

use super::percent;
use crate::stats::interval::Interval;
use crate::stats::{Design, Series, Spending, confidence_sequence};

/// The chance with which each bound may be missed, however often somebody looked.
const ERROR: f64 = 0.05;

/// Shares between these are neither success nor failure.
const FLAKY: Interval = Interval { low: 0.2, high: 0.8 };

/// Where a bound comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Exact, by counting all ways in which the policy could have ended the runs.
    Planned,
    /// A confidence sequence: valid however runs came about.
    AnyTime,
}

impl Bound {
    /// How a sentence names it.
    pub fn words(self) -> &'static str {
        match self {
            Bound::Planned => "95 % bound, exact for the planned looks",
            Bound::AnyTime => "95 % bound that holds at any number of runs",
        }
    }

    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Bound::Planned => "planned_looks",
            Bound::AnyTime => "any_time",
        }
    }
}

/// How a policy with error control ends the runs of an instruction: as soon as it is stable or flaky.
pub fn stability_design(level: f64, cap: u64) -> Design {
    let spending = (Spending::AtOnce, Spending::Evenly);
    Design { share: level, error: ERROR, cap, spending, either: true }
}

/// How it ends those of a stress level: as soon as it is clear or a systematic failure.
pub fn rung_design(cap: u64) -> Design {
    let spending = (Spending::AtOnce, Spending::AtOnce);
    Design { share: 0.5, error: ERROR, cap, spending, either: false }
}

/// How alike the runs of one instruction are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alike {
    /// The usual outcome's share reaches the level.
    Stable,
    /// No deviation was seen, and the runs are too few to exclude that it falls short of the level.
    ConsistentSoFar,
    /// Deviations were seen, and it may still reach the level.
    MostlyTheSame,
    /// It falls short of the level.
    Flaky,
}

impl Alike {
    /// Every word.
    pub const ALL: [Alike; 4] = [Alike::Stable, Alike::ConsistentSoFar, Alike::MostlyTheSame, Alike::Flaky];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Alike::Stable => "stable",
            Alike::ConsistentSoFar => "consistent so far",
            Alike::MostlyTheSame => "mostly the same",
            Alike::Flaky => "flaky",
        }
    }
}

/// What can be said of the usual outcome of one instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// The word.
    pub alike: Alike,
    /// Runs.
    pub runs: u64,
    /// Of which so many had the usual outcome.
    pub usual: u64,
    /// The bounds of its share, each of 95 %.
    pub share: Interval,
    /// Where they come from.
    pub bound: Bound,
    /// The share that stable runs have at least.
    pub level: f64,
    /// How many alike runs, planned from the start, are called stable; where that was not reached.
    pub enough: Option<u64>,
}

impl Stability {
    /// Of runs that ended by a plan; where they did not end as the plan has it, or with `kinds` of outcomes in runs that were added
    /// without one, by a confidence sequence. None without runs.
    pub fn of(usual: u64, runs: u64, kinds: u64, level: f64, planned: Option<&Series>) -> Option<Self> {
        let (share, bound) = match planned.and_then(|series| series.bounds(runs, runs - usual, ERROR, true)) {
            Some(share) => (share, Bound::Planned),
            // Which outcome is usual was not known before: Bonferroni over those that were seen.
            None => (confidence_sequence(usual, runs, ERROR / kinds.max(1) as f64)?, Bound::AnyTime),
        };
        let alike = match usual == runs {
            _ if share.low >= level => Alike::Stable,
            _ if share.high < level => Alike::Flaky,
            true => Alike::ConsistentSoFar,
            false => Alike::MostlyTheSame,
        };
        let enough = (alike == Alike::ConsistentSoFar).then(|| alike_runs_for(level)).flatten();
        Some(Self { alike, runs, usual, share, bound, level, enough })
    }

    /// All of it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        let (word, level) = (self.alike.word(), percent(self.level));
        let seen = format!("{} of {} runs alike", self.usual, self.runs);
        let (low, high, bound) = (percent(self.share.low), percent(self.share.high), self.bound.words());
        match self.alike {
            Alike::Stable => {
                format!("{word}: {seen}, so at least {low} are ({bound}; stable from {level} on)")
            }
            Alike::ConsistentSoFar => {
                let enough = match self.enough.filter(|enough| *enough > self.runs) {
                    Some(enough) => {
                        format!("; {enough} alike runs of {enough} planned would be called stable")
                    }
                    None => String::new(),
                };
                format!("{word}: {seen}, so at least {low} are ({bound}), which is below {level}{enough}")
            }
            Alike::MostlyTheSame => {
                format!(
                    "{word}: {seen}, so {low} to {high} are ({bound}); {level} is neither shown nor excluded"
                )
            }
            Alike::Flaky => {
                format!("{word}: {seen}, so at most {high} are ({bound}; stable from {level} on)")
            }
        }
    }
}

/// How many alike runs are called stable where nobody stops for another reason.
pub fn alike_runs_for(level: f64) -> Option<u64> {
    const MOST: u64 = 1000;
    (1..=MOST).find(|n| level.powi(*n as i32) + (1.0 - level).powi(*n as i32) <= ERROR)
}

/// Whether a level of stress is within what the tool can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// More runs succeed than fail.
    Clear,
    /// More runs fail than succeed.
    SystematicFailure,
    /// Both happen: between a fifth and four fifths succeed.
    Flaky,
    /// The runs do not say.
    Undetermined,
}

impl Rung {
    /// Every word.
    pub const ALL: [Rung; 4] = [Rung::Clear, Rung::SystematicFailure, Rung::Flaky, Rung::Undetermined];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Rung::Clear => "clear",
            Rung::SystematicFailure => "systematic failure",
            Rung::Flaky => "flaky",
            Rung::Undetermined => "undetermined",
        }
    }
}

/// What can be said of a level of stress.
#[derive(Debug, Clone, PartialEq)]
pub struct Stressed {
    /// The word.
    pub rung: Rung,
    /// Runs.
    pub runs: u64,
    /// Of which so many succeeded.
    pub successes: u64,
    /// The bounds of the chance to succeed, each of 95 %.
    pub chance: Interval,
    /// Where they come from.
    pub bound: Bound,
}

impl Stressed {
    /// Of runs that ended by a plan, or else by a confidence sequence. None without runs.
    pub fn of(successes: u64, runs: u64, planned: Option<&Series>) -> Option<Self> {
        let (chance, bound) =
            match planned.and_then(|series| series.bounds(runs, runs - successes, ERROR, false)) {
                Some(chance) => (chance, Bound::Planned),
                None => (confidence_sequence(successes, runs, ERROR)?, Bound::AnyTime),
            };
        let rung = match chance {
            Interval { low, .. } if low > 0.5 => Rung::Clear,
            Interval { high, .. } if high < 0.5 => Rung::SystematicFailure,
            Interval { low, high } if low >= FLAKY.low && high <= FLAKY.high => Rung::Flaky,
            _ => Rung::Undetermined,
        };
        Some(Self { rung, runs, successes, chance, bound })
    }

    /// All of it in one sentence, without a full stop.
    pub fn sentence(&self) -> String {
        let seen = format!("{}: {} of {} runs succeeded", self.rung.word(), self.successes, self.runs);
        let (low, high) = (percent(self.chance.low), percent(self.chance.high));
        let bound = self.bound.words();
        match self.rung {
            Rung::Clear => format!("{seen}, so at least {low} do ({bound})"),
            Rung::SystematicFailure => format!("{seen}, so at most {high} do ({bound})"),
            Rung::Flaky => format!("{seen}, so {low} to {high} do ({bound}): it comes and goes"),
            Rung::Undetermined => {
                format!("{seen}, so {low} to {high} do ({bound}), which says neither success nor failure")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(usual: u64, runs: u64, cap: u64) -> Stability {
        let series = Series::by_rule(&stability_design(0.8, cap).rule(), cap);
        Stability::of(usual, runs, 1 + u64::from(usual < runs), 0.8, Some(&series)).unwrap()
    }

    fn fixed(usual: u64, runs: u64) -> Stability {
        Stability::of(usual, runs, 2, 0.8, Some(&Series::fixed(runs))).unwrap()
    }

    #[test]
    fn four_words_with_their_bounds() {
        insta::assert_snapshot!(evidence(14, 14, 22).sentence(), @"stable: 14 of 14 runs alike, so at least 80.7 % are (95 % bound, exact for the planned looks; stable from 80.0 % on)");
        insta::assert_snapshot!(evidence(10, 10, 10).sentence(), @"consistent so far: 10 of 10 runs alike, so at least 74.1 % are (95 % bound, exact for the planned looks), which is below 80.0 %; 14 alike runs of 14 planned would be called stable");
        insta::assert_snapshot!(evidence(21, 22, 22).sentence(), @"mostly the same: 21 of 22 runs alike, so 78.3 % to 99.6 % are (95 % bound, exact for the planned looks); 80.0 % is neither shown nor excluded");
        insta::assert_snapshot!(fixed(21, 22).sentence(), @"stable: 21 of 22 runs alike, so at least 80.2 % are (95 % bound, exact for the planned looks; stable from 80.0 % on)");
        insta::assert_snapshot!(fixed(12, 22).sentence(), @"flaky: 12 of 22 runs alike, so at most 72.9 % are (95 % bound, exact for the planned looks; stable from 80.0 % on)");
        assert_eq!(Stability::of(0, 0, 0, 0.8, None), None);
        assert_eq!(alike_runs_for(0.8), Some(14));
    }

    /// 24 alike runs where 14 would do with a plan.
    #[test]
    fn runs_without_a_plan_need_more() {
        let added = |runs: u64| Stability::of(runs, runs, 1, 0.8, None).unwrap();
        assert_eq!((added(23).alike, added(24).alike), (Alike::ConsistentSoFar, Alike::Stable));
        insta::assert_snapshot!(added(24).sentence(), @"stable: 24 of 24 runs alike, so at least 80.6 % are (95 % bound that holds at any number of runs; stable from 80.0 % on)");
        let two_kinds = Stability::of(30, 31, 2, 0.8, None).unwrap();
        let one_kind = Stability::of(30, 31, 1, 0.8, None).unwrap();
        assert!(two_kinds.share.low < one_kind.share.low, "Bonferroni");
    }

    #[test]
    fn four_words_for_stress() {
        let series = Series::by_rule(&rung_design(15).rule(), 15);
        let say = |successes, runs| Stressed::of(successes, runs, Some(&series)).unwrap().sentence();
        insta::assert_snapshot!(say(5, 5), @"clear: 5 of 5 runs succeeded, so at least 54.9 % do (95 % bound, exact for the planned looks)");
        insta::assert_snapshot!(say(1, 9), @"systematic failure: 1 of 9 runs succeeded, so at most 48.2 % do (95 % bound, exact for the planned looks)");
        insta::assert_snapshot!(say(8, 15), @"flaky: 8 of 15 runs succeeded, so 29.9 % to 75.6 % do (95 % bound, exact for the planned looks): it comes and goes");
        insta::assert_snapshot!(say(11, 15), @"undetermined: 11 of 15 runs succeeded, so 46.3 % to 89.4 % do (95 % bound, exact for the planned looks), which says neither success nor failure");
        let three = Stressed::of(3, 3, Some(&Series::fixed(3))).unwrap();
        assert_eq!(three.rung, Rung::Undetermined, "three of three say little");
    }
}
