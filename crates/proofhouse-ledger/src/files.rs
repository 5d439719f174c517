//! Where the files of a run are, and the few ways in which they may be touched.

use std::fs;
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk::{Disk, Real};

/// The only names that a run directory has.
pub const NAMES: [&str; 5] =
    ["config.resolved.yaml", "manifest.json", "records.jsonl", "report.html", "summary.json"];
/// The folder beside `report.html` that holds what is too much for it.
pub const REPORT_DATA: &str = "report-data";

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
    /// `D/report-data`: parts of the records of a run that is too large for one page.
    pub fn report_data(&self) -> Utf8PathBuf {
        self.dir.join(REPORT_DATA)
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
    /// `D.timing.html`: the report with how long answers took, which belongs to no run directory.
    pub fn timing(&self) -> Utf8PathBuf {
        self.beside(".timing.html")
    }
    /// `D.journal.jsonl`: finished trials that are not yet next in order; gone after a normal end.
    pub fn journal(&self) -> Utf8PathBuf {
        self.beside(".journal.jsonl")
    }
    /// `D.intoto.jsonl`: what a key holder says of the run, signed.
    pub fn attestation(&self) -> Utf8PathBuf {
        self.beside(".intoto.jsonl")
    }
    /// `D.debug`: copies of what tools under test left behind, named by records.
    pub fn debug(&self) -> Utf8PathBuf {
        self.beside(".debug")
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
    pub fn sidecars(&self) -> [Utf8PathBuf; 5] {
        [self.envelope(), self.envelope_tmp(), self.telemetry(), self.journal(), self.attestation()]
    }

    /// The directory that holds `D` and its sidecars.
    pub fn parent(&self) -> &Utf8Path {
        dir_of(&self.dir)
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

/// No file that is read whole is longer: a summary or a report of the largest runs is some tens of megabytes.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// No manifest, envelope or attestation is longer, however many targets and datasets a suite has.
pub const MAX_FACTS_BYTES: u64 = 16 << 20;

const DISK: &dyn Disk = &Real;

/// Reads a whole file: a regular one, of bounded size.
pub fn read(path: &Utf8Path) -> Result<Vec<u8>, FileError> {
    DISK.read_all(path, MAX_FILE_BYTES)
}

/// Reads a manifest, an envelope or an attestation.
pub fn read_facts(path: &Utf8Path) -> Result<Vec<u8>, FileError> {
    DISK.read_all(path, MAX_FACTS_BYTES)
}

/// Replaces a file in one step: write beside it, sync, rename, sync the directory. No reader sees a part of it.
pub fn write_atomic(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    DISK.write_atomic(path, bytes)
}

/// Replaces a file of a folder that several machines may write to: nobody sees a part of it, and no two of them have one draft:
/// a number of the process would not do, which containers share.
///
/// # Errors
/// Where the folder cannot be written.
pub fn write_shared(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(dir_of(path))?;
    let (draft, mut file) = draft_of(path)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// A file beside another that was not there before. Drafts of processes that were killed stay, and are in nobody's way.
fn draft_of(path: &Utf8Path) -> io::Result<(Utf8PathBuf, fs::File)> {
    const MOST_TRIES: u32 = 10_000;
    for nth in 0..MOST_TRIES {
        let draft = path.with_extension(format!("{nth}.draft"));
        match fs::OpenOptions::new().write(true).create_new(true).open(&draft) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (draft, file)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "every name for a draft is taken"))
}

/// Writes a file and waits for the disk.
pub fn write_synced(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    DISK.write_synced(path, bytes)
}

/// Renames and makes the new name durable.
pub fn rename(from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
    DISK.rename_synced(from, to)
}

/// Makes the names in a file's directory durable.
pub fn sync_dir_of(path: &Utf8Path) -> Result<(), FileError> {
    DISK.sync_names(dir_of(path))
}

/// The directory that a file is in.
pub fn dir_of(path: &Utf8Path) -> &Utf8Path {
    match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    }
}

/// Removes a file; that it is not there is fine.
pub fn remove_if_there(path: &Utf8Path) -> Result<(), FileError> {
    DISK.remove_if_there(path)
}

/// The names in a directory, sorted, so that the file system's order never reaches a result.
pub fn sorted_dir(dir: &Utf8Path) -> Result<Vec<String>, FileError> {
    DISK.sorted(dir)
}

/// The names of the directories in a directory, sorted; links to directories are none, and names that are no text are left out.
pub fn sorted_dirs(dir: &Utf8Path) -> Result<Vec<String>, FileError> {
    #[expect(clippy::disallowed_methods, reason = "sorted just below")]
    let entries = fs::read_dir(dir).map_err(FileError::new("list", dir))?;
    // The listing itself says what is a directory: nothing else is looked at.
    let dirs = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> = dirs.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    Ok(names)
}

/// Appends to a file without waiting for the disk.
pub fn append(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file =
        fs::OpenOptions::new().append(true).create(true).open(path).map_err(FileError::new("open", path))?;
    file.write_all(bytes).map_err(FileError::new("append", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight writers of one file, again and again: whoever reads sees what one of them wrote, and nothing is left over.
    #[test]
    fn writers_of_one_shared_file_never_tear_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("ab/entry.json")).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..200 {
                        write_shared(path, &vec![b'a' + writer; 20_000]).unwrap();
                        let read = fs::read(path).unwrap();
                        assert!(read.len() == 20_000 && read.iter().all(|byte| *byte == read[0]), "torn");
                    }
                });
            }
        });
        assert_eq!(sorted_dir(dir_of(&path)).unwrap(), ["entry.json"]);
    }

    #[test]
    fn every_name_around_a_run_is_its_own() {
        let paths = RunPaths::new("of/run");
        for (path, expected) in [
            (paths.records(), "of/run/records.jsonl"),
            (paths.manifest(), "of/run/manifest.json"),
            (paths.config(), "of/run/config.resolved.yaml"),
            (paths.summary(), "of/run/summary.json"),
            (paths.report(), "of/run/report.html"),
            (paths.report_data(), "of/run/report-data"),
            (paths.receipts(), "of/run.jsonl"),
            (paths.envelope(), "of/run.run.json"),
            (paths.envelope_tmp(), "of/run.run.json.tmp"),
            (paths.telemetry(), "of/run.telemetry.jsonl"),
            (paths.timing(), "of/run.timing.html"),
            (paths.journal(), "of/run.journal.jsonl"),
            (paths.attestation(), "of/run.intoto.jsonl"),
            (paths.debug(), "of/run.debug"),
            (paths.lock(), "of/run.lock"),
            (paths.next().dir, "of/.run.proofhouse-next"),
            (paths.prev().dir, "of/.run.proofhouse-prev"),
            (paths.parent().to_owned(), "of"),
            (RunPaths::new("run").parent().to_owned(), "."),
        ] {
            assert_eq!(path, expected);
        }
        let beside = [
            "run.run.json",
            "run.run.json.tmp",
            "run.telemetry.jsonl",
            "run.journal.jsonl",
            "run.intoto.jsonl",
        ];
        assert_eq!(RunPaths::new("run").sidecars(), beside);
        let is_own = |name: &str| RunPaths::new(name).is_own();
        assert!(paths.next().is_own() && paths.prev().is_own());
        assert!(!is_own("of/run") && !is_own("of/.run") && !is_own("of/a.proofhouse-next"));
    }

    /// A folder for a test, and a path in it.
    fn folder() -> (tempfile::TempDir, impl Fn(&str) -> Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        (dir, move |name: &str| root.join(name))
    }

    #[test]
    fn files_are_written_replaced_renamed_and_removed() {
        let (_dir, at) = folder();
        write_atomic(&at("a"), b"the first").unwrap();
        write_atomic(&at("a"), b"second").unwrap();
        write_synced(&at("b"), b"other").unwrap();
        append(&at("b"), b" and").unwrap();
        append(&at("c"), b"new").unwrap();
        let text = |name: &str| String::from_utf8(read(&at(name)).unwrap()).unwrap();
        assert_eq!([text("a"), text("b"), text("c")], ["second", "other and", "new"]);
        assert_eq!(read_facts(&at("a")).unwrap(), b"second");
        rename(&at("a"), &at("d")).unwrap();
        remove_if_there(&at("c")).unwrap();
        remove_if_there(&at("c")).unwrap();
        fs::create_dir_all(at("z/inner")).unwrap();
        fs::create_dir(at("y")).unwrap();
        assert_eq!(sorted_dir(&at("")).unwrap(), ["b", "d", "y", "z"], "no draft is left");
        assert_eq!(sorted_dirs(&at("")).unwrap(), ["y", "z"]);
        sync_dir_of(&at("d")).unwrap();

        let missing = at("nowhere/x");
        for (failed, verb, path) in [
            (read(&missing).unwrap_err(), "read", "nowhere/x"),
            (read_facts(&missing).unwrap_err(), "read", "nowhere/x"),
            (write_atomic(&missing, b"").unwrap_err(), "create", "nowhere/x.draft"),
            (write_synced(&missing, b"").unwrap_err(), "create", "nowhere/x"),
            (append(&missing, b"").unwrap_err(), "open", "nowhere/x"),
            (rename(&missing, &at("e")).unwrap_err(), "rename", "nowhere/x"),
            (sync_dir_of(&missing).unwrap_err(), "sync", "nowhere"),
            (sorted_dir(&at("nowhere")).unwrap_err(), "list", "nowhere"),
            (sorted_dirs(&at("nowhere")).unwrap_err(), "list", "nowhere"),
            (remove_if_there(&at("z")).unwrap_err(), "remove", "z"),
        ] {
            assert_eq!((failed.action, failed.path), (verb, at(path)));
        }
    }

    #[test]
    fn a_shared_file_that_cannot_be_put_in_its_place_leaves_no_draft() {
        let (_dir, at) = folder();
        let nowhere = draft_of(&at("nowhere/x")).unwrap_err();
        assert_eq!(nowhere.kind(), io::ErrorKind::NotFound, "another name for the draft is no help");
        fs::create_dir_all(at("taken/inner")).unwrap();
        assert!(write_shared(&at("taken"), b"x").is_err(), "a directory is in the way");
        assert_eq!(sorted_dir(&at("")).unwrap(), ["taken"]);
    }
}
