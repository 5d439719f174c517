//! Attacks on other processes: signals, memory, descriptors, forged reports, and outliving the box.

use std::fs;
use std::io::Write;
use std::os::fd::FromRawFd;

use super::arena::Arena;
use super::raw::{call, call3, forked, leave, sleep_ms, take_name};
use super::{Attack, Check, Control, Target, as_is, reached};
use crate::guards::Guards;
use crate::linux::report::{Ending, Message};
use crate::linux::sys;
use crate::outcome::{Outcome, Status};
use crate::tier::Tier;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr, $check:expr, $control:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: $check,
            control: $control,
            adjust: as_is,
            shapes: super::ONE_OF_EACH,
        }
    };
}

const OPEN_FDS: Control = Control::Without(Tier::Limited, Guards::FDS);
const SAME_USER: Control = Control::Without(Tier::Limited, Guards::USER);

pub(crate) const ATTACKS: &[Attack] = &[
    row!(
        "kill",
        "kill a process of the user",
        |t| signal(t.victim, libc::SIGKILL),
        Check::Harmed,
        Control::Bare
    ),
    row!(
        "stop-other",
        "stop a process of the user",
        |t| signal(t.victim, libc::SIGSTOP),
        Check::Harmed,
        Control::Bare
    ),
    row!(
        "kill-group",
        "kill a process group",
        |t| signal(-t.victim, libc::SIGKILL),
        Check::Harmed,
        Control::Bare
    ),
    row!("kill-thread", "kill a thread of another process", kill_thread, Check::Harmed, Control::Bare),
    row!("kill-queue", "kill with a queued signal", kill_queue, Check::Harmed, Control::Bare),
    row!("kill-pidfd", "kill through a pidfd", kill_pidfd, Check::Harmed, Control::Bare),
    row!("kill-all", "kill everything in reach", kill_all, Check::Harmed, Control::Bare),
    row!("kill-init", "kill the process that watches it", kill_init, Check::Other(no_verdict), SAME_USER),
    row!("ptrace", "attach to a process of the user", ptrace, Check::Says, Control::Bare),
    row!("read-memory", "read the secret from another's memory", read_memory, Check::Leaks, Control::Bare),
    row!("write-memory", "write to another's memory", write_memory, Check::Says, Control::Bare),
    row!("proc-memory", "read the secret from /proc/PID/mem", proc_memory, Check::Leaks, Control::Bare),
    row!(
        "proc-environ",
        "read the secret from another's environment",
        proc_environ,
        Check::Leaks,
        Control::Bare
    ),
    row!("proc-cmdline", "learn command lines", proc_cmdline, Check::Says, Control::Bare),
    row!("environment", "find the harness's environment in its own", environment, Check::Says, Control::Bare),
    row!("steal-descriptor", "take a descriptor from another process", steal, Check::Says, Control::Bare),
    row!("limit-other", "set limits of another process", limit_other, Check::Says, Control::Bare),
    row!(
        "schedule-other",
        "change the scheduling of another process",
        schedule_other,
        Check::Says,
        Control::Bare
    ),
    row!(
        "priority-other",
        "change the priority of another process",
        priority_other,
        Check::Says,
        Control::Bare
    ),
    row!("inherited", "use a descriptor that was left open", inherited, Check::Says, OPEN_FDS),
    row!("forged-report", "report its own success", forged, Check::Other(forgery), OPEN_FDS),
    row!(
        "semaphore",
        "leave a System V semaphore behind",
        semaphore,
        Check::Other(semaphore_left),
        Control::Bare
    ),
    row!("orphan", "fork twice and live on, holding the pipe", orphan, Check::Survives, Control::Bare),
    row!("orphan-quiet", "the same without the pipe", orphan_quiet, Check::Survives, Control::Bare),
    row!("orphan-race", "fork on and on while the box ends", orphan_race, Check::Survives, Control::Bare),
    row!("orphan-deaf", "live on, ignoring every signal", orphan_deaf, Check::Survives, Control::Bare),
];

