//! The `ai_semantic_restatement` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prompt::{Prompt, Rewriter, build};
use super::{Ask, Maker, Settings};

/// A model restates the task in other words.
///
/// A deeper paraphrase than a change of style: as few words as possible stay, the task stays the same.
///
/// Guarantee: the prompt says `Preserve the task exactly. Change wording only.`; the guard passes every answer that
/// becomes a variant.
///
/// ```yaml
/// ai_semantic_restatement: {strict: false}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AiSemanticRestatement {
    /// The guard also refuses what is only doubtful: a missing word, a clause more, a second step.
    pub strict: bool,
}

impl Settings for AiSemanticRestatement {
    const NAME: &'static str = "ai_semantic_restatement";
    const GENERATOR_VERSION: u32 = 1;

    fn maker(&self) -> Maker<'_> {
        Maker::Model(self)
    }
}

impl Rewriter for AiSemanticRestatement {
    fn prompt(&self, ask: &Ask<'_>, index: u32, attempt: u32) -> Prompt {
        let how = "Restate it in substantially different wording; change neither its scope nor its domain.";
        build::<Self>(ask, index, attempt, how, None)
    }

    fn strict(&self) -> bool {
        self.strict
    }
}
