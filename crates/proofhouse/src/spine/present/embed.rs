//! The records inside the page: JSON in data blocks, which a browser never executes.
//!
//! Records come in groups. A group is two blocks: `rows`, what filtering and sorting need, read when the page opens,
//! and `texts`, everything else, read when somebody looks. So 100,000 records open as fast as their rows parse.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use camino::Utf8Path;
use proofhouse_ledger::Json;
use proofhouse_ledger::canonical::{push_integer, push_json, push_number, push_text};
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::json::Object;
use proofhouse_ledger::record::{CALIBRATION, CANARY, Damage, HEAD, Line, Spans, Status, TAGS};

use super::sections::Facts;
use super::survey::{LinePlace, Survey, status_place};
use super::timing::Timing;
use super::{ReportError, parts};

/// Bytes of a text that a page keeps: the first bound under which the data stays below [`MAX_DATA_BYTES`], or the last.
pub const CLIP_BYTES: [usize; 6] = [65_536, 16_384, 4096, 1024, 256, 64];
/// The size that the texts of a page aim to stay below.
pub const MAX_DATA_BYTES: u64 = 48 << 20;

/// Records in a group.
const GROUP: usize = 250;
/// Bytes of a name (case, variant, tag) in a row.
const NAME_BYTES: usize = 200;
/// Tags in a row.
const MAX_TAGS: usize = 32;

/// Fields that a row holds already, or that are the same for every record of a run.
const NOT_TEXTS: [&[u8]; 14] = [
    b"case_id",
    b"error_type",
    b"index",
    b"kind",
    b"passed",
    b"record_id",
    b"repetition",
    b"run_id",
    b"schema_version",
    b"slot",
    b"status",
    b"suite_id",
    b"tags",
    b"variant_id",
];

/// The fields of a record that the page keeps as texts. Both lists of names are in order, so one pass over both tells.
fn texts<'a>(line: &Line<'a>) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    let mut others: &[&[u8]] = &NOT_TEXTS;
    line.fields().filter(move |(key, _)| {
        while let [other, rest @ ..] = others {
            match other.cmp(key) {
                Ordering::Less => others = rest,
                Ordering::Equal => return false,
                Ordering::Greater => break,
            }
        }
        true
    })
}

/// Adds about how many bytes a record brings when its texts are clipped at each of [`CLIP_BYTES`].
pub(crate) fn add_data_bytes(sums: &mut [u64; CLIP_BYTES.len()], line: &Line<'_>) {
    let narrowest = CLIP_BYTES[CLIP_BYTES.len() - 1];
    let mut short = 0;
    for (key, raw) in texts(line) {
        short += (key.len() + 4) as u64;
        if raw.len() <= narrowest {
            short += raw.len() as u64;
        } else {
            sums.iter_mut().zip(CLIP_BYTES).for_each(|(sum, bound)| *sum += raw.len().min(bound) as u64);
        }
    }
    // What no bound clips is the same for all of them.
    sums.iter_mut().for_each(|sum| *sum += short);
}

/// Writes the data blocks of every chosen record.
pub(crate) fn write_records(
    out: &mut dyn Write,
    path: &Utf8Path,
    facts: &Facts<'_>,
    survey: &Survey,
) -> Result<(), ReportError> {
    write_block(out, "id=\"meta\"", &meta(facts, survey)).map_err(ReportError::Output)?;
    if let Some(timing) = facts.timing {
        write_block(out, "id=\"latency\"", &latency(timing)).map_err(ReportError::Output)?;
    }
    if survey.chosen.is_empty() {
        return Ok(());
    }
    let mut source = Source::open(path)?;
    let mut spans = Spans::default();
    for group in survey.chosen.chunks(GROUP) {
        let (mut rows, mut texts) = (vec![b'['], vec![b'[']);
        for place in group {
            let bytes = source.line(*place)?;
            Line::split(bytes, &mut spans)
                .and_then(|line| {
                    push_row(&mut rows, &line, facts, survey)?;
                    push_texts(&mut texts, &line, *place, survey.clip_bytes);
                    Ok(())
                })
                .map_err(|source| ReportError::Record { line: place.line, source })?;
            rows.push(b',');
            texts.push(b',');
        }
        for (class, block) in [("class=\"rows\"", &mut rows), ("class=\"texts\"", &mut texts)] {
            block.pop();
            block.push(b']');
            write_block(out, class, block).map_err(ReportError::Output)?;
        }
    }
    Ok(())
}