fn signal(pid: i32, number: i32) -> i32 {
    sys::kill(pid, number);
    sleep_ms(20);
    0
}

fn kill_thread(target: &Target) -> i32 {
    let victim = target.victim as u64;
    let _ = call3(libc::SYS_tgkill, victim, victim, libc::SIGKILL as u64);
    sleep_ms(20);
    0
}

fn kill_queue(target: &Target) -> i32 {
    let mut info = [0u32; 32];
    info[0] = libc::SIGKILL as u32;
    info[2] = libc::SI_QUEUE as u32;
    let _ =
        call3(libc::SYS_rt_sigqueueinfo, target.victim as u64, libc::SIGKILL as u64, info.as_ptr() as u64);
    sleep_ms(20);
    0
}

fn kill_pidfd(target: &Target) -> i32 {
    if let Ok(fd) = call3(libc::SYS_pidfd_open, target.victim as u64, 0, 0) {
        let _ = call(libc::SYS_pidfd_send_signal, [fd as u64, libc::SIGKILL as u64, 0, 0, 0, 0]);
    }
    sleep_ms(20);
    0
}

/// In a box it kills all it can. The control must not end the user's session: without a box it aims at the victim alone.
fn kill_all(target: &Target) -> i32 {
    let boxed = std::env::args_os().nth(1).is_none_or(|what| what != crate::trampoline::BUILTIN);
    signal(if boxed { -1 } else { target.victim }, libc::SIGKILL)
}

fn kill_init(_: &Target) -> i32 {
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    sys::kill(if parent > 0 { parent } else { 1 }, libc::SIGKILL);
    sleep_ms(20);
    7
}

/// The payload exits with 7; anything else was forged or lost.
fn no_verdict(_: &Arena, outcome: &Outcome) -> Option<String> {
    (outcome.status != Status::Exit(7)).then(|| format!("the verdict became {:?}", outcome.status))
}

fn ptrace(target: &Target) -> i32 {
    let done = call3(libc::SYS_ptrace, u64::from(libc::PTRACE_SEIZE), target.victim as u64, 0);
    reached(done.is_ok())
}

#[expect(clippy::print_stdout, reason = "a payload's standard output is what the harness reads")]
fn print_bytes(bytes: &[u8]) -> i32 {
    println!("{}", String::from_utf8_lossy(bytes));
    0
}

fn vectors(target: &Target, buffer: &mut [u8]) -> ([u64; 2], [u64; 2]) {
    ([buffer.as_mut_ptr() as u64, buffer.len() as u64], [target.address, buffer.len() as u64])
}

fn read_memory(target: &Target) -> i32 {
    let mut buffer = [0u8; 48];
    let (local, remote) = vectors(target, &mut buffer);
    let args = [target.victim as u64, local.as_ptr() as u64, 1, remote.as_ptr() as u64, 1, 0];
    let _ = call(libc::SYS_process_vm_readv, args);
    print_bytes(&buffer)
}

fn write_memory(target: &Target) -> i32 {
    let mut buffer = [b'X'; 4];
    let (local, remote) = vectors(target, &mut buffer);
    let args = [target.victim as u64, local.as_ptr() as u64, 1, remote.as_ptr() as u64, 1, 0];
    reached(call(libc::SYS_process_vm_writev, args).is_ok())
}

fn proc_memory(target: &Target) -> i32 {
    use std::os::unix::fs::FileExt;
    let mut buffer = [0u8; 48];
    if let Ok(file) = fs::File::open(format!("/proc/{}/mem", target.victim)) {
        let _ = file.read_at(&mut buffer, target.address);
    }
    print_bytes(&buffer)
}

fn proc_environ(target: &Target) -> i32 {
    print_bytes(&fs::read(format!("/proc/{}/environ", target.victim)).unwrap_or_default())
}

