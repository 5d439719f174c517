//! The trusted init of a box: builds the root, starts the payload, keeps its limits, ends what is left, reports. The payload
//! never runs code of this process, cannot signal it, and cannot write to its channel.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};

use super::payload::{Failure, Payload, User, kernel_cpu_seconds};
use super::report::{Ending, Limit, Message};
use super::watch::{self, Watch};
use super::wire::{Job, limits_from_wire};
use super::{At, Step, channel, files, reap, root, sys};
use crate::clock::now_us;
use crate::guards::Guards;
use crate::spec::Limits;

/// The descriptors that a box starts with.
pub(crate) struct BoxFds {
    pub(crate) job: OwnedFd,
    pub(crate) control: OwnedFd,
    pub(crate) stdio: [OwnedFd; 3],
    /// Sources of placed files, in the order of the job.
    pub(crate) sources: Vec<OwnedFd>,
}

/// The first user id of boxes when the caller is root; each box adds its init's pid, so that no two share one.
const BOX_IDS: u32 = 0x7000_0000;

/// The user of the box whose init has this pid.
pub(crate) fn box_id(pid: i32) -> u32 {
    BOX_IDS + (pid.unsigned_abs() & 0x00ff_ffff)
}

/// Runs in the forked child of the helper and never returns.
pub(crate) fn main(fds: BoxFds) -> ! {
    let control = match fds.control.try_clone() {
        Ok(control) => control,
        Err(_) => sys::exit_now(1),
    };
    let (message, results) = match run(fds) {
        Ok((ending, results)) => (Message::Ended(ending), results),
        Err(Failure { step, exec }) => (Message::Failed { step, exec }, Vec::new()),
    };
    let results: Vec<_> = results.iter().map(AsFd::as_fd).collect();
    let sent = channel::send(&control, &message.encode(), &results);
    sys::exit_now(i32::from(sent.is_err()))
}

type Results = Vec<OwnedFd>;

fn run(fds: BoxFds) -> Result<(Ending, Results), Failure> {
    let BoxFds { job, control, stdio, sources } = fds;
    let (job, limits) = read_job(job)?;
    let own_pids = rustix::process::getpid().as_raw_nonzero().get() == 1;
    if own_pids {
        sys::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64).at("bind to the helper")?;
    } else {
        sys::prctl(libc::PR_SET_CHILD_SUBREAPER, 1).at("become the reaper")?;
    }
    sys::ask_for_short_slices();
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let user = box_user(&job)?;
    let proc = if job.strong {
        let owner = user.map_or(rustix::process::geteuid().as_raw(), |user| user.id);
        root::build(&job, &limits, owner)?
    } else {
        watch::host_proc().at("open /proc")?
    };
    sys::prctl(libc::PR_SET_DUMPABLE, 0).at("hide init")?;
    let work_path = work_path(&job);
    let work = rustix::fs::open(&work_path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .at("open the work directory")?;
    fill_work(&job, &work, &sources, user)?;
    drop(sources);
    let others = if own_pids || user.is_some() { 0 } else { processes_of_this_user() };
    let failures = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at("make a pipe")?;
    let payload = Payload {
        job: &job,
        limits: &limits,
        stdio: [&stdio[0], &stdio[1], &stdio[2]],
        failures: &failures.1,
        work: &work_path,
        user,
        others,
    };
    let child = match sys::fork().at("start the payload")? {
        Some(child) => child,
        None => payload.become_it(),
    };
    drop((stdio, failures.1));
    let watch = Watch::new(proc, own_pids);
    if let Some(failure) = hear_failure(failures.0) {
        reap::end_all(&watch, own_pids, |_| {});
        return Err(failure);
    }
    let mut guard = Guard { job: &job, limits: &limits, watch, own_pids, ending: Ending::default() };
    guard.supervise(&child, &control);
    let results = collect(&job, &work, &mut guard.ending);
    Ok((guard.ending, results))
}

fn read_job(job: OwnedFd) -> Result<(Job, Limits), Step> {
    let mut bytes = Vec::new();
    let mut file = std::fs::File::from(job);
    std::io::Seek::rewind(&mut file).at("read the job")?;
    file.read_to_end(&mut bytes).at("read the job")?;
    let broken = || Step { step: "read the job".into(), errno: libc::EBADMSG };
    let job = Job::decode(&bytes).ok_or_else(broken)?;
    let limits = limits_from_wire(&job.limits).ok_or_else(broken)?;
    Ok((job, limits))
}

fn work_path(job: &Job) -> PathBuf {
    if job.strong { PathBuf::from(root::WORK) } else { Path::new(OsStr::from_bytes(&job.work)).to_owned() }
}

