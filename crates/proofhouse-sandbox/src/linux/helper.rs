//! The helper: this executable, started again before the harness grows. It forks boxes on request, tells the harness how to
//! signal them, and ends everything when the harness is gone.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};

use super::cpu::{self, Counter};
use super::init::{self, BoxFds};
use super::report::Message;
use super::wire::{Reader, number};
use super::{At, Step, channel, reap, sys, watch};

/// What the harness asks for. Descriptors: job, control, three of stdio, the cgroup if any, sources of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Namespaces to make; none for the tiers without.
    pub(crate) namespaces: u64,
    pub(crate) group: GroupFd,
    /// Whether the cgroup's count of CPU time is given, behind the cgroup.
    pub(crate) counts_cpu: bool,
    /// Whether a task clock is attached where the cgroup does not count.
    pub(crate) clock: bool,
}

/// How a box gets into its cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupFd {
    None = 0,
    /// The directory, for `clone3`.
    Directory = 1,
    /// The file that takes a pid.
    Procs = 2,
}

impl Request {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = Vec::new();
        number(&mut out, self.namespaces);
        number(&mut out, self.group as u64);
        number(&mut out, u64::from(self.counts_cpu));
        number(&mut out, u64::from(self.clock));
        out
    }

    fn decode(bytes: &[u8]) -> Option<Request> {
        let mut reader = Reader(bytes);
        let namespaces = reader.number()?;
        let group = match reader.number()? {
            0 => GroupFd::None,
            1 => GroupFd::Directory,
            2 => GroupFd::Procs,
            _ => return None,
        };
        Some(Request { namespaces, group, counts_cpu: reader.number()? != 0, clock: reader.number()? != 0 })
    }
}

/// A running box, seen from the helper.
struct Running {
    child: sys::Child,
    strong: bool,
}

/// Serves until the harness is gone.
pub(crate) fn main(harness: &OwnedFd) -> ! {
    // Boxes should be the first to go when the machine runs out of memory, and raising the own score is always allowed.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    let _ = sys::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    let mut running: Vec<Running> = Vec::new();
    loop {
        wait(harness, &running);
        reap_ended(&mut running);
        match receive_ready(harness) {
            Ok(Some((bytes, fds))) => serve(harness, &bytes, fds, &mut running),
            Ok(None) => break,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
    }
    end(running)
}

fn wait(harness: &OwnedFd, running: &[Running]) {
    let mut fds = vec![PollFd::new(harness, PollFlags::IN)];
    fds.extend(running.iter().map(|each| PollFd::new(&each.child.pidfd, PollFlags::IN)));
    let _ = poll(&mut fds, None);
}

fn receive_ready(harness: &OwnedFd) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut fds = [PollFd::new(harness, PollFlags::IN)];
    let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut fds, Some(&now)) {
        Ok(0) => Err(io::ErrorKind::WouldBlock.into()),
        _ => channel::receive(harness),
    }
}

fn reap_ended(running: &mut Vec<Running>) {
    let mut sweep_needed = false;
    while let Ok(Some(reaped)) = sys::reap(false) {
        if let Some(index) = running.iter().position(|each| each.child.pid == reaped.pid) {
            sweep_needed |= !running.remove(index).strong;
        }
    }
    if sweep_needed {
        sweep(running);
    }
}

/// Ends what a box without a pid namespace left behind, should its init have been killed.
fn sweep(running: &[Running]) {
    let Ok(proc) = watch::host_proc() else { return };
    let watch = watch::Watch::new(proc, false);
    loop {
        let strays: Vec<i32> = watch.strays(|pid| running.iter().any(|each| each.child.pid == pid));
        if strays.is_empty() {
            return;
        }
        let still_ours = || watch.strays(|pid| running.iter().any(|each| each.child.pid == pid));
        reap::kill_all(&strays, still_ours);
        for pid in strays {
            sys::reap_one(pid);
        }
    }
}

