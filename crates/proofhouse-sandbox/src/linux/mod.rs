//! Linux: namespaces, Landlock, seccomp and a trusted init.
//!
//! Three processes work together. The *harness* (the caller) writes a job and watches. The *helper* is this executable started
//! again, early and small; it forks boxes, so that the harness, which may hold a gigabyte, never forks. The *init* is the fork:
//! pid 1 of its own world, it builds the root, starts the payload, watches the clock and memory, and reports.

pub(crate) mod attacks;
mod carry;
pub(crate) mod cgroup;
mod channel;
mod cpu;
mod doors;
mod files;
mod guard;
pub(crate) mod helper;
mod init;
mod job;
pub(crate) mod landlock;
mod launch;
mod lone;
mod memory;
mod payload;
pub(crate) mod probe;
mod reap;
mod report;
mod root;
mod scope;
pub(crate) mod seccomp;
mod sockets;
mod start;
mod supervise;
pub(crate) mod sys;
mod watch;
mod wire;

pub(crate) use launch::Launcher;
pub use lone::{LoneFilter, lone_filter};

/// A step of the setup that failed, with the system's error number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) step: String,
    pub(crate) errno: i32,
}

/// Names the step that a system call belongs to.
pub(crate) trait At<T> {
    fn at(self, step: impl Into<String>) -> Result<T, Step>;
}

impl<T> At<T> for std::io::Result<T> {
    fn at(self, step: impl Into<String>) -> Result<T, Step> {
        self.map_err(|error| Step { step: step.into(), errno: error.raw_os_error().unwrap_or(libc::EIO) })
    }
}

impl<T> At<T> for rustix::io::Result<T> {
    fn at(self, step: impl Into<String>) -> Result<T, Step> {
        self.map_err(|error| Step { step: step.into(), errno: error.raw_os_error() })
    }
}

/// The error number of the last failed call.
pub(crate) fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

pub(crate) use job::rules;

/// Devices inside a box.
pub(crate) fn devices() -> [&'static str; 4] {
    root::DEVICES
}
