//! Attacks by descriptor: a file that may be read is open, and everything but its contents is tried on it. And what can be learned of
//! the host where its paths are in sight.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::arena::Arena;
use super::raw::{at, c_path, call, call3};
use super::{Attack, Check, Control, EVERY, PROGRAMS, TOOLS, Target, reached};
use crate::guards::Guards;
use crate::outcome::Outcome;
use crate::spec::{Bind, Proc, Spec};

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr, $check:expr) => {
        row!($name, $what, $payload, $check, EVERY)
    };
    ($name:literal, $what:literal, $payload:expr, $check:expr, $shapes:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: $check,
            control: Control::Bare,
            adjust: bind_arena,
            shapes: $shapes,
        }
    };
}

pub(crate) const ATTACKS: &[Attack] = &[
    row!("fd-mode", "change the mode of a file that may be read", fd_mode, Check::Changed),
    row!("fd-mode-directory", "change the mode of its directory", fd_mode_directory, Check::Changed),
    row!("fd-times", "change its times", fd_times, Check::Changed),
    row!("fd-owner", "give it to its own owner again, which clears bits", fd_owner, Check::Says),
    row!("fd-tag", "tag it", fd_tag, Check::Changed),
    row!("fd-untag", "remove a tag", fd_untag, Check::Says),
    row!("fd-flags", "change its flags", fd_flags, Check::Says),
    row!("fd-project", "change its attributes", fd_project, Check::Says),
    row!("fd-attributes-call", "the same with the newest call", fd_attributes_call, Check::Says),
    row!("fd-verity", "make it unchangeable", fd_verity, Check::Says),
    row!("fd-empty-path-mode", "change its mode with an empty path", fd_empty_path, Check::Changed),
    row!("fd-proc-mode", "change its mode through /proc/self/fd", fd_proc_mode, Check::Changed),
    row!("lock-exclusive", "lock it against everybody", |t| lock(t, libc::LOCK_EX), Check::Other(locked)),
    row!("lock-shared", "lock it against writers", |t| lock(t, libc::LOCK_SH), Check::Other(locked)),
    row!("lease", "have writers of it wait", lease, Check::Says),
    row!("notify", "be told of changes in its directory", notify, Check::Says),
    row!("owner-of-signals", "have signals about it sent to the harness", owner_of_signals, Check::Says),
    row!("handle-of-it", "learn its handle", handle_of_it, Check::Says),
    row!("tag-read", "read a tag of a file outside", tag_read, Check::Says),
    row!("tag-list", "list the tags of a file outside", tag_list, Check::Says),
    row!("link-read", "read where a link outside leads", link_read, Check::Says, PROGRAMS),
    row!("link-read-by-tool", "the same as a tool", link_read, Check::Says, TOOLS),
    row!("proc-of-host", "read the host's load and memory", proc_of_host, Check::Says),
    row!("proc-of-first", "read about the host's first process", proc_of_first, Check::Says),
    row!("proc-of-harness", "read about the harness", proc_of_harness, Check::Says),
    row!("proc-sockets", "list the host's unix sockets", proc_sockets, Check::Says),
    row!("scratch-names", "list the scratch directory", scratch_names, Check::Says),
];

/// The arena may be read, as an interpreter or a toolchain may.
fn bind_arena(spec: &mut Spec, arena: &Arena) {
    spec.binds.push(Bind::same(&arena.target.dir));
    let beside = arena.target.dir.with_extension("tagged");
    let _ = std::fs::write(&beside, "");
    for path in [arena.target.dir.join("existing"), beside] {
        let _ = rustix::fs::setxattr(path, "user.seen", b"1", rustix::fs::XattrFlags::empty());
    }
    let _ = std::os::unix::fs::symlink("leads-somewhere", arena.target.dir.with_extension("link"));
    if spec.without.has(Guards::ENV) {
        // A control is a plain process: what it shows is that the host would let it.
        spec.proc = Proc::Own;
    }
}

