//! The dispatcher: one loop that starts trials, takes their replies, has them judged and hands the records to the writer.
//!
//! It runs on one thread. A target that answers at once costs no task; one that takes its time is a future among at most
//! `jobs`. Records leave in the order in which trials finish; the writer restores the plan's.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use proofhouse_ledger::files::FileError;
use proofhouse_ledger::record::Status;
use proofhouse_ledger::spine::Stamp;
use proofhouse_ledger::totals::Totalling;
use proofhouse_ledger::write::{Stopped, WriteError, Writer, Written};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::clock::{self, Watch};
use super::open::Open;
use super::record::Scribe;
use super::{Options, Progress};
use crate::plan::{self, Trial};
use crate::suite::{Loaded, Problems};
use crate::target::{Opening, Outcome, Reply, Request, Target};

/// Why no further trial was started.
#[derive(Debug)]
pub enum Ending {
    /// Every planned trial has its record.
    Complete,
    /// A signal, by its number.
    Signal(i32),
    /// The run's deadline passed.
    Deadline,
    /// More trials timed out than the user wants to wait for.
    TooManyTimeouts,
    /// The disk refused.
    Disk(WriteError),
    /// An older record could not be read.
    File(FileError),
    /// A dataset changed while it was read.
    Suite(Problems),
    /// Every trial has its record, but summary, manifest or report could not be written.
    Failed(String),
}

/// What executing came to.
#[derive(Debug)]
pub struct Executed {
    /// What is on the disk.
    pub written: Written,
    /// Why it ended.
    pub ending: Ending,
    /// Trials that this instance executed.
    pub executed: u64,
    /// Trials that it found done.
    pub reused: u64,
}

impl Executed {
    /// What it came to when not even the first trial could be started.
    pub fn nothing(why: String) -> Self {
        let totals = Totalling::default().finish();
        let written = Written { totals, waiting: 0, syncs: 0 };
        Self { written, ending: Ending::Failed(why), executed: 0, reused: 0 }
    }
}

/// The switch by which signals stop a run.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    signal: Arc<AtomicI32>,
    wake: Arc<Notify>,
}

impl Stop {
    /// Asks the run to stop; called from the thread that waits for signals.
    pub fn request(&self, signal: i32) {
        self.signal.store(signal, Ordering::SeqCst);
        self.wake.notify_one();
    }

    fn requested(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }
}

/// Runs every trial of the plan that has no record yet.
pub fn execute(
    loaded: &Loaded,
    open: &mut Open,
    options: &Options,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Executed, ExecuteError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ExecuteError::Runtime)?;
    let mut found = std::mem::take(&mut open.found);
    if let Some(reuse) = &open.reuse {
        found.telemetry_bytes = reuse.telemetry_bytes();
    }
    let waiting = found.waiting.keys().copied().collect();
    let first = found.totals.count();
    let targets = loaded.suite.targets.iter().map(|(slot, config)| {
        config
            .open(slot, &Opening::default())
            .map(Arc::new)
            .map_err(|complaint| ExecuteError::Target(slot.clone(), complaint.what))
    });
    let targets = targets.collect::<Result<Vec<_>, _>>()?;
    let scribe = Scribe::new(loaded, open.envelope.run_id).map_err(ExecuteError::Judge)?;
    let writer = Writer::open(&open.work, found, options.durability).map_err(ExecuteError::Write)?;
    let total = plan::count(loaded);
    let mut dispatcher = Dispatcher {
        loaded,
        options,
        stop,
        targets,
        scribe,
        writer,
        waiting,
        watch: Watch::start(),
        told: Duration::ZERO,
        state: Progress { total, ..Progress::default() },
        executed: 0,
        reused: 0,
        line: Vec::new(),
        telemetry: Vec::new(),
    };
    dispatcher.state.done = first;
    dispatcher.reused = first;
    let ending = runtime.block_on(dispatcher.dispatch(first, open, progress));
    let Dispatcher { writer, executed, reused, .. } = dispatcher;
    let (written, outcome) = writer.finish();
    // What the disk said counts for more than why we stopped.
    let ending = outcome.map_or_else(Ending::Disk, |()| ending);
    Ok(Executed { written, ending, executed, reused })
}

/// Why nothing could be executed.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The event loop.
    #[error("cannot start the event loop")]
    Runtime(#[source] std::io::Error),
    /// A target's settings.
    #[error("target `{0}` cannot be opened: {1}")]
    Target(String, String),
    /// A judge's settings.
    #[error("{0}")]
    Judge(String),
    /// The ledger.
    #[error(transparent)]
    Write(WriteError),
}

struct Dispatcher<'a> {
    loaded: &'a Loaded,
    options: &'a Options,
    stop: &'a Stop,
    targets: Vec<Arc<Target>>,
    scribe: Scribe<'a>,
    writer: Writer,
    /// Trials whose records wait in the journal already.
    waiting: std::collections::BTreeSet<u64>,
    watch: Watch,
    told: Duration,
    state: Progress,
    executed: u64,
    reused: u64,
    line: Vec<u8>,
    telemetry: Vec<u8>,
}

/// A trial that is over.
struct Finished {
    trial: Trial,
    reply: Reply,
    started: Stamp,
    latency_ms: f64,
}

