//! Where on a ladder of levels a tool stops succeeding: an interval of levels, never one level.

use super::{Rung, cases};
use crate::stats::falling_fit;

/// How often the ladder is drawn again.
const DRAWS: u64 = 2000;
/// The share of draws that may lie on either side of the interval.
const TAIL: f64 = 0.025;
/// The draws are the same everywhere and always.
const SEED: u64 = 0x1adde2_0b0017;

/// Between which levels the chance to succeed falls below a half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// The last level that still succeeds more often than not; none where that is below the ladder.
    pub above: Option<u32>,
    /// The first level that does not any more; none where that is beyond the ladder.
    pub below: Option<u32>,
    /// How many levels were assessed.
    pub levels: u64,
}

/// One level of a ladder, and what is said of it by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rated {
    /// Which one.
    pub level: u32,
    /// Runs that succeeded.
    pub successes: u64,
    /// Runs.
    pub runs: u64,
    /// The word; none without runs.
    pub rung: Option<Rung>,
}

/// From each level in ascending order; none where no level has runs.
///
/// The chance of success is taken to fall from level to level: the fit is PAVA's, and its uncertainty is drawn 2,000 times from the
/// fitted chances (parametric bootstrap, Efron and Tibshirani 1993, *An Introduction to the Bootstrap*, chapter 13), each moved towards a half as
/// by half a success and half a failure more, so that five of five are not certainty. The interval holds the middle 95 % of the draws, and never says
/// more than the words: it lies above a level only if that one or a higher one is clear, and below one only if that one or a lower one is a systematic failure.
pub fn boundary(levels: &[Rated]) -> Option<Boundary> {
    let known: Vec<Rated> = levels.iter().copied().filter(|rated| rated.runs > 0).collect();
    if known.is_empty() {
        return None;
    }
    let weights: Vec<f64> = known.iter().map(|rated| rated.runs as f64).collect();
    let rates: Vec<f64> =
        known.iter().map(|rated| (rated.successes as f64 + 0.5) / (rated.runs as f64 + 1.0)).collect();
    let chances = falling_fit(&rates, &weights);
    let mut counts = vec![0u64; known.len() + 1];
    for draw in 0..DRAWS {
        let drawn: Vec<f64> = known
            .iter()
            .zip(&chances)
            .enumerate()
            .map(|(at, (rated, chance))| {
                let hits = (0..rated.runs).filter(|run| unit(draw, at as u64, *run) < *chance).count();
                hits as f64 / rated.runs as f64
            })
            .collect();
        let first = falling_fit(&drawn, &weights).iter().position(|rate| *rate < 0.5);
        counts[first.unwrap_or(known.len())] += 1;
    }
    let at = |share: f64| {
        let mut sum = 0;
        let reached = counts.iter().position(|count| {
            sum += count;
            sum as f64 > share * DRAWS as f64
        });
        reached.unwrap_or(known.len())
    };
    let last_clear = known.iter().rposition(|rated| rated.rung == Some(Rung::Clear));
    let first_failure = known.iter().position(|rated| rated.rung == Some(Rung::SystematicFailure));
    let lowest = at(TAIL).min(last_clear.map_or(0, |last| last + 1));
    let highest = at(1.0 - TAIL).max(first_failure.unwrap_or(known.len()));
    Some(Boundary {
        above: lowest.checked_sub(1).map(|at| known[at].level),
        below: known.get(highest).map(|rated| rated.level),
        levels: known.len() as u64,
    })
}

/// A number from 0 to 1 that follows from its three counters alone.
fn unit(draw: u64, level: u64, run: u64) -> f64 {
    let mix = |value: u64| {
        let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    };
    let golden = 0x9e37_79b9_7f4a_7c15u64;
    let place = [draw, level, run]
        .into_iter()
        .fold(SEED, |at, counter| mix(at.wrapping_add(counter.wrapping_mul(golden)).wrapping_add(golden)));
    (place >> 11) as f64 / (1u64 << 53) as f64
}

impl Boundary {
    /// All of it in one sentence, without a full stop: `the boundary lies between level 2 and 4`.
    pub fn sentence(&self) -> String {
        let how = "95 % certain, if success only falls from level to level";
        match (self.above, self.below) {
            (Some(above), Some(below)) => {
                format!("the boundary lies between level {above} and {below} ({how})")
            }
            (Some(above), None) => {
                format!("the boundary lies above level {above} and may lie beyond the ladder ({how})")
            }
            (None, Some(below)) => format!("the boundary lies at or below level {below} ({how})"),
            (None, None) => {
                format!("the boundary may lie anywhere: {} with these runs do not say", levels(self.levels))
            }
        }
    }
}

fn levels(count: u64) -> String {
    cases(count).replace("case", "level")
}

#[cfg(test)]
mod tests {
    use super::super::{Stressed, rung_design};
    use super::*;
    use crate::stats::Series;

