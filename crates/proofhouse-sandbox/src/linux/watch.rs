//! The watchdog: how much CPU time and memory the whole tree uses, read from `/proc` by init.
//!
//! In a pid namespace every process but init is the payload's. Without one the tree is walked from init, to which orphans come
//! back because it is their subreaper.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Dir, Mode, OFlags, openat};

/// One look at the tree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) cpu_us: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) processes: u64,
    pub(crate) threads: u64,
}

/// Where to look.
pub(crate) struct Watch {
    proc: OwnedFd,
    /// Everything in this `/proc` but init itself.
    whole: bool,
    own: i32,
    tick_us: u64,
    page: u64,
}

impl Watch {
    pub(crate) fn new(proc: OwnedFd, whole: bool) -> Watch {
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        let own = rustix::process::getpid().as_raw_nonzero().get();
        Watch { proc, whole, own, tick_us: 1_000_000 / ticks, page: rustix::param::page_size() as u64 }
    }

    /// All processes of the tree at this moment.
    pub(crate) fn pids(&self) -> Vec<i32> {
        if self.whole { self.all() } else { self.descendants() }
    }

    fn all(&self) -> Vec<i32> {
        let mut pids = self.numbers(".");
        pids.retain(|pid| *pid != self.own);
        pids
    }

    fn descendants(&self) -> Vec<i32> {
        let mut found: Vec<i32> = Vec::new();
        let mut open = vec![self.own];
        while let Some(parent) = open.pop() {
            for child in self.children(parent) {
                if !found.contains(&child) {
                    found.push(child);
                    open.push(child);
                }
            }
        }
        found
    }

    /// Descendants that do not hang below a child for which `known` holds.
    pub(crate) fn strays(&self, known: impl Fn(i32) -> bool) -> Vec<i32> {
        let mut open: Vec<i32> = self.children(self.own).into_iter().filter(|pid| !known(*pid)).collect();
        let mut found = Vec::new();
        while let Some(pid) = open.pop() {
            found.push(pid);
            open.extend(self.children(pid));
        }
        found
    }

    fn children(&self, parent: i32) -> Vec<i32> {
        let list = |thread: i32| self.read(&format!("{parent}/task/{thread}/children")).unwrap_or_default();
        let lists: Vec<String> = self.numbers(&format!("{parent}/task")).into_iter().map(list).collect();
        lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|word| word.parse().ok()).collect()
    }

    /// Sums over the tree; `reaped_us` is the CPU time of what init has reaped.
    pub(crate) fn sample(&self, reaped_us: u64) -> Sample {
        let mut sample = Sample { cpu_us: reaped_us, ..Sample::default() };
        for pid in self.pids() {
            if let Some(process) = self.process(pid) {
                sample.cpu_us += process.cpu_us;
                sample.memory_bytes += process.memory_bytes;
                sample.processes += 1;
                sample.threads += process.threads;
            }
        }
        sample
    }

    /// The memory total with shared pages counted once, for when the plain sum says too much.
    pub(crate) fn exact_memory(&self) -> u64 {
        let share = |pid: i32| {
            let text = self.read(&format!("{pid}/smaps_rollup"))?;
            let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
            let kib: u64 = line.trim().trim_end_matches(" kB").trim().parse().ok()?;
            Some(kib * 1024)
        };
        let or_resident = |pid: i32| share(pid).or_else(|| self.process(pid).map(|one| one.memory_bytes));
        self.pids().into_iter().filter_map(or_resident).sum()
    }

    /// One process: CPU time with that of its reaped children, resident memory, threads.
    fn process(&self, pid: i32) -> Option<Sample> {
        let stat = self.read(&format!("{pid}/stat"))?;
        let after_name = &stat[stat.rfind(')')? + 2..];
        let field = |number: usize| after_name.split(' ').nth(number - 3)?.parse::<u64>().ok();
        let ticks = field(14)? + field(15)? + field(16)? + field(17)?;
        Some(Sample {
            cpu_us: ticks * self.tick_us,
            memory_bytes: field(24)? * self.page,
            processes: 1,
            threads: field(20)?,
        })
    }

    fn numbers(&self, directory: &str) -> Vec<i32> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(fd) = openat(&self.proc, directory, flags, Mode::empty()) else { return Vec::new() };
        let Ok(entries) = Dir::new(fd) else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok()).collect()
    }

    fn read(&self, path: &str) -> Option<String> {
        let fd = openat(self.proc.as_fd(), path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut buffer = vec![0; 4096];
        let mut length = 0;
        loop {
            match rustix::io::read(&fd, &mut buffer[length..]).ok()? {
                0 => break,
                count => length += count,
            }
            if length == buffer.len() {
                buffer.resize(length * 2, 0);
            }
        }
        buffer.truncate(length);
        // A process chooses its own name, and one that is no text must not hide it.
        Some(String::from_utf8_lossy(&buffer).into_owned())
    }
}

/// The host's `/proc`, for tiers without their own.
pub(crate) fn host_proc() -> rustix::io::Result<OwnedFd> {
    rustix::fs::open("/proc", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
