//! A header line, then one case per record. Every value is text.

use std::io::{self, BufRead, Read};

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};
use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;

use super::bytes::{Bytes, too_large};
use super::{BadRow, Dataset, MAX_ROW_BYTES, MAX_UNPACKED_BYTES, NextRow};
use crate::spine::suite::problem::{Code, Place, Problem, quoted};
use crate::spine::suite::tree::Step;

pub(super) struct Csv {
    reader: Reader<Rationed>,
    delimiter: u8,
    header: Vec<String>,
    record: StringRecord,
}

/// What stands between the names of the first line: a comma, unless it has none and `;` or a tab instead.
fn delimiter_of(begin: &[u8]) -> u8 {
    let (mut quoted, mut counts) = (false, [0; 3]);
    for byte in begin {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            b',' if !quoted => counts[0] += 1,
            b';' if !quoted => counts[1] += 1,
            b'\t' if !quoted => counts[2] += 1,
            _ => {}
        }
    }
    match counts {
        [0, semicolons, tabs] if semicolons > tabs => b';',
        [0, _, tabs] if tabs > 0 => b'\t',
        _ => b',',
    }
}

/// Stops a record that never ends, as one after a quote that nothing closes.
struct Rationed {
    bytes: Bytes,
    left: usize,
    quotes: Quotes,
}

/// Follows the quotes of a file, because the reader forgives what would glue rows together.
#[derive(Debug, Clone, Copy)]
struct Quotes {
    delimiter: u8,
    state: At,
    line: u64,
    /// Where the open quoted field began.
    opened: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    FieldStart,
    Bare,
    Quoted,
    /// Behind a quote in a quoted field: it was the end, or the first half of a doubled one.
    Closing,
}

impl Quotes {
    /// Takes bytes; the line of a quote where none may be, if there is one.
    fn see(&mut self, bytes: &[u8]) -> Result<(), u64> {
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (At::FieldStart, b'"') => {
                    self.opened = self.line;
                    At::Quoted
                }
                (At::Quoted, b'"') => At::Closing,
                (At::Quoted, _) => At::Quoted,
                (At::Closing, b'"') => At::Quoted,
                (_, b'\n' | b'\r') => At::FieldStart,
                (_, byte) if byte == self.delimiter => At::FieldStart,
                (At::Closing, _) => return Err(self.line),
                (At::FieldStart | At::Bare, _) => At::Bare,
            };
            self.line += u64::from(byte == b'\n');
        }
        Ok(())
    }
}

impl Read for Rationed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.bytes.fill_buf()?.is_empty() {
            return Err(too_large(format!("a record is longer than {} MiB", MAX_ROW_BYTES >> 20)));
        }
        let count = out.len().min(self.left);
        let read = self.bytes.read(&mut out[..count])?;
        self.left -= read;
        let broken = self.quotes.see(&out[..read]).err();
        let unclosed =
            (read == 0 && count > 0 && self.quotes.state == At::Quoted).then_some(self.quotes.opened);
        match broken.or(unclosed) {
            Some(line) => Err(io::Error::other(BadQuote(line))),
            None => Ok(read),
        }
    }
}

/// A double quote without its other half, or text behind a closing one.
#[derive(Debug, thiserror::Error)]
#[error("line {0}")]
struct BadQuote(u64);

impl Csv {
    pub(super) fn new(mut bytes: Bytes, dataset: &Dataset) -> Result<Self, Problem> {
        let delimiter = bytes.fill_buf().map(delimiter_of).unwrap_or(b',');
        let quotes = Quotes { delimiter, state: At::FieldStart, line: 1, opened: 1 };
        let rationed = Rationed { bytes, left: MAX_ROW_BYTES, quotes };
        let mut reader = ReaderBuilder::new().has_headers(true).delimiter(delimiter).from_reader(rationed);
        let header = match reader.headers() {
            Ok(header) => header.iter().map(str::to_owned).collect::<Vec<_>>(),
            Err(error) => return Err(problem_of(dataset, delimiter, &error)),
        };
        for (at, name) in header.iter().enumerate() {
            let wrong = if name.trim().is_empty() {
                format!("column {} has no name", at + 1)
            } else if header[..at].contains(name) {
                format!("duplicate column {}", quoted(name))
            } else {
                continue;
            };
            let problem = Problem::new(Code::DuplicateKey, field_place(dataset, delimiter, (1, at)), wrong);
            return Err(problem.hint("the first line of a csv file names each column once"));
        }
        Ok(Csv { reader, delimiter, header, record: StringRecord::new() })
    }

