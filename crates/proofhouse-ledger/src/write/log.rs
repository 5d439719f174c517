//! An append-only file as the writer sees it: append, sync, cut, read back. Tests put one that fails in its place.

use std::io;

use camino::Utf8Path;

use crate::disk::{self, Disk, DiskFile, Real};
use crate::files::FileError;

/// An append-only file that can be cut and read back.
pub trait Log: Send {
    /// Appends all of it, or fails; a failed append may leave a part.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Waits until everything appended is on the disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the file to `length`.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Fills `into` from `offset`.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
}

/// A file of a disk.
pub struct FileLog(Box<dyn DiskFile>);

impl FileLog {
    /// Opens or creates a file for appending behind `length`; what lies behind is cut off.
    pub fn open(path: &Utf8Path, length: u64) -> Result<Self, FileError> {
        Self::open_on(&Real, path, length)
    }

    /// The same on any disk.
    pub fn open_on(disk: &dyn Disk, path: &Utf8Path, length: u64) -> Result<Self, FileError> {
        let mut file = disk::uninterrupted(|| disk.open(path)).map_err(FileError::new("open", path))?;
        disk::uninterrupted(|| file.cut(length)).map_err(FileError::new("cut", path))?;
        Ok(FileLog(file))
    }
}

impl Log for FileLog {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        disk::write_all(&mut *self.0, bytes)
    }
    fn sync(&mut self) -> io::Result<()> {
        disk::sync(&mut *self.0)
    }
    fn cut(&mut self, length: u64) -> io::Result<()> {
        disk::uninterrupted(|| self.0.cut(length))
    }
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, into)
    }
}
