//! One side of a comparison: what its manifest and envelope say, and what every one of its records must say.

use std::io::ErrorKind;

use camino::Utf8Path;
use proofhouse_ledger::envelope::{Envelope, ExitStatus};
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::record::{HEAD, Line, Spans};
use proofhouse_ledger::spine::{Spine, Stamp, StampTexts};
use proofhouse_ledger::{Digest, Json, RunId, RunPaths};
use serde::de::DeserializeOwned;

use super::DiffError;
use super::cursor::Cursor;
use super::fields::Rules;
use super::findings::Walked;
use super::report::Side;
use crate::text::yaml;

/// A run directory, opened.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) paths: RunPaths,
    pub(super) manifest: Option<Manifest>,
    pub(super) identity: Identity,
    /// Why the run is not whole, as far as its other files tell.
    problems: Vec<String>,
    pub(super) sandbox_tier: Option<String>,
    /// `config.resolved.yaml`; null where it cannot be read.
    pub(super) config: Json,
}

/// What a run's identity decides in each of its records.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) side: Side,
    pub(super) run_id: Option<RunId>,
    /// The run id as it stands in a line, quotes included.
    pub(super) run_id_raw: Vec<u8>,
    pub(super) spine: Option<Spine>,
    /// Whether timestamps are on the spine.
    pub(super) deterministic: bool,
}

impl Run {
    pub(super) fn open(side: Side, paths: &RunPaths) -> Result<Self, DiffError> {
        let mut problems = Vec::new();
        let mut records = match Cursor::open(&paths.records()) {
            Err(error) if error.source.kind() == ErrorKind::NotFound => {
                return Err(DiffError::NotARun(paths.dir.clone()));
            }
            other => other?,
        };
        let manifest: Option<Manifest> = side_file(&paths.manifest(), &mut problems)?;
        if manifest.is_none() && problems.is_empty() {
            problems.push("it has no manifest, so it was not finished".to_owned());
        }
        let config = config(paths, manifest.as_ref(), &mut problems);
        let envelope: Option<Envelope> = side_file(&paths.envelope(), &mut problems)?;
        if let Some(exit_status) = envelope.as_ref().map(|envelope| envelope.exit_status)
            && exit_status != ExitStatus::Normal
        {
            problems.push(format!("its envelope says `{}`", exit_word(exit_status)));
        }
        let first = if records.ready()? { records.line() } else { b"" };
        let identity = Identity::new(side, manifest.as_ref(), first);
        let sandbox_tier = envelope.and_then(|envelope| envelope.sandbox_tier);
        Ok(Self { paths: paths.clone(), manifest, identity, problems, sandbox_tier, config })
    }

    /// Why the run is not whole, now that its records were walked.
    pub(super) fn incomplete(&self, walked: &Walked) -> Vec<String> {
        let mut reasons = self.problems.clone();
        if let Some(torn) = &walked.torn {
            let (line, size) = (torn.line, torn.size_bytes);
            reasons.push(format!("line {line} is torn: {size} bytes without an end, not compared"));
        }
        if let Some(manifest) = &self.manifest
            && manifest.record_count != walked.lines
        {
            let (counted, lines) = (manifest.record_count, walked.lines);
            reasons.push(format!("its manifest counts {counted} records, the file has {lines} whole lines"));
        }
        reasons
    }
}

/// A file beside the records; that it is missing is no error, that it is unreadable is a problem of the run.
fn side_file<T: DeserializeOwned>(
    path: &Utf8Path,
    problems: &mut Vec<String>,
) -> Result<Option<T>, FileError> {
    let bytes = match files::read(path) {
        Err(error) if error.source.kind() == ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            let name = path.file_name().unwrap_or(path.as_str());
            problems.push(format!("`{name}` cannot be read: {error}"));
            Ok(None)
        }
    }
}

