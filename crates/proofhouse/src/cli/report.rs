//! `report`: summary and report anew from the ledger.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::write::RunLock;
use proofhouse_ledger::{Digest, RunPaths, files};

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::kinds;
use crate::spine::export;
use crate::spine::{present, tally};

/// Rebuild summary.json and report.html from the records; the same bytes every time.
#[derive(Debug, Args)]
pub(super) struct Report {
    /// The run directory.
    run_dir: Utf8PathBuf,

    /// Print a Markdown summary instead of writing report.html.
    #[arg(long)]
    markdown: bool,
}

impl Report {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = RunPaths::new(self.run_dir.as_str().trim_end_matches('/'));
        if !paths.manifest().exists() {
            return Err(Failure::say(Exit::Incomplete, format!("`{}` is not a finished run", paths.dir))
                .hint("the command that began it (`proofhouse run SUITE`, `proofhouse code PROBLEMS SAMPLES`) with `--run-dir DIR --resume` completes it"));
        }
        let broken = |error: &dyn std::error::Error| {
            Failure::new(Exit::Internal, error)
                .hint(format!("`proofhouse verify {}` names what is wrong", paths.dir))
        };
        if self.markdown {
            terminal.data(&present::markdown(&paths).map_err(|error| broken(&error))?)?;
            return Ok(Exit::Ok);
        }
        let manifest: Manifest =
            serde_json::from_slice(&files::read(&paths.manifest())?).map_err(|error| broken(&error))?;
        if Digest::of_file(&paths.records())? != manifest.records_sha256 {
            return Err(Failure::say(
                Exit::VerificationFailed,
                format!("the records of `{}` are not those that its manifest was written for", paths.dir),
            )
            .hint(format!("`proofhouse verify {}` names what is wrong", paths.dir)));
        }
        let _lock = RunLock::acquire(&paths, std::process::id())
            .map_err(|error| Failure::new(Exit::Refused, &error))?;
        tally::write(&paths, kinds::own_tally).map_err(|error| broken(&error))?;
        present::write(&paths, kinds::own_sections).map_err(|error| broken(&error))?;
        export::beside(&paths, kinds::row(manifest.kind).exports).map_err(|error| broken(&error))?;
        terminal.say(&format!("report: {}", paths.report()));
        Ok(Exit::Ok)
    }
}
