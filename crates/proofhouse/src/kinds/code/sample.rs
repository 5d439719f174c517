//! Samples: every line of the file becomes an item, in its order, whatever the line holds.

use std::collections::BTreeMap;
use std::io;

use camino::Utf8Path;
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Strictness, parse};

use super::formats::{name_of, texts_of};
use super::lines::{Lines, Next};

/// The longest completion that is given to a compiler.
pub const MAX_COMPLETION_BYTES: usize = 1 << 20;

/// The longest name of a task.
const MAX_TASK_BYTES: usize = 500;

/// The names under which people have the task.
const TASK_KEYS: [&str; 3] = ["task_id", "name", "problem_id"];

/// The names under which people have the text.
pub(super) const TEXT_KEYS: [&str; 3] = ["completion", "solution", "generation"];

/// One line of a samples file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The line's place among all, from 0.
    pub index: u64,
    /// The task that it answers, where the line says so.
    pub task_id: Option<String>,
    /// Which answer to that task it is, from 0 in the order of the file.
    pub completion_id: u64,
    /// What the model wrote, or why there is nothing to judge.
    pub completion: Result<String, Invalid>,
}

/// Why a line has nothing to judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The line is empty.
    #[error("the line is empty")]
    Blank,
    /// It is not a JSON object.
    #[error("the line is not a JSON object: {0}")]
    NotAnObject(String),
    /// It is not UTF-8.
    #[error("the line is not valid UTF-8")]
    NotUtf8,
    /// It names no task.
    #[error("the line has no `task_id` that is a text or a number")]
    NoTask,
    /// The name of its task is longer than any task's.
    #[error("its `task_id` is longer than {MAX_TASK_BYTES} bytes")]
    TaskTooLong,
    /// It has none of the keys of a completion.
    #[error("the line has no `completion`")]
    NoCompletion,
    /// The completion is not text.
    #[error("`{key}` is {found}, not text")]
    NotText {
        /// The key.
        key: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// The completion has a NUL character, which no source file can have.
    #[error("the completion has a NUL character")]
    Nul,
    /// The line or the completion is longer than anything that is judged.
    #[error("{0} bytes are more than a completion may have")]
    TooLarge(u64),
}

/// The items of a samples file, one at a time.
pub struct Samples {
    lines: Lines,
    line: Vec<u8>,
    counts: BTreeMap<Option<String>, u64>,
    index: u64,
    /// Empty lines that are items only if a line follows.
    blank: u64,
    held: Option<(Option<String>, Result<String, Invalid>)>,
}

impl Samples {
    /// Opens a file, packed or not.
    pub fn open(path: &Utf8Path) -> io::Result<Samples> {
        Ok(Samples::new(Lines::open(path)?))
    }

    /// Reads from memory or any other source.
    pub fn from_reader(reader: impl io::BufRead + Send + 'static) -> Samples {
        Samples::new(Lines::new(reader))
    }

    fn new(lines: Lines) -> Samples {
        Samples { lines, line: Vec::new(), counts: BTreeMap::new(), index: 0, blank: 0, held: None }
    }

    fn item(&mut self, task_id: Option<String>, completion: Result<String, Invalid>) -> Sample {
        let count = self.counts.entry(task_id.clone()).or_default();
        let item = Sample { index: self.index, completion_id: *count, task_id, completion };
        *count += 1;
        self.index += 1;
        item
    }
}

impl Iterator for Samples {
    type Item = io::Result<Sample>;

    fn next(&mut self) -> Option<io::Result<Sample>> {
        loop {
            if self.held.is_some() && self.blank > 0 {
                self.blank -= 1;
                return Some(Ok(self.item(None, Err(Invalid::Blank))));
            }
            if let Some((task_id, completion)) = self.held.take() {
                return Some(Ok(self.item(task_id, completion)));
            }
            match self.lines.next(&mut self.line) {
                Err(error) => return Some(Err(error)),
                Ok(Next::End) => return None,
                Ok(Next::TooLong(bytes)) => {
                    self.held = Some((task_of(&self.line), Err(Invalid::TooLarge(bytes))));
                }
                Ok(Next::Line) if self.line.iter().all(u8::is_ascii_whitespace) => self.blank += 1,
                Ok(Next::Line) => self.held = Some(read_line(&self.line)),
            }
        }
    }
}

