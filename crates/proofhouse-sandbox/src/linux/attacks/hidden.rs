//! Attacks that hold memory where a sum over processes does not find it. The limit is 64 MiB; each tries to hold 256 or more, and one
//! that holds less than a tenth above the limit has not got through.

use super::arena::Arena;
use super::raw::{call, call3, forked, leave, sleep_ms, take_name};
use super::{Attack, Check, Control, ONE_OF_EACH, Shape, TOOLS, Target, reached};
use crate::guards::Guards;
use crate::spec::Spec;
use crate::tier::Tier;

const MIB: u64 = 1 << 20;
pub(super) const LIMIT: u64 = 64 * MIB;
const WANTED: u64 = 256 * MIB;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr) => {
        row!($name, $what, $payload, ONE_OF_EACH)
    };
    ($name:literal, $what:literal, $payload:expr, $shapes:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: Check::Says,
            control: Control::Without(
                Tier::Strong,
                Guards::RLIMITS.and(Guards::WATCHDOG).and(Guards::WALL).and(Guards::SECCOMP),
            ),
            adjust: small,
            shapes: $shapes,
        }
    };
}

pub(crate) const ATTACKS: &[Attack] = &[
    row!("memory-exited-thread", "fill it after the first thread has ended", exited_thread),
    row!("memory-shared-dropped", "fill shared memory and let go of each page", shared_dropped),
    row!("memory-shared-child", "have children fill shared memory and end", shared_child),
    row!("memory-sockets", "fill the buffers of sockets", sockets),
    row!("memory-sockets-sent", "send full sockets through each other", sockets_sent, STRICT),
    row!("memory-sockets-handed", "the same where descriptors may be handed on", sockets_sent, ZYGOTE),
    row!("memory-sockets-large", "ask for larger buffers and fill those", sockets_large),
    row!("memory-pipes", "fill pipes", pipes),
    row!("memory-pipes-large", "ask for larger pipes and fill those", pipes_large),
    row!("memory-page-tables", "have page tables for memory that is not there", page_tables),
    row!("memory-tables-of-zero", "the same by reading only", tables_of_zero),
    row!("memory-mappings", "describe more mappings than there is memory", mappings),
    row!("memory-spliced", "give pages to pipes and let go of them", vmspliced),
    row!("memory-vfork", "fill it in a child that borrows the address space", borrowed, TOOLS),
    row!("disk-unlinked", "fill files that have no name", unlinked),
    row!("memory-renamed-thread", "fill it in a thread of a process with many", many_threads),
];

/// Boxes in which no descriptor is handed on where it could not be counted, and the one that must hand them on.
const STRICT: &[Shape] = &[Shape::Tool, Shape::Program];
const ZYGOTE: &[Shape] = &[Shape::Zygote];

fn small(spec: &mut Spec, _: &Arena) {
    spec.limits.memory_bytes = LIMIT;
    spec.limits.address_bytes = None;
    spec.limits.cpu_ms = 60_000;
    spec.limits.open_files = 1024;
    // The work directory has a limit of its own.
    spec.limits.disk_bytes = 4 * MIB;
    spec.limits.file_bytes = 4 * MIB;
    if spec.without.has(Guards::WATCHDOG) {
        spec.limits.disk_bytes = 2 * WANTED;
    }
}

const RIGHTS: u64 = (libc::PROT_READ | libc::PROT_WRITE) as u64;

