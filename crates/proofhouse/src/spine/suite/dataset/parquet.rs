//! Parquet, row by row: one group of rows is in memory at a time.
//!
//! Only with the feature `parquet`, because its library takes longer to build than the rest of the program.

use std::fs::File;

use base64::Engine as _;
use parquet::file::reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{MAX_SAFE_INTEGER, Object};

use super::bytes::Bytes;
use super::{BadRow, Dataset, NextRow};
use crate::spine::suite::problem::{Code, Place, Problem};
use crate::text::complaint::Complaint;

pub(super) struct ParquetRows {
    /// Read at the end alone, for the digest.
    bytes: Bytes,
    rows: RowIter<'static>,
    /// The current row, from 1.
    number: u64,
}

impl ParquetRows {
    pub(super) fn new(bytes: Bytes, dataset: &Dataset) -> Result<Self, Problem> {
        let file = File::open(&dataset.path).map_err(|error| dataset.io_problem(&error))?;
        let wrong = |error: parquet::errors::ParquetError| {
            let place = Place::whole(dataset.name.as_str());
            Problem::new(Code::Syntax, place, format!("the file cannot be read as parquet: {error}"))
                .hint("columns that are uncompressed, or compressed with `snappy` or `gzip`, are read")
        };
        let reader = SerializedFileReader::new(file).map_err(wrong)?;
        Ok(ParquetRows { bytes, rows: RowIter::from_file_into(Box::new(reader)), number: 0 })
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    pub(super) fn next(&mut self, dataset: &Dataset) -> NextRow {
        let Some(row) = self.rows.next() else { return Ok(None) };
        self.number += 1;
        let row = row.map_err(|error| {
            let what = format!("row {} cannot be read: {error}", self.number);
            BadRow::last(Problem::new(Code::Syntax, self.place(dataset), what))
        })?;
        object(&row, dataset.lenient).map(Some).map_err(|complaint| {
            let what = format!("row {}: {}", self.number, complaint.what);
            let problem = Problem::new(Code::NotCanonical, self.place(dataset), what);
            BadRow::skip(problem.hint("`determinism: {strict_serialization: false}` keeps it as text"))
        })
    }

    pub(super) fn place(&self, dataset: &Dataset) -> Place {
        Place::whole(dataset.name.as_str())
    }
}

fn object(row: &Row, lenient: bool) -> Result<Object, Complaint> {
    let mut object = Object::new();
    for (name, field) in row.get_column_iter() {
        let value = value(field, lenient).map_err(|complaint| complaint.about(format!("`{name}`")))?;
        object.set(name, value);
    }
    Ok(object)
}

/// A number, or its text where JSON has no such number and that is allowed.
fn number(number: f64, text: String, exact: bool, lenient: bool) -> Result<Json, Complaint> {
    match exact && number.is_finite() {
        true => Ok(Json::Number(number)),
        false if lenient => Ok(Json::from(text)),
        false => Err(Complaint::new(format!("is {text}, which has no exact JSON form"))),
    }
}

fn value(field: &Field, lenient: bool) -> Result<Json, Complaint> {
    let whole = |value: i128| {
        let exact = value.unsigned_abs() <= u128::from(MAX_SAFE_INTEGER);
        number(value as f64, value.to_string(), exact, lenient)
    };
    match field {
        Field::Null => Ok(Json::Null),
        Field::Bool(value) => Ok(Json::Bool(*value)),
        Field::Byte(value) => whole((*value).into()),
        Field::Short(value) => whole((*value).into()),
        Field::Int(value) => whole((*value).into()),
        Field::Long(value) => whole((*value).into()),
        Field::UByte(value) => whole((*value).into()),
        Field::UShort(value) => whole((*value).into()),
        Field::UInt(value) => whole((*value).into()),
        Field::ULong(value) => whole((*value).into()),
        // As it is written, and not with the digits that a longer form adds: 0.1 is 0.1.
        Field::Float(value) => {
            let text = value.to_string();
            number(text.parse().unwrap_or(f64::NAN), text, true, lenient)
        }
        Field::Double(value) => number(*value, value.to_string(), true, lenient),
        Field::Str(text) => Ok(Json::from(text.as_str())),
        Field::Bytes(bytes) => Ok(Json::from(match std::str::from_utf8(bytes.data()) {
            Ok(text) => text.to_owned(),
            Err(_) => base64::engine::general_purpose::STANDARD.encode(bytes.data()),
        })),
        Field::Group(row) => object(row, lenient).map(Json::Object),
        Field::ListInternal(list) => {
            let items = list.elements().iter().map(|item| value(item, lenient));
            items.collect::<Result<Vec<_>, _>>().map(Json::Array)
        }
        Field::MapInternal(map) => {
            let mut object = Object::new();
            for (key, item) in map.entries() {
                object.set(&value(key, lenient)?.to_text(), value(item, lenient)?);
            }
            Ok(Json::Object(object))
        }
        // Dates, times and decimals have a text of their own.
        other => Ok(Json::from(other.to_string())),
    }
}
