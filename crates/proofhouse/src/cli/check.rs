//! `check`: everything that would refuse a run, without running.

use camino::Utf8PathBuf;
use clap::Args;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use super::run::Inputs;
use crate::{plan, suite};

/// Check suites and their datasets without starting anything.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The suite files.
    #[arg(required = true)]
    suites: Vec<Utf8PathBuf>,

    #[command(flatten)]
    inputs: Inputs,
}

impl Check {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let mut broken = Vec::new();
        for path in &self.suites {
            match suite::load(path, &self.inputs.overrides()) {
                Ok(loaded) => {
                    for warning in &loaded.warnings {
                        terminal.say(&format!("warning: {warning}"));
                    }
                    let (cases, trials) = (loaded.case_count, plan::count(&loaded));
                    terminal.data(&format!("{path}: ok, {cases} cases, {trials} trials\n"))?;
                }
                Err(problems) => broken.push(problems.to_string().trim_end().to_owned()),
            }
        }
        if broken.is_empty() {
            return Ok(Exit::Ok);
        }
        Err(Failure::say(Exit::InvalidSuite, broken.join("\n\n")))
    }
}
