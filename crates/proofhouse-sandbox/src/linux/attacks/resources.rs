//! Attacks on time, processes, files, disk and output.

use std::fs;
use std::io::Write;

use super::arena::Arena;
use super::raw::{call3, forked, leave, sleep_ms, take_name, wait_all};
use super::{Attack, Check, Control, NO_LIMITS, Target, reached};
use crate::guards::Guards;
use crate::outcome::{Outcome, Status};
use crate::spec::Spec;
use crate::tier::Tier;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr, $check:expr, $control:expr, $adjust:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: $check,
            control: $control,
            adjust: $adjust,
            shapes: super::ONE_OF_EACH,
        }
    };
}

const NO_DISK: Control = Control::Without(Tier::Strong, Guards::DISK.and(Guards::RLIMITS));
const NO_CAP: Control = Control::Without(Tier::Strong, Guards::OUTPUT);

pub(crate) const ATTACKS: &[Attack] = &[
    row!("fork-bomb", "start processes without end", fork_bomb, Check::Says, NO_LIMITS, few),
    row!("thread-bomb", "start threads without end", thread_bomb, Check::Says, NO_LIMITS, few),
    row!("open-files", "open files without end", open_files, Check::Says, NO_LIMITS, few),
    row!("disk-fill", "fill the disk with many files", disk_fill, Check::Says, NO_DISK, little_disk),
    row!("inode-fill", "make files without end", inode_fill, Check::Says, NO_DISK, little_disk),
    row!("big-file", "write one file without end", big_file, Check::Says, NO_DISK, little_disk),
    row!("sparse-file", "make a file that looks enormous", sparse_file, Check::Says, NO_DISK, little_disk),
    row!(
        "stdout-flood",
        "write to standard output without end",
        |_| flood(1),
        Check::Other(too_long),
        NO_CAP,
        short
    ),
    row!(
        "stderr-flood",
        "write to standard error without end",
        |_| flood(2),
        Check::Other(too_long),
        NO_CAP,
        short
    ),
    row!("cpu-loop", "use the processor without end", cpu_loop, Check::Says, NO_LIMITS, brief),
    row!("cpu-children", "use it in many short-lived children", cpu_children, Check::Says, NO_LIMITS, brief),
    row!("cpu-ignore", "use it and ignore the warning signal", cpu_ignore, Check::Says, NO_LIMITS, brief),
    row!("sleep", "sleep past the deadline with all signals ignored", sleep, Check::Says, NO_LIMITS, brief),
    row!("stop", "stop itself, so that nothing ever ends", stop, Check::Other(not_ended), NO_WALL, brief),
];

/// Only the wall clock ends a stopped process; the harness's own guard behind it is what the control shows.
const NO_WALL: Control = Control::Without(Tier::Strong, Guards::WALL);

fn few(spec: &mut Spec, _: &Arena) {
    spec.limits.processes = 16;
    spec.limits.open_files = 32;
}

fn little_disk(spec: &mut Spec, _: &Arena) {
    spec.limits.disk_bytes = 8 << 20;
    spec.limits.disk_inodes = 100;
    spec.limits.file_bytes = 1 << 20;
}

fn short(spec: &mut Spec, _: &Arena) {
    spec.limits.output_bytes = 10_000;
}

fn brief(spec: &mut Spec, _: &Arena) {
    spec.limits.cpu_ms = 200;
    // A control is to end by itself; only the one of `stop` waits for the harness's own guard.
    spec.limits.wall_ms = if spec.without.has(Guards::RLIMITS) { 60_000 } else { 600 };
}

fn fork_bomb(target: &Target) -> i32 {
    let mut children = 0;
    while children < 64 {
        match forked() {
            Some(true) => {
                take_name(&target.tag);
                sleep_ms(3_000);
                leave();
            }
            Some(false) => children += 1,
            None => break,
        }
    }
    keep_up(children >= 32)
}

/// More than allowed counts as through when it lasts. Where the kernel counts all processes of a user together, the watchdog
/// ends what the kernel let pass.
fn keep_up(many: bool) -> i32 {
    if many {
        sleep_ms(300);
    }
    reached(many)
}

fn thread_bomb(_: &Target) -> i32 {
    let mut threads = 0;
    while threads < 64 {
        let started = std::thread::Builder::new().stack_size(64 << 10).spawn(|| sleep_ms(3_000));
        if started.is_err() {
            break;
        }
        threads += 1;
    }
    keep_up(threads >= 32)
}

fn open_files(_: &Target) -> i32 {
    let files: Vec<_> = (0..1000).map_while(|_| fs::File::open("/dev/null").ok()).collect();
    reached(files.len() > 500)
}

fn disk_fill(_: &Target) -> i32 {
    let block = vec![1u8; 512 << 10];
    let written = (0..64).take_while(|number| fs::write(format!("f{number}"), &block).is_ok()).count();
    reached(written == 64)
}

fn inode_fill(_: &Target) -> i32 {
    let made = (0..1_000).take_while(|number| fs::write(format!("f{number}"), "").is_ok()).count();
    reached(made == 1_000)
}

fn big_file(_: &Target) -> i32 {
    let block = vec![1u8; 1 << 20];
    let Ok(mut file) = fs::File::create("big") else { return 1 };
    let written = (0..4).take_while(|_| file.write_all(&block).is_ok()).count();
    reached(written == 4)
}

fn sparse_file(_: &Target) -> i32 {
    reached(fs::File::create("big").is_ok_and(|file| file.set_len(1 << 32).is_ok()))
}

fn flood(descriptor: u64) -> i32 {
    let block = [b'x'; 4096];
    for _ in 0..256 {
        if call3(libc::SYS_write, descriptor, block.as_ptr() as u64, 4096).is_err() {
            return 1;
        }
    }
    0
}

/// Exactly the cap, and not one byte more.
fn too_long(_: &Arena, outcome: &Outcome) -> Option<String> {
    let longest = outcome.stdout.length.max(outcome.stderr.length);
    let exact = longest == 10_000 && outcome.status == Status::OutputLimit;
    (!exact).then(|| format!("{longest} bytes came through, ending with {:?}", outcome.status))
}

fn burn_ms(millis: u64) {
    let end = crate::clock::now_us() + millis * 1000;
    while crate::clock::now_us() < end {}
}

fn cpu_loop(_: &Target) -> i32 {
    burn_ms(1_000);
    reached(true)
}

fn cpu_children(target: &Target) -> i32 {
    for _ in 0..10 {
        if forked() == Some(true) {
            take_name(&target.tag);
            burn_ms(100);
            leave();
        }
        wait_all();
    }
    reached(true)
}

fn ignore_all() {
    for signal in 1..32 {
        // SAFETY: SIG_IGN installs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

fn cpu_ignore(_: &Target) -> i32 {
    ignore_all();
    burn_ms(1_000);
    reached(true)
}

fn sleep(_: &Target) -> i32 {
    ignore_all();
    sleep_ms(1_000);
    reached(true)
}

fn stop(_: &Target) -> i32 {
    super::super::sys::kill(std::process::id().cast_signed(), libc::SIGSTOP);
    0
}

fn not_ended(_: &Arena, outcome: &Outcome) -> Option<String> {
    (outcome.status != Status::WallLimit).then(|| format!("it ended with {:?}", outcome.status))
}
