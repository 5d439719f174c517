//! Attacks on the budget of CPU time: a byte of output is a millisecond of CPU time that was really used, so that the outside counts
//! what the box may not see. The budget is 400 ms, a tenth more is allowed, and each attack tries to use 1,600.

use std::ffi::CStr;

use super::arena::Arena;
use super::raw::{at, call, call3, forked, leave, sleep_ms, take_name};
use super::{Attack, Check, Control, ONE_OF_EACH, TOOLS, Target};
use crate::guards::Guards;
use crate::outcome::{Outcome, Status};
use crate::spec::Spec;
use crate::tier::Tier;

const BUDGET_MS: u64 = 400;
const WANTED_MS: u64 = 1_600;

macro_rules! row {
    ($name:literal, $what:literal, $payload:expr) => {
        row!($name, $what, $payload, ONE_OF_EACH)
    };
    ($name:literal, $what:literal, $payload:expr, $shapes:expr) => {
        Attack {
            name: $name,
            what: $what,
            payload: $payload,
            check: Check::Other(over_budget),
            control: Control::Without(
                Tier::Strong,
                Guards::RLIMITS.and(Guards::WATCHDOG).and(Guards::WALL).and(Guards::SECCOMP),
            ),
            adjust: little_time,
            shapes: $shapes,
        }
    };
}

pub(crate) const ATTACKS: &[Attack] = &[
    row!("time-ignored-children", "use time in children that are ignored", |t| children(
        t,
        ignore_children,
        5
    )),
    row!("time-ignored-brief", "the same in very brief children", |t| children(t, ignore_children, 1)),
    row!("time-unwaited-flag", "have the kernel reap them by a flag", |t| children(t, no_wait_flag, 5)),
    row!("time-forks", "use time in children that are waited for", |t| children(t, || {}, 5)),
    row!("time-zombies", "use time in children that nobody waits for", zombies),
    row!("time-double-fork", "use time in grandchildren that init must reap", double_fork),
    row!("time-threads", "use time in four threads", threads),
    row!("time-thread-leader", "the same after the first thread has ended", thread_leader),
    row!("time-siblings", "use time in children that are made siblings", siblings),
    row!("time-exec-chain", "use time in programs that become each other", exec_chain, TOOLS),
    row!("time-exec-children", "use time in programs that ignored children run", exec_children, TOOLS),
    row!("time-deaf", "use time with every signal ignored", deaf),
    row!("time-system", "use time inside the kernel", system_time),
];

fn little_time(spec: &mut Spec, _: &Arena) {
    spec.limits.cpu_ms = BUDGET_MS;
    spec.limits.wall_ms = 60_000;
}

fn over_budget(_: &Arena, outcome: &Outcome) -> Option<String> {
    let used_ms = outcome.stdout.length;
    let over = used_ms * 10 > BUDGET_MS * 11;
    // A payload that is denied its trick ends early, or by signal, and has used little.
    let strange = matches!(outcome.status, Status::WallLimit | Status::InfraError(_));
    (over || strange)
        .then(|| format!("{used_ms} ms were used of {BUDGET_MS}, ending with {:?}", outcome.status))
}

/// Uses this much CPU time in this thread and says so, a byte a millisecond.
fn use_ms(millis: u64) {
    for _ in 0..millis {
        let end = thread_us() + 1_000;
        while thread_us() < end {
            std::hint::black_box((0..2_000u32).map(std::hint::black_box).sum::<u32>());
        }
        let _ = call3(libc::SYS_write, 1, at(c"."), 1);
    }
}

fn thread_us() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec.unsigned_abs() * 1_000_000 + now.tv_nsec.unsigned_abs() / 1_000
}

fn ignore_children() {
    // SAFETY: SIG_IGN installs no code.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

fn no_wait_flag() {
    // SAFETY: an all-zero action is the default one; the flag is the only change.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_flags = libc::SA_NOCLDWAIT;
        libc::sigaction(libc::SIGCHLD, &raw const action, std::ptr::null_mut());
    }
}

fn children(target: &Target, prepare: fn(), each_ms: u64) -> i32 {
    prepare();
    for _ in 0..WANTED_MS / each_ms {
        match forked() {
            Some(true) => {
                take_name(&target.tag);
                use_ms(each_ms);
                leave();
            }
            _ => {
                let _ = super::super::sys::reap(true);
            }
        }
    }
    0
}

/// A pipe that everybody inherits who is started from here on: its end is read when all of them are gone.
struct Everybody([i32; 2]);

impl Everybody {
    fn from_here() -> Everybody {
        let mut ends = [0; 2];
        let _ = call3(libc::SYS_pipe2, ends.as_mut_ptr() as u64, 0, 0);
        Everybody(ends)
    }

    /// Waits without waiting for any of them as their parent would, however long a busy machine takes.
    fn are_gone(self) {
        let _ = call3(libc::SYS_close, self.0[1] as u64, 0, 0);
        let mut byte = [0u8; 1];
        let _ = call3(libc::SYS_read, self.0[0] as u64, byte.as_mut_ptr() as u64, 1);
    }
}

fn zombies(target: &Target) -> i32 {
    let everybody = Everybody::from_here();
    for _ in 0..40 {
        if forked() == Some(true) {
            take_name(&target.tag);
            use_ms(WANTED_MS / 40);
            leave();
        }
    }
    everybody.are_gone();
    0
}

