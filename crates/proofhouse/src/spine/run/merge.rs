//! Parts of a plan become one run: their records in the plan's order, byte for byte what one machine would have written.
//!
//! Every part is verified before anything is written. Records are merged by their index in a fixed amount of memory, however many
//! parts there are, and no part is held open: a thousand of them are more files than a process may have.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};

use camino::Utf8PathBuf;
use proofhouse_ledger::envelope::{Envelope, ExitStatus};
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::json::{Object, to_json};
use proofhouse_ledger::manifest::{Manifest, Shard};
use proofhouse_ledger::record::{Line, Spans};
use proofhouse_ledger::spine::Spine;
use proofhouse_ledger::totals::{Facts, Totalling, Totals};
use proofhouse_ledger::write::{self, LockError, RunLock, SwapError};
use proofhouse_ledger::{Digest, Json, Part, RunPaths, canonical, verify};

use super::recover::derived_envelope;
use super::{clock, host};

/// What all readers of parts hold together, in bytes.
const BUFFER_BYTES: usize = 24 << 20;

/// Why parts cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// Another process is at it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is something in the place of the result.
    #[error("`{0}` is there already")]
    Exists(Utf8PathBuf),
    /// A part is not what it should be.
    #[error("`{dir}` cannot be merged: {why}")]
    Refused {
        /// The part.
        dir: Utf8PathBuf,
        /// In what way.
        why: String,
    },
    /// Parts that nobody gave.
    #[error("{count} shards of `{of}` {are} missing: {names}", count = .missing.len(), names = names(.missing), are = if .missing.len() == 1 { "is" } else { "are" })]
    Missing {
        /// The run.
        of: String,
        /// Which.
        missing: Vec<Part>,
    },
    /// The parts do not add up to the plan.
    #[error("the shards do not add up to the plan: {0}")]
    Coverage(String),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The exchange with an older run.
    #[error(transparent)]
    Swap(#[from] SwapError),
}

/// The first few parts by name.
fn names(parts: &[Part]) -> String {
    const FEW: usize = 10;
    let mut text = parts.iter().take(FEW).map(Part::to_string).collect::<Vec<_>>().join(", ");
    if parts.len() > FEW {
        text.push_str(&format!(" and {} more", parts.len() - FEW));
    }
    text
}

/// A part that was verified.
struct Verified {
    paths: RunPaths,
    manifest: Manifest,
    envelope: Envelope,
    shard: Shard,
}

/// A merge whose records are written; summary and report are still to be derived.
pub struct Merging {
    lock: RunLock,
    paths: RunPaths,
    /// Where it is written.
    pub work: RunPaths,
    /// The manifest but for the summary's digest.
    manifest: Manifest,
    totals: Totals,
    envelopes: Vec<(Part, Envelope)>,
}

/// Verifies the parts and writes their records in the plan's order.
///
/// # Errors
/// Where a part is unsound, foreign, doubled or missing, each by name; nothing is written then.
pub fn begin_merge(parts: &[RunPaths], into: &RunPaths, overwrite: bool) -> Result<Merging, MergeError> {
    let verified = verify_all(parts)?;
    let lock = RunLock::acquire(into, std::process::id())?;
    write::finish_swap(into)?;
    if into.dir.exists() && !write::is_run_dir(&into.dir) {
        return Err(SwapError::NotARun(into.dir.to_string()).into());
    }
    if (into.dir.exists() || into.envelope().exists()) && !overwrite {
        return Err(MergeError::Exists(into.dir.clone()));
    }
    write::discard_next(into)?;
    let work = into.next();
    std::fs::create_dir_all(&work.dir).map_err(FileError::new("create", &work.dir))?;
    let outcome = write_all(&verified, &work);
    let totals = outcome.inspect_err(|_| {
        // Nothing of a merge that failed is of use to anybody.
        let _ = write::discard_next(into);
    })?;
    let manifest = whole_manifest(&verified, &totals);
    let envelopes = verified.into_iter().map(|part| (part.shard.part, part.envelope)).collect();
    Ok(Merging { lock, paths: into.clone(), work, manifest, totals, envelopes })
}

