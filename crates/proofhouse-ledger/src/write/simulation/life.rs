//! The life of a run on a disk, by the same functions that the program calls, and what must hold whenever it is cut off.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::disk::Simulated;
use crate::disk::Disk;
use crate::part::Places;
use crate::record::samples;
use crate::write::sequence::{Batch, Entry, Sequence};
use crate::write::state::scan_on;
use crate::write::steps::{begin_on, end_on, settle_on};
use crate::write::swap::{finish_swap_on, is_run_dir_on};
use crate::{Json, RunPaths};

/// Trials of a simulated run.
pub(super) const TRIALS: u64 = 9;

/// Something went wrong, in words.
pub(super) type Wrong = String;

/// What a run is made of.
pub(super) struct Script {
    /// Which trials finish together, in this order.
    pub(super) groups: Vec<Vec<u64>>,
    /// After so many groups somebody stops the run in order.
    pub(super) stops_after: Option<usize>,
    /// Whether an older, whole run is replaced.
    pub(super) replaces: bool,
}

pub(super) fn paths() -> RunPaths {
    RunPaths::new("run")
}

impl Script {
    fn work(&self) -> RunPaths {
        if self.replaces { paths().next() } else { paths() }
    }

    /// The disk before the run begins.
    pub(super) fn before(&self, disk: Simulated) -> Simulated {
        if self.replaces {
            let older = Script { groups: vec![(0..TRIALS).collect()], stops_after: None, replaces: false };
            older.live(&disk, &mut BTreeSet::new()).expect("the older run");
            disk.copy(usize::MAX, None)
        } else {
            disk
        }
    }

    /// Begins or goes on, until the end or until something fails. `acknowledged` is what others may rely on.
    pub(super) fn live(&self, disk: &Simulated, acknowledged: &mut BTreeSet<u64>) -> Result<(), Wrong> {
        let (work, paths) = (self.work(), paths());
        finish_swap_on(disk, &paths).map_err(said)?;
        let going_on = disk.exists(&work.dir);
        if self.replaces && !going_on {
            // What was acknowledged before is in the run that took its place; this is another one, to replace that.
            acknowledged.clear();
        }
        let found = scan_on(disk, &work, (samples::run_id(), Places::Whole), |_, _| Ok(())).map_err(said)?;
        let mut done: BTreeSet<u64> = found.waiting.keys().copied().collect();
        done.extend(0..found.totals.count());
        begin_on(disk, &work, (envelope("in_progress"), CONFIG), going_on).map_err(said)?;
        let mut sequence = Sequence::open(disk, &work, found).map_err(said)?;
        let mut failed = sequence.commit(&mut Batch::default()).err();
        let all = self.groups.len();
        for group in self.groups.iter().take(self.stops_after.unwrap_or(all)) {
            if failed.is_some() {
                break;
            }
            let left: Vec<u64> = group.iter().copied().filter(|index| !done.contains(index)).collect();
            match sequence.commit(&mut batch(&left)) {
                Ok(()) => acknowledged.extend(left),
                Err(error) => failed = Some(error),
            }
        }
        let whole = failed.is_none() && sequence.totals().count() == TRIALS;
        if whole {
            (disk as &dyn Disk).write_atomic(&work.summary(), SUMMARY).map_err(said)?;
            (disk as &dyn Disk).write_atomic(&work.manifest(), MANIFEST).map_err(said)?;
        }
        let last = envelope(if whole { "normal" } else { "exception" });
        end_on(disk, (&work, &paths), last, whole).map_err(said)?;
        failed.map_or(Ok(()), |error| Err(said(error)))
    }

    /// What must hold of a disk on which the run was cut off, before anybody has touched it.
    pub(super) fn check(&self, disk: &Simulated, acknowledged: &BTreeSet<u64>) -> Result<(), Wrong> {
        let (work, paths) = (self.work(), paths());
        finish_swap_on(disk, &paths).map_err(said)?;
        for place in [paths.envelope(), work.envelope()] {
            let text = disk.content(&place);
            if text.is_some_and(|text| ![envelope("normal"), envelope("exception")].contains(&&text[..])) {
                return Err(format!("{place} is partial"));
            }
        }
        let replaced = self.replaces && !disk.exists(&work.dir);
        if self.replaces {
            is_whole(disk)?;
        }
        let place = if replaced { &paths } else { &work };
        let found = scan_on(disk, place, (samples::run_id(), Places::Whole), |_, _| Ok(())).map_err(said)?;
        let files = disk.list(&place.dir).unwrap_or_default();
        if !files.is_empty() && !is_run_dir_on(disk, &place.dir) {
            return Err(format!("{} is not taken for a run: {files:?}", place.dir));
        }
        if disk.exists(&place.dir)
            && ![place.envelope(), place.envelope_tmp()].iter().any(|path| disk.exists(path))
        {
            return Err(format!("{} has no envelope", place.dir));
        }
        let records = disk.content(&place.records()).unwrap_or_default();
        let kept = &records[..found.totals.byte_count() as usize];
        if !whole().starts_with(kept) {
            return Err("a record was invented".to_owned());
        }
        let journal = disk.content(&place.journal()).unwrap_or_default();
        for (index, (offset, length)) in &found.waiting {
            if journal[*offset as usize..][..*length as usize] != lines()[*index as usize] {
                return Err(format!("trial {index} in the journal was invented"));
            }
        }
        let count = found.totals.count();
        match acknowledged.iter().find(|index| **index >= count && !found.waiting.contains_key(index)) {
            Some(lost) => Err(format!("trial {lost} was acknowledged and is lost")),
            None => Ok(()),
        }
    }

