//! Attacks that take more memory than allowed, by every door that leads to memory. The limit is 64 MiB and each tries to hold 512.

use super::arena::Arena;
use super::raw::{call, call3, forked, leave, sleep_ms, take_name, wait_all};
use super::{Attack, Check, Control, NO_FILTER, NO_LIMITS, Target, reached};
use crate::guards::Guards;
use crate::spec::Spec;
use crate::tier::Tier;

const MIB: u64 = 1 << 20;
const LIMIT: u64 = 64 * MIB;
const WANTED: u64 = 512 * MIB;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr, $control:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: Check::Says,
            control: $control,
            adjust: small,
            shapes: super::ONE_OF_EACH,
        }
    };
}

pub(crate) const ATTACKS: &[Attack] = &[
    row!("heap", "fill the heap", heap, NO_LIMITS),
    row!("heap-at-once", "have the kernel fill it in one call", populate, NO_LIMITS),
    row!("heap-hidden-name", "the same as a process with a name that is no text", hidden_name, NO_LIMITS),
    row!("heap-many", "share it out among many processes", many, NO_LIMITS),
    row!("shared-anonymous", "fill memory shared with children", shared, NO_LIMITS_NO_FILTER),
    row!("memory-file", "fill a file that is only memory", memory_file, NO_FILTER),
    row!("system-v", "fill a System V segment", system_v, NO_FILTER),
    row!(
        "message-queue",
        "make a System V message queue",
        |_| reached(call3(libc::SYS_msgget, 0, 0o1600, 0).is_ok()),
        NO_FILTER
    ),
    row!("posix-queue", "make a POSIX message queue", posix_queue, QUEUE),
    row!("lock", "lock memory so that it cannot be swapped", lock, NO_LIMITS),
];

/// The control of attacks on memory that the filter stops before the watchdog must.
const NO_LIMITS_NO_FILTER: Control = Control::Without(
    Tier::Strong,
    Guards::SECCOMP.and(Guards::RLIMITS).and(Guards::WATCHDOG).and(Guards::WALL),
);

/// A queue is stopped by the filter, by the limit on queues, and by Landlock, for which it is a file.
const QUEUE: Control =
    Control::Without(Tier::Strong, Guards::SECCOMP.and(Guards::RLIMITS).and(Guards::LANDLOCK));

fn small(spec: &mut Spec, _: &Arena) {
    spec.limits.memory_bytes = LIMIT;
    spec.limits.address_bytes = None;
    spec.limits.cpu_ms = 60_000;
}

/// Takes memory and touches every page; the address, or an error.
fn take(bytes: u64, flags: i32) -> Result<u64, i32> {
    let rights = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let flags = (flags | libc::MAP_ANONYMOUS) as u64;
    let place = call(libc::SYS_mmap, [0, bytes, rights, flags, u64::MAX, 0])?;
    touch(place as u64, bytes);
    Ok(place as u64)
}

fn touch(place: u64, bytes: u64) {
    for offset in (0..bytes).step_by(4096) {
        // SAFETY: the range was just mapped readable and writable, and nothing else refers to it.
        unsafe { ((place + offset) as *mut u8).write_volatile(1) };
    }
}

/// Holds for a while, so that a look cannot miss it.
fn hold(got: bool) -> i32 {
    sleep_ms(50);
    reached(got)
}

fn heap(_: &Target) -> i32 {
    hold(take(WANTED, libc::MAP_PRIVATE).is_ok())
}

fn populate(_: &Target) -> i32 {
    let rights = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE) as u64;
    hold(call(libc::SYS_mmap, [0, WANTED, rights, flags, u64::MAX, 0]).is_ok())
}

fn hidden_name(_: &Target) -> i32 {
    let name = std::ffi::CString::new([0xff, b')', b' ', b'R', b' ', b'1']).unwrap_or_default();
    let _ = rustix::thread::set_name(&name);
    hold(take(WANTED, libc::MAP_PRIVATE).is_ok())
}

fn many(target: &Target) -> i32 {
    for _ in 0..16 {
        if forked() == Some(true) {
            take_name(&target.tag);
            let got = take(WANTED / 16, libc::MAP_PRIVATE).is_ok();
            sleep_ms(300);
            super::super::sys::exit_now(i32::from(!got));
        }
    }
    // All of them must have got their share: a kernel that ends some of them has held the total.
    let mut held = 0;
    while let Ok(Some(child)) = super::super::sys::reap(true) {
        held += u32::from(child.status == 0);
    }
    reached(held == 16)
}

fn shared(_: &Target) -> i32 {
    let got = take(WANTED, libc::MAP_SHARED).is_ok();
    if forked() == Some(true) {
        leave();
    }
    wait_all();
    hold(got)
}

fn memory_file(_: &Target) -> i32 {
    let Ok(file) = call3(libc::SYS_memfd_create, c"x".as_ptr() as u64, 0, 0) else { return 0 };
    let block = vec![1u8; MIB as usize];
    // A limit on file size counts here too; the attack stays below it and takes several files.
    let mut filled = 0;
    while filled < 100 * MIB {
        match call3(libc::SYS_write, file as u64, block.as_ptr() as u64, MIB) {
            Ok(count) => filled += count as u64,
            Err(_) => break,
        }
    }
    hold(filled >= 100 * MIB)
}

fn system_v(_: &Target) -> i32 {
    let Ok(id) = call3(libc::SYS_shmget, 0, WANTED, 0o1600) else { return 0 };
    let Ok(place) = call3(libc::SYS_shmat, id as u64, 0, 0) else { return 0 };
    // The segment goes with its last user.
    let _ = call3(libc::SYS_shmctl, id as u64, libc::IPC_RMID as u64, 0);
    // Touched piece by piece and given back, so that no process ever shows it as its own.
    let piece = 16 * MIB;
    for offset in (0..WANTED).step_by(piece as usize) {
        touch(place as u64 + offset, piece);
        let _ = call3(libc::SYS_madvise, place as u64 + offset, piece, libc::MADV_DONTNEED as u64);
    }
    hold(true)
}

fn posix_queue(_: &Target) -> i32 {
    let flags = (libc::O_CREAT | libc::O_RDWR) as u64;
    let made = call(libc::SYS_mq_open, [c"attack".as_ptr() as u64, flags, 0o600, 0, 0, 0]);
    let _ = call3(libc::SYS_mq_unlink, c"attack".as_ptr() as u64, 0, 0);
    reached(made.is_ok())
}

fn lock(_: &Target) -> i32 {
    let bytes = 4 * MIB;
    let got = take(bytes, libc::MAP_PRIVATE).and_then(|place| call3(libc::SYS_mlock, place, bytes, 0));
    reached(got.is_ok())
}
