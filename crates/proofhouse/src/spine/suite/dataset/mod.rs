//! Files of cases, read row by row in memory that does not grow with the file.
//!
//! Limits, so that no file can exhaust a machine: a row has at most 16 MiB, a `json` or `yaml` file at most 256 MiB, and
//! any file at most 64 GiB once it is unpacked.

use std::sync::Arc;

use camino::Utf8PathBuf;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json};

use super::file::Format;
use super::keys;
use super::kind::Loading;
use super::problem::{Code, MAX_REPORTED, Place, Problem};
use super::tree::Step;
use crate::family::target::Keys;
use crate::text::template::Condition;
use select::{Selecting, Selection};

mod bytes;
mod csv;
mod json;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod select;
mod text;
mod toml;
mod yaml;

/// The longest row, in bytes.
pub(crate) const MAX_ROW_BYTES: usize = 16 << 20;
/// The largest `json` or `yaml` file, in bytes.
pub(crate) const MAX_DOCUMENT_BYTES: u64 = 256 << 20;
/// The largest file of any format once it is unpacked, in bytes.
pub(crate) const MAX_UNPACKED_BYTES: u64 = 64 << 30;

/// A dataset that is there: its path has been checked.
#[derive(Debug)]
pub(crate) struct Dataset {
    /// The file as the user would name it.
    pub(crate) name: String,
    pub(crate) path: Utf8PathBuf,
    pub(crate) format: Format,
    /// Whether integers beyond 2^53 become text.
    pub(crate) lenient: bool,
    /// What no row may hold.
    pub(crate) keys: Arc<Keys>,
    /// Which of its rows are cases.
    pub(crate) selection: Selection,
}

impl Dataset {
    /// A file of the suite that is being read.
    pub(crate) fn of(loading: &Loading<'_>, name: String, path: Utf8PathBuf, format: Format) -> Self {
        let (lenient, keys) = (loading.lenient, Arc::clone(loading.keys));
        Dataset { name, path, format, lenient, keys, selection: Selection::default() }
    }

    /// Columns that choosing its rows asks for.
    pub(crate) fn columns(&self) -> Vec<String> {
        self.selection.condition.as_ref().map(Condition::fields).unwrap_or_default()
    }

    /// The lines of the file at which keys stand, for formats whose rows are read elsewhere.
    pub(crate) fn lines_with_keys(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let opened = (!self.keys.is_empty()).then(|| bytes::Bytes::open(self, MAX_UNPACKED_BYTES).ok());
        let Some(mut bytes) = opened.flatten() else { return problems };
        let mut line = Vec::new();
        for number in 1.. {
            // What cannot be read is reported by whoever uses it.
            if problems.len() > MAX_REPORTED || !bytes.read_line(&mut line).unwrap_or(false) {
                break;
            }
            problems.extend(keys::in_line(&self.name, (&line, number), &self.keys));
        }
        problems
    }

    pub(super) fn io_problem(&self, error: &std::io::Error) -> Problem {
        let place = Place::whole(self.name.as_str());
        match error.kind() {
            std::io::ErrorKind::FileTooLarge => Problem::new(Code::TooLarge, place, error.to_string()),
            _ => Problem::new(Code::Unreadable, place, format!("cannot be read: {error}")),
        }
    }

    /// Line `number` as it is in the file: a second look, for messages only.
    fn line(&self, number: u64) -> Vec<u8> {
        let mut line = Vec::new();
        let Ok(mut bytes) = bytes::Bytes::open(self, MAX_UNPACKED_BYTES) else { return line };
        for at in 1..=number {
            match bytes.read_line(&mut line) {
                Ok(true) => {}
                // Of a line that is too long, its begin is shown.
                Err(_) if at == number => {}
                _ => return Vec::new(),
            }
        }
        line
    }

    /// `width` bytes from byte `at` of line `number`.
    fn place(&self, number: u64, at: usize, width: usize) -> Place {
        Place::in_line(self.name.as_str(), number, &self.line(number), at, width)
    }
}

/// A row that is not a case.
#[derive(Debug)]
pub(crate) struct BadRow {
    pub(crate) problem: Box<Problem>,
    /// Whether nothing sensible can follow.
    pub(crate) last: bool,
}

impl BadRow {
    fn skip(problem: Problem) -> Self {
        BadRow { problem: Box::new(problem), last: false }
    }
    fn last(problem: Problem) -> Self {
        BadRow { problem: Box::new(problem), last: true }
    }
}

/// A row's fields, or nothing at the end.
pub(crate) type NextRow = Result<Option<Object>, BadRow>;

/// An open dataset.
pub(crate) struct Rows {
    dataset: Arc<Dataset>,
    reader: Reader,
    /// What was let pass: integers that were kept as text, what stands between the fields of a csv file.
    pub(crate) warnings: Vec<String>,
    selecting: Selecting,
}

enum Reader {
    Jsonl(jsonl::Jsonl),
    Csv(Box<csv::Csv>),
    Json(json::JsonArray),
    Yaml(Box<yaml::YamlList>),
    Toml(toml::TomlTables),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::ParquetRows>),
}

