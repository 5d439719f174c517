//! One side of a comparison: what its manifest and envelope say, and what every one of its records must say.

use std::io::ErrorKind;

use camino::Utf8Path;
use proofhouse_ledger::envelope::{Envelope, ExitStatus};
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::json::Object;
use proofhouse_ledger::manifest::{Dataset, Determinism, Manifest};
use proofhouse_ledger::record::{HEAD, Line, Spans};
use proofhouse_ledger::spine::{Spine, Stamp};
use proofhouse_ledger::{Digest, Json, RunId, RunPaths};
use serde::de::DeserializeOwned;

use super::DiffError;
use super::cursor::Cursor;
use super::fields::Rules;
use super::findings::Walked;
use super::report::Side;

/// A run directory, opened.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) paths: RunPaths,
    pub(super) manifest: Option<Manifest>,
    pub(super) identity: Identity,
    /// Why the run is not whole, as far as its other files tell.
    problems: Vec<String>,
    sandbox_tier: Option<String>,
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
        let envelope: Option<Envelope> = side_file(&paths.envelope(), &mut problems)?;
        if let Some(exit_status) = envelope.as_ref().map(|envelope| envelope.exit_status)
            && exit_status != ExitStatus::Normal
        {
            problems.push(format!("its envelope says `{}`", exit_word(exit_status)));
        }
        let first = if records.ready()? { records.line() } else { b"" };
        let identity = Identity::new(side, manifest.as_ref(), first);
        let sandbox_tier = envelope.and_then(|envelope| envelope.sandbox_tier);
        Ok(Self { paths: paths.clone(), manifest, identity, problems, sandbox_tier })
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

/// What differs between the runs as a whole: the records were compared, but the reader should know.
pub(super) fn warnings(a: &Run, b: &Run) -> Vec<String> {
    let mut warnings = Vec::new();
    if let (Some(a), Some(b)) = (&a.manifest, &b.manifest) {
        warnings.extend(targets(a, b));
        let mut differ = |differs: bool, what: &str, old: String, new: String| {
            if differs {
                warnings.push(format!("{what}: {} → {}", short(&old), short(&new)));
            }
        };
        differ(a.suite_id != b.suite_id, "the suites differ", a.suite_id.clone(), b.suite_id.clone());
        differ(a.kind != b.kind, "the kinds of suite differ", a.kind.as_str().into(), b.kind.as_str().into());
        let (suite_a, suite_b) = (a.suite_content_sha256, b.suite_content_sha256);
        differ(suite_a != suite_b, "the suites' content differs", digest(&suite_a), digest(&suite_b));
        let (old, new) = (datasets(&a.datasets, &b.datasets), datasets(&b.datasets, &a.datasets));
        differ(a.datasets != b.datasets, "the datasets differ", old, new);
        differ(a.seed != b.seed, "the seeds differ", a.seed.to_string(), b.seed.to_string());
        let (old, new) = (a.proofhouse_version.clone(), b.proofhouse_version.clone());
        differ(old != new, "the versions of proofhouse differ", old, new);
        differ(a.toolchains != b.toolchains, "the toolchains differ", toolchains(a, b), toolchains(b, a));
        differ(a.sandbox != b.sandbox, "the sandboxes differ", a.sandbox.to_string(), b.sandbox.to_string());
        let (old, new) = (a.determinism, b.determinism);
        differ(old != new, "the determinism flags differ", determinism(old), determinism(new));
        if !old.deterministic_artifacts || !new.deterministic_artifacts {
            warnings.push(
                "wall-clock times are in the records and differ in each: `--ignore /started_at --ignore \
                 /completed_at --ignore /latency_ms` leaves them out"
                    .to_owned(),
            );
        }
    }
    if let (Some(old), Some(new)) = (&a.sandbox_tier, &b.sandbox_tier)
        && old != new
    {
        warnings.push(format!("the sandbox tiers reached differ: {old} → {new}"));
    }
    warnings
}

fn short(text: &str) -> String {
    const MAX_CHARS: usize = 160;
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn digest(digest: &Digest) -> String {
    digest.to_string()[..12].to_owned()
}

/// Those of `ours` that `theirs` does not have as well.
fn datasets(ours: &[Dataset], theirs: &[Dataset]) -> String {
    let own = ours.iter().filter(|dataset| !theirs.contains(dataset)).map(|dataset| {
        let hash = dataset.dataset_hash.trim_start_matches("sha256:");
        format!("{} ({} rows, {})", dataset.path, dataset.rows, hash.get(..12).unwrap_or(hash))
    });
    list(own)
}

/// A line for each slot that is not the same on both sides; for settings, where they differ.
fn targets(a: &Manifest, b: &Manifest) -> Vec<String> {
    const MOST: usize = 4;
    let of = |side: &Manifest, slot: &str| side.targets.iter().find(|target| target.slot == slot).cloned();
    let only = |ours: &Manifest, theirs: &Manifest, side: &str| -> Vec<String> {
        let own = ours.targets.iter().filter(|target| of(theirs, &target.slot).is_none());
        own.map(|target| format!("target {} is only in {side}", target.slot)).collect()
    };
    let mut lines = only(a, b, "A");
    lines.extend(only(b, a, "B"));
    for old in &a.targets {
        let Some(new) = of(b, &old.slot).filter(|new| new != old) else { continue };
        let mut places = Vec::new();
        places_that_differ(&old.config, &new.config, &mut String::new(), &mut places);
        let more = places.len().saturating_sub(MOST);
        places.truncate(MOST);
        let more = if more > 0 { format!(" and {more} more places") } else { String::new() };
        lines.push(format!("the settings of target {} differ at {}{more}", old.slot, places.join(", ")));
    }
    lines
}

/// The pointers of what differs, down to single values; lists of another length differ as a whole.
fn places_that_differ(a: &Json, b: &Json, at: &mut String, places: &mut Vec<String>) {
    let mut into = |key: String, a: &Json, b: &Json| {
        let length = at.len();
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        places_that_differ(a, b, at, places);
        at.truncate(length);
    };
    match (a, b) {
        _ if a == b => {}
        (Json::Object(old), Json::Object(new)) => {
            let keys: std::collections::BTreeSet<&str> =
                old.iter().chain(new.iter()).map(|(key, _)| key).collect();
            for key in keys {
                let value = |side: &Object| side.get(key).cloned().unwrap_or_default();
                into(key.to_owned(), &value(old), &value(new));
            }
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                into(index.to_string(), old, new);
            }
        }
        _ => places.push(at.clone()),
    }
}

fn toolchains(ours: &Manifest, theirs: &Manifest) -> String {
    let own = ours.toolchains.iter().filter(|(name, version)| theirs.toolchains.get(*name) != Some(version));
    list(own.map(|(name, version)| format!("{name} {version}")))
}

fn determinism(flags: Determinism) -> String {
    let Determinism { strict_serialization, deterministic_artifacts } = flags;
    format!("strict_serialization {strict_serialization}, deterministic_artifacts {deterministic_artifacts}")
}

fn list(items: impl Iterator<Item = String>) -> String {
    let joined = items.collect::<Vec<_>>().join(", ");
    if joined.is_empty() { "none".to_owned() } else { joined }
}
