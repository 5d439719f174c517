//! What is read of an unfinished run, and what of it is taken for an interruption and what for damage.

use super::*;
use crate::Digest;
use crate::write::tests::{Dir, line, run_id, whole};

fn found(dir: &Dir) -> Result<ResumePoint, String> {
    scan(&dir.paths(), run_id(), Places::Whole, |_, _| Ok(())).map_err(|error| error.to_string())
}

/// The run did not end in order: its envelope is not the last one.
fn cut_off(dir: &Dir) {
    std::fs::write(dir.paths().envelope_tmp(), "{}").unwrap();
}

/// Zeros in place of a sector of this line.
fn unwritten(line: &mut [u8]) {
    line[40..80].fill(0);
}

/// Far more than is read at once: what is torn ends the records, whatever stands behind it.
#[test]
fn records_of_many_blocks_end_at_what_is_torn() {
    let dir = Dir::new();
    let lines: Vec<Vec<u8>> = (0..3000).map(line).collect();
    std::fs::write(dir.paths().records(), lines.concat()).unwrap();
    let sound = found(&dir).unwrap();
    assert_eq!((sound.totals.count(), sound.torn_bytes), (3000, 0));
    assert_eq!(sound.totals.finish().records_sha256, Digest::of(&lines.concat()));

    let mut torn = lines.clone();
    unwritten(&mut torn[7]);
    std::fs::write(dir.paths().records(), torn.concat()).unwrap();
    assert!(
        found(&dir).is_err_and(|error| error.contains("line 8 is damaged")),
        "an end in order leaves nothing torn"
    );
    cut_off(&dir);
    let torn = found(&dir).unwrap();
    let (kept, all) = (whole(7), lines.concat().len());
    assert_eq!((torn.totals.count(), torn.torn_bytes), (7, (all - kept.len()) as u64));
    assert_eq!(torn.totals.finish().records_sha256, Digest::of(&kept));
}

#[test]
fn a_record_that_was_altered_is_no_interruption_even_where_the_run_was_cut_off() {
    let dir = Dir::new();
    cut_off(&dir);
    let altered = String::from_utf8(line(1)).unwrap().replace("case-1", "case-7");
    std::fs::write(dir.paths().records(), [line(0), altered.clone().into_bytes(), line(2)].concat()).unwrap();
    let wrong = "`records.jsonl` line 2: the record does not match its own digest";
    assert_eq!(found(&dir).err().as_deref(), Some(wrong));
    let noisy = altered.replace("case-7", "case-\u{1}");
    std::fs::write(dir.paths().records(), [line(0), noisy.into_bytes(), line(2)].concat()).unwrap();
    assert_eq!(found(&dir).unwrap().totals.count(), 1, "no writer leaves a control character in a line");
}

#[test]
fn a_torn_line_of_a_journal_does_not_take_those_behind_it_along() {
    let dir = Dir::new();
    let mut torn = line(4);
    unwritten(&mut torn);
    std::fs::write(dir.paths().journal(), [line(6), torn.clone(), line(5)].concat()).unwrap();
    let resumed = found(&dir).unwrap();
    assert_eq!(resumed.waiting.keys().copied().collect::<Vec<_>>(), [5, 6]);
    assert_eq!(resumed.torn_bytes, torn.len() as u64);
    assert_eq!(resumed.journal_bytes, [line(6), torn, line(5)].concat().len() as u64);

    let altered = String::from_utf8(line(4)).unwrap().replace("case-4", "case-9");
    std::fs::write(dir.paths().journal(), [line(6), altered.into_bytes()].concat()).unwrap();
    let wrong = "`journal` line 2: the record does not match its own digest";
    assert_eq!(found(&dir).err().as_deref(), Some(wrong));
    std::fs::write(dir.paths().journal(), "\n").unwrap();
    let resumed = found(&dir).unwrap();
    assert_eq!((resumed.journal_bytes, resumed.torn_bytes), (1, 1), "an end of a line alone");
}

#[test]
fn records_that_cannot_be_looked_for_are_not_taken_for_absent() {
    let dir = Dir::new();
    assert_eq!(found(&dir).unwrap().totals.count(), 0, "there are none yet");
    std::fs::remove_dir(dir.paths().dir).unwrap();
    std::fs::write(dir.paths().dir, "a file").unwrap();
    let error = found(&dir).err().expect("there is no directory to look in");
    assert!(error.contains("records.jsonl"), "{error}");
}

#[test]
fn noise_is_what_canonical_json_never_has() {
    for (line, noise) in [
        (&b"{\"a\":\"\xc3\xa9 ~\x7f\"}"[..], false),
        (b"", false),
        (b" ", false),
        (b"{\"a\":\"\x1f\"}", true),
        (b"\0\0", true),
        (b"{\"a\":\"\xff\"}", true),
    ] {
        assert_eq!(is_noise(line), noise, "{line:?}");
    }
}
