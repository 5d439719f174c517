//! Calls that no candidate and no tool needs, and the ways to start a second program. An answer other than the filter's own means that
//! the kernel was reached.

use super::arena::Arena;
use super::raw::{at, c_path, call, call3, forked, wait_all};
use super::{Attack, Check, Control, NO_FILTER, ONE_OF_EACH, PROGRAMS, Shape, Target, reached};
use crate::guards::Guards;
use crate::spec::Spec;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr) => {
        row!($name, $what, $payload, ONE_OF_EACH)
    };
    ($name:literal, $what:literal, $payload:expr, $shapes:expr) => {
        row!($name, $what, $payload, $shapes, NO_FILTER)
    };
    ($name:literal, $what:literal, $payload:expr, $shapes:expr, $control:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: Check::Says,
            control: $control,
            adjust: as_it_is,
            shapes: $shapes,
        }
    };
}

const PROGRAM: &[Shape] = &[Shape::Program];
/// A program at hand: the box's own would do, and a private root has none.
const NO_BOX: Control = Control::Bare;

pub(crate) const ATTACKS: &[Attack] = &[
    row!("aio", "set up the old asynchronous calls", |_| asks(libc::SYS_io_setup, [1, 0, 0])),
    row!("inotify", "watch files", |_| asks(libc::SYS_inotify_init1, [0, 0, 0])),
    row!("vmsplice", "give pages to a pipe", |_| asks(libc::SYS_vmsplice, [0, 0, 0])),
    row!("message-by-id", "read a queue of the host by its number", |_| asks(libc::SYS_msgrcv, [0, 0, 0])),
    row!("message-send-by-id", "write to a queue by its number", |_| asks(libc::SYS_msgsnd, [0, 0, 0])),
    row!("message-control", "remove a queue by its number", |_| asks(libc::SYS_msgctl, [u64::MAX, 0, 0])),
    row!("semaphore-by-id", "change a semaphore by its number", |_| asks(libc::SYS_semop, [u64::MAX, 0, 0])),
    row!("semaphore-control", "read a semaphore by its number", |_| asks(
        libc::SYS_semctl,
        [u64::MAX, 0, 12]
    )),
    row!("segment-by-id", "attach shared memory by its number", |_| asks(libc::SYS_shmat, [u64::MAX, 0, 0])),
    row!("segment-control", "list shared memory of the host", |_| asks(libc::SYS_shmctl, [0, 14, 0])),
    row!("queue-by-name", "remove a POSIX queue by its name", |_| asks(
        libc::SYS_mq_unlink,
        [at(c"none"), 0, 0]
    )),
    row!("queue-send", "send to a POSIX queue", |_| asks(libc::SYS_mq_timedsend, [u64::MAX, 0, 0])),
    row!("madvise-other", "advise on another's memory", |_| asks(
        libc::SYS_process_madvise,
        [u64::MAX, 0, 0]
    )),
    row!("compare-processes", "compare processes in the kernel", |_| asks(libc::SYS_kcmp, [own(), own(), 9])),
    row!("release-other", "release memory of a dying process", |_| asks(
        libc::SYS_process_mrelease,
        [u64::MAX, 0, 0]
    )),
    row!("mount-list", "list mounts", |_| asks(LISTMOUNT, [0, 0, 0])),
    row!("mount-read", "read about a mount", |_| asks(STATMOUNT, [0, 0, 0])),
    row!("remap-pages", "remap pages of a file", |_| asks(libc::SYS_remap_file_pages, [0, 0, 0])),
    row!("quota", "ask for quotas", |_| asks(libc::SYS_quotactl, [u64::MAX, 0, 0])),
    row!("huge-pages", "take huge pages, which no process shows", huge_pages),
    row!("borrow-memory", "start a process in its own memory", borrow_memory),
    row!("new-call", "use a call that is newer than most kernels", |_| asks(SEAL, [1, 0, 0])),
    row!("newest-call", "the same with the newest", |_| asks(FILE_GETATTR, [0, 0, 0]), PROGRAMS),
    row!("page-cache", "ask what of a file is in memory", |_| asks(CACHESTAT, [u64::MAX, 0, 0]), PROGRAMS),
    row!("security-modules", "list security modules", |_| asks(LSM_LIST, [0, 0, 0]), PROGRAMS),
    row!("timer", "make a timer of the kernel", |_| asks(libc::SYS_timer_create, [99, 0, 0]), PROGRAMS),
    row!(
        "timer-descriptor",
        "the same as a descriptor",
        |_| asks(libc::SYS_timerfd_create, [99, 0, 0]),
        PROGRAMS
    ),
    row!(
        "signal-descriptor",
        "read signals from a descriptor",
        |_| asks(libc::SYS_signalfd4, [0, 0, 0]),
        PROGRAMS
    ),
    row!("splice", "move pages between pipes", |_| asks(libc::SYS_splice, [u64::MAX, 0, u64::MAX]), PROGRAMS),
    row!("tee", "copy pages between pipes", |_| asks(libc::SYS_tee, [u64::MAX, u64::MAX, 0]), PROGRAMS),
    row!("socket", "make a socket", |_| asks(libc::SYS_socket, [2, 1, 0]), PROGRAMS),
    row!("netlink-kernel", "ask the kernel about its network", |_| asks(libc::SYS_socket, [16, 3, 0])),
    row!("change-user", "ask to be another user", |_| asks(libc::SYS_setuid, [u64::MAX, 0, 0]), PROGRAMS),
    row!("affinity-other", "bind another to one core", affinity_other, ONE_OF_EACH, Control::Bare),
    row!("memory-lock", "lock all memory", |_| asks(libc::SYS_mlockall, [0, 0, 0]), PROGRAMS),
    row!("memory-futex-hash", "have the kernel make a table of 256 MiB", |_| asks(
        libc::SYS_prctl,
        [78, 1, 1 << 22]
    )),
    row!("own-filter", "put a filter before the filter", own_filter, PROGRAM),
    row!(
        "own-landlock",
        "restrict itself further",
        |_| asks(libc::SYS_landlock_create_ruleset, [0, 1, 0]),
        PROGRAM
    ),
    row!("hide", "hide its memory from whoever counts it", |_| asks(libc::SYS_prctl, [4, 0, 0]), PROGRAM),
    row!("exec", "start a second program", exec_at_hand, PROGRAMS, NO_BOX),
    row!("exec-loader", "start the loader", exec_loader, PROGRAMS, NO_BOX),
    row!("exec-descriptor", "start a program by descriptor", exec_descriptor, PROGRAMS, NO_BOX),
    row!("exec-child", "start it in a child", exec_child, PROGRAMS, NO_BOX),
    row!("exec-guess", "guess the addresses that the filter lets pass", exec_guess, PROGRAMS, NO_BOX),
    row!("exec-memory", "start a program that is only memory", exec_memory, PROGRAMS, NO_BOX),
];

