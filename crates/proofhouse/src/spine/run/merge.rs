//! Parts of a plan become one run: their records in the plan's order, byte for byte what one machine would have written.
//!
//! Every part is verified before anything is written. Trials of parts that are not there can be recorded as not run, which needs
//! the suite: parts know their own trials alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::envelope::{Envelope, ExitStatus};
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::manifest::{Manifest, Shard};
use proofhouse_ledger::totals::Totals;
use proofhouse_ledger::write::{self, LockError, RunLock, SwapError};
use proofhouse_ledger::{Digest, Part, RunId, RunPaths, verify};

use super::job::{Job, NotRunError};

mod records;
mod whole;

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
    #[error("{}", missing_said(.of, .missing))]
    Missing {
        /// The run.
        of: String,
        /// Which.
        missing: BTreeSet<Part>,
    },
    /// The suite that should say what is missing is another one.
    #[error("the shards are of run {theirs}, the suite and its data now make run {ours}")]
    OtherSuite {
        /// What the parts say.
        theirs: RunId,
        /// What the suite says.
        ours: RunId,
    },
    /// Trials that nobody ran could not be recorded.
    #[error(transparent)]
    NotRun(#[from] NotRunError),
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

fn missing_said(of: &str, missing: &BTreeSet<Part>) -> String {
    let names = names(missing);
    match missing.len() {
        1 => format!("1 shard of `{of}` is missing: {names}"),
        more => format!("{more} shards of `{of}` are missing: {names}"),
    }
}

/// The first few parts by name.
pub fn names(parts: &BTreeSet<Part>) -> String {
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

/// What is remembered of a part, of which there may be ten thousand: what all have in common is remembered of the first alone.
struct Kept {
    paths: RunPaths,
    part: Part,
    toolchains: BTreeMap<String, String>,
    started_at: String,
    completed_at: String,
    run_start_ts_utc: Option<String>,
    run_end_ts_utc: Option<String>,
    host: Option<String>,
    git: (Option<String>, Option<bool>),
    tool_sha256: Option<Digest>,
    records_sha256: Option<Digest>,
    trials: u64,
}

impl Kept {
    fn of(part: &Verified) -> Kept {
        let Verified { paths, manifest, envelope, shard } = part;
        Kept {
            paths: paths.clone(),
            part: shard.part,
            toolchains: manifest.toolchains.clone(),
            started_at: manifest.started_at.clone(),
            completed_at: manifest.completed_at.clone(),
            run_start_ts_utc: envelope.run_start_ts_utc.clone(),
            run_end_ts_utc: envelope.run_end_ts_utc.clone(),
            host: envelope.host.clone(),
            git: (envelope.git_commit.clone(), envelope.git_dirty),
            tool_sha256: envelope.tool_sha256,
            records_sha256: envelope.receipt_sha256,
            trials: envelope.total_cases_completed,
        }
    }
}

/// Why a part is not one of those that are merged.
enum Unfit {
    /// It is not there, not whole or not sound: it can be run again.
    Broken(String),
    /// It is something else: whoever named it meant another one.
    Foreign(String),
    /// A file cannot be read.
    File(FileError),
}

/// What may be done about what is there and what is not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms<'a> {
    /// Whether a run in the place of the result is replaced.
    pub overwrite: bool,
    /// The suite, where trials of parts that are missing or broken are recorded as not run.
    pub missing_of: Option<&'a Job>,
}

/// A merge whose records are written; summary and report are still to be derived.
pub struct Merging {
    lock: RunLock,
    paths: RunPaths,
    /// Where it is written.
    pub work: RunPaths,
    /// Parts whose trials are recorded as not run.
    pub missing: BTreeSet<Part>,
    /// Directories that are as good as missing, and why.
    pub broken: Vec<(Utf8PathBuf, String)>,
    /// The manifest but for the summary's digest.
    manifest: Manifest,
    totals: Totals,
    /// The envelope of the first part.
    first: Envelope,
    parts: Vec<Kept>,
}

/// Verifies the parts and writes their records in the plan's order.
///
/// # Errors
/// Where a part is unsound, foreign, doubled or missing, each by name; nothing is written then.
pub fn begin_merge(parts: &[RunPaths], into: &RunPaths, terms: Terms<'_>) -> Result<Merging, MergeError> {
    let GivenShards { first, parts, missing, broken } = verify_all(parts, terms.missing_of.is_some())?;
    if let Some(job) = terms.missing_of {
        let (theirs, ours) = (first.manifest.run_id, job.run_id());
        if theirs != ours {
            return Err(MergeError::OtherSuite { theirs, ours });
        }
    }
    let lock = RunLock::acquire(into, std::process::id())?;
    write::finish_swap(into)?;
    if into.dir.exists() && !write::is_run_dir(&into.dir) {
        return Err(SwapError::NotARun(into.dir.to_string()).into());
    }
    if (into.dir.exists() || into.envelope().exists()) && !terms.overwrite {
        return Err(MergeError::Exists(into.dir.clone()));
    }
    write::discard_next(into)?;
    let work = into.next();
    std::fs::create_dir_all(&work.dir).map_err(FileError::new("create", &work.dir))?;
    let gaps = terms.missing_of.filter(|_| !missing.is_empty()).map(|job| (job, &missing));
    let outcome = write_all((&first, &parts), gaps, &work);
    let totals = outcome.inspect_err(|_| {
        // Nothing of a merge that failed is of use to anybody.
        let _ = write::discard_next(into);
    })?;
    let manifest = whole::manifest(&first.manifest, &parts, &totals);
    let (paths, first) = (into.clone(), first.envelope);
    Ok(Merging { lock, paths, work, missing, broken, manifest, totals, first, parts })
}

/// What was given, in the order of the parts.
struct GivenShards {
    first: Verified,
    parts: Vec<Kept>,
    missing: BTreeSet<Part>,
    broken: Vec<(Utf8PathBuf, String)>,
}

/// Verifies every part, and that they are all parts of one plan, each there once.
fn verify_all(parts: &[RunPaths], may_miss: bool) -> Result<GivenShards, MergeError> {
    let mut first: Option<Verified> = None;
    let mut found: BTreeMap<Part, Kept> = BTreeMap::new();
    let mut broken = Vec::new();
    for paths in parts {
        let refuse = |why: String| MergeError::Refused { dir: paths.dir.clone(), why };
        let part = match verify_one(paths) {
            Ok(part) => part,
            Err(Unfit::File(error)) => return Err(error.into()),
            Err(Unfit::Broken(why)) if may_miss => {
                broken.push((paths.dir.clone(), why));
                continue;
            }
            Err(Unfit::Broken(why) | Unfit::Foreign(why)) => return Err(refuse(why)),
        };
        if let Some(first) = &first {
            same_plan(first, &part)
                .map_err(|what| refuse(format!("its {what} is not that of `{}`", first.paths.dir)))?;
        }
        if let Some(twice) = found.get(&part.shard.part) {
            return Err(refuse(format!("`{}` is shard {} too", twice.paths.dir, part.shard.part)));
        }
        found.insert(part.shard.part, Kept::of(&part));
        // The one with the least number, in whatever order they are given.
        if first.as_ref().is_none_or(|first| part.shard.part < first.shard.part) {
            first = Some(part);
        }
    }
    let Some(first) = first else {
        return Err(match broken.into_iter().next() {
            Some((dir, why)) => MergeError::Refused { dir, why },
            None => MergeError::Coverage("there is none".to_owned()),
        });
    };
    let count = first.shard.part.count;
    let all = (0..count).filter_map(|index| Part::new(index, count).ok());
    let missing: BTreeSet<Part> = all.filter(|part| !found.contains_key(part)).collect();
    if !missing.is_empty() && !may_miss {
        let of = format!("{} {}", first.manifest.suite_id, first.manifest.run_id);
        return Err(MergeError::Missing { of, missing });
    }
    Ok(GivenShards { first, parts: found.into_values().collect(), missing, broken })
}

fn verify_one(paths: &RunPaths) -> Result<Verified, Unfit> {
    let broken = |why: &str| Unfit::Broken(why.to_owned());
    if !paths.dir.is_dir() {
        return Err(broken("there is no such directory"));
    }
    if RunLock::is_held(paths) {
        return Err(broken("it is still running"));
    }
    let checked = verify::verify(paths, |_| {}).map_err(Unfit::File)?;
    // Before anything else is held against it: another version may have meant it so.
    let version = checked.manifest.as_ref().map(|manifest| manifest.proofhouse_version.as_str());
    if let Some(theirs) = version.filter(|theirs| *theirs != env!("CARGO_PKG_VERSION")) {
        let ours = env!("CARGO_PKG_VERSION");
        return Err(Unfit::Foreign(format!("proofhouse {theirs} made it, this is {ours}")));
    }
    if let Some(finding) = checked.findings.list.first() {
        let more = checked.findings.total - 1;
        let more = if more > 0 { format!(" (and {more} more findings)") } else { String::new() };
        return Err(Unfit::Broken(format!("it is not sound: {finding}{more}")));
    }
    let Some(manifest) = checked.manifest else {
        let recorded = checked.totals.count;
        return Err(Unfit::Broken(format!("it is not complete: {recorded} trials are recorded")));
    };
    let Some(envelope) = checked.envelope else {
        return Err(broken("it has no envelope, so nobody knows how it ended"));
    };
    if envelope.exit_status != ExitStatus::Normal {
        return Err(broken("it did not end normally"));
    }
    match manifest.shard {
        Some(shard) => Ok(Verified { paths: paths.clone(), manifest, envelope, shard }),
        None => Err(Unfit::Foreign("it is a whole run, not a shard".to_owned())),
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
fn write_all(
    (first, parts): (&Verified, &[Kept]),
    gaps: Option<(&Job, &BTreeSet<Part>)>,
    work: &RunPaths,
) -> Result<Totals, MergeError> {
    let config = files::read(&first.paths.config())?;
    files::write_synced(&work.config(), &config)?;
    let mut sources: Vec<Utf8PathBuf> = parts.iter().map(|part| part.paths.records()).collect();
    let not_run = work.journal();
    if let Some((job, missing)) = gaps {
        write_not_run(job, missing, &not_run)?;
        sources.push(not_run.clone());
    }
    let totals = records::write(&sources, &work.records())?;
    files::remove_if_there(&not_run)?;
    let shard = first.shard;
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

/// Records of trials that nobody ran, in a file beside the others.
fn write_not_run(job: &Job, missing: &BTreeSet<Part>, to: &Utf8Path) -> Result<(), MergeError> {
    let file = File::create(to).map_err(FileError::new("create", to))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    job.not_run(missing, &mut |line| out.write_all(line).map_err(FileError::new("write", to)))?;
    Ok(out.flush().map_err(FileError::new("write", to))?)
}

/// Telemetry is nobody's proof: it is put together in the order of the parts.
fn append_file(from: &Utf8PathBuf, to: &Utf8PathBuf) -> Result<(), FileError> {
    let mut source = File::open(from).map_err(FileError::new("open", from))?;
    let mut target =
        File::options().append(true).create(true).open(to).map_err(FileError::new("open", to))?;
    std::io::copy(&mut source, &mut target).map_err(FileError::new("copy", from))?;
    Ok(())
}
