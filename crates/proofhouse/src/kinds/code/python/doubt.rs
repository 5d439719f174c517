//! What an answer's own objects say of themselves is doubted: who passes as well where the tests expect something else decides for
//! itself. The answer stays across the border and never sees a test; it only meets other ones.

use std::sync::PoisonError;

use super::known::{Decoy, Known, Profile};
use super::session::{AGAIN, TestSession};
use crate::kinds::code::problem::Problem;

/// What came of doubting an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It fails whatever else is expected.
    Moved,
    /// It passes something else as well.
    Unmoved,
    /// Nothing else could be expected somewhere, so that nothing is known.
    Open,
}

impl TestSession {
    /// Has an answer meet other expectations wherever its own objects decided.
    pub(super) fn doubted(
        &mut self,
        problem: &Problem,
        known: &Known,
        completion: &str,
        doubts: &[Vec<Decoy>],
    ) -> Doubt {
        let learns = problem.canonical_solution.is_some();
        let mut open = false;
        for ways in doubts {
            let (mut moved, mut passed) = (0, 0);
            for decoy in ways {
                // Without a solution nobody knows of a single value whether it matters.
                if (learns && !self.moves_solution(problem, known, *decoy)) || (moved > 0 && !learns) {
                    continue;
                }
                let said = self.run(problem, completion, &Profile::Doubting(*decoy, learns)).0;
                moved += usize::from(said.fails_these(&problem.test));
                passed += usize::from(said.passed());
            }
            // An answer may look at less than the solution does.
            if passed > moved && (learns || moved == 0) {
                return Doubt::Unmoved;
            }
            open |= moved == 0;
        }
        if open { Doubt::Open } else { Doubt::Moved }
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

    /// Whether an answer that failed because its own objects were not believed passes where they are, and fails every other
    /// expectation there. It has to pass more than once: who draws lots between the two has no luck for long.
    pub(super) fn convinces(&mut self, problem: &Problem, known: &Known, completion: &str) -> bool {
        let learns = problem.canonical_solution.is_some();
        let solution = learns.then(|| self.learn(problem, known).clone());
        let sites = solution.as_ref().map(|solution| &solution.sites);
        let changes = solution.as_ref().is_some_and(|solution| solution.mutates);
        for turn in 0..=AGAIN {
            let said = self.run(problem, completion, &Profile::Trusting(sites)).0;
            if !said.passed() || said.doubts.is_empty() || (said.mutates && !changes) {
                return false;
            }
            if turn == 0 && self.doubted(problem, known, completion, &said.doubts) != Doubt::Moved {
                return false;
            }
        }
        true
    }
}
