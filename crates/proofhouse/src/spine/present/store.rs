//! The report as a file of the run directory: written in one step, or compared with the one that is there.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};

use camino::Utf8PathBuf;
use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::summary::Summary;

use super::sections::{self, Facts};
use super::{OfKind, ReportError, failures, render, render_with, survey, timing};
use crate::text::doc::terminal::Look;
use crate::text::doc::{self, Content, Report, Tone};

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

/// Writes the report with how long answers took beside the run directory, as `D.timing.html`; gives its path, or nothing where
/// that was not measured.
pub fn write_timing(run: &RunPaths, kinds: OfKind) -> Result<Option<Utf8PathBuf>, ReportError> {
    let Some(timing) = timing::read(run) else { return Ok(None) };
    let mut page = Vec::new();
    render_with(run, kinds, Some(&timing), &mut page)?;
    let path = run.timing();
    files::write_atomic(&path, &page)?;
    Ok(Some(path))
}

/// Whether `report.html` is the one that the ledger gives, without holding either in memory.
pub fn matches(run: &RunPaths, kinds: OfKind) -> Result<bool, ReportError> {
    let path = run.report();
    let file = proofhouse_ledger::disk::open_regular(&path).map_err(FileError::new("open", &path))?;
    let mut compare =
        Compare { stored: BufReader::with_capacity(1 << 17, file), same: true, buffer: Vec::new() };
    render(run, kinds, &mut compare)?;
    let mut rest = [0; 1];
    let ended = compare.stored.read(&mut rest).map_err(FileError::new("read", &path))? == 0;
    Ok(compare.same && ended)
}

/// The run in Markdown.
pub fn markdown(run: &RunPaths, kinds: OfKind) -> Result<String, ReportError> {
    document(run, kinds).map(|report| doc::markdown::render(&report))
}

/// The run for a program: the same sentences and tables, and the numbers behind figures.
pub fn json(run: &RunPaths, kinds: OfKind) -> Result<String, ReportError> {
    document(run, kinds).map(|report| doc::json::render(&report))
}

/// What a terminal says of a run: it follows from the summary, and from the records up to the first few failures.
pub fn terminal(run: &RunPaths, kinds: OfKind, look: Look) -> Result<String, ReportError> {
    let manifest: Manifest = super::read(&run.manifest(), "manifest.json")?;
    let summary: Summary = super::read(&run.summary(), "summary.json")?;
    let own = kinds(summary.kind);
    let failures = failures::first(&run.records(), &summary, own, failures::MAX_TOLD)?;
    let (timing, failures) = (timing::read(run), &failures);
    let timing = timing.as_ref();
    let facts = Facts { manifest: &manifest, summary: &summary, timing, survey: None, failures, own };
    Ok(doc::terminal::render(&sections::report(&facts), look))
}

/// What a run found, in one sentence: how the gate fared, or else what its table says of each target.
pub fn gist(run: &RunPaths, kinds: OfKind) -> Result<String, ReportError> {
    let report = document(run, kinds)?;
    let blocks = || report.parts.iter().flat_map(|part| &part.doc.blocks).map(|block| &block.content);
    let headline = blocks().find_map(|content| match content {
        Content::Headline { tone, title, text } if *tone != Tone::Neutral => {
            Some(format!("{title}: {}", text.plain()))
        }
        _ => None,
    });
    let table = || {
        blocks().find_map(|content| match content {
            Content::Table(table) => Some(table.in_words()),
            _ => None,
        })
    };
    Ok(headline.or_else(table).unwrap_or_else(|| report.lede.plain()))
}

fn document(run: &RunPaths, kinds: OfKind) -> Result<Report, ReportError> {
    let manifest: Manifest = super::read(&run.manifest(), "manifest.json")?;
    let summary: Summary = super::read(&run.summary(), "summary.json")?;
    let own = kinds(summary.kind);
    let survey = survey::survey(&run.records(), &summary, own)?;
    super::agree(&manifest, &summary, &survey)?;
    let failures = failures::first(&run.records(), &summary, own, failures::MAX_SHOWN)?;
    let (timing, failures) = (timing::read(run), &failures);
    let (timing, survey) = (timing.as_ref(), Some(&survey));
    let facts = Facts { manifest: &manifest, summary: &summary, timing, survey, failures, own };
    Ok(sections::report(&facts))
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
