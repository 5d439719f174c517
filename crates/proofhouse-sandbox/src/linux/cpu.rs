//! How much CPU time a box has used, in a way that nothing in it can avoid.
//!
//! A process that ignores its children takes their time out of the usual sums (`times`, `wait4`). What counts instead, best first:
//! the box's cgroup; a task clock of the kernel, attached to init before it starts anything and inherited by everything; and where
//! neither is to be had, looking, with the last sample of a process kept when it vanishes without having been waited for.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use super::sys;

/// A count by the kernel of the whole box, with init.
pub(crate) enum Counter {
    /// A software event in nanoseconds.
    Clock(OwnedFd),
    /// The `cpu.stat` of a cgroup.
    Group(OwnedFd),
}

/// How a counter is told to init.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    None = 0,
    Clock = 1,
    Group = 2,
}

impl Counter {
    /// The counter behind a descriptor.
    pub(crate) fn of(kind: u8, fd: Option<OwnedFd>) -> Option<Counter> {
        match (kind, fd?) {
            (1, fd) => Some(Counter::Clock(fd)),
            (2, fd) => Some(Counter::Group(fd)),
            _ => None,
        }
    }

    /// CPU time of everything below init, init itself not included.
    pub(crate) fn below_us(&self) -> Option<u64> {
        let mut buffer = [0; 512];
        let total_us = match self {
            Counter::Clock(fd) => {
                let mut value = [0; 8];
                rustix::io::read(fd, &mut value).ok().filter(|count| *count == 8)?;
                u64::from_ne_bytes(value) / 1000
            }
            Counter::Group(fd) => {
                let count = rustix::io::pread(fd, &mut buffer, 0).ok()?;
                let text = std::str::from_utf8(&buffer[..count]).ok()?;
                text.lines().find_map(|line| line.strip_prefix("usage_usec "))?.trim().parse().ok()?
            }
        };
        Some(total_us.saturating_sub(sys::own_cpu_us()))
    }
}

/// A task clock on a process that has not started anything yet.
pub(crate) fn clock_on(pid: i32) -> io::Result<OwnedFd> {
    sys::task_clock(pid)
}

/// What names a process for good: its pid and its start.
type Name = (i32, u64);
/// Its own time, and that of the children it waited for.
type Spent = (u64, u64);

/// What is remembered of processes between looks.
pub(crate) struct Ledger {
    last: BTreeMap<Name, Spent>,
    reaped_us: u64,
    lost_us: u64,
    /// Of those who have vanished and whose time is in nobody's sum yet.
    pending_us: u64,
    tick_us: u64,
}

/// Who waits may have this many clock ticks more than it shows, in user and in system mode.
const HIDDEN_TICKS: u64 = 2;
/// As many may wait at a time for what they hide to be believed.
const WAITING: usize = 8;

impl Ledger {
    /// Nothing was seen yet. Sums of children that were waited for are shown in whole ticks of this length.
    pub(crate) fn new(tick_us: u64) -> Ledger {
        Ledger { last: BTreeMap::new(), reaped_us: 0, lost_us: 0, pending_us: 0, tick_us }
    }

    /// Takes one look and returns the sum of everything seen so far. Who has vanished must have been waited for by somebody; what
    /// nobody's sum has grown by is added here. A sum that is shown in whole ticks grows late, so that a little may stay open: taken
    /// for lost at once, the time of brief children would count twice.
    pub(crate) fn total_us(&mut self, seen: &[(Name, Spent)], reaped_us: u64) -> u64 {
        let now: BTreeMap<Name, Spent> = seen.iter().copied().collect();
        let gone: u64 = self
            .last
            .iter()
            .filter(|(key, _)| !now.contains_key(key))
            .map(|(_, (own, waited))| own + waited)
            .sum();
        let before = |key: &Name| self.last.get(key).map_or(0, |(_, waited)| *waited);
        let taken_over: u64 = now.iter().map(|(key, (_, waited))| waited.saturating_sub(before(key))).sum();
        let by_init = reaped_us.saturating_sub(self.reaped_us);
        self.pending_us = (self.pending_us + gone).saturating_sub(taken_over + by_init);
        let hidden_us = HIDDEN_TICKS * self.tick_us * now.len().clamp(1, WAITING) as u64;
        let lost_us = self.pending_us.saturating_sub(hidden_us);
        self.pending_us -= lost_us;
        self.lost_us += lost_us;
        self.reaped_us = reaped_us;
        self.last = now;
        self.lost_us
            + self.pending_us
            + reaped_us
            + self.last.values().map(|(own, waited)| own + waited).sum::<u64>()
    }

    /// What vanished without having been waited for.
    pub(crate) fn lost_us(&self) -> u64 {
        self.lost_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_vanishes_unwaited_is_still_counted_and_nobody_twice() {
        let mut ledger = Ledger::new(0);
        let (parent, child, orphan) = ((2, 5), (3, 6), (4, 7));
        assert_eq!(ledger.total_us(&[(parent, (10, 0)), (child, (30, 0)), (orphan, (5, 0))], 0), 45);
        // Waited for by its parent, and by init.
        assert_eq!(ledger.total_us(&[(parent, (10, 32)), ((9, 9), (7, 0))], 6), 55);
        // Not waited for by anybody.
        assert_eq!(ledger.total_us(&[(parent, (11, 32))], 6), 56);
        assert_eq!(ledger.lost_us(), 7);
        // The same number again is another process.
        assert_eq!(ledger.total_us(&[(parent, (11, 32)), ((9, 10), (1, 0))], 6), 57);
    }

    #[test]
    fn brief_children_that_were_waited_for_are_not_lost_though_their_sum_grows_late() {
        let (mut ledger, parent) = (Ledger::new(10_000), (2, 5));
        for number in 0..100u32 {
            // Each uses 3 ms, and the parent's sum shows every third.
            let waited = u64::from(number) * 3_000 / 10_000 * 10_000;
            let total = ledger.total_us(&[(parent, (0, waited)), ((3 + number as i32, 1), (3_000, 0))], 0);
            assert!(total <= u64::from(number + 1) * 3_000, "{number}: {total}");
        }
        assert_eq!(ledger.lost_us(), 0);
        // Those whom nobody waits for are lost, but for what could still be shown.
        for number in 100..200i32 {
            ledger.total_us(&[(parent, (0, 290_000)), ((3 + number, 1), (3_000, 0))], 0);
        }
        assert!(ledger.lost_us() >= 240_000, "{}", ledger.lost_us());
    }
}