fn open(target: &Target) -> Option<File> {
    File::open(target.existing()).ok()
}

fn number(file: &File) -> u64 {
    file.as_raw_fd() as u64
}

/// Runs on the open file; whether the call was made.
fn on_it(target: &Target, run: impl FnOnce(u64) -> Result<i64, i32>) -> i32 {
    reached(open(target).is_some_and(|file| run(number(&file)).is_ok()))
}

/// A closed call says EPERM, ENOSYS or ENOTSUP and means the filter; whatever else the kernel says, it was asked.
fn asked(answer: Result<i64, i32>) -> bool {
    !matches!(answer, Err(libc::EPERM | libc::ENOSYS | libc::ENOTSUP | libc::EROFS | libc::EBADF))
}

fn fd_mode(target: &Target) -> i32 {
    on_it(target, |fd| call3(libc::SYS_fchmod, fd, 0o644, 0))
}

fn fd_mode_directory(target: &Target) -> i32 {
    let file = File::open(&target.dir);
    let _ = file.map(|file| call3(libc::SYS_fchmod, number(&file), 0o700, 0));
    // Seen from outside in the mode of the directory itself.
    0
}

fn fd_times(target: &Target) -> i32 {
    let times = [1u64, 0, 1, 0];
    on_it(target, |fd| call(libc::SYS_utimensat, [fd, 0, times.as_ptr() as u64, 0, 0, 0]))
}

fn fd_owner(target: &Target) -> i32 {
    reached(
        open(target).is_some_and(|file| call3(libc::SYS_fchown, number(&file), u64::MAX, u64::MAX).is_ok()),
    )
}

fn fd_tag(target: &Target) -> i32 {
    on_it(target, |fd| call(libc::SYS_fsetxattr, [fd, at(c"user.attack"), at(c"x"), 1, 0, 0]))
}

fn fd_untag(target: &Target) -> i32 {
    on_it(target, |fd| call3(libc::SYS_fremovexattr, fd, at(c"user.seen"), 0))
}

/// The flags as they are: to set them again is to have been allowed to. A file system without flags says ENOTTY or EOPNOTSUPP.
fn fd_flags(target: &Target) -> i32 {
    let flags = [0u64];
    let answer =
        open(target).map(|file| call3(libc::SYS_ioctl, number(&file), 0x4008_6602, flags.as_ptr() as u64));
    reached(answer.is_some_and(asked))
}

fn fd_project(target: &Target) -> i32 {
    let attributes = [0u64; 4];
    let answer = open(target)
        .map(|file| call3(libc::SYS_ioctl, number(&file), 0x401c_5820, attributes.as_ptr() as u64));
    reached(answer.is_some_and(asked))
}

fn fd_attributes_call(target: &Target) -> i32 {
    const FILE_SETATTR: libc::c_long = 469;
    let attributes = [0u64; 4];
    let empty = at(c"");
    let answer = open(target).map(|file| {
        let args = [number(&file), empty, attributes.as_ptr() as u64, 24, libc::AT_EMPTY_PATH as u64, 0];
        call(FILE_SETATTR, args)
    });
    reached(answer.is_some_and(|answer| asked(answer) || answer == Err(libc::EOPNOTSUPP)))
}

fn fd_verity(target: &Target) -> i32 {
    let request = [0u64; 16];
    let answer =
        open(target).map(|file| call3(libc::SYS_ioctl, number(&file), 0x4080_6685, request.as_ptr() as u64));
    reached(answer.is_some_and(|answer| asked(answer) || answer == Err(libc::EOPNOTSUPP)))
}

fn fd_empty_path(target: &Target) -> i32 {
    const FCHMODAT2: libc::c_long = 452;
    on_it(target, |fd| call(FCHMODAT2, [fd, at(c""), 0o644, libc::AT_EMPTY_PATH as u64, 0, 0]))
}

