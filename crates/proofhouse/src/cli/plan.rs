//! `plan`: what will run, without running it.

use std::io::Write as _;

use camino::Utf8PathBuf;
use clap::Args;

use super::exit::Exit;
use super::failure::Failure;
use super::run::Inputs;
use super::{Terminal, visible};
use crate::{plan, run, suite};

/// Show what will run, and start nothing.
#[derive(Debug, Args)]
pub(super) struct Plan {
    /// The suite file.
    suite: Utf8PathBuf,

    #[command(flatten)]
    inputs: Inputs,

    /// List every trial: index, record id, slot, case and repetition, separated by tabs.
    #[arg(long)]
    trials: bool,
}

impl Plan {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let loaded = suite::load(&self.suite, &self.inputs.overrides())?;
        if self.trials {
            return list(&loaded);
        }
        let suite = &loaded.suite;
        let mut text = format!("suite:       {}\n", suite.suite_id);
        text.push_str(&format!("run id:      {}\n", run::run_id(&loaded)));
        text.push_str(&format!("plan sha256: {}\n", plan::digest(&loaded)?));
        text.push_str(&format!(
            "trials:      {} ({} cases x {} targets x {} repetitions)\n",
            plan::count(&loaded),
            loaded.case_count,
            suite.targets.len(),
            suite.repetitions
        ));
        for (slot, target) in &suite.targets {
            text.push_str(&format!("target:      {slot} ({})\n", target.kind_name()));
        }
        for (name, judge) in &suite.judges {
            text.push_str(&format!("judge:       {name} ({})\n", judge.name()));
        }
        for dataset in &loaded.datasets {
            text.push_str(&format!(
                "dataset:     {} ({} rows, {})\n",
                dataset.path,
                dataset.rows,
                dataset.sha256.prefixed()
            ));
        }
        terminal.data(&text)?;
        Ok(Exit::Ok)
    }
}

fn list(loaded: &suite::Loaded) -> Result<Exit, Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for trial in plan::trials(loaded)? {
        let trial = trial?;
        let slot = &loaded.suite.targets[trial.slot].0;
        let case = visible(&trial.case.id).replace(['\n', '\t'], " ");
        writeln!(out, "{}\t{}\t{slot}\t{case}\t{}", trial.index, trial.record_id, trial.repetition)?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
