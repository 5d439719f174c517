//! `report`: summary and report anew from the ledger.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::write::RunLock;
use proofhouse_ledger::{Digest, format};

use super::exit::Exit;
use super::failure::{Failure, refuse_unknown_versions};
use super::{Terminal, run_dir};
use crate::kinds;
use crate::spine::export;
use crate::spine::{present, tally};

/// Rebuild summary.json and report.html from the records; the same bytes every time.
#[derive(Debug, Args)]
pub(super) struct Report {
    /// The run directory.
    run_dir: Utf8PathBuf,

    /// Print the report in this format; `html` is written to report.html beside the records.
    #[arg(long, value_enum, default_value_t = Format::Html, value_name = "FORMAT")]
    format: Format,

    /// Also write a page with how long answers took, from the telemetry, beside the run directory: `DIR.timing.html`.
    #[arg(long)]
    timing: bool,

    /// The same as --format markdown.
    #[arg(long, conflicts_with = "format")]
    markdown: bool,
}

/// What the report is written as. Every format says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Html,
    Markdown,
    Json,
    /// What `run` says when it is done.
    Text,
}

impl Report {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let paths = run_dir::readable(&self.run_dir)?;
        if !paths.manifest().exists() {
            return Err(Failure::say(Exit::Incomplete, format!("`{}` is not a finished run", paths.dir))
                .hint("the command that began it (`proofhouse run SUITE`, `proofhouse code PROBLEMS SAMPLES`) with `--run-dir DIR --resume` completes it"));
        }
        refuse_unknown_versions(&paths)?;
        let broken = |error: &dyn std::error::Error| {
            Failure::new(Exit::Internal, error)
                .hint(format!("`proofhouse verify {}` names what is wrong", paths.dir))
        };
        let kinds = kinds::own_presentation;
        let printed = match if self.markdown { Format::Markdown } else { self.format } {
            Format::Html => None,
            Format::Markdown => Some(present::markdown(&paths, kinds)),
            Format::Json => Some(present::json(&paths, kinds)),
            Format::Text => Some(present::terminal(&paths, kinds, terminal.look())),
        };
        if let Some(text) = printed {
            terminal.data(&text.map_err(|error| broken(&error))?)?;
            return Ok(Exit::Ok);
        }
        let manifest = format::read_manifest(&paths).map_err(|error| broken(&error))?;
        if Digest::of_file(&paths.records())? != manifest.records_sha256 {
            return Err(Failure::say(
                Exit::VerificationFailed,
                format!("the records of `{}` are not those that its manifest was written for", paths.dir),
            )
            .hint(format!("`proofhouse verify {}` names what is wrong", paths.dir)));
        }
        let _lock = RunLock::acquire(&paths, std::process::id())
            .map_err(|error| Failure::new(Exit::Refused, &error))?;
        let summary = tally::tally(&paths, kinds::own_tally).map_err(|error| broken(&error))?;
        tally::write(&paths, &summary)?;
        present::write(&paths, kinds).map_err(|error| broken(&error))?;
        export::beside(&paths, kinds::row(manifest.kind).exports, kinds).map_err(|error| broken(&error))?;
        terminal.say(&format!("report: {}", paths.report()));
        if self.timing {
            let written = present::write_timing(&paths, kinds).map_err(|error| broken(&error))?;
            match written {
                Some(path) => terminal.say(&format!("timing: {path}")),
                None => terminal.say("timing: no answer of this run was measured over a network"),
            }
        }
        Ok(Exit::Ok)
    }
}
