//! What an earlier, unfinished run left behind, read without changing a byte of it.

use std::collections::BTreeMap;

use crate::crew::{Crew, Eye};
use crate::disk::{Disk, Node, Real};
use crate::files::FileError;
use crate::part::Places;
use crate::read::{LineReader, lines};
use crate::record::{Damage, Line, Spans};
use crate::totals::{Facts, Totalling};
use crate::{RunId, RunPaths};

/// Where a run can go on.
#[derive(Clone, Default)]
pub struct ResumePoint {
    /// What the whole lines of `records.jsonl` add up to.
    pub totals: Totalling,
    /// Finished trials in the journal that come later in the plan: index → offset and length of the line.
    pub waiting: BTreeMap<u64, (u64, u32)>,
    /// Whole lines of the journal, in bytes.
    pub journal_bytes: u64,
    /// Whole lines of the telemetry, in bytes.
    pub telemetry_bytes: u64,
    /// Bytes behind the last whole record: what was being written when the process died or the power went.
    pub torn_bytes: u64,
    /// Which trials the lines are of.
    pub places: Places,
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

/// Reads what is there. `each` sees the facts of every finished trial: first the records in order, with their lines, then
/// the journal.
pub fn scan(
    paths: &RunPaths,
    run_id: RunId,
    places: Places,
    each: impl FnMut(&Facts, Option<&Line<'_>>) -> Result<(), Mismatch>,
) -> Result<ResumePoint, StateError> {
    scan_on(&Real, paths, (run_id, places), each)
}

/// The same on any disk.
pub(super) fn scan_on(
    disk: &dyn Disk,
    paths: &RunPaths,
    (run_id, places): (RunId, Places),
    mut each: impl FnMut(&Facts, Option<&Line<'_>>) -> Result<(), Mismatch>,
) -> Result<ResumePoint, StateError> {
    let mut found = ResumePoint { places, ..ResumePoint::default() };
    let scan = Scan { disk, paths, run_id, cut_off: disk.exists(&paths.envelope_tmp()) };
    let last = scan.records(&mut found, &mut each)?;
    scan.journal((&mut found, last), &mut each)?;
    if disk.exists(&paths.telemetry()) {
        found.telemetry_bytes = whole_lines(disk, &paths.telemetry())?;
    }
    Ok(found)
}

type Each<'a> = &'a mut dyn FnMut(&Facts, Option<&Line<'_>>) -> Result<(), Mismatch>;

struct Scan<'a> {
    disk: &'a dyn Disk,
    paths: &'a RunPaths,
    run_id: RunId,
    /// Whether the run did not end in order. Then what was appended after the last sync may be anything: sectors reach a disk
    /// in any order, and what has no sector yet reads as zeros or as whatever was there before. All of it was finished
    /// after the last trial that was acknowledged, for the next group is not begun before the last one is on the disk.
    cut_off: bool,
}

impl Scan<'_> {
    fn open(&self, path: &camino::Utf8Path) -> Result<LineReader<Box<dyn std::io::Read + Send>>, FileError> {
        self.disk.read(path).map(LineReader::new).map_err(FileError::new("open", path))
    }

    /// Gives the index of the last record.
    fn records(&self, found: &mut ResumePoint, each: Each<'_>) -> Result<Option<u64>, StateError> {
        let path = self.paths.records();
        let length = match self.disk.look(&path) {
            Ok(Node::File(length)) => length,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::new("read", &path)(error).into()),
            // A link would be followed when it is cut.
            Ok(Node::Dir | Node::Other) => {
                let error = std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file");
                return Err(FileError::new("read", &path)(error).into());
            }
        };
        let mut reader = self.open(&path)?;
        std::thread::scope(|scope| {
            let mut crew = Crew::new(scope, OfRun(self.run_id));
            let (spans, mut last, mut ended) = (Spans::default(), None, false);
            let (mut number, mut bytes) = (0, 0);
            loop {
                while !ended && crew.has_room() {
                    let mut block =
                        reader.take_lines(crew.memory()).map_err(FileError::new("read", &path))?;
                    // What is behind the last line end is torn.
                    block.truncate(memchr::memrchr(b'\n', &block).map_or(0, |end| end + 1));
                    ended = block.is_empty();
                    if !ended {
                        crew.give(block);
                    }
                }
                let Some((block, mut looked)) = crew.next() else { break };
                let (mut good, mut all) = (0, crew.facts());
                for (bytes, seen) in looked.each(&block, &spans) {
                    number += 1;
                    let seen = seen.map_err(Wrong::from).and_then(|(line, facts)| Ok((line, facts?)));
                    let (line, facts) = match seen.map_err(|wrong| wrong.at("records.jsonl", number)) {
                        Err(error) if self.cut_off && is_torn(bytes, &error) => break,
                        seen => seen?,
                    };
                    if !found.places.fits(number - 1, facts.index, last) {
                        return Err(foreign("records.jsonl", number, format!("has index {}", facts.index)));
                    }
                    last = Some(facts.index);
                    each(&facts, Some(&line))
                        .map_err(|Mismatch(what)| foreign("records.jsonl", number, what))?;
                    all.push(facts);
                    good += bytes.len() + 1;
                }
                crew.total(&block, good, all);
                bytes += good as u64;
                if good < block.len() {
                    break;
                }
                crew.take_back(block, looked);
            }
            found.totals = crew.finish();
            found.torn_bytes = length - bytes;
            Ok(last)
        })
    }

    fn journal(
        &self,
        (found, last): (&mut ResumePoint, Option<u64>),
        each: Each<'_>,
    ) -> Result<(), StateError> {
        let path = self.paths.journal();
        if !self.disk.exists(&path) {
            return Ok(());
        }
        let mut reader = self.open(&path)?;
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
                let facts = Line::split(line, &mut spans).map_err(Wrong::from);
                let facts = facts.and_then(|line| OfRun(self.run_id).look(&line));
                let facts = match facts.map_err(|wrong| wrong.at("journal", number)) {
                    // Each line of a journal stands for itself: those behind it may be whole.
                    Err(error) if is_torn(line, &error) => {
                        found.torn_bytes += length;
                        continue;
                    }
                    facts => facts?,
                };
                // A line whose turn came before the journal was emptied is in the records already.
                if last.is_some_and(|last| facts.index <= last) || found.waiting.contains_key(&facts.index) {
                    continue;
                }
                if !matches!(found.places, Places::Rising) && found.places.of(facts.index).is_none() {
                    let what = format!("index {} is of another shard", facts.index);
                    return Err(foreign("journal", number, what));
                }
                each(&facts, None).map_err(|Mismatch(what)| foreign("journal", number, what))?;
                found.waiting.insert(facts.index, (offset, length as u32));
            }
        }
    }
}

