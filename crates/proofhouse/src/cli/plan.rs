//! `plan`: what will run, without running it.

use std::io::Write as _;

use camino::Utf8PathBuf;
use clap::Args;

use super::exit::Exit;
use super::failure::Failure;
use super::run::Inputs;
use super::{Terminal, visible};
use crate::suite::{Body, Loaded};
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
        self.inputs.fit(loaded.suite.kind())?;
        if self.trials {
            return list(&loaded);
        }
        let suite = &loaded.suite;
        let mut text = format!("suite:       {}\n", suite.suite_id);
        text.push_str(&format!("run id:      {}\n", run::run_id(&loaded)));
        text.push_str(&format!("plan sha256: {}\n", plan::digest(&loaded)?));
        text.push_str(&format!("trials:      {} ({})\n", plan::count(&loaded), factors(&loaded)));
        for slot in &suite.slots {
            text.push_str(&format!("target:      {} ({})\n", slot.name, slot.kind));
        }
        match &suite.body {
            Body::Probe(probe) => {
                for (name, judge) in &probe.judges {
                    text.push_str(&format!("judge:       {name} ({})\n", judge.name()));
                }
            }
            Body::Code(code) => {
                let (compile, test) = (code.budgets.compile.cpu_ms, code.budgets.test.cpu_ms);
                text.push_str(&format!("budgets:     compile {compile} ms CPU, tests {test} ms CPU\n"));
            }
            Body::Robustness(body) => text.push_str(&super::stopping::describe(body)),
            Body::Containment(body) => {
                for variant in &body.variants {
                    let gate = if variant.gate.is_some() { "gated" } else { "no gate" };
                    text.push_str(&format!(
                        "variant:     {} ({}, {gate})\n",
                        variant.name,
                        variant.driver.as_str()
                    ));
                }
            }
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

/// How the number of trials comes about.
fn factors(loaded: &Loaded) -> String {
    let (cases, targets) = (loaded.case_count, loaded.suite.targets.len());
    match &loaded.suite.body {
        Body::Probe(probe) => {
            let wordings = match probe.wordings.per_case() {
                1 => String::new(),
                several => format!(" x {several} wordings"),
            };
            format!("{cases} cases{wordings} x {targets} targets x {} repetitions", probe.repetitions)
        }
        Body::Containment(body) => {
            let variants = body.variants.len();
            format!("{cases} cases x {variants} variants x {} repetitions", body.repetitions)
        }
        Body::Code(code) => {
            let mut parts: Vec<String> = Vec::new();
            if !code.samples.is_empty() {
                let lines: u64 = code.samples.iter().map(|source| source.planned).sum();
                parts.push(format!("{lines} lines of samples"));
            }
            if targets > 0 {
                parts.push(format!("{cases} tasks x {targets} models x {} samples", code.samples_per_task));
            }
            parts.join(" + ")
        }
        Body::Robustness(body) => {
            let variants: usize = body.cases.iter().map(|case| case.variants.len()).sum();
            format!("{cases} cases, {variants} variants and levels, at most")
        }
    }
}

fn list(loaded: &Loaded) -> Result<Exit, Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for trial in plan::trials(loaded)? {
        let trial = trial?;
        let slot = &loaded.suite.slots[trial.slot].name;
        let case = visible(trial.case_id()).replace(['\n', '\t'], " ");
        writeln!(out, "{}\t{}\t{slot}\t{case}\t{}", trial.index, trial.record_id, trial.repetition)?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
