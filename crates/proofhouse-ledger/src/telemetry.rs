//! `D.telemetry.jsonl`: wall clock, latency, retries and host facts, one line per trial and one for the run.
//!
//! Nothing canonical depends on it; it is appended without waiting for the disk.

use serde::{Deserialize, Serialize};

use crate::RecordId;
use crate::canonical::{push_integer, push_number, push_text};
use crate::spine::Stamp;

/// The version of the telemetry format.
pub const SCHEMA_VERSION: &str = "1.0";

/// One trial's measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialTelemetry<'a> {
    /// The slot that was asked.
    pub slot: &'a str,
    /// The place in the plan.
    pub index: u64,
    /// The trial.
    pub record_id: RecordId,
    /// Wall clock.
    pub started: Stamp,
    /// From the request to the answer.
    pub latency_ms: f64,
    /// Requests made, retries included.
    pub attempts: u32,
    /// Whether the verdict was known already and nothing was executed.
    pub cached: bool,
    /// CPU time of the compiler, where it was measured.
    pub compile_time_ms: Option<u64>,
}

impl TrialTelemetry<'_> {
    /// Appends the line.
    pub fn push(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"attempts\":");
        push_integer(out, self.attempts.into());
        if self.cached {
            out.extend_from_slice(b",\"cached\":true");
        }
        if let Some(compile_time_ms) = self.compile_time_ms {
            out.extend_from_slice(b",\"compile_time_ms\":");
            push_integer(out, compile_time_ms);
        }
        out.extend_from_slice(b",\"event\":\"trial\",\"index\":");
        push_integer(out, self.index);
        out.extend_from_slice(b",\"latency_ms\":");
        push_number(out, self.latency_ms);
        out.extend_from_slice(b",\"record_id\":\"");
        out.extend_from_slice(&self.record_id.hex());
        out.extend_from_slice(b"\",\"slot\":");
        push_text(out, self.slot);
        out.extend_from_slice(b",\"started_at\":\"");
        out.extend_from_slice(&self.started.text());
        out.extend_from_slice(b"\"}\n");
    }
}

/// When a trial ran, of its line in the telemetry; the lines of requests and of the run have no such fields.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TrialTimes {
    /// The trial.
    pub record_id: RecordId,
    /// Wall clock, RFC 3339.
    pub started_at: String,
    /// From the request to the answer.
    pub latency_ms: f64,
}

/// One request of a trial over a network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttemptTelemetry<'a> {
    /// Which request of the trial, from 0.
    pub attempt: u64,
    /// From being sent to its end.
    pub elapsed_ms: f64,
    /// Always `attempt`.
    pub event: &'static str,
    /// The status line's number, where there was one.
    pub http_status: Option<u16>,
    /// The trial's place in the plan.
    pub index: u64,
    /// `answered`, or what made it fail.
    pub result: &'a str,
    /// Whether it reached a connection.
    pub sent: bool,
    /// Before it was sent.
    pub waited_ms: f64,
}

impl AttemptTelemetry<'_> {
    /// Appends the line.
    pub fn push(&self, out: &mut Vec<u8>) {
        let line = crate::canonical::to_file(self).expect("times are finite and counts are small");
        out.extend_from_slice(&line);
    }
}

/// The run's measurements: the last line of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunTelemetry {
    /// Always `run`.
    pub event: String,
    /// The version of this format.
    pub schema_version: String,
    /// This execution.
    pub run_instance_id: String,
    /// Wall clock.
    pub started_at: String,
    /// Wall clock.
    pub completed_at: String,
    /// Trials that this instance executed.
    pub executed: u64,
    /// Trials that it found done.
    pub reused: u64,
    /// Requests in flight at most.
    pub jobs: u64,
    /// The machine.
    pub host: Option<String>,
    /// Operating system and architecture.
    pub platform: String,
    /// CPU time of the harness, all threads.
    pub cpu_ms: f64,
    /// Syncs of the records to the disk.
    pub syncs: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_has_one_line_with_what_was_measured() {
        let trial = TrialTelemetry {
            slot: "m \"x\"",
            index: 7,
            record_id: RecordId::from_hex(b"000102030405060708090a0b").unwrap(),
            started: Stamp::parse("2026-02-13T15:24:54.238593+00:00").unwrap(),
            latency_ms: 12.5,
            attempts: 2,
            cached: false,
            compile_time_ms: None,
        };
        let text = |trial: TrialTelemetry<'_>| {
            let mut out = Vec::new();
            trial.push(&mut out);
            String::from_utf8(out).unwrap()
        };
        let rest = r#""event":"trial","index":7,"latency_ms":12.5,"record_id":"000102030405060708090a0b","slot":"m \"x\"","started_at":"2026-02-13T15:24:54.238593+00:00"}"#;
        assert_eq!(text(trial), format!("{{\"attempts\":2,{rest}\n"));
        let compiled = TrialTelemetry { cached: true, compile_time_ms: Some(30), ..trial };
        assert_eq!(
            text(compiled),
            format!("{{\"attempts\":2,\"cached\":true,\"compile_time_ms\":30,{rest}\n")
        );
        let times: TrialTimes = serde_json::from_str(&text(trial)).unwrap();
        assert_eq!((times.record_id, times.latency_ms), (trial.record_id, 12.5));
    }

    #[test]
    fn a_request_has_one_line() {
        let attempt = AttemptTelemetry {
            attempt: 1,
            elapsed_ms: 2.5,
            event: "attempt",
            http_status: Some(429),
            index: 7,
            result: "rate_limited",
            sent: true,
            waited_ms: 0.0,
        };
        let mut out = Vec::new();
        attempt.push(&mut out);
        let expected = r#"{"attempt":1,"elapsed_ms":2.5,"event":"attempt","http_status":429,"index":7,"result":"rate_limited","sent":true,"waited_ms":0}"#;
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
    }
}