impl Dispatcher<'_> {
    async fn dispatch(&mut self, first: u64, open: &mut Open, tell: &mut dyn FnMut(&Progress)) -> Ending {
        let planned = match plan::trials(self.loaded) {
            Ok(planned) => planned,
            Err(problems) => return Ending::Suite(problems),
        };
        let mut flying: JoinSet<Finished> = JoinSet::new();
        for trial in planned.skip(usize::try_from(first).unwrap_or(usize::MAX)) {
            let trial = match trial {
                Ok(trial) => trial,
                Err(problems) => return Ending::Suite(problems),
            };
            match self.take_over(&trial, open) {
                Ok(false) => {}
                Ok(true) => continue,
                Err(ending) => return ending,
            }
            if let Some(finished) = self.start(trial, &mut flying)
                && let Err(ending) = self.finish(finished)
            {
                return ending;
            }
            while flying.len() >= self.options.jobs {
                if let Err(ending) = self.land(&mut flying).await {
                    return ending;
                }
            }
            if let Some(ending) = self.must_stop() {
                return ending;
            }
            self.tell(flying.len(), tell);
        }
        while !flying.is_empty() {
            if let Err(ending) = self.land(&mut flying).await {
                return ending;
            }
            self.tell(flying.len(), tell);
        }
        Ending::Complete
    }

    /// Whether the trial has its record already: in the journal, or in the run that is being replaced.
    fn take_over(&mut self, trial: &Trial, open: &mut Open) -> Result<bool, Ending> {
        if self.waiting.contains(&trial.index) {
            self.reused += 1;
            self.state.done += 1;
            return Ok(true);
        }
        let Some(reuse) = &mut open.reuse else { return Ok(false) };
        let Some(line) = reuse.take(trial.index).map_err(Ending::File)? else { return Ok(false) };
        self.submit(trial.index, &line, &[])?;
        self.reused += 1;
        self.state.done += 1;
        Ok(true)
    }

    /// Asks the target. An answer that is there at once comes back at once; any other is among the flying.
    fn start(&self, trial: Trial, flying: &mut JoinSet<Finished>) -> Option<Finished> {
        let watch = Watch::start();
        let started = clock::now();
        let seed = super::record::trial_seed(self.loaded.suite.seed, &trial.case.id, trial.repetition);
        let request = Request { input: &trial.case.input, seed, repetition: trial.repetition };
        let mut reply = self.targets[trial.slot].at_once(&request).expect("scripted");
        if reply.delay_ms == 0 {
            return Some(Finished { trial, reply, started, latency_ms: watch.elapsed_ms() });
        }
        let deadline = self.loaded.suite.timeout_ms;
        flying.spawn(async move {
            tokio::time::sleep(Duration::from_millis(reply.delay_ms.min(deadline))).await;
            if reply.delay_ms > deadline {
                reply = Reply { delay_ms: deadline, ..Reply::new(Outcome::TimedOut, None) };
            }
            Finished { trial, reply, started, latency_ms: watch.elapsed_ms() }
        });
        None
    }

    /// Waits for the next of the flying, or for a reason to stop.
    async fn land(&mut self, flying: &mut JoinSet<Finished>) -> Result<(), Ending> {
        let left = self.options.deadline.map(|deadline| deadline.saturating_sub(self.watch.elapsed()));
        let finished = tokio::select! {
            finished = flying.join_next() => finished,
            () = self.stop.wake.notified() => None,
            () = tokio::time::sleep(left.unwrap_or(Duration::MAX)), if left.is_some() => None,
        };
        if let Some(Ok(finished)) = finished {
            self.finish(finished)?;
        }
        self.must_stop().map_or(Ok(()), Err)
    }

    fn finish(&mut self, finished: Finished) -> Result<(), Ending> {
        let Finished { trial, reply, started, latency_ms } = finished;
        let mut line = std::mem::take(&mut self.line);
        let mut telemetry = std::mem::take(&mut self.telemetry);
        line.clear();
        telemetry.clear();
        let verdict = self.scribe.write(&mut line, &trial, &reply, started, latency_ms);
        self.scribe.write_telemetry(&mut telemetry, &trial, started, latency_ms);
        self.submit(trial.index, &line, &telemetry)?;
        self.line = line;
        self.telemetry = telemetry;
        self.executed += 1;
        self.state.count(verdict.status, verdict.passed);
        Ok(())
    }

    fn submit(&self, index: u64, line: &[u8], telemetry: &[u8]) -> Result<(), Ending> {
        // The writer's own error comes out of `finish` and replaces this one.
        self.writer.submit(index, line, telemetry).map_err(|Stopped| Ending::Complete)
    }

    fn must_stop(&self) -> Option<Ending> {
        if let Some(signal) = self.stop.requested() {
            return Some(Ending::Signal(signal));
        }
        if self.options.deadline.is_some_and(|deadline| self.watch.elapsed() >= deadline) {
            return Some(Ending::Deadline);
        }
        let timeouts = self.state.by_status(Status::Timeout);
        self.options.max_timeouts.is_some_and(|most| timeouts > most).then_some(Ending::TooManyTimeouts)
    }

    fn tell(&mut self, in_flight: usize, tell: &mut dyn FnMut(&Progress)) {
        // Looking at the clock for every trial would cost more than some trials do.
        if self.executed & 0x3f != 0 && in_flight == 0 {
            return;
        }
        let elapsed = self.watch.elapsed();
        if elapsed.saturating_sub(self.told) < Duration::from_millis(100) {
            return;
        }
        self.told = elapsed;
        self.state.in_flight = in_flight;
        self.state.elapsed = elapsed;
        tell(&self.state);
    }
}
