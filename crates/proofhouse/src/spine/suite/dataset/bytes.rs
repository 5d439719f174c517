//! The bytes of a dataset: hashed as they are on disk, unpacked if they are packed, never more than a limit.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use proofhouse_ledger::Digest;
use proofhouse_ledger::digest::Hasher;

use super::{Dataset, MAX_ROW_BYTES};

const BUFFER_BYTES: usize = 128 << 10;

pub(crate) struct Bytes {
    inner: Inner,
    /// Bytes given out so far, after unpacking.
    given: u64,
    limit: u64,
}

enum Inner {
    Plain(Box<BufReader<Hashed>>),
    Gz(Box<BufReader<MultiGzDecoder<BufReader<Hashed>>>>),
}

struct Hashed {
    file: File,
    hasher: Hasher,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

impl Bytes {
    pub(super) fn open(dataset: &Dataset, limit: u64) -> io::Result<Self> {
        let hashed = Hashed { file: File::open(&dataset.path)?, hasher: Hasher::default() };
        let raw = BufReader::with_capacity(BUFFER_BYTES, hashed);
        let inner = if dataset.name.ends_with(".gz") {
            Inner::Gz(Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(raw))))
        } else {
            Inner::Plain(Box::new(raw))
        };
        Ok(Bytes { inner, given: 0, limit })
    }

    /// Reads up to and without the next newline; `false` at the end of the file.
    pub(super) fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        loop {
            let buffer = self.fill_buf()?;
            if buffer.is_empty() {
                return Ok(!line.is_empty());
            }
            let newline = memchr::memchr(b'\n', buffer);
            let taken = newline.unwrap_or(buffer.len());
            if line.len() + taken > MAX_ROW_BYTES {
                return Err(too_large(format!("a line is longer than {} MiB", MAX_ROW_BYTES >> 20)));
            }
            line.extend_from_slice(&buffer[..taken]);
            self.consume(taken + usize::from(newline.is_some()));
            if newline.is_some() {
                return Ok(true);
            }
        }
    }

    /// The digest of the whole file, of what was not asked for too.
    pub(crate) fn finish(mut self) -> io::Result<Digest> {
        let raw: &mut BufReader<Hashed> = match &mut self.inner {
            Inner::Plain(raw) => raw,
            Inner::Gz(unpacked) => unpacked.get_mut().get_mut(),
        };
        let hashed = raw.get_mut();
        let mut buffer = vec![0; BUFFER_BYTES];
        while hashed.read(&mut buffer)? > 0 {}
        Ok(std::mem::take(&mut hashed.hasher).finish())
    }
}

pub(super) fn too_large(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

impl BufRead for Bytes {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let buffer = match &mut self.inner {
            Inner::Plain(raw) => raw.fill_buf()?,
            Inner::Gz(unpacked) => unpacked.fill_buf()?,
        };
        if self.given >= self.limit && !buffer.is_empty() {
            let megabytes = self.limit >> 20;
            return Err(too_large(format!(
                "the file has more than {megabytes} MiB, the limit for its format"
            )));
        }
        Ok(buffer)
    }

    fn consume(&mut self, count: usize) {
        self.given += count as u64;
        match &mut self.inner {
            Inner::Plain(raw) => raw.consume(count),
            Inner::Gz(unpacked) => unpacked.consume(count),
        }
    }
}

impl Read for Bytes {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let buffer = self.fill_buf()?;
        let count = buffer.len().min(out.len());
        out[..count].copy_from_slice(&buffer[..count]);
        self.consume(count);
        Ok(count)
    }
}
