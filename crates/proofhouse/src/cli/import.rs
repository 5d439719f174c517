//! `import`: files of other tools become suites, or runs, of ours.

use camino::{Utf8Path, Utf8PathBuf};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser as _};
use proofhouse_ledger::files::{self, FileError};

use super::exit::Exit;
use super::failure::Failure;
use super::{Cli, Terminal, dispatch, visible};
use crate::kinds;
use crate::spine::import::{Import, Imported, Importing};
use crate::spine::suite::Overrides;

/// How many left-out parts are told on the terminal; the suite lists all.
const MAX_TOLD: usize = 20;

/// Import files of other tools: what they ask becomes suites, what they found becomes runs.
///
/// `promptfoo` reads a promptfooconfig (prompts, providers, tests, asserts, defaultTest, scenarios, and the files that it names) and
/// writes suites that `check` passes. `lm-eval-samples` (`samples_*.jsonl` of `--log_samples`) and `inspect-log` (`.eval` or `.json`) hold
/// answers and scores: they become a suite with its answers, and a run directory that `report`, `diff` and `compare` read. What has no
/// place here is listed with its line and why, on standard error and on top of the suite.
#[derive(Debug, Args)]
pub(super) struct ImportFile {
    /// Whose file it is; `proofhouse list imports` says what each becomes.
    #[arg(value_parser = PossibleValuesParser::new(kinds::imports().map(|import| import.name)))]
    format: String,

    /// The file; what it names is looked for beside it.
    file: Utf8PathBuf,

    /// Where to write; nothing that is there is changed.
    #[arg(long, short, value_name = "DIR", default_value = "imported")]
    out: Utf8PathBuf,

    /// Replace every system under test, and every model that judges, with a scripted one: a rehearsal without a network.
    #[arg(long)]
    scripted: bool,
}

impl ImportFile {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let named = |import: &&'static Import| import.name == self.format;
        let import = kinds::imports().find(named).expect("the command line takes known formats only");
        let importing = Importing { path: &self.file, scripted: self.scripted };
        let imported =
            (import.read)(&importing).map_err(|complaint| Failure::of(Exit::InvalidSuite, complaint))?;
        self.write(&imported, terminal)?;
        say(&imported, terminal);
        for suite in &imported.suites {
            let path = self.out.join(suite);
            // What was written is a promise: it is kept before anybody relies on it.
            let job = kinds::load(&path, &Overrides::default())?;
            for warning in &job.loaded.warnings {
                terminal.say(&format!("warning: {}", visible(warning)));
            }
            match imported.answered {
                true => {
                    let run = self.out.join(run_name(suite));
                    run_stored(&path, &run, terminal)?;
                    terminal.data(&format!("{run}\n"))?;
                }
                false => terminal.say(&format!("next: proofhouse run {path}")),
            }
        }
        Ok(Exit::Ok)
    }

    fn write(&self, imported: &Imported, terminal: &Terminal) -> Result<(), Failure> {
        let paths = imported.files.iter().map(|(name, _)| self.out.join(name));
        let runs =
            imported.suites.iter().filter(|_| imported.answered).map(|suite| self.out.join(run_name(suite)));
        if let Some(taken) = paths.chain(runs).find(|path| path.exists()) {
            return Err(Failure::say(Exit::Refused, format!("`{taken}` is there already"))
                .hint("`--out DIR` writes to another folder"));
        }
        for (name, content) in &imported.files {
            let path = self.out.join(name);
            let parent = path.parent().unwrap_or(&self.out);
            std::fs::create_dir_all(parent).map_err(FileError::new("create", parent))?;
            files::write_atomic(&path, content)?;
            terminal.data(&format!("{path}\n"))?;
        }
        Ok(())
    }
}

/// The run directory of a suite whose answers are there.
fn run_name(suite: &str) -> String {
    suite.replace("suite", "run").trim_end_matches(".yaml").to_owned()
}

/// What came along and what did not.
fn say(imported: &Imported, terminal: &Terminal) {
    let counts: Vec<String> = imported
        .counts
        .iter()
        .map(|count| format!("{} of {} {}", count.imported, count.all, count.of))
        .collect();
    if !counts.is_empty() {
        terminal.say(&format!("imported {}", counts.join(", ")));
    }
    for note in &imported.notes {
        terminal.say(&format!("note: {}", visible(note)));
    }
    for left in imported.left_out.iter().take(MAX_TOLD) {
        terminal.say(&format!("left out: {}", visible(&left.to_string())));
    }
    if let Some(more) = imported.left_out.len().checked_sub(MAX_TOLD + 1) {
        terminal.say(&format!("left out: {} more, listed on top of the suite", more + 1));
    }
}

/// Runs a suite whose answers are there, as the command line would. What a gate says of it is no failure of the import.
fn run_stored(suite: &Utf8Path, run: &Utf8Path, terminal: &Terminal) -> Result<(), Failure> {
    let words = ["proofhouse", "run", suite.as_str(), "--run-dir", run.as_str()];
    let parsed =
        Cli::try_parse_from(words).map_err(|error| Failure::say(Exit::Internal, error.to_string()))?;
    let quiet = Terminal { quiet: true, surroundings: terminal.surroundings };
    match dispatch(parsed.command, &quiet)? {
        Exit::Ok | Exit::GateFailed | Exit::Infrastructure => Ok(()),
        exit => Err(Failure::say(exit, format!("`{run}` could not be completed"))
            .hint(format!("`proofhouse run {suite} --run-dir {run} --resume` goes on"))),
    }
}
