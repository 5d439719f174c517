//! `score`: stored answers judged again.

use camino::Utf8PathBuf;
use clap::Args;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use super::run::Run;

/// Judge the answers of a run again, with the judges of a suite, into a new run. No target is asked.
///
/// The new run names the run that it comes from, by run id and digest of its records, in `config.resolved.yaml`.
#[derive(Debug, Args)]
pub(super) struct Score {
    /// The run whose answers are judged.
    run: Utf8PathBuf,

    #[command(flatten)]
    into: Run,
}

impl Score {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        self.into.with_records_of(self.run).run(terminal)
    }
}
