//! The one home of the wall clock. What it gives goes to the envelope and the telemetry, never into a canonical file.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use proofhouse_ledger::spine::Stamp;

/// Now, on the calendar.
pub fn now() -> Stamp {
    #[expect(clippy::disallowed_methods, reason = "the one home of the wall clock")]
    let now = SystemTime::now();
    let micros = match now.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
    };
    Stamp(micros)
}

/// A stopwatch.
#[derive(Debug, Clone, Copy)]
pub struct Watch(Instant);

impl Watch {
    /// Starts now.
    pub fn start() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one home of the wall clock")]
        Watch(Instant::now())
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// Milliseconds since the start, to the microsecond.
    pub fn elapsed_ms(&self) -> f64 {
        self.elapsed().as_micros() as f64 / 1_000.0
    }
}
