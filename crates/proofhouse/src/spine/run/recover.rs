//! After a kill: the envelope that the dead process could not write, from what it left behind.

use proofhouse_ledger::config;
use proofhouse_ledger::envelope::{self, Envelope, ExitStatus};
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::format::{self, ReadError};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::part::Places;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Line, Spans};
use proofhouse_ledger::totals::Totals;
use proofhouse_ledger::write::{self, LockError, ResumePoint, RunLock, StateError, SwapError};
use proofhouse_ledger::{Digest, Json, RunId, RunPaths, canonical};

use super::clock;
use super::open::{read_envelope, receipt_path, shard_details};
use super::seal::fill_totals;
use crate::family::target;
use crate::text::yaml;

/// Why an envelope could not be recovered.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// The run is alive.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is no run.
    #[error("`{0}` is not a run directory")]
    NotARun(String),
    /// The envelope is final.
    #[error("`{0}` has its envelope; there is nothing to recover")]
    Ended(String),
    /// Neither manifest nor envelope nor a record tells which run this is.
    #[error("nothing in `{0}` says which run it is")]
    Unknown(String),
    /// A number in the manifest is none that an envelope can hold.
    #[error("the manifest cannot be true: {0}")]
    Beyond(String),
    /// A file is of a version that this program does not know.
    #[error(transparent)]
    Version(#[from] ReadError),
    /// The records are damaged.
    #[error("the records are damaged")]
    State(#[from] StateError),
    /// An exchange could not be completed.
    #[error(transparent)]
    Swap(#[from] SwapError),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What was recovered.
#[derive(Debug)]
pub struct Recovered {
    /// The envelope, as written.
    pub envelope: Envelope,
    /// Bytes of a torn last line that were cut off.
    pub torn_bytes: u64,
    /// Finished trials that wait in the journal for `run --resume`.
    pub waiting: u64,
}

/// Finalises the envelope of a run whose process is gone.
pub fn recover(paths: &RunPaths) -> Result<Recovered, RecoverError> {
    let lock = RunLock::acquire(paths, std::process::id())?;
    let exchanged = write::finish_swap(paths)?;
    format::check_versions(paths)?;
    let tmp = paths.envelope_tmp();
    if !tmp.exists() {
        if paths.envelope().exists() {
            // All that was missing was the exchange with another run.
            let ended = read_envelope(&paths.envelope()).filter(|_| exchanged);
            return match ended {
                Some(envelope) => Ok(Recovered { envelope, torn_bytes: 0, waiting: 0 }),
                None => Err(RecoverError::Ended(paths.dir.to_string())),
            };
        }
        drop(lock);
        return rebuild(paths);
    }
    let Some(mut envelope) = read_envelope(&tmp) else {
        drop(lock);
        return rebuild(paths);
    };
    let places = if envelope.part().is_some() { Places::Rising } else { Places::Whole };
    let found = write::scan(paths, envelope.run_id, places, |_, _| Ok(()))?;
    finish(paths, &mut envelope, &found)?;
    let (torn_bytes, waiting) = (found.torn_bytes, found.waiting.len() as u64);
    Ok(Recovered { envelope, torn_bytes, waiting })
}

/// Writes an envelope from the run directory alone: equal to the lost one in every field that can be derived.
pub fn rebuild(paths: &RunPaths) -> Result<Recovered, RecoverError> {
    if !write::is_run_dir(&paths.dir) {
        return Err(RecoverError::NotARun(paths.dir.to_string()));
    }
    let _lock = RunLock::acquire(paths, std::process::id())?;
    format::check_versions(paths)?;
    let manifest: Option<Manifest> = format::read_manifest(paths).ok();
    let run_id = match &manifest {
        Some(manifest) => manifest.run_id,
        None => first_run_id(paths)?.ok_or_else(|| RecoverError::Unknown(paths.dir.to_string()))?,
    };
    let part = manifest.as_ref().and_then(|manifest| Some(manifest.shard?.part));
    let places = if part.is_some() { Places::Rising } else { Places::Whole };
    let found = write::scan(paths, run_id, places, |_, _| Ok(()))?;
    let mut envelope = derive(paths, run_id, manifest.as_ref(), found.totals.count());
    envelope.details = shard_details(part);
    finish(paths, &mut envelope, &found)?;
    let (torn_bytes, waiting) = (found.torn_bytes, found.waiting.len() as u64);
    Ok(Recovered { envelope, torn_bytes, waiting })
}

fn finish(paths: &RunPaths, envelope: &mut Envelope, found: &ResumePoint) -> Result<(), RecoverError> {
    envelope.manifest_sha256 = Digest::of_file(&paths.manifest()).ok();
    fill_totals(envelope, &found.totals.clone().finish());
    // All planned trials recorded and the directory sealed: only the last rename was missing.
    let whole = found.totals.count() == envelope.total_cases_expected && paths.manifest().exists();
    envelope.exit_status = if whole { ExitStatus::Normal } else { ExitStatus::ExternalKill };
    envelope.error = (!whole).then(|| "the process vanished; recovered afterwards".to_owned());
    envelope.run_end_ts_utc = envelope.run_start_ts_utc.as_ref().map(|_| clock::now().to_string());
    let bytes = canonical::to_file(&*envelope).map_err(|error| RecoverError::Beyond(error.to_string()))?;
    Ok(write::settle(paths, found, &bytes)?)
}

fn first_run_id(paths: &RunPaths) -> Result<Option<RunId>, FileError> {
    for path in [paths.records(), paths.journal()] {
        if !path.exists() {
            continue;
        }
        let mut reader = LineReader::open(&path)?;
        let block = reader.next_lines().map_err(FileError::new("read", &path))?;
        let mut spans = Spans::default();
        let found = lines(block).next().and_then(|line| Line::split(line, &mut spans).ok()?.run_id().ok());
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The fields of an envelope that a run directory does not determine: when, where and by whom it was run.
pub const NOT_DERIVABLE: [&str; 13] = [
    "boot_id",
    "details",
    "error",
    "git_commit",
    "git_dirty",
    "host",
    "lane",
    "pid",
    "resumed_from",
    "run_end_ts_utc",
    "run_start_ts_utc",
    "sandbox_tier",
    "tool_sha256",
];

/// The envelope that a whole run must have, as far as its directory determines it.
pub fn derived_envelope(paths: &RunPaths, manifest: &Manifest, totals: &Totals) -> Envelope {
    let mut envelope = derive(paths, manifest.run_id, Some(manifest), totals.count);
    envelope.manifest_sha256 = Digest::of_file(&paths.manifest()).ok();
    fill_totals(&mut envelope, totals);
    envelope.exit_status = ExitStatus::Normal;
    envelope
}

/// Every field that the run directory determines; the others are null.
fn derive(paths: &RunPaths, run_id: RunId, manifest: Option<&Manifest>, count: u64) -> Envelope {
    let config_bytes = files::read(&paths.config()).unwrap_or_default();
    let config: Json = yaml::read_bytes(&config_bytes).unwrap_or(Json::Null);
    let config: config::Common = config::part(&config);
    let targets = manifest.map(|manifest| manifest.targets.as_slice()).unwrap_or_default();
    let one = targets.len() == 1;
    let each = |text: &dyn Fn(&str, &str, &str) -> String| {
        let all = targets.iter().map(|each| {
            let model = target::model_id(&each.kind, &each.config);
            text(&each.slot, &each.kind, &model)
        });
        (!targets.is_empty()).then(|| all.collect::<Vec<_>>().join(","))
    };
    let named = |slot: &str, value: &str| if one { value.to_owned() } else { format!("{slot}={value}") };
    Envelope {
        schema_version: envelope::SCHEMA_VERSION.to_owned(),
        run_id,
        run_instance_id: instance_of(paths, run_id),
        suite: manifest.map(|m| m.suite_id.clone()).unwrap_or(config.suite_id),
        model_id: each(&|slot, _, model| named(slot, model)),
        backend: each(&|slot, kind, _| named(slot, kind)),
        seed: manifest.map_or(config.seed, |manifest| manifest.seed),
        lane: None,
        variant: each(&|slot, _, _| slot.to_owned()),
        git_commit: None,
        suite_sha256: manifest.map(|manifest| manifest.suite_digests().0),
        suite_file_sha256: manifest.and_then(|manifest| manifest.suite_digests().1),
        timeout_per_case: config.timeout_ms.div_ceil(1000),
        total_cases_expected: manifest.map_or(count, |manifest| manifest.record_count),
        total_cases_completed: 0,
        run_start_ts_utc: None,
        run_end_ts_utc: None,
        exit_status: ExitStatus::InProgress,
        determinism_hash: None,
        receipt_path: receipt_path(paths),
        receipt_sha256: None,
        suite_content_sha256: manifest.map(|manifest| manifest.suite_content_sha256),
        spec_digest: Some(Digest::of(&config_bytes)),
        manifest_sha256: None,
        git_dirty: None,
        tool_sha256: None,
        cases_assessed: 0,
        cases_timed_out: 0,
        cases_errored: 0,
        cases_unparsed: 0,
        sandbox_tier: None,
        resumed_from: Vec::new(),
        host: None,
        pid: None,
        boot_id: None,
        error: None,
        details: Json::Null,
    }
}

/// The instance id is in the directory's name, where the name was ours to choose.
pub fn instance_of(paths: &RunPaths, run_id: RunId) -> Option<String> {
    let name = paths.dir.file_name()?;
    name.strip_prefix(&format!("{run_id}__")).map(str::to_owned)
}
