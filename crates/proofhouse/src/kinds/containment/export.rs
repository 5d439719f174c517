//! Receipts of a containment run under the name that Calyx gives them: the records themselves, byte for byte.

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::record::Kind;

use crate::spine::export::{ExportError, Format, Sink, Source};

pub(super) const FORMAT: Format = Format {
    name: "receipts",
    about: "`<run_id>__<instance>.jsonl` beside the envelope: every field of Calyx's receipts, SHA-256 as `receipt_sha256`",
    kinds: &[Kind::Containment],
    folder: None,
    beside: false,
    write,
};

/// A receipt is a record, so the file is the records' and has their digest.
fn write(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let receipts = source.paths.receipts();
    let mut sink = Sink::create(out.join(receipts.file_name().unwrap_or("receipts.jsonl")))?;
    source.each(|line| {
        sink.put(line.bytes())?;
        Ok(sink.put(b"\n")?)
    })?;
    Ok(vec![sink.finish()?])
}
