//! Attacks on files: reading secrets, changing what is outside, finding ways round the root.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

use super::arena::Arena;
use super::raw::{at, c_path, call, call3};
use super::{Attack, Check, Control, NO_FILTER, NO_FILTER_NO_DROP, Target, as_is, reached};
use crate::guards::Guards;
use crate::outcome::Outcome;
use crate::spec::{Bind, Spec, Work};
use crate::tier::Tier;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr, $check:expr, $control:expr) => {
        row!($name, $what, $payload, $check, $control, as_is)
    };
    ($name:literal, $what:literal, $payload:expr, $check:expr, $control:expr, $adjust:expr) => {
        row!($name, $what, $payload, $check, $control, $adjust, super::EVERY)
    };
    ($name:literal, $what:literal, $payload:expr, $check:expr, $control:expr, $adjust:expr, $shapes:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: $check,
            control: $control,
            adjust: $adjust,
            shapes: $shapes,
        }
    };
}

pub(crate) const ATTACKS: &[Attack] = &[
    row!("create", "make a file outside", create, Check::Changed, Control::Bare),
    row!("overwrite", "write to a file outside", overwrite, Check::Changed, Control::Bare),
    row!("truncate", "empty a file outside by path", truncate, Check::Changed, Control::Bare),
    row!("unlink", "remove a file outside", unlink, Check::Changed, Control::Bare),
    row!("rename", "rename a file outside", rename, Check::Changed, Control::Bare),
    row!("mkdir", "make a directory outside", mkdir, Check::Changed, Control::Bare),
    row!("symlink", "make a symbolic link outside", make_symlink, Check::Changed, Control::Bare),
    row!(
        "hard-link",
        "link a file outside to a name inside",
        hard_link,
        Check::Changed,
        Control::Bare,
        host_work
    ),
    row!("fifo", "make a FIFO outside", fifo, Check::Changed, Control::Bare),
    row!("chmod", "change the mode of a file outside", chmod, Check::Changed, Control::Bare),
    row!(
        "chmod-by-tool",
        "the same from a box with a host work directory",
        chmod,
        Check::Changed,
        Control::Bare,
        host_work
    ),
    row!("utime", "change the times of a file outside", utime, Check::Changed, Control::Bare),
    row!("utime-high", "the same with a path at a round address", utime_high, Check::Changed, Control::Bare),
    row!(
        "watch-outside",
        "be told what happens in a directory outside",
        watch_outside,
        Check::Says,
        Control::Bare
    ),
    row!("xattr", "tag a file outside", xattr, Check::Changed, Control::Bare),
    row!("shared-memory", "leave a file in /dev/shm", shared_memory, Check::Other(in_shm), Control::Bare),
    row!(
        "write-bind",
        "write through a read-only bind",
        write_bind,
        Check::Changed,
        Control::Bare,
        bind_arena
    ),
    row!("remount", "make a read-only bind writable", remount, Check::Says, NO_FILTER_NO_DROP, bind_arena),
    row!("read-secret", "read a file outside", read_secret, Check::Leaks, Control::Bare),
    row!("read-dots", "read it by a path full of dots", read_dots, Check::Leaks, Control::Bare),
    row!("read-proc-root", "read it through /proc/self/root", read_proc_root, Check::Leaks, Control::Bare),
    row!(
        "read-by-link",
        "read it through a symbolic link in the work directory",
        read_by_link,
        Check::Leaks,
        Control::Bare
    ),
    row!(
        "exec-outside",
        "run a program outside",
        exec_outside,
        Check::Says,
        Control::Bare,
        as_is,
        super::PROGRAMS
    ),
    row!("list-outside", "list a directory outside", list_outside, Check::Says, Control::Bare),
    row!("stat-outside", "learn whether a file is there", stat_outside, Check::Says, Control::Bare),
    row!("read-etc", "read the list of users", read_etc, Check::Says, Control::Bare),
    row!("read-home", "look into home directories", read_home, Check::Says, Control::Bare),
    row!("read-sys", "read the machine's description in /sys", read_sys, Check::Says, Control::Bare),
    row!("device-zero", "read without end from /dev/zero", device_zero, Check::Says, Control::Bare),
    row!(
        "file-handle",
        "open files by handle, past all directories",
        file_handle,
        Check::Says,
        Control::Bare
    ),
    row!("set-user-bit", "leave a program that runs as its owner", set_user_bit, Check::Says, NO_FILTER),
    row!("set-user-bit-open", "the same in one call", set_user_bit_open, Check::Says, NO_FILTER),
    row!(
        "set-user-bit-tmpfile",
        "the same by way of a file without a name",
        set_user_bit_tmpfile,
        Check::Says,
        NO_FILTER
    ),
    row!("set-group-chmod", "the same by changing the mode", set_group_chmod, Check::Says, NO_FILTER),
    row!("write-root", "write into the root directory", write_root, Check::Says, ROOT_CONTROL),
    row!(
        "work-escape",
        "leave the work directory by ..",
        work_escape,
        Check::Changed,
        Control::Bare,
        host_work
    ),
];

