//! The merge join in plan order: bytes first, lines only where bytes differ, fields only where lines differ.
//!
//! The order is checked all the way. Where the sides part, the next trial that both have is looked for a little ahead,
//! and what was passed over is taken as removed or added; at the end every such trial must indeed stand nowhere else.
//! Where that does not hold, or the sides part for longer, the walk gives up and says so.

use std::collections::BTreeMap;

use proofhouse_ledger::RecordId;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::record::{HEAD, Line, Spans};

use super::DiffError;
use super::cursor::Cursor;
use super::findings::Findings;
use super::pair::{Comparer, InPlace, Met, NumberedLine, Settled};
use super::peek::PeekId;
use super::report::{Class, Side};
use super::roots::{Roots, Stored};
use super::run::Pairing;

/// How far ahead a common trial is looked for.
const AHEAD_LINES: usize = 512;
/// More removed and added trials than this are left to the index: each costs a look ahead.
const MAX_STRAYS: usize = 4_096;

/// What was found, with the first `limit` changes of each class; none where the common trials do not stand in one order, or a line
/// is no record.
pub(super) fn in_order(pairing: &Pairing, limit: usize) -> Result<Option<Findings>, DiffError> {
    let mut found = Merged::Doubtful;
    if !pairing.same_run {
        found = std::thread::scope(|scope| match Roots::new(scope, pairing) {
            Some(roots) => walk(pairing, Findings::new(limit), Some(roots)),
            None => Ok(Merged::Doubtful),
        })?;
    }
    if let Merged::Doubtful = found {
        found = walk(pairing, Findings::new(limit), None)?;
    }
    match found {
        Merged::All(findings) => Ok(Some(*findings)),
        Merged::Unordered | Merged::Doubtful => Ok(None),
    }
}

/// What a walk came to.
pub(super) enum Merged {
    All(Box<Findings>),
    /// The common trials do not stand in one order, or a line is no record.
    Unordered,
    /// Stored digests were taken as they stand, and are not those that the runs were sealed with.
    Doubtful,
}

/// Takes the digests of lines that say the same as they stand, where `roots` adds them up.
pub(super) fn walk(
    pairing: &Pairing,
    findings: Findings,
    roots: Option<Roots<'_>>,
) -> Result<Merged, DiffError> {
    let mut walk = Walk {
        a: Cursor::open(&pairing.a.paths.records())?,
        b: Cursor::open(&pairing.b.paths.records())?,
        comparer: Comparer::new(pairing),
        ids: PeekId::new(),
        spans: Spans::default(),
        strays: Vec::new(),
        findings,
        roots,
    };
    loop {
        match (walk.a.ready()?, walk.b.ready()?) {
            (false, false) => break,
            (true, true) => {
                let stepped = match pairing.same_run {
                    true => walk.step_over_equal(),
                    false => walk.step_over_same(pairing),
                };
                if stepped {
                    continue;
                }
                if walk.step() == Met::Yes {
                    continue;
                }
            }
            (true, false) | (false, true) => {}
        }
        if !walk.meet_again()? {
            return Ok(Merged::Unordered);
        }
    }
    let Walk { a, b, mut findings, strays, ids, roots, .. } = walk;
    findings.end(Side::A, a.number(), a.torn());
    findings.end(Side::B, b.number(), b.torn());
    if !strays.is_empty() && !stand_alone(strays, pairing, &ids)? {
        return Ok(Merged::Unordered);
    }
    Ok(match roots.is_none_or(Roots::follow) {
        true => Merged::All(Box::new(findings)),
        false => Merged::Doubtful,
    })
}

struct Walk<'p, 'scope> {
    a: Cursor,
    b: Cursor,
    comparer: Comparer<'p>,
    ids: PeekId,
    spans: Spans,
    /// Trials that were taken as removed or added.
    strays: Vec<RecordId>,
    findings: Findings,
    roots: Option<Roots<'scope>>,
}

impl Walk<'_, '_> {
    /// Passes over lines that are equal to the byte; false where there are none.
    fn step_over_equal(&mut self) -> bool {
        let bytes = equal_lines(self.a.lines(), self.b.lines());
        let mut count = 0;
        for line in proofhouse_ledger::read::lines(&self.a.lines()[..bytes]) {
            self.comparer.equal(line, &mut self.findings);
            count += 1;
        }
        self.a.skip(bytes, count);
        self.b.skip(bytes, count);
        bytes > 0
    }

