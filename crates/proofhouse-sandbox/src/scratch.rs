//! Work directories on the host, for tiers that have no private root. They are made for one run and removed whatever the payload
//! did to them: no mode and no depth of directories stops the removal.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, RenameFlags, openat, renameat_with, unlinkat};

/// A directory that is gone when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

const PREFIX: &str = "proofhouse-box-";
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Scratch {
    /// Makes one below `parent`.
    pub fn new(parent: &Path) -> io::Result<Scratch> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Scratch { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// Removes what harnesses left that were killed.
pub(crate) fn remove_stale(parent: &Path) {
    for name in names(parent).unwrap_or_default() {
        let pid = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')?.0.parse::<i32>().ok());
        let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) else { continue };
        if rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            let _ = remove(&parent.join(name));
        }
    }
}

/// The names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> io::Result<Vec<String>> {
    let fd = rustix::fs::open(directory, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let name = |entry: rustix::fs::DirEntry| entry.file_name().to_str().ok().map(str::to_owned);
    let mut names: Vec<String> = Dir::new(fd)?.flatten().filter_map(name).collect();
    names.retain(|name| name != "." && name != "..");
    names.sort();
    Ok(names)
}

/// Removes a tree without recursion: each directory inside is moved up to the top before it is emptied, so neither the stack nor
/// the longest path sets a bound.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::chmod(path, Mode::RWXU)?;
    let top = rustix::fs::open(path, flags, Mode::empty())?;
    let mut moved = 0;
    let mut open = vec![None];
    while let Some(name) = open.pop() {
        let directory = match &name {
            None => top.try_clone()?,
            Some(name) => openat(&top, name, flags, Mode::empty())?,
        };
        // All entries are read before the first is moved: what arrives at the top afterwards is in `open`.
        for entry in Dir::read_from(&directory)?.collect::<Vec<_>>() {
            let entry = entry?;
            let below = entry.file_name();
            let is_dot = below == c"." || below == c"..";
            if !is_dot && unlinkat(&directory, below, AtFlags::empty()).is_err() {
                let _ = rustix::fs::chmodat(&directory, below, Mode::RWXU, AtFlags::empty());
                open.push(Some(move_up(&directory, below, &top, &mut moved)?));
            }
        }
        if let Some(name) = name {
            unlinkat(&top, &name, AtFlags::REMOVEDIR)?;
        }
    }
    std::fs::remove_dir(path)
}

/// Moves a directory to a free name at the top.
fn move_up(from: &OwnedFd, name: &CStr, top: &OwnedFd, moved: &mut u64) -> rustix::io::Result<String> {
    loop {
        let place = format!("removing-{moved}");
        *moved += 1;
        match renameat_with(from, name, top, &place, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(place),
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_locked_trees_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        let mut at = rustix::fs::open(scratch.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..1000 {
            rustix::fs::mkdirat(&at, "deeper", Mode::RWXU).unwrap();
            at = openat(&at, "deeper", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        let locked = scratch.path().join("locked/inner");
        std::fs::create_dir_all(&locked).unwrap();
        rustix::fs::chmod(scratch.path().join("locked"), Mode::empty()).unwrap();
        std::fs::create_dir_all(scratch.path().join("removing-0/x")).unwrap();
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
    }
}
