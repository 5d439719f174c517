//! The join for files whose order is not the same: both are indexed by record id, then read again pair by pair.
//!
//! An id that stands several times on a side is paired by occurrence: the first with the first, the second with the
//! second. A line that is no record is paired with an equal line. Of the pairs, the fewest that have to move to bring
//! both sides into one order are the reordered ones.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::{Digest, RecordId};

use super::DiffError;
use super::cursor::Cursor;
use super::findings::Findings;
use super::pair::{Comparer, Seen};
use super::peek::PeekId;
use super::report::{Class, Side};
use super::run::Pairing;

/// No line of the other side.
const NONE: u32 = u32::MAX;

/// A line under its id: 16 bytes.
struct Entry {
    id: RecordId,
    number: u32,
}

/// Where every line of a file is.
struct Index {
    /// Sorted by id, then by number.
    entries: Vec<Entry>,
    /// Where each line begins, and the last one's end.
    offsets: Vec<u64>,
}

pub(super) fn by_id(pairing: &Pairing, mut findings: Findings) -> Result<Findings, DiffError> {
    let (path_a, path_b) = (pairing.a.paths.records(), pairing.b.paths.records());
    let index_a = Index::read(&path_a, Side::A, &mut findings)?;
    let index_b = Index::read(&path_b, Side::B, &mut findings)?;
    let pairs = Pairs::new(&index_a.entries, &index_b.entries);
    let (offsets_a, offsets_b) = (index_a.offsets, index_b.offsets);
    let mut lines_a = Lines::open(path_a, offsets_a)?;
    let mut lines_b = Lines::open(path_b, offsets_b)?;

    let mut comparer = Comparer::new(pairing);
    let moved = moved(&pairs.of_a);
    let mut lone_a = pairs.lone_a.iter().peekable();
    for (number_a, number_b) in (0u32..).zip(&pairs.of_a) {
        let seen_a = lines_a.get(number_a)?;
        if *number_b == NONE {
            let lone = lone_a.next().expect("every unpaired line of A is in the list");
            comparer.lone(Side::A, lone.class(Class::Removed), seen_a, &mut findings);
            continue;
        }
        let seen_b = lines_b.get(*number_b)?;
        comparer.pair(seen_a, seen_b, moved[number_a as usize], &mut findings);
    }
    for lone in &pairs.lone_b {
        let seen = lines_b.get(lone.number)?;
        comparer.lone(Side::B, lone.class(Class::Added), seen, &mut findings);
    }
    Ok(findings)
}

impl Index {
    fn read(path: &Utf8Path, side: Side, findings: &mut Findings) -> Result<Self, DiffError> {
        let mut cursor = Cursor::open(path)?;
        let peek = PeekId::new();
        let (mut entries, mut offsets) = (Vec::new(), vec![0u64]);
        let mut offset = 0;
        while cursor.ready()? {
            let block = cursor.lines();
            let bytes = block.len();
            let first = entries.len();
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
        Ok(Self { entries, offsets })
    }
}

/// Which line belongs to which.
struct Pairs {
    /// For each line of A its partner in B, or none.
    of_a: Vec<u32>,
    lone_a: Vec<Lone>,
    lone_b: Vec<Lone>,
}

/// A line without a partner.
struct Lone {
    number: u32,
    /// Whether its side has an earlier line of the same trial.
    again: bool,
}

impl Lone {
    fn class(&self, first: Class) -> Class {
        if self.again { Class::Duplicate } else { first }
    }
}

impl Pairs {
    fn new(a: &[Entry], b: &[Entry]) -> Self {
        let mut pairs = Self { of_a: vec![NONE; a.len()], lone_a: Vec::new(), lone_b: Vec::new() };
        let (mut rest_a, mut rest_b) = (a, b);
        while let Some(id) =
            [rest_a.first(), rest_b.first()].into_iter().flatten().map(|entry| entry.id).min()
        {
            let (same_a, same_b) = (take_id(&mut rest_a, id), take_id(&mut rest_b, id));
            for (a, b) in same_a.iter().zip(same_b) {
                pairs.of_a[a.number as usize] = b.number;
            }
            let paired = same_a.len().min(same_b.len());
            let lone = |(at, entry): (usize, &Entry)| Lone { number: entry.number, again: at > 0 };
            pairs.lone_a.extend(same_a.iter().enumerate().skip(paired).map(lone));
            pairs.lone_b.extend(same_b.iter().enumerate().skip(paired).map(lone));
        }
        pairs.lone_a.sort_unstable_by_key(|lone| lone.number);
        pairs.lone_b.sort_unstable_by_key(|lone| lone.number);
        pairs
    }
}

/// Takes the entries of `id` off the front.
fn take_id<'e>(rest: &mut &'e [Entry], id: RecordId) -> &'e [Entry] {
    let count = rest.iter().take_while(|entry| entry.id == id).count();
    let (same, behind) = rest.split_at(count);
    *rest = behind;
    same
}

/// Which lines of A are not on a longest run of pairs that increases on both sides.
fn moved(partners: &[u32]) -> Vec<bool> {
    // tails[n] is the line of A that ends the best run of n + 1 pairs; before[i] is the line before line i on its run.
    let (mut tails, mut before): (Vec<u32>, Vec<u32>) = (Vec::new(), vec![NONE; partners.len()]);
    for (line, partner) in (0u32..).zip(partners) {
        if *partner == NONE {
            continue;
        }
        let shorter = tails.partition_point(|tail| partners[*tail as usize] < *partner);
        before[line as usize] = if shorter == 0 { NONE } else { tails[shorter - 1] };
        if shorter == tails.len() {
            tails.push(line);
        } else {
            tails[shorter] = line;
        }
    }
    let mut moved: Vec<bool> = partners.iter().map(|partner| *partner != NONE).collect();
    let mut line = tails.last().copied().unwrap_or(NONE);
    while line != NONE {
        moved[line as usize] = false;
        line = before[line as usize];
    }
    moved
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

    fn get(&mut self, number: u32) -> Result<Seen<'_>, FileError> {
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
        Ok(Seen { line, number: number.into() })
    }

    fn read(&mut self, from: u64, until: u64) -> std::io::Result<()> {
        self.buffer.resize((until - from) as usize, 0);
        self.from = from;
        self.file.seek(SeekFrom::Start(from))?;
        self.file.read_exact(&mut self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_lines_move() {
        let moved_lines = |partners: &[u32]| -> Vec<usize> {
            moved(partners).iter().enumerate().filter(|(_, moved)| **moved).map(|(at, _)| at).collect()
        };
        assert_eq!(moved_lines(&[0, 1, 2, 3]), [0; 0]);
        assert_eq!(moved_lines(&[3, 0, 1, 2]), [0], "one line moved far is one line");
        assert_eq!(moved_lines(&[1, 2, 3, 0]), [3]);
        assert_eq!(moved_lines(&[0, NONE, 5, NONE, 6]), [0; 0], "gaps are not moves");
        assert_eq!(moved_lines(&[2, 1, 0]).len(), 2);
    }
}
