//! Memory limits by cgroup, where the system has delegated one to us: exact totals, with everything the kernel holds for a box.
//!
//! Version 2 needs a group whose children have the memory controller; version 1 a writable group of the memory hierarchy. One
//! group is made beside (or below) our own and removed with us; each box gets a child of it.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::helper::GroupFd;
use crate::spec::Limits;
use crate::tier::Tier;

/// Which generation of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// The group that boxes' groups are made in.
#[derive(Debug)]
pub(crate) struct Groups {
    directory: PathBuf,
    version: Version,
    next: AtomicU64,
    /// Whether it limits memory, or only counts CPU time.
    memory: bool,
    /// Below a scope that systemd made for us, which is gone with the helper in it.
    in_scope: bool,
    /// Locked as long as this is there, so that nobody takes it for left over.
    _lock: fs::File,
}

/// Groups of this crate begin with this, and go on at random: each sandbox has a group of its own, which goes with it.
const PREFIX: &str = "proofhouse-";

impl Groups {
    /// Finds and makes a usable group, or says why there is none.
    pub(crate) fn find() -> io::Result<Groups> {
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let mut last = io::Error::from_raw_os_error(libc::ENOENT);
        for (version, parent) in candidates(&own, &mounts) {
            match Groups::below(&parent, version) {
                Ok(groups) => return Ok(groups),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Finds one, or asks the user's systemd for a scope and makes one below it. The helper then lives there.
    pub(crate) fn find_or_ask(helper: u32) -> io::Result<Groups> {
        let found = Groups::find();
        let Err(why) = found else { return found };
        Groups::ask(helper).map_err(|_| why)
    }

    /// Asks the user's systemd for a scope for this helper. Where memory is counted by an older kind of cgroup, which users do not get,
    /// the scope counts CPU time all the same.
    pub(crate) fn ask(helper: u32) -> io::Result<Groups> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let mount = mount_of(&mounts, "cgroup2", None).ok_or(io::ErrorKind::NotFound)?;
        let scope = mount.join(super::scope::enter(helper)?);
        // A group that has groups with controllers below it has no processes of its own.
        let place = scope.join("helper");
        fs::create_dir(&place)?;
        fs::write(place.join("cgroup.procs"), helper.to_string())?;
        let memory = lists_memory(&scope.join("cgroup.controllers"));
        let mut groups =
            if memory { Groups::below(&scope, Version::Two) } else { Groups::uncontrolled(&scope) }?;
        groups.in_scope = true;
        Ok(groups)
    }

    fn below(parent: &Path, version: Version) -> io::Result<Groups> {
        if version == Version::Two && !lists_memory(&parent.join("cgroup.subtree_control")) {
            fs::write(parent.join("cgroup.subtree_control"), "+memory")?;
        }
        let mut groups = Groups::uncontrolled(parent)?;
        (groups.version, groups.memory) = (version, true);
        if version == Version::Two {
            fs::write(groups.directory.join("cgroup.subtree_control"), "+memory")?;
        }
        Ok(groups)
    }

    /// A group that limits nothing.
    fn uncontrolled(parent: &Path) -> io::Result<Groups> {
        remove_stale(parent);
        let (directory, lock) = make_locked(parent)?;
        let (version, next) = (Version::Two, AtomicU64::new(0));
        Ok(Groups { directory, version, next, memory: false, in_scope: false, _lock: lock })
    }

    /// Whether boxes below it have a limit of memory.
    pub(crate) fn holds_memory(&self) -> bool {
        self.memory
    }

    /// Whether it is gone when the helper is.
    pub(crate) fn in_scope(&self) -> bool {
        self.in_scope
    }

    /// The group of one box, with its limit set.
    pub(crate) fn make(&self, limits: &Limits, tier: Tier) -> io::Result<Group> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let directory = self.directory.join(format!("box-{number}"));
        fs::create_dir(&directory)?;
        let by_clone = self.version == Version::Two && tier == Tier::Strong;
        let kind = if by_clone { GroupFd::Directory } else { GroupFd::Procs };
        let fd = match kind {
            GroupFd::Directory => fs::File::open(&directory)?,
            _ => fs::OpenOptions::new().write(true).open(directory.join("cgroup.procs"))?,
        };
        // Version 2 counts CPU time in every group.
        let cpu = match self.version {
            Version::Two => fs::File::open(directory.join("cpu.stat")).ok().map(Into::into),
            Version::One => None,
        };
        let group = Group { directory, version: self.version, kind, fd: fd.into(), cpu };
        let limit = limits.memory_bytes.to_string();
        let set = |file: &str, value: &str| fs::write(group.directory.join(file), value);
        match self.version {
            Version::Two if !self.memory => {}
            Version::Two => {
                set("memory.max", &limit)?;
                let _ = set("memory.swap.max", "0");
                let _ = set("memory.oom.group", "1");
            }
            Version::One => {
                set("memory.limit_in_bytes", &limit)?;
                let _ = set("memory.memsw.limit_in_bytes", &limit);
            }
        }
        Ok(group)
    }

    /// For the doctor: which kind of cgroup.
    pub(crate) fn describe(&self) -> &'static str {
        match self.version {
            Version::One => "memory cgroup, version 1",
            Version::Two if self.in_scope => "scope of the user's systemd, cgroup version 2",
            Version::Two => "delegated cgroup, version 2",
        }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.directory);
    }
}

