//! One array of tables, each a case.

use std::io::Read as _;
use std::vec::IntoIter;

use proofhouse_ledger::json::{Object, to_json};
use proofhouse_ledger::{Digest, Json};

use super::Dataset;
use super::bytes::Bytes;
use crate::spine::suite::problem::{Code, Place, Problem};

pub(super) struct TomlTables {
    rows: IntoIter<(usize, Object)>,
    /// Where the current row stands, in bytes.
    at: usize,
    digest: Digest,
    text: String,
}

impl TomlTables {
    pub(super) fn new(mut bytes: Bytes, dataset: &Dataset) -> Result<Self, Problem> {
        let mut raw = Vec::new();
        bytes.read_to_end(&mut raw).map_err(|error| dataset.io_problem(&error))?;
        let digest = bytes.finish().map_err(|error| dataset.io_problem(&error))?;
        let whole = || Place::whole(dataset.name.as_str());
        let text = String::from_utf8(raw).map_err(|_| {
            Problem::new(Code::Syntax, whole(), "invalid UTF-8").hint("save the file as UTF-8")
        })?;
        let table: toml::Table = toml::from_str(&text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            Problem::new(Code::Syntax, place(dataset, &text, at), error.message().to_owned())
        })?;
        let lists: Vec<(&String, &Vec<toml::Value>)> =
            table.iter().filter_map(|(key, value)| Some((key, value.as_array()?))).collect();
        let cases = lists.iter().find(|(key, _)| *key == "cases").or(if lists.len() == 1 {
            lists.first()
        } else {
            None
        });
        let (key, list) = cases.ok_or_else(|| {
            Problem::new(Code::WrongType, whole(), "the file has no array of tables for its cases")
                .hint("write each case below `[[cases]]`")
        })?;
        // The n-th `[[key]]` begins the n-th row.
        let marks: Vec<usize> = text.match_indices(&format!("[[{key}]]")).map(|(at, _)| at).collect();
        let mut rows = Vec::new();
        for (nth, value) in list.iter().enumerate() {
            let at = marks.get(nth).copied().unwrap_or(0);
            match to_json(value) {
                Ok(Json::Object(row)) => rows.push((at, row)),
                Ok(_) => {
                    let what = format!("{} of `{key}` is not a table", nth + 1);
                    return Err(Problem::new(Code::WrongType, place(dataset, &text, at), what));
                }
                Err(error) => {
                    return Err(Problem::new(Code::BadValue, place(dataset, &text, at), error.to_string()));
                }
            }
        }
        Ok(TomlTables { rows: rows.into_iter(), at: 0, digest, text })
    }

    pub(super) fn next(&mut self) -> Option<Object> {
        let (at, row) = self.rows.next()?;
        self.at = at;
        Some(row)
    }

    pub(super) fn place(&self, dataset: &Dataset) -> Place {
        place(dataset, &self.text, self.at)
    }

    pub(super) fn digest(&self) -> Digest {
        self.digest
    }
}

/// A place in the text, counted in bytes.
fn place(dataset: &Dataset, text: &str, at: usize) -> Place {
    let before = &text.as_bytes()[..at.min(text.len())];
    let number = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    let from = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    dataset.place(number, before.len() - from, 1)
}
