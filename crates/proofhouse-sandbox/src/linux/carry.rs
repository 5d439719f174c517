//! Carries a tree of files into a box's work directory before the start, or out of it afterwards. The program itself only ever sees
//! a directory that is limited in bytes and files; what it leaves is copied when everything in the box is gone.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, fchown, fstat, mkdirat, openat2, statat, unlinkat,
};
use rustix::io::Errno;

use super::files::{BENEATH, copy};

/// Copies directories and regular files; links, FIFOs, sockets and devices are left behind, because nobody should meet them where
/// they arrive. `owner` is the user who gets the copies, when it is not the one who makes them.
///
/// Files that are mostly holes are larger where they arrive: more than `most_bytes` in all is refused.
pub(crate) fn carry(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    owner: Option<u32>,
    most_bytes: u64,
) -> rustix::io::Result<()> {
    let mut room = most_bytes;
    let mut open: Vec<Vec<u8>> = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let Some(directory) = directory_at(from, &path)? else { continue };
        for entry in Dir::new(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let below = if path.is_empty() { name.to_vec() } else { [&path, b"/".as_slice(), name].concat() };
            match one(from, to, &below, owner, &mut room) {
                Ok(FileType::Directory) => open.push(below),
                Ok(_) | Err(Errno::NAMETOOLONG | Errno::LOOP | Errno::XDEV | Errno::NXIO) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Removes what is neither a directory nor a regular file, so that whoever reads a directory that a program wrote to meets no links,
/// FIFOs or sockets.
pub(crate) fn strip(top: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let mut open: Vec<Vec<u8>> = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let Some(directory) = directory_at(top, &path)? else { continue };
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let found = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => {}
                FileType::Directory if path.is_empty() => open.push(name.to_bytes().to_vec()),
                FileType::Directory => open.push([&path, b"/".as_slice(), name.to_bytes()].concat()),
                _ => unlinkat(&directory, name, AtFlags::empty())?,
            }
        }
    }
    Ok(())
}

/// A directory of the tree, unless its own path has become too long for the kernel.
fn directory_at(from: BorrowedFd<'_>, path: &[u8]) -> rustix::io::Result<Option<OwnedFd>> {
    let path = if path.is_empty() { b".".as_slice() } else { path };
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(from, path, flags, Mode::empty(), BENEATH) {
        Ok(directory) => Ok(Some(directory)),
        // A program may close its own directories, also to us where we are not root.
        Err(Errno::NAMETOOLONG | Errno::ACCESS) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Copies one entry and says what it is.
fn one(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    path: &[u8],
    owner: Option<u32>,
    room: &mut u64,
) -> rustix::io::Result<FileType> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let source = match openat2(from, path, flags, Mode::empty(), BENEATH) {
        Ok(source) => source,
        Err(Errno::ACCESS) => return Ok(FileType::Unknown),
        Err(error) => return Err(error),
    };
    let found = fstat(&source)?;
    let kind = FileType::from_raw_mode(found.st_mode);
    let mode = Mode::from_raw_mode(found.st_mode & 0o777 | 0o600);
    let give = |made: BorrowedFd<'_>| match owner {
        Some(id) => fchown(made, Some(Uid::from_raw(id)), Some(Gid::from_raw(id))),
        None => Ok(()),
    };
    match kind {
        FileType::Directory => {
            match mkdirat(to, path, mode | Mode::XUSR) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            let made = openat2(to, path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty(), BENEATH)?;
            give(made.as_fd())?;
        }
        FileType::RegularFile => {
            *room = room.checked_sub(found.st_size.unsigned_abs()).ok_or(Errno::FBIG)?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let made = openat2(to, path, flags, mode, BENEATH)?;
            give(made.as_fd())?;
            copy(&source, &made)?;
        }
        _ => {}
    }
    Ok(kind)
}
