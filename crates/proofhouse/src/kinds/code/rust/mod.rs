//! Rust: completions are read with the Rust lexer, compiled and linted by the sysroot's own programs, and answer the calls of
//! their tests over a border between two boxes: neither program has anything of the other's.

mod assemble;
mod batch;
mod carried;
mod checker;
mod checks;
pub(super) mod comments;
mod compile;
mod crates;
mod decoys;
mod diagnostics;
mod frame;
mod imports;
mod items;
mod judge;
mod lent;
mod library;
mod one_process;
mod owner;
mod prepared;
mod program;
mod public;
mod rescue;
mod scope;
mod screen;
mod signature;
mod tested;
mod tokens;
mod trap;
mod types;
mod warm;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use camino::Utf8PathBuf;
use proofhouse_sandbox::Outcome;
use proofhouse_sandbox::recipes::Toolchain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bench::Bench;
use super::detect;
use super::language::{Language, Profile, Task};
use super::problem::Problem;
use super::prose::Prose;
use super::verdict::Judged;
use crate::spine::run::execute::ExecuteError;
use crate::text::complaint::Complaint;
use checker::Checkers;
use crates::Crates;
pub(crate) use crates::{is_crate_name, is_crate_version};
use prepared::Prepared;

/// Finds the code in an answer and puts it in its place, as before it is compiled.
pub(super) fn read_answer(problem: &Problem, answer: &str) {
    let frame = frame::Frame::of(problem, &BTreeSet::new());
    if let Some(assembled) = assemble::assemble(&frame, answer) {
        let _ = screen::screen(&frame, &assembled);
    }
}

pub(super) const PROFILE: Profile = Profile {
    word: "rust",
    title: "Rust",
    aliases: &["rs"],
    marks: &["fn ", "#[test]", "assert_eq!", "assert!(", "let ", "use std::", "-> Vec<", "///"],
    open: |code, means| {
        let rust = Rust::find("rustc".as_ref(), code.clippy)
            .edition(code.edition.as_str())
            .allowing_unsafe(code.allows_unsafe);
        let folder = means.crates.clone().unwrap_or_else(|| "proofhouse-crates".into());
        let hint = "`crates:` in the suite, or `--crate NAME=VERSION`, says which are built; without them \
                    (`code --no-crates`) tasks that need one are left out by name";
        let built = rust.with_crates(&code.crates, &folder);
        Ok(Box::new(built.map_err(|complaint| ExecuteError::Crates(complaint.hint(hint)))?))
    },
    bare: || Box::new(Rust::find("rustc".as_ref(), Clippy::Off)),
    prose: |prompt, entry| Prose::in_rust(prompt, entry),
    crates: detect::crates_of,
    doubts: |_| None,
};

/// Whether completions are linted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clippy {
    /// Not at all.
    Off,
    /// Findings are recorded.
    #[default]
    Advisory,
    /// A finding is a failure.
    Required,
}

/// The Rust language with one toolchain.
#[derive(Debug, Clone)]
pub struct Rust {
    toolchain: Result<Toolchain, Complaint>,
    edition: String,
    clippy: Clippy,
    /// Names of crates that are there beside the standard library.
    names: BTreeSet<String>,
    crates: Crates,
    /// Whether completions that reach below the language may share a process with their tests, where they have to.
    allows_unsafe: bool,
    /// The library of the border, once it is compiled.
    border: Arc<OnceLock<Vec<u8>>>,
    /// The tests that were compiled so far.
    checkers: Arc<Checkers>,
    /// The tasks that were read so far.
    tasks: Arc<Mutex<BTreeMap<String, Arc<Prepared>>>>,
    /// Set once a program that is known to be good was compiled and run.
    sound: Arc<OnceLock<()>>,
    /// How many completions were tested in a fork of their batch's box.
    warm: Arc<AtomicU64>,
}

impl Rust {
    /// Finds the toolchain that a `rustc` of the host belongs to. If there is none, every verdict says so.
    pub fn find(rustc: &OsStr, clippy: Clippy) -> Rust {
        Rust {
            toolchain: judge::toolchain(rustc),
            edition: "2021".to_owned(),
            clippy,
            names: BTreeSet::new(),
            crates: Crates::default(),
            allows_unsafe: false,
            border: Arc::default(),
            checkers: Arc::default(),
            tasks: Arc::default(),
            sound: Arc::default(),
            warm: Arc::default(),
        }
    }