/// Verifies every part, and that they are all parts of one plan, each there once. In the order of the parts.
fn verify_all(parts: &[RunPaths]) -> Result<Vec<Verified>, MergeError> {
    let mut found: BTreeMap<Part, Verified> = BTreeMap::new();
    for paths in parts {
        let part = verify_one(paths)?;
        let refuse = |why: String| MergeError::Refused { dir: paths.dir.clone(), why };
        if let Some(first) = found.values().next() {
            same_plan(first, &part)
                .map_err(|what| refuse(format!("its {what} is not that of `{}`", first.paths.dir)))?;
        }
        if let Some(twice) = found.get(&part.shard.part) {
            return Err(refuse(format!("`{}` is shard {} too", twice.paths.dir, part.shard.part)));
        }
        found.insert(part.shard.part, part);
    }
    let Some(first) = found.values().next() else {
        return Err(MergeError::Coverage("there is none".to_owned()));
    };
    let count = first.shard.part.count;
    let all = (0..count).filter_map(|index| Part::new(index, count).ok());
    let missing: Vec<Part> = all.filter(|part| !found.contains_key(part)).collect();
    if !missing.is_empty() {
        let of = format!("{} {}", first.manifest.suite_id, first.manifest.run_id);
        return Err(MergeError::Missing { of, missing });
    }
    Ok(found.into_values().collect())
}

fn verify_one(paths: &RunPaths) -> Result<Verified, MergeError> {
    let refuse = |why: String| MergeError::Refused { dir: paths.dir.clone(), why };
    if !paths.dir.is_dir() {
        return Err(refuse("there is no such directory".to_owned()));
    }
    let checked = verify::verify(paths, |_| {})?;
    if let Some(finding) = checked.findings.list.first() {
        let more = checked.findings.total - 1;
        let more = if more > 0 { format!(" (and {more} more findings)") } else { String::new() };
        return Err(refuse(format!("it is not sound: {finding}{more}")));
    }
    let Some(manifest) = checked.manifest else {
        return Err(refuse(format!("it is not whole: {} trials are recorded", checked.totals.count)));
    };
    let Some(envelope) = checked.envelope else {
        return Err(refuse("it has no envelope, so that nobody knows how it ended".to_owned()));
    };
    if envelope.exit_status != ExitStatus::Normal {
        return Err(refuse("it did not end normally".to_owned()));
    }
    if manifest.proofhouse_version != env!("CARGO_PKG_VERSION") {
        let (theirs, ours) = (&manifest.proofhouse_version, env!("CARGO_PKG_VERSION"));
        return Err(refuse(format!("proofhouse {theirs} made it, this is {ours}")));
    }
    match manifest.shard {
        Some(shard) => Ok(Verified { paths: paths.clone(), manifest, envelope, shard }),
        None => Err(refuse("it is a whole run, not a shard".to_owned())),
    }
}

/// What two parts of one plan have in common; the first thing in which these differ.
fn same_plan(a: &Verified, b: &Verified) -> Result<(), &'static str> {
    let same = [
        ("run id", a.manifest.run_id == b.manifest.run_id),
        ("configuration", a.manifest.config_sha256 == b.manifest.config_sha256),
        ("plan", a.shard.plan_sha256 == b.shard.plan_sha256 && a.shard.plan_count == b.shard.plan_count),
        ("number of shards", a.shard.part.count == b.shard.part.count),
        ("suite file", a.manifest.suite_sha256 == b.manifest.suite_sha256),
        ("sandbox policy", a.manifest.sandbox == b.manifest.sandbox),
        ("sandbox tier", a.envelope.sandbox_tier == b.envelope.sandbox_tier),
        ("lane", a.envelope.lane == b.envelope.lane),
        (
            "toolchain",
            a.manifest.toolchains.iter().all(|(name, version)| {
                b.manifest.toolchains.get(name).is_none_or(|theirs| theirs == version)
            }),
        ),
    ];
    match same.iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(what),
        None => Ok(()),
    }
}

/// The records, the configuration and the telemetry of all parts.
fn write_all(parts: &[Verified], work: &RunPaths) -> Result<Totals, MergeError> {
    let config = files::read(&parts[0].paths.config())?;
    files::write_synced(&work.config(), &config)?;
    let path = work.records();
    let file = File::create(&path).map_err(FileError::new("create", &path))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let totals = write_records(parts, &mut out)?;
    let file = out.into_inner().map_err(|error| FileError::new("write", &path)(error.into_error()))?;
    file.sync_all().map_err(FileError::new("sync", &path))?;
    let shard = parts[0].shard;
    if totals.count != shard.plan_count || totals.plan_sha256 != shard.plan_sha256 {
        let (found, planned) = (totals.count, shard.plan_count);
        return Err(MergeError::Coverage(format!(
            "{found} of {planned} trials, or other ones, are recorded"
        )));
    }
    for part in parts {
        let telemetry = part.paths.telemetry();
        if telemetry.exists() {
            append_file(&telemetry, &work.telemetry())?;
        }
    }
    Ok(totals)
}

