//! `<samples>_results.jsonl`, one line per completion in the order of the samples, as readers of HumanEval results know it.

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::record::{CODE, HEAD, Kind, Line, Name};
use proofhouse_ledger::summary::Summary;

use super::account::account;
use crate::spine::export::{ExportError, Format, Sink, Source};
use crate::spine::present::words;

pub(super) const FORMAT: Format = Format {
    name: "humaneval",
    about: "one `<samples>_results.jsonl` per slot with task_id, completion, passed, result and nine more fields, and \
            beside it `<samples>_headline.txt`: pass@k and what it counts; of the tasks as they stand where the suite has `vary`",
    kind: Kind::Code,
    beside: false,
    write,
};

/// The fields of a line, sorted. `passed` is `true` or `false` there, because older readers know nothing else: what
/// could not be scored is `false` and has its `error_type`.
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

fn write(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let mut sinks = Vec::new();
    // The first dataset is the problems, the others are the samples of the first slots.
    for (at, target) in source.manifest.targets.iter().enumerate() {
        let samples = source.manifest.datasets.get(at + 1).map(|dataset| Utf8Path::new(&dataset.path));
        let name = samples.and_then(Utf8Path::file_name).unwrap_or(&target.slot);
        let taken =
            |sinks: &[(String, Sink)], path: &Utf8Path| sinks.iter().any(|(_, sink)| sink.path == path);
        let mut path = out.join(format!("{name}_results.jsonl"));
        if taken(&sinks, &path) {
            path = out.join(format!("{}-{name}_results.jsonl", target.slot));
        }
        sinks.push((target.slot.clone(), Sink::create(path)?));
    }
    let mut text = Vec::new();
    source.each(|line| {
        // Readers count every line of a task as one of its completions: other wordings would not be.
        if line.raw(HEAD.variant_id).is_some_and(|variant| variant != b"null") {
            return Ok(());
        }
        text.clear();
        push(&mut text, line);
        let slot = line.get(HEAD.slot).unwrap_or_default();
        if let Some((_, sink)) = sinks.iter_mut().find(|(name, _)| *name == slot) {
            sink.put(&text)?;
        }
        Ok(())
    })?;
    let mut written = Vec::new();
    for (slot, sink) in sinks {
        let results = sink.finish()?;
        let headline = source.summary()?.and_then(|summary| headline(&summary, &slot));
        let name = results.file_name().unwrap_or_default().replace("_results.jsonl", "_headline.txt");
        let path = out.join(name);
        written.push(results);
        if let Some(text) = headline {
            let mut sink = Sink::create(path)?;
            sink.put(text.as_bytes())?;
            written.push(sink.finish()?);
        }
    }
    Ok(written)
}

/// What a reader who counts lines would not see: tasks without a completion, broken tasks, what could not be assessed.
fn headline(summary: &Summary, slot: &str) -> Option<String> {
    let slot = summary.code.as_ref()?.slots.iter().find(|each| each.slot == slot)?;
    let mut text = format!("{}: {}\n", slot.slot, words::pass_at_k(slot));
    account(slot).iter().for_each(|sentence| text.push_str(&format!("{sentence}\n")));
    Some(text)
}

fn push(out: &mut Vec<u8>, line: &Line<'_>) {
    out.push(b'{');
    for (at, field) in FIELDS.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(b", ");
        }
        out.push(b'"');
        out.extend_from_slice(field.as_bytes());
        out.extend_from_slice(b"\": ");
        let raw = line.raw(*field).unwrap_or(b"null");
        out.extend_from_slice(if *field == HEAD.passed.name() && raw == b"null" { b"false" } else { raw });
    }
    out.extend_from_slice(b"}\n");
}
