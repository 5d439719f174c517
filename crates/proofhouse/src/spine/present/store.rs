//! The report as a file of the run directory: written in one step, or compared with the one that is there.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};

use camino::Utf8PathBuf;
use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::summary::Summary;

use super::{OfKind, ReportError, render, render_markdown};

/// Writes `report.html`; whoever reads it sees the old one or the new one, never a part.
pub fn write(run: &RunPaths, kinds: OfKind) -> Result<(), ReportError> {
    let path = run.report();
    let draft = Utf8PathBuf::from(format!("{path}.draft"));
    let written = write_draft(run, kinds, &draft).and_then(|()| Ok(files::rename(&draft, &path)?));
    if written.is_err() {
        let _ = files::remove_if_there(&draft);
    }
    written
}

fn write_draft(run: &RunPaths, kinds: OfKind, draft: &Utf8PathBuf) -> Result<(), ReportError> {
    let file = File::create(draft).map_err(FileError::new("create", draft))?;
    let mut out = BufWriter::with_capacity(1 << 17, file);
    render(run, kinds, &mut out)?;
    let file = out.into_inner().map_err(|error| ReportError::Output(error.into_error()))?;
    file.sync_all().map_err(ReportError::Output)
}

/// Whether `report.html` is the one that the ledger gives, without holding either in memory.
pub fn matches(run: &RunPaths, kinds: OfKind) -> Result<bool, ReportError> {
    let path = run.report();
    let file = File::open(&path).map_err(FileError::new("open", &path))?;
    let mut compare =
        Compare { stored: BufReader::with_capacity(1 << 17, file), same: true, buffer: Vec::new() };
    render(run, kinds, &mut compare)?;
    let mut rest = [0; 1];
    let ended = compare.stored.read(&mut rest).map_err(FileError::new("read", &path))? == 0;
    Ok(compare.same && ended)
}

/// The run's Markdown summary.
pub fn markdown(run: &RunPaths) -> Result<String, ReportError> {
    let manifest = super::read(&run.manifest(), "manifest.json")?;
    let summary: Summary = super::read(&run.summary(), "summary.json")?;
    if summary.containment.is_none() {
        return Ok(render_markdown(&summary, &manifest));
    }
    let survey = super::survey::survey(&run.records(), &summary)?;
    Ok(super::markdown::render(&summary, &manifest, Some(&survey.receipts)))
}

/// A writer that only looks whether what it is given is what is stored.
struct Compare<R> {
    stored: R,
    same: bool,
    buffer: Vec<u8>,
}

impl<R: Read> Write for Compare<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.same {
            self.buffer.resize(bytes.len(), 0);
            self.same = match self.stored.read_exact(&mut self.buffer) {
                Ok(()) => self.buffer == bytes,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
                Err(error) => return Err(error),
            };
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
