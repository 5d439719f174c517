//! A program of many completions that stays, and forks a process for each of them: one box for a whole batch in place of one for
//! each. Each fork is closed before any code of a completion runs, and has nothing of the others. What does not end plainly there is
//! tested again in a box of its own, so that its verdict is the one that it would have alone.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use proofhouse_sandbox::{Limits, Program, Sandbox, Stream, Tier, hand_over, recipes};

use crate::kinds::code::bench::Bench;
use crate::kinds::code::boxes::Running;
use crate::kinds::code::output;

/// CPU seconds of a completion here, and how long its tests are waited for: what needs more has its whole budget in its own box.
const CPU_S: u64 = 2;
pub(super) const WALL: Duration = Duration::from_secs(6);
/// Fewer completions than this are not worth a box that stays.
const FEW: usize = 3;
/// How often the box is started: once, and in place of those that completions bring down.
const STARTS: usize = 3;

/// The box of a batch, started when it is needed.
pub(super) struct Warm<'a> {
    program: &'a Program,
    sandbox: Arc<Sandbox>,
    limits: Limits,
    completions: u64,
    running: Option<Running>,
    starts: usize,
}

impl<'a> Warm<'a> {
    /// For so many completions. Where other processes could be seen, each needs a box of its own.
    pub(super) fn new(bench: &Bench, program: &'a Program, completions: usize) -> Warm<'a> {
        Warm {
            program,
            sandbox: bench.shared_sandbox(),
            limits: bench.budgets().test,
            completions: u64::try_from(completions).unwrap_or(u64::MAX),
            running: None,
            starts: if completions < FEW || bench.sandbox().tier() != Tier::Strong { 0 } else { STARTS },
        }
    }

    /// Has the completion with this number answer over this end of a link; `None` if there is nobody to do so.
    pub(super) fn hand(&mut self, number: usize, end: OwnedFd) -> Option<()> {
        if self.running.is_none() {
            self.starts = self.starts.checked_sub(1)?;
            self.running = self.start();
        }
        let running = self.running.as_mut()?;
        let seconds = CPU_S.min(self.limits.cpu_ms.div_ceil(1000));
        let message = [(number as u64).to_le_bytes(), seconds.to_le_bytes()].concat();
        if hand_over(running.link(), &message, &end).is_err() {
            self.running = None;
        }
        self.running.as_ref().map(drop)
    }

    /// What the last one had to say on standard error, once its tests are done; `None` if it came near a limit, or did not end.
    pub(super) fn ended(&mut self) -> Option<Stream> {
        let ended = self.running.as_mut().and_then(|running| ended(running.link()).ok());
        let Some((micros, length, head)) = ended else {
            self.end();
            return None;
        };
        // The limits of a fork are coarse: what comes near the budget is measured in a box of its own.
        let near = micros > self.limits.cpu_ms.saturating_mul(1000) / 2;
        let whole = length == head.len() as u64;
        (whole && !near).then(|| Stream { head, length, ..Stream::default() })
    }

    /// Ends the box, and with it whatever runs there.
    pub(super) fn end(&mut self) {
        if let Some(running) = self.running.take() {
            running.end(Duration::ZERO);
        }
    }

    fn start(&self) -> Option<Running> {
        let mut spec = self.program.run([]).binds(recipes::libraries()).as_zygote();
        spec.limits = Limits {
            cpu_ms: self.limits.cpu_ms.saturating_mul(self.completions),
            wall_ms: self.limits.wall_ms.saturating_mul(self.completions).saturating_mul(2),
            ..self.limits
        };
        spec.keep = output::KEEP;
        let mut running = Running::start("warm", &self.sandbox, spec).ok()?;
        let filter = filter()?;
        let length = (filter.len() as u64 + 1).to_le_bytes();
        running.link().set_write_timeout(Some(WALL)).ok()?;
        running.link().set_read_timeout(Some(WALL)).ok()?;
        running.link().write_all(&[&length[..], &[0], &filter].concat()).ok()?;
        Some(running)
    }
}

impl Drop for Warm<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Says that the tests are done, and reads how the completion's process ended: microseconds of CPU, how much it said, and that.
fn ended(link: &mut (impl Read + Write)) -> io::Result<(u64, u64, Vec<u8>)> {
    /// A word, two numbers, and what is told of standard error.
    const MAX_BYTES: u64 = 17 + (64 << 10);
    link.write_all(&[0])?;
    let mut number = || {
        let mut bytes = [0; 8];
        link.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    };
    let length = number()?;
    let mut bytes = vec![0; usize::try_from(length.min(MAX_BYTES)).unwrap_or_default()];
    link.read_exact(&mut bytes)?;
    let number = |at: usize| bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
    match (number(1), number(9)) {
        (Some(micros), Some(said)) if length <= MAX_BYTES => {
            Ok((u64::from_le_bytes(micros), u64::from_le_bytes(said), bytes.split_off(17)))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The filter of each fork, behind what in it stands for the number of its process.
#[cfg(target_os = "linux")]
fn filter() -> Option<Vec<u8>> {
    static FILTER: std::sync::OnceLock<Option<Vec<u8>>> = std::sync::OnceLock::new();
    let made = || proofhouse_sandbox::lone_filter().map(|filter| [&filter.own[..], &filter.steps].concat());
    FILTER.get_or_init(made).clone()
}

#[cfg(not(target_os = "linux"))]
fn filter() -> Option<Vec<u8>> {
    None
}
