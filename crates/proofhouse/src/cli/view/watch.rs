//! A suite that is run again whenever it, or what it reads, is saved. What has not changed comes from the answer cache.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;
use clap::Parser as _;
use proofhouse_ledger::RunPaths;

use crate::cli::env::{self, Surroundings};
use crate::cli::{Cli, Terminal, dispatch};
use crate::kinds;
use crate::spine::suite::Overrides;

/// How often files are looked at.
const EVERY: Duration = Duration::from_millis(100);

/// When files were saved.
fn times(paths: impl Iterator<Item = Utf8PathBuf>) -> BTreeMap<Utf8PathBuf, Option<SystemTime>> {
    let time = |path: &Utf8PathBuf| std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
    paths.map(|path| (path.clone(), time(&path))).collect()
}

/// A suite that is watched.
pub(super) struct Watch {
    suite: Utf8PathBuf,
    dir: Utf8PathBuf,
    surroundings: Surroundings,
    /// How many runs there are; the last one's number.
    pub(super) runs: AtomicU64,
}

impl Watch {
    pub(super) fn new(suite: Utf8PathBuf, dir: Utf8PathBuf, surroundings: Surroundings) -> Self {
        Watch { suite, dir, surroundings, runs: AtomicU64::new(0) }
    }

    /// Where a run goes.
    pub(super) fn place(&self, number: u64) -> RunPaths {
        RunPaths::new(self.dir.join("watch").join(format!("{}-{number:04}", std::process::id())))
    }

    /// Runs the suite now and on every change, for ever.
    pub(super) async fn go(self: Arc<Self>) {
        let mut seen: BTreeMap<Utf8PathBuf, Option<SystemTime>> = BTreeMap::new();
        loop {
            let known: Vec<Utf8PathBuf> = seen.keys().cloned().collect();
            let now = times(known.into_iter().chain([self.suite.clone()]));
            if now != seen {
                let this = Arc::clone(&self);
                let read = tokio::task::spawn_blocking(move || {
                    this.once();
                    this.reads()
                })
                .await;
                // What was saved while it ran is seen at the next look; what is read for the first time now is as it is.
                seen = times(read.unwrap_or_default().into_iter());
                seen.extend(now);
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// What the suite reads beside itself.
    fn reads(&self) -> Vec<Utf8PathBuf> {
        let overrides = Overrides { environment: env::for_targets(), ..Overrides::default() };
        let base = self.suite.parent().map(ToOwned::to_owned).unwrap_or_default();
        let job = kinds::load(&self.suite, &overrides).ok();
        job.iter().flat_map(|job| &job.loaded.datasets).map(|dataset| base.join(&dataset.path)).collect()
    }

    fn once(&self) {
        let number = self.runs.load(Ordering::SeqCst) + 1;
        let (run, cache) = (self.place(number), self.dir.join(".watch-cache"));
        let words = [
            "proofhouse",
            "run",
            self.suite.as_str(),
            "--run-dir",
            run.dir.as_str(),
            "--cache",
            cache.as_str(),
        ];
        let quiet = Terminal { quiet: true, surroundings: self.surroundings };
        if let Ok(cli) = Cli::try_parse_from(words) {
            // A suite that is half written is refused, and run when it is saved again.
            let outcome = dispatch(cli.command, &quiet);
            if outcome.is_ok() && run.manifest().exists() {
                self.runs.store(number, Ordering::SeqCst);
            }
        }
    }
}