fn double_fork(target: &Target) -> i32 {
    let everybody = Everybody::from_here();
    for _ in 0..40 {
        if forked() == Some(true) {
            if forked() == Some(true) {
                take_name(&target.tag);
                use_ms(WANTED_MS / 40);
            }
            leave();
        }
        let _ = super::super::sys::reap(true);
        sleep_ms(10);
    }
    everybody.are_gone();
    0
}

fn threads(_: &Target) -> i32 {
    let started: Vec<_> = (0..4).map(|_| std::thread::spawn(|| use_ms(WANTED_MS / 4))).collect();
    for thread in started {
        let _ = thread.join();
    }
    0
}

fn thread_leader(_: &Target) -> i32 {
    for _ in 0..4 {
        std::thread::spawn(|| use_ms(WANTED_MS / 4));
    }
    let _ = call3(libc::SYS_exit, 0, 0, 0);
    0
}

fn siblings(target: &Target) -> i32 {
    let flags = (libc::CLONE_PARENT | libc::SIGCHLD) as u64;
    let everybody = Everybody::from_here();
    for _ in 0..WANTED_MS / 20 {
        if call(libc::SYS_clone, [flags, 0, 0, 0, 0, 0]) == Ok(0) {
            take_name(&target.tag);
            use_ms(20);
            leave();
        }
        sleep_ms(20);
    }
    everybody.are_gone();
    0
}

/// Lets children become shells that run this script, one child after the other, each until it has used this much. A shell cannot count
/// in milliseconds, so it asks every few of them whether it may go on, and is answered when its time has been written down: what is
/// not is less than the time between two questions. Our own time for all this is written down with it.
///
/// The script finds itself in `$1`, asks at 8 and is answered at 9: an empty line, or a word for the end.
fn metered(target: &Target, children: u64, each_ms: u64, script: &CStr) {
    let mut ours_us = thread_us();
    for _ in 0..children {
        let (ask, answer) = (pipe(), pipe());
        // SAFETY: payloads have one thread.
        let child = unsafe { libc::fork() };
        if child < 0 {
            return;
        }
        if child == 0 {
            take_name(&target.tag);
            let _ = call3(libc::SYS_dup3, ask[1], 8, 0);
            let _ = call3(libc::SYS_dup3, answer[0], 9, 0);
            let words = [c"/bin/sh", c"-c", script, c"sh", script];
            let mut argv: Vec<u64> = words.iter().map(|word| at(word)).collect();
            argv.push(0);
            let _ = call3(libc::SYS_execve, argv[0], argv.as_ptr() as u64, [0u64; 1].as_ptr() as u64);
            leave();
        }
        for end in [ask[1], answer[0]] {
            let _ = call3(libc::SYS_close, end, 0, 0);
        }
        let mut written_us = 0;
        let mut byte = [0u8; 1];
        while call3(libc::SYS_read, ask[0], byte.as_mut_ptr() as u64, 1) == Ok(1) {
            let used_us = process_us(child);
            let more_ms = (used_us + thread_us() - ours_us).saturating_sub(written_us) / 1_000;
            for _ in 0..more_ms {
                let _ = call3(libc::SYS_write, 1, at(c"."), 1);
            }
            written_us += more_ms * 1_000;
            let word = if used_us < each_ms * 1_000 { c"\n" } else { c"end\n" };
            let _ = call3(libc::SYS_write, answer[1], at(word), word.count_bytes() as u64);
        }
        for end in [ask[0], answer[1]] {
            let _ = call3(libc::SYS_close, end, 0, 0);
        }
        ours_us = thread_us();
    }
}

/// A pipe that no other program inherits.
fn pipe() -> [u64; 2] {
    let mut ends = [0i32; 2];
    let _ = call3(libc::SYS_pipe2, ends.as_mut_ptr() as u64, libc::O_CLOEXEC as u64, 0);
    ends.map(|end| end as u64)
}

/// The CPU time of a process, over all programs that it has been.
fn process_us(pid: i32) -> u64 {
    // The kernel's number for the clock of a process.
    let clock = (!pid << 3) | 2;
    let mut now = [0i64; 2];
    let _ = call3(libc::SYS_clock_gettime, clock as u64, now.as_mut_ptr() as u64, 0);
    now[0].unsigned_abs() * 1_000_000 + now[1].unsigned_abs() / 1_000
}

fn exec_chain(target: &Target) -> i32 {
    metered(
        target,
        1,
        WANTED_MS,
        c"i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; echo >&8; read end <&9; [ $end ] || exec /bin/sh -c \"$1\" sh \"$1\"",
    );
    0
}

fn exec_children(target: &Target) -> i32 {
    ignore_children();
    metered(
        target,
        WANTED_MS / 20,
        20,
        c"until [ $end ]; do i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; echo >&8; read end <&9; done",
    );
    0
}

fn deaf(_: &Target) -> i32 {
    for signal in 1..65 {
        // SAFETY: SIG_IGN installs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    use_ms(WANTED_MS);
    0
}

fn system_time(_: &Target) -> i32 {
    let mut buffer = vec![0u8; 1 << 20];
    for _ in 0..WANTED_MS {
        let end = thread_us() + 1_000;
        while thread_us() < end {
            let _ = std::fs::File::open("/dev/urandom")
                .map(|mut file| std::io::Read::read(&mut file, &mut buffer[..4096]));
        }
        let _ = call3(libc::SYS_write, 1, at(c"."), 1);
    }
    0
}
