//! The records of a run that is too large for one page: parts beside it, `report-data/0001.js` and so on, in the order of the plan. The page
//! loads one when somebody asks for it, from disk and without a network, and forgets the one before.
//!
//! A part is a call with two lists of JSON, so it can hold nothing that runs but that call.

use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Line, Spans};

use super::ReportError;
use super::embed::{push_row, push_texts};
use super::sections::Facts;
use super::survey::{LinePlace, Survey};

/// Records in a part.
pub(crate) const RECORDS: usize = 10_000;
/// Bytes of a text that a part keeps.
const CLIP_BYTES: usize = 2_048;

/// Who is given each part: its number, from 1, and its bytes.
pub(super) type Take<'a> = &'a mut dyn FnMut(u64, &[u8]) -> Result<(), ReportError>;

/// The name of a part's file.
pub(super) fn name(number: u64) -> String {
    format!("{number:04}.js")
}

/// Whether these are the bytes of a part: a call with its number and two lists of JSON, and nothing else that could run.
pub fn is_part(number: u64, bytes: &[u8]) -> bool {
    let inside = bytes.strip_prefix(format!("proofhousePart({number},").as_bytes());
    let Some(inside) = inside.and_then(|rest| rest.strip_suffix(b");\n")) else { return false };
    let lists = [b"[".as_slice(), inside, b"]"].concat();
    serde_json::from_slice::<[Vec<serde::de::IgnoredAny>; 2]>(&lists).is_ok()
}

/// Makes every part of a run, in memory that holds one of them.
pub(super) fn each(
    run: &RunPaths,
    facts: &Facts<'_>,
    survey: &Survey,
    take: Take<'_>,
) -> Result<(), ReportError> {
    let path = run.records();
    let (mut reader, mut spans) = (LineReader::open(&path)?, Spans::default());
    let mut place = LinePlace { offset: 0, length: 0, line: 0 };
    let mut part = Part::default();
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", &path))?;
        if block.is_empty() {
            break;
        }
        for bytes in lines(block) {
            place.line += 1;
            Line::split(bytes, &mut spans)
                .and_then(|line| part.add(&line, place, facts, survey))
                .map_err(|source| ReportError::Record { line: place.line, source })?;
            if part.records == RECORDS {
                part.give(&mut *take)?;
            }
        }
    }
    if part.records > 0 { part.give(take) } else { Ok(()) }
}

#[derive(Default)]
struct Part {
    number: u64,
    records: usize,
    rows: Vec<u8>,
    texts: Vec<u8>,
}

impl Part {
    fn add(
        &mut self,
        line: &Line<'_>,
        place: LinePlace,
        facts: &Facts<'_>,
        survey: &Survey,
    ) -> Result<(), proofhouse_ledger::record::Damage> {
        if self.records > 0 {
            self.rows.push(b',');
            self.texts.push(b',');
        }
        push_row(&mut self.rows, line, facts, survey)?;
        push_texts(&mut self.texts, line, place, CLIP_BYTES);
        self.records += 1;
        Ok(())
    }

    fn give(&mut self, take: Take<'_>) -> Result<(), ReportError> {
        self.number += 1;
        let mut bytes = format!("proofhousePart({},[", self.number).into_bytes();
        bytes.append(&mut self.rows);
        bytes.extend_from_slice(b"],[");
        bytes.append(&mut self.texts);
        bytes.extend_from_slice(b"]);\n");
        self.records = 0;
        take(self.number, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::is_part;

    #[test]
    fn a_part_is_a_call_with_data_and_nothing_else() {
        assert!(is_part(1, b"proofhousePart(1,[[0,\"a\"],[1,null]],[{\"a\":\"</script>\"}]);\n"));
        assert!(is_part(12, b"proofhousePart(12,[],[]);\n"));
        for hostile in [
            "proofhousePart(2,[],[]);\n",
            "proofhousePart(1,[],[]);alert(1);\n",
            "proofhousePart(1,[],[alert(1)]);\n",
            "proofhousePart(1,[],[],alert(1));\n",
            "proofhousePart(1,[]);\n",
            "alert(1);proofhousePart(1,[],[]);\n",
            "proofhousePart(1,[`${alert(1)}`],[]);\n",
            "",
        ] {
            assert!(!is_part(1, hostile.as_bytes()), "{hostile}");
        }
    }
}