/// Without a private root and without Landlock the caller's own rights decide; the arena is writable for all.
const ROOT_CONTROL: Control = Control::Without(Tier::Confined, Guards::LANDLOCK);

fn host_work(spec: &mut Spec, arena: &Arena) {
    arena.make_work();
    spec.work = Work::Host(arena.work());
}

fn bind_arena(spec: &mut Spec, arena: &Arena) {
    spec.binds.push(Bind::same(&arena.target.dir));
}

fn create(target: &Target) -> i32 {
    i32::from(fs::write(target.absent(), "planted").is_err())
}

fn overwrite(target: &Target) -> i32 {
    let opened = fs::OpenOptions::new().append(true).open(target.existing());
    i32::from(opened.and_then(|mut file| file.write_all(b"more")).is_err())
}

fn truncate(target: &Target) -> i32 {
    i32::from(call3(libc::SYS_truncate, at(&c_path(&target.existing())), 0, 0).is_err())
}

fn unlink(target: &Target) -> i32 {
    i32::from(fs::remove_file(target.existing()).is_err())
}

fn rename(target: &Target) -> i32 {
    i32::from(fs::rename(target.existing(), target.absent()).is_err())
}

fn mkdir(target: &Target) -> i32 {
    i32::from(fs::create_dir(target.absent()).is_err())
}

fn make_symlink(target: &Target) -> i32 {
    i32::from(symlink("/etc/passwd", target.absent()).is_err())
}

fn hard_link(target: &Target) -> i32 {
    i32::from(fs::hard_link(target.existing(), "linked").is_err())
}

fn fifo(target: &Target) -> i32 {
    let mode = u64::from(libc::S_IFIFO | 0o666);
    let path = c_path(&target.absent());
    i32::from(call(libc::SYS_mknodat, [libc::AT_FDCWD as u64, at(&path), mode, 0, 0, 0]).is_err())
}

fn chmod(target: &Target) -> i32 {
    i32::from(fs::set_permissions(target.existing(), fs::Permissions::from_mode(0o600)).is_err())
}

fn utime(target: &Target) -> i32 {
    let times = [1u64, 0, 1, 0];
    let path = c_path(&target.existing());
    let args = [libc::AT_FDCWD as u64, at(&path), times.as_ptr() as u64, 0, 0, 0];
    i32::from(call(libc::SYS_utimensat, args).is_err())
}

/// A filter that looks at half of the pointer takes this path for none at all.
fn utime_high(target: &Target) -> i32 {
    const PLACE: u64 = 1 << 32;
    let rights = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED) as u64;
    if call(libc::SYS_mmap, [PLACE, 4096, rights, flags, u64::MAX, 0]).is_err() {
        return 1;
    }
    let path = c_path(&target.existing());
    let bytes = path.as_bytes_with_nul();
    // SAFETY: the page was just mapped there for this, and a path is shorter than a page.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), PLACE as *mut u8, bytes.len()) };
    let times = [1u64, 0, 1, 0];
    i32::from(
        call(libc::SYS_utimensat, [libc::AT_FDCWD as u64, PLACE, times.as_ptr() as u64, 0, 0, 0]).is_err(),
    )
}

fn watch_outside(target: &Target) -> i32 {
    let path = c_path(&target.dir);
    let watched = call3(libc::SYS_inotify_init1, 0, 0, 0).and_then(|fd| {
        call3(libc::SYS_inotify_add_watch, fd as u64, at(&path), u64::from(libc::IN_ALL_EVENTS))
    });
    reached(watched.is_ok())
}

fn xattr(target: &Target) -> i32 {
    let path = target.existing();
    i32::from(rustix::fs::setxattr(&path, "user.attack", b"x", rustix::fs::XattrFlags::empty()).is_err())
}

fn shared_memory(target: &Target) -> i32 {
    i32::from(fs::write(Path::new("/dev/shm").join(&target.tag), "planted").is_err())
}

fn in_shm(arena: &Arena, _: &Outcome) -> Option<String> {
    Path::new("/dev/shm").join(&arena.target.tag).exists().then(|| "a file is in /dev/shm".to_owned())
}

fn write_bind(target: &Target) -> i32 {
    create(target) + overwrite(target)
}