/// `[[index, milliseconds], …]`, for a page that may have it.
fn latency(timing: &Timing) -> Vec<u8> {
    let mut out = vec![b'['];
    for (at, (index, took)) in timing.trials.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"[" } else { b",[" });
        push_integer(&mut out, *index);
        out.push(b',');
        push_number(&mut out, (f64::from(*took) * 10.0).round() / 10.0);
        out.push(b']');
    }
    out.push(b']');
    out
}

/// What the script needs to know beside the records.
fn meta(facts: &Facts<'_>, survey: &Survey) -> Vec<u8> {
    let slots: Vec<Json> = facts.summary.slots.iter().map(|slot| slot.slot.as_str().into()).collect();
    let statuses: Vec<Json> = Status::ALL.iter().map(|status| status.as_str().into()).collect();
    let data = match facts.timing {
        // A page beside the run directory finds its parts within.
        Some(_) => format!("{}/{}/", facts.dir_name, proofhouse_ledger::files::REPORT_DATA),
        None => format!("{}/", proofhouse_ledger::files::REPORT_DATA),
    };
    let meta = Object::from_iter([
        ("clip_bytes", Json::Number(survey.clip_bytes as f64)),
        ("group", Json::Number(GROUP as f64)),
        ("kind", facts.manifest.kind.as_str().into()),
        ("data", data.as_str().into()),
        // What only tries the means is in no rate.
        ("asides", Json::Array(vec![CANARY.into(), CALIBRATION.into()])),
        ("part_records", Json::Number(parts::RECORDS as f64)),
        ("parts", Json::Number(survey.parts() as f64)),
        ("records", Json::Number(survey.records as f64)),
        ("slots", slots.into()),
        ("spine", facts.manifest.determinism.deterministic_artifacts.into()),
        ("statuses", statuses.into()),
    ]);
    let mut out = Vec::new();
    push_json(&mut out, &meta.into());
    out
}

/// `[index, record_id, case, slot, variant, repetition, status, passed, error_type, score, tags]`
pub(super) fn push_row(
    out: &mut Vec<u8>,
    line: &Line<'_>,
    facts: &Facts<'_>,
    survey: &Survey,
) -> Result<(), Damage> {
    let slot = line.get(HEAD.slot)?;
    let slot = facts.summary.slots.iter().position(|other| other.slot == slot).ok_or(HEAD.slot.damage())?;
    let score = match line.get(HEAD.primary_metric)? {
        Some(deciding) => {
            line.get(HEAD.scores)?.into_iter().find_map(|(name, score)| score.filter(|_| name == deciding))
        }
        None => None,
    };
    out.push(b'[');
    push_integer(out, line.index()?);
    out.extend_from_slice(b",\"");
    out.extend_from_slice(&line.record_id()?.hex());
    out.extend_from_slice(b"\",");
    push_name(out, Some(&line.get(HEAD.case_id)?));
    out.push(b',');
    push_integer(out, slot as u64);
    out.push(b',');
    push_name(out, line.get(HEAD.variant_id)?.as_deref());
    out.push(b',');
    push_integer(out, line.get(HEAD.repetition)?.into());
    out.push(b',');
    push_integer(out, status_place(line.status()?) as u64);
    let excluded = survey.excluded.contains(line.require(HEAD.case_id)?);
    out.extend_from_slice(match line.get(HEAD.passed)?.filter(|_| !excluded) {
        Some(true) => b",1,",
        Some(false) => b",0,",
        None => b",2,",
    });
    push_name(out, line.get(HEAD.error_type)?.as_deref());
    out.push(b',');
    match score {
        Some(score) => push_number(out, score),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",[");
    if line.raw(TAGS).is_some() {
        for (at, tag) in line.get(TAGS)?.iter().take(MAX_TAGS).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            push_name(out, Some(tag));
        }
    }
    out.extend_from_slice(b"]]");
    Ok(())
}