fn read_line(line: &[u8]) -> (Option<String>, Result<String, Invalid>) {
    let text = String::from_utf8_lossy(line);
    let parsed = parse(text.as_bytes(), Strictness::Lenient).or_else(|error| {
        parse(without_odd_numbers(&text).as_bytes(), Strictness::Lenient).map_err(|_| error)
    });
    let row = match parsed {
        Ok(Json::Object(row)) => row,
        Ok(other) => return (None, Err(Invalid::NotAnObject(format!("it is {}", a_type(&other))))),
        Err(_) if matches!(text, std::borrow::Cow::Owned(_)) => {
            return (task_of(line), Err(Invalid::NotUtf8));
        }
        Err(error) => return (task_of(line), Err(Invalid::NotAnObject(error.to_string()))),
    };
    let task_id = TASK_KEYS.iter().find_map(|key| row.get(key)).and_then(name_of);
    if task_id.as_ref().is_some_and(|task_id| task_id.len() > MAX_TASK_BYTES) {
        return (None, Err(Invalid::TaskTooLong));
    }
    let completion = if matches!(text, std::borrow::Cow::Owned(_)) {
        Err(Invalid::NotUtf8)
    } else if task_id.is_none() {
        Err(Invalid::NoTask)
    } else {
        match TEXT_KEYS.into_iter().find_map(|key| row.get(key).map(|value| (key, value))) {
            None => Err(Invalid::NoCompletion),
            Some((_, Json::String(text))) => check_text(text),
            Some((key, other)) => Err(Invalid::NotText { key, found: a_type(other) }),
        }
    };
    (task_id, completion)
}

/// The task that a line names which is cut off or otherwise not JSON: whole fields before the fault can be read.
fn task_of(line: &[u8]) -> Option<String> {
    let fields = texts_of(line);
    let named = TASK_KEYS.iter().find_map(|key| fields.iter().find(|(name, _)| *name == key.as_bytes()));
    let value = parse(named?.1, Strictness::Lenient).ok()?;
    name_of(&value).filter(|task_id| task_id.len() <= MAX_TASK_BYTES)
}

