//! What a stream of records adds up to: counts and the digests that the manifest and the envelope hold.
//!
//! The writer, a resume and `verify` all compute it by this one path, so they cannot disagree by construction.

use std::collections::BTreeMap;

use crate::digest::{Hasher, Merkle};
use crate::record::{Damage, HEAD, Line, Status};
use crate::{Digest, RecordId};

/// The part of a record that totals need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// The place in the plan.
    pub index: u64,
    /// The trial.
    pub record_id: RecordId,
    /// Digest of what the target received.
    pub input_fingerprint: Digest,
    /// The line's own digest, as stored.
    pub record_sha256: Digest,
    /// Digest of the output, as stored.
    pub output_sha256: Option<Digest>,
    /// What became of the trial.
    pub status: Status,
    /// Whether it was right.
    pub passed: Option<bool>,
    /// Whether there was an answer that could not be read.
    pub unparsed: bool,
}

impl Facts {
    /// Reads them off a line.
    pub fn of(line: &Line<'_>) -> Result<Self, Damage> {
        Ok(Self {
            index: line.index()?,
            record_id: line.record_id()?,
            input_fingerprint: line.get(HEAD.input_fingerprint)?,
            record_sha256: line.get(HEAD.record_sha256)?,
            output_sha256: line.get(HEAD.output_sha256)?,
            status: line.status()?,
            passed: line.get(HEAD.passed)?,
            unparsed: line.raw(HEAD.error_type) == Some(b"\"unparsed\"".as_slice()),
        })
    }
}

/// Totals under way.
#[derive(Clone, Default)]
pub struct Totalling {
    records: Hasher,
    merkle: Merkle,
    plan: PlanHasher,
    outcomes: Hasher,
    count: u64,
    bytes: u64,
    assessed: u64,
    unparsed: u64,
    by_status: [u64; Status::ALL.len()],
}

/// The digest of a plan: one line `record_id input_fingerprint` per trial.
#[derive(Clone, Default)]
pub struct PlanHasher(Hasher);

impl PlanHasher {
    /// Takes the next trial.
    pub fn push(&mut self, record_id: &RecordId, input_fingerprint: &Digest) {
        let mut line = [b' '; 24 + 1 + 64 + 1];
        line[..24].copy_from_slice(&record_id.hex());
        line[25..89].copy_from_slice(&input_fingerprint.hex());
        line[89] = b'\n';
        self.0.update(&line);
    }

    /// `plan_sha256`
    pub fn finish(self) -> Digest {
        self.0.finish()
    }
}

impl Totalling {
    /// Takes raw bytes of `records.jsonl`, in order; lines are counted by `push`.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.records.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Takes the next record.
    pub fn push(&mut self, facts: &Facts) {
        self.merkle.push(facts.record_sha256);
        self.plan.push(&facts.record_id, &facts.input_fingerprint);
        let passed = match facts.passed {
            Some(true) => b't',
            Some(false) => b'f',
            None => b'n',
        };
        let none = Digest([0; 32]);
        self.outcomes.update(facts.record_id.bytes());
        self.outcomes.update(&[passed]);
        self.outcomes.update(&facts.output_sha256.unwrap_or(none).0);
        self.count += 1;
        self.assessed += u64::from(facts.passed.is_some());
        self.unparsed += u64::from(facts.unparsed);
        self.by_status[facts.status as usize] += 1;
    }

    /// Records so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes so far.
    pub fn byte_count(&self) -> u64 {
        self.bytes
    }

    /// The totals.
    pub fn finish(self) -> Totals {
        let counts =
            Status::ALL.iter().map(|s| (s.as_str().to_owned(), self.by_status[*s as usize])).collect();
        Totals {
            count: self.count,
            assessed: self.assessed,
            unparsed: self.unparsed,
            counts,
            records_sha256: self.records.finish(),
            merkle_root: self.merkle.root(),
            plan_sha256: self.plan.finish(),
            determinism_hash: self.outcomes.finish(),
        }
    }
}

/// What the records add up to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// Lines.
    pub count: u64,
    /// Records whose `passed` is not null.
    pub assessed: u64,
    /// Records whose answer could not be read.
    pub unparsed: u64,
    /// Records by status; every status is listed.
    pub counts: BTreeMap<String, u64>,
    /// Equal to `sha256sum records.jsonl`.
    pub records_sha256: Digest,
    /// Over each record's own digest.
    pub merkle_root: Digest,
    /// Over what was planned.
    pub plan_sha256: Digest,
    /// Over the ordered (record_id, passed, output).
    pub determinism_hash: Digest,
}

impl Totals {
    /// How many records have this status.
    pub fn with_status(&self, status: Status) -> u64 {
        self.counts.get(status.as_str()).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Json;
    use crate::record::{Spans, samples};

    fn facts(line: &[u8]) -> Facts {
        let mut spans = Spans::default();
        Facts::of(&Line::split(line.strip_suffix(b"\n").unwrap(), &mut spans).unwrap()).unwrap()
    }

    #[test]
    fn what_records_add_up_to() {
        let lines = [
            samples::probe(0, &Json::from("out"), |_| {}),
            samples::probe(1, &Json::Null, |head| head.passed = Some(false)),
            samples::probe(2, &Json::Null, |head| {
                (head.passed, head.status, head.error_type) = (None, Status::Timeout, Some("unparsed"));
            }),
            samples::probe(3, &Json::Null, |head| (head.passed, head.status) = (None, Status::Timeout)),
        ];
        let mut totalling = Totalling::default();
        let (mut plan, mut outcomes, mut merkle) = (String::new(), Vec::new(), Merkle::default());
        for (line, passed) in lines.iter().zip(*b"tfnn") {
            let facts = facts(line);
            totalling.bytes(line);
            totalling.push(&facts);
            merkle.push(facts.record_sha256);
            plan += &format!("{} {}\n", facts.record_id, facts.input_fingerprint);
            outcomes.extend_from_slice(facts.record_id.bytes());
            outcomes.push(passed);
            outcomes.extend_from_slice(&facts.output_sha256.map_or([0; 32], |digest| digest.0));
        }
        assert_eq!(totalling.count(), 4);
        assert_eq!(totalling.byte_count(), lines.concat().len() as u64);
        let totals = totalling.finish();
        assert_eq!((totals.count, totals.assessed, totals.unparsed), (4, 2, 1));
        assert_eq!((totals.with_status(Status::Success), totals.with_status(Status::Timeout)), (2, 2));
        assert_eq!(totals.with_status(Status::Error), 0);
        assert_eq!(totals.counts.len(), Status::ALL.len());
        assert_eq!(totals.records_sha256, Digest::of(&lines.concat()));
        assert_eq!(totals.merkle_root, merkle.root());
        assert_eq!(totals.plan_sha256, Digest::of(plan.as_bytes()));
        assert_eq!(totals.determinism_hash, Digest::of(&outcomes));
    }
}
