//! Logs of Inspect: a `.json` file, or the `.eval` archive with a file for each sample.

use std::collections::BTreeMap;
use std::io::Read as _;

use proofhouse_ledger::files;
use serde_json::Value;

use super::results::{Answer, Answered, Results};
use super::text_of;
use crate::spine::import::{Import, Imported, Importing};
use crate::text::complaint::Complaint;

pub(super) const IMPORT: Import = Import {
    name: "inspect-log",
    about: "A log of Inspect (`.eval` or `.json`): answers and scores become a run.",
    read,
};

/// What helps where an archive cannot be read.
const UNPACKED: &str = "`inspect log convert --to json` writes a log that is not an archive";

/// The most that a part of an archive may unpack to, in bytes.
const MAX_PART_BYTES: u64 = 256 << 20;

fn read(importing: &Importing<'_>) -> Result<Imported, Complaint> {
    let path = importing.path;
    let bytes = files::read(path)
        .map_err(|error| Complaint::new(format!("cannot read `{path}`: {}", error.source)))?;
    let file = path.file_name().unwrap_or(path.as_str()).to_owned();
    let (head, samples) = if bytes.starts_with(b"PK") { archive(&bytes)? } else { whole(&bytes)? };
    if head.get("eval").is_none() {
        return Err(Complaint::new(format!("`{file}` is not a log of Inspect"))
            .hint("it is a `.eval` or `.json` file below `logs`"));
    }
    let mut results = Results {
        tool: "Inspect",
        task: text_of(&head["eval"]["task"]),
        model: text_of(&head["eval"]["model"]),
        file,
        ..Results::default()
    };
    if head["status"] != "success" {
        results
            .notes
            .push(format!("the log says that its evaluation ended with `{}`", text_of(&head["status"])));
    }
    let scorers = scorers(&head);
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (at, sample) in samples.iter().enumerate() {
        let id = text_of(&sample["id"]);
        let answer = answer(sample, &scorers);
        // Epochs of one sample are repetitions of one case.
        match places.get(&id) {
            Some(place) => results.answered[*place].answers.push(answer),
            None => {
                places.insert(id.clone(), results.answered.len());
                results.answered.push(Answered {
                    id,
                    input: input(&sample["input"]),
                    expected: sample["target"].clone(),
                    tags: Vec::new(),
                    answers: vec![answer],
                    line: at as u64 + 1,
                });
            }
        }
    }
    results.suite()
}

/// The scorers in their order: the first one decides.
fn scorers(head: &Value) -> Vec<String> {
    let named = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().map(|one| text_of(&one["name"])).collect()
    };
    let own = named(&head["eval"]["scorers"]);
    if own.is_empty() { named(&head["results"]["scores"]) } else { own }
}

/// A log in one JSON file.
fn whole(bytes: &[u8]) -> Result<(Value, Vec<Value>), Complaint> {
    let mut log: Value = serde_json::from_slice(bytes)
        .map_err(|error| Complaint::new(format!("the log is not JSON: {error}")))?;
    let samples = match log["samples"].take() {
        Value::Array(list) => list,
        _ => Vec::new(),
    };
    Ok((log, in_order(samples)))
}

/// Samples by id, numbers before words, and by epoch: an archive has them in the order in which they ended.
fn in_order(mut samples: Vec<Value>) -> Vec<Value> {
    samples.sort_by_cached_key(|sample| {
        let number = sample["id"].as_u64();
        (number.is_none(), number, text_of(&sample["id"]), sample["epoch"].as_u64())
    });
    samples
}

/// A log as an archive: `header.json`, and a file for each sample below `samples/`.
fn archive(bytes: &[u8]) -> Result<(Value, Vec<Value>), Complaint> {
    let mut head = Value::Null;
    let mut samples = Vec::new();
    for part in parts(bytes)? {
        let is_sample = part.name.starts_with("samples/") && part.name.ends_with(".json");
        // A log that was cut off has no header yet, and its beginning in its place.
        let is_head = part.name == "header.json" || (part.name == "_journal/start.json" && head.is_null());
        if !is_sample && !is_head {
            continue;
        }
        let text = part.unpacked(bytes)?;
        let value: Value = serde_json::from_slice(&text)
            .map_err(|error| Complaint::new(format!("`{}` is not JSON: {error}", part.name)))?;
        if is_sample { samples.push(value) } else { head = value }
    }
    Ok((head, in_order(samples)))
}

/// A file within an archive.
struct Packed {
    name: String,
    method: u16,
    size: usize,
    offset: usize,
}

fn broken() -> Complaint {
    Complaint::new("the archive is damaged or cut off")
}

