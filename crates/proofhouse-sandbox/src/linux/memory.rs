//! How much memory a box holds, where no cgroup counts it: resident memory of every address space once, with page tables, swapped
//! pages, descriptions of mappings, and what waits in pipes and sockets.
//!
//! A look is cheap as long as plain sums stay below the limit. Only a sum above it is looked at closely, and decides nothing before
//! the same processes were there at the beginning and at the end of a look: a fork in the middle would be counted twice.

use std::collections::BTreeSet;

use rustix::process::Signal;

use super::watch::{Process, Watch};
use super::{reap, sockets, sys};

/// What one pipe holds at most, because its size cannot be changed in a box.
const PIPE_BYTES: u64 = 64 << 10;
/// What one socket holds at most: the usual buffer and one message more.
const SOCKET_BYTES: u64 = 272 << 10;
/// What the kernel keeps for one mapping.
const MAPPING_BYTES: u64 = 320;
/// Descriptors that every process has, and that are not worth a look.
const USUAL_DESCRIPTORS: u64 = 4;
/// Close looks at a tree that changes all the time.
const TRIES: usize = 8;

/// Reads memory.
pub(crate) struct Memory {
    limit_bytes: u64,
    /// What the last look at mappings gave, and how many looks ago it was.
    mapping_bytes: u64,
    age: u32,
}

impl Memory {
    pub(crate) fn new(limit_bytes: u64) -> Memory {
        Memory { limit_bytes, mapping_bytes: 0, age: u32::MAX }
    }

    /// The total, exactly when it matters.
    pub(crate) fn look(&mut self, watch: &Watch, processes: &[Process]) -> u64 {
        let plain: u64 = processes.iter().map(|each| each.resident_bytes).sum();
        let tables: u64 = processes.iter().map(|each| self.tables(watch, each)).sum();
        let kernel = self.mappings(watch, processes) + self.buffers(watch, processes);
        // One process shares with nobody, so that there is nothing to look at more closely.
        if plain + tables + kernel <= self.limit_bytes || processes.len() == 1 {
            return plain + tables + kernel;
        }
        // What the kernel holds for them is nobody's share: when that alone is too much, a closer look would only take time.
        if kernel > self.limit_bytes {
            return plain + tables + kernel;
        }
        let mut least = u64::MAX;
        for _ in 0..TRIES {
            let before = watch.processes();
            let total = kernel + shared_once(watch, &before);
            let after = watch.processes();
            least = least.min(total);
            if total <= self.limit_bytes || with_memory(&before) == with_memory(&after) {
                return total;
            }
        }
        least
    }

    /// Page tables, which a large address space may have without any memory behind them.
    fn tables(&self, watch: &Watch, process: &Process) -> u64 {
        const PER_TABLE: u64 = 512;
        if process.address_bytes / PER_TABLE <= self.limit_bytes / 64 {
            return 0;
        }
        let status =
            watch.read(&format!("{}/task/{}/status", process.pid, process.thread)).unwrap_or_default();
        kib(&status, "VmPTE:") + kib(&status, "VmSwap:")
    }

    /// Descriptions of mappings. To count them takes long, so that it is not done at every look, and not where the address space is
    /// too small for many. Who has made a sixteenth of what is allowed stands still while the rest is counted: on a busy machine it would
    /// otherwise be done before the count is.
    fn mappings(&mut self, watch: &Watch, processes: &[Process]) -> u64 {
        /// So many processes cannot have enough mappings between two counts to matter.
        const FEW: usize = 4;
        let every =
            if processes.iter().filter(|each| self.is_worth_counting(each)).count() > FEW { 1 } else { 4 };
        self.age = self.age.saturating_add(1);
        if self.age >= every {
            self.age = 0;
            let mut bytes = self.count_mappings(watch, processes, self.limit_bytes / 16);
            if bytes > self.limit_bytes / 16 {
                reap::signal_tree(watch, Signal::STOP);
                let most = self.limit_bytes + self.limit_bytes / 16;
                bytes = self.count_mappings(watch, &watch.processes(), most);
                if bytes <= most {
                    reap::signal_tree(watch, Signal::CONT);
                }
            }
            self.mapping_bytes = bytes.saturating_sub(self.limit_bytes / 64);
        }
        self.mapping_bytes
    }

    /// Whether its address space is large enough for mappings that matter.
    fn is_worth_counting(&self, process: &Process) -> bool {
        const PAGE: u64 = 4096;
        process.address_bytes / PAGE * MAPPING_BYTES > self.limit_bytes / 32
    }

    /// What the kernel keeps for all mappings. A sum above `most` needs no more counting.
    fn count_mappings(&self, watch: &Watch, processes: &[Process], most: u64) -> u64 {
        let mut bytes = 0;
        for each in processes.iter().filter(|each| self.is_worth_counting(each)) {
            let place = format!("{}/task/{}/maps", each.pid, each.thread);
            bytes += watch.count_lines(&place).unwrap_or(0) * MAPPING_BYTES;
            if bytes > most {
                break;
            }
        }
        bytes
    }

