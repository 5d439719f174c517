//! `compare`: which of several runs of the same cases is better, and whether that is more than noise.

use camino::Utf8PathBuf;
use clap::Args;
use proofhouse_ledger::RunPaths;

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, run_dir, visible};
use crate::kinds;
use crate::spine::compare::{self, Cases, Report};
use crate::spine::present::{self, Heading};

/// Compare runs of the same cases: by target and over cases, with what it would take to know more.
#[derive(Debug, Args)]
pub(super) struct Compare {
    /// The run directories, at least two.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<Utf8PathBuf>,

    /// Which cases to compare: all, which then have to be the same in all runs, or those that the runs have in common.
    #[arg(long, value_enum, default_value_t = On::All)]
    on: On,

    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
enum On {
    /// Refuse runs that are not of the same cases.
    All,
    /// Leave out what is not in all runs.
    Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
    /// For a pull-request comment.
    Markdown,
    /// One page: what got worse first, side by side and word by word.
    Html,
}

impl Compare {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let runs = self.runs.iter().map(|dir| Ok((dir.to_string(), run_dir::readable(dir)?)));
        let runs = runs.collect::<Result<Vec<_>, Failure>>()?;
        let on = if self.on == On::Common { Cases::Common } else { Cases::Same };
        let mut report = compare::compare(&runs, on, kinds::measures)
            .map_err(|error| Failure::new(Exit::Usage, &error))?;
        let (first, others) = runs.split_first().expect("at least two are required");
        let own = others
            .iter()
            .flat_map(|other| kinds::own_changes((first.0.as_str(), &first.1), (other.0.as_str(), &other.1)));
        report.tell_own(own.collect());
        if self.format == Format::Text {
            terminal.prose(&text(&report))?;
        }
        terminal.data(&match self.format {
            Format::Text => String::new(),
            Format::Markdown => markdown(&report),
            Format::Html => page(&report, &runs)?,
            Format::Json => {
                let json = serde_json::to_string_pretty(&report).expect("a report is plain JSON");
                format!("{json}\n")
            }
        })?;
        Ok(Exit::Ok)
    }
}

fn page(report: &Report, runs: &[(String, RunPaths)]) -> Result<String, Failure> {
    let title = format!("{} runs compared", runs.len());
    let heading = Heading {
        title: &title,
        sentences: report.sentences(),
        remarks: Vec::new(),
        comparison: Some(report),
    };
    present::compared(runs, &heading, kinds::own_presentation)
        .map_err(|error| Failure::new(Exit::Usage, &error))
}

fn text(report: &Report) -> String {
    report.sentences().iter().map(|sentence| format!("{}\n", visible(sentence))).collect()
}

fn markdown(report: &Report) -> String {
    // Names of runs and targets are somebody else's text: they stay in a code span.
    let span = |text: &str| format!("`{}`", visible(text).replace('`', "'").replace('\n', " "));
    let rows =
        report.sentences().iter().map(|sentence| format!("- {}\n", span(sentence))).collect::<String>();
    format!("### proofhouse compare: {} runs, {} cases\n\n{rows}", report.runs.len(), report.cases)
}
