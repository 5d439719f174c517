//! `bless`: keeps a run as the baseline that later ones are held against.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::{RunPaths, format};

use super::baseline::{MAIN, STORE, blessed, branch_here, place};
use super::exit::Exit;
use super::failure::{Failure, refuse_unknown_versions};
use super::sound::refuse_unsound;
use super::{Terminal, run_dir};

/// Keep a run as the baseline of its suite and branch, for `run --baseline` and `trend`.
#[derive(Debug, Args)]
pub(super) struct Bless {
    /// The run directory.
    run_dir: Utf8PathBuf,

    /// The folder that baselines are kept in.
    #[arg(long, value_name = "DIR", default_value = STORE)]
    store: Utf8PathBuf,

    /// The branch that it is the baseline of [default: what the CI system or the repository says, else main].
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Leave out the report, which can be made again.
    #[arg(long)]
    records_only: bool,
}

impl Bless {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let run = run_dir::readable(&self.run_dir)?;
        if !run.manifest().exists() {
            return Err(Failure::say(Exit::Incomplete, format!("`{}` is not a finished run", run.dir))
                .hint("`proofhouse run SUITE --run-dir DIR --resume` completes it"));
        }
        refuse_unknown_versions(&run)?;
        refuse_unsound(&run)?;
        let manifest = format::read_manifest(&run).map_err(|error| Failure::new(Exit::Internal, &error))?;
        let branch = self.branch.clone().or_else(branch_here).unwrap_or_else(|| MAIN.to_owned());
        let dir = place(&self.store, &manifest.suite_id, &branch);
        let earlier = blessed(&dir)?;
        let last = earlier.last().and_then(|run| run.dir.file_name()?.split('-').next()?.parse::<u32>().ok());
        let kept = RunPaths::new(dir.join(format!("{:04}-{}", last.unwrap_or(0) + 1, manifest.run_id)));
        self.copy(&run, &kept)?;
        terminal.data(&format!("{}\n", kept.dir))?;
        terminal.say(&format!("next: {}", next(&self.store, &branch)));
        Ok(Exit::Ok)
    }

    /// Copies what a run directory holds; it has its name when it is whole.
    fn copy(&self, from: &RunPaths, to: &RunPaths) -> Result<(), Failure> {
        let draft = RunPaths::new(Utf8PathBuf::from(format!("{}.partial", to.dir)));
        let create = |dir: &Utf8Path| std::fs::create_dir_all(dir).map_err(FileError::new("create", dir));
        create(&draft.dir)?;
        // A report in parts is made again with its parts.
        let report = if self.records_only || from.report_data().exists() {
            None
        } else {
            Some((from.report(), draft.report()))
        };
        let files = [
            (from.config(), draft.config()),
            (from.records(), draft.records()),
            (from.summary(), draft.summary()),
            (from.manifest(), draft.manifest()),
        ];
        for (source, target) in files.into_iter().chain(report.filter(|(source, _)| source.exists())) {
            std::fs::copy(&source, &target).map_err(FileError::new("copy", &source))?;
        }
        files::rename(&draft.dir, &to.dir)?;
        Ok(())
    }
}

/// The command that holds a later run against it, without what it would do anyway.
fn next(store: &Utf8Path, branch: &str) -> String {
    let mut command = "proofhouse run SUITE --baseline".to_owned();
    if store != STORE {
        command.push_str(&format!("={store}"));
    }
    if branch != MAIN {
        command.push_str(&format!(" --baseline-branch {branch}"));
    }
    command
}