/// Telemetry is nobody's proof: it is put together in the order of the parts.
fn append_file(from: &Utf8PathBuf, to: &Utf8PathBuf) -> Result<(), FileError> {
    let mut source = File::open(from).map_err(FileError::new("open", from))?;
    let mut target =
        File::options().append(true).create(true).open(to).map_err(FileError::new("open", to))?;
    std::io::copy(&mut source, &mut target).map_err(FileError::new("copy", from))?;
    Ok(())
}

fn write_records(parts: &[Verified], out: &mut BufWriter<File>) -> Result<Totals, MergeError> {
    let share = (BUFFER_BYTES / parts.len()).clamp(4 << 10, 1 << 20);
    let mut readers: Vec<PartReader> =
        parts.iter().map(|part| PartReader::new(part.paths.records(), share)).collect();
    let mut queue = BinaryHeap::new();
    for (place, reader) in readers.iter_mut().enumerate() {
        if let Some(index) = reader.advance()? {
            queue.push(Reverse((index, place)));
        }
    }
    let mut totals = Totalling::default();
    let mut spans = Spans::default();
    while let Some(Reverse((index, place))) = queue.pop() {
        if index != totals.count() {
            let expected = totals.count();
            let what = match index < expected {
                true => format!("trial {index} is there twice"),
                false => format!("trial {expected} is missing"),
            };
            return Err(MergeError::Coverage(what));
        }
        let reader = &mut readers[place];
        let line = reader.line();
        let facts = Line::split(&line[..line.len() - 1], &mut spans).and_then(|line| Facts::of(&line));
        let facts = facts.map_err(|damage| reader.changed(&damage.to_string()))?;
        totals.push(&facts);
        totals.bytes(line);
        out.write_all(line).map_err(FileError::new("write", &reader.path))?;
        if let Some(index) = reader.advance()? {
            queue.push(Reverse((index, place)));
        }
    }
    Ok(totals.finish())
}

/// One part's records, line by line, without holding the file open.
struct PartReader {
    path: Utf8PathBuf,
    share: usize,
    offset: u64,
    block: Vec<u8>,
    /// Where the present line begins and ends in the block.
    line: std::ops::Range<usize>,
}

impl PartReader {
    fn new(path: Utf8PathBuf, share: usize) -> Self {
        Self { path, share, offset: 0, block: Vec::new(), line: 0..0 }
    }

    fn line(&self) -> &[u8] {
        &self.block[self.line.clone()]
    }

    fn changed(&self, what: &str) -> MergeError {
        let dir = self.path.parent().map(ToOwned::to_owned).unwrap_or_default();
        MergeError::Refused { dir, why: format!("it changed while it was merged: {what}") }
    }

    /// Goes to the next line and gives its index; nothing at the end.
    fn advance(&mut self) -> Result<Option<u64>, MergeError> {
        let from = self.line.end;
        let end = loop {
            if let Some(end) = memchr::memchr(b'\n', &self.block[self.line.end.max(from)..]) {
                break self.line.end + end + 1;
            }
            if !self.fill()? {
                return match self.block.len() == self.line.end {
                    true => Ok(None),
                    false => Err(self.changed("its last line has no end")),
                };
            }
        };
        self.line = self.line.end..end;
        let mut spans = Spans::default();
        let line = self.line();
        let index = Line::split(&line[..line.len() - 1], &mut spans).and_then(|line| line.index());
        index.map(Some).map_err(|damage| self.changed(&damage.to_string()))
    }

    /// Reads on; false at the end of the file.
    fn fill(&mut self) -> Result<bool, MergeError> {
        self.block.drain(..self.line.end);
        self.line = 0..0;
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.offset))?;
            file.take(self.share as u64).read_to_end(&mut self.block)
        });
        let read = read.map_err(FileError::new("read", &self.path))?;
        self.offset += read as u64;
        Ok(read > 0)
    }
}

