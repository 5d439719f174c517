//! `export`: a run as files for other programs.

use camino::Utf8PathBuf;
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::exit::Exit;
use super::failure::{Failure, refuse_unknown_versions};
use super::sound::refuse_unsound;
use super::{Terminal, run_dir};
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

    /// Where to write [default: `RUN_DIR.export`, `RUN_DIR.humaneval`, `RUN_DIR.tree`, `RUN_DIR.junit`; receipts beside the run directory].
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
}

impl Export {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = run_dir::readable(&self.run_dir)?;
        if !paths.manifest().exists() {
            return Err(Failure::say(Exit::Incomplete, format!("`{}` is not a finished run", paths.dir))
                .hint("the command that began it (`proofhouse run SUITE`, `proofhouse code PROBLEMS SAMPLES`) with `--run-dir DIR --resume` completes it"));
        }
        refuse_unknown_versions(&paths)?;
        refuse_unsound(&paths)?;
        let named = |format: &&'static Format| format.name == self.format;
        let format = kinds::exports().find(named).expect("the command line takes known formats only");
        let out = self.out.clone().unwrap_or_else(|| format.place(&paths));
        let written = export::export(&paths, format, &out, kinds::own_presentation).map_err(|error| {
            let exit = match &error {
                ExportError::Taken(_) => {
                    return Failure::new(Exit::Refused, &error).hint("`--out DIR` writes to another folder");
                }
                ExportError::Kind { .. } => Exit::Usage,
                ExportError::Damaged { .. } | ExportError::Manifest(_) | ExportError::Report(_) => {
                    Exit::VerificationFailed
                }
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