fn number(bytes: &[u8], at: usize, length: usize) -> Result<usize, Complaint> {
    let slice = bytes.get(at..at + length).ok_or_else(broken)?;
    Ok(slice.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

/// The files of an archive, by the directory at its end.
fn parts(bytes: &[u8]) -> Result<Vec<Packed>, Complaint> {
    let end = memchr::memmem::rfind(bytes, b"PK\x05\x06").ok_or_else(broken)?;
    let (count, mut at) = (number(bytes, end + 10, 2)?, number(bytes, end + 16, 4)?);
    if count == 0xffff || at == 0xffff_ffff {
        return Err(Complaint::new("the archive is larger than its first form allows").hint(UNPACKED));
    }
    let mut parts = Vec::new();
    for _ in 0..count {
        if bytes.get(at..at + 4) != Some(b"PK\x01\x02") {
            return Err(broken());
        }
        let (name, extra, comment) =
            (number(bytes, at + 28, 2)?, number(bytes, at + 30, 2)?, number(bytes, at + 32, 2)?);
        let text = bytes.get(at + 46..at + 46 + name).ok_or_else(broken)?;
        parts.push(Packed {
            name: String::from_utf8_lossy(text).into_owned(),
            method: u16::try_from(number(bytes, at + 10, 2)?).map_err(|_| broken())?,
            size: number(bytes, at + 20, 4)?,
            offset: number(bytes, at + 42, 4)?,
        });
        at += 46 + name + extra + comment;
    }
    Ok(parts)
}

impl Packed {
    fn unpacked(&self, bytes: &[u8]) -> Result<Vec<u8>, Complaint> {
        let at = self.offset;
        let begin = at + 30 + number(bytes, at + 26, 2)? + number(bytes, at + 28, 2)?;
        let packed = bytes.get(begin..begin + self.size).ok_or_else(broken)?;
        let reader: Box<dyn std::io::Read + '_> = match self.method {
            0 => Box::new(packed),
            8 => Box::new(flate2::read::DeflateDecoder::new(packed)),
            93 => Box::new(ruzstd::decoding::StreamingDecoder::new(packed).map_err(|_| broken())?),
            method => {
                let what =
                    format!("`{}` is compressed in a way that is not known here ({method})", self.name);
                return Err(Complaint::new(what).hint(UNPACKED));
            }
        };
        let mut out = Vec::new();
        reader.take(MAX_PART_BYTES + 1).read_to_end(&mut out).map_err(|_| broken())?;
        match out.len() as u64 > MAX_PART_BYTES {
            true => {
                Err(Complaint::new(format!("`{}` is larger than {} MiB", self.name, MAX_PART_BYTES >> 20)))
            }
            false => Ok(out),
        }
    }
}

/// What was asked: the text, or the messages of a conversation one after another.
fn input(input: &Value) -> String {
    match input {
        Value::Array(messages) => {
            let said = messages.iter().map(|message| {
                let role = message["role"].as_str().unwrap_or("user");
                let content = content(&message["content"]);
                if messages.len() == 1 { content } else { format!("{role}: {content}") }
            });
            said.collect::<Vec<_>>().join("\n\n")
        }
        other => text_of(other),
    }
}

/// The text of a message, whose parts may be more than text.
fn content(content: &Value) -> String {
    match content {
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == "text").map(|part| text_of(&part["text"]));
            texts.collect::<Vec<_>>().join("\n")
        }
        other => text_of(other),
    }
}

fn answer(sample: &Value, scorers: &[String]) -> Answer {
    let scores = sample["scores"]
        .as_object()
        .into_iter()
        .flatten()
        .flat_map(|(scorer, score)| values(scorer, &score["value"]));
    let error = match &sample["error"] {
        Value::Null => sample["output"]["error"].as_str().map(str::to_owned),
        error => Some(error["message"].as_str().map_or_else(|| text_of(error), str::to_owned)),
    };
    let said = &sample["output"]["choices"][0]["message"];
    let output = match said {
        Value::Null => sample["output"]["completion"].clone(),
        said => Value::from(content(&said["content"])),
    };
    let mut scores: Vec<(String, Option<f64>)> = scores.collect();
    let place = |name: &str| scorers.iter().position(|scorer| name.split('.').next() == Some(scorer));
    scores.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    Answer { output, error, scores }
}

/// The score of a scorer; a score of several parts is several.
fn values(scorer: &str, value: &Value) -> Vec<(String, Option<f64>)> {
    match value {
        Value::Object(map) => {
            map.iter().map(|(part, value)| (format!("{scorer}.{part}"), number_of(value))).collect()
        }
        value => vec![(scorer.to_owned(), number_of(value))],
    }
}

/// Inspect's letters, and what `value_to_float` makes of words.
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(right) => Some(f64::from(u8::from(*right))),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            word => match word.to_lowercase().as_str() {
                "yes" | "true" => Some(1.0),
                "no" | "false" => Some(0.0),
                number => number.parse().ok(),
            },
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_archives_are_refused_without_a_panic() {
        for bytes in [
            &b"PK"[..],
            b"PK\x05\x06",
            b"PK\x05\x06\0\0\0\0\x01\0\x01\0\0\0\0\0\xff\xff\0\0\0\0",
            b"PK\x01\x02PK\x05\x06\0\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\0\0",
        ] {
            assert!(archive(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn scores_are_what_inspect_makes_of_them() {
        for (value, number) in [
            ("C", Some(1.0)),
            ("I", Some(0.0)),
            ("P", Some(0.5)),
            ("N", Some(0.0)),
            ("yes", Some(1.0)),
            ("0.3", Some(0.3)),
            ("maybe", None),
        ] {
            assert_eq!(number_of(&Value::from(value)), number, "{value}");
        }
    }
}
