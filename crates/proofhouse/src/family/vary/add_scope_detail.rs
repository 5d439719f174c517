//! The `add_scope_detail` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ask, Generator, Maker, Settings, Variants, additions};
use crate::text::complaint::Complaint;

/// Concrete details are added.
///
/// A rung of a stress ladder: the task grows more specific, but it stays the same task. The seed has no effect.
///
/// Guarantee: the base is kept; every addition is there, unchanged and in order: a sentence after one space, a phrase
/// before the final punctuation after `, `. One variant, or one per addition when `cumulative`.
///
/// ```yaml
/// add_scope_detail:
///   additions: [Include plus addressing and subdomains., Handle common edge cases.]
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddScopeDetail {
    /// What to add: sentences (capital first letter or final punctuation) or phrases.
    pub additions: Vec<String>,
    /// One variant per addition, each with all additions before it, instead of a single one with all.
    #[serde(default)]
    pub cumulative: bool,
}

impl Settings for AddScopeDetail {
    const NAME: &'static str = "add_scope_detail";
    const GENERATOR_VERSION: u32 = 2;

    fn check(&self) -> Result<(), Complaint> {
        additions::check(&self.additions)
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for AddScopeDetail {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        additions::variants(ask, &self.additions, self.cumulative)
    }
}
