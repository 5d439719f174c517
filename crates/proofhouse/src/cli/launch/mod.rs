//! `launch`: a suite in shards on the engine that people already have. What is written is theirs to read and to change.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use proofhouse_ledger::files;
use proofhouse_ledger::part::MAX_PARTS;
use proofhouse_ledger::read::{LineReader, lines};

use super::exit::Exit;
use super::failure::Failure;
use super::run::Run;
use super::{Terminal, plural, run_dir};
use crate::spine::run::read_envelope;

mod kubernetes;
mod ray;
mod slurm;

/// Shards for each worker, so that a slow one costs little: whoever is done takes the next.
const SHARDS_PER_WORKER: u64 = 8;

/// What a shard should take at least: starting it, reading the suite and verifying it take some seconds each time.
const LEAST_SECONDS: f64 = 60.0;

/// Run a suite in shards on an engine that is there already: Slurm, Kubernetes or Ray.
#[derive(Debug, Args)]
pub(super) struct Launch {
    #[command(subcommand)]
    engine: Engine,
}

#[derive(Debug, Subcommand)]
enum Engine {
    Slurm(slurm::Slurm),
    K8s(kubernetes::Kubernetes),
    Ray(ray::Ray),
}

impl Launch {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        match self.engine {
            Engine::Slurm(engine) => engine.run(terminal),
            Engine::K8s(engine) => engine.run(terminal),
            Engine::Ray(engine) => engine.run(terminal),
        }
    }
}

/// What every engine is told.
#[derive(Debug, Args)]
struct Common {
    /// The suite file.
    suite: Utf8PathBuf,

    /// The run directory that the shards become.
    #[arg(long, value_name = "DIR")]
    run_dir: Utf8PathBuf,

    /// Into how many shards the plan is divided [default: eight for each worker; fewer where there are not so many cases and
    /// targets, or where --measured says that they would take less than a minute].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PARTS)))]
    shards: Option<u32>,

    /// An earlier run of the suite, perhaps of a few cases: how long its trials took says how many shards are worth while.
    #[arg(long, value_name = "RUN")]
    measured: Option<Utf8PathBuf>,

    /// Shards that run at the same time at most; what endpoints allow is divided among so many.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    workers: u32,

    /// Cores for each shard.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    cpus: u32,

    /// Memory for each shard, in GiB.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=4_096))]
    memory_gib: u32,

    /// Further words for `proofhouse run` on every shard, behind `--`.
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

/// A suite that was looked at, with its number of shards.
struct Plan<'a> {
    common: &'a Common,
    suite_id: String,
    shards: u32,
    /// What `proofhouse run` is given beside suite, run directory and shard.
    flags: Vec<String>,
}

impl Common {
    /// Loads the suite, so that what would refuse every shard is said once and here.
    fn plan(&self, terminal: &Terminal) -> Result<Plan<'_>, Failure> {
        let mut words =
            vec![self.suite.as_str(), "--run-dir", self.run_dir.as_str(), "--shard", "0/1", "--resume"];
        words.extend(self.flags.iter().map(String::as_str));
        let run = Run::parsed(&words)?;
        self.refuse_a_run_of_its_own()?;
        let job = run.load(terminal, &run.inputs.overrides(), None)?;
        run.inputs.fit(job.loaded.suite.kind)?;
        let (trials, cases) = (job.loaded.trial_count, job.loaded.case_count.max(1));
        let groups = cases * job.loaded.suite.slots.len().max(1) as u64;
        let seconds = self.measured.as_deref().map(seconds_per_trial).transpose()?;
        let jobs = run.jobs_on(self.cpus, job.body.runs_programs());
        let work = seconds.map(|seconds| seconds * trials as f64 / jobs as f64);
        let shards = self.shards.unwrap_or_else(|| proposed(self.workers, groups, work));
        if u64::from(shards) > groups {
            let groups = plural(groups, "group", "groups");
            terminal.say(&format!(
                "note: {shards} shards for {groups} of trials: those of a case on a target stay together, so some shards are empty"
            ));
        }
        let (trials, shards_text) =
            (plural(trials, "trial", "trials"), plural(shards.into(), "shard", "shards"));
        let long = work.map(|work| format!(", about {:.0} s each", work / f64::from(shards)));
        let at_once = self.workers.min(shards);
        terminal.say(&format!("{trials} in {shards_text}{}, {at_once} at a time", long.unwrap_or_default()));
        let mut flags = self.flags.clone();
        if at_once < shards {
            flags.extend(["--shards-at-once".to_owned(), at_once.to_string()]);
        }
        Ok(Plan { common: self, suite_id: job.loaded.suite.suite_id.clone(), shards, flags })
    }
}

