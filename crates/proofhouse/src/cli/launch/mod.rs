//! `launch`: a suite in shards on the engine that people already have. What is written is theirs to read and to change.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};
use proofhouse_ledger::files;
use proofhouse_ledger::part::MAX_PARTS;

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, env, plural};
use crate::kinds;
use crate::spine::suite::Overrides;

mod kubernetes;
mod ray;
mod slurm;

/// Shards for each worker, so that a slow one costs little: whoever is done takes the next.
const SHARDS_PER_WORKER: u64 = 8;

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

    /// Into how many shards the plan is divided [default: eight for each worker, no more than there are cases].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PARTS)))]
    shards: Option<u32>,

    /// Shards that run at the same time.
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
}

impl Common {
    /// Loads the suite, so that what would refuse every shard is said once and here.
    fn plan(&self, terminal: &Terminal) -> Result<Plan<'_>, Failure> {
        let job =
            kinds::load(&self.suite, &Overrides { environment: env::for_targets(), ..Overrides::default() })?;
        let (trials, cases) = (job.loaded.trial_count, job.loaded.case_count.max(1));
        let most = cases.min(u64::from(MAX_PARTS)) as u32;
        let proposed = (u64::from(self.workers) * SHARDS_PER_WORKER).min(u64::from(most)) as u32;
        let shards = self.shards.unwrap_or(proposed.max(1));
        if u64::from(shards) > cases {
            let (shards, cases) = (u64::from(shards), plural(cases, "case", "cases"));
            terminal.say(&format!("note: {shards} shards for {cases}: trials of one case stay together, so that some shards are empty"));
        }
        let (trials, shards_text) =
            (plural(trials, "trial", "trials"), plural(shards.into(), "shard", "shards"));
        terminal.say(&format!("{trials} in {shards_text}, {} at a time", self.workers.min(shards)));
        Ok(Plan { common: self, suite_id: job.loaded.suite.suite_id.clone(), shards })
    }
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
