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
use crate::stats::decisions::{WANTED, all_pairs, gate_reach, visible as visible_difference};
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

    /// A difference that matters to you, as a share: say how many cases it takes to see it, and warn where it cannot be seen.
    #[arg(long, value_name = "X", value_parser = share)]
    margin: Option<f64>,
}

/// A share above 0 and below 1.
fn share(text: &str) -> Result<f64, clap::Error> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(clap::Error::raw(
            clap::error::ErrorKind::ValueValidation,
            "it is above 0 and below 1, such as 0.03 for 3 points",
        )),
    }
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

    /// What the suite can see, in a comparison of its targets, a `diff` of two runs and its gate, and a warning where that is little.
    fn power(&self, job: &Job, text: &mut String, terminal: &Terminal) {
        let loaded = &job.loaded;
        let slots = loaded.suite.slots.len();
        let wanted = self.margin.unwrap_or(WANTED);
        let units = job.body.units(loaded);
        for unit in &units {
            let seen = visible_difference(*unit, all_pairs(slots), wanted);
            text.push_str(&format!("sees:        {}\n", seen.sentence()));
            if seen.is_coarse() {
                let size = (wanted * 1e3).round() / 10.0;
                terminal.say(&format!(
                    "warning: a difference of {size} points may go unseen: {}",
                    seen.sentence()
                ));
            }
            let runs = visible_difference(*unit, slots as u64, wanted);
            if slots > 1 {
                text.push_str(&format!("diff:        between two runs, {}\n", runs.sentence()));
            }
            text.push_str(&format!("diff:        {}\n", runs.margin_sentence()));
            if self.margin.is_some() && runs.is_wide() {
                terminal.say(&format!("warning: the margin cannot be reached: {}", runs.margin_sentence()));
            }
        }
        let gate = loaded.suite.gate.as_ref().filter(|_| !units.is_empty());
        let asked = gate.and_then(|gate| Some((gate.pass_rate?.0, gate.confidence.map(|sure| sure.0))));
        match asked.map(|(rate, sure)| gate_reach(loaded.case_count, rate, sure)) {
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
