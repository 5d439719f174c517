//! `run --json`: what happens, as it happens, a line of JSON each.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use proofhouse_ledger::RunPaths;
use proofhouse_ledger::record::{Damage, HEAD, Line, Spans, Status};
use proofhouse_ledger::summary::Summary;
use schemars::JsonSchema;
use serde::Serialize;

use super::exit::Exit;
use super::machine::VERSION;
use crate::spine::run::{Observer, Progress};
use crate::spine::suite::Loaded;

/// What happened. Who reads these lines leaves out events that it does not know.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    /// The run begins.
    Launch {
        schema_version: &'static str,
        suite_id: String,
        kind: String,
        run_id: String,
        run_dir: String,
        /// Planned trials.
        trials: u64,
    },
    /// How far it is, some ten times a second.
    Progress {
        done: u64,
        total: u64,
        in_flight: u64,
        /// Of those that this process executed.
        passed: u64,
        failed: u64,
        /// Those without an answer, by status.
        unanswered: BTreeMap<String, u64>,
        elapsed_ms: u64,
    },
    /// A trial is finished; in the order in which they end.
    Trial {
        index: u64,
        record_id: String,
        case_id: String,
        slot: String,
        variant_id: Option<String>,
        repetition: u32,
        status: String,
        error_type: Option<String>,
        passed: Option<bool>,
    },
    /// The run has ended.
    Done {
        /// Whether every planned trial has its record.
        complete: bool,
        exit_code: u8,
        run_dir: String,
        /// The page, where one was written.
        report: Option<String>,
        trials: u64,
        assessed: u64,
        passed: u64,
        /// Whether the gate held; null without one, or where that cannot be told.
        gate_held: Option<bool>,
    },
}

impl Event {
    /// Prints it. Nobody reads it: then nobody misses it.
    fn print(&self) {
        let line = serde_json::to_string(self).expect("an event is plain JSON");
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}");
        let _ = out.flush();
    }

    fn trial(bytes: &[u8]) -> Result<Event, Damage> {
        let mut spans = Spans::default();
        let line = Line::split(bytes.strip_suffix(b"\n").unwrap_or(bytes), &mut spans)?;
        Ok(Event::Trial {
            index: line.index()?,
            record_id: line.record_id()?.to_string(),
            case_id: line.get(HEAD.case_id)?.into_owned(),
            slot: line.get(HEAD.slot)?.into_owned(),
            variant_id: line.get(HEAD.variant_id)?.map(|variant| variant.into_owned()),
            repetition: line.get(HEAD.repetition)?,
            status: line.status()?.as_str().to_owned(),
            error_type: line.get(HEAD.error_type)?.map(|name| name.into_owned()),
            passed: line.get(HEAD.passed)?,
        })
    }
}

/// Says that a run begins.
pub(super) fn launch(loaded: &Loaded, run_id: String, paths: &RunPaths) {
    Event::Launch {
        schema_version: VERSION,
        suite_id: loaded.suite.suite_id.clone(),
        kind: loaded.suite.kind.as_str().to_owned(),
        run_id,
        run_dir: paths.dir.to_string(),
        trials: loaded.trial_count,
    }
    .print();
}

/// Says how far it is.
pub(super) fn progress(progress: &Progress) {
    let unanswered = [Status::Error, Status::Timeout, Status::RateLimited];
    let unanswered = unanswered.map(|status| (status.as_str().to_owned(), progress.by_status(status)));
    Event::Progress {
        done: progress.done,
        total: progress.total,
        in_flight: progress.in_flight as u64,
        passed: progress.passed,
        failed: progress.failed,
        unanswered: unanswered.into_iter().filter(|(_, count)| *count > 0).collect(),
        elapsed_ms: progress.elapsed.as_millis() as u64,
    }
    .print();
}

/// Says of each trial that it is finished.
pub(super) fn trials() -> Observer {
    Observer(Arc::new(|record| {
        if let Ok(event) = Event::trial(record) {
            event.print();
        }
    }))
}

/// Says how it ended.
pub(super) fn done(exit: Exit, paths: &RunPaths, summary: Option<&Summary>) {
    let passed = |summary: &Summary| summary.slots.iter().map(|slot| slot.pass_rate.numerator).sum();
    Event::Done {
        complete: summary.is_some(),
        exit_code: exit as u8,
        run_dir: paths.dir.to_string(),
        report: Some(paths.report())
            .filter(|path| summary.is_some() && path.exists())
            .map(|path| path.to_string()),
        trials: summary.map_or(0, |summary| summary.trials),
        assessed: summary.map_or(0, |summary| summary.assessed),
        passed: summary.map_or(0, passed),
        gate_held: summary.and_then(|summary| summary.gate.as_ref()?.held),
    }
    .print();
}