/// The settings of a run. A file that is missing, or is not the one that the manifest names, is a problem of the run: nothing could be
/// said of what changed in it.
fn config(paths: &RunPaths, manifest: Option<&Manifest>, problems: &mut Vec<String>) -> Json {
    let bytes = match files::read(&paths.config()) {
        Ok(bytes) => bytes,
        // A run without a manifest is called unfinished already.
        Err(_) if manifest.is_none() => return Json::Null,
        Err(error) => {
            problems.push(format!("`config.resolved.yaml` cannot be read: {}", error.source));
            return Json::Null;
        }
    };
    if manifest.is_some_and(|manifest| manifest.config_sha256 != Digest::of(&bytes)) {
        problems.push("`config.resolved.yaml` is not the one that its manifest names".to_owned());
    }
    yaml::read_bytes(&bytes).unwrap_or_else(|complaint| {
        problems.push(format!("`config.resolved.yaml` cannot be read: {}", complaint.what));
        Json::Null
    })
}

fn exit_word(status: ExitStatus) -> &'static str {
    match status {
        ExitStatus::InProgress => "in_progress",
        ExitStatus::Normal => "normal",
        ExitStatus::Timeout => "timeout",
        ExitStatus::Exception => "exception",
        ExitStatus::ExternalKill => "external_kill",
    }
}

impl Identity {
    /// From the manifest; a run without one is taken at the word of its first record.
    fn new(side: Side, manifest: Option<&Manifest>, first: &[u8]) -> Self {
        let mut spans = Spans::default();
        let line = Line::split(first, &mut spans).ok();
        let run_id = match manifest {
            Some(manifest) => Some(manifest.run_id),
            None => line.and_then(|line| line.run_id().ok()),
        };
        let mut identity = Self {
            side,
            run_id,
            run_id_raw: run_id.map(|id| format!("\"{id}\"").into_bytes()).unwrap_or_default(),
            spine: run_id.as_ref().map(Spine::new),
            deterministic: true,
        };
        identity.deterministic = match (manifest, line) {
            (Some(manifest), _) => manifest.determinism.deterministic_artifacts,
            (None, Some(line)) => identity.is_on_the_spine(&line),
            (None, None) => true,
        };
        identity
    }

    fn is_on_the_spine(&self, line: &Line<'_>) -> bool {
        let Ok(index) = line.index() else { return false };
        line.raw(HEAD.started_at).is_some_and(|raw| self.started_right(raw, index))
    }

    /// Whether `raw` is when trial `index` starts.
    pub(super) fn started_right(&self, raw: &[u8], index: u64) -> bool {
        self.spine.is_some_and(|spine| index < MAX_INDEX && is_stamp(raw, spine.started(index)))
    }

    /// Whether `raw` is when trial `index` is complete.
    pub(super) fn completed_right(&self, raw: &[u8], index: u64) -> bool {
        self.spine.is_some_and(|spine| index < MAX_INDEX && is_stamp(raw, spine.completed(index)))
    }

    /// Whether trial `index` starts and is complete when the raw `started` and `completed` say; `texts` are those of this run.
    pub(super) fn both_right(
        &self,
        (started, completed): (&[u8], &[u8]),
        index: u64,
        texts: &mut StampTexts,
    ) -> bool {
        let mut is = |raw: &[u8], stamp| matches!(raw, [b'"', text @ .., b'"'] if text == texts.of(stamp));
        self.spine.is_some_and(|spine| {
            index < MAX_INDEX && is(started, spine.started(index)) && is(completed, spine.completed(index))
        })
    }
}

/// Beyond this an index is nonsense and its place on the spine would leave the calendar.
const MAX_INDEX: u64 = 1 << 40;

fn is_stamp(raw: &[u8], stamp: Stamp) -> bool {
    matches!(raw, [b'"', text @ .., b'"'] if *text == stamp.text())
}

/// Two runs, and how their records are held against each other.
#[derive(Debug)]
pub(super) struct Pairing {
    pub(super) a: Run,
    pub(super) b: Run,
    pub(super) rules: Rules,
    /// Equal run ids: the same plan, so equal bytes are equal records and an index is content.
    pub(super) same_run: bool,
}

impl Pairing {
    pub(super) fn new(a: Run, b: Run, rules: Rules) -> Self {
        // A side without any record has no identity to differ in.
        let same_run = match (a.identity.run_id, b.identity.run_id) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        Self { a, b, rules, same_run }
    }
}