/// The cgroup of one box.
#[derive(Debug)]
pub(crate) struct Group {
    directory: PathBuf,
    version: Version,
    kind: GroupFd,
    fd: OwnedFd,
    cpu: Option<OwnedFd>,
}

impl Group {
    /// Where its CPU time is read.
    pub(crate) fn cpu(&self) -> Option<BorrowedFd<'_>> {
        self.cpu.as_ref().map(AsFd::as_fd)
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// How the box enters it.
    pub(crate) fn kind(&self) -> GroupFd {
        self.kind
    }

    /// Whether the kernel killed something in it for lack of memory.
    pub(crate) fn ran_out(&self) -> bool {
        let file = match self.version {
            Version::Two => "memory.events",
            Version::One => "memory.oom_control",
        };
        let text = fs::read_to_string(self.directory.join(file)).unwrap_or_default();
        let count = |line: &str| line.strip_prefix("oom_kill ")?.trim().parse::<u64>().ok();
        text.lines().find_map(count).is_some_and(|kills| kills > 0)
    }

    /// The largest total so far.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        let file = match self.version {
            Version::Two => "memory.peak",
            Version::One => "memory.max_usage_in_bytes",
        };
        fs::read_to_string(self.directory.join(file)).ok()?.trim().parse().ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last process may still be on its way out: an init counts until it is reaped.
        for _ in 0..200 {
            match fs::remove_dir(&self.directory) {
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                    std::thread::sleep(std::time::Duration::from_micros(500));
                }
                _ => return,
            }
        }
    }
}

/// Directories in which a group might be made, best first.
fn candidates(own: &str, mounts: &str) -> Vec<(Version, PathBuf)> {
    let mount_of = |kind: &str, option: Option<&str>| mount_of(mounts, kind, option);
    let path_of = |wanted: &dyn Fn(&str) -> bool| {
        own.lines().find_map(|line| {
            let (head, path) = line.rsplit_once(':')?;
            wanted(head).then(|| path.trim_start_matches('/').to_owned())
        })
    };
    let mut found = Vec::new();
    if let (Some(mount), Some(path)) = (mount_of("cgroup2", None), path_of(&|head| head == "0:")) {
        let group = mount.join(path);
        let beside = group.parent().filter(|parent| parent.starts_with(&mount)).map(Path::to_owned);
        found.extend(beside.into_iter().chain([group]).map(|group| (Version::Two, group)));
        found.retain(|(_, group)| lists_memory(&group.join("cgroup.controllers")));
    }
    let memory =
        path_of(&|head| head.split(':').nth(1).is_some_and(|list| list.split(',').any(|c| c == "memory")));
    if let (Some(mount), Some(path)) = (mount_of("cgroup", Some("memory")), memory) {
        found.push((Version::One, mount.join(path)));
    }
    found
}

/// Makes a group and locks it. Somebody who clears up may be faster, so that it takes some tries.
fn make_locked(parent: &Path) -> io::Result<(PathBuf, fs::File)> {
    for _ in 0..16 {
        let directory = parent.join(format!("{PREFIX}{}", crate::scratch::random_name()?));
        fs::create_dir(&directory)?;
        let Ok(lock) = fs::File::open(&directory) else { continue };
        if lock.try_lock().is_ok() && directory.exists() {
            return Ok((directory, lock));
        }
    }
    Err(io::Error::from_raw_os_error(libc::EBUSY))
}

/// Where a kind of file system with this option is mounted.
fn mount_of(mounts: &str, kind: &str, option: Option<&str>) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (place, found, options) = (fields.next()?, fields.next()?, fields.next()?);
        let has = option.is_none_or(|wanted| options.split(',').any(|each| each == wanted));
        (found == kind && has).then(|| PathBuf::from(place))
    })
}

fn lists_memory(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|each| each == "memory"))
}

/// Removes groups of harnesses that were killed before they could.
fn remove_stale(parent: &Path) {
    let Ok(entries) = crate::scratch::names(parent) else { return };
    for name in entries {
        if !name.starts_with(PREFIX) {
            continue;
        }
        let directory = parent.join(name);
        let Ok(lock) = fs::File::open(&directory) else { continue };
        if lock.try_lock().is_err() {
            continue;
        }
        for below in crate::scratch::names(&directory).unwrap_or_default() {
            let _ = fs::remove_dir(directory.join(below));
        }
        let _ = fs::remove_dir(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_beside_ours_comes_before_the_one_below() {
        let own = "4:memory:/a/b\n0::/user.slice/app.scope\n";
        let mounts = "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n";
        let expected = vec![(Version::One, PathBuf::from("/sys/fs/cgroup/memory/a/b"))];
        assert_eq!(candidates(own, mounts), expected);
    }
}
