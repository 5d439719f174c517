//! Opening a run: the lock, the directory, what an earlier instance left, and the envelope that says it has begun.
//!
//! Nothing is changed before everything that could refuse the run has been checked.

use std::thread::JoinHandle;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::envelope::{self, Envelope, ExitStatus};
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::format::{self, ReadError};
use proofhouse_ledger::manifest::Shard;
use proofhouse_ledger::part::{Part, Places};
use proofhouse_ledger::record::Line;
use proofhouse_ledger::totals::{Facts, PlanHasher};
use proofhouse_ledger::write::{self, LockError, Mismatch, ResumePoint, RunLock, StateError, SwapError};
use proofhouse_ledger::{Digest, Json, RunId, RunPaths, canonical, config};

use super::host::Git;
use super::job::Job;
use super::reuse::Reuse;
use super::{Options, clock, difference, host};
use crate::spine::plan::{Trial, Trials};
use crate::spine::suite::{self, Loaded, Problems};
use crate::text::yaml;

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process is at it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The name cannot be a run directory's.
    #[error("`{dir}` cannot be a run directory: {why}")]
    Name {
        /// What was asked for.
        dir: Utf8PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is a run already.
    #[error("`{0}` holds a run already")]
    Exists(Utf8PathBuf),
    /// There is something else.
    #[error(transparent)]
    Swap(#[from] SwapError),
    /// There is nothing to go on with.
    #[error("no unfinished run {run_id} of this suite below `{below}`")]
    NothingToResume {
        /// What was looked for.
        run_id: RunId,
        /// Where.
        below: Utf8PathBuf,
    },
    /// What is there was made from other inputs.
    #[error("`{dir}` cannot be resumed: {why}")]
    Mismatch {
        /// The run directory.
        dir: Utf8PathBuf,
        /// In what way it differs.
        why: String,
    },
    /// What is there is damaged.
    #[error("`{dir}` cannot be resumed")]
    Damaged {
        /// The run directory.
        dir: Utf8PathBuf,
        /// In what way.
        #[source]
        source: StateError,
    },
    /// What is there is of a version that this program does not know.
    #[error("`{dir}` cannot be resumed")]
    Version {
        /// The run directory.
        dir: Utf8PathBuf,
        /// Which file says so.
        #[source]
        source: ReadError,
    },
    /// The machine gives this process no further thread.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
    /// The datasets changed under our eyes.
    #[error("{0}")]
    Suite(Problems),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl OpenError {
    /// The command or flag that helps.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            OpenError::Lock(LockError::Held { .. }) => {
                "wait for it, or choose another `--run-dir`".to_owned()
            }
            OpenError::Exists(_) => {
                "`--resume` completes it, `--overwrite` replaces it once the new run is complete".to_owned()
            }
            OpenError::Swap(SwapError::NotARun(_)) => {
                "`--overwrite` replaces run directories only; choose another `--run-dir`".to_owned()
            }
            OpenError::Name { .. } => "choose another `--run-dir`".to_owned(),
            OpenError::NothingToResume { .. } => {
                "leave `--resume` out to start a new run, or name the directory with `--run-dir`".to_owned()
            }
            OpenError::Mismatch { .. } => {
                "run into a new directory, and compare with `proofhouse diff`".to_owned()
            }
            OpenError::Version { .. } => {
                "a newer version of proofhouse wrote it, and completes it".to_owned()
            }
            OpenError::Thread(_) => "raise the limit on processes (`ulimit -u`)".to_owned(),
            OpenError::Lock(LockError::File(error))
                if error.source.kind() == std::io::ErrorKind::Unsupported =>
            {
                "this file system has no locks; choose a `--run-dir` on a local disk".to_owned()
            }
            OpenError::File(error) | OpenError::Lock(LockError::File(error)) => return unwritable(error),
            OpenError::Damaged { dir, .. } => format!("`proofhouse verify {dir}` names every damaged record"),
            _ => return None,
        })
    }
}

/// What helps where a directory cannot be written.
fn unwritable(error: &FileError) -> Option<String> {
    use std::io::ErrorKind;
    match error.source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Some("this place cannot be written; choose another with `--run-dir` or `--root`".to_owned())
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(
            "the disk is full; make room, or choose another place with `--run-dir` or `--root`".to_owned(),
        ),
        _ => None,
    }
}

