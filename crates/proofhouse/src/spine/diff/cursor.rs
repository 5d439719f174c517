//! A file of lines whose unread part stays at hand: two of them can be walked in step and looked ahead in.

use std::fs::File;
use std::io::{ErrorKind, Read};

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::disk::open_regular;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::record::MAX_LINE_BYTES;

/// How much is held at once. Two of these fit a core's second-level cache, which is worth more than fewer reads.
const WINDOW_BYTES: usize = 256 << 10;

pub(super) struct Cursor {
    source: File,
    path: Utf8PathBuf,
    buffer: Vec<u8>,
    /// The first unread byte.
    at: usize,
    /// Behind the last whole line.
    whole: usize,
    /// Behind the last byte that was read.
    filled: usize,
    ended: bool,
    /// How many lines were skipped.
    number: u64,
}

impl Cursor {
    pub(super) fn open(path: &Utf8Path) -> Result<Self, FileError> {
        let source = open_regular(path).map_err(FileError::new("open", path))?;
        let buffer = vec![0; WINDOW_BYTES];
        Ok(Self {
            source,
            path: path.to_owned(),
            buffer,
            at: 0,
            whole: 0,
            filled: 0,
            ended: false,
            number: 0,
        })
    }

    /// The whole lines at hand, newlines included.
    pub(super) fn lines(&self) -> &[u8] {
        &self.buffer[self.at..self.whole]
    }

    /// The first line at hand, without its newline.
    pub(super) fn line(&self) -> &[u8] {
        let lines = self.lines();
        &lines[..memchr::memchr(b'\n', lines).unwrap_or(lines.len())]
    }

    /// The number of the first line at hand, from 0.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// What follows the last whole line, once there are no more of them.
    pub(super) fn torn(&self) -> &[u8] {
        &self.buffer[self.at..self.filled]
    }

    /// Moves behind `lines` lines that are `bytes` long together.
    pub(super) fn skip(&mut self, bytes: usize, lines: u64) {
        self.at += bytes;
        self.number += lines;
        debug_assert!(self.at <= self.whole, "only whole lines are skipped");
    }

    /// Makes at least one whole line available; false at the end.
    pub(super) fn ready(&mut self) -> Result<bool, FileError> {
        while self.at == self.whole && !self.ended {
            self.fill()?;
        }
        Ok(self.at < self.whole)
    }

    /// Fills the window, whatever is in it.
    pub(super) fn fill(&mut self) -> Result<(), FileError> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.whole -= self.at;
        self.at = 0;
        if self.filled == self.buffer.len() && self.whole == 0 {
            self.grow()?;
        }
        let from = self.filled;
        while self.filled < self.buffer.len() {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(FileError::new("read", &self.path)(error)),
            }
        }
        if let Some(last) = memchr::memrchr(b'\n', &self.buffer[from..self.filled]) {
            self.whole = from + last + 1;
        }
        Ok(())
    }

    fn grow(&mut self) -> Result<(), FileError> {
        if self.buffer.len() >= MAX_LINE_BYTES {
            let number = self.number + 1;
            let what = format!("line {number} is longer than {MAX_LINE_BYTES} bytes");
            return Err(FileError::new("read", &self.path)(std::io::Error::new(
                ErrorKind::InvalidData,
                what,
            )));
        }
        let size = (self.buffer.len() * 2).min(MAX_LINE_BYTES);
        self.buffer.resize(size, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_once_whatever_its_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("lines")).unwrap();
        let long = "x".repeat(3 * WINDOW_BYTES);
        let many = "0123456789\n".repeat(100_000);
        std::fs::write(&path, format!("a\n\n{long}\n{many}torn")).unwrap();
        let mut cursor = Cursor::open(&path).unwrap();
        let mut lengths = Vec::new();
        while cursor.ready().unwrap() {
            assert_eq!(cursor.number(), lengths.len() as u64);
            lengths.push(cursor.line().len());
            cursor.skip(cursor.line().len() + 1, 1);
        }
        assert_eq!(lengths[..4], [1, 0, long.len(), 10]);
        assert_eq!(lengths.len(), 100_003);
        assert_eq!(cursor.torn(), b"torn");
    }
}