/// The line with `null` in place of `NaN` and infinities, which Python's own writer puts where JSON has no number: what stands in a
/// field that nobody judges does not make an answer unreadable.
fn without_odd_numbers(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut rest, mut in_text) = (line, false);
    while let Some(c) = rest.chars().next() {
        let odd = ["-Infinity", "Infinity", "NaN"].iter().find(|word| !in_text && rest.starts_with(**word));
        if let Some(word) = odd {
            out.push_str("null");
            rest = &rest[word.len()..];
            continue;
        }
        let taken =
            if in_text && c == '\\' { rest.chars().take(2).map(char::len_utf8).sum() } else { c.len_utf8() };
        in_text ^= c == '"';
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

/// What a model said, as what a line of a samples file would hold.
pub fn completion(output: Option<&Json>) -> Result<String, Invalid> {
    match output {
        None | Some(Json::Null) => Err(Invalid::NoCompletion),
        Some(Json::String(text)) => check_text(text),
        Some(other) => Err(Invalid::NotText { key: "completion", found: a_type(other) }),
    }
}

/// What a value is, as a sentence has it.
fn a_type(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a truth value",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

fn check_text(text: &str) -> Result<String, Invalid> {
    if text.contains('\0') {
        return Err(Invalid::Nul);
    }
    if text.len() > MAX_COMPLETION_BYTES {
        return Err(Invalid::TooLarge(text.len() as u64));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    fn read(bytes: &[u8]) -> Vec<Sample> {
        Samples::from_reader(Cursor::new(bytes.to_vec())).map(Result::unwrap).collect()
    }

    #[test]
    fn every_line_is_an_item_in_its_place() {
        let mut file = Vec::new();
        let rows: [&[u8]; 16] = [
            br#"{"task_id":"a","completion":"1"}"#,
            br#"{"task_id":"a","completion":null}"#,
            br#"{"task_id":"a","solution":"2"}"#,
            br#"{"task_id":"b","generation":"3"}"#,
            br#"{"task_id":"a","completion":["x"]}"#,
            br#"{"task_id":"a","completion":"4"}"#,
            b"{not json",
            b"",
            b"null",
            br#"{"completion":"x"}"#,
            br#"{"task_id":"b"}"#,
            br#"{"task_id":"b","completion":""}"#,
            b"{\"task_id\":\"b\",\"completion\":\"\xff\"}",
            br#"{"task_id":"b","completion":"a\u0000b"}"#,
            br#"{"task_id":[7],"completion":"x"}"#,
            br#"{"task_id":"a","completion":"1"}"#,
        ];
        for row in rows {
            file.write_all(row).unwrap();
            file.push(b'\n');
        }
        file.extend_from_slice(b"\n\n");
        let items = read(&file);
        assert_eq!(items.len(), rows.len(), "empty lines at the end are no items");
        assert!(items.iter().enumerate().all(|(at, item)| item.index == at as u64));
        let told: Vec<_> = items
            .iter()
            .map(|item| {
                (item.task_id.as_deref().unwrap_or("-"), item.completion_id, item.completion.as_deref())
            })
            .collect();
        assert_eq!(told[0], ("a", 0, Ok("1")));
        assert_eq!(told[1], ("a", 1, Err(&Invalid::NotText { key: "completion", found: "null" })));
        assert_eq!(told[2], ("a", 2, Ok("2")));
        assert_eq!(told[3], ("b", 0, Ok("3")));
        assert_eq!(told[4], ("a", 3, Err(&Invalid::NotText { key: "completion", found: "a list" })));
        assert_eq!(told[5], ("a", 4, Ok("4")));
        assert!(matches!(told[6], ("-", 0, Err(Invalid::NotAnObject(_)))));
        assert_eq!(told[7], ("-", 1, Err(&Invalid::Blank)));
        assert!(matches!(told[8], ("-", 2, Err(Invalid::NotAnObject(_)))));
        assert_eq!(told[9], ("-", 3, Err(&Invalid::NoTask)));
        assert_eq!(told[10], ("b", 1, Err(&Invalid::NoCompletion)));
        assert_eq!(told[11], ("b", 2, Ok("")));
        assert_eq!(told[12], ("b", 3, Err(&Invalid::NotUtf8)));
        assert_eq!(told[13], ("b", 4, Err(&Invalid::Nul)));
        assert_eq!(told[14], ("-", 4, Err(&Invalid::NoTask)));
        assert_eq!(told[15], ("a", 5, Ok("1")), "a duplicate is one more answer");
    }

    #[test]
    fn a_line_that_is_cut_off_answers_the_task_that_it_names() {
        let items = read(
            b"{\"task_id\":\"a\",\"completion\":\"    return\n{\"task_id\":\"a\",\"completion\":\"1\"}\n\
              {\"completion\":\"1\",\"name\":7,\"x\":\n{\"task_id\":\"HumanEv\n{\"completion\":\"\\\"task_id\\\":\\\"b\\\"\n",
        );
        let told: Vec<_> = items.iter().map(|item| (item.task_id.as_deref(), item.completion_id)).collect();
        assert_eq!(told, [(Some("a"), 0), (Some("a"), 1), (Some("7"), 0), (None, 0), (None, 1)]);
        assert!(matches!(items[0].completion, Err(Invalid::NotAnObject(_))));
        let mut long = b"{\"task_id\":\"a\",\"completion\":\"".to_vec();
        long.resize(super::super::lines::MAX_LINE_BYTES + 1, b'x');
        let items = read(&long);
        assert_eq!(items[0].task_id.as_deref(), Some("a"));
        assert!(matches!(items[0].completion, Err(Invalid::TooLarge(_))));
    }

    #[test]
    fn numbers_that_json_does_not_have_make_no_answer_unreadable() {
        let items =
            read(br#"{"task_id":"a","completion":"NaN \" Infinity","logprob":NaN,"l":[-Infinity,Infinity]}"#);
        assert_eq!(items[0].task_id.as_deref(), Some("a"));
        assert_eq!(items[0].completion.as_deref(), Ok("NaN \" Infinity"));
        let items = read(br#"{"task_id":"a","completion":NaN}"#);
        assert_eq!(items[0].completion, Err(Invalid::NotText { key: "completion", found: "null" }));
    }

    #[test]
    fn a_completion_that_is_too_large_is_an_item() {
        let text = "x".repeat(MAX_COMPLETION_BYTES + 1);
        let items = read(format!(r#"{{"task_id":"a","completion":"{text}"}}"#).as_bytes());
        assert_eq!(items[0].completion, Err(Invalid::TooLarge(MAX_COMPLETION_BYTES as u64 + 1)));
        assert_eq!(items[0].task_id.as_deref(), Some("a"));
    }

    #[test]
    fn a_packed_file_is_unpacked() {
        let dir = tempfile::tempdir().unwrap();
        let path = camino::Utf8PathBuf::from_path_buf(dir.path().join("s.jsonl.gz")).unwrap();
        let mut packed =
            flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), flate2::Compression::fast());
        packed.write_all(b"{\"task_id\":\"a\",\"completion\":\"1\"}\n").unwrap();
        packed.finish().unwrap();
        assert_eq!(Samples::open(&path).unwrap().count(), 1);
    }
}
