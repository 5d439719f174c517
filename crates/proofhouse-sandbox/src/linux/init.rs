//! The trusted init of a box: builds the root, starts the payload, keeps its limits, ends what is left, reports. The payload
//! never runs code of this process, cannot signal it, and cannot write to its channel.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::cpu::Counter;
use super::guard::Guard;
use super::payload::{Failure, Payload, User};
use super::report::{Ending, Message};
use super::watch::{self, Watch};
use super::wire::{Job, limits_from_wire};
use super::{At, Step, carry, channel, doors, files, reap, root, sys};
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
pub(crate) fn main(fds: BoxFds, cpu: Option<Counter>) -> ! {
    let control = match fds.control.try_clone() {
        Ok(control) => control,
        Err(_) => sys::exit_now(1),
    };
    let (message, results) = match run(fds, cpu) {
        Ok((ending, results)) => (Message::Ended(ending), results),
        Err(Failure { step, exec }) => (Message::Failed { step, exec }, Vec::new()),
    };
    let results: Vec<_> = results.iter().map(AsFd::as_fd).collect();
    let sent = channel::send(&control, &message.encode(), &results);
    sys::exit_now(i32::from(sent.is_err()))
}

type Results = Vec<OwnedFd>;

fn run(fds: BoxFds, cpu: Option<Counter>) -> Result<(Ending, Results), Failure> {
    let BoxFds { job, control, stdio, sources } = fds;
    let (job, limits) = read_job(job)?;
    let own_pids = rustix::process::getpid().as_raw_nonzero().get() == 1;
    // As pid 1 of a namespace init takes everything with it when it dies, so it only has to die with the helper. Elsewhere orphans must
    // come back to it, or they would outlive the box.
    if own_pids {
        sys::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64).at("bind to the helper")?;
    } else {
        sys::prctl(libc::PR_SET_CHILD_SUBREAPER, 1).at("become the reaper")?;
    }
    sys::ask_for_short_slices();
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let user = box_user(&job)?;
    // A host directory behind the work directory of a private root: its files are carried in, and out again afterwards.
    let host = match job.strong && !job.work.is_empty() {
        true => {
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            let path = OsStr::from_bytes(&job.work);
            Some(rustix::fs::open(path, flags, Mode::empty()).at("open the work directory")?)
        }
        false => None,
    };
    let doors = doors::open(&job.doors)?;
    let proc = if job.strong {
        let owner = user.map_or(rustix::process::geteuid().as_raw(), |user| user.id);
        root::build(&job, &limits, owner)?
    } else {
        watch::host_proc().at("open /proc")?
    };
    // Before anything of the payload exists: a process of the same user could otherwise trace init, or reach its descriptors by `/proc`.
    sys::prctl(libc::PR_SET_DUMPABLE, 0).at("hide init")?;
    let work_path = work_path(&job);
    let work = rustix::fs::open(&work_path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .at("open the work directory")?;
    if let Some(host) = &host {
        carry::carry(host.as_fd(), work.as_fd(), user.map(|user| user.id), u64::MAX)
            .at("copy the work directory in")?;
    }
    fill_work(&job, &work, &sources, user)?;
    drop(sources);
    if !doors.is_empty() {
        let sockets: Vec<_> = doors.iter().map(AsFd::as_fd).collect();
        channel::send(&control, &Message::Opened.encode(), &sockets).at("hand out the doors")?;
    }
    drop(doors);
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
    // Copies that stayed open here would keep the readers outside, and `hear_failure`, waiting for an end that never comes.
    drop((stdio, failures.1));
    let watch = Watch::new(proc, own_pids);
    if let Some(failure) = hear_failure(failures.0) {
        reap::end_all(&watch, own_pids, |_| {});
        return Err(failure);
    }
    let mut guard = Guard::new(&job, &limits, watch, cpu);
    guard.supervise(&child, &control);
    // Only now: nothing of the box is alive that could exchange a file between the look and the opening.
    let results = collect(&job, &work, &mut guard.ending);
    if !job.strong && job.landlock && job.host_work {
        carry::strip(work.as_fd()).at("clear up the work directory")?;
    }
    if let Some(host) = &host {
        let most = if Guards(job.without).has(Guards::DISK) { u64::MAX } else { limits.disk_bytes };
        carry::carry(work.as_fd(), host.as_fd(), None, most).at("copy the work directory out")?;
    }
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
    if let Some(id) = owner.filter(|_| !job.strong && !job.work.is_empty()) {
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