    /// Finalises what a dead process left, as `recover` does.
    pub(super) fn recover(&self, disk: &Simulated) -> Result<(), Wrong> {
        let paths = paths();
        finish_swap_on(disk, &paths).map_err(said)?;
        if !disk.exists(&paths.envelope_tmp()) {
            return Ok(());
        }
        let found = scan_on(disk, &paths, (samples::run_id(), Places::Whole), |_, _| Ok(())).map_err(said)?;
        let whole = found.totals.count() == TRIALS && disk.exists(&paths.manifest());
        settle_on(disk, &paths, &found, envelope(if whole { "normal" } else { "exception" })).map_err(said)
    }

    /// Goes on to the end: the same bytes as if nothing had happened.
    pub(super) fn complete(&self, disk: &Simulated) -> Result<(), Wrong> {
        finish_swap_on(disk, &paths()).map_err(said)?;
        let script = Script { groups: vec![(0..TRIALS).rev().collect()], stops_after: None, ..*self };
        script.live(disk, &mut BTreeSet::new())?;
        is_whole(disk)?;
        let left = [paths().envelope_tmp(), paths().journal(), paths().next().dir, paths().prev().dir];
        match left.iter().find(|path| disk.exists(path)) {
            Some(left) => Err(format!("{left} is left over")),
            None => Ok(()),
        }
    }
}

/// The run directory holds a whole run and its envelope.
fn is_whole(disk: &Simulated) -> Result<(), Wrong> {
    let paths = paths();
    for (place, expected) in [
        (paths.records(), whole()),
        (paths.config(), CONFIG),
        (paths.summary(), SUMMARY),
        (paths.manifest(), MANIFEST),
        (paths.envelope(), envelope("normal")),
    ] {
        if disk.content(&place).as_deref() != Some(expected) {
            return Err(format!("{place} is not that of a whole run"));
        }
    }
    Ok(())
}

fn said(error: impl std::error::Error) -> Wrong {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

const CONFIG: &[u8] = &[b'c'; 700];
const SUMMARY: &[u8] = &[b's'; 700];
const MANIFEST: &[u8] = &[b'm'; 1100];

/// The text of an envelope: longer than a sector, so that it could be torn.
fn envelope(status: &str) -> &'static [u8] {
    static TEXTS: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    let text = |status: &str| format!("{{\"exit_status\":\"{status}\",\"x\":\"{}\"}}\n", "x".repeat(1200));
    let texts = TEXTS.get_or_init(|| ["in_progress", "normal", "exception"].map(|s| text(s).into_bytes()));
    &texts[["in_progress", "normal", "exception"].iter().position(|word| *word == status).expect("a status")]
}

/// The line of each trial: some shorter than a sector, some longer.
fn lines() -> &'static [Vec<u8>] {
    static LINES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    LINES.get_or_init(|| {
        let output = |index: u64| Json::from("y".repeat(index as usize % 4 * 300));
        (0..TRIALS).map(|index| samples::probe(index, &output(index), |_| {})).collect()
    })
}

fn whole() -> &'static [u8] {
    static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
    WHOLE.get_or_init(|| lines().concat())
}

fn batch(indexes: &[u64]) -> Batch {
    let mut batch = Batch::default();
    for index in indexes {
        let from = batch.bytes.len();
        batch.bytes.extend_from_slice(&lines()[*index as usize]);
        let told = batch.telemetry.len();
        batch.telemetry.extend_from_slice(b"{\"event\":\"trial\"}\n");
        let (line, telemetry) = (from..batch.bytes.len(), told..batch.telemetry.len());
        batch.entries.push(Entry { index: *index, line, telemetry });
    }
    batch
}
