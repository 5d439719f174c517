//! What loading asks of the kinds of suite: which there are, and what a file of one says.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::Digest;
use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use serde::de::DeserializeOwned;

use super::check::Checker;
use super::de::{self, ReadValue};
use super::file::FileRef;
use super::load::{DatasetFacts, Overrides};
use super::model::Suite;
use super::paths;
use super::problem::{Code, Place, Problem, Problems, quoted};
use super::tree::{Step, Tree};
use crate::family::target::Keys;

/// The kinds that there are.
pub(crate) trait Kinds {
    /// What a kind's own settings become.
    type Body;

    /// Their words.
    fn names(&self) -> Vec<&'static str>;

    /// The kind of a suite without a word for it.
    fn unnamed(&self, tree: &Tree) -> &'static str;

    /// Reads a suite of the kind with this word.
    fn read(&self, name: &str, loading: &Loading<'_>) -> Result<Read<Self::Body>, Problems>;
}

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
pub(crate) struct Read<B> {
    pub(crate) suite: Suite,
    pub(crate) body: B,
    pub(crate) datasets: Vec<DatasetFacts>,
    pub(crate) case_count: u64,
    pub(crate) trial_count: u64,
    pub(crate) warnings: Vec<String>,
}

impl<'a> Loading<'a> {
    /// The file as its struct; unknown keys are problems that leave it readable.
    pub(crate) fn file<T: DeserializeOwned>(&self) -> Result<(T, Checker<'a>, Vec<String>), Problems> {
        let ReadValue { value, problems, warnings } = de::read::<T>(self.tree, self.lenient);
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

    /// A file below the suite's directory, with its digest.
    pub(crate) fn locate(
        &self,
        checker: &mut Checker<'_>,
        reference: &FileRef,
        steps: &[Step<'_>],
    ) -> Option<(String, Utf8PathBuf, Digest)> {
        let base = self.base();
        let path = match paths::resolve(base, &reference.path) {
            Ok(path) => path,
            Err(fault) => {
                checker.complain(fault.code, steps, fault.what).hint = Some(fault.hint);
                return None;
            }
        };
        let name = match base.as_str() {
            "." => reference.path.clone(),
            _ => base.join(&reference.path).into_string(),
        };
        let sha256 = match Digest::of_file(&path) {
            Ok(sha256) => sha256,
            Err(error) => {
                let what = format!("{} cannot be read: {error}", quoted(&reference.path));
                checker.complain(Code::Unreadable, steps, what);
                return None;
            }
        };
        match reference.sha256.as_deref().map(str::parse::<Digest>) {
            Some(Err(error)) => {
                checker.complain(Code::BadValue, steps, error.to_string()).hint =
                    Some(format!("`sha256sum {}` prints it", reference.path));
            }
            Some(Ok(expected)) if expected != sha256 => {
                let what = format!("{} is not the file that the suite names", quoted(&reference.path));
                let problem = checker.complain(Code::HashMismatch, steps, what);
                problem.notes = vec![
                    format!("the suite says {}", expected.prefixed()),
                    format!("the file has   {}", sha256.prefixed()),
                ];
                problem.hint =
                    Some("restore the file, or write its digest if the change is meant".to_owned());
            }
            _ => {}
        }
        Some((name, path, sha256))
    }
}
