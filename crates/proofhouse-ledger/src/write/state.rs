//! What an earlier, unfinished run left behind, read without changing a byte of it.

use std::collections::BTreeMap;

use crate::files::FileError;
use crate::read::{LineReader, lines};
use crate::record::{Damage, Line, Spans};
use crate::totals::{Facts, Totalling};
use crate::{RunId, RunPaths};

/// Where a run can go on.
#[derive(Clone, Default)]
pub struct Found {
    /// What the whole lines of `records.jsonl` add up to.
    pub totals: Totalling,
    /// Finished trials in the journal that come later in the plan: index → offset and length of the line.
    pub waiting: BTreeMap<u64, (u64, u32)>,
    /// Whole lines of the journal, in bytes.
    pub journal_bytes: u64,
    /// Whole lines of the telemetry, in bytes.
    pub telemetry_bytes: u64,
    /// Bytes behind the last whole record: a line that was being written when the process died.
    pub torn_bytes: u64,
}

/// Why a run directory cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line in the middle is not a record: this is damage, not an interruption.
    #[error("`{file}` line {line} is damaged: {damage}")]
    Damaged {
        /// Which file.
        file: String,
        /// From 1.
        line: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// A record is not where the plan has it, or of another run.
    #[error("`{file}` line {line}: {what}")]
    Foreign {
        /// Which file.
        file: String,
        /// From 1.
        line: u64,
        /// In what way.
        what: String,
    },
}

/// In what way a finished trial is not the one that belongs in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch(pub String);

/// Reads what is there. `each` sees the facts of every finished trial: first the records in order, then the journal.
pub fn scan(
    paths: &RunPaths,
    run_id: RunId,
    mut each: impl FnMut(&Facts) -> Result<(), Mismatch>,
) -> Result<Found, StateError> {
    let mut found = Found::default();
    scan_records(paths, run_id, &mut found, &mut each)?;
    scan_journal(paths, run_id, &mut found, &mut each)?;
    if paths.telemetry().exists() {
        found.telemetry_bytes = whole_lines(&paths.telemetry())?;
    }
    Ok(found)
}

type Each<'a> = &'a mut dyn FnMut(&Facts) -> Result<(), Mismatch>;

fn scan_records(
    paths: &RunPaths,
    run_id: RunId,
    found: &mut Found,
    each: Each<'_>,
) -> Result<(), StateError> {
    let path = paths.records();
    if !path.exists() {
        return Ok(());
    }
    let mut reader = LineReader::open(&path)?;
    let mut spans = Spans::default();
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", &path))?;
        if block.is_empty() {
            return Ok(());
        }
        let whole = memchr::memrchr(b'\n', block).map_or(0, |end| end + 1);
        found.torn_bytes = (block.len() - whole) as u64;
        for line in lines(&block[..whole]) {
            let number = found.totals.count() + 1;
            let facts = check(line, &mut spans, run_id, "records.jsonl", number)?;
            if facts.index != number - 1 {
                return Err(foreign("records.jsonl", number, format!("has index {}", facts.index)));
            }
            each(&facts).map_err(|Mismatch(what)| foreign("records.jsonl", number, what))?;
            found.totals.push(&facts);
        }
        found.totals.bytes(&block[..whole]);
    }
}

fn scan_journal(
    paths: &RunPaths,
    run_id: RunId,
    found: &mut Found,
    each: Each<'_>,
) -> Result<(), StateError> {
    let path = paths.journal();
    if !path.exists() {
        return Ok(());
    }
    let mut reader = LineReader::open(&path)?;
    let mut spans = Spans::default();
    let mut number = 0;
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", &path))?;
        let whole = memchr::memrchr(b'\n', block).map_or(0, |end| end + 1);
        if whole == 0 {
            return Ok(());
        }
        for line in lines(&block[..whole]) {
            number += 1;
            let length = line.len() as u64 + 1;
            let offset = found.journal_bytes;
            found.journal_bytes += length;
            let facts = check(line, &mut spans, run_id, "journal", number)?;
            // A line whose turn came before the journal was emptied is in the records already.
            if facts.index < found.totals.count() || found.waiting.contains_key(&facts.index) {
                continue;
            }
            each(&facts).map_err(|Mismatch(what)| foreign("journal", number, what))?;
            found.waiting.insert(facts.index, (offset, length as u32));
        }
    }
}

fn check(
    line: &[u8],
    spans: &mut Spans,
    run_id: RunId,
    file: &str,
    number: u64,
) -> Result<Facts, StateError> {
    let damaged = |damage| StateError::Damaged { file: file.to_owned(), line: number, damage };
    let line = Line::split(line, spans).map_err(damaged)?;
    let facts = Facts::of(&line).map_err(damaged)?;
    if line.recompute_digest().map_err(damaged)? != facts.record_sha256 {
        return Err(foreign(file, number, "the record does not match its own digest".to_owned()));
    }
    let theirs = line.run_id().map_err(damaged)?;
    if theirs != run_id {
        return Err(foreign(file, number, format!("belongs to run {theirs}, not {run_id}")));
    }
    Ok(facts)
}

fn foreign(file: &str, line: u64, what: String) -> StateError {
    StateError::Foreign { file: file.to_owned(), line, what }
}

fn whole_lines(path: &camino::Utf8Path) -> Result<u64, FileError> {
    let mut reader = LineReader::open(path)?;
    let mut bytes = 0;
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", path))?;
        if block.is_empty() {
            return Ok(bytes);
        }
        bytes += memchr::memrchr(b'\n', block).map_or(0, |end| end as u64 + 1);
    }
}