    /// Holds the lines at hand of runs with different ids against each other, on two threads, as long as they go in step; false
    /// where nothing was passed over.
    fn step_over_same(&mut self, pairing: &Pairing) -> bool {
        let lines = proofhouse_ledger::read::lines;
        let pairs: Vec<(&[u8], &[u8])> = lines(self.a.lines()).zip(lines(self.b.lines())).collect();
        let settled = settle_all(pairing, self.roots.is_some(), &pairs);
        let (mut stepped, mut stored) = (false, Vec::with_capacity(settled.len()));
        for settled in settled {
            let (line, numbers) = (self.a.line(), (self.a.number(), self.b.number()));
            let Some(settled) = settled else {
                self.add_up(&mut stored);
                if self.step() == Met::No {
                    break;
                }
                stepped = true;
                continue;
            };
            settled.tell(line, numbers, &mut self.findings);
            stored.push(settled.stored.map(Some));
            // The lines are equally long where they are the same.
            let bytes = line.len() + 1;
            self.a.skip(bytes, 1);
            self.b.skip(bytes, 1);
            stepped = true;
        }
        self.add_up(&mut stored);
        stepped
    }

    /// Hands over what lines store that were passed over.
    fn add_up(&mut self, stored: &mut Vec<Stored>) {
        if let Some(roots) = self.roots.as_mut().filter(|_| !stored.is_empty()) {
            roots.add(std::mem::take(stored));
        }
    }

    /// The same of one line.
    fn add_line(&mut self, side: Side) {
        let Some(roots) = &mut self.roots else { return };
        let cursor = if side == Side::A { &self.a } else { &self.b };
        let line = Line::split(cursor.line(), &mut self.spans);
        roots.add_line(side, line.and_then(|line| line.get(HEAD.record_sha256)).ok());
    }

    /// Holds the next line of A against the next line of B, and passes over both if they are of one trial.
    fn step(&mut self) -> Met {
        let seen_a = NumberedLine { line: self.a.line(), number: self.a.number() };
        let seen_b = NumberedLine { line: self.b.line(), number: self.b.number() };
        let (bytes_a, bytes_b) = (seen_a.line.len() + 1, seen_b.line.len() + 1);
        let met = self.comparer.meet(seen_a, seen_b, &mut self.findings);
        if met == Met::Yes {
            self.add_line(Side::A);
            self.add_line(Side::B);
            self.a.skip(bytes_a, 1);
            self.b.skip(bytes_b, 1);
        }
        met
    }

    /// Passes over what only one side has, up to the next trial that both have; false where there is none in reach.
    fn meet_again(&mut self) -> Result<bool, FileError> {
        self.a.fill()?;
        self.b.fill()?;
        let (Some(ahead_a), Some(ahead_b)) = (self.ahead(&self.a), self.ahead(&self.b)) else {
            return Ok(false);
        };
        let (skip_a, skip_b) = if ahead_a.is_empty() || ahead_b.is_empty() {
            (ahead_a.len(), ahead_b.len())
        } else {
            match nearest(&ahead_a, &ahead_b) {
                Some(skips) => skips,
                None => return Ok(false),
            }
        };
        self.strays.extend(ahead_a[..skip_a].iter().chain(&ahead_b[..skip_b]));
        for _ in 0..skip_a {
            self.add_line(Side::A);
            pass_over(&mut self.a, Side::A, &mut self.comparer, &mut self.findings);
        }
        for _ in 0..skip_b {
            self.add_line(Side::B);
            pass_over(&mut self.b, Side::B, &mut self.comparer, &mut self.findings);
        }
        Ok(self.strays.len() <= MAX_STRAYS)
    }

    /// The ids of the lines ahead; `None` where one is no record.
    fn ahead(&self, cursor: &Cursor) -> Option<Vec<RecordId>> {
        proofhouse_ledger::read::lines(cursor.lines())
            .take(AHEAD_LINES)
            .map(|line| self.ids.read(line))
            .collect()
    }
}

