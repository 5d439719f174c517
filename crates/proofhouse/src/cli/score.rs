//! `score`: stored answers judged again.

use camino::Utf8PathBuf;
use clap::Args;

use super::exit::Exit;
use super::failure::{Failure, refuse_unknown_versions};
use super::run::Run;
use super::sound::refuse_unsound;
use super::{Terminal, run_dir};

/// Judge the answers of a run again, with the judges of a suite, into a new run. No target is asked.
///
/// The run is verified first. What was asked and answered stays as it is: a case whose input is another one in the suite is
/// refused. The new run names the run that it comes from, by run id, digest of its records and targets, in `config.resolved.yaml`.
#[derive(Debug, Args)]
pub(super) struct Score {
    /// The run whose answers are judged.
    run: Utf8PathBuf,

    /// Take only the judges of the suite: cases are judged with the input that was asked then, whatever the suite asks now.
    #[arg(long)]
    only_judges: bool,

    #[command(flatten)]
    into: Run,
}

impl Score {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = run_dir::readable(&self.run)?;
        refuse_unknown_versions(&paths)?;
        refuse_unsound(&paths)?;
        self.into.with_records_of(paths.dir.clone(), self.only_judges).run(terminal)
    }
}
