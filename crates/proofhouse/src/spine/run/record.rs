//! What all kinds of records have in common: the head, and the line of telemetry beside it.

use std::sync::Arc;

use proofhouse_ledger::record::{Head, Status};
use proofhouse_ledger::spine::{Spine, Stamp};
use proofhouse_ledger::telemetry::{AttemptTelemetry, TrialTelemetry};
use proofhouse_ledger::{Digest, Json, RunId};

use super::clock::{self, Watch};
use crate::family::target::{Outcome, Reply};
use crate::spine::plan::Trial;
use crate::spine::suite::Loaded;

/// Writes the heads of one run's records.
pub struct RecordWriter {
    /// The suite.
    pub loaded: Arc<Loaded>,
    run_id: RunId,
    spine: Spine,
    deterministic: bool,
}

/// What is said of a trial in its head.
pub struct Assessment<'a> {
    /// What became of it.
    pub status: Status,
    /// The class of what went wrong.
    pub error_type: Option<&'a str>,
    /// The same in words.
    pub error: Option<&'a str>,
    /// Of what the target gave.
    pub output_sha256: Option<Digest>,
    /// Score by name.
    pub scores: &'a [(&'a str, Option<f64>)],
    /// The score that decides.
    pub primary_metric: Option<&'a str>,
    /// Whether it was right.
    pub passed: Option<bool>,
    /// What the target says that it used.
    pub usage: Option<&'a Json>,
}

/// When a trial ran.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Wall clock.
    pub started: Stamp,
    /// From the request to the answer.
    pub latency_ms: f64,
    /// Requests made, retries included.
    pub attempts: u32,
    /// Whether the verdict was known already.
    pub cached: bool,
    /// CPU time of the compiler, where it was measured.
    pub compile_time_ms: Option<u64>,
}

/// A stop watch that remembers when it was started.
#[derive(Debug, Clone, Copy)]
pub struct Timer(Stamp, Watch);

impl Timer {
    /// Starts it.
    pub fn start() -> Timer {
        Timer(clock::now(), Watch::start())
    }

    /// What it shows, for a trial of one attempt.
    pub fn timing(&self) -> Timing {
        Timing {
            started: self.0,
            latency_ms: self.1.elapsed_ms(),
            attempts: 1,
            cached: false,
            compile_time_ms: None,
        }
    }

    /// What it shows, for a trial that ended with this reply.
    pub fn timing_of(&self, reply: &Reply) -> Timing {
        let attempts = match (reply.replayed, reply.attempts.len()) {
            (true, _) => 0,
            (false, 0) => 1,
            (false, made) => u32::try_from(made).unwrap_or(u32::MAX),
        };
        Timing { attempts, cached: reply.replayed, ..self.timing() }
    }
}

/// The seed of one trial: of the suite's seed, the case and the repetition, so that one more trial never shifts the
/// others, and of no slot, so that two targets meet the same luck and can be compared in pairs.
pub fn trial_seed(seed: u64, case_id: &str, repetition: u32) -> u64 {
    let digest =
        Digest::of_parts(&[b"trial", &seed.to_le_bytes(), &repetition.to_le_bytes(), case_id.as_bytes()]);
    u64::from_le_bytes(digest.0[..8].try_into().expect("eight of thirty-two bytes"))
}

impl RecordWriter {
    /// For the records of this run.
    pub fn new(loaded: &Arc<Loaded>, run_id: RunId) -> Self {
        let deterministic = loaded.suite.determinism.deterministic_artifacts;
        Self { loaded: Arc::clone(loaded), run_id, spine: Spine::new(&run_id), deterministic }
    }

    /// Whether wall times stay out of records.
    pub fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    /// The head of a trial's record.
    pub fn head<'a>(&'a self, trial: &'a Trial, said: Assessment<'a>, timing: &Timing) -> Head<'a> {
        let suite = &self.loaded.suite;
        let wall = Stamp(timing.started.0 + (timing.latency_ms * 1e3) as i64);
        Head {
            kind: suite.kind,
            run_id: self.run_id,
            record_id: trial.record_id,
            index: trial.index,
            suite_id: &suite.suite_id,
            case_id: &trial.case_id,
            slot: &suite.slots[trial.slot].name,
            variant_id: trial.variant_id.as_deref(),
            repetition: trial.repetition,
            input_fingerprint: trial.input_fingerprint,
            status: said.status,
            error_type: said.error_type,
            error: said.error,
            output_sha256: said.output_sha256,
            scores: said.scores,
            primary_metric: said.primary_metric,
            passed: said.passed,
            started_at: if self.deterministic { self.spine.started(trial.index) } else { timing.started },
            completed_at: if self.deterministic { self.spine.completed(trial.index) } else { wall },
            latency_ms: (!self.deterministic).then_some(timing.latency_ms),
            usage: said.usage,
        }
    }

    /// Appends what was measured.
    pub fn telemetry(&self, out: &mut Vec<u8>, trial: &Trial, timing: &Timing) {
        let Timing { started, latency_ms, attempts, cached, compile_time_ms } = *timing;
        let (index, record_id) = (trial.index, trial.record_id);
        let slot = &self.loaded.suite.slots[trial.slot].name;
        TrialTelemetry { slot, index, record_id, started, latency_ms, attempts, cached, compile_time_ms }
            .push(out);
    }

    /// Appends a line for every request that was made over a network.
    pub fn attempts(&self, out: &mut Vec<u8>, trial: &Trial, reply: &Reply) {
        for (place, attempt) in reply.attempts.iter().enumerate().filter(|_| !reply.replayed) {
            let attempt = AttemptTelemetry {
                attempt: place as u64,
                elapsed_ms: attempt.elapsed_ms,
                event: "attempt",
                http_status: attempt.http_status,
                index: trial.index,
                result: &attempt.result,
                sent: attempt.sent,
                waited_ms: attempt.waited_ms,
            };
            attempt.push(out);
        }
    }
}

/// The statuses of records by the words of outcomes.
fn status(word: &str) -> Status {
    match word {
        "success" => Status::Success,
        "timeout" => Status::Timeout,
        "rate_limited" => Status::RateLimited,
        _ => Status::Error,
    }
}

/// What a target's outcome is in a record.
pub fn describe(outcome: &Outcome) -> (Status, Option<&str>, Option<&str>) {
    let (error_type, error) = outcome.explained();
    (status(outcome.status()), error_type, error)
}
