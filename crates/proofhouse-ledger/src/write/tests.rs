//! Crashes and broken disks as test categories: whatever happens, what was finished before is kept and the run completes
//! to the same bytes.

use std::io;
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;
use proptest::prelude::*;

use super::*;
use crate::part::Places;
use crate::record::{Head, Kind, Probe, Status, output_digest};
use crate::spine::Spine;
use crate::{Digest, Json, RecordId, RunId, RunPaths};

pub(super) fn run_id() -> RunId {
    RunId::of_identity(b"test")
}

pub(super) fn line(index: u64) -> Vec<u8> {
    let spine = Spine::new(&run_id());
    let case_id = format!("case-{index}");
    let output = Json::from("x".repeat(index as usize % 7 * 20));
    let head = Head {
        kind: Kind::Probe,
        run_id: run_id(),
        record_id: RecordId::of_trial("slot", &case_id, None, 0),
        index,
        suite_id: "suite",
        case_id: &case_id,
        slot: "slot",
        variant_id: None,
        repetition: 0,
        input_fingerprint: Digest::of(b"in"),
        status: Status::Success,
        error_type: None,
        error: None,
        output_sha256: output_digest(&output),
        scores: &[],
        primary_metric: None,
        passed: Some(true),
        started_at: spine.started(index),
        completed_at: spine.completed(index),
        latency_ms: None,
        usage: None,
    };
    let mut out = Vec::new();
    let empty = Json::Object(crate::json::Object::new());
    Probe {
        input: &Json::from("in"),
        output: &output,
        expected: &Json::Null,
        judge: &empty,
        advice: None,
        calibration: None,
        reasoning: None,
        response: None,
        tags: &[],
        turns: None,
    }
    .push(&mut out, &head);
    out
}

pub(super) fn whole(count: u64) -> Vec<u8> {
    (0..count).flat_map(line).collect()
}

/// A disk in memory with so many bytes left before it fails; a failing append leaves a part behind.
#[derive(Clone)]
struct Faulty {
    bytes: Arc<Mutex<Vec<u8>>>,
    left: Arc<Mutex<usize>>,
}

impl Faulty {
    fn logs(budget: usize) -> [Faulty; 3] {
        let left = Arc::new(Mutex::new(budget));
        [(); 3].map(|()| Faulty { bytes: Arc::default(), left: Arc::clone(&left) })
    }
}

impl Log for Faulty {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut left = self.left.lock().unwrap();
        let fits = bytes.len().min(*left);
        *left -= fits;
        self.bytes.lock().unwrap().extend_from_slice(&bytes[..fits]);
        if fits < bytes.len() {
            return Err(io::Error::from_raw_os_error(5));
        }
        Ok(())
    }
    fn sync(&mut self) -> io::Result<()> {
        match *self.left.lock().unwrap() {
            0 => Err(io::Error::from_raw_os_error(5)),
            _ => Ok(()),
        }
    }
    fn cut(&mut self, length: u64) -> io::Result<()> {
        // Half of the disks that fail do not let themselves be cut either: then a torn line stays.
        if *self.left.lock().unwrap() == 0 && length % 2 == 1 {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.bytes.lock().unwrap().truncate(length as usize);
        Ok(())
    }
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let bytes = self.bytes.lock().unwrap();
        into.copy_from_slice(&bytes[offset as usize..offset as usize + into.len()]);
        Ok(())
    }
}

pub(super) struct Dir(tempfile::TempDir);

impl Dir {
    pub(super) fn new() -> Self {
        let dir = Dir(tempfile::tempdir().unwrap());
        std::fs::create_dir(&dir.paths().dir).unwrap();
        dir
    }
    pub(super) fn paths(&self) -> RunPaths {
        RunPaths::new(Utf8PathBuf::from_path_buf(self.0.path().join("run")).unwrap())
    }
}

