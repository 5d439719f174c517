//! `merge`: shards become one run.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use proofhouse_ledger::{RunPaths, files};

use super::exit::Exit;
use super::failure::Failure;
use super::run::Run;
use super::{Terminal, closing, plural, run_dir, shard};
use crate::kinds;
use crate::spine::run::{self, Job, MergeError, MergeTerms};
use crate::spine::{present, tally};

/// Make one run of shards: the same bytes as if one machine had run the whole plan.
///
/// Every shard is verified first; one that is missing, doubled, of another run or not sound is named and nothing is written.
/// With `--allow-missing` the trials of shards that are missing or not sound are recorded as `not_run`, and the command ends
/// with 8 unless a gate is missed.
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// The run directory that the shards become; its shards are `DIR.shard-0000-of-0004` and so on.
    run_dir: Utf8PathBuf,

    /// The shards, in any order, if they are not beside the run directory under its name.
    shards: Vec<Utf8PathBuf>,

    /// Replace the run in the directory, which stays until the new one is complete.
    #[arg(long)]
    overwrite: bool,

    /// Leave out report.html; `proofhouse report` writes it later.
    #[arg(long)]
    skip_report: bool,

    /// Merge without shards that are missing or broken: their trials, which follow from `--suite`, are recorded as `not_run`.
    #[arg(long, requires = "suite")]
    allow_missing: bool,

    /// With --allow-missing: the suite file.
    #[arg(long, value_name = "SUITE", requires = "allow_missing")]
    suite: Option<Utf8PathBuf>,

    /// With --allow-missing: the flags that the shards were run with, after `--`.
    #[arg(last = true, value_name = "FLAGS", requires = "allow_missing")]
    flags: Vec<String>,
}

impl Merge {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = run_dir::named(&self.run_dir);
        let shards = match self.shards.is_empty() {
            true => some_beside(&paths)?,
            false => self.shards.iter().map(|dir| run_dir::named(dir)).collect(),
        };
        let job = self.suite.as_deref().map(|suite| self.job(suite)).transpose()?;
        let terms = MergeTerms { overwrite: self.overwrite, missing_of: job.as_ref() };
        let merging = run::begin_merge(&shards, &paths, terms)?;
        for (dir, why) in &merging.broken {
            terminal.say(&format!("warning: `{dir}` is left out: {why}"));
        }
        let missing = merging.missing.clone();
        let internal = |error: &dyn std::error::Error| Failure::new(Exit::Internal, error);
        let summary = tally::tally(&merging.work, kinds::own_tally).map_err(|error| internal(&error))?;
        let bytes = tally::write(&merging.work, &summary)?;
        merging.write_manifest(&bytes)?;
        if !self.skip_report {
            present::write(&merging.work, kinds::own_presentation).map_err(|error| internal(&error))?;
        }
        let envelope = merging.seal()?;
        closing::found(terminal, &paths).map_err(|error| internal(&error))?;
        let merged = plural(envelope.merged_from().map_or(0, |(count, _)| count) as u64, "shard", "shards");
        terminal.say(&format!("\n{merged} merged into {}", paths.dir));
        closing::exports(terminal, &paths, summary.kind).map_err(|error| internal(&error))?;
        if !missing.is_empty() {
            let names = run::part_names(&missing);
            terminal.say(&format!("warning: trials of missing shards are recorded as `not_run`: {names}"));
        }
        Ok(match super::run::verdict(&summary) {
            Exit::Ok if !missing.is_empty() => Exit::Incomplete,
            verdict => verdict,
        })
    }

    /// The suite that says what is missing.
    fn job(&self, suite: &Utf8Path) -> Result<Job, Failure> {
        let words: Vec<&str> =
            [suite.as_str()].into_iter().chain(self.flags.iter().map(String::as_str)).collect();
        let run = Run::parsed(&words)?;
        let job = kinds::load(suite, &run.inputs.overrides())?;
        run.inputs.fit(job.loaded.suite.kind)?;
        Ok(job)
    }
}

/// The shards that stand beside a run directory under its name.
pub(super) fn beside(paths: &RunPaths) -> Result<Vec<RunPaths>, Failure> {
    let parent = paths.parent();
    let whole = paths.dir.file_name().unwrap_or_default();
    let names = if parent.is_dir() { files::sorted_dir(parent)? } else { Vec::new() };
    let is_ours =
        |name: &String| shard::part_of(&RunPaths::new(name.as_str())).is_some_and(|(of, _)| of == whole);
    let place = |name: String| if parent == "." { Utf8PathBuf::from(name) } else { parent.join(name) };
    let found = names.into_iter().filter(is_ours).map(|name| RunPaths::new(place(name)));
    Ok(found.filter(|each| each.dir.is_dir()).collect())
}

/// The same, where there have to be some.
fn some_beside(paths: &RunPaths) -> Result<Vec<RunPaths>, Failure> {
    let found = beside(paths)?;
    if found.is_empty() {
        let what = format!("there are no shards of `{}`", paths.dir);
        return Err(Failure::say(Exit::Usage, what).hint(format!(
            "`proofhouse run SUITE --run-dir {} --shard 0/2` and `--shard 1/2` make some, or name them after it",
            paths.dir
        )));
    }
    Ok(found)
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Self {
        let (exit, hint) = match &error {
            MergeError::Exists(_) => (Exit::Refused, Some("`--overwrite` replaces it".to_owned())),
            MergeError::Lock(_) | MergeError::Swap(_) => (Exit::Refused, None),
            MergeError::Missing { .. } => {
                let hint = "run them, or resume what was killed, and merge again; `--allow-missing --suite SUITE` goes on without";
                (Exit::Incomplete, Some(hint.to_owned()))
            }
            MergeError::OtherSuite { .. } => (
                Exit::Refused,
                Some("name the suite as it was, with the flags of the shards after `--`".to_owned()),
            ),
            MergeError::NotRun(_) => (Exit::InvalidSuite, None),
            MergeError::Refused { dir, .. } => {
                (Exit::VerificationFailed, Some(format!("`proofhouse verify {dir}` says more")))
            }
            MergeError::Coverage(_) => (Exit::VerificationFailed, None),
            MergeError::File(_) => (Exit::Internal, None),
        };
        let failure = Failure::new(exit, &error);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
