//! MBPP as published, and its sanitised edition: a sentence, a solution, and a list of `assert` lines.
//!
//! What a model is shown is what bigcode's harness and EvalPlus show: a docstring with the sentence and the first test.

use super::humaneval::without_numpy;
use super::python::is_name;
use super::{Format, Row, Understood};
use crate::kinds::code::problem::Problem;
use crate::text::complaint::Complaint;

/// Names that tests call around the function that they are about.
const AROUND: [&str; 22] = [
    "set", "sorted", "abs", "round", "len", "list", "tuple", "dict", "str", "int", "float", "isclose", "all",
    "any", "sum", "min", "max", "type", "bool", "zip", "map", "assert",
];

pub(super) fn fits(row: &Row) -> bool {
    !row.texts("test_list").is_empty() && (row.has("text") || row.has("prompt"))
}

pub(super) fn read(row: &Row) -> Result<Understood, Complaint> {
    let no_name =
        || Complaint::new("the problem has no `task_id`").hint("MBPP numbers its tasks in `task_id`");
    let task_id = row.task_id(&["task_id"]).ok_or_else(no_name)?;
    let told = row.text(&["text", "prompt"]).ok_or_else(|| {
        Complaint::new("neither `text` nor `prompt` is a text")
            .hint("`text` is the sentence that the model was given")
    })?;
    let tests = row.texts("test_list");
    let solution = row.text(&["code", "canonical_solution"]).map(|code| code.replace("\r\n", "\n"));
    let entry = entry_point(solution.as_deref().unwrap_or_default(), &tests).ok_or_else(|| {
        Complaint::new("no test of `test_list` calls a function")
            .hint("a test is a line such as `assert f(1) == 2`")
    })?;
    let mut notes = Vec::new();
    let (test, format) = match row.text(&["test"]) {
        // MBPP+ in its original format has all of its tests here.
        Some(test) => (without_numpy(test), Format::MbppPlus),
        None => {
            if !row.texts("challenge_test_list").is_empty() {
                notes
                    .push("`challenge_test_list` is no part of MBPP's own measure and is not run".to_owned());
            }
            let mut parts = row.texts("test_imports");
            parts.extend(row.text(&["test_setup_code"]));
            parts.extend(tests.iter().cloned());
            parts.retain(|part| !part.trim().is_empty());
            (parts.join("\n").replace("\r\n", "\n") + "\n", Format::Mbpp)
        }
    };
    let problem = Problem {
        task_id,
        prompt: format!("\"\"\"\n{}\n{}\n\"\"\"\n", told.trim(), tests[0].trim()),
        entry_point: Some(entry),
        test,
        canonical_solution: solution,
        language: Some("python".to_owned()),
        format,
        ..Problem::default()
    };
    Ok(Understood { problem, notes })
}

/// The function that the tests are about: one that the solution defines, or else the first that is called.
fn entry_point(solution: &str, tests: &[String]) -> Option<String> {
    let called: Vec<&str> = tests.iter().flat_map(|test| calls(test)).collect();
    let defined: Vec<&str> = solution
        .lines()
        .filter_map(|line| line.strip_prefix("def ").or(line.strip_prefix("class ")))
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
        .collect();
    let by_solution = called.iter().find(|name| defined.contains(name));
    let first = called.iter().find(|name| !AROUND.contains(name));
    by_solution.or(first).map(|name| (*name).to_owned())
}

/// The names in front of an opening bracket, in their order.
fn calls(test: &str) -> impl Iterator<Item = &str> {
    test.match_indices('(').filter_map(|(at, _)| {
        let before = test[..at].trim_end();
        let start = before
            .rfind(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(0, |nth| nth + before[nth..].chars().next().map_or(1, char::len_utf8));
        Some(&before[start..]).filter(|name| is_name(name))
    })
}
