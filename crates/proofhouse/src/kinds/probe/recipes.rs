//! Suites over benchmarks of questions, as their owners publish them.

use crate::kinds::Recipe;

pub(super) const RECIPES: &[Recipe] = &[
    Recipe {
        name: "gsm8k",
        about: "GSM8K: word problems whose result is a number (JSON lines with `question` and `answer`).",
        suite: include_str!("init/gsm8k.yaml"),
        rows: &[&["question", "answer"]],
    },
    Recipe {
        name: "bbh",
        about: "A task of BIG-Bench Hard (JSON with `examples`, each with `input` and `target`).",
        suite: include_str!("init/bbh.yaml"),
        rows: &[&["input", "target"]],
    },
];
