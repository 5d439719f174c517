//! Where the files of a run are, and the few ways in which they may be touched.

use std::fs::{self, File};
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};

/// The only names that a run directory has.
pub const NAMES: [&str; 5] =
    ["config.resolved.yaml", "manifest.json", "records.jsonl", "report.html", "summary.json"];

/// In the names of directories that only this program makes and removes.
const OWN_MARK: &str = ".proofhouse-";

/// The names around one run directory `D`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPaths {
    /// `D` itself.
    pub dir: Utf8PathBuf,
}

impl RunPaths {
    /// The names around `dir`.
    pub fn new(dir: impl Into<Utf8PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    fn beside(&self, suffix: &str) -> Utf8PathBuf {
        Utf8PathBuf::from(format!("{}{suffix}", self.dir))
    }

    /// `D.jsonl`: exported receipts of a containment run.
    pub fn receipts(&self) -> Utf8PathBuf {
        self.beside(".jsonl")
    }

    /// `D/records.jsonl`
    pub fn records(&self) -> Utf8PathBuf {
        self.dir.join("records.jsonl")
    }
    /// `D/manifest.json`
    pub fn manifest(&self) -> Utf8PathBuf {
        self.dir.join("manifest.json")
    }
    /// `D/config.resolved.yaml`
    pub fn config(&self) -> Utf8PathBuf {
        self.dir.join("config.resolved.yaml")
    }
    /// `D/summary.json`
    pub fn summary(&self) -> Utf8PathBuf {
        self.dir.join("summary.json")
    }
    /// `D/report.html`
    pub fn report(&self) -> Utf8PathBuf {
        self.dir.join("report.html")
    }
    /// `D.run.json`
    pub fn envelope(&self) -> Utf8PathBuf {
        self.beside(".run.json")
    }
    /// `D.run.json.tmp`: the envelope of a run that has not ended.
    pub fn envelope_tmp(&self) -> Utf8PathBuf {
        self.beside(".run.json.tmp")
    }
    /// `D.telemetry.jsonl`
    pub fn telemetry(&self) -> Utf8PathBuf {
        self.beside(".telemetry.jsonl")
    }
    /// `D.journal.jsonl`: finished trials that are not yet next in order; gone after a normal end.
    pub fn journal(&self) -> Utf8PathBuf {
        self.beside(".journal.jsonl")
    }
    /// `D.lock`: held by the process that writes.
    pub fn lock(&self) -> Utf8PathBuf {
        self.beside(".lock")
    }
    /// `.D.proofhouse-next`: a run that will take this one's place when it is whole.
    pub fn next(&self) -> RunPaths {
        self.own("next")
    }
    /// `.D.proofhouse-prev`: the run that was replaced, for the moment of the exchange.
    pub fn prev(&self) -> RunPaths {
        self.own("prev")
    }

    /// A hidden neighbour under a name that nobody else uses: `--run-dir` refuses it.
    fn own(&self, what: &str) -> RunPaths {
        let name = self.dir.file_name().unwrap_or_default();
        RunPaths::new(self.parent().join(format!(".{name}{OWN_MARK}{what}")))
    }

    /// Whether the directory's name is one of those that only we may use.
    pub fn is_own(&self) -> bool {
        self.dir.file_name().is_some_and(|name| name.starts_with('.') && name.contains(OWN_MARK))
    }

    /// Everything that belongs to the run beside the directory itself, apart from the lock.
    pub fn sidecars(&self) -> [Utf8PathBuf; 4] {
        [self.envelope(), self.envelope_tmp(), self.telemetry(), self.journal()]
    }

    /// The directory that holds `D` and its sidecars.
    pub fn parent(&self) -> &Utf8Path {
        match self.dir.parent() {
            Some(parent) if !parent.as_str().is_empty() => parent,
            _ => Utf8Path::new("."),
        }
    }
}

/// An I/O error with the file it happened to and what was being done.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{path}`")]
pub struct FileError {
    /// A verb: `read`, `write`, `sync`.
    pub action: &'static str,
    /// The file.
    pub path: Utf8PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

impl FileError {
    /// For `map_err`.
    pub fn new(action: &'static str, path: &Utf8Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_owned();
        move |source| FileError { action, path, source }
    }
}

/// Reads a whole file.
pub fn read(path: &Utf8Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(FileError::new("read", path))
}

/// Replaces a file in one step: write beside it, sync, rename, sync the directory. No reader sees a part of it.
pub fn write_atomic(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    let draft = Utf8PathBuf::from(format!("{path}.draft"));
    write_synced(&draft, bytes).inspect_err(|_| {
        // A draft that could not be written whole is of no use to anybody.
        let _ = fs::remove_file(&draft);
    })?;
    rename(&draft, path)
}

/// Writes a file and waits for the disk.
pub fn write_synced(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = File::create(path).map_err(FileError::new("create", path))?;
    file.write_all(bytes).map_err(FileError::new("write", path))?;
    file.sync_all().map_err(FileError::new("sync", path))
}

/// Renames and makes the new name durable.
pub fn rename(from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(FileError::new("rename", from))?;
    sync_dir_of(to)
}

/// Makes the names in a file's directory durable.
pub fn sync_dir_of(path: &Utf8Path) -> Result<(), FileError> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    };
    sync_dir(parent)
}

/// Makes the names in a directory durable.
pub fn sync_dir(dir: &Utf8Path) -> Result<(), FileError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(FileError::new("sync", dir))
}

/// Removes a file; that it is not there is fine.
pub fn remove_if_there(path: &Utf8Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::new("remove", path)(error)),
        _ => Ok(()),
    }
}

/// The names in a directory, sorted, so that the file system's order never reaches a result.
pub fn sorted_dir(dir: &Utf8Path) -> Result<Vec<String>, FileError> {
    #[expect(clippy::disallowed_methods, reason = "the one home of directory listings")]
    let entries = fs::read_dir(dir).map_err(FileError::new("list", dir))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(FileError::new("list", dir))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// Writes over a file where it lies: for a disk that has no room for a second copy. Not atomic.
pub fn write_synced_in_place(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .truncate(false)
        .open(path)
        .map_err(FileError::new("open", path))?;
    file.write_all(bytes).map_err(FileError::new("write", path))?;
    file.set_len(bytes.len() as u64).map_err(FileError::new("cut", path))?;
    file.sync_all().map_err(FileError::new("sync", path))
}

/// Appends to a file without waiting for the disk.
pub fn append(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file =
        fs::OpenOptions::new().append(true).create(true).open(path).map_err(FileError::new("open", path))?;
    file.write_all(bytes).map_err(FileError::new("append", path))
}
