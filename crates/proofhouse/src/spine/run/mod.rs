//! Making it happen: a plan in, records out, and an envelope that says how it ended.
//!
//! The stages are `open` (everything that could refuse the run), `execute` (the dispatcher) and `seal` (manifest and
//! envelope). Clock, processes' facts and signals live here and nowhere further down.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use proofhouse_ledger::record::Status;
use proofhouse_ledger::write::Durability;
use proofhouse_ledger::{Json, Part};

pub(crate) mod advisers;
pub(crate) mod again;
pub mod clock;
mod difference;
pub(crate) mod execute;
pub mod host;
pub(crate) mod job;
mod merge;
mod open;
pub(crate) mod record;
mod recover;
mod reuse;
mod seal;
pub(crate) mod stored;
pub(crate) mod work;

pub use execute::{Ending, ExecuteError, Executed, Stop};
pub use job::{Job, NotRunError, Ready};
pub use merge::{MergeError, Merging, Terms as MergeTerms, begin_merge, names as part_names};
pub use open::{Open, OpenError, is_complete, open, read_envelope, receipt_path, run_id};
pub use recover::{NOT_DERIVABLE, RecoverError, Recovered, derived_envelope, instance_of, rebuild, recover};
pub use seal::{SealError, seal, write_manifest};
pub use stored::{Stored, StoredError};
pub use work::{Means, Provenance};

/// How a run is to be made; none of it changes what the records say.
#[derive(Debug, Clone)]
pub struct Options {
    /// The run directory, if the user chose one.
    pub run_dir: Option<Utf8PathBuf>,
    /// Where run directories go otherwise.
    pub root: Utf8PathBuf,
    /// Trials, or groups of them, in flight at most; as the kind has it if not given.
    pub jobs: Option<usize>,
    /// Go on with what is there.
    pub resume: bool,
    /// With `resume`: run again what ended in an error, a timeout or a rate limit.
    pub retry_errors: bool,
    /// Replace what is there, once the new run is whole.
    pub overwrite: bool,
    /// How soon a record is on the disk.
    pub durability: Durability,
    /// The whole run's deadline.
    pub deadline: Option<Duration>,
    /// Give up beyond so many timeouts.
    pub max_timeouts: Option<u64>,
    /// The command line, for manifests that are not deterministic.
    pub command: Vec<String>,
    /// The part of the plan that is run; all of it if not given.
    pub part: Option<Part>,
    /// The lane and where its gate's verdict comes from, for envelopes of containment runs.
    pub lane: Lane,
    /// Who is shown each record as it is finished.
    pub observer: Option<Observer>,
}

/// Somebody who is shown records as they are finished, in the order in which they end.
#[derive(Clone)]
pub struct Observer(pub Arc<Show>);

/// What it is shown with.
pub type Show = dyn Fn(&[u8]) + Send + Sync;

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

/// The lane of a run, as its envelope tells it.
#[derive(Debug, Clone, Default)]
pub struct Lane {
    /// `1`, `2`, `auto`, or nothing.
    pub name: Option<&'static str>,
    /// What is known of lane 1: `bypassed`, or its source and checks.
    pub gate: Json,
}

/// How far a run is.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Planned trials.
    pub total: u64,
    /// Trials with a record.
    pub done: u64,
    /// Passed, of those executed by this instance.
    pub passed: u64,
    /// Failed, of those executed by this instance.
    pub failed: u64,
    /// By status, of those executed by this instance.
    pub statuses: [u64; Status::ALL.len()],
    /// Trials under way.
    pub in_flight: usize,
    /// Since the first trial.
    pub elapsed: Duration,
}

impl Progress {
    fn count(&mut self, status: Status, passed: Option<bool>) {
        self.done += 1;
        self.statuses[status as usize] += 1;
        match passed {
            Some(true) => self.passed += 1,
            Some(false) => self.failed += 1,
            None => {}
        }
    }

    /// Trials of this instance with a status.
    pub fn by_status(&self, status: Status) -> u64 {
        self.statuses[status as usize]
    }
}
