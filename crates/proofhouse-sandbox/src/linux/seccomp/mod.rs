//! The system call policy: two lists that are both compiled into filters and printed into the policy digest.
//!
//! Candidates and checkers have an allow list (`program.rs`), compilers and tools a deny list (`compiler.rs`). In both a call that
//! the kernel's table (`numbers.rs`) does not have is absent, so that calls of newer kernels are closed until somebody has looked
//! at them. Denied calls give EPERM, absent ones ENOSYS (so that a C library falls back), and foreign architectures end the process.

mod bpf;
mod compiler;
mod numbers;
mod program;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub(crate) use self::bpf::settle;
use self::bpf::{Action, When};

/// What decides which calls are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rules {
    /// Namespaces hold what the filter need not: sockets lead nowhere and IPC objects are the box's own.
    pub(crate) namespaces: bool,
    /// The host's network is granted.
    pub(crate) network: bool,
    /// A cgroup counts all memory, so that memory outside any process is not a way around the watchdog.
    pub(crate) cgroup: bool,
    /// The allow list, not the deny list.
    pub(crate) program: bool,
    /// Other programs may be started, not only the first.
    pub(crate) exec: bool,
    /// The program boxes what it forks.
    pub(crate) zygote: bool,
    /// A tool with a network of its own, which may want to lock its own files: it is told that it has, and no lock is taken.
    pub(crate) agent: bool,
}

