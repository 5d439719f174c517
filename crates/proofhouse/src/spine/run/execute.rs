//! The dispatcher: one loop that starts groups of trials and hands their records to the writer.
//!
//! It runs on one thread, so that stopping, spending and counting are decided in one place and one order; what blocks (programs in
//! the sandbox) goes to threads of its own and comes back as a future. A trial that is done at once costs no task; a group that takes its
//! time is a future among at most `jobs`. Records leave in the order in which trials finish; the writer restores the plan's.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use proofhouse_ledger::files::FileError;
use proofhouse_ledger::record::Status;
use proofhouse_ledger::totals::Totalling;
use proofhouse_ledger::write::{Stopped, WriteError, Writer, Written};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use super::clock::Watch;
use super::open::Open;
use super::reuse::Reuse;
use super::work::{Finished, GroupTrial, Provenance, RecordSender, TrialLines, TrialResult, Work};
use super::{Observer, Options, Progress};
use crate::family::target::{Budget, Halt};
use crate::spine::plan::{Planned, Trial};
use crate::spine::suite::Problems;
use crate::text::complaint::Complaint;

/// Why no further trial was started.
#[derive(Debug)]
pub enum Ending {
    /// Every planned trial has its record.
    Complete,
    /// A signal, by its number.
    Signal(i32),
    /// The budget is used up; this many US dollars are spent.
    Budget(f64),
    /// A target says no to everything, or does not say what it costs: why nothing more is asked.
    Halted(String),
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
    /// Groups in flight at most.
    pub jobs: usize,
    /// What took part in verdicts.
    pub provenance: Provenance,
}

impl Executed {
    /// What it came to when not even the first trial could be started.
    pub fn nothing(why: String) -> Self {
        let totals = Totalling::default().finish();
        let written = Written { totals, waiting: 0, syncs: 0 };
        let (jobs, provenance) = (0, Provenance::default());
        Self { written, ending: Ending::Failed(why), executed: 0, reused: 0, jobs, provenance }
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

/// A kind's work, made ready before anything is written, and the trials that it will be given.
pub(crate) struct Assignment<'a, I> {
    /// Targets, judges, sandbox.
    pub(crate) work: Arc<dyn Work<I>>,
    /// The plan.
    pub(crate) planned: Planned<'a, I>,
    /// How many trials it has.
    pub(crate) trial_count: u64,
    /// What may be spent.
    pub(crate) budget: Option<Arc<Budget>>,
    /// Who says that nothing more should be asked.
    pub(crate) halt: Arc<Halt>,
}

/// Runs every trial of the plan that has no record yet.
pub(crate) fn execute<I: Send + 'static>(
    assignment: Assignment<'_, I>,
    open: &mut Open,
    options: &Options,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Executed, ExecuteError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ExecuteError::Runtime)?;
    let mut found = std::mem::take(&mut open.found);
    // The telemetry of a run that is being replaced was copied into the new one: new lines go behind it.
    if let Some(reuse) = &open.reuse {
        found.telemetry_bytes = reuse.telemetry_bytes();
    }
    let Assignment { work, planned, trial_count, budget, halt } = assignment;
    let first = found.totals.count();
    let waiting: BTreeSet<u64> = found.waiting.keys().copied().collect();
    let seen = work.looks_back() && (first > 0 || !waiting.is_empty());
    let history = match seen {
        true => Some(Reuse::open(&open.work, found.clone()).map_err(ExecuteError::File)?),
        false => None,
    };
    let writer = Writer::open(&open.work, found, options.durability).map_err(ExecuteError::Write)?;
    let (sender, inbox) = RecordSender::open();
    let mut dispatcher = Dispatcher {
        options,
        stop,
        jobs: options.jobs.unwrap_or(work.jobs()),
        budget,
        halt,
        work,
        sender,
        inbox,
        writer,
        first,
        waiting,
        history,
        watch: Watch::start(),
        told: Duration::ZERO,
        state: Progress { total: trial_count, ..Progress::default() },
        executed: 0,
        reused: 0,
        lines: TrialLines::default(),
    };
    let ending = runtime.block_on(dispatcher.dispatch(planned, open, progress));
    let Dispatcher { writer, executed, reused, jobs, work, .. } = dispatcher;
    // Work that was given up must not hold the end back; what it started dies with this process at the latest.
    runtime.shutdown_background();
    let (written, outcome) = writer.finish();
    // What the disk said counts for more than why we stopped.
    let ending = outcome.map_or_else(Ending::Disk, |()| ending);
    Ok(Executed { written, ending, executed, reused, jobs, provenance: work.provenance() })
}