impl Rows {
    pub(crate) fn open(dataset: &Arc<Dataset>) -> Result<Self, Problem> {
        let limit = match dataset.format {
            Format::Jsonl | Format::Csv | Format::Parquet => MAX_UNPACKED_BYTES,
            Format::Json | Format::Yaml | Format::Toml | Format::Hf => MAX_DOCUMENT_BYTES,
        };
        let bytes = bytes::Bytes::open(dataset, limit).map_err(|error| dataset.io_problem(&error))?;
        let reader = match dataset.format {
            Format::Jsonl => Reader::Jsonl(jsonl::Jsonl::new(bytes)),
            Format::Csv => Reader::Csv(Box::new(csv::Csv::new(bytes, dataset)?)),
            Format::Json => Reader::Json(json::JsonArray::new(bytes)),
            Format::Yaml => Reader::Yaml(Box::new(yaml::YamlList::new(bytes, dataset)?)),
            Format::Toml | Format::Hf => Reader::Toml(toml::TomlTables::new(bytes, dataset)?),
            #[cfg(feature = "parquet")]
            Format::Parquet => Reader::Parquet(Box::new(parquet::ParquetRows::new(bytes, dataset)?)),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {
                let place = Place::whole(dataset.name.as_str());
                return Err(Problem::new(
                    Code::BadValue,
                    place,
                    "this build of proofhouse does not read parquet",
                )
                .hint("`cargo build --release --features parquet` does; or turn the file into jsonl"));
            }
        };
        let warnings = match &reader {
            Reader::Csv(csv) => csv.said(dataset).into_iter().collect(),
            _ => Vec::new(),
        };
        Ok(Rows { dataset: Arc::clone(dataset), reader, warnings, selecting: dataset.selection.start() })
    }

    /// The next row that is a case. After a bad one that is not the last, reading can go on.
    pub(crate) fn next(&mut self) -> NextRow {
        loop {
            let Some(row) = self.any()? else { return Ok(None) };
            match self.selecting.takes(&row) {
                Ok(true) => return Ok(Some(row)),
                Ok(false) => {}
                Err(unfilled) => {
                    let what = format!("`where` cannot be decided for this row: {unfilled}");
                    let problem = Problem::new(Code::Template, self.place(&[]), what);
                    return Err(BadRow::skip(
                        problem.hint("`name is defined and …` asks whether a field is there"),
                    ));
                }
            }
        }
    }

    /// Passes over a row without reading what is in it; false where that cannot be done, or there is none.
    pub(crate) fn pass_over(&mut self) -> bool {
        match &mut self.reader {
            Reader::Jsonl(reader) if self.dataset.selection.is_all() => {
                reader.advance(&self.dataset).unwrap_or(false)
            }
            _ => false,
        }
    }

    fn any(&mut self) -> NextRow {
        let next = match &mut self.reader {
            Reader::Jsonl(reader) => reader.next(&self.dataset, &mut self.warnings),
            Reader::Csv(reader) => reader.next(&self.dataset),
            Reader::Json(reader) => reader.next(&self.dataset, &mut self.warnings),
            Reader::Yaml(reader) => reader.next(&self.dataset, &mut self.warnings),
            Reader::Toml(reader) => Ok(reader.next()),
            #[cfg(feature = "parquet")]
            Reader::Parquet(reader) => reader.next(&self.dataset),
        };
        let keys = &self.dataset.keys;
        let row = next.map_err(|bad| BadRow { problem: Box::new(bad.problem.without(keys)), ..bad })?;
        match row.as_ref().and_then(|row| keys::in_row(row, keys, |steps| self.place(steps))) {
            Some(problem) => Err(BadRow::skip(problem)),
            None => Ok(row),
        }
    }

    /// Where a value of the current row stands; the row itself without a step, or when the value is not there.
    pub(crate) fn place(&self, steps: &[Step<'_>]) -> Place {
        match &self.reader {
            Reader::Jsonl(reader) => reader.place(&self.dataset, steps),
            Reader::Csv(reader) => reader.place(&self.dataset, steps),
            Reader::Json(reader) => reader.place(&self.dataset, steps),
            Reader::Yaml(reader) => reader.place(steps),
            Reader::Toml(reader) => reader.place(&self.dataset),
            #[cfg(feature = "parquet")]
            Reader::Parquet(reader) => reader.place(&self.dataset),
        }
    }

    /// The digest of the file's bytes, all of them, packed if they are.
    pub(crate) fn finish(self) -> Result<Digest, Problem> {
        let digest = match self.reader {
            Reader::Jsonl(reader) => reader.into_bytes().finish(),
            Reader::Csv(reader) => reader.into_bytes().finish(),
            Reader::Json(reader) => reader.into_bytes().finish(),
            Reader::Yaml(reader) => Ok(reader.digest()),
            Reader::Toml(reader) => Ok(reader.digest()),
            #[cfg(feature = "parquet")]
            Reader::Parquet(reader) => reader.into_bytes().finish(),
        };
        digest.map_err(|error| self.dataset.io_problem(&error))
    }
}

/// The problem of a row that is a value of the wrong type.
fn not_an_object(value: &Json, place: Place) -> BadRow {
    let what = format!("a row is an object of fields, found {}", with_article(value.type_name()));
    BadRow::skip(Problem::new(Code::WrongType, place, what).hint("write `{\"id\": …, \"input\": …}`"))
}

fn with_article(type_name: &str) -> String {
    match type_name {
        "null" => "null".to_owned(),
        name if name.starts_with(['a', 'o']) => format!("an {name}"),
        name => format!("a {name}"),
    }
}
