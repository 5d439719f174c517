//! One writer per run directory: an advisory lock on `D.lock`, which also says who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};

use crate::RunPaths;
use crate::files::{self, FileError};

/// Why the lock could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process writes here.
    #[error("`{dir}` is being written by process {pid}")]
    Held {
        /// The run directory.
        dir: String,
        /// Who, as the lock file says.
        pid: String,
    },
    /// The lock file cannot be made.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The right to write one run directory, until it is dropped.
#[derive(Debug)]
pub struct RunLock {
    file: File,
    path: camino::Utf8PathBuf,
}

impl RunLock {
    /// Takes the lock, or says who has it. A lock file that nobody holds is no obstacle.
    pub fn acquire(paths: &RunPaths, pid: u32) -> Result<Self, LockError> {
        let path = paths.lock();
        // A holder that ends removes the file; between our opening and our locking it may have become another's.
        for _ in 0..16 {
            let mut file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .open(&path)
                .map_err(FileError::new("open", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut pid = String::new();
                    let _ = file.read_to_string(&mut pid);
                    let pid = if pid.trim().is_empty() { "unknown" } else { pid.trim() };
                    return Err(LockError::Held { dir: paths.dir.to_string(), pid: pid.to_owned() });
                }
                Err(TryLockError::Error(error)) => return Err(FileError::new("lock", &path)(error).into()),
            }
            if is_still(&file, &path) {
                let written =
                    file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{pid}"));
                // A full disk must not hide what the lock is for: it holds without its text too.
                let _ = written;
                return Ok(Self { file, path });
            }
        }
        Err(LockError::Held { dir: paths.dir.to_string(), pid: "unknown".to_owned() })
    }

    /// Whether somebody writes here now.
    pub fn is_held(paths: &RunPaths) -> bool {
        File::open(paths.lock())
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        let _ = files::remove_if_there(&self.path);
        let _ = self.file.unlock();
    }
}

/// Whether the file that we locked is the one that the name still means.
#[cfg(unix)]
fn is_still(file: &File, path: &camino::Utf8Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(named)) => ours.ino() == named.ino() && ours.dev() == named.dev(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_still(_: &File, path: &camino::Utf8Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(Utf8PathBuf::from_path_buf(dir.path().join("run")).unwrap());
        assert!(!RunLock::is_held(&paths), "there is no file");
        std::fs::write(paths.lock(), "1\n").unwrap();
        assert!(!RunLock::is_held(&paths), "nobody has locked the file");
        let lock = RunLock::acquire(&paths, 4711).unwrap();
        assert!(RunLock::is_held(&paths));
        assert_eq!(std::fs::read_to_string(paths.lock()).unwrap(), "4711\n");
        drop(lock);
        assert!(!RunLock::is_held(&paths));
    }

    #[test]
    fn a_holder_that_left_no_name_is_unknown() {
        let dir = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(Utf8PathBuf::from_path_buf(dir.path().join("run")).unwrap());
        let holder = File::create(paths.lock()).unwrap();
        holder.lock().unwrap();
        let error = RunLock::acquire(&paths, 1).unwrap_err().to_string();
        assert!(error.ends_with("is being written by process unknown"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_has_lost_its_name_is_not_the_one_that_is_locked() {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("lock")).unwrap();
        let ours = File::create(&path).unwrap();
        assert!(is_still(&ours, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_still(&ours, &path), "the name means nothing");
        std::fs::write(&path, "").unwrap();
        assert!(!is_still(&ours, &path), "the name means another's file");
    }
}
