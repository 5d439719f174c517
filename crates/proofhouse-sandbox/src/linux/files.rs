//! Puts files into the work directory before the start and opens results afterwards, never following anything that the payload
//! planted.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat2};
use rustix::io::Errno;

use super::wire::JobFile;
use super::{At, Step};
use crate::outcome::NotTaken;

/// No way out of the directory, not by links, not by magic links, not by `..`.
pub(crate) const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Writes one file. `owner` is the payload's user when init is somebody else.
pub(crate) fn place(
    work: BorrowedFd<'_>,
    file: &JobFile,
    from: Option<&OwnedFd>,
    owner: Option<u32>,
) -> Result<(), Step> {
    let step = || format!("place `{}`", String::from_utf8_lossy(&file.path));
    make_parents(work, &file.path, owner).at(step())?;
    let mode = Mode::from_raw_mode(if file.executable { 0o755 } else { 0o644 });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = openat2(work, file.path.as_slice(), flags, mode, BENEATH).at(step())?;
    give(fd.as_fd(), owner).at(step())?;
    let mut target = File::from(fd);
    match (&file.bytes, from) {
        (Some(bytes), _) => target.write_all(bytes).at(step()),
        (None, Some(from)) => copy(from, &target).at(step()),
        (None, None) => Err(Step { step: step(), errno: libc::EBADF }),
    }
}

/// Copies inside the kernel. The offset is ours, so a descriptor that many boxes share stays where it is.
pub(crate) fn copy(from: &OwnedFd, to: impl AsFd) -> rustix::io::Result<()> {
    let mut offset = 0;
    while rustix::fs::sendfile(&to, from, Some(&mut offset), 1 << 30)? > 0 {}
    Ok(())
}

fn make_parents(work: BorrowedFd<'_>, path: &[u8], owner: Option<u32>) -> rustix::io::Result<()> {
    for (end, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let parent = &path[..end];
        if openat2(work, parent, flags, Mode::empty(), BENEATH).is_ok() {
            continue;
        }
        mkdirat(work, parent, Mode::from_raw_mode(0o755))?;
        give(openat2(work, parent, flags, Mode::empty(), BENEATH)?.as_fd(), owner)?;
    }
    Ok(())
}

fn give(fd: BorrowedFd<'_>, owner: Option<u32>) -> rustix::io::Result<()> {
    match owner {
        Some(id) => {
            rustix::fs::fchown(fd, Some(rustix::fs::Uid::from_raw(id)), Some(rustix::fs::Gid::from_raw(id)))
        }
        None => Ok(()),
    }
}

/// Hands a whole directory tree to the payload's user; symbolic links are changed themselves, never followed, and files with
/// several names are left alone.
pub(crate) fn give_tree(root: BorrowedFd<'_>, owner: u32) -> rustix::io::Result<()> {
    let mut open = vec![root.try_clone_to_owned().map_err(|_| Errno::MFILE)?];
    let (user, group) = (rustix::fs::Uid::from_raw(owner), rustix::fs::Gid::from_raw(owner));
    while let Some(directory) = open.pop() {
        rustix::fs::fchown(&directory, Some(user), Some(group))?;
        for entry in rustix::fs::Dir::read_from(&directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match rustix::fs::openat(&directory, name, flags, Mode::empty()) {
                Ok(below) => open.push(below),
                Err(_) => {
                    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
                    // A second name may be a file of somebody else's tree, such as a template's.
                    if rustix::fs::statat(&directory, name, flags)?.st_nlink > 1 {
                        continue;
                    }
                    rustix::fs::chownat(&directory, name, Some(user), Some(group), flags)?;
                }
            }
        }
    }
    Ok(())
}

/// Opens one result. The payload is gone, so what is seen here does not change.
pub(crate) fn take(work: BorrowedFd<'_>, path: &[u8], max_bytes: u64) -> Result<(OwnedFd, u64), NotTaken> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = openat2(work, path, flags, Mode::empty(), BENEATH).map_err(|error| match error {
        Errno::NOENT | Errno::NOTDIR => NotTaken::Missing,
        Errno::LOOP | Errno::XDEV => NotTaken::Link,
        Errno::NXIO | Errno::NODEV => NotTaken::NotRegular,
        _ => NotTaken::Unreadable,
    })?;
    let found = fstat(&fd).map_err(|_| NotTaken::Unreadable)?;
    let length = u64::try_from(found.st_size).unwrap_or(u64::MAX);
    match () {
        () if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile => Err(NotTaken::NotRegular),
        () if found.st_nlink != 1 => Err(NotTaken::HardLinked),
        () if length > max_bytes => Err(NotTaken::TooLarge),
        () => Ok((fd, length)),
    }
}

/// Reasons as numbers for the report; 0 is a file.
const REASONS: [NotTaken; 7] = [
    NotTaken::Missing,
    NotTaken::Link,
    NotTaken::NotRegular,
    NotTaken::HardLinked,
    NotTaken::TooLarge,
    NotTaken::Unreadable,
    NotTaken::NotReached,
];

pub(crate) fn reason_to_wire(reason: NotTaken) -> u64 {
    REASONS.iter().position(|known| *known == reason).map_or(7, |index| index as u64 + 1)
}

pub(crate) fn reason_from_wire(code: u64) -> NotTaken {
    let index = usize::try_from(code).unwrap_or(7).saturating_sub(1);
    REASONS.get(index).copied().unwrap_or(NotTaken::NotReached)
}

/// Whether the kernel opens files the careful way.
pub(crate) fn try_openat2() -> std::io::Result<()> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(rustix::fs::CWD, ".", flags, Mode::empty(), BENEATH)?;
    Ok(())
}
