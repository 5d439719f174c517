//! `merge`: shards become one run.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::{RunPaths, files};

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, closing, plural, shard};
use crate::kinds;
use crate::spine::run::{self, MergeError};
use crate::spine::{present, tally};

/// Make one run of shards: the same bytes as if one machine had run the whole plan.
///
/// Every shard is verified first; one that is missing, doubled, of another run or not sound is named and nothing is written.
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// The run directory that the shards become; its shards are `DIR.shard-0000-of-0004` and so on.
    run_dir: Utf8PathBuf,

    /// The shards, in any order, if they are not beside the run directory under its name.
    shards: Vec<Utf8PathBuf>,

    /// Replace the run in the directory, which stays until the new one is whole.
    #[arg(long)]
    overwrite: bool,

    /// Leave out report.html; `proofhouse report` writes it later.
    #[arg(long)]
    skip_report: bool,
}

impl Merge {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = RunPaths::new(self.run_dir.as_str().trim_end_matches('/'));
        let shards = match self.shards.is_empty() {
            true => beside(&paths)?,
            false => {
                self.shards.iter().map(|dir| RunPaths::new(dir.as_str().trim_end_matches('/'))).collect()
            }
        };
        let merging = run::begin_merge(&shards, &paths, self.overwrite)?;
        let internal = |error: &dyn std::error::Error| Failure::new(Exit::Internal, error);
        let (summary, bytes) =
            tally::write(&merging.work, kinds::own_tally).map_err(|error| internal(&error))?;
        merging.write_manifest(&bytes)?;
        if !self.skip_report {
            present::write(&merging.work, kinds::own_presentation).map_err(|error| internal(&error))?;
        }
        merging.seal()?;
        closing::found(terminal, &paths).map_err(|error| internal(&error))?;
        terminal.say(&format!(
            "\n{} merged into {}",
            plural(shards.len() as u64, "shard", "shards"),
            paths.dir
        ));
        Ok(super::run::verdict(&summary))
    }
}

/// The shards that stand beside a run directory under its name.
pub(super) fn beside(paths: &RunPaths) -> Result<Vec<RunPaths>, Failure> {
    let parent = paths.parent();
    let whole = paths.dir.file_name().unwrap_or_default();
    let names = if parent.is_dir() { files::sorted_dir(parent)? } else { Vec::new() };
    let found: Vec<RunPaths> = names
        .into_iter()
        .map(|name| RunPaths::new(parent.join(name)))
        .filter(|each| each.dir.is_dir())
        .filter(|each| {
            let name = RunPaths::new(each.dir.file_name().unwrap_or_default());
            shard::part_of(&name).is_some_and(|(of, _)| of == whole)
        })
        .collect();
    if found.is_empty() {
        let what = format!("there are no shards of `{}`", paths.dir);
        return Err(Failure::say(Exit::Usage, what).hint(format!(
            "`proofhouse run SUITE --run-dir {} --shard 0/2` and `--shard 1/2` make some, or name them behind it",
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
                (Exit::Incomplete, Some("run them, or resume what was killed, and merge again".to_owned()))
            }
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
