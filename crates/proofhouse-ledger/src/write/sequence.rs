//! Putting finished trials into plan order: what is next goes to the records, the rest waits in the journal.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::log::{FileLog, Log};
use super::state::ResumePoint;
use crate::RunPaths;
use crate::disk::Disk;
use crate::files::FileError;
use crate::part::Places;
use crate::record::{Line, Spans};
use crate::totals::{Facts, Totalling};

/// Finished lines on their way to the disk: the bytes of all of them, and where each begins.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    pub(super) telemetry: Vec<u8>,
}

/// One finished trial of a batch.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its place in the plan.
    pub(super) index: u64,
    /// Where its line lies in the batch's `bytes`.
    pub(super) line: Range<usize>,
    /// Where its lines lie in the batch's `telemetry`: one for the trial, and one for each request that it made.
    pub(super) telemetry: Range<usize>,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.telemetry.clear();
    }
}

/// The three files of an open run, and what is known of their content.
pub(super) struct Sequence<L> {
    records: L,
    journal: L,
    telemetry: L,
    totals: Totalling,
    places: Places,
    /// Index → where its line lies in the journal.
    waiting: BTreeMap<u64, (u64, u32)>,
    journal_bytes: u64,
    pub(super) syncs: u64,
    spans: Spans,
    records_chunk: Vec<u8>,
    journal_chunk: Vec<u8>,
}

impl Sequence<FileLog> {
    /// Opens the files of a run for appending behind what `found` says is there, and makes their names durable.
    pub(super) fn open(disk: &dyn Disk, paths: &RunPaths, found: ResumePoint) -> Result<Self, FileError> {
        let records = FileLog::open_on(disk, &paths.records(), found.totals.byte_count())?;
        let journal = FileLog::open_on(disk, &paths.journal(), found.journal_bytes)?;
        let telemetry = FileLog::open_on(disk, &paths.telemetry(), found.telemetry_bytes)?;
        disk.sync_names(&paths.dir)?;
        disk.sync_names(paths.parent())?;
        Ok(Self::new(records, journal, telemetry, found))
    }
}

impl<L: Log> Sequence<L> {
    pub(super) fn new(records: L, journal: L, telemetry: L, found: ResumePoint) -> Self {
        Self {
            records,
            journal,
            telemetry,
            totals: found.totals,
            places: found.places,
            waiting: found.waiting,
            journal_bytes: found.journal_bytes,
            syncs: 0,
            spans: Spans::default(),
            records_chunk: Vec::new(),
            journal_chunk: Vec::new(),
        }
    }

    /// Makes a batch durable. On failure the records end at a line end that was there before.
    pub(super) fn commit(&mut self, batch: &mut Batch) -> io::Result<()> {
        let good = self.totals.byte_count();
        let outcome = self.try_commit(batch);
        if outcome.is_err() {
            // Best effort: a torn last line is legal too, and resume cuts it.
            let _ = self.records.cut(good);
        }
        outcome
    }

    fn try_commit(&mut self, batch: &mut Batch) -> io::Result<()> {
        batch.entries.sort_unstable_by_key(|entry| entry.index);
        self.records_chunk.clear();
        self.journal_chunk.clear();
        // Totals move only when the bytes are on the disk, so that a failure leaves them true.
        let mut totals = self.totals.clone();
        for Entry { index, line, .. } in &batch.entries {
            self.drain(&mut totals)?;
            let line = &batch.bytes[line.clone()];
            if self.places.at(totals.count()) == Some(*index) {
                take(&mut totals, *index, &mut self.spans, line)?;
                self.records_chunk.extend_from_slice(line);
            } else {
                let offset = self.journal_bytes + self.journal_chunk.len() as u64;
                self.waiting.insert(*index, (offset, line.len() as u32));
                self.journal_chunk.extend_from_slice(line);
            }
        }
        // The journal before the records: a line that is taken out of the journal below has to be readable there.
        if !self.journal_chunk.is_empty() {
            self.journal.append(&self.journal_chunk)?;
            self.journal_bytes += self.journal_chunk.len() as u64;
        }
        self.drain(&mut totals)?;
        totals.bytes(&self.records_chunk);
        self.records.append(&self.records_chunk)?;
        // Measurements are not synced: losing some of them in a power failure costs no record.
        self.telemetry.append(&batch.telemetry)?;
        if !self.records_chunk.is_empty() {
            self.records.sync()?;
            self.syncs += 1;
        }
        if !self.journal_chunk.is_empty() {
            self.journal.sync()?;
            self.syncs += 1;
        }
        self.totals = totals;
        // Emptied only when nothing in it is needed, so that a journal is never rewritten: cut off in between, its lines are still true.
        if self.waiting.is_empty() && self.journal_bytes > 0 {
            self.journal.cut(0)?;
            self.journal_bytes = 0;
        }
        Ok(())
    }

