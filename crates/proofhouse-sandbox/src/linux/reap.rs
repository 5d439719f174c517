//! Ends everything below this process. In a pid namespace one signal reaches all; without one the tree is walked until nothing
//! is left, because a fork may slip between looking and killing.

use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::sys;
use super::watch::Watch;

/// Kills and reaps all; calls `seen` for each reaped process.
pub(crate) fn end_all(watch: &Watch, pid_namespace: bool, mut seen: impl FnMut(sys::Reaped)) {
    loop {
        if pid_namespace {
            sys::kill(-1, libc::SIGKILL);
        } else {
            let living = watch.pids();
            if !living.is_empty() {
                kill_all(&living, || watch.pids());
            }
        }
        loop {
            match sys::reap(pid_namespace) {
                Ok(Some(reaped)) => seen(reaped),
                Ok(None) => break,
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(_) => return,
            }
        }
        std::thread::sleep(std::time::Duration::from_micros(50));
    }
}

/// Kills these processes. A number says who is meant only as long as nobody else can have it: each is pinned first, and who is not
/// among ours after that is left alone.
pub(crate) fn kill_all(pids: &[i32], ours_now: impl FnOnce() -> Vec<i32>) {
    signal_all(pids, ours_now, Signal::KILL);
}

/// Stops everything below this process, or lets it go on.
pub(crate) fn signal_tree(watch: &Watch, signal: Signal) {
    if watch.whole() {
        sys::kill(-1, signal.as_raw());
    } else {
        signal_all(&watch.pids(), || watch.pids(), signal);
    }
}

fn signal_all(pids: &[i32], ours_now: impl FnOnce() -> Vec<i32>, signal: Signal) {
    let pin = |pid: &i32| {
        let pidfd = pidfd_open(Pid::from_raw(*pid)?, PidfdFlags::empty()).ok()?;
        Some((*pid, pidfd))
    };
    let pinned: Vec<(i32, OwnedFd)> = pids.iter().filter_map(pin).collect();
    let ours = ours_now();
    for (_, pidfd) in pinned.iter().filter(|(pid, _)| ours.contains(pid)) {
        let _ = pidfd_send_signal(pidfd, signal);
    }
}
