//! The seam between what all languages share and what one language knows.

use std::collections::BTreeMap;

use super::bench::Bench;
use super::problem::Problem;
use super::verdict::Judged;

/// A language: one file, or one folder, per member.
pub trait Language: Send + Sync {
    /// Its word in suites.
    fn name(&self) -> &'static str;

    /// Makes ready on this bench, before anything is judged or asked about its toolchain.
    fn prepare(&self, bench: &Bench) {
        let _ = bench;
    }

    /// What takes part in verdicts, by name, with its whole version text; nothing if it is not there.
    fn toolchains(&self) -> BTreeMap<String, String>;

    /// Everything about it that a verdict depends on: toolchain, flags, settings.
    fn conditions(&self) -> String;

    /// The size of a test program with next to nothing in it, where programs have a size.
    fn baseline_size_bytes(&self, bench: &Bench) -> Option<u64> {
        let _ = bench;
        None
    }

    /// Reads a task once, for all of its completions.
    fn task(&self, problem: &Problem) -> Box<dyn Task>;

    /// Judges those of many completions that can be judged together, with the very verdicts that they would get alone. `tell` is
    /// given the place and the verdict of each as soon as it is known, and nothing of the others.
    fn judge_together(&self, bench: &Bench, items: &[(&Problem, &str)], tell: &mut dyn FnMut(usize, Judged)) {
        let _ = (bench, items, tell);
    }
}

/// One task in one language.
pub trait Task: Send + Sync {
    /// Judges one completion, once.
    fn judge(&self, bench: &Bench, completion: &str) -> Judged;
}
