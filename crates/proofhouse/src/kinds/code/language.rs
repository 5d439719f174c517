//! The seam between what all languages share and what one language knows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bench::Bench;
use super::problem::Problem;
use super::prose::Prose;
use super::suite::CodeBody;
use super::verdict::Judged;
use crate::spine::run::execute::ExecuteError;
use crate::spine::run::work::Means;

macro_rules! languages {
    ($($(#[doc = $doc:literal])+ $name:ident in $module:ident;)+) => {
        /// The language of the completions.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[derive(clap::ValueEnum)]
        #[serde(rename_all = "kebab-case")]
        pub enum LanguageName {
            $($(#[doc = $doc])+ $name,)+
        }

        impl LanguageName {
            /// All of them, in the order of the table.
            pub const ALL: &[LanguageName] = &[$(LanguageName::$name),+];

            /// What is known of it before anything of it is run.
            pub(crate) fn profile(self) -> &'static Profile {
                match self { $(LanguageName::$name => &super::$module::PROFILE,)+ }
            }
        }
    };
}

// A language is a folder with its `PROFILE`, its `mod` line and a row.
languages! {
    /// Compiled by the host's `rustc`, linted by its clippy.
    Rust in rust;
    /// Run by the host's `python3`.
    Python in python;
}

impl LanguageName {
    /// The word in suites.
    pub fn as_str(self) -> &'static str {
        self.profile().word
    }

    /// The words that say one of them after `before`: `--language rust` or `--language python`.
    pub(crate) fn choices(before: &str) -> String {
        let all = Self::ALL.iter().map(|name| format!("`{before}{}`", name.as_str()));
        all.collect::<Vec<_>>().join(" or ")
    }
}

/// Opens a language as a suite wants it.
type Open = fn(&CodeBody, &Means) -> Result<Box<dyn Language>, ExecuteError>;

/// What is known of a language before anything of it is run.
pub(crate) struct Profile {
    /// Its word in suites.
    pub(crate) word: &'static str,
    /// As people write it.
    pub(crate) title: &'static str,
    /// Further words for it in data sets.
    pub(crate) aliases: &'static [&'static str],
    /// What tells it by prompts and tests.
    pub(crate) marks: &'static [&'static str],
    /// The language as a suite wants it.
    pub(crate) open: Open,
    /// The language with what this machine has, for tasks without a suite.
    pub(crate) bare: fn() -> Box<dyn Language>,
    /// The part of a prompt that is prose.
    pub(crate) prose: for<'a> fn(&'a str, Option<&str>) -> Prose<'a>,
    /// The libraries that tasks use beside the standard one, each with the tasks that use it.
    pub(crate) crates: fn(&[Problem]) -> BTreeMap<String, Vec<String>>,
    /// What is doubtful about tasks, before anything is judged.
    pub(crate) doubts: fn(&[Problem]) -> Option<String>,
}

/// A language: one file, or one folder, per member.
pub trait Language: Send + Sync {
    /// Its word in suites.
    fn name(&self) -> &'static str;

    /// Whether an answer begins on a line of its own.
    fn begins_a_line(&self) -> bool {
        false
    }

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

    /// The program that an answer makes of the task, without its tests, where that is known without running anything.
    fn program(&self, completion: &str) -> Option<String> {
        let _ = completion;
        None
    }
}
