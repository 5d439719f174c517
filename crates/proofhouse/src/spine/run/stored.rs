//! Replies out of an earlier run's records, for judging them again without asking anybody.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::{Mutex, PoisonError};

use camino::Utf8Path;
use proofhouse_ledger::digest::Hasher;
use proofhouse_ledger::json::{self, Object, Strictness};
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{HEAD, Line, Spans};
use proofhouse_ledger::{Digest, Json, RecordId, RunPaths, files::FileError};

use crate::family::target::Reply;

/// An earlier run's records, found by trial.
#[derive(Debug)]
pub struct Stored {
    file: Mutex<File>,
    places: BTreeMap<RecordId, (u64, usize)>,
    /// Where the replies come from: the run's id and the digest of its records.
    pub origin: Json,
}

/// Why a run's records cannot be judged again.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// They cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is no record.
    #[error("line {0} of `records.jsonl` is not a sound record\n\nhint: `proofhouse verify` says more")]
    Damaged(u64),
    /// There are none.
    #[error("the run has no records")]
    Empty,
}

impl Stored {
    /// Finds every record of a run, and checks each against its own digest.
    ///
    /// # Errors
    /// When the records cannot be read, or one of them is not what was written.
    pub fn open(dir: &Utf8Path) -> Result<Self, StoredError> {
        let path = RunPaths::new(dir).records();
        let mut reader = LineReader::open(&path)?;
        let (mut places, mut offset, mut number) = (BTreeMap::new(), 0, 0);
        let (mut run_id, mut hasher, mut spans) = (None, Hasher::default(), Spans::default());
        loop {
            let block = reader.next_lines().map_err(FileError::new("read", &path))?;
            if block.is_empty() {
                break;
            }
            hasher.update(block);
            for line in lines(block) {
                number += 1;
                let sound = sound(line, &mut spans).ok_or(StoredError::Damaged(number))?;
                run_id.get_or_insert(sound.1);
                places.insert(sound.0, (offset, line.len()));
                offset += line.len() as u64 + 1;
            }
        }
        let run_id = run_id.ok_or(StoredError::Empty)?;
        let digest: Digest = hasher.finish();
        let origin = Object::from_iter([
            ("records_sha256", Json::from(digest.prefixed())),
            ("run_id", Json::from(run_id)),
        ]);
        let file = File::open(&path).map_err(FileError::new("open", &path))?;
        Ok(Stored { file: Mutex::new(file), places, origin: Json::Object(origin) })
    }

    /// What the target of this trial said then.
    pub fn reply(&self, trial: &RecordId) -> Reply {
        let Some(&(offset, length)) = self.places.get(trial) else {
            return Reply::failed("not_in_run", format!("the run has no record {trial}"));
        };
        let mut line = vec![0; length];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut line));
        let record = read.ok().and_then(|()| json::parse(&line, Strictness::Canonical).ok());
        let reply = record.and_then(|record| Reply::from_record(&record));
        reply.unwrap_or_else(|| Reply::failed("not_in_run", format!("the record {trial} cannot be read")))
    }
}

/// The ids of a line that matches its own digest.
fn sound(line: &[u8], spans: &mut Spans) -> Option<(RecordId, String)> {
    let line = Line::split(line.strip_suffix(b"\n").unwrap_or(line), spans).ok()?;
    let stored = line.get(HEAD.record_sha256).ok()?;
    if line.recompute_digest().ok()? != stored {
        return None;
    }
    let id = line.record_id().ok()?;
    Some((id, line.run_id().ok()?.to_string()))
}
