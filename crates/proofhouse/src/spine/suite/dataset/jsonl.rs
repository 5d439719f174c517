//! One JSON object per line; blank lines are skipped.

use proofhouse_ledger::Json;

use super::bytes::Bytes;
use super::text::{Parsed, dotted, error_range, locate, parse_problem, parse_row};
use super::{BadRow, Dataset, NextRow, not_an_object};
use crate::spine::suite::problem::Place;
use crate::spine::suite::tree::Step;

pub(super) struct Jsonl {
    bytes: Bytes,
    line: Vec<u8>,
    number: u64,
}

impl Jsonl {
    pub(super) fn new(bytes: Bytes) -> Self {
        Jsonl { bytes, line: Vec::new(), number: 0 }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Reads the next line that is not blank; false at the end.
    pub(super) fn advance(&mut self, dataset: &Dataset) -> Result<bool, BadRow> {
        loop {
            self.number += 1;
            match self.bytes.read_line(&mut self.line) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => {
                    let mut problem = dataset.io_problem(&error);
                    if !self.line.is_empty() {
                        *problem.place = Place::in_line(dataset.name.as_str(), self.number, &self.line, 0, 1);
                    }
                    return Err(BadRow::last(problem));
                }
            }
            if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(true);
            }
        }
    }

    pub(super) fn next(&mut self, dataset: &Dataset, warnings: &mut Vec<String>) -> NextRow {
        if !self.advance(dataset)? {
            return Ok(None);
        }
        let value = match parse_row(&self.line, dataset.lenient) {
            Parsed::Value(value) => value,
            Parsed::Softened(value, error) => {
                let place = self.range(dataset, error_range(&self.line, &error));
                warnings.push(format!("{place}: {}; kept as text in `{}`", error.what, dotted(&error.path)));
                value
            }
            Parsed::Wrong(error) => {
                let place = self.range(dataset, error_range(&self.line, &error));
                return Err(BadRow::skip(parse_problem(&error, place)));
            }
        };
        match value {
            Json::Object(row) => Ok(Some(row)),
            other => Err(not_an_object(&other, self.place(dataset, &[]))),
        }
    }

    pub(super) fn place(&self, dataset: &Dataset, steps: &[Step<'_>]) -> Place {
        self.range(dataset, locate(&self.line, steps))
    }

    fn range(&self, dataset: &Dataset, range: std::ops::Range<usize>) -> Place {
        Place::in_line(dataset.name.as_str(), self.number, &self.line, range.start, range.len())
    }
}