/// Finishes whatever `found` says is missing, in place, and gives the bytes.
fn complete(paths: &RunPaths, count: u64) -> Vec<u8> {
    let found = scan(paths, run_id(), Places::Whole, |_, _| Ok(())).unwrap();
    let todo: Vec<u64> =
        (found.totals.count()..count).filter(|index| !found.waiting.contains_key(index)).collect();
    let writer = Writer::open(paths, found, Durability::Group).unwrap();
    for index in todo.into_iter().rev() {
        writer.submit(index, &line(index), b"{}\n").unwrap();
    }
    let (written, outcome) = writer.finish();
    outcome.unwrap();
    assert_eq!((written.totals.count, written.waiting), (count, 0));
    let bytes = std::fs::read(paths.records()).unwrap();
    assert_eq!(written.totals.records_sha256, Digest::of(&bytes));
    assert_eq!(std::fs::metadata(paths.journal()).unwrap().len(), 0, "the journal is empty again");
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_finishing_gives_the_same_bytes(
        order in Just((0..40u64).collect::<Vec<_>>()).prop_shuffle(),
        trial in any::<bool>(),
    ) {
        let dir = Dir::new();
        let durability = if trial { Durability::Trial } else { Durability::Group };
        let writer = Writer::open(&dir.paths(), ResumePoint::default(), durability).unwrap();
        // A trial has a line of its own and one for each of its requests: none, one or several.
        let told = |index: u64| format!("{{\"index\":{index}}}\n").repeat(index as usize % 4);
        for index in &order {
            writer.submit(*index, &line(*index), told(*index).as_bytes()).unwrap();
        }
        let (written, outcome) = writer.finish();
        outcome.unwrap();
        prop_assert_eq!(written.waiting, 0);
        prop_assert_eq!(std::fs::read(dir.paths().records()).unwrap(), whole(40));
        let all: String = order.iter().map(|index| told(*index)).collect();
        prop_assert_eq!(std::fs::read_to_string(dir.paths().telemetry()).unwrap(), all);
    }

    /// The disk fails after any number of bytes; the ledger is a valid prefix and completes to the same bytes.
    #[test]
    fn a_disk_that_fails_anywhere_leaves_a_prefix(
        order in Just((0..25u64).collect::<Vec<_>>()).prop_shuffle(),
        budget in 0usize..45_000,
        trial in any::<bool>(),
    ) {
        let logs = Faulty::logs(budget);
        let durability = if trial { Durability::Trial } else { Durability::Group };
        let writer = Writer::with_logs(logs.clone(), ResumePoint::default(), durability).unwrap();
        for index in &order {
            if writer.submit(*index, &line(*index), b"").is_err() {
                break;
            }
        }
        let (written, outcome) = writer.finish();
        let [records, journal, _] = logs.map(|log| log.bytes.lock().unwrap().clone());
        let kept = written.totals.count as usize;
        prop_assert!(records.starts_with(&whole(kept as u64)), "what was acknowledged is there");
        prop_assert!(whole(25).starts_with(&records), "and nothing else");
        prop_assert!(outcome.is_err() || kept == 25);

        let dir = Dir::new();
        std::fs::write(dir.paths().records(), &records).unwrap();
        std::fs::write(dir.paths().journal(), &journal).unwrap();
        prop_assert_eq!(complete(&dir.paths(), 25), whole(25));
    }

    /// Power goes at any byte of the records and the journal.
    #[test]
    fn cut_anywhere_and_complete(cut in 0usize..20_000, journal_cut in 0usize..9_000) {
        let dir = Dir::new();
        let mut records = whole(12);
        let mut journal: Vec<u8> = [20u64, 14, 17, 13, 5].into_iter().flat_map(line).collect();
        records.truncate(cut.min(records.len()));
        journal.truncate(journal_cut.min(journal.len()));
        std::fs::write(dir.paths().records(), &records).unwrap();
        std::fs::write(dir.paths().journal(), &journal).unwrap();
        std::fs::write(dir.paths().telemetry(), b"{}\n{\"torn").unwrap();
        prop_assert_eq!(complete(&dir.paths(), 25), whole(25));
        let telemetry = std::fs::read(dir.paths().telemetry()).unwrap();
        prop_assert!(telemetry.starts_with(b"{}\n{}\n"), "the torn telemetry line is gone");
    }
}

#[test]
fn damage_in_the_middle_is_no_interruption() {
    let dir = Dir::new();
    let mut records = whole(5);
    let at = line(0).len() + 30;
    records[at] ^= 1;
    std::fs::write(dir.paths().records(), &records).unwrap();
    let error = scan(&dir.paths(), run_id(), Places::Whole, |_, _| Ok(())).err().expect("damage").to_string();
    assert!(error.contains("line 2"), "{error}");
    std::fs::write(dir.paths().records(), whole(5)).unwrap();
    let other = RunId::of_identity(b"other");
    let error = scan(&dir.paths(), other, Places::Whole, |_, _| Ok(())).err().expect("foreign").to_string();
    assert!(error.contains("belongs to run"), "{error}");
}

#[test]
fn a_second_writer_is_refused_and_told_by_whom() {
    let dir = Dir::new();
    let first = RunLock::acquire(&dir.paths(), 4711).unwrap();
    let error = RunLock::acquire(&dir.paths(), 4712).unwrap_err().to_string();
    assert!(error.contains("is being written by process 4711"), "{error}");
    drop(first);
    assert!(!dir.paths().lock().exists());
    RunLock::acquire(&dir.paths(), 4712).unwrap();
}

