//! `recover`: the envelope of a run whose process is gone.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::envelope::ExitStatus;

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, plural, run_dir};
use crate::spine::run;

/// Write the envelope that a killed run could not write.
#[derive(Debug, Args)]
pub(super) struct Recover {
    /// The run directory.
    run_dir: Utf8PathBuf,

    /// Derive the envelope from the run directory alone, even if there is one.
    #[arg(long)]
    rebuild: bool,
}

impl Recover {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = run_dir::present(&self.run_dir)?;
        let recovered = if self.rebuild { run::rebuild(&paths)? } else { run::recover(&paths)? };
        let envelope = &recovered.envelope;
        if recovered.torn_bytes > 0 {
            terminal.say(&format!("cut a torn last line of {} bytes", recovered.torn_bytes));
        }
        if recovered.waiting > 0 {
            let waiting = plural(recovered.waiting, "finished trial waits", "finished trials wait");
            terminal.say(&format!("{waiting} in the journal"));
        }
        let (done, expected) = (envelope.total_cases_completed, envelope.total_cases_expected);
        terminal.data(&format!("{}: {done} of {expected} trials recorded\n", paths.envelope()))?;
        if envelope.exit_status != ExitStatus::Normal {
            terminal.say(&format!(
                "hint: the command that began it (`proofhouse run SUITE`, `proofhouse code PROBLEMS SAMPLES`) with `--run-dir {} --resume` completes the run",
                paths.dir
            ));
        }
        Ok(Exit::Ok)
    }
}
