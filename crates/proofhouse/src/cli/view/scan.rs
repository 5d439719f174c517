//! The runs below a folder. Links are not followed, of each run a few fields are read up to a bound and by several threads, and what has
//! not changed is not read again: ten thousand runs are listed within a second.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::SystemTime;

use camino::Utf8Path;
use proofhouse_ledger::envelope::ExitStatus;
use proofhouse_ledger::glance::{self, EnvelopeGlance, SlotGlance};
use proofhouse_ledger::{RunPaths, files};

use crate::spine::run::host;

/// How deep below the folder runs are looked for, and how many directories are looked at.
const DEPTH: usize = 4;
const MAX_DIRS: usize = 200_000;
/// Threads that read files at the same time.
const MAX_THREADS: usize = 8;

/// A run.
#[derive(Debug)]
pub(super) struct Run {
    /// Its path below the folder, which is its name.
    pub(super) name: String,
    pub(super) paths: RunPaths,
    pub(super) suite_id: String,
    pub(super) kind: String,
    pub(super) run_id: String,
    /// When it began, as its envelope says.
    pub(super) started: String,
    pub(super) state: State,
    pub(super) slots: Vec<SlotGlance>,
    pub(super) trials: u64,
}

impl Run {
    /// What its answers cost, where that is known.
    pub(super) fn cost(&self) -> Option<f64> {
        let costs = self.slots.iter().filter_map(|slot| slot.usage.as_ref()?.cost_usd);
        costs.fold(None, |sum, cost| Some(sum.unwrap_or(0.0) + cost))
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Whole, and its gate held, or it has none.
    Passed,
    /// Whole, and it missed its gate.
    Missed,
    /// It is going on.
    Running,
    /// Not every planned trial has its record, and nobody is at it.
    Incomplete,
    /// There is something, and it cannot be read.
    Damaged,
}

impl State {
    pub(super) const ALL: [State; 5] =
        [State::Passed, State::Missed, State::Running, State::Incomplete, State::Damaged];

    pub(super) fn word(self) -> &'static str {
        match self {
            State::Passed => "complete",
            State::Missed => "gate missed",
            State::Running => "running",
            State::Incomplete => "incomplete",
            State::Damaged => "damaged",
        }
    }

    /// Whether it has a report.
    pub(super) fn is_whole(self) -> bool {
        matches!(self, State::Passed | State::Missed)
    }
}

type RunsByName = BTreeMap<String, (SystemTime, Arc<Run>)>;

/// What was found before, by name, with the time of its manifest.
#[derive(Debug, Default)]
pub(super) struct RunIndex(Mutex<RunsByName>);

impl RunIndex {
    /// The runs that are there now, newest first.
    pub(super) fn runs(&self, dir: &Utf8Path) -> Vec<Arc<Run>> {
        let names = names(dir);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let threads =
            std::thread::available_parallelism().map_or(1, |threads| threads.get().min(MAX_THREADS));
        let before = std::mem::take(&mut *known);
        let of = |name: &String| look(dir, name, &before);
        let all: Vec<(Option<SystemTime>, Arc<Run>)> = std::thread::scope(|scope| {
            let parts = names.chunks(names.len().div_ceil(threads).max(1));
            let work = |part: &[String]| part.iter().map(of).collect::<Vec<_>>();
            // Where the machine gives no further thread, this one does it.
            let start = |part| Builder::new().spawn_scoped(scope, move || work(part)).map_err(|_| part);
            let parts: Vec<_> = parts.map(start).collect();
            let joined = parts.into_iter().map(|part| match part {
                Ok(thread) => thread.join().unwrap_or_default(),
                Err(part) => work(part),
            });
            joined.flatten().collect()
        });
        // A run without a manifest goes on: it is read anew each time.
        let kept = all.iter().filter_map(|(time, run)| Some((run.name.clone(), ((*time)?, Arc::clone(run)))));
        *known = kept.collect();
        drop(known);
        let mut runs: Vec<Arc<Run>> = all.into_iter().map(|(_, run)| run).collect();
        runs.sort_by(|a, b| b.started.cmp(&a.started).then_with(|| b.name.cmp(&a.name)));
        runs
    }