fn push_name(out: &mut Vec<u8>, name: Option<&str>) {
    match name {
        None => out.extend_from_slice(b"null"),
        Some(name) if name.len() <= NAME_BYTES => push_text(out, name),
        Some(name) => push_text(out, &format!("{}…", &name[..boundary(name, NAME_BYTES)])),
    }
}

/// The largest place up to `at` where a text may be cut.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Every field that a row does not hold, null ones left out, and the line's number for whoever wants the whole.
pub(super) fn push_texts(out: &mut Vec<u8>, line: &Line<'_>, place: LinePlace, bound: usize) {
    out.extend_from_slice(b"{\"line\":");
    push_integer(out, place.line);
    for (key, raw) in texts(line).filter(|(_, raw)| *raw != b"null") {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(key);
        out.extend_from_slice(b"\":");
        push_value(out, raw, bound);
    }
    out.push(b'}');
}

/// Text as it is; any other value as `{"j": its canonical text}`; what is longer than `bound` with `"n"`, its bytes.
fn push_value(out: &mut Vec<u8>, raw: &[u8], bound: usize) {
    match raw {
        [b'"', inner @ .., b'"'] if inner.len() <= bound => out.extend_from_slice(raw),
        [b'"', inner @ .., b'"'] => {
            out.extend_from_slice(b"{\"n\":");
            push_integer(out, inner.len() as u64);
            out.extend_from_slice(b",\"t\":\"");
            out.extend_from_slice(&inner[..cut_escaped(inner, bound)]);
            out.extend_from_slice(b"\"}");
        }
        _ => {
            let text = String::from_utf8_lossy(&raw[..raw.len().min(bound + 4)]);
            out.extend_from_slice(b"{\"j\":");
            push_text(out, &text[..boundary(&text, bound.min(text.len()))]);
            if raw.len() > bound {
                out.extend_from_slice(b",\"n\":");
                push_integer(out, raw.len() as u64);
            }
            out.push(b'}');
        }
    }
}

/// The largest cut of a JSON string's inside that splits neither an escape nor a character.
fn cut_escaped(inner: &[u8], bound: usize) -> usize {
    let mut at = 0;
    while at < inner.len() {
        let step = match (inner[at], inner.get(at + 1)) {
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            (..0x80, _) => 1,
            (..0xe0, _) => 2,
            (..0xf0, _) => 3,
            _ => 4,
        };
        if at + step > bound {
            break;
        }
        at += step;
    }
    at
}

/// Writes a data block. Outside of strings JSON has none of these characters, so each is written as its escape, and
/// no text can end the block, open a comment in it or be taken for anything but data.
fn write_block(out: &mut dyn Write, attribute: &'static str, json: &[u8]) -> io::Result<()> {
    write!(out, "<script type=\"application/json\" {attribute}>")?;
    let mut from = 0;
    // Two searches at memory speed: what has to be escaped is rare.
    let marks = memchr::memchr3_iter(b'<', b'>', b'&', json);
    let separators = memchr::memchr_iter(0xe2, json);
    for at in in_order(marks, separators) {
        let (escape, length): (&[u8], usize) = match json[at] {
            b'<' => (b"\\u003c", 1),
            b'>' => (b"\\u003e", 1),
            b'&' => (b"\\u0026", 1),
            0xe2 if json[at..].starts_with("\u{2028}".as_bytes()) => (b"\\u2028", 3),
            0xe2 if json[at..].starts_with("\u{2029}".as_bytes()) => (b"\\u2029", 3),
            _ => continue,
        };
        out.write_all(&json[from..at])?;
        out.write_all(escape)?;
        from = at + length;
    }
    out.write_all(&json[from..])?;
    out.write_all(b"</script>\n")
}

/// The places of both, which have none in common.
fn in_order(a: impl Iterator<Item = usize>, b: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(one), Some(other)) if one < other => a.next(),
        (Some(_), None) => a.next(),
        _ => b.next(),
    })
}

