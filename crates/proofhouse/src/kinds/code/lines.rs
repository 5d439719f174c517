//! Lines of a file that may be packed: whatever a line holds, the next one is read.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use camino::Utf8Path;
use flate2::bufread::MultiGzDecoder;

const BUFFER_BYTES: usize = 64 << 10;

/// The longest line that is kept.
pub(super) const MAX_LINE_BYTES: usize = 16 << 20;

/// One line after another, without their ends.
pub(super) struct Lines {
    inner: Box<dyn BufRead + Send>,
    first: bool,
}

/// What was there.
pub(super) enum Next {
    /// A line, in the buffer.
    Line,
    /// A line of this many bytes, more than are kept; the buffer has its beginning.
    TooLong(u64),
    /// No more lines.
    End,
}

impl Lines {
    /// Opens a file; one whose name ends in `.gz` is unpacked.
    pub(super) fn open(path: &Utf8Path) -> io::Result<Lines> {
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let raw = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
        Ok(if path.extension() == Some("gz") {
            Lines::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(raw)))
        } else {
            Lines::new(raw)
        })
    }

    /// Lines of anything.
    pub(super) fn new(inner: impl BufRead + Send + 'static) -> Lines {
        Lines { inner: Box::new(inner), first: true }
    }

    /// Reads the next line into `line`. A byte order mark before the first one and a carriage return are left out.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Next> {
        line.clear();
        let mut length = 0_u64;
        let mut ended = false;
        while !ended {
            let buffer = self.inner.fill_buf()?;
            if buffer.is_empty() {
                if length == 0 {
                    return Ok(Next::End);
                }
                break;
            }
            let newline = memchr::memchr(b'\n', buffer);
            ended = newline.is_some();
            let piece = &buffer[..newline.unwrap_or(buffer.len())];
            let room = MAX_LINE_BYTES.saturating_sub(line.len()).min(piece.len());
            line.extend_from_slice(&piece[..room]);
            length += piece.len() as u64 + u64::from(ended);
            let taken = piece.len() + usize::from(ended);
            self.inner.consume(taken);
        }
        if std::mem::take(&mut self.first) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let bytes = length - u64::from(ended);
        Ok(if bytes > MAX_LINE_BYTES as u64 { Next::TooLong(bytes) } else { Next::Line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_does_not_hide_the_next() {
        let mut text = vec![b'x'; MAX_LINE_BYTES + 7];
        text.extend_from_slice(b"\r\n\nlast");
        let mut lines = Lines::new(io::Cursor::new(text));
        let mut line = Vec::new();
        assert!(
            matches!(lines.next(&mut line).unwrap(), Next::TooLong(bytes) if bytes == MAX_LINE_BYTES as u64 + 8)
        );
        assert!(matches!(lines.next(&mut line).unwrap(), Next::Line) && line.is_empty());
        assert!(matches!(lines.next(&mut line).unwrap(), Next::Line) && line == b"last");
        assert!(matches!(lines.next(&mut line).unwrap(), Next::End));
    }
}