    /// How many completions were tested in a fork of their batch's box, and needed none of their own.
    pub fn warm_runs(&self) -> u64 {
        self.warm.load(Ordering::Relaxed)
    }

    /// Compiles with this edition in place of 2021.
    #[must_use]
    pub fn edition(mut self, edition: &str) -> Rust {
        self.edition = edition.to_owned();
        self
    }

    /// Gives these crates (name and version) to every compilation; they are built below `cache` if they are not there.
    ///
    /// # Errors
    /// What cargo said. Without a toolchain nothing is built: every verdict says so already.
    pub fn with_crates(
        mut self,
        wanted: &[(String, String)],
        cache: &Utf8PathBuf,
    ) -> Result<Rust, Complaint> {
        if let (Ok(toolchain), false) = (&self.toolchain, wanted.is_empty()) {
            self.crates = Crates::build(toolchain, wanted, cache)?;
            self.names = self.crates.names().map(str::to_owned).collect();
        }
        Ok(self)
    }

    /// Judges completions that reach below the language also where they share a process with their tests.
    #[must_use]
    pub fn allowing_unsafe(mut self, allow: bool) -> Rust {
        self.allows_unsafe = allow;
        self
    }

    /// The library of the border; what the compiler came to, where it could not make it.
    fn border(&self, toolchain: &Toolchain, bench: &Bench) -> Result<&Vec<u8>, Box<Outcome>> {
        if let Some(border) = self.border.get() {
            return Ok(border);
        }
        let built = compile::build_border(toolchain, bench)?;
        Ok(self.border.get_or_init(|| built))
    }

    /// A task made ready, once for all of its completions.
    fn prepared(&self, problem: &Problem) -> Arc<Prepared> {
        let known = |tasks: &BTreeMap<String, Arc<Prepared>>| tasks.get(&problem.task_id).cloned();
        if let Some(task) = known(&self.tasks.lock().unwrap_or_else(PoisonError::into_inner)) {
            return task;
        }
        let task = Arc::new(Prepared::of(problem, &self.names));
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tasks.entry(problem.task_id.clone()).or_insert(task))
    }

    /// What is wrong with the toolchain, if nothing has shown yet that it is sound.
    fn unsound(&self, bench: &Bench) -> Option<Complaint> {
        if self.sound.get().is_some() {
            return None;
        }
        let broken = self.broken(bench);
        if broken.is_none() {
            let _ = self.sound.set(());
        }
        broken
    }

    /// What is wrong with the toolchain, told by a program that is known to be good.
    pub fn broken(&self, bench: &Bench) -> Option<Complaint> {
        judge::known_good(self, bench).err()
    }
}

impl Language for Rust {
    fn name(&self) -> &'static str {
        PROFILE.word
    }

    fn toolchains(&self) -> BTreeMap<String, String> {
        let Ok(toolchain) = &self.toolchain else { return BTreeMap::new() };
        let clippy = toolchain.clippy_version().filter(|_| self.clippy != Clippy::Off);
        let found = [("rustc", Some(toolchain.version.clone())), ("clippy", clippy)];
        found.into_iter().filter_map(|(name, version)| Some((name.to_owned(), version?))).collect()
    }

    fn conditions(&self) -> String {
        let Rust { edition, clippy, names, allows_unsafe, .. } = self;
        let crates = self.crates.conditions();
        format!("rust {edition} {clippy:?} {names:?} {crates} unsafe {allows_unsafe} {:?}", self.toolchains())
    }

    fn baseline_size_bytes(&self, bench: &Bench) -> Option<u64> {
        judge::known_good(self, bench).ok()
    }

    fn task(&self, problem: &Problem) -> Box<dyn Task> {
        Box::new(RustTask { rust: self.clone(), task: self.prepared(problem) })
    }

    fn judge_together(&self, bench: &Bench, items: &[(&Problem, &str)], tell: &mut dyn FnMut(usize, Judged)) {
        batch::judge(self, bench, items, tell);
    }
}

struct RustTask {
    rust: Rust,
    task: Arc<Prepared>,
}

impl Task for RustTask {
    fn judge(&self, bench: &Bench, completion: &str) -> Judged {
        judge::judge(&self.rust, &self.task, bench, completion)
    }

    fn program(&self, completion: &str) -> Option<String> {
        assemble::assemble(&self.task.frame, completion).map(|assembled| assembled.source)
    }
}