/// Why nothing could be executed.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The event loop.
    #[error("cannot start the event loop")]
    Runtime(#[source] std::io::Error),
    /// A target's settings.
    #[error("target `{slot}` cannot be opened: {what}", slot = .0, what = .1.what)]
    Target(String, Complaint),
    /// A suite that leaves its targets to the command line, which named none.
    #[error("the suite names no tool to test")]
    NoTargets,
    /// A judge's settings.
    #[error("{}", .0.what)]
    Judge(Complaint),
    /// The ledger.
    #[error(transparent)]
    Write(WriteError),
    /// An older record could not be read.
    #[error(transparent)]
    File(FileError),
    /// Crates of a code suite cannot be built.
    #[error("{}", .0.what)]
    Crates(Complaint),
    /// What the kind needs is not there.
    #[error("{}", .0.what)]
    Means(Complaint),
    /// Stored answers are not answers to what the suite asks.
    #[error("{}", .0.what)]
    Stored(Complaint),
}

impl ExecuteError {
    /// How to fix it, where there is more to say than what is wrong.
    pub fn hint(&self) -> Option<String> {
        match self {
            ExecuteError::Target(_, complaint)
            | ExecuteError::Judge(complaint)
            | ExecuteError::Crates(complaint)
            | ExecuteError::Stored(complaint)
            | ExecuteError::Means(complaint) => complaint.hint.clone(),
            ExecuteError::NoTargets => Some(
                "add `targets: {tool: {command: {argv: [tool, \"{instruction}\"], …}}}`, or name a file of targets with `--target`"
                    .to_owned(),
            ),
            ExecuteError::Runtime(_) | ExecuteError::Write(_) | ExecuteError::File(_) => None,
        }
    }
}

struct Dispatcher<'a, I> {
    options: &'a Options,
    stop: &'a Stop,
    jobs: usize,
    budget: Option<Arc<Budget>>,
    halt: Arc<Halt>,
    work: Arc<dyn Work<I>>,
    sender: RecordSender,
    /// Without a bound of its own: no more than the trials of the groups in flight can be in it.
    inbox: UnboundedReceiver<Finished>,
    writer: Writer,
    /// So many trials are in `records.jsonl` already, the first of the plan or of its part.
    first: u64,
    /// Trials whose records wait in the journal already.
    waiting: BTreeSet<u64>,
    /// Those records, for work that looks back.
    history: Option<Reuse>,
    watch: Watch,
    told: Duration,
    state: Progress,
    executed: u64,
    reused: u64,
    lines: TrialLines,
}

impl<I: Send + 'static> Dispatcher<'_, I> {
    async fn dispatch(
        &mut self,
        planned: Planned<'_, I>,
        open: &mut Open,
        tell: &mut dyn FnMut(&Progress),
    ) -> Ending {
        match self.start_all(planned, open, tell).await {
            Ok(()) => Ending::Complete,
            Err(ending) => {
                // What was finished while we decided to stop is kept.
                let _ = self.take_in();
                ending
            }
        }
    }