const LISTMOUNT: libc::c_long = 458;
const STATMOUNT: libc::c_long = 457;
const SEAL: libc::c_long = 462;
const FILE_GETATTR: libc::c_long = 468;
const CACHESTAT: libc::c_long = 451;
const LSM_LIST: libc::c_long = 461;

/// A program lies in the work directory, which is where a candidate could have put one.
fn as_it_is(spec: &mut Spec, _: &Arena) {
    if let Ok(bytes) = std::fs::read("/bin/true") {
        spec.files.push(crate::spec::PlacedFile {
            path: "tool".into(),
            source: crate::spec::Source::Bytes(bytes),
            executable: true,
        });
    }
    spec.binds.extend(crate::recipes::libraries());
    if spec.without.has(Guards::ENV) {
        spec.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    }
}

/// Whether the kernel was asked: a closed call says EPERM, an absent one ENOSYS.
fn asks(number: libc::c_long, args: [u64; 3]) -> i32 {
    reached(!matches!(call3(number, args[0], args[1], args[2]), Err(libc::EPERM | libc::ENOSYS)))
}

fn own() -> u64 {
    u64::from(std::process::id())
}

/// In a pid namespace the number is nobody's, which is as good as not being asked.
fn affinity_other(target: &Target) -> i32 {
    let cores = [u64::MAX];
    let args = [target.victim as u64, 8, cores.as_ptr() as u64];
    reached(call3(libc::SYS_sched_setaffinity, args[0], args[1], args[2]).is_ok())
}

fn huge_pages(_: &Target) -> i32 {
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB) as u64;
    let answer = call(libc::SYS_mmap, [0, 2 << 20, 3, flags, u64::MAX, 0]);
    reached(answer != Err(libc::EPERM))
}

/// A flag of threads without the one that it needs: the kernel says EINVAL where the filter says EPERM.
fn borrow_memory(_: &Target) -> i32 {
    let odd = (libc::CLONE_VM | libc::CLONE_PIDFD | libc::CLONE_PARENT_SETTID) as u64;
    reached(call(libc::SYS_clone, [odd, 0, 0, 0, 0, 0]) == Err(libc::EINVAL))
}

