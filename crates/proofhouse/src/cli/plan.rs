//! `plan`: what will run, without running it.

use std::io::Write as _;

use camino::Utf8PathBuf;
use clap::Args;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use super::inputs::Inputs;
use super::machine::{self, Dataset, Form, Named, Planned, VERSION};
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

    /// How to print.
    #[arg(long, value_enum, default_value_t, conflicts_with = "trials")]
    format: Form,
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
        let planned = self.planned(&job)?;
        for warning in &planned.warnings {
            terminal.say(&format!("warning: {warning}"));
        }
        match self.format {
            Form::Text => terminal.facts(&text(&planned), "plan sha256: ".len())?,
            Form::Json => machine::print(terminal, &planned)?,
        }
        Ok(Exit::Ok)
    }

    fn planned(&self, job: &Job) -> Result<Planned, Failure> {
        let (loaded, suite) = (&job.loaded, &job.loaded.suite);
        let left_out = job.body.is_reworded().then(|| plan::count_missing(job.trials())).transpose()?;
        let target = |name: &String, kind: &str| Named { name: name.clone(), value: kind.to_owned() };
        let mut planned = Planned {
            schema_version: VERSION,
            suite_id: suite.suite_id.clone(),
            kind: suite.kind.as_str().to_owned(),
            run_id: job.run_id().to_string(),
            plan_sha256: plan::digest(job.trials())?.to_string(),
            trials: loaded.trial_count,
            factors: job.body.factors(loaded),
            left_out,
            targets: suite.slots.iter().map(|slot| target(&slot.name, &slot.kind)).collect(),
            described: job.body.described().lines().map(str::to_owned).collect(),
            datasets: loaded
                .datasets
                .iter()
                .map(|dataset| Dataset {
                    path: dataset.path.to_string(),
                    rows: dataset.rows,
                    sha256: dataset.sha256.prefixed().to_string(),
                })
                .collect(),
            sees: Vec::new(),
            gate: None,
            warnings: Vec::new(),
        };
        self.power(job, &mut planned);
        Ok(planned)
    }

    /// What the suite can see, in a comparison of its targets, a `diff` of two runs and its gate, and a warning where that is little.
    fn power(&self, job: &Job, planned: &mut Planned) {
        let loaded = &job.loaded;
        let slots = loaded.suite.slots.len();
        let wanted = self.margin.unwrap_or(WANTED);
        let units = job.body.units(loaded);
        let line = |name: &str, value: String| Named { name: name.to_owned(), value };
        for unit in &units {
            let seen = visible_difference(*unit, all_pairs(slots), wanted);
            planned.sees.push(line("sees", seen.sentence()));
            if seen.is_coarse() {
                let size = (wanted * 1e3).round() / 10.0;
                planned
                    .warnings
                    .push(format!("a difference of {size} points may go unseen: {}", seen.sentence()));
            }
            let runs = visible_difference(*unit, slots as u64, wanted);
            if slots > 1 {
                planned.sees.push(line("diff", format!("between two runs, {}", runs.sentence())));
            }
            planned.sees.push(line("diff", runs.margin_sentence()));
            if self.margin.is_some() && runs.is_wide() {
                planned.warnings.push(format!("the margin cannot be reached: {}", runs.margin_sentence()));
            }
        }
        let gate = loaded.suite.gate.as_ref().filter(|_| !units.is_empty());
        let asked = gate.and_then(|gate| Some((gate.pass_rate?.0, gate.confidence.map(|sure| sure.0))));
        match asked.map(|(rate, sure)| gate_reach(loaded.case_count, rate, sure)) {
            Some(Ok(reach)) => planned.gate = Some(reach),
            Some(Err(short)) => planned.warnings.push(short.to_string()),
            None => {}
        }
    }
}

/// The plan for people.
fn text(planned: &Planned) -> String {
    let mut text = format!("suite:       {}\n", planned.suite_id);
    text.push_str(&format!("run id:      {}\n", planned.run_id));
    text.push_str(&format!("plan sha256: {}\n", planned.plan_sha256));
    text.push_str(&format!("trials:      {} ({})\n", planned.trials, planned.factors));
    if let Some(missing) = planned.left_out {
        text.push_str(&format!("left out:    {missing} trials of wordings that generators cannot make\n"));
    }
    for target in &planned.targets {
        text.push_str(&format!("target:      {} ({})\n", target.name, target.value));
    }
    for line in &planned.described {
        text.push_str(&format!("{line}\n"));
    }
    for Dataset { path, rows, sha256 } in &planned.datasets {
        text.push_str(&format!("dataset:     {path} ({rows} rows, {sha256})\n"));
    }
    for Named { name, value } in &planned.sees {
        text.push_str(&format!("{:12} {value}\n", format!("{name}:")));
    }
    if let Some(reach) = &planned.gate {
        text.push_str(&format!("gate:        {reach}\n"));
    }
    text
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
