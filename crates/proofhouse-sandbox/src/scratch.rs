//! Work directories on the host, for tiers that have no private root. They are made for one run and removed whatever the payload
//! did to them: no mode and no depth of directories stops the removal.
//!
//! The place they are in may be shared with other users (`/tmp`). So their names cannot be guessed, they are made and opened without
//! following links, nothing that belongs to somebody else is ever touched, and who uses one holds a lock on it, which means the same
//! in every pid namespace.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, Mode, OFlags, RenameFlags, fstat, mkdirat, openat, renameat_with, statat, unlinkat,
};

/// A directory that is gone when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    parent: OwnedFd,
    name: String,
    /// Locked as long as this is there.
    directory: File,
}

const PREFIX: &str = "proofhouse-box-";
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Scratch {
    /// Makes one below `parent`, open to nobody else.
    pub fn new(parent: &Path) -> io::Result<Scratch> {
        const TRIES: usize = 16;
        let above = rustix::fs::open(parent, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        for _ in 0..TRIES {
            let name = format!("{PREFIX}{}", random_name()?);
            match mkdirat(&above, &name, Mode::RWXU) {
                Ok(()) => {}
                Err(rustix::io::Errno::EXIST) => continue,
                Err(error) => return Err(error.into()),
            }
            // Somebody who clears up may have been faster; then the directory is gone, or locked and theirs to remove.
            let directory = match openat(&above, &name, DIRECTORY, Mode::empty()) {
                Ok(directory) => File::from(directory),
                Err(rustix::io::Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            };
            if directory.try_lock().is_ok()
                && is_own(&directory)?
                && names_it(above.as_fd(), &name, &directory)
            {
                return Ok(Scratch { path: parent.join(&name), parent: above, name, directory });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = remove(self.parent.as_fd(), &self.name, self.directory.as_fd());
    }
}

/// A name that nobody can guess.
pub(crate) fn random_name() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(crate::capture::hex(&bytes))
}

/// Whether it belongs to this user, or was handed by root to the user of a box.
fn is_own(directory: &File) -> io::Result<bool> {
    let owner = fstat(directory)?.st_uid;
    let own = rustix::process::geteuid();
    Ok(owner == own.as_raw() || (own.is_root() && BOX_USERS.contains(&owner)))
}

/// Users that only boxes of root have.
const BOX_USERS: std::ops::Range<u32> = 0x7000_0000..0x7100_0000;

/// Whether the name still stands for this directory.
fn names_it(parent: BorrowedFd<'_>, name: &str, directory: &File) -> bool {
    let (Ok(there), Ok(here)) = (statat(parent, name, AtFlags::SYMLINK_NOFOLLOW), fstat(directory)) else {
        return false;
    };
    (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
}

/// Removes what harnesses left that were killed: own directories that nobody holds a lock on.
pub(crate) fn remove_stale(parent: &Path) {
    let Ok(above) = rustix::fs::open(parent, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
        return;
    };
    for name in names(parent).unwrap_or_default().into_iter().filter(|name| name.starts_with(PREFIX)) {
        let Ok(directory) = open_locked_up(above.as_fd(), &name).map(File::from) else { continue };
        if directory.try_lock().is_ok() && names_it(above.as_fd(), &name, &directory) {
            let _ = remove(above.as_fd(), &name, directory.as_fd());
        }
    }
}

/// Opens an own directory, also one that its mode closes to its owner.
fn open_locked_up(parent: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    let opened = openat(parent, name, DIRECTORY, Mode::empty());
    if let Err(rustix::io::Errno::ACCESS) = opened {
        if statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?.st_uid == rustix::process::geteuid().as_raw() {
            open_up(parent, name)?;
        }
        return Ok(openat(parent, name, DIRECTORY, Mode::empty())?);
    }
    let opened = File::from(opened?);
    if is_own(&opened)? { Ok(opened.into()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Gives the owner all rights on a directory, never on what a link leads to.
#[cfg(target_os = "linux")]
fn open_up(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let pinned = openat(parent, name, DIRECTORY | OFlags::PATH, Mode::empty())?;
    // A descriptor of this kind takes no change of mode; its entry in /proc stands for the directory itself.
    Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", pinned.as_raw_fd()), Mode::RWXU)?)
}

#[cfg(not(target_os = "linux"))]
fn open_up(parent: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<()> {
    Ok(rustix::fs::chmodat(parent, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?)
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

/// Removes the directory at this path, if it is there.
#[cfg(target_os = "linux")]
pub(crate) fn remove_at(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = rustix::fs::open(parent, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let directory = openat(&parent, name, DIRECTORY, Mode::empty())?;
    remove(parent.as_fd(), name, directory.as_fd())
}

/// Removes a tree without recursion: each directory inside is moved up to the top before it is emptied, so neither the stack nor
/// the longest path sets a bound.
fn remove(parent: BorrowedFd<'_>, name: &str, top: BorrowedFd<'_>) -> io::Result<()> {
    rustix::fs::fchmod(top, Mode::RWXU)?;
    let mut moved = 0;
    let mut open = vec![None];
    while let Some(name) = open.pop() {
        let directory = match &name {
            None => top.try_clone_to_owned()?,
            Some(name) => openat(top, name, DIRECTORY, Mode::empty())?,
        };
        // All entries are read before the first is moved: what arrives at the top afterwards is in `open`.
        for entry in Dir::read_from(&directory)?.collect::<Vec<_>>() {
            let entry = entry?;
            let below = entry.file_name();
            let is_dot = below == c"." || below == c"..";
            if !is_dot && unlinkat(&directory, below, AtFlags::empty()).is_err() {
                let _ = open_up(directory.as_fd(), below);
                open.push(Some(move_up(&directory, below, top, &mut moved)?));
            }
        }
        if let Some(name) = name {
            unlinkat(top, &name, AtFlags::REMOVEDIR)?;
        }
    }
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

/// Moves a directory to a free name at the top.
fn move_up(from: &OwnedFd, name: &CStr, top: BorrowedFd<'_>, moved: &mut u64) -> rustix::io::Result<String> {
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
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

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

    #[test]
    fn a_directory_is_its_owners_alone_and_has_another_name_each_time() {
        let parent = tempfile::tempdir().unwrap();
        let made: Vec<Scratch> = (0..20).map(|_| Scratch::new(parent.path()).unwrap()).collect();
        let names: std::collections::BTreeSet<&Path> = made.iter().map(Scratch::path).collect();
        assert_eq!(names.len(), 20);
        for scratch in &made {
            assert_eq!(std::fs::metadata(scratch.path()).unwrap().mode() & 0o777, 0o700);
        }
        // Somebody else who clears up sees that they are in use.
        remove_stale(parent.path());
        assert!(made.iter().all(|scratch| scratch.path().exists()));
    }

    #[test]
    fn who_clears_up_and_who_makes_directories_do_not_meet() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path();
        std::thread::scope(|scope| {
            let cleaner = scope.spawn(|| (0..2_000).for_each(|_| remove_stale(path)));
            while !cleaner.is_finished() {
                let scratch = Scratch::new(path).expect("another try");
                std::fs::write(scratch.path().join("kept"), "").expect("still there");
            }
        });
        assert_eq!(names(path).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_nobody_uses_is_cleared_up_and_planted_links_change_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let victim = parent.path().join("victim");
        std::fs::create_dir(&victim).unwrap();
        std::fs::write(victim.join("file"), "kept").unwrap();
        std::fs::set_permissions(&victim, std::fs::Permissions::from_mode(0o501)).unwrap();
        std::fs::set_permissions(victim.join("file"), std::fs::Permissions::from_mode(0o400)).unwrap();
        symlink(&victim, parent.path().join(format!("{PREFIX}planted"))).unwrap();
        symlink(victim.join("file"), parent.path().join(format!("{PREFIX}0-0"))).unwrap();
        let stale = parent.path().join(format!("{PREFIX}stale"));
        std::fs::create_dir_all(stale.join("in/ner")).unwrap();
        for (name, to) in [("link", &victim), ("in/link", &victim), ("in/ner/link", &victim.join("file"))] {
            symlink(to, stale.join(name)).unwrap();
        }
        std::fs::set_permissions(stale.join("in"), std::fs::Permissions::from_mode(0o000)).unwrap();
        std::fs::set_permissions(&stale, std::fs::Permissions::from_mode(0o000)).unwrap();
        remove_stale(parent.path());
        assert!(!stale.exists());
        assert_eq!(std::fs::metadata(&victim).unwrap().mode() & 0o777, 0o501);
        assert_eq!(std::fs::metadata(victim.join("file")).unwrap().mode() & 0o777, 0o400);
        assert_eq!(std::fs::read_to_string(victim.join("file")).unwrap(), "kept");
    }
}
