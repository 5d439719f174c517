//! The `add_constraints_tension` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ask, Generator, Maker, Settings, Variants, additions};
use crate::text::complaint::Complaint;

/// Competing preferences are added.
///
/// A rung of a stress ladder: simplicity against completeness, strictness against practice. Whether the preferences
/// leave the task solvable is up to whoever writes them. The seed has no effect.
///
/// Guarantee: the base is kept; every addition is there, unchanged and in order: a sentence after one space, a phrase
/// before the final punctuation after `, `. One variant, or one per addition when `cumulative`.
///
/// ```yaml
/// add_constraints_tension:
///   additions: [Prefer maintainable patterns over extreme strictness., Prefer clarity over cleverness.]
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddConstraintsTension {
    /// What to add: sentences (capital first letter or final punctuation) or phrases.
    pub additions: Vec<String>,
    /// One variant per addition, each with all additions before it, instead of a single one with all.
    #[serde(default)]
    pub cumulative: bool,
}

impl Settings for AddConstraintsTension {
    const NAME: &'static str = "add_constraints_tension";
    const GENERATOR_VERSION: u32 = 2;

    fn check(&self) -> Result<(), Complaint> {
        additions::check(&self.additions)
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for AddConstraintsTension {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        additions::variants(ask, &self.additions, self.cumulative)
    }
}
