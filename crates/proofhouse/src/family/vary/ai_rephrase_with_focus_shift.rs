//! The `ai_rephrase_with_focus_shift` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prompt::{Prompt, Rewriter, build, check_distinct, turn};
use super::{Ask, Maker, Settings};
use crate::text::complaint::Complaint;

/// What is emphasised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Focus {
    /// That it is simple.
    Simplicity,
    /// That it is clear.
    Clarity,
    /// That it is easy to maintain.
    Maintainability,
    /// That it is right, gently.
    CorrectnessEmphasisSoft,
}

impl Focus {
    const ALL: &[Focus] =
        &[Focus::Simplicity, Focus::Clarity, Focus::Maintainability, Focus::CorrectnessEmphasisSoft];

    /// The name as a suite spells it, and what the model is told.
    fn wording(self) -> (&'static str, &'static str) {
        match self {
            Focus::Simplicity => {
                ("simplicity", "Emphasise simplicity, by adjectives only; imply no new feature.")
            }
            Focus::Clarity => ("clarity", "Emphasise clarity, by adjectives only; imply no new feature."),
            Focus::Maintainability => {
                ("maintainability", "Emphasise maintainability, by adjectives only; imply no new feature.")
            }
            Focus::CorrectnessEmphasisSoft => (
                "correctness_emphasis_soft",
                "Gently emphasise correctness, by adjectives only; imply no new feature.",
            ),
        }
    }
}

/// A model rewrites with another emphasis.
///
/// Users stress different aspects of the same task. The emphasis may be an adjective, never a feature. Values take turns.
///
/// Guarantee: the prompt says `Preserve the task exactly. Change wording only.`; the guard passes every answer that
/// becomes a variant.
///
/// ```yaml
/// ai_rephrase_with_focus_shift: {focus_values: [simplicity, maintainability]}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AiRephraseWithFocusShift {
    /// Which of them, in turn; all of them when the list is empty.
    pub focus_values: Vec<Focus>,
    /// The guard also refuses what is only doubtful: a missing word, a clause more, a second step.
    pub strict: bool,
}

impl Settings for AiRephraseWithFocusShift {
    const NAME: &'static str = "ai_rephrase_with_focus_shift";
    const GENERATOR_VERSION: u32 = 1;

    fn check(&self) -> Result<(), Complaint> {
        check_distinct("focus_values", &self.focus_values)
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Model(self)
    }
}

impl Rewriter for AiRephraseWithFocusShift {
    fn prompt(&self, ask: &Ask<'_>, index: u32, attempt: u32) -> Prompt {
        let (name, how) = turn(&self.focus_values, Focus::ALL, index).wording();
        build::<Self>(ask, index, attempt, how, Some(name))
    }

    fn strict(&self) -> bool {
        self.strict
    }
}
