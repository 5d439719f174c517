//! The runs below a folder. Links are not followed, files are read up to a bound, and what has not changed is not read again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::envelope::Envelope;
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::{RunPaths, files};

/// How deep below the folder runs are looked for, and how many directories are looked into.
const DEPTH: usize = 4;
const MAX_DIRS: usize = 200_000;

/// A run.
#[derive(Debug, Clone)]
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
    pub(super) rates: Vec<Rate>,
    pub(super) trials: u64,
}

/// A target's pass rate.
#[derive(Debug, Clone)]
pub(super) struct Rate {
    pub(super) slot: String,
    /// Lower end, value and upper end.
    pub(super) estimate: Option<[f64; 3]>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Whole, and its gate held, or it has none.
    Passed,
    /// Whole, and it missed its gate.
    Missed,
    /// Not every planned trial has its record.
    Incomplete,
    /// There is something, and it cannot be read.
    Damaged,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            State::Passed => "whole",
            State::Missed => "gate missed",
            State::Incomplete => "incomplete",
            State::Damaged => "damaged",
        }
    }
}

/// What was found before, by name, with the time of its manifest.
#[derive(Debug, Default)]
pub(super) struct Found(Mutex<BTreeMap<String, (SystemTime, Run)>>);

impl Found {
    /// The runs that are there now, newest first.
    pub(super) fn runs(&self, dir: &Utf8Path) -> Vec<Run> {
        let mut places = Vec::new();
        walk(dir, Utf8Path::new(""), DEPTH, &mut places);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut runs: Vec<Run> = places
            .into_iter()
            .map(|name| {
                let paths = RunPaths::new(dir.join(&name));
                let time = std::fs::metadata(paths.manifest()).and_then(|meta| meta.modified()).ok();
                let kept =
                    time.and_then(|time| known.get(name.as_str()).filter(|(before, _)| *before == time));
                if let Some((_, run)) = kept {
                    return run.clone();
                }
                let run = read(name.as_str(), paths);
                known.extend(time.map(|time| (run.name.clone(), (time, run.clone()))));
                run
            })
            .collect();
        runs.sort_by(|a, b| b.started.cmp(&a.started).then(b.name.cmp(&a.name)));
        runs
    }

    /// The run of this name, if there is one.
    pub(super) fn run(&self, dir: &Utf8Path, name: &str) -> Option<Run> {
        self.runs(dir).into_iter().find(|run| run.name == name)
    }
}

fn is_dir(path: &Utf8Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// Names of directories that hold records.
fn walk(root: &Utf8Path, below: &Utf8Path, depth: usize, found: &mut Vec<Utf8PathBuf>) {
    let here = root.join(below);
    let records = RunPaths::new(&here).records();
    if !below.as_str().is_empty() && std::fs::symlink_metadata(records).is_ok_and(|meta| meta.is_file()) {
        found.push(below.to_owned());
        return;
    }
    if depth == 0 || found.len() >= MAX_DIRS {
        return;
    }
    for name in files::sorted_dir(&here).unwrap_or_default() {
        if !name.starts_with('.') && is_dir(&here.join(&name)) {
            walk(root, &below.join(name), depth - 1, found);
        }
    }
}

fn read(name: &str, paths: RunPaths) -> Run {
    let envelope = parsed::<Envelope>(&paths.envelope());
    let (manifest, summary) = (parsed::<Manifest>(&paths.manifest()), parsed::<Summary>(&paths.summary()));
    let state = match (&manifest, &summary) {
        (Some(_), Some(summary)) => match summary.gate.as_ref().and_then(|gate| gate.held) {
            Some(false) => State::Missed,
            _ => State::Passed,
        },
        (None, _) if !paths.manifest().exists() => State::Incomplete,
        _ => State::Damaged,
    };
    let rate = |slot: &proofhouse_ledger::summary::Slot| {
        let rate = &slot.pass_rate;
        let clustered = slot.pass_rate_clustered.as_ref().and_then(|mean| mean.low.zip(mean.high));
        let ends = clustered.or(rate.low.zip(rate.high));
        let estimate = ends.zip(rate.value).map(|((low, high), value)| [low, value, high]);
        Rate { slot: slot.slot.clone(), estimate }
    };
    Run {
        name: name.to_owned(),
        suite_id: manifest.as_ref().map(|manifest| manifest.suite_id.clone()).unwrap_or_default(),
        kind: manifest.as_ref().map_or("", |manifest| manifest.kind.as_str()).to_owned(),
        run_id: manifest.as_ref().map(|manifest| manifest.run_id.to_string()).unwrap_or_default(),
        started: envelope.and_then(|envelope| envelope.run_start_ts_utc).unwrap_or_default(),
        state,
        rates: summary.iter().flat_map(|summary| &summary.slots).map(rate).collect(),
        trials: summary.as_ref().map_or(0, |summary| summary.trials),
        paths,
    }
}

/// A file of bounded size, if it is what it should be.
pub(super) fn parsed<T: serde::de::DeserializeOwned>(path: &Utf8Path) -> Option<T> {
    serde_json::from_slice(&files::read_facts(path).ok()?).ok()
}
