//! Finished records of an older run of the same plan, handed over line by line instead of being run again.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use camino::Utf8PathBuf;
use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Line, Spans};
use proofhouse_ledger::write::ResumePoint;

/// The records of an older run, read in plan order.
pub struct Reuse {
    path: Utf8PathBuf,
    telemetry: Utf8PathBuf,
    reader: LineReader<File>,
    block: Vec<u8>,
    at: usize,
    next: u64,
    found: ResumePoint,
    journal: Option<File>,
}

impl Reuse {
    /// Opens what `found` says is there.
    pub fn open(paths: &RunPaths, found: ResumePoint) -> Result<Self, FileError> {
        let journal = match found.waiting.is_empty() {
            true => None,
            false => Some(File::open(paths.journal()).map_err(FileError::new("open", &paths.journal()))?),
        };
        let reader = LineReader::open(&paths.records())?;
        Ok(Self {
            path: paths.records(),
            telemetry: paths.telemetry(),
            reader,
            block: Vec::new(),
            at: 0,
            next: 0,
            found,
            journal,
        })
    }

    /// The old telemetry stays with the records that are taken over.
    pub fn copy_telemetry(&self, to: &RunPaths) -> Result<(), FileError> {
        if self.telemetry.exists() {
            std::fs::copy(&self.telemetry, to.telemetry())
                .map_err(FileError::new("copy", &self.telemetry))?;
        }
        Ok(())
    }

    /// Bytes of telemetry that were taken over.
    pub fn telemetry_bytes(&self) -> u64 {
        self.found.telemetry_bytes
    }

    /// The finished line of trial `index`, the `place`-th of the directory (asked for in order), unless it is one that is to be
    /// run again.
    pub fn take(&mut self, place: u64, index: u64) -> Result<Option<Vec<u8>>, FileError> {
        let line = self.find(place, index)?;
        let mut spans = Spans::default();
        Ok(line.filter(|line| {
            let bytes = line.strip_suffix(b"\n").unwrap_or(line);
            let status = Line::split(bytes, &mut spans).and_then(|line| line.status());
            status.is_ok_and(|status| !status.is_retryable())
        }))
    }

    /// The line of trial `index`, the `place`-th (asked for in order), whatever it says.
    pub fn find(&mut self, place: u64, index: u64) -> Result<Option<Vec<u8>>, FileError> {
        let path = self.path.clone();
        self.look_up(place, index).map_err(FileError::new("read", &path))
    }

    fn look_up(&mut self, place: u64, index: u64) -> std::io::Result<Option<Vec<u8>>> {
        if place >= self.found.totals.count() {
            let Some((offset, length)) = self.found.waiting.get(&index).copied() else { return Ok(None) };
            let Some(journal) = &mut self.journal else { return Ok(None) };
            let mut line = vec![0; length as usize];
            journal.seek(SeekFrom::Start(offset))?;
            journal.read_exact(&mut line)?;
            return Ok(Some(line));
        }
        loop {
            let rest = &self.block[self.at..];
            let Some(line) = lines(rest).next() else {
                self.block.clear();
                self.block.extend_from_slice(self.reader.next_lines()?);
                self.at = 0;
                if self.block.is_empty() {
                    return Ok(None);
                }
                continue;
            };
            let whole = rest[..(line.len() + 1).min(rest.len())].to_vec();
            self.at += whole.len();
            self.next += 1;
            if self.next == place + 1 {
                return Ok(Some(whole));
            }
        }
    }
}
