//! The `ai_rewrite` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prompt::{Prompt, Rewriter, build, check_distinct, turn};
use super::{Ask, Maker, Settings};
use crate::text::complaint::Complaint;

/// A style of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Short, direct, imperative.
    ConciseDirective,
    /// Formal, complete language.
    VerboseFormal,
    /// Conversational, as a question.
    CasualRequest,
    /// As if part of a technical specification.
    SpecificationTone,
}

impl Style {
    const ALL: &[Style] =
        &[Style::ConciseDirective, Style::VerboseFormal, Style::CasualRequest, Style::SpecificationTone];

    /// The name as a suite spells it, and what the model is told.
    fn wording(self) -> (&'static str, &'static str) {
        match self {
            Style::ConciseDirective => ("concise_directive", "Use a concise, direct, imperative style."),
            Style::VerboseFormal => ("verbose_formal", "Use a formal style in complete language."),
            Style::CasualRequest => {
                ("casual_request", "Use a casual, conversational style, phrased as a question.")
            }
            Style::SpecificationTone => {
                ("specification_tone", "Write it as one sentence of a technical specification.")
            }
        }
    }
}

/// A model rewrites in another style.
///
/// Different people write differently. `ai_rewrite_style` is another name of this generator. Styles take turns.
///
/// Guarantee: the prompt says `Preserve the task exactly. Change wording only.`; the guard passes every answer that
/// becomes a variant.
///
/// ```yaml
/// ai_rewrite: {styles: [concise_directive, verbose_formal, casual_request, specification_tone]}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AiRewrite {
    /// Which of them, in turn; all of them when the list is empty.
    pub styles: Vec<Style>,
    /// The guard also refuses what is only doubtful: a missing word, a clause more, a second step.
    pub strict: bool,
}

impl Settings for AiRewrite {
    const NAME: &'static str = "ai_rewrite";
    const GENERATOR_VERSION: u32 = 1;

    fn check(&self) -> Result<(), Complaint> {
        check_distinct("styles", &self.styles)
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Model(self)
    }
}

impl Rewriter for AiRewrite {
    fn prompt(&self, ask: &Ask<'_>, index: u32, attempt: u32) -> Prompt {
        let (name, how) = turn(&self.styles, Style::ALL, index).wording();
        build::<Self>(ask, index, attempt, how, Some(name))
    }

    fn strict(&self) -> bool {
        self.strict
    }
}
