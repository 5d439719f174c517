//! Supervision of one payload by its init: waits for its end, compares the tree with its limits, and ends what is left.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};

use super::cpu::{Counter, Ledger};
use super::memory::Memory;
use super::payload::kernel_cpu_seconds;
use super::report::{Ending, Limit};
use super::watch::{Process, Watch};
use super::wire::Job;
use super::{reap, sys};
use crate::clock::now_us;
use crate::guards::Guards;
use crate::spec::Limits;

/// Supervision of one payload.
pub(crate) struct Guard<'a> {
    job: &'a Job,
    limits: &'a Limits,
    watch: Watch,
    cpu: Option<Counter>,
    ledger: Ledger,
    memory: Memory,
    cores: u64,
    pub(crate) ending: Ending,
}

/// Longest time between two looks.
const TICK_US: u64 = 10_000;
/// Shortest, when a limit is near.
const HASTE_US: u64 = 500;
/// How fast a machine might fill memory, for choosing the next look.
const FILL_BYTES_PER_US: u64 = 16_384;

impl<'a> Guard<'a> {
    pub(crate) fn new(job: &'a Job, limits: &'a Limits, watch: Watch, cpu: Option<Counter>) -> Guard<'a> {
        // The standard library would also read quotas, which takes long and does not matter here.
        let cores = rustix::thread::sched_getaffinity(None).map_or(1, |set| u64::from(set.count()));
        let memory = Memory::new(limits.memory_bytes);
        let ledger = Ledger::new(watch.tick_us());
        Guard { job, limits, watch, cpu, ledger, memory, cores, ending: Ending::default() }
    }

    /// Returns when the payload has ended, or was ended, with everything that it started.
    pub(crate) fn supervise(&mut self, child: &sys::Child, control: &OwnedFd) {
        let start = now_us();
        let wall_ms = if self.without(Guards::WALL) { u64::MAX } else { self.limits.wall_ms };
        let deadline = start.saturating_add(wall_ms.saturating_mul(1000));
        let mut next = TICK_US / 2;
        while self.ending.status.is_none() && self.ending.limit.is_none() {
            let now = now_us();
            let asked = self.sleep(child, control, next.min(deadline.saturating_sub(now)));
            self.reap_ready(child.pid);
            if self.ending.status.is_some() {
                break;
            }
            next = self.look();
            if self.ending.limit.is_none() && asked {
                self.ending.limit = Some(Limit::Asked);
            }
            if self.ending.limit.is_none() && now_us() >= deadline {
                self.ending.limit = Some(Limit::Wall);
            }
        }
        self.ending.wall_us = now_us() - start;
        if !self.without(Guards::REAP) {
            reap::end_all(&self.watch, self.watch.whole(), |_| {});
        }
        self.account();
    }

    fn without(&self, guard: Guards) -> bool {
        Guards(self.job.without).has(guard)
    }

    /// What was used in all. A program that ended by itself between two looks may have used more than its limit by then.
    fn account(&mut self) {
        let (waited_us, max_rss) = sys::children_usage();
        let counted_us = self.cpu.as_ref().and_then(Counter::below_us);
        self.ending.cpu_us = waited_us + self.ledger.lost_us();
        if let Some(counted_us) = counted_us {
            self.ending.cpu_us = counted_us.max(waited_us);
        }
        self.ending.max_rss_bytes = max_rss;
        self.ending.peak_bytes = self.ending.peak_bytes.max(max_rss);
    }

    /// Waits for the payload's end, a word from the harness, or the time; `true` when the harness wants the end.
    fn sleep(&self, child: &sys::Child, control: &OwnedFd, micros: u64) -> bool {
        let mut fds = [
            PollFd::new(&child.pidfd, PollFlags::IN),
            PollFd::new(control, PollFlags::IN | PollFlags::RDHUP),
        ];
        let timeout = rustix::time::Timespec {
            tv_sec: i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(micros % 1_000_000 * 1000).unwrap_or_default(),
        };
        let _ = poll(&mut fds, Some(&timeout));
        !fds[1].revents().is_empty()
    }

    fn reap_ready(&mut self, main: i32) {
        while let Some(pid) = sys::ended_child() {
            // The kernel's count is gone with the process.
            let charged_us = if pid == main { sys::charged_cpu_us(pid) } else { None };
            let status = sys::reap_one(pid);
            if pid == main {
                self.ending.status = status;
                self.ending.limit = status.and_then(|wait| self.kernel_limit(wait, charged_us?));
            }
        }
    }

    /// The limit for which the kernel killed the payload, which it does without a word. Nothing outlives a charge beyond its limit,
    /// and below it the kernel kills nothing, so that its own count tells its kill from any other.
    fn kernel_limit(&self, wait: i32, charged_us: u64) -> Option<Limit> {
        let killed = libc::WIFSIGNALED(wait) && libc::WTERMSIG(wait) == libc::SIGKILL;
        let limit_us = kernel_cpu_seconds(self.limits).saturating_mul(1_000_000);
        (!self.without(Guards::RLIMITS) && killed && charged_us >= limit_us).then_some(Limit::Cpu)
    }

    /// Compares the tree with its limits; returns the time until the next look.
    fn look(&mut self) -> u64 {
        if self.without(Guards::WATCHDOG) {
            return TICK_US;
        }
        let budget_us = self.limits.cpu_ms.saturating_mul(1000);
        // The kernel's count is had at once; to walk through many processes takes time that all of them use.
        if self.cpu.as_ref().and_then(Counter::below_us).is_some_and(|counted_us| counted_us > budget_us) {
            self.ending.limit = Some(Limit::Cpu);
            return HASTE_US;
        }
        let processes = self.watch.processes();
        let cpu_us = self.cpu_us(&processes);
        let threads: u64 = processes.iter().map(|each| each.threads).sum();
        let limits = self.limits;
        let memory = if self.job.counted { 0 } else { self.memory.look(&self.watch, &processes) };
        self.ending.peak_bytes = self.ending.peak_bytes.max(memory);
        self.ending.limit = match () {
            () if memory > limits.memory_bytes => Some(Limit::Memory),
            () if cpu_us > budget_us => Some(Limit::Cpu),
            () if threads > limits.processes.saturating_add(1) => Some(Limit::Processes),
            () => None,
        };
        let room = (limits.memory_bytes.saturating_sub(memory)) / FILL_BYTES_PER_US;
        // All cores may be at work until the next look.
        let time = budget_us.saturating_sub(cpu_us) / threads.clamp(1, self.cores);
        room.min(time).clamp(HASTE_US, TICK_US)
    }

    fn cpu_us(&mut self, processes: &[Process]) -> u64 {
        if let Some(count) = self.cpu.as_ref().and_then(Counter::below_us) {
            return count;
        }
        let (reaped_us, _) = sys::children_usage();
        // What `/proc` says is cut to whole clock ticks, in which many short processes vanish.
        let own_us = |each: &Process| sys::process_cpu_us(each.pid).unwrap_or(each.own_us);
        let seen: Vec<_> =
            processes.iter().map(|each| ((each.pid, each.start), (own_us(each), each.waited_us))).collect();
        self.ledger.total_us(&seen, reaped_us)
    }
}