fn fill_work(job: &Job, work: &OwnedFd, sources: &[OwnedFd], user: Option<User>) -> Result<(), Step> {
    let owner = user.map(|user| user.id);
    if let Some(id) = owner.filter(|_| !job.work.is_empty()) {
        files::give_tree(work.as_fd(), id).at("hand over the work directory")?;
    }
    let mut sources = sources.iter();
    for file in &job.files {
        let from = if file.bytes.is_none() { sources.next() } else { None };
        files::place(work.as_fd(), file, from, owner)?;
    }
    Ok(())
}

/// The user that the payload becomes when init is root: one of its own, so that process limits count and files of root are out of
/// reach. Where that user could not reach a bind (a toolchain in root's home), it may pass directories and read files that are
/// not open to it; the private root or Landlock still says which.
fn box_user(job: &Job) -> Result<Option<User>, Step> {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || Guards(job.without).has(Guards::USER) {
        return Ok(None);
    }
    let paths = job.binds.iter().map(|(host, _)| host.as_slice());
    if job.strong {
        let open_to_all = |path: &[u8]| {
            rustix::fs::stat(path).is_ok_and(|found| {
                let directory = rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir();
                let needed = if directory { 0o005 } else { 0o004 };
                found.st_mode & needed == needed
            })
        };
        let read_all = !paths.into_iter().all(open_to_all);
        return Ok(Some(User { id: root::INSIDE_ID, read_all }));
    }
    let id = box_id(rustix::process::getpid().as_raw_nonzero().get());
    let above_work = Path::new(OsStr::from_bytes(&job.work)).parent().unwrap_or(Path::new("/"));
    let reach = can_reach_all(id, paths, above_work)?;
    Ok(reach.map(|all| User { id, read_all: !all }))
}

/// Tries the paths as that user and becomes root again. `None`: there can be no such user here.
fn can_reach_all<'a>(
    id: u32,
    mut read: impl Iterator<Item = &'a [u8]>,
    above_work: &Path,
) -> Result<Option<bool>, Step> {
    use rustix::fs::{Access, AtFlags, CWD, Gid, Uid, accessat};
    use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
    let step = "try the box's user";
    let (user, group) = (Uid::from_raw(id), Gid::from_raw(id));
    let may_leave = set_thread_groups(&[]).is_ok() && set_thread_res_gid(None, group, None).is_ok();
    if !may_leave || set_thread_res_uid(None, user, None).is_err() {
        set_thread_res_gid(None, Gid::ROOT, None).at(step)?;
        return Ok(None);
    }
    let may = |path: &OsStr, access| accessat(CWD, path, access, AtFlags::EACCESS).is_ok();
    let all = read.all(|path| may(OsStr::from_bytes(path), Access::READ_OK))
        && may(above_work.as_os_str(), Access::EXEC_OK);
    set_thread_res_uid(None, Uid::ROOT, None).at(step)?;
    set_thread_res_gid(None, Gid::ROOT, None).at(step)?;
    Ok(Some(all))
}

/// Threads of this user on the host, which the kernel counts against the same limit.
fn processes_of_this_user() -> u64 {
    let own = rustix::process::getuid().as_raw();
    let Ok(proc) = watch::host_proc() else { return 0 };
    let Ok(entries) = rustix::fs::Dir::read_from(&proc) else { return 0 };
    let threads = |name: &std::ffi::CStr| {
        name.to_str().ok()?.parse::<i32>().ok()?;
        let tasks = [name.to_bytes(), b"/task"].concat();
        let found = rustix::fs::statat(&proc, tasks, rustix::fs::AtFlags::empty()).ok()?;
        (found.st_uid == own).then_some((found.st_nlink as u64).saturating_sub(2))
    };
    entries.flatten().filter_map(|entry| threads(entry.file_name())).sum()
}

/// Reads the failure pipe until exec closes it.
fn hear_failure(pipe: OwnedFd) -> Option<Failure> {
    let mut text = Vec::new();
    std::fs::File::from(pipe).read_to_end(&mut text).ok()?;
    let (errno, rest) = text.split_first_chunk::<4>()?;
    let (exec, step) = rest.split_first()?;
    let step = Step { step: String::from_utf8_lossy(step).into_owned(), errno: i32::from_ne_bytes(*errno) };
    Some(Failure { step, exec: *exec != 0 })
}

/// Supervision of one payload.
struct Guard<'a> {
    job: &'a Job,
    limits: &'a Limits,
    watch: Watch,
    own_pids: bool,
    ending: Ending,
}

/// Longest time between two looks.
const TICK_US: u64 = 10_000;
/// Shortest, when memory is nearly used up.
const HASTE_US: u64 = 500;
/// How fast a machine might fill memory, for choosing the next look.
const FILL_BYTES_PER_US: u64 = 16_384;

