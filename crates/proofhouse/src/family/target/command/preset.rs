//! Rules for tools that are known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Command, OutcomeRule};

/// A tool whose output is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Ironclad AI Guardrails: reads its markers on standard output; `IRONCLAD_DEBUG=1` makes it leave debug artefacts.
    Ironclad,
}

impl Preset {
    /// Adds the preset's rules behind the suite's own, and its switches where the suite has none.
    pub(super) fn fill(self, command: &mut Command) {
        match self {
            Preset::Ironclad => {
                command.outcome.extend(ironclad());
                if command.debug_on.is_empty() {
                    command.debug_on.env.insert("IRONCLAD_DEBUG".to_owned(), "1".to_owned());
                }
                command.debug_dir.get_or_insert_with(|| "build/.ironclad_debug".to_owned());
            }
        }
    }
}

/// Markers stand at the beginning of a line: the tool also prints what models wrote, which may quote them.
fn ironclad() -> Vec<OutcomeRule> {
    let stdout = |pattern: &str| OutcomeRule { stdout: Some(pattern.to_owned()), ..OutcomeRule::default() };
    vec![
        OutcomeRule { success: Some(true.into()), ..stdout(r"(?m)^\[SUCCESS\] Verified brick saved") },
        OutcomeRule {
            failure_stage: Some("generation".into()),
            attempts: Some(0.into()),
            repairs_triggered: Some(0.into()),
            ..stdout(r"(?m)^\[X\] INCINERATED")
        },
        OutcomeRule {
            failure_stage: Some("repair".into()),
            ..stdout(r"(?m)^\[!\] Repair produced invalid JSON|^\[-\] FINAL FAILURE")
        },
        OutcomeRule {
            repairs_triggered: Some("count".into()),
            ..stdout(r"(?m)^\[-\] FAIL .*Triggering repair")
        },
        OutcomeRule {
            repairs_triggered: Some("{1}".into()),
            ..stdout(r"(?m)^\[\+\] Verified after (\d+) repairs")
        },
        OutcomeRule {
            attempts: Some("count".into()),
            ..stdout(r"(?m)^\[-\] FAIL |^\[\+\] Verified after|^\[-\] FINAL FAILURE")
        },
    ]
}