fn proc_cmdline(target: &Target) -> i32 {
    reached(fs::read(format!("/proc/{}/cmdline", target.harness)).is_ok_and(|text| !text.is_empty()))
}

fn environment(_: &Target) -> i32 {
    reached(std::env::vars_os().next().is_some())
}

fn steal(target: &Target) -> i32 {
    let Ok(fd) = call3(libc::SYS_pidfd_open, target.victim as u64, 0, 0) else { return 0 };
    reached(call3(libc::SYS_pidfd_getfd, fd as u64, 0, 0).is_ok())
}

fn limit_other(target: &Target) -> i32 {
    let limit = [64u64, 64];
    let args = [target.victim as u64, u64::from(libc::RLIMIT_NOFILE), limit.as_ptr() as u64, 0, 0, 0];
    reached(call(libc::SYS_prlimit64, args).is_ok())
}

fn schedule_other(target: &Target) -> i32 {
    let set = [1u64; 16];
    reached(call3(libc::SYS_sched_setaffinity, target.victim as u64, 128, set.as_ptr() as u64).is_ok())
}

fn priority_other(target: &Target) -> i32 {
    reached(call3(libc::SYS_setpriority, 0, target.victim as u64, 19).is_ok())
}

fn inherited(_: &Target) -> i32 {
    let open = (3..256).any(|fd| call3(libc::SYS_fcntl, fd, libc::F_GETFD as u64, 0).is_ok());
    reached(open)
}

/// Writes a report of success to every descriptor that takes it, then fails.
fn forged(_: &Target) -> i32 {
    let lie = Message::Ended(Ending { status: Some(0), ..Ending::default() }).encode();
    for fd in 3..256 {
        // SAFETY: the descriptor, if there is one, was left by mistake; it is forgotten again and never closed.
        let mut file = std::mem::ManuallyDrop::new(unsafe { fs::File::from_raw_fd(fd) });
        let _ = file.write_all(&lie);
    }
    7
}

fn forgery(_: &Arena, outcome: &Outcome) -> Option<String> {
    (outcome.status == Status::Ok).then(|| "a forged success was believed".to_owned())
}

/// A key that no other arena has.
fn key(target: &Target) -> u64 {
    0x5048_0000 | (u64::from(target.tcp))
}

fn semaphore(target: &Target) -> i32 {
    i32::from(call3(libc::SYS_semget, key(target), 1, 0o1666).is_err())
}

fn semaphore_left(arena: &Arena, _: &Outcome) -> Option<String> {
    let id = call3(libc::SYS_semget, key(&arena.target), 0, 0).ok()?;
    let _ = call3(libc::SYS_semctl, id as u64, 0, libc::IPC_RMID as u64);
    Some("a semaphore was left behind".to_owned())
}

fn detach(target: &Target, then: impl FnOnce()) -> i32 {
    if forked() == Some(true) {
        let _ = rustix::process::setsid();
        if forked() == Some(true) {
            take_name(&target.tag);
            then();
        }
        leave();
    }
    sleep_ms(10);
    0
}

fn orphan(target: &Target) -> i32 {
    detach(target, || sleep_ms(10_000))
}

fn orphan_quiet(target: &Target) -> i32 {
    detach(target, || {
        let _ = sys::close_from(0);
        sleep_ms(10_000);
    })
}

fn orphan_deaf(target: &Target) -> i32 {
    detach(target, || {
        for number in 1..32 {
            // SAFETY: SIG_IGN installs no code.
            unsafe { libc::signal(number, libc::SIG_IGN) };
        }
        sleep_ms(10_000);
    })
}

/// Each process lives only long enough to start the next, for a fifth of a second.
fn orphan_race(target: &Target) -> i32 {
    detach(target, || {
        let end = crate::clock::now_us() + 200_000;
        while crate::clock::now_us() < end {
            if forked() == Some(false) {
                leave();
            }
        }
        sleep_ms(10_000);
    })
}
