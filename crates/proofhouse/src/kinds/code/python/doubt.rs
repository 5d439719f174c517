//! What an answer's own objects say of themselves is doubted: who passes as well where the tests expect something else decides for
//! itself. The answer stays across the border and never sees a test; it only meets other ones.
//!
//! It meets right and wrong ones in an order that is drawn for it alone, and each of both several times: who draws lots, or knows
//! how many runs there were before this one, has to guess which of them are right.

use std::collections::VecDeque;
use std::sync::PoisonError;

use proofhouse_sandbox::Status;

use super::known::{Decoy, Known, Profile};
use super::said::Said;
use super::session::{AGAIN, TestSession};
use crate::kinds::code::dice::Dice;
use crate::kinds::code::problem::Problem;

/// How often it has to fail wrong expectations of each thing that its objects decided.
const FAILURES: usize = 4;

/// What came of doubting an answer.
#[derive(Debug, Clone)]
pub(super) enum Doubt {
    /// It fails whatever else is expected.
    Moved,
    /// It passes something else as well.
    Unmoved,
    /// Nothing else could be expected somewhere, so that nothing is known.
    Open,
    /// It does not pass the right ones every time.
    Failed(Box<Said>, Option<Status>),
}

/// One thing that its objects decided.
struct Claim {
    /// What else could be expected there, as far as that was not tried.
    ways: VecDeque<Decoy>,
    /// What it failed, the one that is to be tried again first.
    moved: VecDeque<Decoy>,
    passed: usize,
    failures: usize,
}

impl Claim {
    fn new(ways: VecDeque<Decoy>) -> Claim {
        Claim { ways, moved: VecDeque::new(), passed: 0, failures: 0 }
    }

    /// What is to be tried next, and whether it was failed before. With a solution every way is tried, as an answer may look at
    /// less than the solution does; without one nobody knows of a single value whether it matters.
    fn next(&mut self, learns: bool) -> Option<(Decoy, bool)> {
        if (learns || self.moved.is_empty())
            && let Some(decoy) = self.ways.pop_front()
        {
            return Some((decoy, false));
        }
        let enough = if self.passed == 0 { FAILURES } else { FAILURES - 1 + self.moved.len() };
        if self.moved.is_empty() || self.failures >= enough {
            return None;
        }
        self.moved.rotate_left(1);
        self.moved.back().map(|decoy| (*decoy, true))
    }

    /// Takes note of a run; whether it shows that the answer decides for itself.
    fn take(&mut self, decoy: Decoy, again: bool, said: &Said, tests: &str) -> bool {
        if said.fails_these(tests) {
            self.failures += 1;
            if !again {
                self.moved.push_back(decoy);
            }
        } else if again {
            // It failed this once: now it passes, or is something else altogether.
            return true;
        }
        self.passed += usize::from(said.passed());
        false
    }

    fn is_unmoved(&self, learns: bool) -> bool {
        self.passed > self.moved.len() && (learns || self.moved.is_empty())
    }
}

/// In which order so many claims, by number, and the right expectations, by the number behind them, take turns.
fn turns(claims: usize, dice: &mut Dice) -> Vec<usize> {
    let mut turns: Vec<usize> = (0..claims).flat_map(|at| [at; FAILURES]).collect();
    turns.extend([claims; AGAIN]);
    dice.shuffle(&mut turns);
    turns
}

impl TestSession {
    /// Has an answer meet other expectations wherever its own objects decided, and the right ones again in between.
    pub(super) fn doubted(
        &mut self,
        problem: &Problem,
        known: &Known,
        completion: &str,
        doubts: &[Vec<Decoy>],
        right: &Profile<'_>,
    ) -> Doubt {
        let learns = problem.canonical_solution.is_some();
        let mut claims = Vec::new();
        for ways in doubts {
            // The solution runs before all of it: a gap between two runs would tell what the second of them is.
            let ways =
                ways.iter().copied().filter(|decoy| !learns || self.moves_solution(problem, known, *decoy));
            claims.push(Claim::new(ways.collect()));
        }
        let more = (0..claims.len()).flat_map(|at| vec![at; doubts[at].len() + FAILURES]);
        for at in turns(claims.len(), &mut self.dice).into_iter().chain(more) {
            let Some(claim) = claims.get_mut(at) else {
                let (said, status) = self.run(problem, completion, right);
                if !said.passed() {
                    return Doubt::Failed(Box::new(said), status);
                }
                continue;
            };
            let Some((decoy, again)) = claim.next(learns) else { continue };
            let said = self.run(problem, completion, &Profile::Doubting(decoy, learns)).0;
            if claim.take(decoy, again, &said, &problem.test) {
                return Doubt::Unmoved;
            }
        }
        if claims.iter().any(|claim| claim.is_unmoved(learns)) {
            return Doubt::Unmoved;
        }
        if claims.iter().any(|claim| claim.moved.is_empty()) { Doubt::Open } else { Doubt::Moved }
    }