fn fd_proc_mode(target: &Target) -> i32 {
    let Some(file) = open(target) else { return 0 };
    let path = c_path(std::path::Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())));
    reached(call(libc::SYS_fchmodat, [libc::AT_FDCWD as u64, at(&path), 0o644, 0, 0, 0]).is_ok())
}

/// The lock is held until the outside has looked.
fn lock(target: &Target, kind: i32) -> i32 {
    let Some(file) = open(target) else { return 0 };
    let got = call3(libc::SYS_flock, number(&file), kind as u64, 0).is_ok();
    std::mem::forget(file);
    reached(got)
}

fn locked(_: &Arena, outcome: &Outcome) -> Option<String> {
    outcome.stdout.text().contains(super::REACHED).then(|| "the file was locked".to_owned())
}

fn lease(target: &Target) -> i32 {
    on_it(target, |fd| call3(libc::SYS_fcntl, fd, libc::F_SETLEASE as u64, libc::F_RDLCK as u64))
}

fn notify(target: &Target) -> i32 {
    let directory = File::open(&target.dir);
    let ask = |fd| call3(libc::SYS_fcntl, fd, libc::F_NOTIFY as u64, 4);
    reached(directory.is_ok_and(|directory| ask(number(&directory)).is_ok()))
}

fn owner_of_signals(target: &Target) -> i32 {
    on_it(target, |fd| call3(libc::SYS_fcntl, fd, libc::F_SETOWN as u64, target.harness as u64))
}

fn handle_of_it(target: &Target) -> i32 {
    let mut handle = [128u64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut mount = 0i32;
    let flags = libc::AT_EMPTY_PATH as u64;
    let answer = open(target).map(|file| {
        let args = [number(&file), at(c""), handle.as_mut_ptr() as u64, (&raw mut mount) as u64, flags, 0];
        call(libc::SYS_name_to_handle_at, args)
    });
    reached(answer.is_some_and(|answer| asked(answer) || answer == Err(libc::EOPNOTSUPP)))
}

fn tag_read(target: &Target) -> i32 {
    let path = c_path(&target.dir.with_extension("tagged"));
    let mut value = [0u8; 8];
    let args = [at(&path), at(c"user.seen"), value.as_mut_ptr() as u64, 8, 0, 0];
    reached(call(libc::SYS_getxattr, args).is_ok())
}

fn tag_list(target: &Target) -> i32 {
    let path = c_path(&target.dir.with_extension("tagged"));
    let mut value = [0u8; 256];
    reached(
        call3(libc::SYS_listxattr, at(&path), value.as_mut_ptr() as u64, 256).is_ok_and(|count| count > 0),
    )
}

/// The link is beside the arena, where nothing may be read.
fn link_read(target: &Target) -> i32 {
    reached(std::fs::read_link(target.dir.with_extension("link")).is_ok())
}

fn proc_of_host(_: &Target) -> i32 {
    reached(
        ["/proc/loadavg", "/proc/meminfo", "/proc/mounts"]
            .iter()
            .any(|path| std::fs::read(path).is_ok_and(|text| !text.is_empty())),
    )
}

/// In a pid namespace the first process is the box's own init, which says nothing either.
fn proc_of_first(_: &Target) -> i32 {
    reached(
        std::fs::read("/proc/1/cmdline")
            .is_ok_and(|text| !text.is_empty() && !text.starts_with(b"proofhouse-box")),
    )
}

fn proc_of_harness(target: &Target) -> i32 {
    reached(
        std::fs::read(format!("/proc/{}/status", target.harness))
            .is_ok_and(|text| !text.is_empty() && target.harness > 9),
    )
}

fn proc_sockets(_: &Target) -> i32 {
    reached(std::fs::read_to_string("/proc/self/net/unix").is_ok_and(|text| text.lines().count() > 1))
}

/// What others have there; the bound arena may be seen where it is.
fn scratch_names(target: &Target) -> i32 {
    let own = target.dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let above = target.dir.parent().and_then(|above| crate::scratch::names(above).ok()).unwrap_or_default();
    reached(above.iter().any(|name| name != own))
}
