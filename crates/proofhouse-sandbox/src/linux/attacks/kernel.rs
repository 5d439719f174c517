//! Attacks on the kernel's rarely used doors. An answer other than the filter's own means that the kernel was reached.

use super::raw::{at, call, call3, forked, leave, wait_all};
use super::{Attack, Check, Control, NO_FILTER, NO_FILTER_NO_DROP, Target, as_is, reached};
use crate::guards::Guards;
use crate::tier::Tier;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr, $control:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: Check::Says,
            control: $control,
            adjust: as_is,
            shapes: super::ONE_OF_EACH,
        }
    };
}

const KEEP_PRIVILEGES: Control = Control::Without(Tier::Strong, Guards::PRIVILEGES);
const NEW_PRIVILEGES: Control = Control::Without(Tier::Limited, Guards::PRIVILEGES);

pub(crate) const ATTACKS: &[Attack] = &[
    row!("unshare-user", "make a user namespace", |_| unshare(libc::CLONE_NEWUSER), NO_FILTER),
    row!(
        "unshare-mount",
        "make a mount namespace",
        |_| unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS),
        NO_FILTER
    ),
    row!(
        "unshare-net",
        "make a network namespace",
        |_| unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET),
        NO_FILTER
    ),
    row!("clone-user", "clone into a user namespace", clone_user, NO_FILTER),
    row!("clone3-user", "the same with clone3", clone3_user, NO_FILTER),
    row!("setns", "enter another namespace", setns, NO_FILTER),
    row!("mount", "mount a file system", mount, NO_FILTER_NO_DROP),
    row!("mount-new-call", "the same with the newer calls", fsopen, NO_FILTER_NO_DROP),
    row!("unmount", "unmount the work directory", unmount, NO_FILTER_NO_DROP),
    row!("chroot", "change the root", chroot, NO_FILTER_NO_DROP),
    row!("open-tree", "clone a tree of mounts", open_tree, NO_FILTER_NO_DROP),
    row!("host-name", "change the host's name", host_name, NO_FILTER_NO_DROP),
    #[cfg(target_arch = "x86_64")]
    row!("int-80", "make a namespace by 32-bit calls", int_80, NO_FILTER),
    row!("io-uring", "do input and output past the filter", io_uring, NO_FILTER),
    row!("bpf", "load a program into the kernel", bpf, NO_FILTER),
    row!("perf", "measure the whole machine", perf, NO_FILTER),
    row!("userfaultfd", "handle page faults of the kernel", userfaultfd, NO_FILTER),
    row!("add-key", "put a key on the kernel's ring", add_key, NO_FILTER),
    row!("keyctl", "use the kernel's key ring", keyctl, NO_FILTER),
    row!("personality", "turn off address randomisation", personality, NO_FILTER),
    row!("set-clock", "set the clock", set_clock, NO_FILTER),
    row!("terminal-input", "type into the terminal", terminal_input, NO_FILTER),
    #[cfg(target_arch = "x86_64")]
    row!("modify-ldt", "change segment descriptors", modify_ldt, NO_FILTER),
    row!("fanotify", "watch files of everybody", fanotify, NO_FILTER),
    row!("move-pages", "move memory between nodes", set_mempolicy, NO_FILTER),
    row!("secret-memory", "take memory that nobody can see", secret_memory, NO_FILTER),
    row!("capabilities", "have any capability", capabilities, KEEP_PRIVILEGES),
    row!("new-privileges", "gain privileges by running a program", new_privileges, NEW_PRIVILEGES),
    row!("core-pattern", "write to the kernel's settings", core_pattern, SETTINGS),
];

/// Settings of the kernel are the root user's; anybody else shows that the file is reached by reading it.
const SETTINGS: Control = Control::Bare;

fn unshare(flags: i32) -> i32 {
    reached(call3(libc::SYS_unshare, flags as u64, 0, 0).is_ok())
}

fn clone_user(_: &Target) -> i32 {
    let flags = (libc::CLONE_NEWUSER | libc::SIGCHLD) as u64;
    let made = call(libc::SYS_clone, [flags, 0, 0, 0, 0, 0]);
    if made == Ok(0) {
        leave();
    }
    wait_all();
    reached(made.is_ok())
}

fn clone3_user(_: &Target) -> i32 {
    let mut args = [0u64; 11];
    args[0] = libc::CLONE_NEWUSER as u64;
    args[4] = libc::SIGCHLD as u64;
    let made = call3(libc::SYS_clone3, args.as_ptr() as u64, 88, 0);
    if made == Ok(0) {
        leave();
    }
    wait_all();
    reached(made.is_ok())
}

/// Without a namespace at hand the descriptor is a wrong one; the kernel then says so, the filter does not.
fn setns(_: &Target) -> i32 {
    reached(call3(libc::SYS_setns, 0, 0, 0) != Err(libc::EPERM))
}

fn mount(_: &Target) -> i32 {
    reached(call(libc::SYS_mount, [at(c"none"), at(c"."), at(c"tmpfs"), 0, 0, 0]).is_ok())
}

fn fsopen(_: &Target) -> i32 {
    reached(call3(libc::SYS_fsopen, at(c"tmpfs"), 0, 0).is_ok())
}

