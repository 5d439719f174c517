//! `export`: a run as files for other programs.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::PossibleValuesParser;
use proofhouse_ledger::RunPaths;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::kinds;
use crate::spine::export::{self, ExportError, Format};

/// Write a run as files for other programs.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The run directory.
    run_dir: Utf8PathBuf,

    /// Which format; `proofhouse list exports` says what each is.
    #[arg(long, value_parser = PossibleValuesParser::new(kinds::exports().map(|format| format.name)))]
    format: String,

    /// Where to write [default: beside the run directory].
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
}

impl Export {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = RunPaths::new(self.run_dir.as_str().trim_end_matches('/'));
        if !paths.manifest().exists() {
            return Err(Failure::say(Exit::Incomplete, format!("`{}` is not a finished run", paths.dir))
                .hint("`proofhouse run SUITE --run-dir DIR --resume` completes it"));
        }
        let named = |format: &&'static Format| format.name == self.format;
        let format = kinds::exports().find(named).expect("the command line takes known formats only");
        let beside = paths.dir.parent().filter(|parent| !parent.as_str().is_empty());
        let out = self.out.as_deref().or(beside).unwrap_or(Utf8Path::new("."));
        let written = export::export(&paths, format, out).map_err(|error| {
            let exit = match &error {
                ExportError::Kind { .. } => Exit::Usage,
                ExportError::Damaged { .. } | ExportError::Manifest(_) => Exit::VerificationFailed,
                ExportError::File(_) => Exit::Internal,
            };
            Failure::new(exit, &error)
        })?;
        for path in written {
            terminal.data(&format!("{path}\n"))?;
        }
        Ok(Exit::Ok)
    }
}
