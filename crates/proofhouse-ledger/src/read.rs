//! Reading lines of any number in a fixed amount of memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use camino::Utf8Path;

use crate::files::FileError;
use crate::record::MAX_LINE_BYTES;

/// How much is read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// A file of lines, seen as runs of whole lines.
///
/// `next_lines` lends a block that ends at a line end (or at the end of the file, where the last line may be torn).
/// Callers walk the block with `memchr`; nothing is copied per line.
pub struct LineReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// What the last block left over: the beginning of a line.
    from: usize,
    to: usize,
    ended: bool,
}

impl LineReader<File> {
    /// Opens a regular file.
    pub fn open(path: &Utf8Path) -> Result<Self, FileError> {
        Self::open_at(path, 0)
    }

    /// Opens a regular file and passes over its first bytes.
    pub fn open_at(path: &Utf8Path, bytes: u64) -> Result<Self, FileError> {
        let mut file = crate::disk::open_regular(path).map_err(FileError::new("open", path))?;
        file.seek(SeekFrom::Start(bytes)).map_err(FileError::new("read", path))?;
        Ok(LineReader::new(file))
    }
}

impl<R: Read> LineReader<R> {
    /// Reads lines from any source.
    pub fn new(source: R) -> Self {
        Self { source, buffer: vec![0; CHUNK_BYTES], from: 0, to: 0, ended: false }
    }

    /// The next block of whole lines, newlines included; empty at the end. Only the file's last line may lack its newline.
    pub fn next_lines(&mut self) -> io::Result<&[u8]> {
        self.buffer.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
        loop {
            if let Some(last) = memchr::memrchr(b'\n', &self.buffer[..self.to]) {
                self.from = last + 1;
                return Ok(&self.buffer[..self.from]);
            }
            if self.ended {
                self.from = self.to;
                return Ok(&self.buffer[..self.to]);
            }
            self.fill()?;
        }
    }

    /// The same, given away; what is read next goes into `memory`. For whoever hands blocks to other threads.
    pub(crate) fn take_lines(&mut self, mut memory: Vec<u8>) -> io::Result<Vec<u8>> {
        let length = self.next_lines()?.len();
        memory.resize(self.buffer.len(), 0);
        let rest = self.to - length;
        memory[..rest].copy_from_slice(&self.buffer[length..self.to]);
        let mut block = std::mem::replace(&mut self.buffer, memory);
        block.truncate(length);
        (self.from, self.to) = (0, rest);
        Ok(block)
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.to == self.buffer.len() {
            if self.buffer.len() >= MAX_LINE_BYTES {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("a line is longer than {MAX_LINE_BYTES} bytes"),
                ));
            }
            self.buffer.resize((self.buffer.len() * 2).min(MAX_LINE_BYTES), 0);
        }
        // Fill what is there, so that a block is large even where reads are short.
        while self.to < self.buffer.len() {
            match self.source.read(&mut self.buffer[self.to..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => self.to += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The lines of a block, without their newlines.
pub fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = block;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest);
        let line = &rest[..end.unwrap_or(rest.len())];
        rest = &rest[end.map_or(rest.len(), |end| end + 1)..];
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &[u8]) -> Vec<Vec<u8>> {
        let mut reader = LineReader::new(text);
        let mut all = Vec::new();
        loop {
            let block = reader.next_lines().unwrap();
            if block.is_empty() {
                return all;
            }
            all.extend(lines(block).map(<[u8]>::to_vec));
        }
    }

    #[test]
    fn every_line_once_whatever_its_length() {
        let long = "x".repeat(3 * CHUNK_BYTES);
        let text = format!("a\n\n{long}\nb\ntorn");
        let expected: Vec<&[u8]> = vec![b"a", b"", long.as_bytes(), b"b", b"torn"];
        assert_eq!(read_all(text.as_bytes()), expected);
        assert!(read_all(b"").is_empty());
        let many = "0123456789\n".repeat(300_000);
        assert_eq!(read_all(many.as_bytes()).len(), 300_000);
    }

    #[test]
    fn blocks_that_are_given_away_are_those_that_are_lent() {
        let long = "x".repeat(3 * CHUNK_BYTES);
        for text in [String::new(), "0123456789\n".repeat(300_000), format!("a\n\n{long}\nb\ntorn")] {
            let (mut lends, mut gives) = (LineReader::new(text.as_bytes()), LineReader::new(text.as_bytes()));
            let mut memory = Vec::new();
            loop {
                let block = gives.take_lines(memory).unwrap();
                assert!(lends.next_lines().unwrap() == block);
                if block.is_empty() {
                    break;
                }
                memory = block;
            }
        }
    }

    /// A source that gives one byte at a time and is interrupted before each.
    struct Dribble<'a>(&'a [u8], bool);

    impl Read for Dribble<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = self.0.len().min(into.len()).min(1);
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn short_and_interrupted_reads_change_nothing() {
        let mut reader = LineReader::new(Dribble(b"a\nbc\ntorn", false));
        assert_eq!(reader.next_lines().unwrap(), b"a\nbc\n");
        assert_eq!(reader.next_lines().unwrap(), b"torn");
        assert_eq!(reader.next_lines().unwrap(), b"");
    }

    #[test]
    fn blocks_end_at_line_ends_and_memory_does_not_grow() {
        let text = "0123456789\n".repeat(300_000);
        let mut reader = LineReader::new(text.as_bytes());
        let mut read = 0;
        loop {
            let block = reader.next_lines().unwrap();
            if block.is_empty() {
                break;
            }
            read += block.len();
            assert!(block.ends_with(b"\n"));
            assert!(block.len() > CHUNK_BYTES / 2 || read == text.len(), "blocks are large");
            assert_eq!(reader.buffer.len(), CHUNK_BYTES);
        }
        assert_eq!(read, text.len());
    }

    #[test]
    fn a_line_beyond_the_bound_is_an_error() {
        let longest = vec![b'x'; MAX_LINE_BYTES - 1];
        assert_eq!(LineReader::new(&longest[..]).next_lines().map(<[u8]>::len).unwrap(), MAX_LINE_BYTES - 1);
        let error = LineReader::new(io::repeat(b'x')).next_lines().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert_eq!(error.to_string(), format!("a line is longer than {MAX_LINE_BYTES} bytes"));
    }

    #[test]
    fn an_error_of_the_source_is_one_of_the_reader() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(5))
            }
        }
        assert_eq!(LineReader::new(Broken).next_lines().unwrap_err().raw_os_error(), Some(5));
        let dir = tempfile::tempdir().unwrap();
        let path = camino::Utf8PathBuf::from_path_buf(dir.path().join("lines")).unwrap();
        assert_eq!(LineReader::open(&path).err().map(|error| error.action), Some("open"));
        std::fs::write(&path, "a\n").unwrap();
        assert_eq!(LineReader::open(&path).unwrap().next_lines().unwrap(), b"a\n");
    }
}
