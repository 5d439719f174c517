//! The report as a file of the run directory: written in one step, or compared with the one that is there.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};

use camino::Utf8PathBuf;
use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::summary::Summary;

use super::sections::{self, Facts};
use super::{OfKind, ReportError, failures, parts, render_with, survey, timing};
use crate::text::doc::terminal::Look;
use crate::text::doc::{self, Content, Report, Tone};

/// Writes `report.html`, and `report-data` where the run is too large for one page; whoever reads the page sees the old one or the new
/// one, never a part.
pub fn write(run: &RunPaths, kinds: OfKind) -> Result<(), ReportError> {
    let (page, data) = (run.report(), run.report_data());
    let (draft, data_draft) = (drafted(&page), drafted(&data));
    let written = write_draft(run, kinds, &draft, &data_draft).and_then(|parts| {
        remove_folder(&data)?;
        if parts {
            files::rename(&data_draft, &data)?;
        }
        Ok(files::rename(&draft, &page)?)
    });
    if written.is_err() {
        let _ = files::remove_if_there(&draft);
        let _ = remove_folder(&data_draft);
    }
    written
}

fn drafted(path: &Utf8PathBuf) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{path}.draft"))
}

fn remove_folder(dir: &Utf8PathBuf) -> Result<(), FileError> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::new("remove", dir)(error)),
        _ => Ok(()),
    }
}

/// Whether there are parts beside the page.
fn write_draft(
    run: &RunPaths,
    kinds: OfKind,
    draft: &Utf8PathBuf,
    data: &Utf8PathBuf,
) -> Result<bool, ReportError> {
    remove_folder(data)?;
    let file = File::create(draft).map_err(FileError::new("create", draft))?;
    let mut out = BufWriter::with_capacity(1 << 17, file);
    let mut parts = false;
    let mut take = |number: u64, bytes: &[u8]| -> Result<(), ReportError> {
        if !parts {
            std::fs::create_dir(data).map_err(FileError::new("create", data))?;
            parts = true;
        }
        Ok(files::write_synced(&data.join(parts::name(number)), bytes)?)
    };
    render_with(run, kinds, None, &mut out, Some(&mut take))?;
    let file = out.into_inner().map_err(|error| ReportError::Output(error.into_error()))?;
    file.sync_all().map_err(ReportError::Output)?;
    Ok(parts)
}

/// Writes the report with how long answers took beside the run directory, as `D.timing.html`; gives its path, or nothing where
/// that was not measured.
pub fn write_timing(run: &RunPaths, kinds: OfKind) -> Result<Option<Utf8PathBuf>, ReportError> {
    let Some(page) = render_timing(run, kinds)? else { return Ok(None) };
    let path = run.timing();
    files::write_atomic(&path, &page)?;
    Ok(Some(path))
}

/// The report with how long answers took, for somebody who is served it; nothing where that was not measured.
pub fn render_timing(run: &RunPaths, kinds: OfKind) -> Result<Option<Vec<u8>>, ReportError> {
    let Some(timing) = timing::read(run) else { return Ok(None) };
    let mut page = Vec::new();
    render_with(run, kinds, Some(&timing), &mut page, None)?;
    Ok(Some(page))
}

/// Whether `report.html` is the one that the ledger gives, with its parts, without holding either in memory.
pub fn matches(run: &RunPaths, kinds: OfKind) -> Result<bool, ReportError> {
    let path = run.report();
    let file = proofhouse_ledger::disk::open_regular(&path).map_err(FileError::new("open", &path))?;
    let mut compare =
        Compare { stored: BufReader::with_capacity(1 << 17, file), same: true, buffer: Vec::new() };
    let (mut parts, mut same) = (0, true);
    let mut take = |number: u64, bytes: &[u8]| -> Result<(), ReportError> {
        parts += 1;
        let stored = proofhouse_ledger::disk::open_regular(&run.report_data().join(parts::name(number)));
        let mut stored = match stored {
            Ok(file) => {
                Compare { stored: BufReader::with_capacity(1 << 17, file), same: true, buffer: Vec::new() }
            }
            Err(_) => {
                same = false;
                return Ok(());
            }
        };
        let mut rest = [0; 1];
        stored.write_all(bytes).map_err(ReportError::Output)?;
        let ended = stored.stored.read(&mut rest).map_err(ReportError::Output)? == 0;
        same &= stored.same && ended;
        Ok(())
    };
    render_with(run, kinds, None, &mut compare, Some(&mut take))?;
    let mut rest = [0; 1];
    let ended = compare.stored.read(&mut rest).map_err(FileError::new("read", &path))? == 0;
    let there = if run.report_data().exists() { files::sorted_dir(&run.report_data())?.len() } else { 0 };
    Ok(compare.same && ended && same && there == parts)
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
    let facts = Facts {
        dir_name: run.dir.file_name().unwrap_or_default(),
        manifest: &manifest,
        summary: &summary,
        timing,
        survey: None,
        failures,
        own,
    };
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
    let facts = Facts {
        dir_name: run.dir.file_name().unwrap_or_default(),
        manifest: &manifest,
        summary: &summary,
        timing,
        survey,
        failures,
        own,
    };
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
