//! `report.md`: the report as Markdown, for step summaries, pull-request comments and wikis. For runs of every kind.

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::record::Kind;

use super::{ExportError, Format, Sink, Source};
use crate::spine::present;

pub(super) const FORMAT: Format = Format {
    name: "markdown",
    about: "`report.md`: the report as Markdown, for step summaries and pull-request comments",
    kinds: &Kind::ALL,
    folder: Some("export"),
    beside: false,
    write,
};

fn write(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let mut sink = Sink::create(out.join("report.md"))?;
    sink.put(present::markdown(source.paths, source.kinds)?.as_bytes())?;
    Ok(vec![sink.finish()?])
}
