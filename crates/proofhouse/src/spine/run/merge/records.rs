//! Records of parts become one file in the order of the plan, in a fixed amount of memory, however many parts there are. No part is
//! held open: a thousand of them are more files than a process may have.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};

use camino::Utf8PathBuf;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::record::{Line, Spans};
use proofhouse_ledger::totals::{Facts, Totalling, Totals};

use super::MergeError;

/// What all readers of parts hold together, in bytes.
const BUFFER_BYTES: usize = 16 << 20;

/// Writes the records of these files, each of which has its own in the order of the plan, in that order.
///
/// # Errors
/// Where a trial appears twice or not at all, or a file cannot be read.
pub(super) fn write(files: &[Utf8PathBuf], to: &Utf8PathBuf) -> Result<Totals, MergeError> {
    let file = File::create(to).map_err(FileError::new("create", to))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let totals = copy(files, &mut |line| Ok(out.write_all(line).map_err(FileError::new("write", to))?))?;
    let file = out.into_inner().map_err(|error| FileError::new("write", to)(error.into_error()))?;
    file.sync_all().map_err(FileError::new("sync", to))?;
    Ok(totals)
}

fn copy(
    files: &[Utf8PathBuf],
    out: &mut dyn FnMut(&[u8]) -> Result<(), MergeError>,
) -> Result<Totals, MergeError> {
    let share = (BUFFER_BYTES / files.len().max(1)).clamp(2 << 10, 1 << 20);
    let mut readers: Vec<PartReader> =
        files.iter().map(|path| PartReader::new(path.clone(), share)).collect();
    let mut queue = BinaryHeap::new();
    for (place, reader) in readers.iter_mut().enumerate() {
        if let Some(index) = reader.advance()? {
            queue.push(Reverse((index, place)));
        }
    }
    let mut totals = Totalling::default();
    let mut spans = Spans::default();
    while let Some(Reverse((index, place))) = queue.pop() {
        if index != totals.count() {
            let expected = totals.count();
            let what = match index < expected {
                true => format!("trial {index} appears twice"),
                false => format!("trial {expected} is missing"),
            };
            return Err(MergeError::Coverage(what));
        }
        let reader = &mut readers[place];
        let line = reader.line();
        let facts = Line::split(&line[..line.len() - 1], &mut spans).and_then(|line| Facts::of(&line));
        let facts = facts.map_err(|damage| reader.changed(&damage.to_string()))?;
        totals.push(&facts);
        totals.bytes(line);
        out(line)?;
        if let Some(index) = reader.advance()? {
            queue.push(Reverse((index, place)));
        }
    }
    Ok(totals.finish())
}

/// One part's records, line by line, without holding the file open.
struct PartReader {
    path: Utf8PathBuf,
    share: usize,
    offset: u64,
    block: Vec<u8>,
    /// Where the present line begins and ends in the block.
    line: std::ops::Range<usize>,
}

impl PartReader {
    fn new(path: Utf8PathBuf, share: usize) -> Self {
        Self { path, share, offset: 0, block: Vec::new(), line: 0..0 }
    }

    fn line(&self) -> &[u8] {
        &self.block[self.line.clone()]
    }

    fn changed(&self, what: &str) -> MergeError {
        let dir = self.path.parent().map(ToOwned::to_owned).unwrap_or_default();
        MergeError::Refused { dir, why: format!("it changed while it was merged: {what}") }
    }

    /// Goes to the next line and gives its index; nothing at the end.
    fn advance(&mut self) -> Result<Option<u64>, MergeError> {
        // Bytes behind the present line that have no line end; reading on moves where they are, and not how many they are.
        let mut searched = 0;
        let end = loop {
            let from = self.line.end + searched;
            if let Some(end) = memchr::memchr(b'\n', &self.block[from..]) {
                break from + end + 1;
            }
            searched = self.block.len() - self.line.end;
            if !self.fill()? {
                return match self.block.len() == self.line.end {
                    true => Ok(None),
                    false => Err(self.changed("its last line has no end")),
                };
            }
        };
        self.line = self.line.end..end;
        let mut spans = Spans::default();
        let line = self.line();
        let index = Line::split(&line[..line.len() - 1], &mut spans).and_then(|line| line.index());
        index.map(Some).map_err(|damage| self.changed(&damage.to_string()))
    }

    /// Reads on; false at the end of the file.
    fn fill(&mut self) -> Result<bool, MergeError> {
        self.block.drain(..self.line.end);
        self.line = 0..0;
        // To the byte: what a buffer grows beyond that is thousands of times too much.
        let kept = self.block.len();
        self.block.reserve_exact(self.share);
        self.block.resize(kept + self.share, 0);
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.offset))?;
            read_up_to(&mut file, &mut self.block[kept..])
        });
        let read = read.map_err(FileError::new("read", &self.path))?;
        self.block.truncate(kept + read);
        self.offset += read as u64;
        Ok(read > 0)
    }
}

/// Fills a buffer as far as the file goes.
fn read_up_to(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of all lengths come out as they went in, however little is read at a time.
    #[test]
    fn lines_are_read_whole_whatever_the_buffer() {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("records.jsonl")).unwrap();
        let line = |index: usize| format!("{{\"index\":{index},\"x\":\"{}\"}}\n", "a".repeat(index * 7 % 61));
        let text: String = (0..300).map(line).collect();
        std::fs::write(&path, &text).unwrap();
        for share in [1, 2, 7, 20, 64, 1000, 1 << 20] {
            let mut reader = PartReader::new(path.clone(), share);
            for index in 0..300 {
                assert_eq!(reader.advance().unwrap(), Some(index), "{share} bytes at a time");
                assert_eq!(reader.line(), line(index as usize).as_bytes(), "{share} bytes at a time");
            }
            assert_eq!(reader.advance().unwrap(), None);
        }
        std::fs::write(&path, &text[..text.len() - 1]).unwrap();
        let mut reader = PartReader::new(path, 20);
        let ended = (0..300).map(|_| reader.advance()).find_map(Result::err);
        assert!(ended.unwrap().to_string().contains("its last line has no end"));
    }
}
