//! Runs a program with process groups and resource limits only: the `limited` tier of systems other than Linux, and `none`
//! everywhere. It isolates nothing and says so.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::capture::Capture;
use crate::clock::now_us;
use crate::expand::{Layout, expand};
use crate::guards::Guards;
use crate::outcome::{Collected, Infra, NotTaken, Outcome, ResultFile, Status, Usage};
use crate::sandbox::{Cancel, Helper};
use crate::scratch::Scratch;
use crate::spec::{Source, Spec, Stdin, Work};
use crate::tier::Tier;
use crate::trampoline;

/// How often a running program is looked at.
const TICK_MS: u64 = 5;
/// How long output of a program that has ended is waited for.
const DRAIN_US: u64 = 50_000;

/// Runs one spec.
pub(crate) fn run(
    spec: &Spec,
    tier: Tier,
    helper: &Helper,
    scratch: &Path,
    end: Option<OwnedFd>,
    cancel: Option<&Cancel>,
) -> Outcome {
    let failed = |step: &str, error: &io::Error| {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        Outcome::failed(tier, spec, Infra::Setup { step: step.to_owned(), errno })
    };
    let own = match &spec.work {
        Work::Private => match Scratch::new(scratch) {
            Ok(own) => Some(own),
            Err(error) => return failed("make a work directory", &error),
        },
        Work::Host(_) => None,
    };
    let work = match (&spec.work, &own) {
        (Work::Host(path), _) => path.clone(),
        (Work::Private, own) => own.as_ref().map(|own| own.path().to_owned()).unwrap_or_default(),
    };
    if let Err(error) = place_files(spec, &work) {
        return failed("place files", &error);
    }
    match start(spec, tier, helper, &work, end) {
        Ok(running) => running.watch(spec, tier, &work, cancel),
        Err(error) => failed("start the program", &error),
    }
}

fn place_files(spec: &Spec, work: &Path) -> io::Result<()> {
    for place in &spec.files {
        let path = work.join(&place.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mode = if place.executable { 0o755 } else { 0o644 };
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&path)?;
        match &place.source {
            Source::Bytes(bytes) => io::Write::write_all(&mut file, bytes)?,
            Source::Fd(fd) => {
                let mut from = fs::File::from(fd.try_clone()?);
                io::Seek::rewind(&mut from)?;
                io::copy(&mut from, &mut file)?;
            }
        }
    }
    Ok(())
}