fn serve(harness: &OwnedFd, bytes: &[u8], fds: Vec<OwnedFd>, running: &mut Vec<Running>) {
    let mut fds = fds.into_iter();
    let mut next = || fds.next();
    let (Some(request), Some(job), Some(control)) = (Request::decode(bytes), next(), next()) else { return };
    let (Some(stdin), Some(stdout), Some(stderr)) = (next(), next(), next()) else { return };
    let group = if request.group == GroupFd::None { None } else { next() };
    let cpu = if request.counts_cpu { next() } else { None };
    let Ok(own_control) = control.try_clone() else { return };
    let box_fds = BoxFds { job, control, stdio: [stdin, stdout, stderr], sources: fds.collect() };
    match start(harness, request, (group, cpu), box_fds) {
        Ok(child) => {
            let sent = channel::send(&own_control, &Message::Started.encode(), &[child.pidfd.as_fd()]);
            if sent.is_err() {
                child.kill();
            }
            running.push(Running { child, strong: request.namespaces != 0 });
        }
        Err(step) => {
            let _ = channel::send(&own_control, &Message::Failed { step, exec: false }.encode(), &[]);
        }
    }
}

fn start(
    harness: &OwnedFd,
    request: Request,
    (group, cpu): (Option<OwnedFd>, Option<OwnedFd>),
    fds: BoxFds,
) -> Result<sys::Child, Step> {
    let (go_read, go_write) = channel::pair().at("make a channel")?;
    let into = group.as_ref().filter(|_| request.group == GroupFd::Directory).map(AsFd::as_fd);
    let forked = if request.namespaces == 0 {
        sys::fork().at("fork")?
    } else {
        sys::clone_into(request.namespaces, into).at("make namespaces")?
    };
    let Some(child) = forked else {
        drop((go_write, group, cpu));
        sys::close_one(harness);
        match channel::receive(&go_read) {
            Ok(Some((go, mut given))) => {
                init::main(fds, Counter::of(go.first().copied().unwrap_or_default(), given.pop()))
            }
            _ => sys::exit_now(1),
        }
    };
    drop(fds);
    let prepared = prepare(&child, request, group.as_ref().map(AsFd::as_fd));
    if let Err(step) = prepared {
        // Closing the pipe without a word ends the child before it has done anything.
        drop(go_write);
        child.kill();
        sys::reap_one(child.pid);
        return Err(step);
    }
    let (kind, count) = match cpu {
        Some(count) => (cpu::Kind::Group, Some(count)),
        None => match request.clock.then(|| cpu::clock_on(child.pid)) {
            Some(Ok(clock)) => (cpu::Kind::Clock, Some(clock)),
            _ => (cpu::Kind::None, None),
        },
    };
    let given: Vec<BorrowedFd<'_>> = count.iter().map(AsFd::as_fd).collect();
    channel::send(&go_write, &[kind as u8], &given).at("let the box go")?;
    Ok(child)
}

fn prepare(child: &sys::Child, request: Request, group: Option<BorrowedFd<'_>>) -> Result<(), Step> {
    if let (GroupFd::Procs, Some(procs)) = (request.group, group) {
        rustix::io::write(procs, child.pid.to_string().as_bytes()).at("enter the cgroup")?;
    }
    if request.namespaces & libc::CLONE_NEWUSER as u64 != 0 {
        write_id_maps(child.pid)?;
    }
    Ok(())
}

/// Gives the box its users. Root maps itself and one user of the box's own; anybody else can map only itself.
fn write_id_maps(pid: i32) -> Result<(), Step> {
    let user = rustix::process::geteuid();
    let group = rustix::process::getegid();
    let inside = super::root::INSIDE_ID;
    let write = |file: &str, text: String| std::fs::write(format!("/proc/{pid}/{file}"), text);
    if user.is_root() {
        // In a container's own user namespace only low ids may exist.
        for own in [init::box_id(pid), 60_000 + pid.unsigned_abs() % 5_000] {
            let two = |root: u32| format!("0 {root} 1\n{inside} {own} 1\n");
            if write("uid_map", two(user.as_raw())).is_ok() {
                return write("gid_map", two(group.as_raw())).at("write gid_map");
            }
        }
    }
    write("uid_map", format!("{inside} {} 1\n", user.as_raw())).at("write uid_map")?;
    write("setgroups", "deny".into()).at("write setgroups")?;
    write("gid_map", format!("{inside} {} 1\n", group.as_raw())).at("write gid_map")
}

/// The harness is gone: so is everything else. Boxes with a pid namespace die with their init; the others see their channel
/// close and end their tree, and what they leave is ended here.
fn end(running: Vec<Running>) -> ! {
    for each in running.iter().filter(|each| each.strong) {
        each.child.kill();
    }
    let deadline = crate::clock::now_us() + 300_000;
    let mut left = running;
    while !left.is_empty() && crate::clock::now_us() < deadline {
        reap_ended(&mut left);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    sweep(&[]);
    sys::exit_now(0)
}
