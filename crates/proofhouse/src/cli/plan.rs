//! `plan`: what will run, without running it.

use std::io::Write as _;

use camino::Utf8PathBuf;
use clap::Args;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use super::inputs::Inputs;
use crate::kinds;
use crate::spine::plan;
use crate::spine::run::Job;
use crate::stats::decisions::{all_pairs, gate_reach, visible as visible_difference};
use crate::text::visible::one_line;

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
        let job = kinds::load(&self.suite, &self.inputs.overrides())?;
        let loaded = &job.loaded;
        self.inputs.fit(loaded.suite.kind)?;
        if self.trials {
            return list(&job);
        }
        let suite = &loaded.suite;
        let mut text = format!("suite:       {}\n", suite.suite_id);
        text.push_str(&format!("run id:      {}\n", job.run_id()));
        text.push_str(&format!("plan sha256: {}\n", plan::digest(job.trials())?));
        text.push_str(&format!("trials:      {} ({})\n", loaded.trial_count, job.body.factors(loaded)));
        if job.body.is_reworded() {
            let missing = plan::count_missing(job.trials())?;
            text.push_str(&format!(
                "left out:    {missing} trials of wordings that generators cannot make\n"
            ));
        }
        for slot in &suite.slots {
            text.push_str(&format!("target:      {} ({})\n", slot.name, slot.kind));
        }
        text.push_str(&job.body.described());
        for dataset in &loaded.datasets {
            text.push_str(&format!(
                "dataset:     {} ({} rows, {})\n",
                dataset.path,
                dataset.rows,
                dataset.sha256.prefixed()
            ));
        }
        self.power(&job, &mut text, terminal);
        terminal.data(&text)?;
        Ok(Exit::Ok)
    }

    /// What the suite can see, and a warning where that is little.
    fn power(&self, job: &Job, text: &mut String, terminal: &Terminal) {
        let loaded = &job.loaded;
        for unit in job.body.units(loaded) {
            let seen = visible_difference(unit, all_pairs(loaded.suite.slots.len()));
            text.push_str(&format!("sees:        {}\n", seen.sentence()));
            if seen.is_coarse() {
                terminal
                    .say(&format!("warning: a difference of 5 points may go unseen: {}", seen.sentence()));
            }
        }
        let gate = loaded.suite.gate.as_ref();
        match gate.and_then(|gate| Some(gate_reach(loaded.case_count, gate.pass_rate?.0, gate.confidence?.0)))
        {
            Some(Ok(reach)) => text.push_str(&format!("gate:        {reach}\n")),
            Some(Err(short)) => terminal.say(&format!("warning: {short}")),
            None => {}
        }
    }
}

fn list(job: &Job) -> Result<Exit, Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for trial in job.trials() {
        let trial = trial?;
        let slot = &job.loaded.suite.slots[trial.slot].name;
        let case = one_line(&trial.case_id);
        let wording = trial.variant_id.map_or(String::new(), |id| format!("\t{id}"));
        writeln!(out, "{}\t{}\t{slot}\t{case}\t{}{wording}", trial.index, trial.record_id, trial.repetition)?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
