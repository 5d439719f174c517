//! `diff`: what changed between two runs.

use camino::Utf8PathBuf;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use proofhouse_ledger::RunPaths;

use super::exit::Exit;
use super::failure::{Failure, refuse_unknown_versions};
use super::{Terminal, run_dir};
use crate::kinds;
use crate::spine::compare::{self, Cases};
use crate::spine::diff::{self, Decision, Demand, Options, RunClass, Style};
use crate::spine::present::{self, Heading};

/// Compare two run directories, record by record.
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// The run before.
    a: Utf8PathBuf,

    /// The run after.
    b: Utf8PathBuf,

    /// Exit with 5 on any difference in any field of records, manifest and configuration that does not follow from the runs'
    /// identity.
    #[arg(long)]
    fail_on_changes: bool,

    /// Exit with 6 on any single regression: a trial that no longer passes, is no longer assessed, lost score with the same
    /// verdict, or was removed; with 8 on an incomplete run. For deterministic systems.
    #[arg(long)]
    fail_on_regressions: bool,

    /// Exit with 6 if a target is worse by more than the margin on cases like these, with 12 if that cannot be told, with 8 on
    /// an incomplete run. For systems that answer by chance.
    #[arg(long)]
    fail_on_worse: bool,

    /// By how much B may be worse, as a share.
    #[arg(long, value_name = "X", default_value_t = 0.03, requires = "fail_on_worse")]
    margin: f64,

    /// Ignore differences in this field, a JSON pointer into the record, such as /usage. May be repeated.
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,

    /// Scores that differ by no more than this are equal.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    tolerance: f64,

    /// With --fail-on-changes: what may differ between the runs as a whole. May be repeated.
    #[arg(long, value_name = "CLASS", value_parser = classes(), requires = "fail_on_changes")]
    allow: Vec<RunClass>,

    /// How many changed records to show; the counts are always complete.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
    /// For a pull-request comment.
    Markdown,
    /// Workflow annotations: the first regressions.
    Github,
    /// One page: regressions first, side by side and word by word.
    Html,
}

/// The classes of what can differ between runs as a whole, by name.
fn classes() -> impl TypedValueParser<Value = RunClass> {
    let of_name = |name: String| RunClass::ALL.into_iter().find(|class| class.as_str() == name);
    PossibleValuesParser::new(RunClass::ALL.map(RunClass::as_str))
        .try_map(move |name| of_name(name).ok_or("unknown"))
}

/// The two runs on one page.
fn page(report: &diff::Report, runs: [&RunPaths; 2]) -> Result<String, Failure> {
    let runs = [("A", runs[0]), ("B", runs[1])].map(|(letter, run)| (letter.to_owned(), run.clone()));
    let names = runs.each_ref().map(|(letter, run)| (format!("{letter} {}", run.dir), run.clone()));
    // Where the runs have nothing in common there is no table.
    let comparison = compare::compare(&runs, Cases::Common, kinds::measures).ok();
    let heading = Heading {
        title: report.b.suite_id.as_deref().unwrap_or("What changed"),
        sentences: report.sentences().map(str::to_owned).collect(),
        remarks: diff::remarks(report).into_iter().chain([diff::counts_line(report)]).collect(),
        comparison: comparison.as_ref(),
    };
    present::compared(&names, &heading, kinds::own_presentation)
        .map_err(|error| Failure::new(Exit::Usage, &error))
}

impl Diff {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let options = Options {
            tolerance: self.tolerance,
            ignore: self.ignore,
            limit: self.limit,
            margin: self.fail_on_worse.then_some(self.margin),
            flips: self.fail_on_regressions,
            allow: self.allow,
        };
        let (a, b) = (run_dir::readable(&self.a)?, run_dir::readable(&self.b)?);
        for paths in [&a, &b] {
            refuse_unknown_versions(paths)?;
        }
        let mut report =
            diff::compare(&a, &b, &options).map_err(|error| Failure::new(Exit::Usage, &error))?;
        report.tell_own(kinds::closing_changes(("A", &a), ("B", &b)));
        let style = if terminal.surroundings.colour_out { Style::Colour } else { Style::Plain };
        if self.format == Format::Text {
            terminal.prose(&diff::render_text(&report, style))?;
        }
        terminal.data(&match self.format {
            Format::Text => String::new(),
            Format::Json => diff::render_json(&report),
            Format::Markdown => diff::render_markdown(&report),
            Format::Github => diff::render_github(&report),
            Format::Html => page(&report, [&a, &b])?,
        })?;
        let demand = Demand {
            no_changes: self.fail_on_changes,
            no_regressions: self.fail_on_regressions,
            not_worse: self.fail_on_worse,
        };
        Ok(match diff::decide(&report, demand) {
            Decision::Met => Exit::Ok,
            Decision::Changes => Exit::ChangesFound,
            Decision::Regressions => Exit::RegressionsFound,
            Decision::Incomplete => Exit::Incomplete,
            Decision::CannotTell => Exit::CannotTell,
        })
    }
}