fn remount(target: &Target) -> i32 {
    let flags = libc::MS_REMOUNT | libc::MS_BIND;
    let path = c_path(&target.dir);
    let done = call(libc::SYS_mount, [at(c"none"), at(&path), 0, flags, 0, 0]);
    reached(done.is_ok() && fs::write(target.absent(), "planted").is_ok())
}

#[expect(clippy::print_stdout, reason = "a payload's standard output is what the harness reads")]
fn show(path: &Path) -> i32 {
    if let Ok(text) = fs::read_to_string(path) {
        println!("{text}");
    }
    0
}

fn read_secret(target: &Target) -> i32 {
    show(&target.secret())
}

fn read_dots(target: &Target) -> i32 {
    let rest = target.secret();
    let rest = rest.strip_prefix("/").unwrap_or(&rest).to_owned();
    show(&Path::new(&"../".repeat(40)).join(rest))
}

fn read_proc_root(target: &Target) -> i32 {
    let rest = target.secret();
    show(&Path::new("/proc/self/root").join(rest.strip_prefix("/").unwrap_or(&rest)))
}

fn read_by_link(target: &Target) -> i32 {
    let _ = symlink(target.secret(), "innocent");
    show(Path::new("innocent"))
}

fn exec_outside(_: &Target) -> i32 {
    let argv = [at(c"/bin/echo"), at(c"REACHED"), 0];
    let env = [0u64];
    let tried = call3(libc::SYS_execve, at(c"/bin/echo"), argv.as_ptr() as u64, env.as_ptr() as u64);
    i32::from(tried.is_err())
}

fn list_outside(target: &Target) -> i32 {
    reached(crate::scratch::names(&target.dir).is_ok_and(|names| !names.is_empty()))
}

fn stat_outside(target: &Target) -> i32 {
    reached(fs::metadata(target.secret()).is_ok())
}

fn read_etc(_: &Target) -> i32 {
    reached(fs::read("/etc/passwd").is_ok_and(|text| !text.is_empty()))
}

fn read_home(_: &Target) -> i32 {
    let seen = |path: &str| crate::scratch::names(Path::new(path)).is_ok();
    reached(seen("/home") || seen("/root") || seen("/etc") || seen("/run"))
}

fn read_sys(_: &Target) -> i32 {
    let seen = |path: &str| crate::scratch::names(Path::new(path)).is_ok_and(|names| !names.is_empty());
    reached(seen("/sys") || seen("/proc/sys") || seen("/tmp") || seen("/var"))
}

fn device_zero(_: &Target) -> i32 {
    reached(fs::File::open("/dev/zero").is_ok())
}

fn file_handle(_: &Target) -> i32 {
    let mut handle = [0u32; 34];
    handle[0] = 128;
    let mut mount = 0i32;
    let place = [handle.as_mut_ptr() as u64, std::ptr::from_mut(&mut mount) as u64];
    let made = call(libc::SYS_name_to_handle_at, [libc::AT_FDCWD as u64, at(c"."), place[0], place[1], 0, 0]);
    reached(made != Err(libc::EPERM))
}

fn set_user_bit(_: &Target) -> i32 {
    let Ok(file) = fs::File::create("tool") else { return 1 };
    reached(file.set_permissions(fs::Permissions::from_mode(0o4755)).is_ok() && has_bits("tool"))
}

fn set_user_bit_open(_: &Target) -> i32 {
    let made = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o6755).open("tool");
    reached(made.is_ok() && has_bits("tool"))
}

fn set_user_bit_tmpfile(_: &Target) -> i32 {
    let made = fs::OpenOptions::new().write(true).mode(0o4755).custom_flags(libc::O_TMPFILE).open(".");
    reached(
        made.is_ok_and(|file| file.metadata().is_ok_and(|found| found.permissions().mode() & 0o6000 != 0)),
    )
}

fn set_group_chmod(_: &Target) -> i32 {
    if fs::write("tool", "x").is_err() {
        return 1;
    }
    let done = call3(libc::SYS_fchmodat, libc::AT_FDCWD as u64, at(c"tool"), 0o2755);
    reached(done.is_ok() && has_bits("tool"))
}

fn has_bits(path: &str) -> bool {
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o6000 != 0)
}

/// Any directory above the work directory that can be written.
fn write_root(target: &Target) -> i32 {
    let places = ["/", "/dev", "/usr", "/tmp", "/var/tmp"];
    let planted = |place: &&str| {
        let path = Path::new(place).join(format!("planted-{}", target.tag));
        let made = fs::write(&path, "planted").is_ok();
        let _ = fs::remove_file(path);
        made
    };
    reached(places.iter().any(planted))
}

fn work_escape(target: &Target) -> i32 {
    let name = target.dir.file_name().unwrap_or_default();
    i32::from(fs::write(Path::new("..").join(name).join("absent"), "planted").is_err())
}