impl Common {
    /// The merge replaces what is in the place of its result, which is fine for an earlier merge alone.
    fn refuse_a_run_of_its_own(&self) -> Result<(), Failure> {
        let paths = run_dir::named(&self.run_dir);
        let merged = || read_envelope(&paths.envelope()).is_some_and(|run| run.merged_from().is_some());
        if !paths.dir.exists() || merged() {
            return Ok(());
        }
        let what = format!("`{}` holds a run already, and merged shards would take its place", paths.dir);
        Err(Failure::say(Exit::Refused, what).hint("choose another `--run-dir`"))
    }
}

/// A number of shards that leaves each worker several, and each shard something to do; `work`: seconds that one worker would need
/// for everything.
fn proposed(workers: u32, groups: u64, work: Option<f64>) -> u32 {
    let workers = u64::from(workers);
    let worth_while = work.map_or(u64::MAX, |work| (work / LEAST_SECONDS).ceil() as u64).max(workers);
    let most = groups.min(u64::from(MAX_PARTS));
    u32::try_from((workers * SHARDS_PER_WORKER).min(worth_while).min(most).max(1)).unwrap_or(MAX_PARTS)
}

/// How long a trial of an earlier run took on average, by its telemetry; what was only looked up says nothing.
fn seconds_per_trial(run: &Utf8Path) -> Result<f64, Failure> {
    #[derive(serde::Deserialize)]
    struct Took {
        latency_ms: f64,
        #[serde(default)]
        cached: bool,
    }
    let path = run_dir::present(run)?.telemetry();
    let (mut sum, mut count) = (0.0, 0u64);
    let mut reader = LineReader::open(&path)?;
    loop {
        let block = reader.next_lines()?;
        if block.is_empty() {
            break;
        }
        let took = lines(block).filter_map(|line| serde_json::from_slice::<Took>(line).ok());
        for Took { latency_ms, .. } in took.filter(|took| !took.cached) {
            sum += latency_ms;
            count += 1;
        }
    }
    if count == 0 {
        let what = format!("`{path}` says of no trial how long it took");
        return Err(Failure::say(Exit::Usage, what).hint("name a run whose trials were executed"));
    }
    Ok(sum / count as f64 / 1000.0)
}

impl Plan<'_> {
    /// A name that engines accept: lower case letters, digits and dashes.
    fn job_name(&self) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = self.suite_id.chars().map(safe).take(40).collect();
        format!("proofhouse-{}", name.trim_matches('-'))
    }

    /// Where a file of the launch goes: beside the run directory.
    fn beside(&self, suffix: &str) -> Utf8PathBuf {
        Utf8PathBuf::from(format!("{}.{suffix}", self.common.run_dir.as_str().trim_end_matches('/')))
    }

    /// Writes a file of the launch and says so.
    fn write(&self, terminal: &Terminal, suffix: &str, text: &str) -> Result<Utf8PathBuf, Failure> {
        let path = self.beside(suffix);
        if let Some(parent) = path.parent().filter(|parent| !parent.as_str().is_empty()) {
            std::fs::create_dir_all(parent)?;
        }
        files::write_atomic(&path, text.as_bytes())?;
        terminal.say(&format!("wrote:  {path}"));
        Ok(path)
    }
}

/// A word for a POSIX shell, in quotes where it needs any.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The words of a command for a POSIX shell.
fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A path from the root, so that jobs that start elsewhere find it.
fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let here = std::env::current_dir()?;
    let path = here.join(path);
    Utf8PathBuf::from_path_buf(path)
        .map_err(|path| Failure::say(Exit::Usage, format!("`{}` is not UTF-8", path.display())))
}

/// This program, as jobs call it.
fn program() -> Result<Utf8PathBuf, Failure> {
    let path = std::env::current_exe()?;
    Utf8PathBuf::from_path_buf(path)
        .map_err(|path| Failure::say(Exit::Usage, format!("`{}` is not UTF-8", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_many_for_each_worker_and_long_enough() {
        for (workers, groups, work, expected) in [
            (16, 1_000_000, None, 128),
            (16, 20, None, 20),
            (16, 1_000_000, Some(100.0), 16),
            (16, 1_000_000, Some(3_600.0), 60),
            (16, 1_000_000, Some(1e9), 128),
            (4, 1, Some(1e9), 1),
            (10_000, 10_000_000, None, MAX_PARTS),
        ] {
            assert_eq!(proposed(workers, groups, work), expected, "{workers} {groups} {work:?}");
        }
    }

    #[test]
    fn words_for_a_shell() {
        for (word, expected) in [
            ("a/b.c", "a/b.c"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$(x)", "'$(x)'"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
