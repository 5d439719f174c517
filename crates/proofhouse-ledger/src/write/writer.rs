//! The writer thread: natural group commit. One sync takes whatever finished during the last one.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::log::Log;
use super::sequence::{Batch, Entry, Sequence};
use super::state::ResumePoint;
use crate::RunPaths;
use crate::disk::Real;
use crate::files::FileError;
use crate::totals::{Totalling, Totals};

/// How soon a finished trial is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Together with whatever else has finished, at the latest 200 ms later.
    Group,
    /// Each by itself.
    Trial,
}

/// How long the writer waits for company after a sync: far below the promise of 200 ms, far above what a sync costs.
const LINGER: Duration = Duration::from_millis(25);
/// With this much waiting, it does not wait for more.
const FULL_BYTES: usize = 1 << 20;
/// With this much waiting, whoever submits has to wait.
const STOP_BYTES: usize = 4 << 20;

/// Why a run directory could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file could not be opened or made.
    #[error(transparent)]
    File(#[from] FileError),
    /// The machine gives this process no further thread.
    #[error("cannot start the thread that writes the records")]
    Thread(#[source] io::Error),
    /// The disk refused: full, broken, or gone.
    #[error("cannot write the records of `{dir}`; what was finished before is kept")]
    Disk {
        /// The run directory.
        dir: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The writer has stopped on an error, which `finish` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the writer has stopped")]
pub struct Stopped;

/// What a finished writer knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What the records add up to.
    pub totals: Totals,
    /// Finished trials that still wait in the journal for an earlier one.
    pub waiting: u64,
    /// Syncs made.
    pub syncs: u64,
}

#[derive(Default)]
struct Queue {
    batch: Batch,
    closed: bool,
    failed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic while holding the lock leaves a queue that is still whole: entries are pushed last.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handle that trials are submitted to.
///
/// A thread and not a task of the dispatcher, because a sync may take as long as the disk likes, and trials go on meanwhile. It is also
/// the only place that appends to the files of a run, so that their order is nobody else's concern.
pub struct Writer {
    shared: Arc<Shared>,
    thread: JoinHandle<(Totalling, u64, u64, Result<(), io::Error>)>,
    dir: String,
}

impl Writer {
    /// Opens the files of a run for appending behind what `found` says is there.
    pub fn open(paths: &RunPaths, found: ResumePoint, durability: Durability) -> Result<Self, WriteError> {
        let sequence = Sequence::open(&Real, paths, found)?;
        Self::start(sequence, durability, paths.dir.to_string())
    }

    /// Starts on any storage: the seam for tests with a disk that fails.
    #[cfg(test)]
    pub(super) fn with_logs<L: Log + 'static>(
        logs: [L; 3],
        found: ResumePoint,
        durability: Durability,
    ) -> Result<Self, WriteError> {
        let [records, journal, telemetry] = logs;
        Self::start(Sequence::new(records, journal, telemetry, found), durability, "memory".to_owned())
    }

    fn start<L: Log + 'static>(
        sequence: Sequence<L>,
        durability: Durability,
        dir: String,
    ) -> Result<Self, WriteError> {
        let shared = Arc::new(Shared::default());
        let inner = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || work(&inner, sequence, durability))
            .map_err(WriteError::Thread)?;
        Ok(Self { shared, thread, dir })
    }

    /// Hands over a finished record (its line ends with a newline) and its telemetry. Waits while too much is under way.
    pub fn submit(&self, index: u64, line: &[u8], telemetry: &[u8]) -> Result<(), Stopped> {
        let mut queue = self.shared.lock();
        while queue.batch.bytes.len() >= STOP_BYTES && !queue.failed {
            queue = self.shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if queue.failed {
            return Err(Stopped);
        }
        let (before, told) = (queue.batch.bytes.len(), queue.batch.telemetry.len());
        queue.batch.bytes.extend_from_slice(line);
        let to = queue.batch.bytes.len();
        queue.batch.telemetry.extend_from_slice(telemetry);
        queue.batch.entries.push(Entry { index, line: before..to, telemetry: told..told + telemetry.len() });
        // Only the first record of a batch and the one that fills it change what the thread does; waking it for each of a million
        // would cost more than writing them.
        let wake = before == 0 || (before < FULL_BYTES && to >= FULL_BYTES);
        drop(queue);
        if wake {
            self.shared.changed.notify_all();
        }
        Ok(())
    }

    /// Writes what is left and ends the thread. On an error the first part says what was kept.
    pub fn finish(self) -> (Written, Result<(), WriteError>) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        let (totals, waiting, syncs, outcome) = self.thread.join().expect("the writer thread does not panic");
        let written = Written { totals: totals.finish(), waiting, syncs };
        (written, outcome.map_err(|source| WriteError::Disk { dir: self.dir, source }))
    }
}

