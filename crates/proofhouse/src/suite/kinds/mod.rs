//! The kinds of suite: one file each, which reads what the user wrote and says what it means.

use std::sync::Arc;

use camino::Utf8Path;
use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use proofhouse_ledger::record::Kind;
use serde::de::DeserializeOwned;

use super::check::Checker;
use super::de::{self, Reading};
use super::load::{DatasetFacts, Overrides};
use super::model::Suite;
use super::problem::{Code, Place, Problem, Problems};
use super::tree::Tree;
use crate::target::Keys;

mod code;
mod containment;
mod generators;
mod probe;
mod robustness;
mod wordings;

pub(crate) use code::CodeFile;
pub use code::{CodeBody, Edition, LanguageName, SampleSource, chosen as chosen_tasks};
pub(crate) use containment::ContainmentFile;
pub use containment::{Cases as ContainmentCases, ContainmentBody, VariantSpec};
pub(crate) use generators::VariantFile;
pub use probe::{Primary, Probe, Scoring};
pub(crate) use robustness::RobustnessFile;
pub use robustness::{
    Answer, Asked, Recorded, Rejection, Rewriter, RobustnessBody, ToolCase, ToolSetup, ToolVariant, Wanted,
};
pub use wordings::{Wording, Wordings};

/// What a kind needs to read its suite.
pub(crate) struct Loading<'a> {
    pub(crate) path: &'a Utf8Path,
    pub(crate) tree: &'a Tree,
    pub(crate) overrides: &'a Overrides,
    pub(crate) lenient: bool,
    /// What may stand nowhere.
    pub(crate) keys: &'a Arc<Keys>,
}

/// What a kind made of it.
pub(crate) struct Read {
    pub(crate) suite: Suite,
    pub(crate) datasets: Vec<DatasetFacts>,
    pub(crate) case_count: u64,
    pub(crate) warnings: Vec<String>,
}

/// Reads a suite of this kind.
pub(crate) fn read(kind: Kind, loading: &Loading<'_>) -> Result<Read, Problems> {
    match kind {
        Kind::Probe => probe::read(loading),
        Kind::Code => code::read(loading),
        Kind::Robustness => robustness::read(loading),
        Kind::Containment => containment::read(loading),
    }
}

impl<'a> Loading<'a> {
    /// The file as its struct; unknown keys are problems that leave it readable.
    pub(crate) fn file<T: DeserializeOwned>(&self) -> Result<(T, Checker<'a>, Vec<String>), Problems> {
        let Reading { value, problems, warnings } = de::read::<T>(self.tree, self.lenient);
        let only_unknown = problems.iter().all(|problem| problem.code == Code::UnknownKey);
        match value.filter(|_| only_unknown) {
            Some(file) => Ok((file, Checker { tree: self.tree, problems }, warnings)),
            None => Err(Problems::new(problems)),
        }
    }

    /// The directory below which datasets lie.
    pub(crate) fn base(&self) -> &Utf8Path {
        let own = self.path.parent().filter(|parent| !parent.as_str().is_empty());
        self.overrides.data_root.as_deref().or(own).unwrap_or(Utf8Path::new("."))
    }

    pub(crate) fn check_overrides(&self, checker: &mut Checker<'_>) {
        let overrides = self.overrides;
        let place = || Place::whole("command line");
        if overrides.seed.is_some_and(|seed| seed > MAX_SAFE_INTEGER) {
            let what = format!("`--seed` is beyond {MAX_SAFE_INTEGER}, which records cannot hold exactly");
            checker.problems.push(Problem::new(Code::OutOfRange, place(), what).hint("give a smaller seed"));
        }
        if overrides.limit == Some(0) {
            let problem = Problem::new(Code::OutOfRange, place(), "`--limit 0` leaves no case to run");
            checker.problems.push(problem.hint("give at least 1, or leave `--limit` out"));
        }
    }
}