/// A call that is denied when all conditions hold; rows of one call are alternatives.
type Row = (&'static str, Vec<When>);

const DENIED: u16 = libc::EPERM as u16;
const ABSENT: u16 = libc::ENOSYS as u16;
const NOT_SUPPORTED: u16 = libc::ENOTSUP as u16;

/// Absent: ENOSYS makes callers fall back to calls whose arguments a filter can see, or to doing without. A lock (`flock`) works
/// on a file that was opened for reading, and would keep programs of the host waiting.
const ABSENT_CALLS: &str = "clone3 openat2 io_uring_setup io_uring_enter io_uring_register flock futex_waitv futex_wait futex_wake \
     futex_requeue map_shadow_stack mseal epoll_ctl_old epoll_wait_old";

/// Commands that libc does not name.
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;

/// The filters as packed instructions, in the order of installing.
pub(crate) fn filters(rules: Rules) -> Vec<Vec<u64>> {
    let numbers: BTreeMap<&str, u32> = numbers::all().collect();
    let actions: BTreeMap<u32, Action> =
        decisions(rules).into_iter().map(|(_, call, action)| (call, action)).collect();
    let rows: Vec<(u32, Vec<When>)> = conditional(rules)
        .into_iter()
        .filter_map(|(name, conditions)| Some((*numbers.get(name)?, conditions)))
        .collect();
    vec![bpf::compile(&actions, Action::Errno(ABSENT), &rows)]
}

/// What is done about each call of the table.
fn decisions(rules: Rules) -> Vec<(&'static str, u32, Action)> {
    let rows = conditional(rules);
    let looked_at = |call: &str| rows.iter().any(|(name, _)| *name == call);
    numbers::all()
        .map(|(name, number)| {
            let closed =
                if rules.program { closed_to_program(rules, name) } else { closed_to_compiler(rules, name) };
            let action = match closed {
                Some(errno) => Action::Errno(errno),
                None if looked_at(name) => Action::Look,
                None => Action::Allow,
            };
            (name, number, action)
        })
        .collect()
}

fn named(list: &str, call: &str) -> bool {
    list.split(' ').any(|each| each == call)
}

/// The error that a call gives, or `None` for a call that is open, perhaps with conditions.
fn closed_to_program(rules: Rules, call: &str) -> Option<u16> {
    if hands_on(rules, call) {
        return Some(DENIED);
    }
    let open = named(program::OPEN, call)
        || named(program::LOOKED_AT, call)
        || (rules.zygote && named(program::ZYGOTE, call))
        || (rules.network && (call == "socket" || named(program::NETWORK, call)))
        || (rules.exec && named(program::EXEC, call))
        || (rules.namespaces && named(program::PRIVATE_ROOT, call));
    // Where the mode of a descriptor cannot be changed, copying a file must not fail for it.
    if call == "fchmod" && !rules.namespaces {
        return Some(0);
    }
    (!open).then(|| program::errno_of(call))
}

fn closed_to_compiler(rules: Rules, call: &str) -> Option<u16> {
    let metadata = |list| !rules.namespaces && named(list, call);
    match call {
        "flock" if rules.agent => Some(0),
        _ if named(ABSENT_CALLS, call) => Some(ABSENT),
        _ if named(compiler::DENIED, call) || hands_on(rules, call) => Some(DENIED),
        _ if (!rules.cgroup || !rules.namespaces) && named(compiler::HIDDEN_MEMORY, call) => Some(DENIED),
        _ if metadata(compiler::ATTRIBUTES) => Some(NOT_SUPPORTED),
        _ if metadata(compiler::METADATA) => Some(DENIED),
        "fchmod" if !rules.namespaces => Some(0),
        "execveat" if !rules.exec => Some(DENIED),
        "socket" if socket_families(rules).is_none() => Some(DENIED),
        _ => None,
    }
}

/// Calls that hand descriptors on. Where nobody counts what is in a socket that is on its way, only a zygote has them, and who speaks
/// with the network.
fn hands_on(rules: Rules, call: &str) -> bool {
    let counted = rules.namespaces || rules.cgroup;
    !counted && !rules.zygote && !rules.network && matches!(call, "sendmsg" | "sendmmsg")
}

const NEW_NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;

/// Bits that make a file run as its owner or group.
const SET_ID: u32 = 0o6000;

/// The bit of its own in `O_TMPFILE`, which libc gives together with that for directories.
const O_TMPFILE: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Sizes the table in which the kernel keeps who waits for which address (Linux 6.16); libc does not have its name.
const PR_FUTEX_HASH: u64 = 78;

/// Denied with EPERM when the conditions hold, in boxes of both kinds.
fn conditional(rules: Rules) -> Vec<Row> {
    let mut rows = vec![
        ("prlimit64", vec![When::not(0, 0)]),
        ("socketpair", vec![When::not(0, libc::AF_UNIX as u64)]),
        ("mmap", vec![When::Any(3, libc::MAP_HUGETLB as u32)]),
        ("fcntl", vec![When::is(1, libc::F_SETLEASE as u64)]),
        ("fcntl", vec![When::is(1, libc::F_NOTIFY as u64)]),
        // Tables of the kernel of any size, which no sum over processes finds.
        ("prctl", vec![When::is(0, PR_FUTEX_HASH)]),
    ];
    rows.push(("clone", vec![When::Any(0, NEW_NAMESPACES as u32)]));
    rows.extend(set_id());
    if !rules.cgroup {
        rows.extend(hidden_memory());
    }
    if let Some(families) = socket_families(rules) {
        rows.push(("socket", vec![When::NoneOf(0, families)]));
    }
    if !rules.exec {
        rows.extend((0..3).map(|index| ("execve", vec![When::Other(index, bpf::stand_in(index))])));
    }
    rows.extend(if rules.program { program::conditional(rules) } else { compiler::conditional(rules) });
    rows
}

/// Bits that make a file run as its owner or group, wherever a mode is given.
fn set_id() -> Vec<Row> {
    let mut rows = Vec::new();
    for (call, mode) in [
        ("fchmod", 1),
        ("chmod", 1),
        ("fchmodat", 2),
        ("fchmodat2", 2),
        ("creat", 1),
        ("mknod", 1),
        ("mknodat", 2),
        ("mkdir", 1),
        ("mkdirat", 2),
    ] {
        rows.push((call, vec![When::Any(mode, SET_ID)]));
    }
    for (call, flags) in [("open", 1), ("openat", 2)] {
        // The two ways to make a file are bits of their own.
        let creates = (libc::O_CREAT | O_TMPFILE) as u32;
        rows.push((call, vec![When::Any(flags, creates), When::Any(flags + 1, SET_ID)]));
    }
    rows
}

/// Memory that the watchdog does not see: shared between processes without a file, swapped out on request, in larger buffers of
/// pipes and sockets than the usual.
fn hidden_memory() -> Vec<Row> {
    const MAP_TYPE: u32 = 0xf;
    let (anonymous, shared) = (libc::MAP_ANONYMOUS as u32, libc::MAP_SHARED as u32);
    let mut rows = vec![
        ("mmap", vec![When::Bits(3, MAP_TYPE | anonymous, shared | anonymous)]),
        ("madvise", vec![When::is(2, libc::MADV_PAGEOUT as u64)]),
        ("madvise", vec![When::is(2, libc::MADV_COLD as u64)]),
        ("fcntl", vec![When::is(1, libc::F_SETPIPE_SZ as u64)]),
    ];
    for option in [libc::SO_SNDBUF, libc::SO_RCVBUF, libc::SO_SNDBUFFORCE, libc::SO_RCVBUFFORCE] {
        rows.push(("setsockopt", vec![When::is(1, libc::SOL_SOCKET as u64), When::is(2, option as u64)]));
    }
    rows
}

/// Families that `socket` may open; none at all where no namespace stands behind it.
///
/// With the host's network, unix sockets are left out: the abstract ones of the host would be in reach.
fn socket_families(rules: Rules) -> Option<Vec<u32>> {
    let inet = [libc::AF_INET as u32, libc::AF_INET6 as u32];
    match (rules.network, rules.namespaces) {
        (true, _) => Some(inet.to_vec()),
        (false, true) => Some(vec![libc::AF_UNIX as u32, inet[0], inet[1]]),
        (false, false) => None,
    }
}

/// The policy as text, one line a rule, for the digest.
pub(crate) fn describe(rules: Rules) -> String {
    let mut lines = vec![format!("rules {rules:?}")];
    for (name, _, action) in decisions(rules) {
        match action {
            Action::Errno(errno) => lines.push(format!("close {name} with {errno}")),
            Action::Allow if rules.program => lines.push(format!("open {name}")),
            Action::Allow | Action::Look | Action::Kill => {}
        }
    }
    for (name, conditions) in conditional(rules) {
        let text: Vec<String> = conditions.iter().map(When::text).collect();
        lines.push(format!("close {name} with {DENIED} when {}", text.join(" and ")));
    }
    lines.push("close every other call, kill foreign architectures and x32".to_owned());
    lines.join("\n")
}
