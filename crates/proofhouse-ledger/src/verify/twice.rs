//! Whether a trial is there twice, under two places in the plan: somebody replaced another one by it, or counted it again.
//!
//! Eight bytes of each record's id are kept, which is all that grows with a run; only where two are the same is the file read again.

use std::collections::{BTreeMap, BTreeSet};

use super::records::name;
use super::{Finding, Findings};
use crate::RecordId;
use crate::files::FileError;
use crate::read::{LineReader, lines};
use crate::record::{Line, Spans};

/// The beginnings of the ids that have passed by.
#[derive(Default)]
pub(super) struct Trials(Vec<u64>);

fn beginning(id: &RecordId) -> u64 {
    id.bytes().iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

impl Trials {
    pub(super) fn push(&mut self, id: &RecordId) {
        self.0.push(beginning(id));
    }

    /// Beginnings that came twice.
    fn repeated(mut self) -> BTreeSet<u64> {
        self.0.sort_unstable();
        self.0.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
    }

    /// Names every record whose trial has one already, elsewhere in the plan.
    pub(super) fn check(self, path: &camino::Utf8Path, findings: &mut Findings) -> Result<(), FileError> {
        let repeated = self.repeated();
        if repeated.is_empty() {
            return Ok(());
        }
        let mut first: BTreeMap<RecordId, (u64, u64)> = BTreeMap::new();
        let (mut reader, mut spans, mut number) = (LineReader::open(path)?, Spans::default(), 0);
        loop {
            let block = reader.next_lines().map_err(FileError::new("read", path))?;
            if block.is_empty() {
                return Ok(());
            }
            for bytes in lines(block) {
                number += 1;
                let Ok(line) = Line::split(bytes, &mut spans) else { continue };
                let (Ok(id), Ok(index)) = (line.record_id(), line.index()) else { continue };
                if !repeated.contains(&beginning(&id)) {
                    continue;
                }
                let (place, before) = *first.entry(id).or_insert((index, number));
                // A line that is there again as it stands is named for its place.
                if place != index {
                    let what = format!("duplicated: its trial has a record already, in line {before}");
                    let record = Some(name(&line));
                    findings.push(Finding {
                        file: "records.jsonl".to_owned(),
                        line: Some(number),
                        record,
                        what,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_twice_is_looked_at_again() {
        let ids: Vec<RecordId> = (0..1_000).map(|n| RecordId::of_trial("s", "c", None, n)).collect();
        let mut trials = Trials::default();
        ids.iter().for_each(|id| trials.push(id));
        assert!(trials.repeated().is_empty());
        let mut trials = Trials::default();
        ids.iter().chain([&ids[7], &ids[7], &ids[3]]).for_each(|id| trials.push(id));
        assert_eq!(trials.repeated(), BTreeSet::from([beginning(&ids[3]), beginning(&ids[7])]));
    }
}
