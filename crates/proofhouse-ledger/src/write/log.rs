//! The disk as the writer sees it: append, sync, cut, read back. Tests put one that fails in its place.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};

use camino::Utf8Path;

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

/// A real file.
pub struct FileLog(File);

impl FileLog {
    /// Opens or creates a file for appending behind `length`; what lies behind is cut off.
    pub fn open(path: &Utf8Path, length: u64) -> Result<Self, FileError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(FileError::new("open", path))?;
        let mut log = FileLog(file);
        log.cut(length).map_err(FileError::new("cut", path))?;
        Ok(log)
    }
}

impl Log for FileLog {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)?;
        self.0.seek(SeekFrom::Start(length)).map(|_| ())
    }
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(offset))?;
        let result = self.0.read_exact(into);
        self.0.seek(SeekFrom::End(0))?;
        result
    }
}
