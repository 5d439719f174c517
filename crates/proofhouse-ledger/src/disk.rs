//! The disk as the ledger sees it. Everything that a run writes passes through [`Disk`], so that tests can put a disk in
//! its place that forgets, fails and loses power at any operation.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};

use camino::{Utf8Path, Utf8PathBuf};

use crate::files::FileError;

/// What a name stands for; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// A regular file of so many bytes.
    File(u64),
    /// A directory.
    Dir,
    /// A link, a pipe, a device, a socket.
    Other,
}

/// A file that is open for reading and writing.
pub trait DiskFile: Send {
    /// Writes at the end of what was written or cut last; may write a part only.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Fills `into` from `offset`; the place to write at stays.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
    /// Gives the file this length and writes behind it from now on.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Writes from here on.
    fn seek(&mut self, offset: u64) -> io::Result<()>;
    /// Waits until content and length are on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// The few things that a ledger asks of a file system. Each may fail, and until it is synced each may be forgotten.
pub trait Disk: Send + Sync {
    /// What a name stands for.
    fn look(&self, path: &Utf8Path) -> io::Result<Node>;
    /// Opens a regular file for reading.
    fn read(&self, path: &Utf8Path) -> io::Result<Box<dyn Read + Send>>;
    /// Opens a file for reading and writing, and makes it if it is not there.
    fn open(&self, path: &Utf8Path) -> io::Result<Box<dyn DiskFile>>;
    /// The names in a directory, in any order.
    fn list(&self, dir: &Utf8Path) -> io::Result<Vec<String>>;
    /// Makes a directory and those above it; that it is there is fine.
    fn make_dir(&self, dir: &Utf8Path) -> io::Result<()>;
    /// Gives a file or directory another name, in one step.
    fn rename(&self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Utf8Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, dir: &Utf8Path) -> io::Result<()>;
    /// Waits until the names in a directory are on the disk.
    fn sync_dir(&self, dir: &Utf8Path) -> io::Result<()>;
}

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Real;

struct RealFile(File);

impl DiskFile for RealFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let at = self.0.stream_position()?;
        self.0.seek(SeekFrom::Start(offset))?;
        let outcome = self.0.read_exact(into);
        self.0.seek(SeekFrom::Start(at))?;
        outcome
    }
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)?;
        self.seek(length)
    }
    fn seek(&mut self, offset: u64) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(offset)).map(|_| ())
    }
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

impl Disk for Real {
    fn look(&self, path: &Utf8Path) -> io::Result<Node> {
        let meta = fs::symlink_metadata(path)?;
        Ok(match meta.is_dir() {
            true => Node::Dir,
            false if meta.is_file() => Node::File(meta.len()),
            false => Node::Other,
        })
    }

    fn read(&self, path: &Utf8Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(open_regular(path)?))
    }

    fn open(&self, path: &Utf8Path) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        Ok(Box::new(RealFile(file)))
    }

    fn list(&self, dir: &Utf8Path) -> io::Result<Vec<String>> {
        #[expect(clippy::disallowed_methods, reason = "the one home of directory listings")]
        let entries = fs::read_dir(dir)?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn make_dir(&self, dir: &Utf8Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    fn rename(&self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Utf8Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, dir: &Utf8Path) -> io::Result<()> {
        fs::remove_dir(dir)
    }

    fn sync_dir(&self, dir: &Utf8Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }
}

/// Opens a file that is one. A pipe would wait for ever for somebody who writes, a device might never end.
pub fn open_regular(path: &Utf8Path) -> io::Result<File> {
    let regular = |meta: fs::Metadata| match meta.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    };
    regular(fs::metadata(path)?)?;
    let file = File::open(path)?;
    regular(file.metadata()?)?;
    Ok(file)
}