    /// What waits in pipes and sockets. In a network namespace of its own the kernel says how much is in all sockets, also in those
    /// that are on their way to somebody and that nobody has open.
    fn buffers(&self, watch: &Watch, processes: &[Process]) -> u64 {
        let descriptors: u64 = processes.iter().map(|each| watch.descriptors(each.pid)).sum();
        if descriptors <= USUAL_DESCRIPTORS * processes.len() as u64 + 2 {
            return 0;
        }
        let in_sockets = if watch.whole() { sockets::held_bytes() } else { None };
        let enough = |kind_bytes: u64| descriptors * kind_bytes > self.limit_bytes / 16;
        if !enough(if in_sockets.is_some() { PIPE_BYTES } else { SOCKET_BYTES }) {
            return in_sockets.unwrap_or(0);
        }
        let most = self.limit_bytes.saturating_sub(in_sockets.unwrap_or(0));
        in_sockets.unwrap_or(0) + by_descriptor(watch, processes, in_sockets.is_none(), most)
    }
}

/// What the open pipes hold at most, and the sockets if asked, each counted once. A sum above `most` needs no more counting.
fn by_descriptor(watch: &Watch, processes: &[Process], with_sockets: bool, most: u64) -> u64 {
    const SPARE: usize = 16;
    let (mut pipes, mut sockets) = (BTreeSet::new(), BTreeSet::new());
    for process in processes {
        watch.each_link(process.pid, |link| {
            if let Some(number) = link.strip_prefix(b"pipe:") {
                pipes.insert(number.to_vec());
            } else if let Some(number) = link.strip_prefix(b"socket:").filter(|_| with_sockets) {
                sockets.insert(number.to_vec());
            }
            held(pipes.len(), PIPE_BYTES) + held(sockets.len(), SOCKET_BYTES) <= most
        });
    }
    fn held(count: usize, each: u64) -> u64 {
        count.saturating_sub(SPARE) as u64 * each
    }
    held(pipes.len(), PIPE_BYTES) + held(sockets.len(), SOCKET_BYTES)
}

/// Who has memory, by names that nobody else ever has. One who has ended stays in the list until it is waited for, but what it shared
/// is shared by fewer from then on: half of it for the first that is looked at would be the whole for the next.
fn with_memory(list: &[Process]) -> BTreeSet<(i32, u64)> {
    list.iter().filter(|each| each.address_bytes > 0).map(|each| (each.pid, each.start)).collect()
}

/// Every address space once, its pages by their share of it.
fn shared_once(watch: &Watch, processes: &[Process]) -> u64 {
    let mut counted: Vec<&Process> = Vec::new();
    let mut total = 0;
    for process in processes {
        if counted.iter().any(|other| same_memory(watch, other, process)) {
            continue;
        }
        counted.push(process);
        let place = format!("{}/task/{}", process.pid, process.thread);
        let share = watch.read(&format!("{}/smaps_rollup", process.pid)).or_else(|| {
            // A process whose first thread has ended shows its memory by another, line by line.
            watch.read(&format!("{place}/smaps"))
        });
        let resident = match share.as_deref().map(|text| kib(text, "Pss:")) {
            Some(bytes) if bytes > 0 => bytes,
            // Unreadable, or gone since it was listed, and its memory with it: only what it has now counts.
            _ => watch.process(process.pid).map_or(0, |now| now.resident_bytes),
        };
        let status = watch.read(&format!("{place}/status")).unwrap_or_default();
        total += resident + kib(&status, "VmPTE:") + kib(&status, "VmSwap:");
    }
    total
}

/// Whether two processes have one address space, as a child of `vfork` has its parent's until it runs a program.
fn same_memory(watch: &Watch, one: &Process, other: &Process) -> bool {
    match sys::same_memory(one.pid, other.pid) {
        Some(same) => same,
        None => {
            let related = one.pid == other.parent || other.pid == one.parent;
            let (parent, _) = if one.pid == other.parent { (one, other) } else { (other, one) };
            let alike =
                one.address_bytes == other.address_bytes && one.resident_bytes == other.resident_bytes;
            related && alike && watch.has_sleeper(parent.pid)
        }
    }
}

/// The sum of all lines of this name, in bytes.
fn kib(text: &str, name: &str) -> u64 {
    let value =
        |line: &str| line.strip_prefix(name)?.trim().trim_end_matches(" kB").trim().parse::<u64>().ok();
    text.lines().filter_map(value).sum::<u64>() * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ends_during_a_look_makes_it_another_list_though_it_is_still_there() {
        let living =
            |pid| Process { pid, start: 1, address_bytes: 4096, resident_bytes: 4096, ..Process::default() };
        let ended = Process { address_bytes: 0, resident_bytes: 0, ..living(3) };
        assert_eq!(with_memory(&[living(2), living(3)]), with_memory(&[living(2), living(3)]));
        assert_ne!(with_memory(&[living(2), living(3)]), with_memory(&[living(2), ended]));
        // Who had ended before has no share that could change.
        assert_eq!(with_memory(&[living(2), ended]), with_memory(&[living(2)]));
    }
}
