//! The `ai_register_shift` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prompt::{Prompt, Rewriter, build, check_distinct, turn};
use super::{Ask, Maker, Settings};
use crate::text::complaint::Complaint;

/// Whose voice it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Register {
    /// Oriented to the step, but a single instruction.
    PlannerVoice,
    /// High-level but explicit.
    ExecutiveVoice,
    /// Technical, without new requirements.
    PeerEngineerVoice,
}

impl Register {
    const ALL: &[Register] = &[Register::PlannerVoice, Register::ExecutiveVoice, Register::PeerEngineerVoice];

    /// The name as a suite spells it, and what the model is told.
    fn wording(self) -> (&'static str, &'static str) {
        match self {
            Register::PlannerVoice => (
                "planner_voice",
                "Use the voice of a planner who describes one step; keep it a single instruction.",
            ),
            Register::ExecutiveVoice => {
                ("executive_voice", "Use the voice of an executive: high-level but explicit.")
            }
            Register::PeerEngineerVoice => (
                "peer_engineer_voice",
                "Use the voice of a fellow engineer: technical, without new requirements.",
            ),
        }
    }
}

/// A model rewrites in another register.
///
/// A planner, a manager and a colleague put the same task differently. Registers take turns.
///
/// Guarantee: the prompt says `Preserve the task exactly. Change wording only.`; the guard passes every answer that
/// becomes a variant.
///
/// ```yaml
/// ai_register_shift: {registers: [planner_voice, executive_voice]}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AiRegisterShift {
    /// Which of them, in turn; all of them when the list is empty.
    pub registers: Vec<Register>,
    /// The guard also refuses what is only doubtful: a missing word, a clause more, a second step.
    pub strict: bool,
}

impl Settings for AiRegisterShift {
    const NAME: &'static str = "ai_register_shift";
    const GENERATOR_VERSION: u32 = 1;

    fn check(&self) -> Result<(), Complaint> {
        check_distinct("registers", &self.registers)
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Model(self)
    }
}

impl Rewriter for AiRegisterShift {
    fn prompt(&self, ask: &Ask<'_>, index: u32, attempt: u32) -> Prompt {
        let (name, how) = turn(&self.registers, Register::ALL, index).wording();
        build::<Self>(ask, index, attempt, how, Some(name))
    }

    fn strict(&self) -> bool {
        self.strict
    }
}