/// A run that may begin.
pub struct Open {
    /// Held until the run is sealed.
    pub lock: RunLock,
    /// Where the run will be.
    pub paths: RunPaths,
    /// Where it is written: the same, or `D.next` while an older run keeps its place.
    pub work: RunPaths,
    /// What the work directory holds already.
    pub found: ResumePoint,
    /// Finished records to take over from the run that is being replaced.
    pub reuse: Option<Reuse>,
    /// The envelope so far.
    pub envelope: Envelope,
    /// `config.resolved.yaml`
    pub config_sha256: Digest,
    /// Which part of the plan is run, where not all of it is.
    pub shard: Option<Shard>,
    /// Bytes of a torn last line that were left out.
    pub torn_bytes: u64,
    /// The digest of the running executable and the state of the suite's repository, found out while the trials run.
    pub origin: JoinHandle<(Option<Digest>, Git)>,
}

/// The id of what a suite will run.
pub fn run_id(loaded: &Loaded) -> RunId {
    config::run_id(&loaded.resolved())
}

/// Opens a run of `loaded`. `each` is shown the records that an earlier instance left in their places.
pub fn open(job: &Job, options: &Options, each: &mut dyn FnMut(&Line<'_>)) -> Result<Open, OpenError> {
    let loaded: &Loaded = &job.loaded;
    let run_id = run_id(loaded);
    let started = clock::now();
    let (paths, instance) = choose_dir(loaded, options, run_id, &started.compact())?;
    refuse_odd_names(&paths)?;
    make_parent(&paths)?;
    let lock = RunLock::acquire(&paths, std::process::id())?;
    // Under the lock, and before anybody looks: a process that was killed while it exchanged two runs may have left neither in its place.
    write::finish_swap(&paths)?;
    refuse_odd_places(&paths)?;
    let config = suite::yaml::emit(&loaded.resolved()).into_bytes();
    let config_sha256 = Digest::of(&config);

    let occupied = paths.dir.exists() && !files::sorted_dir(&paths.dir)?.is_empty();
    if occupied && !write::is_run_dir(&paths.dir) {
        return Err(SwapError::NotARun(paths.dir.to_string()).into());
    }
    if (occupied || paths.envelope().exists()) && !options.resume && !options.overwrite {
        return Err(OpenError::Exists(paths.dir.clone()));
    }
    // Also where only errors are run again: records are in plan order, so new ones in the middle mean a new file, and the old one is kept
    // until that is complete.
    let replace = occupied && (options.overwrite || options.retry_errors);
    let work = if replace { paths.next() } else { paths.clone() };

    let (shard, places) = match options.part {
        None => (None, Places::Whole),
        Some(part) => {
            let (shard, places) = listed(job, part)?;
            (Some(shard), places)
        }
    };
    let plan = PlanPart { job, part: options.part, places };
    let going_on = options.resume && work.dir.exists();
    let found = match going_on {
        true => check_resumable(&plan, &work, run_id, &config, each)?,
        false => ResumePoint { places: plan.places.clone(), ..ResumePoint::default() },
    };
    let reuse = if replace && options.retry_errors && !options.overwrite {
        Some(Reuse::open(&paths, check_resumable(&plan, &paths, run_id, &config, &mut |_| ())?)?)
    } else {
        None
    };
    tracing::info!(
        dir = %work.dir, going_on, replace, recorded = found.totals.count(), torn_bytes = found.torn_bytes,
        takes_over = reuse.is_some(), "run opened"
    );
    if replace && !going_on {
        write::discard_next(&paths)?;
    }

    let mut envelope = fresh_envelope(loaded, run_id, instance);
    envelope.run_start_ts_utc = Some(started.to_string());
    envelope.lane = options.lane.name.map(str::to_owned);
    if options.lane.name.is_some() {
        envelope.details = Json::Object([("lane1_gate", options.lane.gate.clone())].into_iter().collect());
    }
    if let Some(part) = options.part {
        let mut details = envelope.details.as_object().cloned().unwrap_or_default();
        details.set(envelope::SHARD, Json::from(part.to_string()));
        envelope.details = Json::Object(details);
        envelope.total_cases_expected = plan.count();
    }
    envelope.spec_digest = Some(config_sha256);
    envelope.receipt_path = receipt_path(&paths);
    envelope.resumed_from = earlier_starts(if going_on { &work } else { &paths }, options.resume);
    envelope.total_cases_completed = found.totals.count();
    let bytes = canonical::to_file(&envelope).expect("an envelope is plain data");
    // Prices change no record: a run may go on with others, and its costs are then by those.
    let is_there = files::read(&work.config()).is_ok_and(|bytes| bytes == config);
    write::begin(&work, &bytes, &config, going_on && is_there)?;
    if let Some(reuse) = &reuse {
        reuse.copy_telemetry(&work)?;
    }
    let torn_bytes = found.torn_bytes;
    // Hashing the executable and asking git take longer than a small run: they are needed only for the seal.
    let suite = loaded.path.clone();
    let origin = std::thread::Builder::new()
        .spawn(move || (host::tool_sha256(), host::git(&suite)))
        .map_err(OpenError::Thread)?;
    Ok(Open { lock, paths, work, found, reuse, envelope, config_sha256, shard, torn_bytes, origin })
}

/// `records.jsonl` as seen from the envelope.
pub fn receipt_path(paths: &RunPaths) -> String {
    format!("{}/records.jsonl", paths.dir.file_name().unwrap_or("."))
}

/// The sidecars stand beside the directory under its name, so it needs one, and one that is not ours.
fn refuse_odd_names(paths: &RunPaths) -> Result<(), OpenError> {
    let refuse = |why| Err(OpenError::Name { dir: paths.dir.clone(), why });
    match paths.dir.file_name() {
        None => refuse("it has no name of its own, and its sidecars are named after it"),
        Some(_) if paths.is_own() => refuse("such names are for runs that replace another"),
        Some(_) => Ok(()),
    }
}

fn refuse_odd_places(paths: &RunPaths) -> Result<(), OpenError> {
    let refuse = |why| Err(OpenError::Name { dir: paths.dir.clone(), why });
    match std::fs::symlink_metadata(&paths.dir) {
        Ok(meta) if meta.is_symlink() => refuse("it is a symbolic link; name the directory itself"),
        Ok(meta) if !meta.is_dir() => refuse("it is a file"),
        _ => Ok(()),
    }
}

fn make_parent(paths: &RunPaths) -> Result<(), FileError> {
    let parent = paths.parent();
    std::fs::create_dir_all(parent).map_err(FileError::new("create", parent))
}

/// The directory and the instance id of this run.
fn choose_dir(
    loaded: &Loaded,
    options: &Options,
    run_id: RunId,
    instance: &str,
) -> Result<(RunPaths, String), OpenError> {
    let below = options.root.join(&loaded.suite.suite_id);
    if let Some(part) = options.part {
        // Parts of one run find each other by its id, whoever runs them and whenever.
        let whole = options.run_dir.as_deref().map_or_else(|| below.join(run_id.to_string()), trim_slash);
        return Ok((RunPaths::new(format!("{whole}.{}", part.suffix())), instance.to_owned()));
    }
    if let Some(dir) = &options.run_dir {
        return Ok((RunPaths::new(trim_slash(dir)), instance.to_owned()));
    }
    if options.resume {
        let prefix = format!("{run_id}__");
        let names = if below.exists() { files::sorted_dir(&below)? } else { Vec::new() };
        let unfinished = names.iter().rev().find_map(|name| {
            let instance = name.strip_prefix(&prefix)?;
            let paths = RunPaths::new(below.join(name));
            let open = paths.dir.is_dir() && (options.retry_errors || !is_complete(&paths));
            open.then(|| (paths, instance.to_owned()))
        });
        return unfinished.ok_or(OpenError::NothingToResume { run_id, below });
    }
    // Two runs within one second get different names.
    let mut unique = instance.to_owned();
    let mut paths = RunPaths::new(below.join(format!("{run_id}__{unique}")));
    let mut next = 2;
    while paths.dir.exists() || paths.envelope_tmp().exists() {
        unique = format!("{instance}-{next}");
        paths = RunPaths::new(below.join(format!("{run_id}__{unique}")));
        next += 1;
    }
    Ok((paths, unique))
}

fn trim_slash(dir: &Utf8Path) -> Utf8PathBuf {
    match dir.as_str().trim_end_matches('/') {
        "" => dir.to_owned(),
        text => Utf8PathBuf::from(text),
    }
}

/// Whether a run ended normally.
pub fn is_complete(paths: &RunPaths) -> bool {
    read_envelope(&paths.envelope()).is_some_and(|envelope| envelope.exit_status == ExitStatus::Normal)
}

/// Reads an envelope, if there is one that can be read.
pub fn read_envelope(path: &Utf8Path) -> Option<Envelope> {
    format::read_envelope(path).ok()
}

fn earlier_starts(paths: &RunPaths, resume: bool) -> Vec<String> {
    let earlier = read_envelope(&paths.envelope_tmp()).or_else(|| read_envelope(&paths.envelope()));
    let Some(earlier) = earlier.filter(|_| resume) else { return Vec::new() };
    earlier.resumed_from.into_iter().chain(earlier.run_start_ts_utc).collect()
}

/// Whether two configurations are the same but for what tokens cost.
fn differ_by_prices(a: &[u8], b: &[u8]) -> bool {
    let without = |bytes: &[u8]| {
        let config: Option<Json> = yaml::read_bytes(bytes).ok();
        let mut config = config?.as_object()?.clone();
        config.remove("prices");
        Some(Json::Object(config))
    };
    a == b || without(a).is_some_and(|a| Some(a) == without(b))
}

/// The part of a job's plan that one run directory holds.
struct PlanPart<'a> {
    job: &'a Job,
    part: Option<Part>,
    places: Places,
}

