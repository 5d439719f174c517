//! `plan`: what will run, without running it.

use std::io::Write as _;

use camino::Utf8PathBuf;
use clap::Args;

use super::exit::Exit;
use super::failure::Failure;
use super::inputs::Inputs;
use super::{Terminal, plural, visible};
use crate::suite::{Body, Loaded, Wordings};
use crate::{plan, run, suite};

/// Show what will run, and start nothing.
#[derive(Debug, Args)]
pub(super) struct Plan {
    /// The suite file.
    suite: Utf8PathBuf,

    #[command(flatten)]
    inputs: Inputs,

    /// List every trial: index, record id, slot, case and repetition, separated by tabs; then the wording, where it is not
    /// the case's own.
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
        let reworded = match &suite.body {
            Body::Probe(probe) => probe.wordings.per_case() > 1,
            Body::Code(code) => code.wordings.per_case() > 1,
            Body::Robustness(_) | Body::Containment(_) => false,
        };
        if reworded {
            let missing = plan::count_missing(&loaded)?;
            text.push_str(&format!(
                "left out:    {missing} trials of wordings that generators cannot make\n"
            ));
        }
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
            let wordings = wordings(&probe.wordings);
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
                parts.push(format!("{} of samples", plural(lines, "line", "lines")));
            }
            if targets > 0 {
                let wordings = wordings(&code.wordings);
                let samples = code.samples_per_task;
                let tasks = plural(cases, "task", "tasks");
                let models = plural(targets as u64, "model", "models");
                let samples = plural(samples.into(), "sample", "samples");
                parts.push(format!("{tasks}{wordings} x {models} x {samples}"));
            }
            parts.join(" + ")
        }
        Body::Robustness(body) => {
            let variants: usize = body.cases.iter().map(|case| case.variants.len()).sum();
            format!("{cases} cases, {variants} variants and levels, at most")
        }
    }
}

/// How many wordings each case is asked in, where that is more than its own.
fn wordings(wordings: &Wordings) -> String {
    match wordings.per_case() {
        1 => String::new(),
        several => format!(" x {several} wordings"),
    }
}

fn list(loaded: &Loaded) -> Result<Exit, Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for trial in plan::trials(loaded)? {
        let trial = trial?;
        let slot = &loaded.suite.slots[trial.slot].name;
        let case = visible(trial.case_id()).replace(['\n', '\t'], " ");
        let wording = trial.variant_id.map_or(String::new(), |id| format!("\t{id}"));
        writeln!(out, "{}\t{}\t{slot}\t{case}\t{}{wording}", trial.index, trial.record_id, trial.repetition)?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