fn unmount(_: &Target) -> i32 {
    reached(call3(libc::SYS_umount2, at(c"/work"), libc::MNT_DETACH as u64, 0).is_ok())
}

fn chroot(_: &Target) -> i32 {
    reached(call3(libc::SYS_chroot, at(c"."), 0, 0).is_ok())
}

fn open_tree(_: &Target) -> i32 {
    const CLONE: u64 = 1;
    reached(call3(libc::SYS_open_tree, libc::AT_FDCWD as u64, at(c"."), CLONE).is_ok())
}

fn host_name(_: &Target) -> i32 {
    reached(call3(libc::SYS_sethostname, at(c"box"), 3, 0).is_ok())
}

/// `unshare` has number 310 for 32-bit programs.
#[cfg(target_arch = "x86_64")]
fn int_80(_: &Target) -> i32 {
    let value: i64;
    // SAFETY: the 32-bit call takes integers only; the clobbered registers are declared, and rbx, which the compiler keeps for itself,
    // is put back.
    unsafe {
        std::arch::asm!(
            "xchg {flags:r}, rbx",
            "int 0x80",
            "xchg {flags:r}, rbx",
            flags = inout(reg) libc::CLONE_NEWUSER as u64 => _,
            inout("rax") 310i64 => value,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    reached(value as i32 == 0)
}

fn io_uring(_: &Target) -> i32 {
    let mut params = [0u8; 256];
    reached(call3(libc::SYS_io_uring_setup, 4, params.as_mut_ptr() as u64, 0).is_ok())
}

/// A nonsense command: the kernel says EINVAL (or EPERM where only root may), the filter EPERM. The size is what tells: an oversized one is
/// refused with E2BIG before rights are looked at.
fn bpf(_: &Target) -> i32 {
    let attributes = [0xffu8; 8192];
    let answer = call3(libc::SYS_bpf, 0, attributes.as_ptr() as u64, 8192);
    reached(answer != Err(libc::EPERM))
}

fn perf(_: &Target) -> i32 {
    let mut attributes = [0u64; 16];
    // Type software, size 128, event CPU clock, user space only.
    attributes[0] = 1 | (128 << 32);
    attributes[5] = 0b110_0001;
    let answer = call(libc::SYS_perf_event_open, [attributes.as_ptr() as u64, 0, u64::MAX, u64::MAX, 0, 0]);
    reached(answer != Err(libc::EPERM))
}

fn userfaultfd(_: &Target) -> i32 {
    const USER_MODE_ONLY: u64 = 1;
    reached(call3(libc::SYS_userfaultfd, USER_MODE_ONLY, 0, 0).is_ok())
}

fn add_key(_: &Target) -> i32 {
    const PROCESS_RING: u64 = -2i64 as u64;
    let args = [at(c"user"), at(c"attack"), at(c"x"), 1, PROCESS_RING, 0];
    reached(call(libc::SYS_add_key, args).is_ok())
}

fn keyctl(_: &Target) -> i32 {
    const GET_RING: u64 = 0;
    const PROCESS_RING: u64 = -2i64 as u64;
    reached(call3(libc::SYS_keyctl, GET_RING, PROCESS_RING, 1).is_ok())
}

fn personality(_: &Target) -> i32 {
    reached(call3(libc::SYS_personality, libc::ADDR_NO_RANDOMIZE as u64, 0, 0).is_ok())
}

/// An impossible time: the kernel says EINVAL before it asks who wants it, so that no clock is ever set.
fn set_clock(_: &Target) -> i32 {
    let time = [0u64, u64::MAX];
    reached(call3(libc::SYS_clock_settime, 0, time.as_ptr() as u64, 0) == Err(libc::EINVAL))
}

fn terminal_input(_: &Target) -> i32 {
    let letter = b'x';
    let answer = call3(libc::SYS_ioctl, 0, libc::TIOCSTI, std::ptr::from_ref(&letter) as u64);
    reached(answer != Err(libc::EPERM))
}

#[cfg(target_arch = "x86_64")]
fn modify_ldt(_: &Target) -> i32 {
    let mut buffer = [0u8; 64];
    reached(call3(libc::SYS_modify_ldt, 0, buffer.as_mut_ptr() as u64, 64).is_ok())
}

fn fanotify(_: &Target) -> i32 {
    const REPORT_FID: u64 = 0x200;
    reached(call3(libc::SYS_fanotify_init, REPORT_FID, 0, 0).is_ok())
}

fn set_mempolicy(_: &Target) -> i32 {
    reached(call3(libc::SYS_set_mempolicy, 0, 0, 0) != Err(libc::EPERM))
}

fn secret_memory(_: &Target) -> i32 {
    reached(call3(libc::SYS_memfd_secret, 0xffff, 0, 0) != Err(libc::EPERM))
}

fn capabilities(_: &Target) -> i32 {
    let sets = rustix::thread::capabilities(None);
    reached(sets.is_ok_and(|sets| !sets.effective.is_empty() || !sets.permitted.is_empty()))
}

fn new_privileges(_: &Target) -> i32 {
    reached(!rustix::thread::no_new_privs().unwrap_or(true))
}

fn core_pattern(_: &Target) -> i32 {
    let read = std::fs::read("/proc/sys/kernel/core_pattern").is_ok();
    if forked() == Some(true) {
        leave();
    }
    wait_all();
    reached(read)
}
