//! Problem files, line by line; what a line means is known in `formats`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::formats::{self, Format, Row, Understood};
use super::lines::{Lines, Next};
use crate::text::complaint::Complaint;

/// One task: what the model was shown, and how its answer is tested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problem {
    /// The task's name; samples refer to it.
    pub task_id: String,
    /// What the model was shown; a body-only completion continues it.
    pub prompt: String,
    /// The part of the prompt that must stand before a body, where the format has it apart.
    pub declaration: Option<String>,
    /// The function that the tests call, where the format names it.
    pub entry_point: Option<String>,
    /// The tests.
    pub test: String,
    /// Texts at which the model was stopped; they are not part of its completions.
    pub stop_tokens: Vec<String>,
    /// A solution that passes.
    pub canonical_solution: Option<String>,
    /// A solution that must not pass.
    pub buggy_solution: Option<String>,
    /// The language, where the format names it.
    pub language: Option<String>,
    /// The format that it was read from.
    pub format: Format,
}

impl Problem {
    /// Whether answers are judged as they are.
    pub(super) fn is_judged_as_written(&self) -> bool {
        self.format != Format::Stdio
    }

    /// What is judged in place of an answer: where the answer is a whole program, a function that runs it.
    pub(super) fn judged<'a>(&self, answer: &'a str) -> Cow<'a, str> {
        match self.format {
            Format::Stdio => Cow::Owned(formats::whole_program(answer)),
            _ => Cow::Borrowed(answer),
        }
    }

    /// The problem as its answers are put to it: an answer begins on a line of its own, and an answer that is a whole
    /// program continues nothing.
    pub(super) fn for_judging(mut self, begins_a_line: bool) -> Problem {
        if self.format == Format::Stdio {
            self.prompt.clear();
        }
        if begins_a_line && !self.prompt.is_empty() && !self.prompt.ends_with('\n') {
            self.prompt.push('\n');
        }
        self
    }
}

/// A problem file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProblemFile {
    /// Its problems, in its order.
    pub problems: Vec<Problem>,
    /// What its users should know of how it was read.
    pub notes: Vec<String>,
}

/// Why a problem file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProblemError {
    /// It cannot be read.
    #[error("`{path}` could not be read")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// A line is not a problem.
    #[error("{path}:{line}: {complaint}")]
    Line {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        complaint: Complaint,
    },
}

/// Reads the problems of a file, packed or not, in its order.
pub fn read_problems(path: &Utf8Path) -> Result<Vec<Problem>, ProblemError> {
    read_problem_file(path).map(|file| file.problems)
}

/// Reads a problem file, packed or not, with what there is to say of it.
pub fn read_problem_file(path: &Utf8Path) -> Result<ProblemFile, ProblemError> {
    let io = |source| ProblemError::Io { path: path.to_owned(), source };
    let mut lines = Lines::open(path).map_err(io)?;
    let (mut problems, mut seen) = (Vec::new(), BTreeSet::new());
    let mut notes: BTreeMap<String, u64> = BTreeMap::new();
    let mut line = Vec::new();
    for number in 1.. {
        let misread = |complaint| ProblemError::Line { path: path.to_owned(), line: number, complaint };
        let wrong = |what: String, hint: &str| misread(Complaint::new(what).hint(hint));
        match lines.next(&mut line).map_err(io)? {
            Next::End => break,
            Next::TooLong(bytes) => {
                return Err(wrong(format!("a line of {bytes} bytes"), "a problem has at most 16 MiB"));
            }
            Next::Line => {}
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let row = Row::read(&line)
            .map_err(|error| wrong(error.to_string(), "a problem file has one JSON object per line"))?;
        let Understood { problem, notes: said } = formats::understand(&row).map_err(misread)?;
        said.into_iter().for_each(|note| *notes.entry(note).or_default() += 1);
        if !seen.insert(problem.task_id.clone()) {
            let what = format!("the task `{}` appears twice", problem.task_id);
            return Err(wrong(what, "task ids are unique within a file"));
        }
        problems.push(problem);
    }
    let all = problems.len();
    let problems_word = if all == 1 { "problem" } else { "problems" };
    let notes = notes.into_iter().map(|(note, rows)| format!("{rows} of {all} {problems_word}: {note}"));
    Ok(ProblemFile { notes: notes.collect(), problems })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Problem>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().join("p.jsonl")).unwrap();
        std::fs::write(&path, text).unwrap();
        read_problems(&path).map_err(|error| error.to_string().replace(path.as_str(), "p.jsonl"))
    }

    #[test]
    fn the_formats_that_people_have() {
        let humaneval =
            r#"{"task_id":"a","prompt":"p","canonical_solution":"c","test":"t","entry_point":"e"}"#;
        let pack = r#"{"task_id":"b","prompt":"p","declaration":"d","canonical_solution":"c","buggy_solution":"x","test":"t"}"#;
        let multipl =
            r#"{"name":"c","language":"rs","prompt":"p","tests":"}\n\nfn main() {}","stop_tokens":["\n}"]}"#;
        let problems = read(&format!("\u{feff}{humaneval}\n\n{pack}\r\n{multipl}")).unwrap();
        assert_eq!(problems.iter().map(|p| p.task_id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(problems[0].entry_point.as_deref(), Some("e"));
        assert_eq!(problems[1].buggy_solution.as_deref(), Some("x"));
        assert_eq!(problems[1].declaration.as_deref(), Some("d"));
        assert_eq!((problems[2].stop_tokens.len(), problems[2].test.as_str()), (1, "}\n\nfn main() {}"));
    }

    #[test]
    fn a_bad_problem_is_refused_with_its_line() {
        let good = r#"{"task_id":"a","prompt":"p","test":"t"}"#;
        assert_eq!(
            read(&format!("{good}\n{good}")).unwrap_err(),
            "p.jsonl:2: the task `a` appears twice\n\nhint: task ids are unique within a file"
        );
        assert_eq!(
            read(r#"{"task_id":"a","prompt":"p"}"#).unwrap_err(),
            "p.jsonl:1: the problem has no `test`\n\nhint: `test` (or `tests`) is the code that checks a completion"
        );
        assert!(read("[]").unwrap_err().contains("expected an object"));
        assert!(read("{").unwrap_err().starts_with("p.jsonl:1: "));
    }
}
