//! Tasks whose answer is a whole program: it reads standard input and writes standard output (APPS, CodeContests).
//!
//! The program runs on the answer's side, as often as there are inputs; what it writes crosses as a text and is compared
//! on the tests' side, line by line, without the white space at the ends of lines and of the whole.

use super::python::{is_name, literal};
use super::{Format, Row, Understood};
use crate::kinds::code::problem::Problem;
use crate::text::complaint::Complaint;

const PROGRAM: &str = include_str!("stdio.py.txt");
const RUNNER: &str = include_str!("stdio_runner.py.txt");
/// The function that runs an answer on one input.
const ENTRY: &str = "run_on_standard_input";

/// Where inputs and outputs are, and under which names.
const PLACES: [(&str, &str, &str); 4] = [
    ("input_output", "inputs", "outputs"),
    ("public_tests", "input", "output"),
    ("private_tests", "input", "output"),
    ("generated_tests", "input", "output"),
];

pub(super) fn fits(row: &Row) -> bool {
    let paired = row.data("inputs").is_some() && row.data("outputs").is_some();
    !row.has("test")
        && !row.has("tests")
        && (paired || PLACES.iter().any(|(place, ..)| row.data(place).is_some()))
}

pub(super) fn read(row: &Row) -> Result<Understood, Complaint> {
    let no_name = || {
        Complaint::new("the problem has no `task_id`")
            .hint("give it a `task_id` (or `problem_id`, `id`, `name`)")
    };
    let task_id = row.task_id(&["task_id", "problem_id", "id", "name"]).ok_or_else(no_name)?;
    let prompt = row.text(&["prompt", "question", "description"]).ok_or_else(|| {
        Complaint::new("the problem has no `question`")
            .hint("`question` (or `prompt`, `description`) is what the model was asked")
    })?;
    let mut sources = Vec::new();
    if let (Some(inputs), Some(outputs)) = (row.data("inputs"), row.data("outputs")) {
        sources.push(format!("({}, {})", literal(inputs), literal(outputs)));
    }
    for (place, inputs, outputs) in PLACES {
        if let Some(data) = row.data(place) {
            sources.push(format!("({}, {}, {})", literal(data), literal(inputs), literal(outputs)));
        }
    }
    // APPS has tasks that are answered by a function: its name stands beside the inputs.
    if let Some(name) = row.data("input_output").and_then(fn_name) {
        let what =
            format!("the task calls the function `{name}` (`fn_name`), which is not read from this format");
        return Err(Complaint::new(what)
            .hint("leave such rows out, or write their tests as `test` with an `entry_point`"));
    }
    let language = row.text(&["language", "lang"]);
    if language.as_deref().is_some_and(|language| !language.to_lowercase().starts_with("py")) {
        let what = "tasks with standard input and output are judged in Python only".to_owned();
        return Err(Complaint::new(what).hint("take the row out, or give it a `test` in its own language"));
    }
    let test = format!("_SOURCES = [{}]\n\n\n{PROGRAM}", sources.join(", "));
    let problem = Problem {
        task_id,
        prompt,
        entry_point: Some(ENTRY.to_owned()),
        test,
        canonical_solution: row.text(&["canonical_solution"]).or_else(|| first_solution(row)),
        language: Some("python".to_owned()),
        format: Format::Stdio,
        ..Problem::default()
    };
    Ok(Understood { problem, notes: Vec::new() })
}

/// The function that an APPS row calls.
fn fn_name(data: &str) -> Option<String> {
    let (_, rest) = data.split_once("fn_name")?;
    let name: String = rest
        .chars()
        .skip_while(|c| !c.is_alphanumeric() && *c != '_')
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    is_name(&name).then_some(name)
}

/// The first of the solutions: APPS has a list of them, as JSON or as a text that is JSON.
fn first_solution(row: &Row) -> Option<String> {
    let data = row.data("solutions")?;
    let list: serde_json::Value = serde_json::from_str(data).ok()?;
    let list = match list {
        serde_json::Value::String(text) => serde_json::from_str(&text).ok()?,
        list => list,
    };
    list.get(0)?.as_str().map(str::to_owned)
}

/// An answer as a function of its standard input: what is judged in place of it.
pub(in crate::kinds::code) fn program(answer: &str) -> String {
    format!("_ANSWER = {}\n\n\n{RUNNER}", literal(&fenced(answer)))
}

/// The last fenced block of Python of a chat answer, or else all of it.
fn fenced(answer: &str) -> String {
    let mut found: Option<Vec<&str>> = None;
    let mut open: Option<Vec<&str>> = None;
    for line in answer.lines() {
        let fence = line.trim_start().strip_prefix("```").map(|rest| rest.trim().to_lowercase());
        match (fence, open.as_mut()) {
            (Some(_), Some(_)) => found = open.take(),
            (Some(word), None) if ["", "python", "python3", "py"].contains(&word.as_str()) => {
                open = Some(Vec::new());
            }
            (_, Some(lines)) => lines.push(line),
            _ => {}
        }
    }
    // A block that never ends is what there is.
    match found.or(open) {
        Some(lines) => lines.join("\n") + "\n",
        None => answer.to_owned(),
    }
}
