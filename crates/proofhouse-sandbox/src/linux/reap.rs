//! Ends everything below this process. In a pid namespace one signal reaches all; without one the tree is walked until nothing
//! is left, because a fork may slip between looking and killing.

use super::sys;
use super::watch::Watch;

/// Kills and reaps all; calls `seen` for each reaped process.
pub(crate) fn end_all(watch: &Watch, pid_namespace: bool, mut seen: impl FnMut(sys::Reaped)) {
    loop {
        if pid_namespace {
            sys::kill(-1, libc::SIGKILL);
        } else {
            for pid in watch.pids() {
                sys::kill(pid, libc::SIGKILL);
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
        std::thread::sleep(std::time::Duration::from_micros(100));
    }
}
