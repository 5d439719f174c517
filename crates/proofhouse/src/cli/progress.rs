//! Progress of a run: one rewritten line for a person, plain lines now and then for a log.

use std::io::Write as _;
use std::time::Duration;

use proofhouse_ledger::record::Status;

use super::Terminal;
use crate::spine::run::Progress;

/// How often a log gets a line.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// How long is left is said when so many trials are done, three times as many as are under way, and so much time has
/// passed: before that the first groups and the building of crates decide it.
const ENOUGH_TRIALS: u64 = 20;
const ENOUGH_SECONDS: f64 = 3.0;

/// The progress display.
pub(super) struct Live<'a> {
    terminal: &'a Terminal,
    logged: Duration,
    drawn: bool,
}

impl<'a> Live<'a> {
    pub(super) fn new(terminal: &'a Terminal) -> Self {
        Self { terminal, logged: Duration::ZERO, drawn: false }
    }

    pub(super) fn show(&mut self, progress: &Progress) {
        if self.terminal.quiet {
            return;
        }
        if self.terminal.surroundings.live {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[2K{}", line(progress));
            self.drawn = true;
        } else if progress.elapsed.saturating_sub(self.logged) >= LOG_EVERY {
            self.logged = progress.elapsed;
            self.terminal.say(&line(progress));
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        if self.drawn {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[2K");
            self.drawn = false;
        }
    }
}

fn line(progress: &Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64().max(1e-3);
    let executed: u64 = progress.statuses.iter().sum();
    let rate = executed as f64 / seconds;
    let left = progress.total.saturating_sub(progress.done) as f64;
    let mut text = format!("{}/{} trials, {rate:.0}/s", progress.done, progress.total);
    if executed >= ENOUGH_TRIALS
        && executed as f64 >= 3.0 * progress.in_flight as f64
        && seconds >= ENOUGH_SECONDS
    {
        text.push_str(&format!(", about {} left", short_time(left / rate)));
    }
    text.push_str(&format!(
        ", {} in flight, {} passed, {} failed",
        progress.in_flight, progress.passed, progress.failed
    ));
    for status in [Status::Error, Status::Timeout, Status::RateLimited] {
        let count = progress.by_status(status);
        if count > 0 {
            text.push_str(&format!(", {count} {}", status.as_str()));
        }
    }
    text
}

fn short_time(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_is_said_when_it_means_something() {
        let progress = |executed: u64, in_flight: usize, seconds: u64| Progress {
            total: 1000,
            done: executed,
            in_flight,
            elapsed: Duration::from_secs(seconds),
            statuses: [executed, 0, 0, 0, 0, 0],
            ..Progress::default()
        };
        for (executed, in_flight, seconds) in [(0, 2, 60), (10, 1, 60), (100, 80, 60), (500, 2, 1)] {
            let text = line(&progress(executed, in_flight, seconds));
            assert!(!text.contains("left"), "{text}");
        }
        assert!(line(&progress(500, 80, 10)).contains(", about 10 s left,"));
    }
}
