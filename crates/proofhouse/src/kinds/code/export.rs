//! `<samples>_results.jsonl`, one line per completion in the order of the samples, as readers of HumanEval results know it.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::record::{CODE, HEAD, Kind, Line, Name};
use proofhouse_ledger::summary::Summary;

use super::account::account;
use super::words;
use crate::spine::export::{ExportError, Format, Sink, Source};

pub(super) const FORMAT: Format = Format {
    name: "humaneval",
    about: "one `<samples>_results.jsonl` per slot with task_id, completion, passed, result and nine more fields for every \
            completion that was scored, `<samples>_unscored.jsonl` with the others, if there are any, and \
            `<samples>_headline.txt`: pass@k and what it counts; of the tasks as they stand where the suite has `vary`",
    kinds: &[Kind::Code],
    folder: Some("humaneval"),
    beside: false,
    write,
};

/// The fields of a line, sorted. Older readers know `passed` as `true` or `false` only, and count every line of
/// `_results.jsonl`: what is no part of any rate (broken and unknown tasks, what machine or toolchain kept from being
/// assessed) is in a file of its own, where `passed` is null.
const FIELDS: [Name; 13] = [
    CODE.binary_size_bytes.name(),
    CODE.clippy_ok.name(),
    CODE.compile_ok.name(),
    CODE.compile_time_ms.name(),
    CODE.completion.name(),
    CODE.completion_id.name(),
    HEAD.error_type.name(),
    CODE.main_free.name(),
    HEAD.passed.name(),
    CODE.result.name(),
    CODE.stderr.name(),
    CODE.task_id.name(),
    CODE.test_ok.name(),
];

const PASSED: &str = HEAD.passed.as_str();
const RESULT: &str = CODE.result.as_str();

/// The files of one slot.
struct Files {
    slot: String,
    /// How their names begin.
    stem: Utf8PathBuf,
    results: Sink,
    unscored: Option<Sink>,
    /// Tasks that nobody is scored against.
    broken: BTreeSet<String>,
}

impl Files {
    fn put(&mut self, line: &Line<'_>) -> Result<(), ExportError> {
        let task = line.get(HEAD.case_id).unwrap_or_default();
        let scored =
            line.raw(HEAD.passed).is_some_and(|passed| passed != b"null") && !self.broken.contains(&*task);
        let mut text = Vec::new();
        push(&mut text, line, scored);
        let sink = match scored {
            true => &mut self.results,
            false => match &mut self.unscored {
                Some(sink) => sink,
                none => none.insert(Sink::create(named(&self.stem, "_unscored.jsonl"))?),
            },
        };
        Ok(sink.put(&text)?)
    }

    fn finish(self, headline: Option<String>) -> Result<Vec<Utf8PathBuf>, ExportError> {
        let mut written = vec![self.results.finish()?];
        written.extend(self.unscored.map(Sink::finish).transpose()?);
        if let Some(text) = headline {
            let mut sink = Sink::create(named(&self.stem, "_headline.txt"))?;
            sink.put(text.as_bytes())?;
            written.push(sink.finish()?);
        }
        Ok(written)
    }
}

fn named(stem: &Utf8Path, ending: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{stem}{ending}"))
}

fn write(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let summary = source.summary()?;
    let code = summary.as_ref().and_then(|summary| summary.code.as_ref());
    let broken: BTreeSet<String> = code.iter().flat_map(|code| code.excluded()).map(str::to_owned).collect();
    let mut all: Vec<Files> = Vec::new();
    // The first dataset is the problems, the others are the samples of the first slots.
    for (at, target) in source.manifest.targets.iter().enumerate() {
        let samples = source.manifest.datasets.get(at + 1).map(|dataset| Utf8Path::new(&dataset.path));
        let name = samples.and_then(Utf8Path::file_name).unwrap_or(&target.slot);
        let mut stem = out.join(name);
        if all.iter().any(|files| files.stem == stem) {
            stem = out.join(format!("{}-{name}", target.slot));
        }
        let results = Sink::create(named(&stem, "_results.jsonl"))?;
        let (slot, broken) = (target.slot.clone(), broken.clone());
        all.push(Files { slot, stem, results, unscored: None, broken });
    }
    source.each(|line| {
        // Readers count every line of a task as one of its completions: other wordings would not be.
        if line.raw(HEAD.variant_id).is_some_and(|variant| variant != b"null") {
            return Ok(());
        }
        let slot = line.get(HEAD.slot).unwrap_or_default();
        all.iter_mut().find(|files| files.slot == slot).map_or(Ok(()), |files| files.put(line))
    })?;
    let mut written = Vec::new();
    for files in all {
        let headline = summary.as_ref().and_then(|summary| headline(summary, &files.slot));
        written.extend(files.finish(headline)?);
    }
    Ok(written)
}

/// What a reader who counts lines would not see: tasks without a completion, broken tasks, what could not be assessed.
fn headline(summary: &Summary, slot: &str) -> Option<String> {
    let slot = summary.code.as_ref()?.slots.iter().find(|each| each.slot == slot)?;
    let mut text = format!("{}: {}\n", slot.slot, words::pass_at_k(slot));
    account(slot).iter().for_each(|sentence| text.push_str(&format!("{}\n", sentence.plain())));
    Some(text)
}

fn push(out: &mut Vec<u8>, line: &Line<'_>, scored: bool) {
    out.push(b'{');
    for (at, field) in FIELDS.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(b", ");
        }
        out.push(b'"');
        out.extend_from_slice(field.as_bytes());
        out.extend_from_slice(b"\": ");
        let raw = line.raw(*field).unwrap_or(b"null");
        out.extend_from_slice(match field.as_str() {
            PASSED if !scored => b"null",
            // A pass on a task that is broken is none, and what could not be assessed did not fail.
            RESULT if !scored => b"\"not scored\"",
            _ => raw,
        });
    }
    out.extend_from_slice(b"}\n");
}
