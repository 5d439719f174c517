//! Runs hostile programs: a [`Spec`] goes in, an [`Outcome`] comes out.
//!
//! The crate knows nothing of suites or models. It is the only place of the project that starts processes and the only one with
//! `unsafe`. A [`Sandbox`] is made once: it finds out what the machine can do by really spawning boxed processes ([`Probe`]),
//! picks a tier ([`choose`]) and then runs specs from any number of threads.
//!
//! The program that links this crate must call [`trampoline_main_if_asked`] first thing in `main`: boxes are forked by a small
//! second process of the same executable, never by the caller itself.

pub mod attacks;
mod builtin;
mod capture;
mod clock;
mod expand;
mod guards;
mod heap;
mod link;
#[cfg(target_os = "linux")]
mod linux;
mod outcome;
mod policy;
mod portable;
mod probe;
mod program;
pub mod recipes;
mod sandbox;
mod scratch;
mod spec;
mod tier;
mod trampoline;

pub use heap::give_memory_back;
pub use link::{hand_over, link};
#[cfg(target_os = "linux")]
pub use linux::{LoneFilter, lone_filter};
pub use outcome::{Collected, Infra, NotTaken, Outcome, ResultFile, Status, Stream, Usage};
pub use policy::{policy_digest, policy_text};
pub use probe::{Failure, Gap, Mechanism, Memory, Probe};
pub use program::Program;
pub use sandbox::{Cancel, Helper, OpenError, Options, Sandbox};
pub use scratch::Scratch;
pub use spec::{
    Arg, Bind, Calls, Collect, Door, Keep, Limits, Network, PlacedFile, Proc, Source, Spec, Stdin, Work,
};
pub use tier::{Refusal, RefusalKind, Request, Tier, choose};
pub use trampoline::trampoline_main_if_asked;

/// The symbolic name of an error number that this crate is likely to meet.
pub(crate) fn errno_name(errno: i32) -> Option<&'static str> {
    const NAMES: [(i32, &str); 18] = [
        (libc::EPERM, "EPERM"),
        (libc::ENOENT, "ENOENT"),
        (libc::EINTR, "EINTR"),
        (libc::EIO, "EIO"),
        (libc::ENOEXEC, "ENOEXEC"),
        (libc::EBADF, "EBADF"),
        (libc::ECHILD, "ECHILD"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::ENOMEM, "ENOMEM"),
        (libc::EACCES, "EACCES"),
        (libc::EBUSY, "EBUSY"),
        (libc::ENODEV, "ENODEV"),
        (libc::ENOTDIR, "ENOTDIR"),
        (libc::EINVAL, "EINVAL"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::EROFS, "EROFS"),
        (libc::ENOSYS, "ENOSYS"),
        (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    ];
    NAMES.into_iter().find(|(number, _)| *number == errno).map(|(_, name)| name)
}
