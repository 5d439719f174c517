//! The merge join in plan order: bytes first, lines only where bytes differ, fields only where lines differ.
//!
//! The order is checked all the way. Where one side's order is not the other's, the walk gives up and says so.

use super::DiffError;
use super::cursor::Cursor;
use super::findings::Findings;
use super::pair::{Comparer, Met, Seen};
use super::peek::PeekPassed;
use super::report::Side;
use super::run::Pairing;

/// How a walk in plan order ended.
pub(super) enum Ended {
    /// Both sides hold the same trials in the same order.
    Whole(Findings),
    /// They do not, or a line is no record: the findings so far are worth nothing.
    OutOfOrder,
}

pub(super) fn in_order(pairing: &Pairing, mut findings: Findings) -> Result<Ended, DiffError> {
    let mut a = Cursor::open(&pairing.a.paths.records())?;
    let mut b = Cursor::open(&pairing.b.paths.records())?;
    let mut comparer = Comparer::new(pairing);
    let passed = PeekPassed::new();
    loop {
        match (a.ready()?, b.ready()?) {
            (true, true) => {}
            (false, false) => break,
            _ => return Ok(Ended::OutOfOrder),
        }
        if pairing.same_run {
            let bytes = equal_lines(a.lines(), b.lines());
            if bytes > 0 {
                let lines = tally(&a.lines()[..bytes], &passed, &mut findings);
                a.skip(bytes, lines);
                b.skip(bytes, lines);
                continue;
            }
        }
        let seen_a = Seen { line: a.line(), number: a.number() };
        let seen_b = Seen { line: b.line(), number: b.number() };
        if comparer.meet(seen_a, seen_b, &mut findings) == Met::No {
            return Ok(Ended::OutOfOrder);
        }
        let (bytes_a, bytes_b) = (seen_a.line.len() + 1, seen_b.line.len() + 1);
        a.skip(bytes_a, 1);
        b.skip(bytes_b, 1);
    }
    findings.end(Side::A, a.number(), a.torn());
    findings.end(Side::B, b.number(), b.torn());
    Ok(Ended::Whole(findings))
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

/// Counts equal lines and what both sides say of them.
fn tally(block: &[u8], passed: &PeekPassed, findings: &mut Findings) -> u64 {
    let mut count = 0;
    for line in proofhouse_ledger::read::lines(block) {
        let passed = passed.read(line);
        findings.pair((passed, passed));
        count += 1;
    }
    count
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