    /// What stands between the fields, where that is no comma.
    pub(super) fn said(&self, dataset: &Dataset) -> Option<String> {
        let between = match self.delimiter {
            b';' => "`;`",
            b'\t' => "a tab",
            _ => return None,
        };
        Some(format!(
            "the fields of {} are separated by {between}, as its first line shows",
            quoted(&dataset.name)
        ))
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.reader.into_inner().bytes
    }

    pub(super) fn next(&mut self, dataset: &Dataset) -> NextRow {
        self.reader.get_mut().left = MAX_ROW_BYTES;
        let line = self.reader.position().line();
        match self.reader.read_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                let last = !matches!(error.kind(), ErrorKind::UnequalLengths { .. } | ErrorKind::Utf8 { .. });
                let mut problem = problem_of(dataset, self.delimiter, &error);
                if let ErrorKind::Utf8 { err, .. } = error.kind() {
                    problem.path = self.header.get(err.field()).cloned().unwrap_or_default();
                }
                if problem.code == Code::TooLarge {
                    *problem.place = dataset.place(line, 0, 1);
                    problem.hint = Some("check that every double quote is closed".to_owned());
                }
                return Err(BadRow { problem: Box::new(problem), last });
            }
        }
        let fields =
            self.header.iter().zip(&self.record).map(|(name, text)| (name.as_str(), Json::from(text)));
        Ok(Some(Object::from_iter(fields)))
    }

    pub(super) fn place(&self, dataset: &Dataset, steps: &[Step<'_>]) -> Place {
        let line = self.record.position().map_or(1, |position| line_of(dataset, position));
        let column = steps.first().and_then(|step| match step {
            Step::Key(key) => self.header.iter().position(|name| name == key),
            Step::Index(_) => None,
        });
        field_place(dataset, self.delimiter, (line, column.unwrap_or(0)))
    }
}

/// The line of a record. The reader is at the end of the record before it, which in a file with CRLF is one byte before the next
/// line, so that its own count is one too low there. A second look, for messages only.
fn line_of(dataset: &Dataset, position: &csv::Position) -> u64 {
    let Ok(mut bytes) = Bytes::open(dataset, MAX_UNPACKED_BYTES) else { return position.line() };
    let (mut left, mut line) = (position.byte(), 1);
    loop {
        let Ok(buffer) = bytes.fill_buf() else { return position.line() };
        if buffer.is_empty() {
            return line;
        }
        let taken = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        line += buffer[..taken].iter().filter(|byte| **byte == b'\n').count() as u64;
        if taken < buffer.len() {
            return line + u64::from(buffer[taken] == b'\n');
        }
        left -= taken as u64;
        bytes.consume(taken);
    }
}

/// Where a field begins, as far as one line of text can tell: a quoted line break moves what follows it.
fn field_place(dataset: &Dataset, delimiter: u8, (line, field): (u64, usize)) -> Place {
    let text = dataset.line(line);
    let (mut quoted, mut commas, mut from) = (false, 0, 0);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            byte if byte == delimiter && !quoted => {
                if commas == field {
                    return Place::in_line(dataset.name.as_str(), line, &text, from, at - from);
                }
                commas += 1;
                from = at + 1;
            }
            _ => {}
        }
    }
    let from = if commas == field { from } else { 0 };
    let width = text.len().saturating_sub(from + usize::from(text.ends_with(b"\r")));
    Place::in_line(dataset.name.as_str(), line, &text, from, width)
}

fn problem_of(dataset: &Dataset, delimiter: u8, error: &csv::Error) -> Problem {
    if let ErrorKind::Io(io) = error.kind()
        && let Some(BadQuote(line)) = io.get_ref().and_then(|inner| inner.downcast_ref())
    {
        let place = dataset.place(*line, 0, usize::MAX);
        return Problem::new(Code::Syntax, place, "a double quote without its other half")
            .hint("a field in double quotes ends with one, and a quote inside it is written twice");
    }
    let line = |pos: &Option<csv::Position>| pos.as_ref().map_or(1, |position| line_of(dataset, position));
    match error.kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let what = format!("{len} fields where the header has {expected_len}");
            Problem::new(Code::Syntax, dataset.place(line(pos), 0, usize::MAX), what)
                .hint("put a field that contains a comma in double quotes, and double the quotes inside it")
        }
        ErrorKind::Utf8 { pos, err } => Problem::new(
            Code::Syntax,
            field_place(dataset, delimiter, (line(pos), err.field())),
            "invalid UTF-8",
        )
        .hint("save the file as UTF-8"),
        ErrorKind::Io(error) => dataset.io_problem(error),
        _ => Problem::new(Code::Syntax, Place::whole(dataset.name.as_str()), error.to_string()),
    }
}