/// Chosen lines of `records.jsonl`, read in the file's order.
pub(super) struct Source<'a> {
    path: &'a Utf8Path,
    file: BufReader<File>,
    at: u64,
    buffer: Vec<u8>,
}

impl<'a> Source<'a> {
    pub(super) fn open(path: &'a Utf8Path) -> Result<Self, ReportError> {
        let file = proofhouse_ledger::disk::open_regular(path).map_err(FileError::new("open", path))?;
        Ok(Self { path, file: BufReader::with_capacity(1 << 18, file), at: 0, buffer: Vec::new() })
    }

    pub(super) fn line(&mut self, place: LinePlace) -> Result<&[u8], ReportError> {
        self.buffer.resize(place.length as usize, 0);
        let read = self
            .file
            .seek_relative((place.offset - self.at) as i64)
            .and_then(|()| self.file.read_exact(&mut self.buffer));
        read.map_err(FileError::new("read", self.path))?;
        self.at = place.offset + u64::from(place.length);
        if std::str::from_utf8(&self.buffer).is_err() {
            let source = Damage::Malformed { offset: 0, what: "not UTF-8" };
            return Err(ReportError::Record { line: place.line, source });
        }
        Ok(&self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(raw: &str, bound: usize) -> String {
        let mut out = Vec::new();
        push_value(&mut out, raw.as_bytes(), bound);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_clipped_text_is_still_json() {
        assert_eq!(value(r#""abcd""#, 4), r#""abcd""#);
        assert_eq!(value(r#""abcde""#, 4), r#"{"n":5,"t":"abcd"}"#);
        assert_eq!(value(r#""abc\u001bd""#, 8), r#"{"n":10,"t":"abc"}"#);
        assert_eq!(value(r#""abc\n""#, 4), r#"{"n":5,"t":"abc"}"#);
        assert_eq!(value("\"😀😀\"", 5), "{\"n\":8,\"t\":\"😀\"}");
        assert_eq!(value(r#"{"a":1}"#, 9), r#"{"j":"{\"a\":1}"}"#);
        assert_eq!(value(r#"["ä"]"#, 3), r#"{"j":"[\"","n":6}"#);
    }

    #[test]
    fn every_bound_counts_what_it_leaves_of_the_texts() {
        assert!(NOT_TEXTS.is_sorted());
        let long = |length: usize| "x".repeat(length - 2);
        let record = format!(
            r#"{{"aaa":"{}","case_id":"{}","error":null,"error_type":"{}","output":"{}","tags":[1],"variants":7,"zzz":"{}"}}"#,
            long(64),
            long(500),
            long(90),
            long(65),
            long(70_000)
        );
        let mut spans = Spans::default();
        let line = Line::split(record.as_bytes(), &mut spans).unwrap();
        let kept: Vec<&[u8]> = texts(&line).map(|(key, _)| key).collect();
        assert_eq!(kept, [b"aaa".as_slice(), b"error", b"output", b"variants", b"zzz"]);
        let mut sums = [1; CLIP_BYTES.len()];
        add_data_bytes(&mut sums, &line);
        let plain = |bound: usize| -> u64 {
            let texts = line.fields().filter(|(key, _)| !NOT_TEXTS.contains(key));
            texts.map(|(key, raw)| (key.len() + 4 + raw.len().min(bound)) as u64).sum()
        };
        assert_eq!(sums, CLIP_BYTES.map(|bound| plain(bound) + 1));
    }

    #[test]
    fn a_block_cannot_be_left() {
        let mut out = Vec::new();
        write_block(&mut out, "id=\"x\"", "[\"</script><!--]]>&\u{2028}\u{2029}é\"]".as_bytes()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let inner = text.strip_prefix("<script type=\"application/json\" id=\"x\">").unwrap();
        let inner = inner.strip_suffix("</script>\n").unwrap();
        assert_eq!(inner, r#"["\u003c/script\u003e\u003c!--]]\u003e\u0026\u2028\u2029é"]"#);
        let back: Vec<String> = serde_json::from_str(inner).unwrap();
        assert_eq!(back, ["</script><!--]]>&\u{2028}\u{2029}é"]);
    }
}
