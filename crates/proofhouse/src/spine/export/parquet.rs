//! `records.parquet`: the rows of `records.csv` with their types, for pandas, polars, DuckDB and Spark. For runs of every kind.
//!
//! Written here and not by a library, which would make the program half as large again: one page for each column of a group of rows,
//! values as they are, packed by gzip. Memory holds one group.

use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use flate2::Compression;
use flate2::write::GzEncoder;
use proofhouse_ledger::Json;
use proofhouse_ledger::record::Kind;

use self::thrift::{Struct, varint};
use super::rows::{COLUMNS, Holds, row};
use super::{ExportError, Format, Sink, Source};

mod thrift;

pub(super) const FORMAT: Format = Format {
    name: "parquet",
    about: "`records.parquet`: the rows of `csv` with their types; for pandas, polars, DuckDB and Spark",
    kinds: &Kind::ALL,
    folder: Some("export"),
    beside: false,
    write,
};

const MAGIC: &[u8] = b"PAR1";
/// Rows of a group, and bytes of one column of it: whichever is reached first.
const MAX_ROWS: u64 = 50_000;
const MAX_BYTES: usize = 64 << 20;

/// Numbers of the format's enumerations.
const OPTIONAL: i32 = 1;
const UTF8: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const GZIP: i32 = 2;
const DATA_PAGE: i32 = 0;

impl Holds {
    /// The physical type.
    fn number(self) -> i32 {
        match self {
            Holds::Truth => 0,
            Holds::Whole => 2,
            Holds::Number => 5,
            Holds::Text => 6,
        }
    }
}

/// One column of a group of rows.
#[derive(Default)]
struct Chunk {
    /// Runs of rows that have a value or have none.
    runs: Vec<(bool, u64)>,
    values: Vec<u8>,
    /// Truths are packed eight to a byte at the end.
    truths: Vec<bool>,
}

impl Chunk {
    fn add(&mut self, holds: Holds, value: &Json) {
        let there = match (holds, value) {
            (Holds::Truth, Json::Bool(truth)) => {
                self.truths.push(*truth);
                true
            }
            (Holds::Whole, Json::Number(number)) => {
                self.values.extend_from_slice(&(*number as i64).to_le_bytes());
                true
            }
            (Holds::Number, Json::Number(number)) => {
                self.values.extend_from_slice(&number.to_le_bytes());
                true
            }
            (Holds::Text, Json::String(text)) => {
                self.values.extend_from_slice(&(text.len() as u32).to_le_bytes());
                self.values.extend_from_slice(text.as_bytes());
                true
            }
            _ => false,
        };
        match self.runs.last_mut() {
            Some((before, count)) if *before == there => *count += 1,
            _ => self.runs.push((there, 1)),
        }
    }

    /// The page: which rows have a value, and the values.
    fn page(&self) -> Vec<u8> {
        let mut levels = Vec::new();
        for (there, count) in &self.runs {
            varint(&mut levels, count << 1);
            levels.push(u8::from(*there));
        }
        let mut page = (levels.len() as u32).to_le_bytes().to_vec();
        page.append(&mut levels);
        page.extend_from_slice(&self.values);
        let packed = |eight: &[bool]| {
            eight.iter().enumerate().fold(0u8, |byte, (at, truth)| byte | u8::from(*truth) << at)
        };
        page.extend(self.truths.chunks(8).map(packed));
        page
    }
}

/// The file as far as it is written.
struct Writer {
    sink: Sink,
    offset: u64,
    groups: Vec<Struct>,
    rows: u64,
    all_rows: u64,
    chunks: Vec<Chunk>,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.offset += bytes.len() as u64;
        Ok(self.sink.put(bytes)?)
    }

    /// Writes the group that is complete.
    fn group(&mut self) -> Result<(), ExportError> {
        let chunks = std::mem::take(&mut self.chunks);
        let (mut columns, mut size) = (Vec::new(), 0);
        for ((name, holds), chunk) in COLUMNS.into_iter().zip(chunks) {
            let page = chunk.page();
            let failed = proofhouse_ledger::files::FileError::new("write", &self.sink.path);
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            let packed = packed.write_all(&page).and_then(|()| packed.finish()).map_err(failed)?;
            let values = Struct::default().i32(1, self.rows as i32).i32(2, PLAIN).i32(3, RLE).i32(4, RLE);
            let header = Struct::default()
                .i32(1, DATA_PAGE)
                .i32(2, page.len() as i32)
                .i32(3, packed.len() as i32)
                .nested(5, values)
                .end();
            let start = self.offset;
            let whole = (header.len() + page.len()) as u64;
            self.put(&header)?;
            self.put(&packed)?;
            size += whole;
            let about = Struct::default()
                .i32(1, holds.number())
                .i32s(2, &[PLAIN, RLE])
                .texts(3, &[name])
                .i32(4, GZIP)
                .i64(5, self.rows)
                .i64(6, whole)
                .i64(7, self.offset - start)
                .i64(9, start);
            columns.push(Struct::default().i64(2, start).nested(3, about));
        }
        self.groups.push(Struct::default().structs(1, columns).i64(2, size).i64(3, self.rows));
        self.all_rows += self.rows;
        self.rows = 0;
        self.chunks = empty();
        Ok(())
    }

    fn finish(mut self) -> Result<Utf8PathBuf, ExportError> {
        if self.rows > 0 {
            self.group()?;
        }
        let root = Struct::default().text(4, "schema").i32(5, COLUMNS.len() as i32);
        let column = |(name, holds): (&str, Holds)| {
            let about = Struct::default().i32(1, holds.number()).i32(3, OPTIONAL).text(4, name);
            if holds == Holds::Text { about.i32(6, UTF8) } else { about }
        };
        let schema = std::iter::once(root).chain(COLUMNS.into_iter().map(column)).collect();
        let groups = std::mem::take(&mut self.groups);
        let footer = Struct::default()
            .i32(1, 1)
            .structs(2, schema)
            .i64(3, self.all_rows)
            .structs(4, groups)
            .text(6, concat!("proofhouse version ", env!("CARGO_PKG_VERSION")))
            .end();
        self.put(&footer)?;
        self.put(&(footer.len() as u32).to_le_bytes())?;
        self.put(MAGIC)?;
        self.sink.finish()
    }
}

fn empty() -> Vec<Chunk> {
    COLUMNS.iter().map(|_| Chunk::default()).collect()
}

fn write(source: &Source<'_>, out: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ExportError> {
    let sink = Sink::create(out.join("records.parquet"))?;
    let mut writer = Writer { sink, offset: 0, groups: Vec::new(), rows: 0, all_rows: 0, chunks: empty() };
    writer.put(MAGIC)?;
    source.each(|line| {
        let values = row(source, line)?;
        for ((chunk, (_, holds)), value) in writer.chunks.iter_mut().zip(COLUMNS).zip(&values) {
            chunk.add(holds, value);
        }
        writer.rows += 1;
        let full =
            writer.rows >= MAX_ROWS || writer.chunks.iter().any(|chunk| chunk.values.len() > MAX_BYTES);
        if full { writer.group() } else { Ok(()) }
    })?;
    Ok(vec![writer.finish()?])
}
