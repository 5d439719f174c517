//! One JSON array of objects, taken apart element by element, so that only one of them is in memory. It may be the only list of an
//! object, as files of benchmarks have it: `{"version": …, "examples": [{…}, …]}`.

use std::io::{self, BufRead};
use std::ops::Range;

use proofhouse_ledger::Json;

use super::bytes::{Bytes, too_large};
use super::text::{Parsed, dotted, error_range, locate, parse_problem, parse_row};
use super::{BadRow, Dataset, MAX_ROW_BYTES, NextRow, not_an_object};
use crate::spine::suite::problem::{Code, Place, Problem};
use crate::spine::suite::tree::Step;

pub(super) struct JsonArray {
    bytes: Bytes,
    element: Vec<u8>,
    /// Where `element` begins.
    start: Cursor,
    cursor: Cursor,
    state: State,
    /// Whether the array is a member of an object.
    inside: bool,
}

#[derive(Clone, Copy)]
struct Cursor {
    line: u64,
    /// Byte within the line, from 0.
    byte: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Before `[`.
    Outside,
    /// After `[`: an element or `]`.
    First,
    /// After an element: `,` or `]`.
    Between,
    /// After `]`, or after a mistake.
    Done,
}

impl JsonArray {
    pub(super) fn new(bytes: Bytes) -> Self {
        let start = Cursor { line: 1, byte: 0 };
        JsonArray { bytes, element: Vec::new(), start, cursor: start, state: State::Outside, inside: false }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    pub(super) fn next(&mut self, dataset: &Dataset, warnings: &mut Vec<String>) -> NextRow {
        match self.find_element(dataset) {
            Ok(true) => self.row(dataset, warnings),
            Ok(false) => Ok(None),
            Err(problem) => {
                self.state = State::Done;
                Err(BadRow::last(problem))
            }
        }
    }

    fn row(&mut self, dataset: &Dataset, warnings: &mut Vec<String>) -> NextRow {
        let value = match parse_row(&self.element, dataset.lenient) {
            Parsed::Value(value) => value,
            Parsed::Softened(value, error) => {
                let place = self.range(dataset, error_range(&self.element, &error));
                warnings.push(format!("{place}: {}; kept as text in `{}`", error.what, dotted(&error.path)));
                value
            }
            Parsed::Wrong(error) => {
                let place = self.range(dataset, error_range(&self.element, &error));
                return Err(BadRow::skip(parse_problem(&error, place)));
            }
        };
        match value {
            Json::Object(row) => Ok(Some(row)),
            other => Err(not_an_object(&other, self.place(dataset, &[]))),
        }
    }

    pub(super) fn place(&self, dataset: &Dataset, steps: &[Step<'_>]) -> Place {
        self.range(dataset, locate(&self.element, steps))
    }

    fn range(&self, dataset: &Dataset, range: Range<usize>) -> Place {
        let before = &self.element[..range.start.min(self.element.len())];
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        let byte = match memchr::memrchr(b'\n', before) {
            Some(newline) => before.len() - newline - 1,
            None => self.start.byte + before.len(),
        };
        dataset.place(self.start.line + lines, byte, range.len())
    }

    fn wrong(&self, dataset: &Dataset, what: &str) -> Problem {
        Problem::new(Code::Syntax, dataset.place(self.cursor.line, self.cursor.byte, 1), what)
            .hint("a `json` dataset is one array of objects: `[{\"id\": …}, …]`; one object per line is `format: jsonl`")
    }

    /// Reads the next element's text; `false` at the end of the array.
    fn find_element(&mut self, dataset: &Dataset) -> Result<bool, Problem> {
        loop {
            let io = |error: io::Error| dataset.io_problem(&error);
            let next = self.skip_white().map_err(io)?;
            match (self.state, next) {
                (State::Outside, Some(b'[')) => {
                    self.advance(1);
                    self.state = State::First;
                }
                (State::Outside, Some(b'{')) => {
                    self.advance(1);
                    self.find_list(dataset)?;
                }
                (State::First | State::Between, Some(b']')) => {
                    self.advance(1);
                    self.state = State::Done;
                    if self.inside {
                        self.leave_object(dataset)?;
                    }
                }
                (State::Between, Some(b',')) => {
                    self.advance(1);
                    if matches!(self.skip_white().map_err(io)?, Some(b']')) {
                        return Err(self.wrong(dataset, "a comma with nothing after it"));
                    }
                    return self.read_element(b']').map(|()| true).map_err(io);
                }
                (State::First, Some(_)) => return self.read_element(b']').map(|()| true).map_err(io),
                (State::Done, None) => return Ok(false),
                (State::Outside, _) => return Err(self.wrong(dataset, "expected `[`")),
                (State::Done, Some(_)) => return Err(self.wrong(dataset, "unexpected text after the array")),
                (_, None) => return Err(self.wrong(dataset, "the array has no end")),
                (_, Some(_)) => return Err(self.wrong(dataset, "expected `,` or `]`")),
            }
        }
    }

    /// Goes on to the list among the members of an object.
    fn find_list(&mut self, dataset: &Dataset) -> Result<(), Problem> {
        loop {
            if self.member(dataset)? {
                self.advance(1);
                (self.state, self.inside) = (State::First, true);
                return Ok(());
            }
            match self.skip_white().map_err(|error| dataset.io_problem(&error))? {
                Some(b',') => self.advance(1),
                _ => return Err(self.wrong(dataset, "the object has no list of rows")),
            }
        }
    }

    /// Goes on to the end of the object behind its list.
    fn leave_object(&mut self, dataset: &Dataset) -> Result<(), Problem> {
        loop {
            match self.skip_white().map_err(|error| dataset.io_problem(&error))? {
                Some(b',') => self.advance(1),
                Some(b'}') => {
                    self.advance(1);
                    self.state = State::Done;
                    return Ok(());
                }
                _ => return Err(self.wrong(dataset, "expected `,` or `}`")),
            }
            if self.member(dataset)? {
                return Err(self.wrong(
                    dataset,
                    "the object has two lists, and it is not clear which of them holds the rows",
                ));
            }
        }
    }

    /// Reads a member of an object up to a list, which is left where it is; whether there is one.
    fn member(&mut self, dataset: &Dataset) -> Result<bool, Problem> {
        let io = |error: io::Error| dataset.io_problem(&error);
        if self.skip_white().map_err(io)? != Some(b'"') {
            return Err(self.wrong(dataset, "expected a key, or `[`"));
        }
        self.read_element(b':').map_err(io)?;
        if self.skip_white().map_err(io)? != Some(b':') {
            return Err(self.wrong(dataset, "expected `:`"));
        }
        self.advance(1);
        if self.skip_white().map_err(io)? == Some(b'[') {
            return Ok(true);
        }
        self.read_element(b'}').map_err(io)?;
        Ok(false)
    }

    fn advance(&mut self, count: usize) {
        self.bytes.consume(count);
        self.cursor.byte += count;
    }

    fn skip_white(&mut self) -> io::Result<Option<u8>> {
        loop {
            let buffer = self.bytes.fill_buf()?;
            let Some(&byte) = buffer.first() else { return Ok(None) };
            // A byte order mark can only be the first thing in the file.
            if self.cursor.line == 1 && self.cursor.byte == 0 && buffer.starts_with(b"\xef\xbb\xbf") {
                self.bytes.consume(3);
                continue;
            }
            match byte {
                b'\n' => {
                    self.bytes.consume(1);
                    self.cursor = Cursor { line: self.cursor.line + 1, byte: 0 };
                }
                b' ' | b'\t' | b'\r' => self.advance(1),
                _ => return Ok(Some(byte)),
            }
        }
    }

    /// Takes bytes until a `,` or `close` outside of strings and brackets.
    fn read_element(&mut self, close: u8) -> io::Result<()> {
        self.element.clear();
        self.start = self.cursor;
        self.state = State::Between;
        let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
        loop {
            let buffer = self.bytes.fill_buf()?;
            let mut end = None;
            for (at, &byte) in buffer.iter().enumerate() {
                if in_string {
                    match byte {
                        _ if escaped => escaped = false,
                        b'\\' => escaped = true,
                        b'"' => in_string = false,
                        _ => {}
                    }
                    continue;
                }
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    _ if depth == 0 && (byte == b',' || byte == close) => {
                        end = Some(at);
                        break;
                    }
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            let taken = end.unwrap_or(buffer.len());
            if self.element.len() + taken > MAX_ROW_BYTES {
                return Err(too_large(format!("a row is longer than {} MiB", MAX_ROW_BYTES >> 20)));
            }
            let finished = end.is_some() || taken == 0;
            self.element.extend_from_slice(&buffer[..taken]);
            self.bytes.consume(taken);
            if finished {
                break;
            }
        }
        let lines = memchr::memchr_iter(b'\n', &self.element).count() as u64;
        let byte = match memchr::memrchr(b'\n', &self.element) {
            Some(newline) => self.element.len() - newline - 1,
            None => self.cursor.byte + self.element.len(),
        };
        self.cursor = Cursor { line: self.cursor.line + lines, byte };
        Ok(())
    }
}
