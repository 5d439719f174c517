//! The harness's side of one running box: reads its output up to the cap, waits for the report, and kills what does not report.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, pidfd_send_signal};

use super::cgroup::Group;
use super::report::{Ending, Limit, Message};
use super::{channel, files};
use crate::capture::Capture;
use crate::clock::now_us;
use crate::outcome::{Collected, Infra, NotTaken, Outcome, ResultFile, Status, Usage};
use crate::sandbox::Cancel;
use crate::scratch::Scratch;
use crate::spec::Spec;
use crate::tier::Tier;

/// Our ends of a box's pipes and channel.
pub(crate) struct Ends {
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) control: OwnedFd,
}

impl Ends {
    /// Our ends, which do not block on reading output, and the box's.
    pub(crate) fn new() -> io::Result<(Ends, Ends)> {
        let (stdout, their_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
        let (stderr, their_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
        let (control, their_control) = channel::pair()?;
        for ours in [&stdout, &stderr] {
            rustix::fs::fcntl_setfl(ours, rustix::fs::OFlags::NONBLOCK)?;
        }
        let ours = Ends { stdout, stderr, control };
        Ok((ours, Ends { stdout: their_stdout, stderr: their_stderr, control: their_control }))
    }
}

/// A started box with what it holds on the host.
pub(crate) struct Watched {
    pub(crate) ends: Ends,
    pub(crate) scratch: Option<Scratch>,
    pub(crate) group: Option<Group>,
}

/// How long after its own deadline a box may take to report before it is killed from outside.
const GRACE_US: u64 = 2_000_000;
/// How long the end of a killed box is waited for.
const LAST_WAIT_US: u64 = 2_000_000;
/// How long output is waited for when the tier cannot promise that all writers are gone.
const DRAIN_US: u64 = 100_000;

/// What has come from the box so far.
struct Heard<'a> {
    stdout: Capture,
    stderr: Capture,
    open: [bool; 2],
    pidfd: Option<OwnedFd>,
    last: Option<(Message, Vec<OwnedFd>)>,
    cancelled: bool,
    asked: bool,
    opened: Option<Opened<'a>>,
}

/// Who takes the sockets of a box's doors.
type Opened<'a> = &'a mut dyn FnMut(Vec<OwnedFd>);

impl Watched {
    /// Waits for the end and makes the outcome.
    pub(crate) fn watch(
        self,
        spec: &Spec,
        tier: Tier,
        cancel: Option<&Cancel>,
        opened: Option<Opened<'_>>,
    ) -> Outcome {
        let cap =
            if spec.without.has(crate::guards::Guards::OUTPUT) { u64::MAX } else { spec.limits.output_bytes };
        let mut heard = Heard {
            stdout: Capture::new(spec.keep, cap),
            stderr: Capture::new(spec.keep, cap),
            open: [true; 2],
            pidfd: None,
            last: None,
            cancelled: false,
            asked: false,
            opened,
        };
        self.listen(spec, cancel, &mut heard);
        self.drain(&mut heard);
        let outcome = self.conclude(spec, tier, heard);
        drop(self.scratch);
        outcome
    }

    fn listen(&self, spec: &Spec, cancel: Option<&Cancel>, heard: &mut Heard<'_>) {
        let mut deadline =
            now_us().saturating_add(spec.limits.wall_ms.saturating_mul(1000)).saturating_add(GRACE_US);
        let mut killed = false;
        loop {
            let now = now_us();
            if now >= deadline {
                if killed {
                    return;
                }
                killed = true;
                deadline = now + LAST_WAIT_US;
                if let Some(pidfd) = &heard.pidfd {
                    let _ = pidfd_send_signal(pidfd, Signal::KILL);
                }
            }
            let ready =
                self.ready(deadline - now.min(deadline), cancel.filter(|_| !heard.cancelled), heard.open);
            self.read_output(ready, heard);
            heard.cancelled |= ready[3];
            let over = heard.stdout.truncated() || heard.stderr.truncated();
            if (over || heard.cancelled) && !heard.asked {
                heard.asked = true;
                let _ = channel::send(&self.ends.control, &[0], &[]);
                deadline = deadline.min(now_us() + GRACE_US);
            }
            if ready[2] && self.hear(heard) {
                return;
            }
        }
    }