/// Whether a line that is no record is one because its sectors did not all reach the disk. What is a record in form and
/// does not match its own digest was touched by somebody, unless it holds what no writer of records leaves in a line.
fn is_torn(line: &[u8], error: &StateError) -> bool {
    match error {
        StateError::Damaged { .. } => true,
        StateError::Foreign { .. } => is_noise(line),
        StateError::File(_) => false,
    }
}

/// Whether a line holds bytes that canonical JSON never has: control characters, or what is not UTF-8.
pub fn is_noise(line: &[u8]) -> bool {
    line.iter().any(|byte| *byte < 0x20) || std::str::from_utf8(line).is_err()
}

/// Looks whether lines are finished trials of a run.
#[derive(Clone)]
struct OfRun(RunId);

impl Eye for OfRun {
    type Found = Result<Facts, Wrong>;

    fn look(&mut self, line: &Line<'_>) -> Self::Found {
        let facts = Facts::of(line)?;
        if line.recompute_digest()? != facts.record_sha256 {
            return Err(Wrong::Foreign("the record does not match its own digest".to_owned()));
        }
        let (theirs, ours) = (line.run_id()?, self.0);
        if theirs != ours {
            return Err(Wrong::Foreign(format!("belongs to run {theirs}, not {ours}")));
        }
        Ok(facts)
    }
}

/// What is wrong with a line, wherever it stands.
enum Wrong {
    Damaged(Damage),
    Foreign(String),
}

impl From<Damage> for Wrong {
    fn from(damage: Damage) -> Self {
        Wrong::Damaged(damage)
    }
}

impl Wrong {
    fn at(self, file: &str, line: u64) -> StateError {
        match self {
            Wrong::Damaged(damage) => StateError::Damaged { file: file.to_owned(), line, damage },
            Wrong::Foreign(what) => foreign(file, line, what),
        }
    }
}

fn foreign(file: &str, line: u64, what: String) -> StateError {
    StateError::Foreign { file: file.to_owned(), line, what }
}

fn whole_lines(disk: &dyn Disk, path: &camino::Utf8Path) -> Result<u64, FileError> {
    let mut reader = LineReader::new(disk.read(path).map_err(FileError::new("open", path))?);
    let mut bytes = 0;
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", path))?;
        if block.is_empty() {
            return Ok(bytes);
        }
        bytes += memchr::memrchr(b'\n', block).map_or(0, |end| end as u64 + 1);
    }
}

#[cfg(test)]
mod tests;
