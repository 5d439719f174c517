//! The join for files whose order is not the same: both are indexed by record id, then read again pair by pair.
//!
//! A line that is no record stands under the digest of its bytes, so that equal ones meet.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::{Digest, RecordId};

use super::DiffError;
use super::cursor::Cursor;
use super::findings::Findings;
use super::order::{Entry, Lone, NONE, Pairs};
use super::pair::{Comparer, NumberedLine};
use super::peek::PeekId;
use super::report::{Class, Side};
use super::run::Pairing;

pub(super) fn by_id(pairing: &Pairing, mut findings: Findings) -> Result<Findings, DiffError> {
    let (path_a, path_b) = (pairing.a.paths.records(), pairing.b.paths.records());
    let (entries_a, offsets_a) = index(&path_a, Side::A, &mut findings)?;
    let (entries_b, offsets_b) = index(&path_b, Side::B, &mut findings)?;
    let pairs = Pairs::new(entries_a, entries_b);
    let mut lines_a = Lines::open(path_a, offsets_a)?;
    let mut lines_b = Lines::open(path_b, offsets_b)?;

    let class = |lone: &Lone, first: Class| if lone.again { Class::Duplicate } else { first };
    let mut comparer = Comparer::new(pairing);
    let mut lone_a = pairs.lone_a.iter();
    for (number_a, number_b) in (0u32..).zip(&pairs.of_a) {
        let seen_a = lines_a.get(number_a)?;
        if *number_b == NONE {
            let lone = lone_a.next().expect("every unpaired line of A is in the list");
            comparer.lone(Side::A, class(lone, Class::Removed), seen_a, &mut findings);
        } else {
            let seen_b = lines_b.get(*number_b)?;
            comparer.pair(seen_a, seen_b, pairs.moved[number_a as usize], &mut findings);
        }
    }
    for lone in &pairs.lone_b {
        comparer.lone(Side::B, class(lone, Class::Added), lines_b.get(lone.number)?, &mut findings);
    }
    Ok(findings)
}

/// Every line under its id, sorted, and where each line begins; the last offset is the last line's end.
fn index(path: &Utf8Path, side: Side, findings: &mut Findings) -> Result<(Vec<Entry>, Vec<u64>), DiffError> {
    let mut cursor = Cursor::open(path)?;
    let peek = PeekId::new();
    let (mut entries, mut offsets) = (Vec::new(), vec![0u64]);
    let mut offset = 0;
    while cursor.ready()? {
        let block = cursor.lines();
        let (bytes, first) = (block.len(), entries.len());
        for line in proofhouse_ledger::read::lines(block) {
            let number = u32::try_from(entries.len()).ok().filter(|number| *number != NONE);
            let number = number.ok_or_else(|| DiffError::TooManyLines(path.to_owned()))?;
            let id = peek.read(line).unwrap_or_else(|| RecordId::from_digest(&Digest::of(line)));
            entries.push(Entry { id, number });
            offset += line.len() as u64 + 1;
            offsets.push(offset);
        }
        cursor.skip(bytes, (entries.len() - first) as u64);
    }
    findings.end(side, cursor.number(), cursor.torn());
    entries.sort_unstable_by_key(|entry| (entry.id, entry.number));
    Ok((entries, offsets))
}

/// Lines of a file in any order, cheap where the order is nearly the file's.
struct Lines {
    file: File,
    path: Utf8PathBuf,
    offsets: Vec<u64>,
    buffer: Vec<u8>,
    /// Where the buffer's first byte is in the file.
    from: u64,
}

/// How much is read at once as long as lines are asked for one after the other.
const AHEAD_BYTES: u64 = 256 << 10;

impl Lines {
    fn open(path: Utf8PathBuf, offsets: Vec<u64>) -> Result<Self, FileError> {
        let file = File::open(&path).map_err(FileError::new("open", &path))?;
        Ok(Self { file, path, offsets, buffer: Vec::new(), from: 0 })
    }

    fn get(&mut self, number: u32) -> Result<NumberedLine<'_>, FileError> {
        let (from, to) = (self.offsets[number as usize], self.offsets[number as usize + 1]);
        let held = self.from + self.buffer.len() as u64;
        if from < self.from || to > held {
            // A line that follows the last one read is likely to be followed by its own next one.
            let near = (self.from..=held).contains(&from);
            let end = *self.offsets.last().expect("a file's end is its last offset");
            let until = if near { (from + AHEAD_BYTES).min(end).max(to) } else { to };
            self.read(from, until).map_err(FileError::new("read", &self.path))?;
        }
        let at = (from - self.from) as usize;
        let line = &self.buffer[at..at + (to - from) as usize - 1];
        Ok(NumberedLine { line, number: number.into() })
    }

    fn read(&mut self, from: u64, until: u64) -> std::io::Result<()> {
        self.buffer.resize((until - from) as usize, 0);
        self.from = from;
        self.file.seek(SeekFrom::Start(from))?;
        self.file.read_exact(&mut self.buffer)
    }
}