    /// Which of stdout, stderr, channel and cancel have something.
    fn ready(&self, micros: u64, cancel: Option<&Cancel>, open: [bool; 2]) -> [bool; 4] {
        let want = |wanted: bool| if wanted { PollFlags::IN } else { PollFlags::empty() };
        let mut fds = vec![PollFd::new(&self.ends.control, PollFlags::IN)];
        if open[0] {
            fds.push(PollFd::new(&self.ends.stdout, want(true)));
        }
        if open[1] {
            fds.push(PollFd::new(&self.ends.stderr, want(true)));
        }
        fds.extend(cancel.map(|cancel| PollFd::from_borrowed_fd(cancel.fd(), PollFlags::IN)));
        let timeout = rustix::time::Timespec {
            tv_sec: i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(micros % 1_000_000 * 1000).unwrap_or_default(),
        };
        let _ = poll(&mut fds, Some(&timeout));
        let mut seen = fds.iter().map(|fd| !fd.revents().is_empty());
        let control = seen.next().unwrap_or(false);
        let stdout = open[0] && seen.next().unwrap_or(false);
        let stderr = open[1] && seen.next().unwrap_or(false);
        [stdout, stderr, control, seen.next().unwrap_or(false)]
    }

    fn read_output(&self, ready: [bool; 4], heard: &mut Heard<'_>) {
        if ready[0] {
            heard.open[0] = read_some(&self.ends.stdout, &mut heard.stdout) != Read::End;
        }
        if ready[1] {
            heard.open[1] = read_some(&self.ends.stderr, &mut heard.stderr) != Read::End;
        }
    }

    /// Takes one message; `true` when there will be no more.
    fn hear(&self, heard: &mut Heard<'_>) -> bool {
        let Ok(Some((bytes, fds))) = channel::receive(&self.ends.control) else { return true };
        match Message::decode(&bytes) {
            Some(Message::Started) => {
                heard.pidfd = fds.into_iter().next();
                false
            }
            Some(Message::Opened) => {
                if let Some(take) = heard.opened.take() {
                    take(fds);
                }
                false
            }
            Some(message) => {
                heard.last = Some((message, fds));
                true
            }
            None => true,
        }
    }

    /// Reads what is left in the pipes. Where every writer is known to be gone this meets the end at once.
    fn drain(&self, heard: &mut Heard<'_>) {
        let deadline = now_us() + DRAIN_US;
        while heard.open.contains(&true) && now_us() < deadline {
            let ready = self.ready(deadline.saturating_sub(now_us()), None, heard.open);
            self.read_output([ready[0], ready[1], false, false], heard);
        }
    }