/// What can be said at once of pairs of lines: the second half by another thread, where the machine gives one.
fn settle_all(pairing: &Pairing, as_stored: bool, pairs: &[(&[u8], &[u8])]) -> Vec<Option<Settled>> {
    /// Fewer are not worth a thread.
    const WORTH_PAIRS: usize = 64;
    let settle = |pairs: &[(&[u8], &[u8])]| -> Vec<Option<Settled>> {
        let mut in_place = InPlace::new(pairing, as_stored);
        pairs.iter().map(|(a, b)| in_place.same(a, b)).collect()
    };
    if pairs.len() < WORTH_PAIRS {
        return settle(pairs);
    }
    let (first, second) = pairs.split_at(pairs.len() / 2);
    std::thread::scope(|scope| {
        let other = std::thread::Builder::new().spawn_scoped(scope, || settle(second));
        let mut all = settle(first);
        all.extend(match other {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => settle(second),
        });
        all
    })
}

fn pass_over(cursor: &mut Cursor, side: Side, comparer: &mut Comparer<'_>, findings: &mut Findings) {
    let class = match side {
        Side::A => Class::Removed,
        Side::B => Class::Added,
    };
    let seen = NumberedLine { line: cursor.line(), number: cursor.number() };
    comparer.lone(side, class, seen, findings);
    let bytes = seen.line.len() + 1;
    cursor.skip(bytes, 1);
}

/// How many lines to pass over on each side to come to a common trial: as few as possible, and some.
fn nearest(a: &[RecordId], b: &[RecordId]) -> Option<(usize, usize)> {
    let mut places: BTreeMap<RecordId, usize> = BTreeMap::new();
    for (at, id) in b.iter().enumerate() {
        places.entry(*id).or_insert(at);
    }
    let meetings = a.iter().enumerate().filter_map(|(at, id)| Some((at, *places.get(id)?)));
    // Two lines that stand at the front and did not meet will not do so now.
    meetings.filter(|skips| *skips != (0, 0)).min_by_key(|(a, b)| a + b)
}

/// Whether each of `strays` stands once in both files together.
fn stand_alone(mut strays: Vec<RecordId>, pairing: &Pairing, ids: &PeekId) -> Result<bool, FileError> {
    strays.sort_unstable();
    let mut seen = vec![false; strays.len()];
    for run in [&pairing.a, &pairing.b] {
        let mut cursor = Cursor::open(&run.paths.records())?;
        while cursor.ready()? {
            let block = cursor.lines();
            for line in proofhouse_ledger::read::lines(block) {
                // A line that is no record would have ended the walk, unless both sides have it.
                let Some(Ok(at)) = ids.read(line).map(|id| strays.binary_search(&id)) else { continue };
                if std::mem::replace(&mut seen[at], true) {
                    return Ok(false);
                }
            }
            let bytes = block.len();
            cursor.skip(bytes, 0);
        }
    }
    Ok(true)
}

/// How many bytes of whole lines both begin with. Both end with a line end.
fn equal_lines(a: &[u8], b: &[u8]) -> usize {
    const PIECE_BYTES: usize = 16 << 10;
    let shared = a.len().min(b.len());
    let (a, b) = (&a[..shared], &b[..shared]);
    let mut same = 0;
    for (a, b) in a.chunks(PIECE_BYTES).zip(b.chunks(PIECE_BYTES)) {
        if a != b {
            same += a.iter().zip(b).take_while(|(a, b)| a == b).count();
            break;
        }
        same += a.len();
    }
    memchr::memrchr(b'\n', &a[..same]).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_end_at_a_line_end_of_both() {
        assert_eq!(equal_lines(b"a\nb\nc\n", b"a\nb\nd\n"), 4);
        assert_eq!(equal_lines(b"a\nb\n", b"a\nb\nd\n"), 4);
        assert_eq!(equal_lines(b"ab\n", b"a\n"), 0);
        assert_eq!(equal_lines(b"x\n", b"y\n"), 0);
        let long = format!("{}\n", "x".repeat(99)).repeat(1_000).into_bytes();
        let mut edited = long.clone();
        edited[55_555] = b'y';
        assert_eq!(equal_lines(&long, &long), long.len());
        assert_eq!(equal_lines(&long, &edited), 55_500);
    }
}
