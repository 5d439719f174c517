//! Suites over benchmarks of programming tasks, as their owners publish them.

use crate::kinds::Recipe;

pub(super) const RECIPES: &[Recipe] = &[
    Recipe {
        name: "humaneval",
        about: "HumanEval: functions in Python by their docstrings (JSON lines, `.gz` too).",
        suite: include_str!("init/humaneval.yaml"),
        rows: &[&["task_id", "prompt", "entry_point", "test"]],
    },
    Recipe {
        name: "humaneval-plus",
        about: "HumanEval+ of EvalPlus: the same tasks with many more tests (JSON lines, `.gz` too).",
        suite: include_str!("init/humaneval-plus.yaml"),
        rows: &[
            &["task_id", "prompt", "entry_point", "base_input", "plus_input"],
            &["task_id", "prompt", "entry_point", "test"],
        ],
    },
    Recipe {
        name: "mbpp",
        about: "MBPP: short functions in Python by a sentence and three asserts (JSON lines).",
        suite: include_str!("init/mbpp.yaml"),
        rows: &[&["task_id", "text", "test_list"], &["task_id", "prompt", "test_list"]],
    },
];
