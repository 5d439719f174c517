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
use proofhouse_ledger::{Digest, Json, RecordId, RunPaths, files, files::FileError};

use super::execute::ExecuteError;
use crate::family::target::Reply;
use crate::spine::plan::Trial;
use crate::spine::suite::{Loaded, Problems};
use crate::text::complaint::Complaint;
use crate::text::yaml;

/// An earlier run's records, found by trial.
#[derive(Debug)]
pub struct Stored {
    file: Mutex<File>,
    places: BTreeMap<RecordId, Placed>,
    /// What stood in each slot when it was asked.
    slots: BTreeMap<String, Json>,
    /// Whether the suite's judges are wanted and nothing else of it.
    only_judges: bool,
    /// Where the replies come from: the run's id and the digest of its records.
    pub origin: Json,
}

#[derive(Debug, Clone, Copy)]
struct Placed {
    offset: u64,
    length: usize,
    input_fingerprint: Digest,
}

/// What was asked then, and what came of it.
#[derive(Debug)]
pub struct StoredTrial {
    /// What the target received.
    pub input: Json,
    /// The digest of that.
    pub input_fingerprint: Digest,
    /// What the target said before its last answer.
    pub turns: Option<Json>,
    /// What it said.
    pub reply: Reply,
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
    /// The configuration cannot be read.
    #[error("`config.resolved.yaml` cannot be read: {}\n\nhint: `proofhouse verify` says more", .0.what)]
    Config(Complaint),
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
                places.insert(sound.0, Placed { offset, length: line.len(), input_fingerprint: sound.2 });
                offset += line.len() as u64 + 1;
            }
        }
        let run_id = run_id.ok_or(StoredError::Empty)?;
        let digest: Digest = hasher.finish();
        let (config, mut origin) = (config(dir)?, Object::new());
        origin.set("records_sha256", digest.prefixed());
        origin.set("run_id", run_id);
        // Where those answers came from themselves stays known, however often they are judged again.
        if let Some(earlier) = config.get("derived_from") {
            origin.set("derived_from", earlier.clone());
        }
        if let Some(Json::Array(targets)) = config.get("targets") {
            origin.set("targets", Json::Array(targets.clone()));
        }
        let file = File::open(&path).map_err(FileError::new("open", &path))?;
        let slots = slots(&config);
        Ok(Stored { file: Mutex::new(file), places, slots, only_judges: false, origin: Json::Object(origin) })
    }

    /// The same for the judges of a suite alone, whatever it asks.
    #[must_use]
    pub fn only_judges(self) -> Self {
        Stored { only_judges: true, ..self }
    }

    /// What was asked in this trial then, and what the target said; none where the run has no such record.
    pub fn find(&self, trial: &RecordId) -> Option<StoredTrial> {
        let Placed { offset, length, input_fingerprint } = *self.places.get(trial)?;
        let mut line = vec![0; length];
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut line)).ok()?;
        }
        let record = json::parse(&line, Strictness::Canonical).ok()?;
        let reply = Reply::from_record(&record)?;
        let field = |name: &str| record.get(name).cloned();
        Some(StoredTrial {
            input: field("input").unwrap_or_default(),
            input_fingerprint,
            turns: field("turns"),
            reply,
        })
    }

    /// Whether what was asked then is what the suite asks now; otherwise its verdicts would be about something else.
    ///
    /// # Errors
    /// What differs.
    pub fn check(
        &self,
        loaded: &Loaded,
        planned: impl Iterator<Item = Result<Trial, Problems>>,
    ) -> Result<(), ExecuteError> {
        if self.only_judges {
            return Ok(());
        }
        let refused = |what: String| {
            let hint = "`--only-judges` judges what was asked and answered then, whatever the suite asks now";
            Err(ExecuteError::Stored(Complaint::new(what).hint(hint)))
        };
        for slot in &loaded.suite.slots {
            if let Some(then) = self.slots.get(&slot.name).filter(|then| **then != slot.config) {
                return refused(format!(
                    "`{}` is another target now: it was {then} when it answered, and the suite says {}",
                    slot.name, slot.config
                ));
            }
        }
        let (mut first, mut differ) = (None, 0);
        for trial in planned {
            let trial = trial.map_err(|problems| ExecuteError::Stored(Complaint::of(problems)))?;
            let then = self.places.get(&trial.record_id);
            if then.is_some_and(|then| then.input_fingerprint != trial.input_fingerprint) {
                differ += 1;
                first.get_or_insert(trial.case_id);
            }
        }
        match first {
            None => Ok(()),
            Some(case) => {
                let more =
                    if differ == 1 { String::new() } else { format!(", and in {} more trials", differ - 1) };
                refused(format!("case `{case}` asks something else than what was answered{more}"))
            }
        }
    }
}

fn config(dir: &Utf8Path) -> Result<Json, StoredError> {
    let bytes = files::read(&RunPaths::new(dir).config())?;
    yaml::read_bytes(&bytes).map_err(StoredError::Config)
}

/// What stood in each slot.
fn slots(config: &Json) -> BTreeMap<String, Json> {
    let Some(Json::Array(targets)) = config.get("targets") else { return BTreeMap::new() };
    let slots = targets.iter().filter_map(|target| {
        let mut settings = target.as_object()?.clone();
        let name = settings.remove("slot")?.as_str()?.to_owned();
        Some((name, Json::Object(settings)))
    });
    slots.collect()
}

/// The ids of a line that matches its own digest.
fn sound(line: &[u8], spans: &mut Spans) -> Option<(RecordId, String, Digest)> {
    let line = Line::split(line.strip_suffix(b"\n").unwrap_or(line), spans).ok()?;
    let stored = line.get(HEAD.record_sha256).ok()?;
    if line.recompute_digest().ok()? != stored {
        return None;
    }
    let id = line.record_id().ok()?;
    Some((id, line.run_id().ok()?.to_string(), line.get(HEAD.input_fingerprint).ok()?))
}