    async fn start_all(
        &mut self,
        mut planned: Planned<'_, I>,
        open: &mut Open,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<(), Ending> {
        let mut flying = JoinSet::new();
        let mut group: Vec<GroupTrial<I>> = Vec::new();
        let mut start = 0;
        // A resumed run that nobody looks back on skips what it has without making those trials; otherwise each is looked up.
        if self.history.is_none() && self.first > 0 {
            let last = planned.nth(usize::try_from(self.first - 1).unwrap_or(usize::MAX));
            last.transpose().map_err(Ending::Suite)?;
            self.reused = self.first;
            self.state.done = self.first;
            start = self.first;
        }
        for (place, trial) in (start..).zip(planned) {
            let (trial, item) = trial.map_err(Ending::Suite)?;
            let (known, done) = self.earlier(place, &trial, open)?;
            if known && done.is_none() {
                continue;
            }
            if !group.is_empty() && !self.work.joins(&group, &trial) {
                self.launch(&mut group, &mut flying, tell).await?;
            }
            // Not an ending yet, as a signal is: what is in flight was paid for, and is waited for below.
            if self.budget.as_ref().is_some_and(|budget| budget.is_empty()) {
                break;
            }
            // A known trial joins its group all the same: a policy that stops early has to see how it ended.
            if known || !self.at_once(&trial, &item)? {
                group.push(GroupTrial { trial, item, done });
            }
            // Trials that are done at once never wait for anything, so that a signal or a deadline would go unseen without this look.
            if let Some(ending) = self.must_stop().or_else(|| self.halted()) {
                return Err(ending);
            }
            self.tell(flying.len(), tell);
        }
        // What is under way has its price already: it is waited for, also when there is no money for more.
        let broke = |budget: &Option<Arc<Budget>>| {
            budget.as_ref().filter(|budget| budget.is_empty()).map(|budget| budget.spent())
        };
        if broke(&self.budget).is_none() {
            self.launch(&mut group, &mut flying, tell).await?;
        }
        while !flying.is_empty() {
            self.land(&mut flying).await?;
            self.tell(flying.len(), tell);
        }
        self.take_in()?;
        match broke(&self.budget).filter(|_| self.state.done < self.state.total) {
            Some(spent) => Err(Ending::Budget(spent)),
            None => Ok(()),
        }
    }

    /// Whether the trial has its record already: on the disk, or in the run that is being replaced; and the record,
    /// for work that looks back.
    fn earlier(
        &mut self,
        place: u64,
        trial: &Trial,
        open: &mut Open,
    ) -> Result<(bool, Option<Vec<u8>>), Ending> {
        let looks_back = self.work.looks_back();
        if place < self.first || self.waiting.contains(&trial.index) {
            self.reused += 1;
            self.state.done += 1;
            let line = match &mut self.history {
                Some(history) => history.find(place, trial.index).map_err(Ending::File)?,
                None => None,
            };
            return Ok((true, line));
        }
        let Some(reuse) = &mut open.reuse else { return Ok((false, None)) };
        let Some(line) = reuse.take(place, trial.index).map_err(Ending::File)? else {
            return Ok((false, None));
        };
        self.submit(trial.index, &line, &[])?;
        self.reused += 1;
        self.state.done += 1;
        Ok((true, Some(line).filter(|_| looks_back)))
    }

    fn at_once(&mut self, trial: &Trial, item: &I) -> Result<bool, Ending> {
        self.lines.record.clear();
        self.lines.telemetry.clear();
        let Some(result) = self.work.at_once(trial, item, &mut self.lines) else { return Ok(false) };
        self.submit(trial.index, &self.lines.record, &self.lines.telemetry)?;
        self.count(result);
        Ok(true)
    }

    /// Starts a group as soon as there is room for it.
    async fn launch(
        &mut self,
        group: &mut Vec<GroupTrial<I>>,
        flying: &mut JoinSet<()>,
        tell: &mut dyn FnMut(&Progress),
    ) -> Result<(), Ending> {
        // Nothing but earlier records: there is nothing to carry out.
        if group.iter().all(|step| step.done.is_some()) {
            group.clear();
            return Ok(());
        }
        while flying.len() >= self.jobs {
            self.land(flying).await?;
            self.tell(flying.len(), tell);
            if let Some(ending) = self.halted() {
                return Err(ending);
            }
        }
        flying.spawn(Arc::clone(&self.work).carry_out(std::mem::take(group), self.sender.clone()));
        // The first step of a group is taken before the plan is read on: requests leave in the order of the plan, and a target that
        // refuses everything is noticed after a few of them and not after all.
        tokio::task::yield_now().await;
        self.take_in()
    }

    /// Waits for the next record, the next group that ends, or a reason to stop.
    async fn land(&mut self, flying: &mut JoinSet<()>) -> Result<(), Ending> {
        let left = self.options.deadline.map(|deadline| deadline.saturating_sub(self.watch.elapsed()));
        // Whichever comes first may be taken: the writer restores the order of records, and all reasons to stop are asked for afterwards.
        tokio::select! {
            Some(finished) = self.inbox.recv() => self.finish(&finished)?,
            ended = flying.join_next() => {
                if let Some(Err(error)) = ended {
                    return Err(Ending::Failed(format!("a trial was given up: {error}")));
                }
                self.take_in()?;
            }
            () = self.stop.wake.notified() => {}
            () = tokio::time::sleep(left.unwrap_or(Duration::MAX)), if left.is_some() => {}
        }
        self.must_stop().map_or(Ok(()), Err)
    }

    /// Takes every record that lies on the sender.
    fn take_in(&mut self) -> Result<(), Ending> {
        while let Ok(finished) = self.inbox.try_recv() {
            self.finish(&finished)?;
        }
        Ok(())
    }

    fn finish(&mut self, finished: &Finished) -> Result<(), Ending> {
        self.submit(finished.index, &finished.lines.record, &finished.lines.telemetry)?;
        self.count(finished.result);
        Ok(())
    }

    fn count(&mut self, result: TrialResult) {
        self.executed += 1;
        self.state.count(result.status, result.passed);
    }

    fn submit(&self, index: u64, line: &[u8], telemetry: &[u8]) -> Result<(), Ending> {
        if let Some(Observer(show)) = &self.options.observer {
            show(line);
        }
        // The writer's own error comes out of `finish` and replaces this one.
        self.writer.submit(index, line, telemetry).map_err(|Stopped| Ending::Complete)
    }

    /// Why nothing more is asked. It counts where something more would be: what is under way is waited for, so that how a small run
    /// ends does not depend on which of its answers comes first.
    fn halted(&self) -> Option<Ending> {
        self.halt.reason().map(Ending::Halted)
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