#[test]
fn a_stale_lock_file_is_no_obstacle() {
    let dir = Dir::new();
    std::fs::write(dir.paths().lock(), "1\n").unwrap();
    RunLock::acquire(&dir.paths(), 2).unwrap();
}

#[test]
fn only_a_run_is_taken_for_one() {
    let dir = Dir::new();
    let is_run = || is_run_dir(&dir.paths().dir);
    assert!(!is_run(), "an empty directory is nobody's");
    std::fs::write(dir.paths().dir.join("config.resolved.yaml.draft"), "").unwrap();
    assert!(is_run(), "killed before its first file was whole");
    std::fs::write(dir.paths().records(), "my data").unwrap();
    assert!(!is_run(), "somebody's records");
    std::fs::write(dir.paths().config(), "").unwrap();
    assert!(!is_run(), "still somebody's records");
    std::fs::write(dir.paths().records(), line(0)).unwrap();
    assert!(is_run());
    std::fs::write(dir.paths().dir.join("thesis.tex"), "years of work").unwrap();
    assert!(!is_run(), "a foreign file");
    std::fs::remove_file(dir.paths().dir.join("thesis.tex")).unwrap();
    for folder in [dir.paths().report_data(), dir.paths().dir.join("report-data.draft")] {
        std::fs::write(&folder, "").unwrap();
        assert!(!is_run(), "a file where a folder should be");
        std::fs::remove_file(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("0001.js"), "").unwrap();
        assert!(is_run(), "the parts of a large report");
        std::fs::write(folder.join("thesis.js"), "years of work").unwrap();
        assert!(!is_run(), "a foreign file among them");
        std::fs::remove_file(folder.join("thesis.js")).unwrap();
    }
    std::fs::create_dir(dir.paths().dir.join("other")).unwrap();
    assert!(!is_run(), "a foreign folder");
    std::fs::remove_dir(dir.paths().dir.join("other")).unwrap();
    std::fs::remove_file(dir.paths().records()).unwrap();
    std::fs::create_dir(dir.paths().records()).unwrap();
    assert!(!is_run(), "a directory where a file should be");
}

#[test]
fn an_exchange_cut_off_at_any_step_is_completed() {
    // 0: nothing moved yet; 1: old one moved away; 2: new one in its place; 3: telemetry moved too; 4: envelope moved
    // and half of the old one removed; 5: all but the envelope, the old one gone.
    for step in 0..6 {
        let dir = Dir::new();
        let paths = dir.paths();
        std::fs::write(paths.records(), "old").unwrap();
        std::fs::write(paths.telemetry(), "old").unwrap();
        std::fs::write(paths.envelope(), "old").unwrap();
        let next = paths.next();
        std::fs::create_dir(&next.dir).unwrap();
        std::fs::write(next.records(), "new").unwrap();
        std::fs::write(next.manifest(), "{}").unwrap();
        std::fs::write(next.telemetry(), "new").unwrap();
        std::fs::write(next.envelope_tmp(), SEALED).unwrap();
        if step >= 1 {
            std::fs::rename(&paths.dir, paths.prev().dir).unwrap();
        }
        if step >= 2 {
            std::fs::rename(&next.dir, &paths.dir).unwrap();
        }
        if step >= 3 {
            std::fs::rename(next.telemetry(), paths.telemetry()).unwrap();
        }
        if step == 4 {
            std::fs::rename(next.envelope_tmp(), paths.envelope()).unwrap();
            std::fs::write(paths.prev().dir.join("left over"), "").unwrap();
        }
        if step == 5 {
            std::fs::remove_dir_all(paths.prev().dir).unwrap();
        }
        assert_eq!(finish_swap(&paths).unwrap(), step >= 1);
        let expected = if step >= 1 { "new" } else { "old" };
        assert_eq!(std::fs::read_to_string(paths.records()).unwrap(), expected, "step {step}");
        assert_eq!(std::fs::read_to_string(paths.telemetry()).unwrap(), expected, "step {step}");
        let envelope = if step >= 1 { SEALED } else { "old" };
        assert_eq!(std::fs::read_to_string(paths.envelope()).unwrap(), envelope, "step {step}");
        assert!(!paths.prev().dir.exists());
    }
}

const SEALED: &str = "{\"exit_status\":\"normal\"}";

