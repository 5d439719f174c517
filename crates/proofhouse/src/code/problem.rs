//! Problems in the formats that people have: HumanEval, HumanEval-X and HumanEvalPack, MultiPL-E, McEval.

use std::collections::BTreeSet;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};

use super::lines::{Lines, Next};

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
    #[error("{path}:{line}: {what}\n\nhint: {hint}")]
    Line {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
        /// What would be right.
        hint: &'static str,
    },
}

/// Reads a problem file, packed or not, in its order.
pub fn read_problems(path: &Utf8Path) -> Result<Vec<Problem>, ProblemError> {
    let io = |source| ProblemError::Io { path: path.to_owned(), source };
    let mut lines = Lines::open(path).map_err(io)?;
    let (mut problems, mut seen) = (Vec::new(), BTreeSet::new());
    let mut line = Vec::new();
    for number in 1.. {
        let wrong =
            |what: String, hint| ProblemError::Line { path: path.to_owned(), line: number, what, hint };
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
        let row = match parse(&line, Strictness::Lenient) {
            Ok(Json::Object(row)) => row,
            Ok(other) => {
                let what = format!("expected an object, found {}", other.type_name());
                return Err(wrong(what, "a problem file has one JSON object per line"));
            }
            Err(error) => {
                return Err(wrong(error.to_string(), "a problem file has one JSON object per line"));
            }
        };
        let problem = from_row(&row).map_err(|(what, hint)| wrong(what, hint))?;
        if !seen.insert(problem.task_id.clone()) {
            let what = format!("the task `{}` is there twice", problem.task_id);
            return Err(wrong(what, "task ids are unique within a file"));
        }
        problems.push(problem);
    }
    Ok(problems)
}

fn from_row(row: &Object) -> Result<Problem, (String, &'static str)> {
    let required = |names: &[&str], hint| {
        text(row, names).ok_or_else(|| (format!("the problem has no `{}`", names[0]), hint))
    };
    Ok(Problem {
        task_id: required(&["task_id", "name"], "give it a `task_id` (or `name`, as MultiPL-E does)")?,
        prompt: required(&["prompt"], "`prompt` is the text that the model continued")?,
        test: required(&["test", "tests"], "`test` (or `tests`) is the code that checks a completion")?,
        declaration: text(row, &["declaration"]),
        entry_point: text(row, &["entry_point"]),
        stop_tokens: texts(row.get("stop_tokens")),
        canonical_solution: text(row, &["canonical_solution"]),
        buggy_solution: text(row, &["buggy_solution"]),
    })
}

fn text(row: &Object, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| row.get(name)).and_then(Json::as_str).map(str::to_owned)
}

fn texts(value: Option<&Json>) -> Vec<String> {
    match value {
        Some(Json::Array(values)) => values.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
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
            "p.jsonl:2: the task `a` is there twice\n\nhint: task ids are unique within a file"
        );
        assert_eq!(
            read(r#"{"task_id":"a","prompt":"p"}"#).unwrap_err(),
            "p.jsonl:1: the problem has no `test`\n\nhint: `test` (or `tests`) is the code that checks a completion"
        );
        assert!(read("[]").unwrap_err().contains("expected an object"));
        assert!(read("{").unwrap_err().starts_with("p.jsonl:1: "));
    }
}