fn map(bytes: u64, flags: i32) -> Option<u64> {
    let flags = (flags | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as u64;
    call(libc::SYS_mmap, [0, bytes, RIGHTS, flags, u64::MAX, 0]).ok().map(|place| place as u64)
}

fn touch(place: u64, bytes: u64, step: usize) {
    for offset in (0..bytes).step_by(step) {
        // SAFETY: the range was just mapped readable and writable, and nothing else refers to it.
        unsafe { ((place + offset) as *mut u8).write_volatile(1) };
    }
}

/// Holds for a while, so that a look cannot miss it.
fn hold(got: bool) -> i32 {
    if got {
        sleep_ms(150);
    }
    reached(got)
}

fn exited_thread(_: &Target) -> i32 {
    std::thread::spawn(|| {
        sleep_ms(50);
        let got = map(WANTED, libc::MAP_PRIVATE);
        if let Some(place) = got {
            touch(place, WANTED, 4096);
        }
        let code = hold(got.is_some());
        super::super::sys::exit_now(code)
    });
    let _ = call3(libc::SYS_exit, 0, 0, 0);
    0
}

fn shared_dropped(_: &Target) -> i32 {
    let Some(place) = map(WANTED, libc::MAP_SHARED) else { return 0 };
    let piece = 4 * MIB;
    for offset in (0..WANTED).step_by(piece as usize) {
        touch(place + offset, piece, 4096);
        let _ = call3(libc::SYS_madvise, place + offset, piece, libc::MADV_DONTNEED as u64);
    }
    hold(true)
}

fn shared_child(target: &Target) -> i32 {
    let Some(place) = map(WANTED, libc::MAP_SHARED) else { return 0 };
    let piece = 16 * MIB;
    for offset in (0..WANTED).step_by(piece as usize) {
        if forked() == Some(true) {
            take_name(&target.tag);
            touch(place + offset, piece, 4096);
            leave();
        }
        let _ = super::super::sys::reap(true);
    }
    hold(true)
}

/// A pair of sockets that do not wait.
fn pair() -> Option<[i32; 2]> {
    let mut ends = [0i32; 2];
    let kind = (libc::SOCK_STREAM | libc::SOCK_NONBLOCK) as u64;
    let made = call(libc::SYS_socketpair, [libc::AF_UNIX as u64, kind, 0, ends.as_mut_ptr() as u64, 0, 0]);
    made.is_ok().then_some(ends)
}

fn fill(end: i32) -> u64 {
    let block = [1u8; 32 << 10];
    let mut filled = 0;
    while let Ok(count) = call3(libc::SYS_write, end as u64, block.as_ptr() as u64, block.len() as u64) {
        filled += count.unsigned_abs();
    }
    filled
}

/// Fills both ends of as many pairs as descriptors allow, in as many processes as it takes.
fn sockets(target: &Target) -> i32 {
    fill_in_processes(target, || pair().map(|ends| fill(ends[0]) + fill(ends[1])))
}

fn sockets_large(target: &Target) -> i32 {
    fill_in_processes(target, || {
        let ends = pair()?;
        let size = 64i32 << 20;
        for end in ends {
            let level = libc::SOL_SOCKET as u64;
            let value = std::ptr::from_ref(&size) as u64;
            let _ = call(libc::SYS_setsockopt, [end as u64, level, libc::SO_SNDBUF as u64, value, 4, 0]);
        }
        Some(fill(ends[0]) + fill(ends[1]))
    })
}

fn pipe(size: Option<u64>) -> Option<u64> {
    let mut ends = [0i32; 2];
    call3(libc::SYS_pipe2, ends.as_mut_ptr() as u64, libc::O_NONBLOCK as u64, 0).ok()?;
    if let Some(size) = size {
        let _ = call3(libc::SYS_fcntl, ends[1] as u64, libc::F_SETPIPE_SZ as u64, size);
    }
    Some(fill(ends[1]))
}

fn pipes(target: &Target) -> i32 {
    fill_in_processes(target, || pipe(None))
}

fn pipes_large(target: &Target) -> i32 {
    fill_in_processes(target, || pipe(Some(MIB)))
}

/// Each of sixteen processes fills what `one` makes until descriptors run out. Bytes that were really written count. The kernel
/// itself gives a user less and less for pipes, so that half as much as elsewhere is success enough.
fn fill_in_processes(target: &Target, one: impl Fn() -> Option<u64>) -> i32 {
    let mut counts = [0i32; 2];
    if call3(libc::SYS_pipe2, counts.as_mut_ptr() as u64, 0, 0).is_err() {
        return 0;
    }
    for _ in 0..16 {
        if forked() == Some(true) {
            take_name(&target.tag);
            let mut filled = 0u64;
            while let Some(more) = one().filter(|more| *more > 0 && filled < WANTED / 4) {
                filled += more;
            }
            let _ = call3(libc::SYS_write, counts[1] as u64, filled.to_ne_bytes().as_ptr() as u64, 8);
            sleep_ms(1_000);
            leave();
        }
    }
    let mut total = 0;
    for _ in 0..16 {
        let mut count = [0u8; 8];
        if call3(libc::SYS_read, counts[0] as u64, count.as_mut_ptr() as u64, 8) == Ok(8) {
            total += u64::from_ne_bytes(count);
        }
    }
    hold(total > LIMIT + LIMIT / 10)
}

/// Sockets that are full and sent through others: nobody has them open any more.
fn sockets_sent(_: &Target) -> i32 {
    let mut ways = Vec::new();
    let mut held = 0;
    for _ in 0..400 {
        let Some(full) = pair() else { break };
        held += fill(full[0]) + fill(full[1]);
        for end in full {
            // A way takes only so many messages, and then there must be another.
            let sent = ways.last().is_some_and(|way: &[i32; 2]| send_descriptor(way[0], end));
            if !sent {
                ways.extend(pair());
                let _ = ways.last().is_some_and(|way| send_descriptor(way[0], end));
            }
            let _ = call3(libc::SYS_close, end as u64, 0, 0);
        }
    }
    hold(held > LIMIT + LIMIT / 10)
}

fn send_descriptor(way: i32, sent: i32) -> bool {
    let byte = [1u8];
    let part = [byte.as_ptr() as u64, 1];
    // A header of 16 bytes (length 20, level, kind) and the descriptor, padded.
    let rights = [20u64, (libc::SCM_RIGHTS as u64) << 32 | libc::SOL_SOCKET as u64, sent as u64];
    let message = [0u64, 0, part.as_ptr() as u64, 1, rights.as_ptr() as u64, 24, 0];
    call3(libc::SYS_sendmsg, way as u64, message.as_ptr() as u64, libc::MSG_NOSIGNAL as u64).is_ok()
}

const HUGE: u64 = 2 * MIB;

/// One page in every two MiB: a table for each, and as much again for the page itself.
fn page_tables(_: &Target) -> i32 {
    let Some(place) = map(WANTED / 4096 * HUGE, libc::MAP_PRIVATE) else { return 0 };
    let _ = call3(libc::SYS_madvise, place, WANTED / 4096 * HUGE, libc::MADV_NOHUGEPAGE as u64);
    for offset in (0..WANTED / 4096 * HUGE).step_by(HUGE as usize) {
        touch(place + offset, 1, 4096);
        // The page goes, its table stays.
        let _ = call3(libc::SYS_madvise, (place + offset) & !4095, 4096, libc::MADV_DONTNEED as u64);
    }
    hold(true)
}

fn tables_of_zero(_: &Target) -> i32 {
    let Some(place) = map(WANTED / 4096 * HUGE, libc::MAP_PRIVATE) else { return 0 };
    let _ = call3(libc::SYS_madvise, place, WANTED / 4096 * HUGE, libc::MADV_NOHUGEPAGE as u64);
    for offset in (0..WANTED / 4096 * HUGE).step_by(HUGE as usize) {
        // SAFETY: the range was just mapped readable.
        unsafe { ((place + offset) as *const u8).read_volatile() };
    }
    hold(true)
}

/// Every second page with other rights is a mapping of its own, of some two hundred bytes.
fn mappings(target: &Target) -> i32 {
    const EACH: u64 = 60_000;
    for _ in 0..24 {
        if forked() == Some(true) {
            take_name(&target.tag);
            if let Some(place) = map(EACH * 4096, libc::MAP_PRIVATE) {
                for page in (0..EACH).step_by(2) {
                    let _ = call3(libc::SYS_mprotect, place + page * 4096, 4096, libc::PROT_READ as u64);
                }
            }
            sleep_ms(2_000);
            leave();
        }
    }
    let mut ended = 0;
    while let Ok(Some(child)) = super::super::sys::reap(true) {
        ended += u32::from(child.status == 0);
    }
    reached(ended == 24)
}

fn vmspliced(target: &Target) -> i32 {
    fill_in_processes(target, || {
        let mut ends = [0i32; 2];
        call3(libc::SYS_pipe2, ends.as_mut_ptr() as u64, libc::O_NONBLOCK as u64, 0).ok()?;
        let place = map(64 << 10, libc::MAP_PRIVATE)?;
        touch(place, 64 << 10, 4096);
        let part = [place, 64 << 10];
        let given = call(libc::SYS_vmsplice, [ends[1] as u64, part.as_ptr() as u64, 1, 0, 0, 0]).ok()?;
        let _ = call3(libc::SYS_munmap, place, 64 << 10, 0);
        Some(given.unsigned_abs())
    })
}

/// The child fills memory that is the parent's too, and stays without running a program.
fn borrowed(_: &Target) -> i32 {
    let Some(place) = map(WANTED, libc::MAP_PRIVATE) else { return 0 };
    let ended = super::raw::borrowing(move || {
        touch(place, WANTED, 4096);
        sleep_ms(100);
    });
    reached(ended)
}

fn unlinked(_: &Target) -> i32 {
    let block = vec![1u8; MIB as usize];
    let mut files = Vec::new();
    let mut written = 0;
    while written < WANTED / 2 {
        let Ok(mut file) = std::fs::File::create("x") else { break };
        let _ = std::fs::remove_file("x");
        let Ok(()) = std::io::Write::write_all(&mut file, &block) else { break };
        written += MIB;
        files.push(file);
    }
    hold(written >= WANTED / 2)
}

fn many_threads(_: &Target) -> i32 {
    let each = WANTED / 8;
    let fill = move || {
        take_name("other");
        map(each, libc::MAP_PRIVATE).map(|place| touch(place, each, 4096)).is_some()
    };
    let started: Vec<_> = (0..8).map(|_| std::thread::spawn(fill)).collect();
    let all = started.into_iter().all(|thread| thread.join().unwrap_or(false));
    hold(all)
}

/// An honest program that holds most of its memory and has children that borrow it for longer than a library would.
pub(crate) fn honest() -> i32 {
    let held = LIMIT * 5 / 6;
    let Some(place) = map(held, libc::MAP_PRIVATE) else { return 1 };
    touch(place, held, 4096);
    for _ in 0..3 {
        if !super::raw::borrowing(|| sleep_ms(12)) {
            return 2;
        }
    }
    0
}