/// Tries again for as long as a signal came between.
pub(crate) fn uninterrupted<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// Writes all of it.
pub(crate) fn write_all(file: &mut dyn DiskFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match uninterrupted(|| file.write(bytes))? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

/// Waits for the disk, whatever comes between.
pub(crate) fn sync(file: &mut dyn DiskFile) -> io::Result<()> {
    uninterrupted(|| file.sync())
}

impl dyn Disk + '_ {
    /// Whether a name stands for anything.
    pub fn exists(&self, path: &Utf8Path) -> bool {
        self.look(path).is_ok()
    }

    /// Reads a regular file of at most `limit` bytes.
    pub fn read_all(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, FileError> {
        let too_long =
            || io::Error::new(io::ErrorKind::InvalidData, format!("it is longer than {limit} bytes"));
        let read = || {
            if let Node::File(length) = self.look(path)?
                && length > limit
            {
                return Err(too_long());
            }
            let mut bytes = Vec::new();
            self.read(path)?.take(limit + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > limit { Err(too_long()) } else { Ok(bytes) }
        };
        read().map_err(FileError::new("read", path))
    }

    /// Replaces a file in one step: write beside it, sync, rename, sync the directory. No reader sees a part of it.
    pub fn write_atomic(&self, path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
        let draft = Utf8PathBuf::from(format!("{path}.draft"));
        self.write_synced(&draft, bytes).inspect_err(|_| {
            // A draft that could not be written whole is of no use to anybody.
            let _ = self.remove_file(&draft);
        })?;
        self.rename_synced(&draft, path)
    }

    /// Writes a file and waits for the disk.
    pub fn write_synced(&self, path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
        let mut file = uninterrupted(|| self.open(path)).map_err(FileError::new("create", path))?;
        uninterrupted(|| file.cut(0)).map_err(FileError::new("create", path))?;
        write_all(&mut *file, bytes).map_err(FileError::new("write", path))?;
        sync(&mut *file).map_err(FileError::new("sync", path))
    }

    /// Writes over a file where it lies: for a disk that has no room for a second copy. Not atomic.
    pub fn write_synced_in_place(&self, path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
        let mut file = uninterrupted(|| self.open(path)).map_err(FileError::new("open", path))?;
        file.seek(0).map_err(FileError::new("write", path))?;
        write_all(&mut *file, bytes).map_err(FileError::new("write", path))?;
        uninterrupted(|| file.cut(bytes.len() as u64)).map_err(FileError::new("cut", path))?;
        sync(&mut *file).map_err(FileError::new("sync", path))
    }

    /// Renames and makes the new name durable.
    pub fn rename_synced(&self, from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
        uninterrupted(|| self.rename(from, to)).map_err(FileError::new("rename", from))?;
        self.sync_names(crate::files::dir_of(to))
    }

    /// Makes the names in a directory durable.
    pub fn sync_names(&self, dir: &Utf8Path) -> Result<(), FileError> {
        uninterrupted(|| self.sync_dir(dir)).map_err(FileError::new("sync", dir))
    }

    /// Removes a file; that it is not there is fine.
    pub fn remove_if_there(&self, path: &Utf8Path) -> Result<(), FileError> {
        match uninterrupted(|| self.remove_file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::new("remove", path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Removes a directory with all that is in it; that it is not there is fine.
    pub fn remove_tree(&self, dir: &Utf8Path) -> Result<(), FileError> {
        let failed = |error| FileError::new("remove", dir)(error);
        match self.look(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(error)),
            Ok(Node::Dir) => {}
            Ok(_) => return self.remove_if_there(dir),
        }
        for name in self.sorted(dir)? {
            self.remove_tree(&dir.join(name))?;
        }
        uninterrupted(|| self.remove_dir(dir)).map_err(failed)
    }

    /// The names in a directory, sorted.
    pub fn sorted(&self, dir: &Utf8Path) -> Result<Vec<String>, FileError> {
        let mut names = self.list(dir).map_err(FileError::new("list", dir))?;
        names.sort_unstable();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, impl Fn(&str) -> Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        (dir, move |name: &str| root.join(name))
    }

    const DISK: &dyn Disk = &Real;

    #[test]
    fn a_file_is_read_anywhere_and_written_where_it_was() {
        let (_dir, at) = folder();
        let mut file = DISK.open(&at("a")).unwrap();
        write_all(&mut *file, b"0123456789").unwrap();
        let mut part = [0; 3];
        file.read_at(2, &mut part).unwrap();
        assert_eq!(&part, b"234");
        write_all(&mut *file, b"ab").unwrap();
        file.cut(11).unwrap();
        write_all(&mut *file, b"c").unwrap();
        file.seek(1).unwrap();
        write_all(&mut *file, b"x").unwrap();
        sync(&mut *file).unwrap();
        assert_eq!(fs::read(at("a")).unwrap(), b"0x23456789ac");
        assert!(file.read_at(10, &mut part).is_err(), "there are only two bytes");
        // Who opens it again finds what is there.
        DISK.open(&at("a")).unwrap().read_at(0, &mut part).unwrap();
        assert_eq!(&part, b"0x2");
    }

    #[test]
    fn what_is_written_in_place_has_its_own_length() {
        let (_dir, at) = folder();
        DISK.write_synced_in_place(&at("a"), b"a long text").unwrap();
        DISK.write_synced_in_place(&at("a"), b"short").unwrap();
        assert_eq!(fs::read(at("a")).unwrap(), b"short");
        DISK.write_synced_in_place(&at("a"), b"longer again").unwrap();
        assert_eq!(DISK.read_all(&at("a"), 12).unwrap(), b"longer again");
        let failed = DISK.write_synced_in_place(&at("no/a"), b"").unwrap_err();
        assert_eq!(failed.action, "open");
    }

    #[test]
    fn a_name_stands_for_a_file_a_directory_or_something_else() {
        let (_dir, at) = folder();
        fs::write(at("file"), "four").unwrap();
        fs::create_dir(at("dir")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        for (name, expected) in [
            ("file", Some(Node::File(4))),
            ("dir", Some(Node::Dir)),
            ("link", Some(Node::Other)),
            ("none", None),
        ] {
            assert_eq!(DISK.look(&at(name)).ok(), expected, "{name}");
            assert_eq!(DISK.exists(&at(name)), expected.is_some());
        }
        let refused = open_regular(&at("dir")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        assert!(open_regular(&at("link")).is_ok() && open_regular(&at("none")).is_err());
    }

    /// A link has no length of its own: what it leads to is measured while it is read.
    #[test]
    fn no_file_is_read_that_is_longer_than_its_limit() {
        let (_dir, at) = folder();
        fs::write(at("file"), "four").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(DISK.read_all(&at(name), 4).unwrap(), b"four");
            let failed = DISK.read_all(&at(name), 3).unwrap_err();
            assert_eq!(failed.source.to_string(), "it is longer than 3 bytes");
        }
    }

    #[test]
    fn a_tree_is_removed_and_what_links_lead_to_stays() {
        let (_dir, at) = folder();
        DISK.make_dir(&at("tree/inner/most")).unwrap();
        fs::write(at("tree/inner/file"), "").unwrap();
        fs::create_dir(at("kept")).unwrap();
        fs::write(at("kept/file"), "").unwrap();
        std::os::unix::fs::symlink(at("kept"), at("tree/link")).unwrap();
        assert_eq!(DISK.sorted(&at("tree")).unwrap(), ["inner", "link"]);
        DISK.remove_tree(&at("tree")).unwrap();
        DISK.remove_tree(&at("tree")).unwrap();
        assert_eq!(DISK.sorted(&at("")).unwrap(), ["kept"]);
        DISK.remove_tree(&at("kept/file")).unwrap();
        assert!(DISK.sorted(&at("kept")).unwrap().is_empty());
        fs::write(at("kept/file"), "").unwrap();
        assert!(DISK.remove_tree(&at("kept/file/below")).is_err(), "a file has nothing below it");
    }

    #[test]
    fn signals_are_no_answer_and_nothing_written_is_an_error() {
        let mut interrupted = 3;
        let outcome = uninterrupted(|| {
            interrupted -= 1;
            if interrupted > 0 { Err(io::ErrorKind::Interrupted.into()) } else { Ok("done") }
        });
        assert_eq!(outcome.unwrap(), "done");
        let failed = uninterrupted(|| Err::<(), _>(io::ErrorKind::NotFound.into()));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::NotFound);

        struct Full;
        impl DiskFile for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Ok(0)
            }
            fn read_at(&mut self, _: u64, _: &mut [u8]) -> io::Result<()> {
                Ok(())
            }
            fn cut(&mut self, _: u64) -> io::Result<()> {
                Ok(())
            }
            fn seek(&mut self, _: u64) -> io::Result<()> {
                Ok(())
            }
            fn sync(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::StorageFull.into())
            }
        }
        assert_eq!(write_all(&mut Full, b"x").unwrap_err().kind(), io::ErrorKind::WriteZero);
        assert!(write_all(&mut Full, b"").is_ok());
        assert_eq!(sync(&mut Full).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