impl PlanPart<'_> {
    /// Its trials.
    fn trials(&self) -> Trials<'_> {
        let Some(part) = self.part else { return self.job.trials() };
        let slots = &self.job.loaded.suite.slots;
        let holds = move |trial: &Result<Trial, Problems>| match trial {
            Ok(trial) => part.holds(&trial.case_id, &slots[trial.slot].name),
            Err(_) => true,
        };
        Box::new(self.job.trials().filter(holds))
    }

    /// How many they are.
    fn count(&self) -> u64 {
        match &self.places {
            Places::Listed(indexes) => indexes.len() as u64,
            _ => self.job.loaded.trial_count,
        }
    }
}

/// Which trials a part has, and what it says of the whole plan.
fn listed(job: &Job, part: Part) -> Result<(Shard, Places), OpenError> {
    let (mut plan, mut plan_count, mut indexes) = (PlanHasher::default(), 0, Vec::new());
    for trial in job.trials() {
        let trial = trial.map_err(OpenError::Suite)?;
        plan.push(&trial.record_id, &trial.input_fingerprint);
        plan_count += 1;
        if part.holds(&trial.case_id, &job.loaded.suite.slots[trial.slot].name) {
            indexes.push(trial.index);
        }
    }
    Ok((Shard { plan_count, plan_sha256: plan.finish(), part }, Places::Listed(indexes.into())))
}

