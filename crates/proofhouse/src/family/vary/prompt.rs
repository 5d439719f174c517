//! What the model-based generators share: the prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rng::Key;
use super::{Ask, Settings};
use crate::text::complaint::Complaint;

/// How often a model is asked for one variant, unless the suite says otherwise.
pub const MAX_ATTEMPTS: u32 = 3;

/// A model-based generator: it says what to ask; whoever asks gives the answer's bytes to `guard::check`.
pub trait Rewriter {
    /// What to ask the model for the variant of this index; attempts count from 1.
    fn prompt(&self, ask: &Ask<'_>, index: u32, attempt: u32) -> Prompt;

    /// Whether the guard is strict about answers to this prompt.
    fn strict(&self) -> bool;
}

/// A question to a model. It is kept beside the variant and never reaches the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// The question.
    pub text: String,
    /// The style, focus or register of this variant, where the generator has any.
    pub choice: Option<String>,
    /// A seed for models that take one; it differs for every index and attempt.
    pub seed: u64,
}

const TASK: &str = "Preserve the task exactly. Change wording only.";

const RULES: &str = "\
- Keep it a single instruction with the same number of sentences and the same deliverables.
- Add no requirement, step, goal, example or constraint, and remove none.
- Keep names, numbers, quoted text, code and every `not` as they are.
- Do not mention tests, coverage, validation, benchmarks, harnesses, logs, debugging, performance, formats or tools.
- Do not name a programming language unless the instruction does.
- Output ONLY the rewritten instruction: no explanation, no commentary, no quotation marks around it.";

/// The prompt of one variant: how to rewrite, and the style, focus or register that was chosen for it.
pub(super) fn build<S: Settings>(
    ask: &Ask<'_>,
    index: u32,
    attempt: u32,
    how: &str,
    choice: Option<&str>,
) -> Prompt {
    let mut fence = "---".to_owned();
    while ask.base.contains(&fence) {
        fence.push('-');
    }
    let number = match attempt {
        0 | 1 => format!("This is wording number {}.", index + 1),
        _ => {
            format!("This is wording number {}, attempt {attempt}: the last answer broke a rule.", index + 1)
        }
    };
    let text = format!(
        "Rewrite the instruction between the two `{fence}` lines. {how}\n{TASK}\n\n{RULES}\n\n{number}\n\n{fence}\n{}\n{fence}\n",
        ask.base
    );
    // 53 bits: every reader of JSON keeps such a number exact.
    let seed = Key::of::<S>(ask).stream(index, attempt).next() >> 11;
    Prompt { text, choice: choice.map(str::to_owned), seed }
}

/// The member of a list whose turn it is: each comes once before any comes again.
pub(super) fn turn<T: Copy>(list: &[T], all: &[T], index: u32) -> T {
    let list = if list.is_empty() { all } else { list };
    list[index as usize % list.len()]
}

/// Refuses a list that names a member twice, because its share of variants would not be what the list says.
pub(super) fn check_distinct<T: PartialEq + std::fmt::Debug>(key: &str, list: &[T]) -> Result<(), Complaint> {
    let twice = list.iter().enumerate().find(|(nth, member)| list[..*nth].contains(member));
    match twice {
        Some((nth, _)) => Err(Complaint::new(format!("entry {} of `{key}` is there already", nth + 1))
            .hint("name each one once")),
        None => Ok(()),
    }
}
