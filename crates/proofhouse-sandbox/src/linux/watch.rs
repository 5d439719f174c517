//! The watchdog's eyes: the processes of a box and what each uses, read from `/proc` by init.
//!
//! In a pid namespace every process but init is the payload's. Without one the tree is walked from init, to which orphans come
//! back because it is their subreaper.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat};

/// One process at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// When it started, in clock ticks: with the pid this names it for good.
    pub(crate) start: u64,
    /// Its own CPU time, and that of children it has waited for.
    pub(crate) own_us: u64,
    pub(crate) waited_us: u64,
    pub(crate) threads: u64,
    /// Address space and resident memory, of whichever of its threads still has them.
    pub(crate) address_bytes: u64,
    pub(crate) resident_bytes: u64,
    /// Its memory is read here: the process itself, or a thread that outlives its first.
    pub(crate) thread: i32,
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

    /// The unit of CPU time in `/proc`.
    pub(crate) fn tick_us(&self) -> u64 {
        self.tick_us
    }

    /// Whether everything that this process sees is the box's.
    pub(crate) fn whole(&self) -> bool {
        self.whole
    }

    /// All processes of the tree at this moment.
    pub(crate) fn pids(&self) -> Vec<i32> {
        if self.whole { self.all() } else { self.descendants() }
    }

    /// The same with what each uses.
    pub(crate) fn processes(&self) -> Vec<Process> {
        self.pids().into_iter().filter_map(|pid| self.process(pid)).collect()
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
        // Init and the helper have one thread, and need not be asked for it.
        let threads = if parent == self.own { vec![parent] } else { self.threads(parent) };
        let lists: Vec<String> = threads.into_iter().map(list).collect();
        lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|word| word.parse().ok()).collect()
    }

    /// The threads of a process.
    pub(crate) fn threads(&self, pid: i32) -> Vec<i32> {
        self.numbers(&format!("{pid}/task"))
    }

    /// One process. A first thread that has ended shows no memory any more, though all of it may be there: another thread does.
    pub(crate) fn process(&self, pid: i32) -> Option<Process> {
        let mut process = parse(&self.read(&format!("{pid}/stat"))?, pid, self.tick_us, self.page)?;
        if process.address_bytes == 0 && process.threads > 1 {
            let with_memory = |thread: &i32| {
                let one =
                    parse(&self.read(&format!("{pid}/task/{thread}/stat"))?, pid, self.tick_us, self.page)?;
                (one.address_bytes > 0).then_some((*thread, one))
            };
            if let Some((thread, one)) = self.threads(pid).iter().find_map(with_memory) {
                process.thread = thread;
                process.address_bytes = one.address_bytes;
                process.resident_bytes = one.resident_bytes;
            }
        }
        Some(process)
    }

    /// Whether one of its threads sleeps so deeply as a thread does that waits for what it has started with `vfork`.
    pub(crate) fn has_sleeper(&self, pid: i32) -> bool {
        let asleep = |thread: i32| {
            let stat = self.read(&format!("{pid}/task/{thread}/stat")).unwrap_or_default();
            stat.rfind(") ").is_some_and(|end| stat[end + 2..].starts_with('D'))
        };
        self.threads(pid).into_iter().any(asleep)
    }

    /// How many descriptors a process has.
    pub(crate) fn descriptors(&self, pid: i32) -> u64 {
        let directory = format!("{pid}/fd");
        match rustix::fs::statat(&self.proc, &directory, AtFlags::empty()) {
            // Since Linux 6.2 the size of the directory is their number.
            Ok(found) if found.st_size > 0 => u64::try_from(found.st_size).unwrap_or_default(),
            Ok(_) => self.numbers(&directory).len() as u64,
            Err(_) => 0,
        }
    }

    /// Calls `see` with what each descriptor of a process is, such as `pipe:[123]`, until it says that this is enough.
    pub(crate) fn each_link(&self, pid: i32, mut see: impl FnMut(&[u8]) -> bool) {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(directory) = openat(&self.proc, format!("{pid}/fd"), flags, Mode::empty()) else { return };
        let Ok(entries) = Dir::read_from(&directory) else { return };
        let mut buffer = [std::mem::MaybeUninit::uninit(); 64];
        for entry in entries.flatten() {
            let Ok((link, _)) = rustix::fs::readlinkat_raw(&directory, entry.file_name(), &mut buffer) else {
                continue;
            };
            if !see(link) {
                return;
            }
        }
    }

    fn numbers(&self, directory: &str) -> Vec<i32> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(fd) = openat(&self.proc, directory, flags, Mode::empty()) else { return Vec::new() };
        let Ok(entries) = Dir::new(fd) else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok()).collect()
    }

    /// A file of `/proc`, as text.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        self.pieces(path, |piece| bytes.extend_from_slice(piece))?;
        // A process chooses its own name, and one that is no text must not hide it.
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The lines of a file of `/proc`.
    pub(crate) fn count_lines(&self, path: &str) -> Option<u64> {
        let mut lines = 0;
        self.pieces(path, |piece| lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64)?;
        Some(lines)
    }

    fn pieces(&self, path: &str, mut take: impl FnMut(&[u8])) -> Option<()> {
        let fd = openat(self.proc.as_fd(), path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut buffer = [0; 16 * 1024];
        loop {
            match rustix::io::read(&fd, &mut buffer).ok()? {
                0 => return Some(()),
                count => take(&buffer[..count]),
            }
        }
    }
}

fn parse(stat: &str, pid: i32, tick_us: u64, page: u64) -> Option<Process> {
    let after_name = &stat[stat.rfind(')')? + 2..];
    let fields: Vec<&str> = after_name.split(' ').collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        start: field(22)?,
        own_us: (field(14)? + field(15)?) * tick_us,
        waited_us: (field(16)? + field(17)?) * tick_us,
        threads: field(20)?,
        address_bytes: field(23)?,
        resident_bytes: field(24)? * page,
        thread: pid,
    })
}

/// The host's `/proc`, for tiers without their own.
pub(crate) fn host_proc() -> rustix::io::Result<OwnedFd> {
    rustix::fs::open("/proc", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