fn work<L: Log>(
    shared: &Shared,
    mut sequence: Sequence<L>,
    durability: Durability,
) -> (Totalling, u64, u64, Result<(), io::Error>) {
    let mut batch = Batch::default();
    // A resumed run may have waiting lines whose turn has come already.
    let mut outcome = sequence.commit(&mut batch);
    while outcome.is_ok() && next_batch(shared, &mut batch, durability) {
        outcome = match durability {
            Durability::Group => sequence.commit(&mut batch),
            Durability::Trial => one_by_one(&mut sequence, &batch),
        };
        batch.clear();
    }
    // After an error nothing is tried again: what a sync that failed has kept is unknown, and a resumed run reads it from the disk.
    if outcome.is_err() {
        shared.lock().failed = true;
        shared.changed.notify_all();
    }
    (sequence.totals().clone(), sequence.waiting() as u64, sequence.syncs, outcome)
}

/// Waits for work and takes all of it; false when there will be no more.
fn next_batch(shared: &Shared, batch: &mut Batch, durability: Durability) -> bool {
    let mut queue = shared.lock();
    while queue.batch.entries.is_empty() {
        if queue.closed {
            return false;
        }
        queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
    if durability == Durability::Group {
        let more = |queue: &mut Queue| !queue.closed && queue.batch.bytes.len() < FULL_BYTES;
        queue =
            shared.changed.wait_timeout_while(queue, LINGER, more).unwrap_or_else(PoisonError::into_inner).0;
    }
    // The two batches change places, so that neither has to be allocated again.
    std::mem::swap(&mut queue.batch, batch);
    drop(queue);
    // Whoever waits in `submit` for room has it now.
    shared.changed.notify_all();
    true
}

fn one_by_one<L: Log>(sequence: &mut Sequence<L>, batch: &Batch) -> io::Result<()> {
    for Entry { index, line, telemetry } in &batch.entries {
        let entry = Entry { index: *index, line: 0..line.len(), telemetry: 0..telemetry.len() };
        let mut single = Batch {
            bytes: batch.bytes[line.clone()].to_vec(),
            entries: vec![entry],
            telemetry: batch.telemetry[telemetry.clone()].to_vec(),
        };
        sequence.commit(&mut single)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;
    use crate::write::tests::line;

    /// A log that tells what is appended, and is done with it when it is answered; or one that does nothing at all.
    enum Told {
        To(Sender<Vec<u8>>, Receiver<io::Result<()>>),
        Nobody,
    }

    impl Log for Told {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            match self {
                Told::To(listener, answers) => {
                    listener.send(bytes.to_vec()).unwrap();
                    answers.recv().unwrap()
                }
                Told::Nobody => Ok(()),
            }
        }
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
        fn cut(&mut self, _: u64) -> io::Result<()> {
            Ok(())
        }
        fn read_at(&mut self, _: u64, _: &mut [u8]) -> io::Result<()> {
            Ok(())
        }
    }

    /// A writer of records, what it appends and what that comes to.
    fn told() -> (Writer, Receiver<Vec<u8>>, Sender<io::Result<()>>) {
        let ((listener, appended), (answer, answers)) = (channel(), channel());
        let logs = [Told::To(listener, answers), Told::Nobody, Told::Nobody];
        let writer = Writer::with_logs(logs, ResumePoint::default(), Durability::Trial).unwrap();
        (writer, appended, answer)
    }

    #[test]
    fn a_trial_is_written_when_it_is_finished_and_not_when_the_next_one_is() {
        let (writer, appended, answer) = told();
        let next = || appended.recv_timeout(Duration::from_secs(60)).expect("the writer was woken");
        assert_eq!(next(), b"", "a resumed run looks first whether a turn has come");
        answer.send(Ok(())).unwrap();
        for index in 0..50 {
            writer.submit(index, &line(index), b"").unwrap();
            assert_eq!(next(), line(index));
            answer.send(Ok(())).unwrap();
        }
        let (written, outcome) = writer.finish();
        outcome.unwrap();
        assert_eq!((written.totals.count, written.syncs), (50, 50));
    }

    /// The log has not answered yet, so that nothing is taken; once it fails, nobody waits for room that will not come.
    #[test]
    fn who_has_no_room_is_told_when_the_writer_has_stopped() {
        let (writer, _appended, answer) = told();
        let large = vec![b'x'; STOP_BYTES / 4];
        (0..4).for_each(|index| writer.submit(index, &large, b"").unwrap());
        answer.send(Err(io::Error::from_raw_os_error(5))).unwrap();
        assert_eq!(writer.submit(4, &large, b""), Err(Stopped));
        let (written, outcome) = writer.finish();
        assert_eq!(written.totals.count, 0);
        assert!(matches!(outcome, Err(WriteError::Disk { .. })));
    }
}