    /// Whether the task's own solution fails tests that expect this.
    fn moves_solution(&mut self, problem: &Problem, known: &Known, decoy: Decoy) -> bool {
        let moved = || known.moved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = moved().get(&decoy) {
            return *found;
        }
        let text = problem.canonical_solution.clone().unwrap_or_default();
        let said = self.run(problem, &text, &Profile::Doubting(decoy, true)).0;
        *moved().entry(decoy).or_insert(said.fails_these(&problem.test))
    }

    /// What is said of an answer that failed because its own objects were not believed, if it passes where they are, every time,
    /// and fails every other expectation there.
    pub(super) fn convinces(
        &mut self,
        problem: &Problem,
        known: &Known,
        completion: &str,
    ) -> Option<(Said, Option<Status>)> {
        let learns = problem.canonical_solution.is_some();
        let solution = learns.then(|| self.learn(problem, known).clone());
        let changes = solution.as_ref().is_some_and(|solution| solution.mutates);
        let right = Profile::Trusting(solution.as_ref().map(|solution| &solution.sites));
        let (said, status) = self.run(problem, completion, &right);
        if !said.passed() || said.doubts.is_empty() || (said.mutates && !changes) {
            return None;
        }
        let doubt = self.doubted(problem, known, completion, &said.doubts, &right);
        matches!(doubt, Doubt::Moved).then_some((said, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a claim with so many ways, of an answer that is asked in turn.
    fn tried(learns: bool, ways: u64, mut answer: impl FnMut(Decoy) -> bool) -> (bool, usize) {
        let mut claim = Claim::new((0..ways).map(|way| [1, 0, way]).collect());
        let mut runs = 0;
        while let Some((decoy, again)) = claim.next(learns) {
            runs += 1;
            let said = if answer(decoy) { Said::fine() } else { Said::unequal() };
            if claim.take(decoy, again, &said, "") {
                return (false, runs);
            }
        }
        (!claim.is_unmoved(learns), runs)
    }

    #[test]
    fn who_fails_all_others_is_tried_as_often_whatever_there_is_to_try() {
        assert_eq!(tried(true, 1, |_| false), (true, 4));
        assert_eq!(tried(true, 8, |_| false), (true, 8));
        assert_eq!(tried(false, 8, |_| false), (true, 4));
        // Half of them may be as good as the right one, and then the others are tried more often.
        assert_eq!(tried(true, 8, |decoy| decoy[2] < 4), (true, 11));
        assert_eq!(tried(true, 8, |decoy| decoy[2] < 5), (false, 11));
        assert_eq!(tried(false, 8, |decoy| decoy[2] < 7), (true, 11));
        assert_eq!(tried(false, 8, |_| true), (false, 8));
    }

    #[test]
    fn who_counts_the_runs_has_little_luck() {
        let mut dice = Dice::of("00000000000000ff");
        let mut orders = std::collections::BTreeMap::new();
        for _ in 0..7000 {
            *orders.entry(turns(1, &mut dice)).or_insert(0) += 1;
        }
        // Four right ones among eight, in each of the 70 orders about as often.
        assert_eq!(orders.len(), 70);
        assert!(orders.values().all(|count| *count < 140), "{orders:?}");
    }

    #[test]
    fn who_draws_lots_has_little_luck() {
        let mut dice = Dice::of("00000000000000ff");
        for (learns, ways) in [(true, 1), (true, 8), (false, 1), (false, 8)] {
            for tenths in 1..10 {
                let mut lucky = 0;
                for _ in 0..2000 {
                    let mut yes = |_: Decoy| dice.below(10) < tenths;
                    let passes = (0..=AGAIN).all(|_| yes([0; 3]));
                    lucky += usize::from(passes && tried(learns, ways, yes).0);
                }
                assert!(lucky < 2000 / 50, "{learns} {ways} {tenths}: {lucky}");
            }
        }
    }
}
