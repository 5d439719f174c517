//! A suite that is run again whenever it, or a file that it names, is saved. What has not changed comes from the answer cache.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;
use clap::Parser as _;
use proofhouse_ledger::RunPaths;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tokio::sync::watch;

use crate::cli::env::Surroundings;
use crate::cli::{Cli, Terminal, dispatch};
use crate::spine::suite::named_files;

/// How often files are looked at.
const EVERY: Duration = Duration::from_millis(25);
/// How long files have to stay as they are: an editor empties a file before it writes it.
const SETTLED: Duration = Duration::from_millis(15);

/// When a file was saved, and how long it is; nothing where there is none.
type Saved = BTreeMap<Utf8PathBuf, Option<(SystemTime, u64)>>;

fn saved(paths: &BTreeSet<Utf8PathBuf>) -> Saved {
    let time = |path: &Utf8PathBuf| {
        let meta = std::fs::metadata(path).ok()?;
        // A folder's length says nothing, and its time says that a file came or went.
        Some((meta.modified().ok()?, if meta.is_file() { meta.len() } else { 0 }))
    };
    paths.iter().map(|path| (path.clone(), time(path))).collect()
}

/// What there is to see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Now {
    /// Changes whenever there is something new.
    pub(super) version: u64,
    /// The number of the last whole run; 0 before there is one.
    pub(super) run: u64,
    /// That of the one before it.
    pub(super) before: u64,
    /// Why the suite as it stands could not be run.
    pub(super) problem: Option<String>,
}

/// A suite that is watched.
pub(super) struct Watch {
    suite: Utf8PathBuf,
    dir: Utf8PathBuf,
    surroundings: Surroundings,
    now: watch::Sender<Now>,
}

impl Watch {
    pub(super) fn new(suite: Utf8PathBuf, dir: Utf8PathBuf, surroundings: Surroundings) -> Self {
        Watch { suite, dir, surroundings, now: watch::Sender::new(Now::default()) }
    }

    /// What there is to see now.
    pub(super) fn now(&self) -> Now {
        self.now.borrow().clone()
    }

    /// Tells of every change.
    pub(super) fn changes(&self) -> watch::Receiver<Now> {
        self.now.subscribe()
    }

    /// Where a run goes.
    pub(super) fn place(&self, number: u64) -> RunPaths {
        RunPaths::new(self.dir.join("watch").join(format!("{}-{number:04}", std::process::id())))
    }

    /// Runs the suite now and on every change, for ever.
    pub(super) async fn go(self: Arc<Self>) {
        let mut known = BTreeSet::from([self.suite.clone()]);
        let mut before = Saved::new();
        loop {
            let mut now = saved(&known);
            if now != before {
                loop {
                    tokio::time::sleep(SETTLED).await;
                    let then = std::mem::replace(&mut now, saved(&known));
                    if now == then {
                        break;
                    }
                }
                // A suite that is half written names nothing: what it named before is looked at until it does again.
                known = named_files(&self.suite).unwrap_or(known);
                // Taken before it runs: what is saved meanwhile is seen at the next look.
                before = saved(&known);
                let this = Arc::clone(&self);
                let _ = tokio::task::spawn_blocking(move || this.once()).await;
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    fn once(&self) {
        // One that was cut off keeps its number and its records.
        let taken = |number: &u64| {
            let place = self.place(*number);
            place.dir.exists() || place.envelope_tmp().exists()
        };
        let number = (self.now.borrow().run + 1..).find(|number| !taken(number)).unwrap_or(u64::MAX);
        let (run, cache) = (self.place(number), self.dir.join(".watch-cache"));
        let (suite, dir) = (self.suite.as_str(), run.dir.as_str());
        let words = ["proofhouse", "run", suite, "--run-dir", dir, "--cache", cache.as_str()];
        let quiet = Terminal { quiet: true, surroundings: self.surroundings };
        let Ok(cli) = Cli::try_parse_from(words) else { return };
        let outcome = dispatch(cli.command, &quiet);
        let whole = run.manifest().exists();
        let problem = match outcome {
            Err(failure) if !whole => {
                let hint = failure.hint.map(|hint| format!("\n\nhint: {hint}"));
                Some(format!("{}{}", failure.message, hint.unwrap_or_default()))
            }
            _ => None,
        };
        self.now.send_modify(|now| {
            now.version += 1;
            if whole {
                (now.before, now.run) = (now.run, number);
            }
            now.problem = problem;
        });
    }
}

/// Ends the process at the first signal: a run takes signals as a wish to stop in order, and would leave the server running.
pub(super) fn end_on_signals() -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("end".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(())
}