/// Killed between its first envelope and its directory, a run that was to replace another one has not replaced it.
#[test]
fn a_replacement_that_has_only_begun_leaves_the_older_envelope_alone() {
    let dir = Dir::new();
    let paths = dir.paths();
    std::fs::write(paths.records(), "old").unwrap();
    std::fs::write(paths.envelope(), "old").unwrap();
    std::fs::write(paths.next().envelope_tmp(), "{\"exit_status\":\"in_progress\"}").unwrap();
    assert!(!finish_swap(&paths).unwrap());
    assert_eq!(std::fs::read_to_string(paths.envelope()).unwrap(), "old");
}

/// A line whose turn it is costs a sync of the records, one that has to wait a sync of the journal.
#[test]
fn each_trial_by_itself_is_synced_once() {
    for (order, syncs, waiting) in
        [(&[0, 1, 2][..], 3, 0), (&[2, 0, 1], 3, 0), (&[3, 0, 1], 3, 1), (&[], 0, 0), (&[5, 4], 2, 2)]
    {
        let logs = Faulty::logs(usize::MAX);
        let writer = Writer::with_logs(logs.clone(), ResumePoint::default(), Durability::Trial).unwrap();
        order.iter().for_each(|index| writer.submit(*index, &line(*index), b"{}\n").unwrap());
        let (written, outcome) = writer.finish();
        outcome.unwrap();
        assert_eq!((written.syncs, written.waiting), (syncs, waiting), "{order:?}");
        let [_, journal, telemetry] = logs.map(|log| log.bytes.lock().unwrap().len());
        assert_eq!((journal == 0, telemetry), (waiting == 0, 3 * order.len()), "{order:?}");
    }
}

/// What a resume finds: whole lines, what is torn, and which trials wait where in the journal.
#[test]
fn what_a_resume_finds_is_counted() {
    let dir = Dir::new();
    let (journal, torn) = ([line(4), line(1), line(7)].concat(), b"{\"torn".as_slice());
    let put = |path: Utf8PathBuf, bytes: &[u8]| std::fs::write(path, [bytes, torn].concat()).unwrap();
    put(dir.paths().records(), &whole(3));
    put(dir.paths().journal(), &journal);
    put(dir.paths().telemetry(), b"{}\n{}\n");
    let mut seen = Vec::new();
    let found = scan(&dir.paths(), run_id(), Places::Whole, |facts, _| {
        seen.push(facts.index);
        Ok(())
    });
    let found = found.map_err(|error| error.to_string()).expect("it can be gone on with");
    assert_eq!(seen, [0, 1, 2, 4, 7], "the one whose turn came is in the records already");
    assert_eq!((found.totals.count(), found.totals.byte_count()), (3, whole(3).len() as u64));
    let (fourth, first) = (line(4).len(), line(1).len());
    let waiting = [(4, (0, fourth as u32)), (7, ((fourth + first) as u64, line(7).len() as u32))];
    assert_eq!(found.waiting, waiting.into());
    assert_eq!((found.journal_bytes, found.telemetry_bytes), (journal.len() as u64, 6));
    assert_eq!(found.torn_bytes, torn.len() as u64);
    assert_eq!(found.totals.finish().records_sha256, Digest::of(&whole(3)));
}

#[test]
fn a_trial_that_is_not_the_planned_one_is_told_with_its_line() {
    let dir = Dir::new();
    let error = |each: &dyn Fn(u64) -> Result<(), Mismatch>, places: Places| {
        let found = scan(&dir.paths(), run_id(), places, |facts, _| each(facts.index));
        found.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let refused =
        |wrong: u64| move |index: u64| if index == wrong { Err(Mismatch("no".to_owned())) } else { Ok(()) };
    std::fs::write(dir.paths().records(), whole(3)).unwrap();
    std::fs::write(dir.paths().journal(), [line(7), line(4)].concat()).unwrap();
    assert_eq!(error(&refused(1), Places::Whole), "`records.jsonl` line 2: no");
    assert_eq!(error(&refused(4), Places::Whole), "`journal` line 2: no");
    assert_eq!(error(&refused(9), Places::Whole), "");
    assert_eq!(error(&refused(9), Places::Rising), "", "it may be of any shard");
    let listed = |indexes: &[u64]| Places::Listed(indexes.into());
    assert_eq!(error(&refused(9), listed(&[0, 1, 2, 4, 7])), "");
    assert_eq!(error(&refused(9), listed(&[0, 1, 2, 4])), "`journal` line 1: index 7 is of another shard");
    assert_eq!(error(&refused(9), listed(&[0, 2, 4, 7])), "`records.jsonl` line 2: has index 1");
    std::fs::write(dir.paths().records(), [line(0), line(2)].concat()).unwrap();
    assert_eq!(error(&refused(9), Places::Whole), "`records.jsonl` line 2: has index 2");
    assert_eq!(error(&refused(9), Places::Rising), "");
}