impl Guard<'_> {
    fn supervise(&mut self, child: &sys::Child, control: &OwnedFd) {
        let start = now_us();
        let endless = Guards(self.job.without).has(Guards::WALL);
        let wall_ms = if endless { u64::MAX } else { self.limits.wall_ms };
        let deadline = start.saturating_add(wall_ms.saturating_mul(1000));
        let mut next = TICK_US / 2;
        while self.ending.status.is_none() && self.ending.limit.is_none() {
            let now = now_us();
            let asked = self.sleep(child, control, next.min(deadline.saturating_sub(now)));
            self.reap_ready(child.pid);
            if self.ending.status.is_some() {
                break;
            }
            next = self.look();
            if self.ending.limit.is_none() && asked {
                self.ending.limit = Some(Limit::Asked);
            }
            if self.ending.limit.is_none() && now_us() >= deadline {
                self.ending.limit = Some(Limit::Wall);
            }
        }
        self.ending.wall_us = now_us() - start;
        if Guards(self.job.without).has(Guards::REAP) {
            return self.account();
        }
        reap::end_all(&self.watch, self.own_pids, |_| {});
        self.account();
    }

    fn account(&mut self) {
        let (cpu_us, max_rss) = sys::children_usage();
        self.ending.cpu_us = cpu_us;
        self.ending.max_rss_bytes = max_rss;
        self.ending.peak_bytes = self.ending.peak_bytes.max(max_rss);
    }

    /// Waits for the payload's end, a word from the harness, or the time; `true` when the harness wants the end.
    fn sleep(&self, child: &sys::Child, control: &OwnedFd, micros: u64) -> bool {
        let mut fds = [
            PollFd::new(&child.pidfd, PollFlags::IN),
            PollFd::new(control, PollFlags::IN | PollFlags::RDHUP),
        ];
        let timeout = rustix::time::Timespec {
            tv_sec: i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(micros % 1_000_000 * 1000).unwrap_or_default(),
        };
        let _ = poll(&mut fds, Some(&timeout));
        !fds[1].revents().is_empty()
    }

    fn reap_ready(&mut self, main: i32) {
        while let Some(pid) = sys::ended_child() {
            // The kernel's count is gone with the process.
            let charged_us = if pid == main { sys::charged_cpu_us(pid) } else { None };
            let status = sys::reap_one(pid);
            if pid == main {
                self.ending.status = status;
                self.ending.limit = status.and_then(|wait| self.kernel_limit(wait, charged_us?));
            }
        }
    }

    /// The limit for which the kernel killed the payload, which it does without a word. Nothing outlives a charge beyond its limit,
    /// and below it the kernel kills nothing, so that its own count tells its kill from any other.
    fn kernel_limit(&self, wait: i32, charged_us: u64) -> Option<Limit> {
        let limited = !Guards(self.job.without).has(Guards::RLIMITS);
        let killed = libc::WIFSIGNALED(wait) && libc::WTERMSIG(wait) == libc::SIGKILL;
        let limit_us = kernel_cpu_seconds(self.limits).saturating_mul(1_000_000);
        (limited && killed && charged_us >= limit_us).then_some(Limit::Cpu)
    }

    /// Compares the tree with its limits; returns the time until the next look.
    fn look(&mut self) -> u64 {
        if Guards(self.job.without).has(Guards::WATCHDOG) {
            return TICK_US;
        }
        let (reaped_us, _) = sys::children_usage();
        let sample = self.watch.sample(reaped_us);
        let limits = self.limits;
        let mut memory = sample.memory_bytes;
        let memory_matters = !self.job.counted;
        if memory_matters && memory > limits.memory_bytes && sample.processes > 1 {
            memory = self.watch.exact_memory();
        }
        self.ending.peak_bytes = self.ending.peak_bytes.max(memory);
        self.ending.limit = match () {
            () if memory_matters && memory > limits.memory_bytes => Some(Limit::Memory),
            () if sample.cpu_us > limits.cpu_ms.saturating_mul(1000) => Some(Limit::Cpu),
            () if sample.threads > limits.processes.saturating_add(1) => Some(Limit::Processes),
            () => None,
        };
        let room = limits.memory_bytes.saturating_sub(memory);
        (room / FILL_BYTES_PER_US).clamp(HASTE_US, TICK_US)
    }
}

fn collect(job: &Job, work: &OwnedFd, ending: &mut Ending) -> Results {
    let mut results = Vec::new();
    for (path, max_bytes) in &job.collect {
        ending.collected.push(match files::take(work.as_fd(), path, *max_bytes) {
            Ok((fd, length)) => {
                results.push(fd);
                (0, length)
            }
            Err(reason) => (files::reason_to_wire(reason), 0),
        });
    }
    results
}