    /// The run of this name, if there is one: the name is only held against those that were found.
    pub(super) fn run(&self, dir: &Utf8Path, name: &str) -> Option<Arc<Run>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some((time, run)) = known
            && is_run(dir, name)
            && saved(dir, name) == Some(time)
        {
            return Some(run);
        }
        self.runs(dir).into_iter().find(|run| run.name == name)
    }
}

/// When its manifest was written.
fn saved(dir: &Utf8Path, name: &str) -> Option<SystemTime> {
    std::fs::symlink_metadata(RunPaths::new(dir.join(name)).manifest()).and_then(|meta| meta.modified()).ok()
}

/// Whether a name that was found still stands for a run, through no link.
fn is_run(dir: &Utf8Path, name: &str) -> bool {
    let mut here = dir.to_owned();
    let is_dir = |path: &Utf8Path| std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let inside = name.split('/').all(|part| {
        here.push(part);
        is_dir(&here)
    });
    inside && has_records(&here)
}

fn has_records(dir: &Utf8Path) -> bool {
    std::fs::symlink_metadata(RunPaths::new(dir).records()).is_ok_and(|meta| meta.is_file())
}

/// Names of directories that hold records, in order.
fn names(root: &Utf8Path) -> Vec<String> {
    let (mut found, mut looked) = (Vec::new(), 0);
    let mut open = vec![(String::new(), DEPTH)];
    while let Some((below, depth)) = open.pop() {
        let here = root.join(&below);
        if !below.is_empty() && has_records(&here) {
            found.push(below);
            continue;
        }
        if depth == 0 {
            continue;
        }
        for name in files::sorted_dirs(&here).unwrap_or_default().into_iter().rev() {
            looked += 1;
            if looked > MAX_DIRS {
                break;
            }
            if !name.starts_with('.') {
                let name = if below.is_empty() { name } else { format!("{below}/{name}") };
                open.push((name, depth - 1));
            }
        }
    }
    found
}

/// What a run is, as it was read before or is now, and when its manifest was written.
fn look(dir: &Utf8Path, name: &str, before: &RunsByName) -> (Option<SystemTime>, Arc<Run>) {
    let time = saved(dir, name);
    let known = before.get(name).filter(|(before, _)| time == Some(*before));
    let run = known.map_or_else(|| Arc::new(read(name, dir, time.is_some())), |(_, run)| Arc::clone(run));
    (time, run)
}

fn read(name: &str, dir: &Utf8Path, has_manifest: bool) -> Run {
    let paths = RunPaths::new(dir.join(name));
    let envelope = glance::envelope(&paths);
    let (manifest, summary) = (glance::manifest(&paths), glance::summary(&paths));
    let state = match (&manifest, &summary) {
        (Some(manifest), Some(summary)) if manifest.run_id == summary.run_id => {
            match summary.gate.as_ref().and_then(|gate| gate.held) {
                Some(false) => State::Missed,
                _ => State::Passed,
            }
        }
        (None, _) if !has_manifest => match envelope.as_ref().is_some_and(is_under_way) {
            true => State::Running,
            false => State::Incomplete,
        },
        _ => State::Damaged,
    };
    let suite = envelope.as_ref().map(|envelope| envelope.suite.clone());
    let planned = envelope.as_ref().map_or(0, |envelope| envelope.total_cases_expected);
    Run {
        name: name.to_owned(),
        suite_id: summary.as_ref().map(|summary| summary.suite_id.clone()).or(suite).unwrap_or_default(),
        kind: summary.as_ref().map_or("", |summary| summary.kind.as_str()).to_owned(),
        run_id: summary.as_ref().map(|summary| summary.run_id.to_string()).unwrap_or_default(),
        started: envelope.and_then(|envelope| envelope.run_start_ts_utc).unwrap_or_default(),
        state,
        trials: summary.as_ref().map_or(planned, |summary| summary.trials),
        slots: summary.map(|summary| summary.slots).unwrap_or_default(),
        paths,
    }
}

/// Whether the process that an envelope names still runs. The lock would tell as well, but to try it could be in the way of a run that
/// begins at this moment.
fn is_under_way(envelope: &EnvelopeGlance) -> bool {
    let pid = envelope.pid.and_then(|pid| rustix::process::Pid::from_raw(i32::try_from(pid).ok()?));
    envelope.exit_status == ExitStatus::InProgress
        && envelope.boot_id == host::boot_id()
        && pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}
