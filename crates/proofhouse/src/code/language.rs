//! The seam between what all languages share and what one language knows.

use super::bench::Bench;
use super::problem::Problem;
use super::verdict::Judged;

/// A language: one file, or one folder, per member.
pub trait Language: Send + Sync {
    /// Its word in suites.
    fn name(&self) -> &'static str;

    /// The whole version text of what compiles and runs it, for the record; `None` if there is nothing.
    fn toolchain(&self) -> Option<&str>;

    /// Everything about it that a verdict depends on: toolchain, flags, settings.
    fn conditions(&self) -> String;

    /// Reads a task once, for all of its completions.
    fn task(&self, problem: &Problem) -> Box<dyn Task>;

    /// Judges those of many completions that can be judged together, with the very verdicts that they would get alone;
    /// `None` for the others.
    fn judge_together(&self, bench: &Bench, items: &[(&Problem, &str)]) -> Vec<Option<Judged>> {
        let _ = bench;
        items.iter().map(|_| None).collect()
    }
}

/// One task in one language.
pub trait Task: Send + Sync {
    /// Judges one completion, once.
    fn judge(&self, bench: &Bench, completion: &str) -> Judged;
}
