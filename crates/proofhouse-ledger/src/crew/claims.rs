//! The digests that lines hold, of themselves and of what is in them, held against what these are: many at once.
//!
//! A claim that does not hold accuses nobody: the line is looked at again by itself, which says what is wrong, if anything is.

use std::borrow::Cow;
use std::ops::Range;

use crate::Digest;
use crate::record::{HEAD, Line, Name, Stored as _};

/// So many are computed together: their bytes are still at hand.
const MANY: usize = 512;

/// What an id is of, in its order.
const TRIAL: [Name; 4] =
    [HEAD.slot.name(), HEAD.case_id.name(), HEAD.variant_id.name(), HEAD.repetition.name()];

/// What some lines of a block say of digests, and has not been looked at.
#[derive(Default)]
pub(crate) struct Claims {
    /// The line whose turn it is, and where it begins in its block.
    line: usize,
    from: usize,
    all: Vec<Claim>,
    /// Texts that do not lie in the block as they are.
    made: Vec<u8>,
    /// Lines that say what cannot be right.
    doubtful: Vec<usize>,
}

struct Claim {
    /// Which line.
    line: usize,
    of: Of,
    /// The digest, or what the line holds of it: its first bytes.
    stored: [u8; 32],
    length: usize,
}

/// What a digest is of.
enum Of {
    /// Two pieces of the block.
    Block([Range<usize>; 2]),
    /// Some of what was made.
    Made(Range<usize>),
}

impl Claims {
    /// What follows is of the line that goes by this number and begins there in its block.
    pub(crate) fn of_line(&mut self, number: usize, from: usize) {
        (self.line, self.from) = (number, from);
    }

    /// The line needs another look.
    pub(crate) fn doubt(&mut self) {
        self.doubtful.push(self.line);
    }

    /// The digest of the line itself.
    pub(crate) fn own(&mut self, line: &Line<'_>) -> Option<()> {
        let (own, digest) = (line.digest_range().ok()?, line.get(HEAD.record_sha256).ok()?);
        let (start, end) = (self.from + own.start, self.from + own.end);
        self.claim(Of::Block([self.from..start, end..self.from + line.bytes().len()]), &digest.0);
        Some(())
    }

    /// The id that follows from what the line says it is of.
    pub(crate) fn id(&mut self, line: &Line<'_>) -> Option<()> {
        let (id, made) = (line.record_id().ok()?, self.made.len());
        for (mark, field) in b"[,,,".iter().zip(TRIAL) {
            self.made.push(*mark);
            self.made.extend_from_slice(line.raw(field)?);
        }
        self.made.push(b']');
        self.claim(Of::Made(made..self.made.len()), id.bytes());
        Some(())
    }

    /// The digests of what is in the line.
    pub(crate) fn contents(&mut self, line: &Line<'_>) -> Option<()> {
        for content in line.kind().ok()?.digests() {
            let of = match line.raw(content.of)? {
                b"null" => None,
                raw => Some(self.content(line.range(content.of)?, raw)?),
            };
            match (of, content.stored(line)?) {
                (Some(of), Some(stored)) => self.claim(of, &stored.0),
                (None, None) => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// What the digest of a field is of that lies there in its line: of text its bytes, of a structure its JSON.
    fn content(&mut self, range: Range<usize>, raw: &[u8]) -> Option<Of> {
        let (start, end) = (self.from + range.start, self.from + range.end);
        if raw.first() != Some(&b'"') {
            return Some(Of::Block([start..end, end..end]));
        }
        match String::see(raw)? {
            Cow::Borrowed(_) => Some(Of::Block([start + 1..end - 1, end..end])),
            Cow::Owned(text) => {
                let made = self.made.len();
                self.made.extend_from_slice(text.as_bytes());
                Some(Of::Made(made..self.made.len()))
            }
        }
    }

    fn claim(&mut self, of: Of, bytes: &[u8]) {
        let mut stored = [0; 32];
        stored[..bytes.len()].copy_from_slice(bytes);
        self.all.push(Claim { line: self.line, of, stored, length: bytes.len() });
    }

    /// Whether there are enough to look at them.
    pub(crate) fn are_many(&self) -> bool {
        self.all.len() >= MANY
    }

    /// Forgets all claims, and gives the lines of which one does not hold, each once.
    pub(crate) fn doubtful(&mut self, block: &[u8]) -> Vec<usize> {
        let digests = Digest::of_many(self.all.iter().map(|claim| match &claim.of {
            Of::Block(pieces) => pieces.clone().map(|piece| &block[piece]),
            Of::Made(range) => [&self.made[range.clone()], &[]],
        }));
        let mut doubtful = std::mem::take(&mut self.doubtful);
        for (claim, digest) in self.all.drain(..).zip(digests) {
            if claim.stored[..claim.length] != digest.0[..claim.length] {
                doubtful.push(claim.line);
            }
        }
        self.made.clear();
        doubtful.sort_unstable();
        doubtful.dedup();
        doubtful
    }
}