fn own_filter(_: &Target) -> i32 {
    // A filter that lets everything pass.
    let allow = [0x7fff_0000_0000_0006u64];
    let program = [1u64, allow.as_ptr() as u64];
    reached(call3(libc::SYS_seccomp, 1, 0, program.as_ptr() as u64).is_ok())
}

const TOOL: &std::ffi::CStr = c"./tool";

/// Becomes the program; returns whether the kernel was asked.
fn become_it(path: &std::ffi::CStr) -> i32 {
    let argv = [path.as_ptr() as u64, 0];
    let env = [0u64];
    // What is started ends well and says nothing, so that this is said before.
    let answer = match forked() {
        Some(true) => {
            let _ = call3(libc::SYS_execve, at(path), argv.as_ptr() as u64, env.as_ptr() as u64);
            super::super::sys::exit_now(9)
        }
        _ => super::super::sys::reap(true),
    };
    reached(answer.is_ok_and(|child| child.is_some_and(|child| child.status == 0)))
}

/// In a control there is no work directory with the tool in it.
fn exec_at_hand(_: &Target) -> i32 {
    become_it(if std::path::Path::new("tool").exists() { TOOL } else { c"/bin/true" })
}

/// The loader is in every box, and runs whatever it is given.
fn exec_loader(_: &Target) -> i32 {
    let loader = c"/lib64/ld-linux-x86-64.so.2";
    let argv = [loader.as_ptr() as u64, at(c"--version"), 0];
    if forked() == Some(true) {
        let _ = call3(libc::SYS_close, 1, 0, 0);
        let _ = call3(libc::SYS_execve, at(loader), argv.as_ptr() as u64, [0u64].as_ptr() as u64);
        super::super::sys::exit_now(9);
    }
    let ended = super::super::sys::reap(true);
    reached(ended.is_ok_and(|child| {
        child.is_some_and(|child| libc::WIFEXITED(child.status) && child.status >> 8 != 9)
    }))
}

fn exec_descriptor(_: &Target) -> i32 {
    let file = std::fs::File::open("tool").or_else(|_| std::fs::File::open("/bin/true"));
    let Ok(file) = file else { return 0 };
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file) as u64;
    let argv = [at(TOOL), 0];
    if forked() == Some(true) {
        let _ = call(
            libc::SYS_execveat,
            [fd, at(c""), argv.as_ptr() as u64, [0u64].as_ptr() as u64, libc::AT_EMPTY_PATH as u64, 0],
        );
        super::super::sys::exit_now(9);
    }
    let ended = super::super::sys::reap(true);
    reached(ended.is_ok_and(|child| child.is_some_and(|child| child.status == 0)))
}

fn exec_child(_: &Target) -> i32 {
    if forked() == Some(true) {
        let code = exec_at_hand(&Target::default());
        super::super::sys::exit_now(code);
    }
    wait_all();
    0
}

/// Path, arguments and environment at thousands of addresses; the last try is as anybody would do it, which is what a control shows.
fn exec_guess(_: &Target) -> i32 {
    let path = c_path(std::path::Path::new(if std::path::Path::new("tool").exists() {
        "tool"
    } else {
        "/bin/true"
    }));
    for guess in 0..20_000u64 {
        let page = (guess.wrapping_mul(0x9e37_79b9_7f4a_7c15) & 0x3fff_ffff_f000) | 0x1000;
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE) as u64;
        if call(libc::SYS_mmap, [page, 4096, 3, flags, u64::MAX, 0]).is_err() {
            continue;
        }
        let answer = call3(libc::SYS_execve, page, page + 1024, page + 2048);
        let _ = call3(libc::SYS_munmap, page, 4096, 0);
        // An empty path is no program: the kernel says ENOENT where the filter says EPERM.
        if answer != Err(libc::EPERM) {
            return reached(true);
        }
    }
    become_it(&path)
}

fn exec_memory(_: &Target) -> i32 {
    let Ok(file) = call3(libc::SYS_memfd_create, at(c"tool"), 0, 0) else { return 0 };
    let bytes = std::fs::read("tool").or_else(|_| std::fs::read("/bin/true")).unwrap_or_default();
    let _ = call3(libc::SYS_write, file as u64, bytes.as_ptr() as u64, bytes.len() as u64);
    let argv = [at(TOOL), 0];
    if forked() == Some(true) {
        let _ = call(
            libc::SYS_execveat,
            [
                file as u64,
                at(c""),
                argv.as_ptr() as u64,
                [0u64].as_ptr() as u64,
                libc::AT_EMPTY_PATH as u64,
                0,
            ],
        );
        super::super::sys::exit_now(9);
    }
    let ended = super::super::sys::reap(true);
    reached(ended.is_ok_and(|child| child.is_some_and(|child| child.status == 0)))
}