/// A program that has been started.
struct Running {
    pid: Pid,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

fn start(spec: &Spec, tier: Tier, helper: &Helper, work: &Path, end: Option<OwnedFd>) -> io::Result<Running> {
    let mut command = command(spec, tier, helper, work)?;
    command.current_dir(work.join(&spec.cwd)).process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(match (end, &spec.stdin) {
        (Some(end), _) => Stdio::from(end),
        (None, Stdin::Null) => Stdio::null(),
        (None, Stdin::Bytes(bytes)) => Stdio::from(input_file(work, bytes)?),
    });
    let mut child = command.spawn()?;
    // The command holds our copy of a link's end.
    drop(command);
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (Some(pid), Some(stdout), Some(stderr)) = (pid, child.stdout.take(), child.stderr.take()) else {
        return Err(io::ErrorKind::Other.into());
    };
    let running = Running { pid, stdout: stdout.into(), stderr: stderr.into() };
    for pipe in [&running.stdout, &running.stderr] {
        rustix::fs::fcntl_setfl(pipe, OFlags::NONBLOCK)?;
    }
    Ok(running)
}

/// Standard input as a file without a name, so that nothing has to be pumped.
fn input_file(work: &Path, bytes: &[u8]) -> io::Result<fs::File> {
    let path = work.join(format!(".stdin-{}", std::process::id()));
    let mut file = fs::OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    io::Write::write_all(&mut file, bytes)?;
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

fn command(spec: &Spec, tier: Tier, helper: &Helper, work: &Path) -> io::Result<Command> {
    let layout = Layout { binds: &spec.binds, inside: false, work: work.to_owned() };
    let mut argv: Vec<_> = spec.argv.iter().map(|arg| expand(arg, &layout)).collect();
    if let Some(words) = &spec.builtin {
        let mut command = helper.command(trampoline::BUILTIN)?;
        if spec.without.has(Guards::ENV) {
            command.envs(std::env::vars_os());
        }
        command.args(words);
        return Ok(command);
    }
    if argv.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut command = if tier == Tier::Limited {
        let limits = &spec.limits;
        let mut command = helper.command(trampoline::LIMITED)?;
        let address = limits.address_bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
        command.arg(limits.cpu_ms.div_ceil(1000).max(1).to_string()).arg(address).arg("-");
        command.arg(limits.open_files.to_string()).arg(limits.file_bytes.to_string()).args(argv);
        command
    } else {
        let program = argv.remove(0);
        #[expect(clippy::disallowed_methods, reason = "this crate is the home of process starting")]
        let mut command = Command::new(program);
        command.args(argv);
        if !spec.without.has(Guards::ENV) {
            command.env_clear();
        }
        command
    };
    command.envs(spec.env.iter().map(|(name, value)| (name, expand(value, &layout))));
    Ok(command)
}

/// How a watched program ended.
struct End {
    wait: i32,
    cpu_us: u64,
    max_rss_bytes: u64,
}

impl Running {
    fn watch(self, spec: &Spec, tier: Tier, work: &Path, cancel: Option<&Cancel>) -> Outcome {
        let start = now_us();
        let deadline = start.saturating_add(spec.limits.wall_ms.saturating_mul(1000));
        let cap = if spec.without.has(Guards::OUTPUT) { u64::MAX } else { spec.limits.output_bytes };
        let mut streams = [Capture::new(spec.keep, cap), Capture::new(spec.keep, cap)];
        let mut open = [true; 2];
        let mut why = None;
        let end = loop {
            self.read(&mut streams, &mut open, TICK_MS);
            if let Some(end) = self.try_wait() {
                break end;
            }
            let cancelled = cancel.is_some_and(is_cancelled);
            why = why.or(match () {
                () if streams.iter().any(Capture::truncated) => Some(Status::OutputLimit),
                () if now_us() >= deadline => Some(Status::WallLimit),
                () if cancelled => Some(Status::InfraError(Infra::Cancelled)),
                () => None,
            });
            if why.is_some() {
                let _ = kill_process_group(self.pid, Signal::KILL);
            }
        };
        if !spec.without.has(Guards::REAP) {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
        let wall_us = now_us() - start;
        let drained = now_us() + DRAIN_US;
        while open.contains(&true) && now_us() < drained {
            self.read(&mut streams, &mut open, TICK_MS);
        }
        if streams.iter().any(Capture::truncated) {
            why = Some(Status::OutputLimit);
        }
        let [stdout, stderr] = streams.map(Capture::finish);
        let usage = Usage {
            cpu_ms: end.cpu_us / 1000,
            cpu_us: end.cpu_us,
            wall_ms: wall_us / 1000,
            max_rss_bytes: end.max_rss_bytes,
            peak_memory_bytes: end.max_rss_bytes,
        };
        let status = why.unwrap_or_else(|| status(&end, spec));
        let collected = spec.collect.iter().map(|each| Collected {
            path: each.path.clone(),
            result: take(work, &each.path, each.max_bytes),
        });
        Outcome { status, stdout, stderr, collected: collected.collect(), usage, tier }
    }

    /// Reads what is there, waiting at most `wait_ms`.
    fn read(&self, streams: &mut [Capture; 2], open: &mut [bool; 2], wait_ms: u64) {
        let timeout = rustix::time::Timespec { tv_sec: 0, tv_nsec: (wait_ms * 1_000_000).cast_signed() };
        let pipes = [&self.stdout, &self.stderr];
        let mut fds: Vec<PollFd<'_>> = (0..2)
            .filter(|index| open[*index])
            .map(|index| PollFd::new(pipes[index], PollFlags::IN))
            .collect();
        let _ = poll(&mut fds, Some(&timeout));
        let mut buffer = [0; 64 * 1024];
        for index in 0..2 {
            if !open[index] {
                continue;
            }
            match rustix::io::read(pipes[index], &mut buffer) {
                Ok(0) => open[index] = false,
                Ok(count) => open[index] = streams[index].take(&buffer[..count]),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(_) => open[index] = false,
            }
        }
    }

    fn try_wait(&self) -> Option<End> {
        let mut wait = 0;
        // SAFETY: `wait` and `usage` are valid for writing during the call; the pid is our own child, which nobody else waits for.
        let (pid, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let pid =
                libc::wait4(self.pid.as_raw_nonzero().get(), &raw mut wait, libc::WNOHANG, &raw mut usage);
            (pid, usage)
        };
        if pid == 0 {
            return None;
        }
        let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        let max_rss_bytes = usage.ru_maxrss.unsigned_abs() * unit;
        Some(End { wait, cpu_us: micros(usage.ru_utime) + micros(usage.ru_stime), max_rss_bytes })
    }
}

fn is_cancelled(cancel: &Cancel) -> bool {
    let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::from_borrowed_fd(cancel.fd(), PollFlags::IN)];
    poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
}

fn status(end: &End, spec: &Spec) -> Status {
    let spent = end.cpu_us >= spec.limits.cpu_ms.saturating_mul(1000);
    match end.wait {
        _ if spent => Status::CpuLimit,
        wait if libc::WIFEXITED(wait) && libc::WEXITSTATUS(wait) == 0 => Status::Ok,
        wait if libc::WIFEXITED(wait) => Status::Exit(libc::WEXITSTATUS(wait)),
        wait => match libc::WTERMSIG(wait) {
            libc::SIGXFSZ => Status::FileLimit,
            signal => Status::Signal(signal),
        },
    }
}

/// Opens a result step by step, refusing links at each; the portable form of what Linux does in one call.
fn take(work: &Path, path: &str, max_bytes: u64) -> Result<ResultFile, NotTaken> {
    let reason = |error: rustix::io::Errno| match error {
        rustix::io::Errno::NOENT => NotTaken::Missing,
        rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR | rustix::io::Errno::MLINK => NotTaken::Link,
        rustix::io::Errno::NXIO => NotTaken::NotRegular,
        _ => NotTaken::Unreadable,
    };
    let path = PathBuf::from(path);
    if path.components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
        return Err(NotTaken::Link);
    }
    let directory = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = rustix::fs::open(work, directory, Mode::empty()).map_err(reason)?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        at = openat(&at, part.as_os_str(), directory, Mode::empty()).map_err(reason)?;
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = openat(&at, path.file_name().unwrap_or_default(), flags, Mode::empty()).map_err(reason)?;
    let found = fstat(fd.as_fd()).map_err(reason)?;
    let length = u64::try_from(found.st_size).unwrap_or(u64::MAX);
    match () {
        () if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile => Err(NotTaken::NotRegular),
        () if found.st_nlink != 1 => Err(NotTaken::HardLinked),
        () if length > max_bytes => Err(NotTaken::TooLarge),
        () => Ok(ResultFile { fd: Arc::new(fd), length }),
    }
}

/// What a system without Linux's mechanisms has: `limited`, and the honest reason.
#[cfg(not(target_os = "linux"))]
pub(crate) fn probe() -> crate::probe::Probe {
    use crate::probe::{Failure, Memory, Probe};
    let failure = || Failure {
        step: "isolate processes on this system".into(),
        errno: libc::ENOSYS,
        fix: "run on Linux, or in a Linux virtual machine or container".into(),
    };
    Probe {
        system: std::env::consts::OS.to_owned(),
        root: rustix::process::geteuid().is_root(),
        mechanisms: Vec::new(),
        landlock_abi: 0,
        memory: Memory::Watchdog,
        strong: Err(failure()),
        confined: Err(failure()),
    }
}