/// What an envelope says of a part.
pub(super) fn shard_details(part: Option<Part>) -> Json {
    match part {
        None => Json::Null,
        Some(part) => Json::Object([(envelope::SHARD, Json::from(part.to_string()))].into_iter().collect()),
    }
}

/// Reads what is there against the plan, changing nothing.
fn check_resumable(
    plan: &PlanPart<'_>,
    work: &RunPaths,
    run_id: RunId,
    config: &[u8],
    each: &mut dyn FnMut(&Line<'_>),
) -> Result<ResumePoint, OpenError> {
    let mismatch = |why: String| OpenError::Mismatch { dir: work.dir.clone(), why };
    format::check_versions(work).map_err(|source| OpenError::Version { dir: work.dir.clone(), source })?;
    let recorded = read_envelope(&work.envelope_tmp()).or_else(|| read_envelope(&work.envelope()));
    if let Some(theirs) = recorded.map(|envelope| envelope.run_id).filter(|theirs| *theirs != run_id) {
        return Err(mismatch(format!(
            "it is run {theirs}, the suite and its data now make run {run_id} (something that shapes the trials changed)"
        )));
    }
    match files::read(&work.config()) {
        Ok(bytes) if !differ_by_prices(&bytes, config) => {
            return Err(mismatch(difference::first(&bytes, config)));
        }
        _ => {}
    }
    let mut planned = plan.trials();
    let mut later: Vec<Facts> = Vec::new();
    let mut at = 0;
    let found = write::scan(work, run_id, plan.places.clone(), |facts, record| {
        record.into_iter().for_each(&mut *each);
        if plan.places.at(at) != Some(facts.index) {
            later.push(*facts);
            return Ok(());
        }
        at += 1;
        same_trial(planned.next(), facts)
    })
    .map_err(|source| match source {
        StateError::Foreign { what, line, file } => mismatch(format!("{file} line {line}: {what}")),
        source => OpenError::Damaged { dir: work.dir.clone(), source },
    })?;
    later.sort_unstable_by_key(|facts| facts.index);
    for facts in &later {
        // The scan refuses lines that have no place here.
        let place = plan.places.of(facts.index).unwrap_or(at);
        let skip = usize::try_from(place - at).unwrap_or(usize::MAX);
        same_trial(planned.nth(skip), facts).map_err(|Mismatch(what)| mismatch(what))?;
        at = place + 1;
    }
    Ok(found)
}

fn same_trial(planned: Option<Result<Trial, Problems>>, facts: &Facts) -> Result<(), Mismatch> {
    match planned {
        Some(Ok(trial)) if trial.record_id != facts.record_id => {
            Err(Mismatch(format!("the plan has case `{}` in this place now", trial.case_id)))
        }
        Some(Ok(trial)) if trial.input_fingerprint != facts.input_fingerprint => {
            Err(Mismatch(format!("the input of case `{}` is not the one that was run", trial.case_id)))
        }
        Some(Ok(_)) => Ok(()),
        Some(Err(problems)) => Err(Mismatch(problems.to_string())),
        None => Err(Mismatch("the plan is shorter now".to_owned())),
    }
}

fn fresh_envelope(loaded: &Loaded, run_id: RunId, instance: String) -> Envelope {
    let suite = &loaded.suite;
    let each = |text: &dyn Fn(&suite::Slot) -> String| {
        let one = suite.slots.len() == 1;
        let all = suite.slots.iter().map(|slot| match one {
            true => text(slot),
            false => format!("{}={}", slot.name, text(slot)),
        });
        Some(all.collect::<Vec<_>>().join(","))
    };
    let names: Vec<&str> = suite.slots.iter().map(|slot| slot.name.as_str()).collect();
    let datasets: Vec<Digest> = loaded.datasets.iter().map(|facts| facts.sha256).collect();
    let (suite_sha256, suite_file_sha256) =
        envelope::suite_digests(suite.kind, loaded.suite_sha256, &datasets);
    Envelope {
        schema_version: envelope::SCHEMA_VERSION.to_owned(),
        run_id,
        run_instance_id: Some(instance),
        suite: suite.suite_id.clone(),
        model_id: each(&suite::Slot::model_id),
        backend: each(&|slot| slot.kind.clone()),
        seed: suite.seed,
        lane: None,
        variant: Some(names.join(",")),
        git_commit: None,
        suite_sha256: Some(suite_sha256),
        suite_file_sha256,
        timeout_per_case: suite.timeout_ms.div_ceil(1000),
        total_cases_expected: loaded.trial_count,
        total_cases_completed: 0,
        run_start_ts_utc: None,
        run_end_ts_utc: None,
        exit_status: ExitStatus::InProgress,
        determinism_hash: None,
        receipt_path: String::new(),
        receipt_sha256: None,
        suite_content_sha256: Some(loaded.suite_content_sha256),
        spec_digest: None,
        manifest_sha256: None,
        git_dirty: None,
        tool_sha256: None,
        cases_assessed: 0,
        cases_timed_out: 0,
        cases_errored: 0,
        cases_unparsed: 0,
        sandbox_tier: None,
        resumed_from: Vec::new(),
        host: host::name(),
        pid: Some(std::process::id()),
        boot_id: host::boot_id(),
        error: None,
        details: Json::Null,
    }
}