    fn conclude(&self, spec: &Spec, tier: Tier, heard: Heard<'_>) -> Outcome {
        let over = heard.stdout.truncated() || heard.stderr.truncated();
        let mut outcome = Outcome::failed(tier, spec, Infra::NoReport);
        outcome.stdout = heard.stdout.finish();
        outcome.stderr = heard.stderr.finish();
        let oom = self.group.as_ref().is_some_and(Group::ran_out);
        match heard.last {
            Some((Message::Ended(ending), fds)) => {
                outcome.status = status(&ending, over, heard.cancelled, oom);
                outcome.usage = usage(&ending, self.group.as_ref());
                outcome.collected = collected(spec, &ending, fds);
            }
            Some((Message::Failed { step, exec: true }, _)) => {
                outcome.status = Status::InfraError(Infra::Exec { program: step.step, errno: step.errno });
            }
            Some((Message::Failed { step, exec: false }, _)) => {
                outcome.status = Status::InfraError(Infra::Setup { step: step.step, errno: step.errno });
            }
            // The kernel may choose the box's own init, which then says nothing any more.
            Some((Message::Started | Message::Opened, _)) | None if oom => {
                outcome.status = Status::MemoryLimit;
            }
            Some((Message::Started | Message::Opened, _)) | None => {}
        }
        outcome
    }
}

#[derive(PartialEq, Eq)]
enum Read {
    Some,
    End,
}

/// Reads once; a stream over its cap is left alone, so that no more of it is ever held.
fn read_some(fd: &OwnedFd, capture: &mut Capture) -> Read {
    let mut buffer = [0; 64 * 1024];
    match rustix::io::read(fd.as_fd(), &mut buffer) {
        Ok(0) => Read::End,
        Ok(count) if capture.take(&buffer[..count]) => Read::Some,
        Ok(_) => Read::End,
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Read::Some,
        Err(_) => Read::End,
    }
}

/// What the ending means. A limit that the harness, init or the kernel saw comes before how the process died of it; how much it
/// has used decides nothing, because whoever ends a box for a limit says so.
fn status(ending: &Ending, over: bool, cancelled: bool, oom: bool) -> Status {
    match (ending.limit, ending.status) {
        _ if over => Status::OutputLimit,
        _ if oom => Status::MemoryLimit,
        (Some(Limit::Memory), _) => Status::MemoryLimit,
        (Some(Limit::Cpu), _) => Status::CpuLimit,
        (Some(Limit::Wall), _) => Status::WallLimit,
        (Some(Limit::Processes), _) => Status::Denied,
        (Some(Limit::Asked), _) if cancelled => Status::InfraError(Infra::Cancelled),
        (Some(Limit::Asked) | None, None) => Status::InfraError(Infra::NoReport),
        (_, Some(wait)) if libc::WIFEXITED(wait) => match libc::WEXITSTATUS(wait) {
            0 => Status::Ok,
            code => Status::Exit(code),
        },
        (_, Some(wait)) => match libc::WTERMSIG(wait) {
            libc::SIGXFSZ => Status::FileLimit,
            libc::SIGSYS => Status::Denied,
            signal => Status::Signal(signal),
        },
    }
}

fn usage(ending: &Ending, group: Option<&Group>) -> Usage {
    Usage {
        cpu_ms: ending.cpu_us / 1000,
        cpu_us: ending.cpu_us,
        wall_ms: ending.wall_us / 1000,
        max_rss_bytes: ending.max_rss_bytes,
        peak_memory_bytes: group.and_then(Group::peak_bytes).unwrap_or(ending.peak_bytes),
    }
}

fn collected(spec: &Spec, ending: &Ending, fds: Vec<OwnedFd>) -> Vec<Collected> {
    let mut fds = fds.into_iter();
    let mut codes = ending.collected.iter();
    let mut one = |path: &str| {
        let result = match codes.next() {
            Some((0, length)) => {
                let found = fds.next().map(|fd| ResultFile { fd: fd.into(), length: *length });
                found.ok_or(NotTaken::Unreadable)
            }
            Some((code, _)) => Err(files::reason_from_wire(*code)),
            None => Err(NotTaken::NotReached),
        };
        Collected { path: path.to_owned(), result }
    };
    spec.collect.iter().map(|each| one(&each.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(limit: Option<Limit>, status: Option<i32>, cpu_us: u64) -> Status {
        super::status(&Ending { limit, status, cpu_us, ..Ending::default() }, false, false, false)
    }

    #[test]
    fn whoever_ends_a_box_says_why() {
        for (limit, expected) in [
            (Limit::Cpu, Status::CpuLimit),
            (Limit::Wall, Status::WallLimit),
            (Limit::Memory, Status::MemoryLimit),
            (Limit::Processes, Status::Denied),
        ] {
            for status in [None, Some(libc::SIGKILL), Some(0)] {
                assert_eq!(ended(Some(limit), status, 0), expected, "{limit:?} {status:?}");
            }
        }
        let killed = Ending { status: Some(libc::SIGKILL), ..Ending::default() };
        assert_eq!(status(&killed, false, false, true), Status::MemoryLimit);
        assert_eq!(status(&killed, true, false, false), Status::OutputLimit);
    }

    #[test]
    fn a_signal_is_no_limit_however_much_was_used() {
        for signal in [libc::SIGKILL, libc::SIGXCPU] {
            for cpu_us in [0, u64::MAX] {
                assert_eq!(ended(None, Some(signal), cpu_us), Status::Signal(signal));
            }
        }
    }
}