    fn say(levels: &[(u32, u64, u64)]) -> String {
        let series = Series::by_rule(&rung_design(15).rule(), 15);
        let rated = |(level, successes, runs): &(u32, u64, u64)| Rated {
            level: *level,
            successes: *successes,
            runs: *runs,
            rung: Stressed::of(*successes, *runs, Some(&series)).map(|said| said.rung),
        };
        boundary(&levels.iter().map(rated).collect::<Vec<_>>()).unwrap().sentence()
    }

    #[test]
    fn a_boundary_is_an_interval() {
        insta::assert_snapshot!(say(&[(1, 5, 5), (2, 5, 5), (3, 8, 15), (4, 0, 5)]), @"the boundary lies between level 2 and 4 (95 % certain, if success only falls from level to level)");
        insta::assert_snapshot!(say(&[(1, 5, 5), (2, 5, 5), (3, 0, 5)]), @"the boundary lies between level 2 and 3 (95 % certain, if success only falls from level to level)");
        insta::assert_snapshot!(say(&[(1, 5, 5), (2, 5, 5)]), @"the boundary lies above level 2 and may lie beyond the ladder (95 % certain, if success only falls from level to level)");
        insta::assert_snapshot!(say(&[(1, 0, 5), (2, 0, 5)]), @"the boundary lies at or below level 1 (95 % certain, if success only falls from level to level)");
        insta::assert_snapshot!(say(&[(1, 5, 5), (2, 12, 15), (3, 0, 5)]), @"the boundary lies between level 1 and 3 (95 % certain, if success only falls from level to level)");
        insta::assert_snapshot!(say(&[(1, 5, 5), (2, 0, 5)]), @"the boundary lies between level 1 and 2 (95 % certain, if success only falls from level to level)");
        insta::assert_snapshot!(say(&[(1, 1, 2)]), @"the boundary may lie anywhere: 1 level with these runs do not say");
        assert_eq!(boundary(&[]), None);
    }

    fn rated(level: u32, successes: u64, runs: u64, rung: Option<Rung>) -> Rated {
        Rated { level, successes, runs, rung }
    }

    /// Fifty of fifty and none of fifty: every draw falls between the second and the third level, so that the words alone decide.
    #[test]
    fn the_interval_never_says_more_than_the_words() {
        const CLEAR: Option<Rung> = Some(Rung::Clear);
        const FAILS: Option<Rung> = Some(Rung::SystematicFailure);
        let found = |rungs: [Option<Rung>; 4]| {
            let levels = [50, 50, 0, 0].into_iter().zip(rungs).zip(10..);
            let levels: Vec<Rated> =
                levels.map(|((successes, rung), level)| rated(level, successes, 50, rung)).collect();
            boundary(&levels).map(|found| (found.above, found.below))
        };
        for (rungs, expected) in [
            ([CLEAR, CLEAR, FAILS, FAILS], (Some(11), Some(12))),
            ([CLEAR, None, FAILS, FAILS], (Some(10), Some(12))),
            ([CLEAR, CLEAR, None, FAILS], (Some(11), Some(13))),
            ([None, CLEAR, FAILS, None], (Some(11), Some(12))),
            ([None, None, FAILS, None], (None, Some(12))),
            ([None, CLEAR, None, None], (Some(11), None)),
            ([None; 4], (None, None)),
            // A word on the other side of where the success falls moves nothing.
            ([FAILS, CLEAR, CLEAR, FAILS], (Some(11), Some(12))),
        ] {
            assert_eq!(found(rungs), Some(expected), "{rungs:?}");
        }
    }

    #[test]
    fn levels_without_runs_are_not_there() {
        let levels = [
            rated(1, 50, 50, Some(Rung::Clear)),
            rated(2, 0, 0, None),
            rated(3, 0, 50, Some(Rung::SystematicFailure)),
        ];
        let expected = Boundary { above: Some(1), below: Some(3), levels: 2 };
        assert_eq!(boundary(&levels), Some(expected));
        assert_eq!(boundary(&levels[1..2]), None);
    }

    /// Eight of ten are drawn with the chance 8.5/11: fewer than five in 1.2 % of draws, at most five in 5.4 %. Half is no fall.
    #[test]
    fn a_level_that_succeeds_half_of_the_time_has_not_fallen() {
        let found = boundary(&[rated(1, 8, 10, Some(Rung::Clear))]).unwrap();
        assert_eq!((found.above, found.below), (Some(1), None));
        // Seven of ten, 7.5/11: fewer than five in 6 %.
        let found = boundary(&[rated(1, 7, 10, Some(Rung::Clear))]).unwrap();
        assert_eq!((found.above, found.below), (None, None));
        // One of ten, 1.5/11: at least five in 0.7 %. Three of ten, 3.5/11: in 18 %.
        let below = |hits| boundary(&[rated(1, hits, 10, Some(Rung::SystematicFailure))]).unwrap().below;
        assert_eq!((below(1), below(3)), (Some(1), None));
    }
}
