//! HumanEval and its relatives: HumanEval-X, HumanEvalPack, McEval (`prompt` and `test`), MultiPL-E (`tests`), and the
//! releases of EvalPlus in their original format, whose tests ask for numpy only to compare floats.

use super::python::is_name;
use super::{Format, Row, Understood};
use crate::kinds::code::problem::Problem;
use crate::text::complaint::Complaint;

/// The comparison of `numpy.allclose`, for tests that need nothing else of numpy.
const NUMPY: &str = concat!(include_str!("allclose.py.txt"), include_str!("numpy.py.txt"));

/// Fields that only a reader who uses them would want.
const UNUSED: [&str; 2] = ["plus_input", "base_input"];

pub(super) fn read(row: &Row) -> Result<Understood, Complaint> {
    let required = |names: &[&str], hint: &str| {
        row.text(names).ok_or_else(|| Complaint::new(format!("the problem has no `{}`", names[0])).hint(hint))
    };
    let no_name = || {
        Complaint::new("the problem has no `task_id`")
            .hint("give it a `task_id` (or `name`, as MultiPL-E does)")
    };
    let test = required(&["test", "tests"], "`test` (or `tests`) is the code that checks a completion")?;
    let prompt = required(&["prompt"], "`prompt` is the text that the model continued")?;
    let problem = Problem {
        task_id: row.task_id(&["task_id", "name"]).ok_or_else(no_name)?,
        test: without_numpy(test),
        declaration: row.text(&["declaration"]),
        entry_point: row.text(&["entry_point"]).or_else(|| last_function(&prompt)),
        prompt,
        stop_tokens: row.texts("stop_tokens"),
        canonical_solution: row.text(&["canonical_solution"]),
        buggy_solution: row.text(&["buggy_solution"]),
        language: row.text(&["language", "lang"]),
        format: match () {
            () if !row.has("test") => Format::MultiPlE,
            () if row.has("buggy_solution") => Format::HumanEvalPack,
            () if row.has("instruction") && row.has("level") => Format::McEval,
            () => Format::HumanEval,
        },
    };
    let unused = UNUSED.iter().filter(|name| row.has(name));
    let notes = unused.map(|name| {
        format!(
            "`{name}` is not in a shape that is known here and was not used: only the tests in `test` are run"
        )
    });
    Ok(Understood { problem, notes: notes.collect() })
}

/// The Python function that a prompt ends with, which is the one to be written: MultiPL-E does not name it.
fn last_function(prompt: &str) -> Option<String> {
    let header = prompt
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("def ").or(line.strip_prefix("async def ")))?;
    let name = header.split('(').next()?.trim();
    is_name(name).then(|| name.to_owned())
}

/// The tests of HumanEval+ and MBPP+ in their original format import numpy for one comparison: it is made without.
pub(super) fn without_numpy(test: String) -> String {
    const IMPORT: &str = "import numpy as np\n";
    let known = ["np.ndarray", "np.float64", "np.float32", "np.allclose"];
    let uses = test.match_indices("np.").map(|(at, _)| &test[at..]);
    let only_compares = test.contains("def is_floats(") && test.contains("def assertion(");
    if !only_compares
        || !test.contains(IMPORT)
        || uses.into_iter().any(|rest| !known.iter().any(|name| rest.starts_with(name)))
    {
        return test;
    }
    let text = test.replacen(IMPORT, "", 1);
    format!("{NUMPY}\n{text}")
}
