//! `trend`: how a suite's pass rates went over the runs that were blessed.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use proofhouse_ledger::files;
use proofhouse_ledger::summary::{Slot, Summary};

use super::Terminal;
use super::baseline::{MAIN, STORE, blessed, place};
use super::exit::Exit;
use super::failure::Failure;
use super::machine::{self, Form, VERSION};
use crate::text::doc::terminal::table_text;
use crate::text::doc::{Cell, Column, Line, Table, Tone};
use crate::text::numbers::{interval, percent, points};
use schemars::JsonSchema;
use serde::Serialize;

/// Show how the pass rates of a suite went over its blessed runs.
#[derive(Debug, Args)]
pub(super) struct Trend {
    /// The suite's id [default: the only one in the store].
    suite: Option<String>,

    /// The folder that baselines are kept in.
    #[arg(long, value_name = "DIR", default_value = STORE)]
    store: Utf8PathBuf,

    /// The branch.
    #[arg(long, value_name = "BRANCH", default_value = MAIN)]
    branch: String,

    /// Exit with 6 if a target's newest pass rate is below its best earlier one by more than this share.
    #[arg(long, value_name = "X")]
    threshold: Option<f64>,

    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: Form,
}

/// The trend of a suite.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Trended {
    pub(super) schema_version: &'static str,
    pub(super) suite_id: String,
    pub(super) branch: String,
    /// Each target of each blessed run, oldest run first.
    pub(super) points: Vec<Point>,
    /// Targets whose newest rate is below their best earlier one by more than the threshold.
    pub(super) fell: Vec<String>,
}

/// A target in one blessed run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Point {
    /// The run's folder in the store.
    pub(super) run: String,
    pub(super) target: String,
    pub(super) pass_rate: Option<f64>,
    /// Its 95 % interval, over cases where they are repeated.
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    /// Against the run before.
    pub(super) change: Option<f64>,
}

impl Trend {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let suite_id = match &self.suite {
            Some(suite) => suite.clone(),
            None => only(&self.store)?,
        };
        let dir = place(&self.store, &suite_id, &self.branch);
        let runs = blessed(&dir)?;
        if runs.is_empty() {
            return Err(Failure::say(Exit::Usage, format!("no run of `{suite_id}` is blessed in `{dir}`"))
                .hint("`proofhouse bless RUN` keeps a run"));
        }
        let mut found: Vec<Point> = Vec::new();
        for run in &runs {
            let summary: Summary = serde_json::from_slice(&files::read(&run.summary())?)
                .map_err(|error| Failure::new(Exit::VerificationFailed, &error))?;
            let name = run.dir.file_name().unwrap_or_default();
            for slot in &summary.slots {
                let before = found.iter().rev().find(|point| point.target == slot.slot);
                let point = point(name, slot, before);
                found.push(point);
            }
        }
        let fell = self.threshold.map_or_else(Vec::new, |threshold| fallen(&found, threshold));
        match self.format {
            Form::Text => terminal.data(&self.text(&found, &fell, terminal))?,
            Form::Json => {
                let branch = self.branch.clone();
                let trended =
                    Trended { schema_version: VERSION, suite_id, branch, points: found, fell: fell.clone() };
                machine::print(terminal, &trended)?;
            }
        }
        Ok(if fell.is_empty() { Exit::Ok } else { Exit::RegressionsFound })
    }

    fn text(&self, found: &[Point], fell: &[String], terminal: &Terminal) -> String {
        let columns = vec![
            Column::text("Run"),
            Column::names("Target"),
            Column::number("Passed"),
            Column::number("95 % interval"),
            Column::number("Points since"),
        ];
        let mut table = Table::new("plain", "Pass rates over blessed runs", columns).grouped();
        for point in found {
            let tone = match point.change {
                Some(change) if change < 0.0 => Tone::Bad,
                Some(change) if change > 0.0 => Tone::Good,
                _ => Tone::Neutral,
            };
            table.row(vec![
                Line::default().name(point.run.as_str()).into(),
                Line::default().name(point.target.as_str()).into(),
                point.pass_rate.map_or_else(Cell::dash, |rate| percent(rate).into()),
                interval(point.low, point.high).map_or_else(Cell::dash, Cell::from),
                point.change.map_or_else(Cell::dash, |change| Cell::from(points(change)).tone(tone)),
            ]);
        }
        let mut text = table_text(&table, terminal.look());
        for target in fell {
            text.push_str(&format!(
                "{} fell by more than {} points below its best blessed run\n",
                super::visible(target),
                points(self.threshold.unwrap_or_default()).trim_start_matches('+')
            ));
        }
        text
    }
}

/// The only suite of a store.
fn only(store: &Utf8Path) -> Result<String, Failure> {
    let suites = if store.is_dir() { files::sorted_dir(store)? } else { Vec::new() };
    match suites.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Failure::say(Exit::Usage, format!("`{store}` holds no baselines"))
            .hint("`proofhouse bless RUN` keeps a run")),
        several => Err(Failure::say(Exit::Usage, format!("`{store}` holds the baselines of several suites"))
            .hint(format!("name one: {}", several.join(", ")))),
    }
}

fn point(run: &str, slot: &Slot, before: Option<&Point>) -> Point {
    let rate = &slot.pass_rate;
    let clustered = slot.pass_rate_clustered.as_ref().and_then(|mean| mean.low.zip(mean.high));
    let (low, high) = clustered.or(rate.low.zip(rate.high)).unzip();
    let change = before.and_then(|before| Some(rate.value? - before.pass_rate?));
    Point { run: run.to_owned(), target: slot.slot.clone(), pass_rate: rate.value, low, high, change }
}

/// Targets whose newest rate is below their best earlier one by more than the threshold.
fn fallen(found: &[Point], threshold: f64) -> Vec<String> {
    let targets: BTreeSet<&str> = found.iter().map(|point| point.target.as_str()).collect();
    let fell = |target: &&str| {
        let rates: Vec<f64> = found
            .iter()
            .filter(|point| point.target == **target)
            .filter_map(|point| point.pass_rate)
            .collect();
        let Some((newest, earlier)) = rates.split_last() else { return false };
        earlier.iter().any(|rate| rate - newest > threshold)
    };
    targets.into_iter().filter(fell).map(str::to_owned).collect()
}
