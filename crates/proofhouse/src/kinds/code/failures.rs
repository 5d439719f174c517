//! Why nothing passed: the most frequent failures with an example of each, and what they look like together.

use std::collections::BTreeMap;

use proofhouse_ledger::record::{CODE, Damage, HEAD, Line, NO_TASK};
use proofhouse_ledger::summary::{FailureExample, NothingPassed};

/// Types that are told with an example.
const MAX_TYPES: usize = 3;
/// Completions that are looked at.
const MAX_LOOKS: u64 = 200;

/// The failures of one slot.
#[derive(Default)]
pub(super) struct Failures {
    by_type: BTreeMap<String, FailureExample>,
    looks: u64,
    /// Completions that look like Rust, and like Python.
    rust: u64,
    python: u64,
}

impl Failures {
    /// Takes the next record.
    pub(super) fn push(&mut self, line: &Line<'_>, task: &str) -> Result<(), Damage> {
        let Some(error_type) = line.get(HEAD.error_type)? else { return Ok(()) };
        if let Some(example) = self.by_type.get_mut(&*error_type) {
            example.count += 1;
        } else {
            let message = line.get(HEAD.error)?.unwrap_or_default();
            let message: String = message.lines().next().unwrap_or_default().chars().take(200).collect();
            let example = FailureExample {
                error_type: error_type.clone().into_owned(),
                count: 1,
                task_id: task.to_owned(),
                completion_id: line.get(CODE.completion_id)?,
                message,
            };
            self.by_type.insert(error_type.into_owned(), example);
        }
        if self.looks < MAX_LOOKS
            && let Some(text) = line.get(CODE.completion)?
        {
            self.looks += 1;
            let begins = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
            let rust = begins("fn ") || begins("pub fn ") || begins("let ") || text.contains("fn main");
            let python = begins("def ") || begins("import ") || begins("from ") || text.contains("print(");
            self.rust += u64::from(rust && !python);
            self.python += u64::from(python && !rust);
        }
        Ok(())
    }

    /// What there is to say where nothing passed. `apart`: what lines name that is no planned task, and the planned tasks.
    pub(super) fn finish(&self, language: &str, apart: (&BTreeMap<String, u64>, &[String])) -> NothingPassed {
        let mut failures: Vec<FailureExample> = self.by_type.values().cloned().collect();
        failures.sort_by(|a, b| b.count.cmp(&a.count).then(a.error_type.cmp(&b.error_type)));
        failures.truncate(MAX_TYPES);
        NothingPassed { failures, signs: self.signs(language, apart) }
    }

    fn signs(&self, language: &str, (unknown, planned): (&BTreeMap<String, u64>, &[String])) -> Vec<String> {
        let mut signs = Vec::new();
        for (name, looks, word) in [("Python", self.python, "rust"), ("Rust", self.rust, "python")] {
            if language == word && looks * 2 > self.looks {
                signs.push(format!(
                    "most completions look like {name}, and the suite judges them as {word} (`language:`)"
                ));
            }
        }
        let named = unknown.keys().find(|name| *name != NO_TASK);
        if let (Some(name), Some(task)) = (named, planned.first()) {
            signs.push(format!(
                "lines name tasks such as `{name}`, and the problem file has tasks such as `{task}`"
            ));
        }
        let count = |word: &str| self.by_type.get(word).map_or(0, |example| example.count);
        let all: u64 = self.by_type.values().map(|example| example.count).sum();
        let mostly = |word: &str| all > 0 && count(word) * 2 > all;
        for (word, sign) in [
            (
                "invalid_sample",
                "most lines have no completion that can be read: a line is `{\"task_id\": …, \"completion\": \"…\"}`",
            ),
            ("extraction_failed", "most answers hold no code: are these answers to other questions?"),
            ("infra_missing_module", "a module is not installed for the `python3` that judges"),
            ("infra_missing_crate", "a crate is not there: `crates:` in the suite adds it"),
            ("infra_missing_toolchain", "the toolchain of the language is not installed"),
            ("test_timeout", "most tests ran out of time: `limits:` in the suite gives them more"),
        ] {
            if mostly(word) {
                signs.push(sign.to_owned());
            }
        }
        signs
    }
}
