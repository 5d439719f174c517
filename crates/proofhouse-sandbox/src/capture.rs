//! Keeps the head and tail of a stream, counts and hashes all of it, and stops exactly at the cap.

use std::collections::VecDeque;

use ring::digest::{Context, SHA256};

use crate::outcome::Stream;
use crate::spec::Keep;

/// A stream on its way in.
pub(crate) struct Capture {
    keep: Keep,
    cap: u64,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    length: u64,
    truncated: bool,
    hash: Context,
}

impl Capture {
    pub(crate) fn new(keep: Keep, cap: u64) -> Capture {
        Capture {
            keep,
            cap,
            head: Vec::new(),
            tail: VecDeque::new(),
            length: 0,
            truncated: false,
            hash: Context::new(&SHA256),
        }
    }

    /// Takes what was read; `false` when it went over the cap.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> bool {
        let room = usize::try_from(self.cap - self.length).unwrap_or(usize::MAX);
        let taken = &bytes[..bytes.len().min(room)];
        self.truncated |= taken.len() < bytes.len();
        self.length += taken.len() as u64;
        self.hash.update(taken);
        let to_head = taken.len().min(self.keep.head_bytes.saturating_sub(self.head.len()));
        self.head.extend_from_slice(&taken[..to_head]);
        let rest = &taken[to_head..];
        let from = rest.len().saturating_sub(self.keep.tail_bytes);
        self.tail.extend(&rest[from..]);
        let over = self.tail.len().saturating_sub(self.keep.tail_bytes);
        self.tail.drain(..over);
        !self.truncated
    }

    pub(crate) fn truncated(&self) -> bool {
        self.truncated
    }

    pub(crate) fn finish(self) -> Stream {
        Stream {
            head: self.head,
            tail: self.tail.into(),
            length: self.length,
            truncated: self.truncated,
            sha256: hex(self.hash.finish().as_ref()),
        }
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_is_exact_and_the_digest_covers_what_was_counted() {
        let mut capture = Capture::new(Keep { head_bytes: 3, tail_bytes: 2 }, 8);
        assert!(capture.take(b"abcde"));
        assert!(capture.take(b"fgh"));
        assert!(!capture.take(b"i"));
        let stream = capture.finish();
        assert_eq!((&stream.head[..], &stream.tail[..], stream.length), (&b"abc"[..], &b"gh"[..], 8));
        assert!(stream.truncated);
        assert_eq!(stream.sha256, "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab");
    }
}