/// The manifest of the whole, but for what is derived later.
fn whole_manifest(parts: &[Verified], totals: &Totals) -> Manifest {
    let first = &parts[0].manifest;
    let mut toolchains = BTreeMap::new();
    for part in parts {
        toolchains.extend(part.manifest.toolchains.clone());
    }
    let spine = Spine::new(&first.run_id);
    Manifest {
        plan_sha256: totals.plan_sha256,
        record_count: totals.count,
        counts: totals.counts.clone(),
        records_sha256: totals.records_sha256,
        records_merkle_root: totals.merkle_root,
        toolchains,
        completed_at: match first.determinism.deterministic_artifacts {
            true => spine.run_end(totals.count).to_string(),
            false => parts.iter().map(|part| part.manifest.completed_at.clone()).max().unwrap_or_default(),
        },
        started_at: match first.determinism.deterministic_artifacts {
            true => spine.run_start().to_string(),
            false => parts.iter().map(|part| part.manifest.started_at.clone()).min().unwrap_or_default(),
        },
        shard: None,
        ..first.clone()
    }
}

impl Merging {
    /// Writes the manifest of a run whose summary is written.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write_manifest(&self, summary: &[u8]) -> Result<(), FileError> {
        let manifest = Manifest { summary_sha256: Digest::of(summary), ..self.manifest.clone() };
        let bytes = canonical::to_file(&manifest).expect("a manifest is plain data");
        files::write_atomic(&self.work.manifest(), &bytes)
    }

    /// Puts the whole run in its place, with an envelope that lists its parts.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn seal(self) -> Result<Envelope, MergeError> {
        let Merging { lock, paths, work, manifest, totals, envelopes } = self;
        let mut envelope = derived_envelope(&paths, &manifest, &totals);
        envelope.spec_digest = Some(manifest.config_sha256);
        envelope.timeout_per_case = envelopes[0].1.timeout_per_case;
        envelope.run_instance_id.get_or_insert_with(|| clock::now().compact());
        let each = || envelopes.iter().map(|(_, envelope)| envelope);
        envelope.lane.clone_from(&envelopes[0].1.lane);
        envelope.sandbox_tier.clone_from(&envelopes[0].1.sandbox_tier);
        envelope.run_start_ts_utc = each().filter_map(|part| part.run_start_ts_utc.clone()).min();
        envelope.run_end_ts_utc = Some(clock::now().to_string());
        let same_commit = each().all(|part| part.git_commit == envelopes[0].1.git_commit);
        envelope.git_commit = envelopes[0].1.git_commit.clone().filter(|_| same_commit);
        let same_tool = each().all(|part| part.tool_sha256 == envelopes[0].1.tool_sha256);
        envelope.tool_sha256 = envelopes[0].1.tool_sha256.filter(|_| same_tool);
        let same_tree = each().all(|part| part.git_dirty == envelopes[0].1.git_dirty);
        envelope.git_dirty = envelopes[0].1.git_dirty.filter(|_| same_tree);
        envelope.host = host::name();
        envelope.pid = Some(std::process::id());
        envelope.boot_id = host::boot_id();
        envelope.details = details(&envelopes);
        envelope.manifest_sha256 = Digest::of_file(&work.manifest()).ok();
        let bytes = canonical::to_file(&envelope).expect("an envelope of a run of ours holds safe integers");
        write::end(&work, &paths, &bytes, true)?;
        drop(lock);
        Ok(envelope)
    }
}

/// What the first part says of its kind, and every part by its name, host and digest.
fn details(envelopes: &[(Part, Envelope)]) -> Json {
    let mut details: Object = envelopes[0].1.details.as_object().cloned().unwrap_or_default();
    details.remove(proofhouse_ledger::envelope::SHARD);
    let parts = envelopes.iter().map(|(part, envelope)| {
        let text = |value: &Option<String>| value.as_deref().map_or(Json::Null, Json::from);
        Json::Object(
            [
                ("host", text(&envelope.host)),
                ("run_end_ts_utc", text(&envelope.run_end_ts_utc)),
                ("run_start_ts_utc", text(&envelope.run_start_ts_utc)),
                ("records_sha256", text(&envelope.receipt_sha256.map(|digest| digest.to_string()))),
                ("shard", Json::from(part.to_string())),
                ("trials", to_json(&envelope.total_cases_completed).unwrap_or(Json::Null)),
            ]
            .into_iter()
            .collect(),
        )
    });
    details.set("shards", Json::Array(parts.collect()));
    Json::Object(details)
}
