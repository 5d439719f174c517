//! `records.csv` and `records.jsonl`: a row for every trial with the same columns for every kind, for spreadsheets and data frames.
//!
//! What a kind calls its question, expectation and answer stands under `input`, `expected` and `output`; everything else that a record
//! holds is in the run directory's own `records.jsonl`.

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::Json;
use proofhouse_ledger::canonical::push_json;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{Damage, HEAD, Kind, Line, TAGS};

use super::{ExportError, Format, Sink, Source};

pub(super) const CSV: Format = Format {
    name: "csv",
    about: "`records.csv`: a row for every trial with input, expected, output and verdict; for spreadsheets",
    kinds: &Kind::ALL,
    folder: Some("export"),
    beside: false,
    write: write_csv,
};

pub(super) const JSONL: Format = Format {
    name: "jsonl",
    about: "`records.jsonl`: the same rows as JSON Lines, the same columns for every kind; for data frames",
    kinds: &Kind::ALL,
    folder: Some("export"),
    beside: false,
    write: write_jsonl,
};

/// What a column holds, where it holds anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Truth,
    Whole,
    Number,
    Text,
}

/// The columns, in their order.
pub(super) const COLUMNS: [(&str, Holds); 19] = [
    ("index", Holds::Whole),
    ("record_id", Holds::Text),
    ("suite_id", Holds::Text),
    ("kind", Holds::Text),
    ("case_id", Holds::Text),
    ("target", Holds::Text),
    ("variant_id", Holds::Text),
    ("repetition", Holds::Whole),
    ("status", Holds::Text),
    ("error_type", Holds::Text),
    ("error", Holds::Text),
    ("passed", Holds::Truth),
    ("score", Holds::Number),
    ("input", Holds::Text),
    ("expected", Holds::Text),
    ("output", Holds::Text),
    ("why", Holds::Text),
    ("tags", Holds::Text),
    ("latency_ms", Holds::Number),
];

/// The values of a trial, in the order of the columns.
pub(super) fn row(source: &Source<'_>, line: &Line<'_>) -> Result<[Json; COLUMNS.len()], ExportError> {
    let told = source.told(line)?;
    let damaged = |damage| ExportError::Damaged { line: line.index().map_or(0, |index| index + 1), damage };
    let text = |text: Option<String>| text.map_or(Json::Null, |text| Json::from(text.as_str()));
    let values = || -> Result<[Json; COLUMNS.len()], Damage> {
        let word =
            |word: Option<std::borrow::Cow<'_, str>>| word.map_or(Json::Null, |word| Json::from(&*word));
        let passed = line.get(HEAD.passed)?;
        let scores = line.get(HEAD.scores)?;
        let deciding = line.get(HEAD.primary_metric)?;
        let score = deciding.and_then(|name| scores.into_iter().find(|(other, _)| *other == name)?.1);
        let tags = if line.raw(TAGS).is_some() { line.get(TAGS)?.join(",") } else { String::new() };
        Ok([
            Json::Number(line.index()? as f64),
            line.record_id()?.to_string().as_str().into(),
            source.manifest.suite_id.as_str().into(),
            source.manifest.kind.as_str().into(),
            Json::from(&*line.get(HEAD.case_id)?),
            Json::from(&*line.get(HEAD.slot)?),
            word(line.get(HEAD.variant_id)?),
            Json::Number(f64::from(line.get(HEAD.repetition)?)),
            line.status()?.as_str().into(),
            word(line.get(HEAD.error_type)?),
            word(line.get(HEAD.error)?),
            passed.map_or(Json::Null, Json::from),
            score.map_or(Json::Null, Json::Number),
            text(told.asked.map(|(_, asked)| asked)),
            text(told.expected),
            text(told.answer),
            text(told.why.filter(|_| passed != Some(true))),
            tags.as_str().into(),
            line.get(HEAD.latency_ms)?.map_or(Json::Null, Json::Number),
        ])
    };
    values().map_err(damaged)
}

fn write_jsonl(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let mut sink = Sink::create(out.join("records.jsonl"))?;
    let mut bytes = Vec::new();
    source.each(|line| {
        bytes.clear();
        let fields = COLUMNS.into_iter().map(|(name, _)| name).zip(row(source, line)?);
        push_json(&mut bytes, &Json::Object(Object::from_iter(fields)));
        bytes.push(b'\n');
        Ok(sink.put(&bytes)?)
    })?;
    Ok(vec![sink.finish()?])
}

fn write_csv(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let mut sink = Sink::create(out.join("records.csv"))?;
    sink.put(format!("{}\r\n", COLUMNS.map(|(name, _)| name).join(",")).as_bytes())?;
    source.each(|line| {
        let cells: Vec<String> = row(source, line)?.iter().map(cell).collect();
        Ok(sink.put(format!("{}\r\n", cells.join(",")).as_bytes())?)
    })?;
    Ok(vec![sink.finish()?])
}

/// A cell as RFC 4180 has it: null is empty, and whatever could end it stands in quotes.
fn cell(value: &Json) -> String {
    let text = match value {
        Json::Null => return String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.contains([',', '"', '\n', '\r']) || text.is_empty() {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_ends_where_it_should() {
        for (value, expected) in [
            (Json::Null, ""),
            (Json::from(""), "\"\""),
            (Json::from("plain"), "plain"),
            (Json::from("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\""),
            (Json::from(true), "true"),
            (Json::Number(0.5), "0.5"),
        ] {
            assert_eq!(cell(&value), expected);
        }
    }
}