    /// Moves lines that have waited long enough from the journal into the chunk.
    fn drain(&mut self, totals: &mut Totalling) -> io::Result<()> {
        while let Some(first) = self.waiting.first_entry() {
            let index = *first.key();
            if self.places.at(totals.count()) != Some(index) {
                break;
            }
            let (offset, length) = first.remove();
            let at = self.records_chunk.len();
            self.records_chunk.resize(at + length as usize, 0);
            // It is in the file: what joins the journal with a batch waits beyond it, as a batch is in the order of the plan.
            self.journal.read_at(offset, &mut self.records_chunk[at..])?;
            take(totals, index, &mut self.spans, &self.records_chunk[at..])?;
        }
        Ok(())
    }

    pub(super) fn totals(&self) -> &Totalling {
        &self.totals
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

/// Adds a line to the totals; the bytes are added by the caller, a chunk at a time.
fn take(totals: &mut Totalling, index: u64, spans: &mut Spans, line: &[u8]) -> io::Result<()> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let facts = Line::split(line, spans).and_then(|line| Facts::of(&line)).map_err(io::Error::other)?;
    if facts.index != index {
        return Err(io::Error::other(format!("record {} in the place of {index}", facts.index)));
    }
    totals.push(&facts);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::write::tests::{line, whole};

    /// What a log in memory holds, and to which lengths it was cut.
    #[derive(Clone, Default)]
    struct Noted(Arc<Mutex<(Vec<u8>, Vec<u64>)>>);

    impl Log for Noted {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0.lock().unwrap().0.extend_from_slice(bytes);
            Ok(())
        }
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
        fn cut(&mut self, length: u64) -> io::Result<()> {
            let mut noted = self.0.lock().unwrap();
            noted.0.truncate(length as usize);
            noted.1.push(length);
            Ok(())
        }
        fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
            into.copy_from_slice(&self.0.lock().unwrap().0[offset as usize..][..into.len()]);
            Ok(())
        }
    }

    fn batch(indexes: &[u64]) -> Batch {
        let mut batch = Batch::default();
        for index in indexes {
            let from = batch.bytes.len();
            batch.bytes.extend(line(*index));
            batch.entries.push(Entry { index: *index, line: from..batch.bytes.len(), telemetry: 0..0 });
        }
        batch
    }

    #[test]
    fn a_journal_is_emptied_when_its_last_line_has_left_it_and_not_before() {
        let [records, journal, telemetry] = [(); 3].map(|()| Noted::default());
        let logs = (records.clone(), journal.clone(), telemetry);
        let mut sequence = Sequence::new(logs.0, logs.1, logs.2, ResumePoint::default());
        let waits = |indexes: &[u64]| indexes.iter().flat_map(|index| line(*index)).collect::<Vec<u8>>();
        for (indexes, written, waiting, cuts) in [
            (&[0][..], 1, &[][..], 0),
            // In the order of the plan, whatever the order in which they finished.
            (&[5, 2, 7], 1, &[2, 5, 7], 0),
            (&[1, 3], 4, &[2, 5, 7], 0),
            (&[9, 4], 6, &[2, 5, 7, 9], 0),
            (&[8, 6], 10, &[], 1),
            (&[10], 11, &[], 1),
        ] {
            sequence.commit(&mut batch(indexes)).unwrap();
            assert_eq!(records.0.lock().unwrap().0, whole(written), "{indexes:?}");
            let (bytes, cut) = journal.0.lock().unwrap().clone();
            assert_eq!((bytes, cut), (waits(waiting), vec![0; cuts]), "{indexes:?}");
        }
        assert_eq!((sequence.totals().count(), sequence.waiting()), (11, 0));
    }
}
