//! Files for other programs, as pure functions of a run directory. A format stands in the folder of the kind that it is for, or,
//! for several kinds, below this one: a file, its `mod` and its row of `SHARED`.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::format::{self, ReadError};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, Kind, Line, Spans};
use proofhouse_ledger::summary::Summary;

use super::present::{FailureDetails, OfKind, ReportError};

mod inspect;
mod junit;
mod markdown;
pub mod otlp;
mod parquet;
mod rows;

/// Formats for runs of several kinds.
pub(crate) const SHARED: &[Format] =
    &[junit::FORMAT, rows::CSV, rows::JSONL, parquet::FORMAT, markdown::FORMAT, inspect::FORMAT];

/// A format that a run can be written in.
pub struct Format {
    /// Its word on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The kinds of run that it is for.
    pub kinds: &'static [Kind],
    /// Whether every run of these kinds is written in it, beside its directory.
    pub beside: bool,
    /// What ends the name of the folder that a run's files go to; without it they lie beside the run directory, under names
    /// that no other run has.
    pub folder: Option<&'static str>,
    /// Writes the files below a directory and gives their paths.
    pub write: fn(&Source<'_>, &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError>,
}

/// A run that is exported.
pub struct Source<'a> {
    /// Where it is.
    pub paths: &'a RunPaths,
    /// What it is.
    pub manifest: &'a Manifest,
    /// How kinds tell of their records.
    pub kinds: OfKind,
}

/// Why a run cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A record that cannot be read.
    #[error("`records.jsonl` line {line} is damaged: {damage}")]
    Damaged {
        /// From 1.
        line: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// The manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ReadError),
    /// Something else is there.
    #[error("`{0}` already exists with other content")]
    Taken(Utf8PathBuf),
    /// A report could not be made of it.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The format is for another kind of run.
    #[error("`{format}` is for runs of kind `{wanted}`; this one is of kind `{found}`")]
    Kind {
        /// The format.
        format: &'static str,
        /// What it is for.
        wanted: String,
        /// What the run is.
        found: &'static str,
    },
}

impl Format {
    /// Where a run's files go if nobody says.
    pub fn place(&self, paths: &RunPaths) -> Utf8PathBuf {
        let beside = paths.dir.parent().filter(|parent| !parent.as_str().is_empty());
        match self.folder {
            Some(ending) => Utf8PathBuf::from(format!("{}.{ending}", paths.dir)),
            None => beside.unwrap_or(Utf8Path::new(".")).to_owned(),
        }
    }
}

/// Writes a run in a format below `out`.
pub fn export(
    paths: &RunPaths,
    format: &Format,
    out: &Utf8Path,
    kinds: OfKind,
) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let manifest = format::read_manifest(paths)?;
    if !format.kinds.contains(&manifest.kind) {
        let found = manifest.kind.as_str();
        let wanted = format.kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join("`, `");
        return Err(ExportError::Kind { format: format.name, wanted, found });
    }
    std::fs::create_dir_all(out).map_err(FileError::new("create", out))?;
    (format.write)(&Source { paths, manifest: &manifest, kinds }, out)
}

/// Writes what runs of a kind have beside them by default, each in its place; gives the name and where that is.
pub fn beside(
    paths: &RunPaths,
    formats: &[Format],
    kinds: OfKind,
) -> Result<Vec<(&'static str, Utf8PathBuf)>, ExportError> {
    let mut written = Vec::new();
    for format in formats.iter().filter(|format| format.beside) {
        let out = format.place(paths);
        export(paths, format, &out, kinds)?;
        written.push((format.name, out));
    }
    Ok(written)
}

impl Source<'_> {
    /// The run's summary, if it can be read.
    pub fn summary(&self) -> Result<Option<Summary>, ExportError> {
        Ok(serde_json::from_slice(&files::read(&self.paths.summary())?).ok())
    }

    /// What was asked, expected and answered in a trial, and why that is wrong, as its kind tells it.
    pub(crate) fn told(&self, line: &Line<'_>) -> Result<FailureDetails, ExportError> {
        let damaged =
            |damage| ExportError::Damaged { line: line.index().map_or(0, |index| index + 1), damage };
        match (self.kinds)(self.manifest.kind).failure {
            Some(tell) => tell(line).map_err(damaged),
            None => Ok(FailureDetails::default()),
        }
    }

    /// Gives every record to `take`, in plan order.
    pub fn each(
        &self,
        mut take: impl FnMut(&Line<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let path = self.paths.records();
        let mut reader = LineReader::open(&path)?;
        let mut spans = Spans::default();
        let mut number = 0;
        loop {
            let block = reader.next_lines().map_err(FileError::new("read", &path))?;
            if block.is_empty() {
                return Ok(());
            }
            for bytes in lines(block) {
                number += 1;
                let damaged = |damage| ExportError::Damaged { line: number, damage };
                take(&Line::split(bytes, &mut spans).map_err(damaged)?)?;
            }
        }
    }
}

/// Writes a small file beside its name first: nobody sees a part of it.
pub(crate) fn replace(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    let partial = Utf8PathBuf::from(format!("{path}.partial"));
    std::fs::write(&partial, bytes).map_err(FileError::new("write", &partial))?;
    std::fs::rename(&partial, path).map_err(FileError::new("write", path))
}

/// A file that is being written, under another name until it is whole: what another run left there is not overwritten.
pub(crate) struct Sink {
    pub(crate) path: Utf8PathBuf,
    partial: Utf8PathBuf,
    file: BufWriter<File>,
}

impl Sink {
    pub(crate) fn create(path: Utf8PathBuf) -> Result<Self, FileError> {
        let partial = Utf8PathBuf::from(format!("{path}.partial"));
        let file = File::create(&partial).map_err(FileError::new("create", &partial))?;
        Ok(Self { path, partial, file: BufWriter::new(file) })
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.file.write_all(bytes).map_err(FileError::new("write", &self.partial))
    }

    pub(crate) fn finish(mut self) -> Result<Utf8PathBuf, ExportError> {
        self.file.flush().map_err(FileError::new("write", &self.partial))?;
        if self.path.exists() && files::read(&self.path)? != files::read(&self.partial)? {
            files::remove_if_there(&self.partial)?;
            return Err(ExportError::Taken(self.path));
        }
        // Whole and on the disk before it gets its name.
        self.file.get_ref().sync_data().map_err(FileError::new("sync", &self.partial))?;
        std::fs::rename(&self.partial, &self.path).map_err(FileError::new("write", &self.path))?;
        Ok(self.path)
    }
}
