//! HumanEval+ and MBPP+ as EvalPlus releases them: inputs, a reference solution, a tolerance, and no code that tests.
//!
//! The test that is written here does what `evalplus.evaluate` does: the reference solution says what is expected, base
//! inputs first, and answers are compared exactly, within `atol`, or by the rule of a task that has several right answers.

use super::python::{is_name, literal};
use super::{Format, Row, Understood};
use crate::kinds::code::problem::Problem;
use crate::text::complaint::Complaint;
use proofhouse_ledger::Json;

const ALLCLOSE: &str = include_str!("allclose.py.txt");
const PROGRAM: &str = include_str!("evalplus.py.txt");
const MBPP_INPUTS: &str = include_str!("mbpp_inputs.py.txt");

/// Both lists of inputs, each a list of lists of arguments.
pub(super) fn fits(row: &Row) -> bool {
    let is_list = |name| {
        row.data(name).is_some_and(|text| {
            let inner = text.strip_prefix('[').map(str::trim_start);
            inner.is_some_and(|inner| inner.starts_with(['[', ']']))
        })
    };
    let entry = row.text(&["entry_point"]).is_some_and(|entry| is_name(&entry));
    is_list("plus_input") && is_list("base_input") && entry && row.has("canonical_solution")
}

pub(super) fn read(row: &Row) -> Result<Understood, Complaint> {
    let required = |name: &str| {
        row.text(&[name]).ok_or_else(|| {
            Complaint::new(format!("the problem has no `{name}`")).hint("HumanEval+ and MBPP+ rows have it")
        })
    };
    let no_name =
        || Complaint::new("the problem has no `task_id`").hint("give it a `task_id`, such as `HumanEval/0`");
    let task_id = row.task_id(&["task_id"]).ok_or_else(no_name)?;
    let (prompt, solution, entry) =
        (required("prompt")?, required("canonical_solution")?, required("entry_point")?);
    let number = task_id.strip_prefix("Mbpp/").and_then(|number| number.parse::<u32>().ok());
    let atol = match row.get("atol") {
        Some(Json::Number(atol)) if *atol >= 0.0 => *atol,
        None | Some(Json::Null) => 0.0,
        Some(_) => {
            return Err(
                Complaint::new("`atol` is not a number").hint("`atol` is the absolute tolerance, or 0")
            );
        }
    };
    let line_end = if prompt.ends_with('\n') { "" } else { "\n" };
    let dataset = if number.is_some() { "mbpp" } else { "humaneval" };
    let mut test = format!(
        "_DATASET, _ENTRY, _TASK, _ATOL = {}, {}, {}, {atol:?}\n_SOLUTION = {}\n_BASE = {}\n_PLUS = {}\n\n\n",
        literal(dataset),
        literal(&entry),
        number.map_or("None".to_owned(), |number| number.to_string()),
        literal(&format!("{prompt}{line_end}{solution}")),
        literal(row.data("base_input").unwrap_or("[]")),
        literal(row.data("plus_input").unwrap_or("[]")),
    );
    test.push_str(if number.is_some() {
        MBPP_INPUTS
    } else {
        "def _inputs(inputs):\n    return inputs\n\n\n"
    });
    test.push_str(ALLCLOSE);
    test.push_str(PROGRAM);
    let problem = Problem {
        task_id,
        prompt,
        entry_point: Some(entry),
        test,
        canonical_solution: Some(solution),
        language: Some("python".to_owned()),
        format: if number.is_some() { Format::MbppPlus } else { Format::HumanEvalPlus },
        ..Problem::default()
    };
    Ok(Understood { problem, notes: Vec::new() })
}
