//! A variant of the system under test: who drives, and whether a gate stands before the tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who turns a case into tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// The scripted agent, which obeys every `CALL_TOOL:` marker that it reads.
    Scripted,
    /// The scripted agent, which obeys `{"tool_calls": […]}` objects as well.
    ScriptedJson,
    /// The case's own `actions`, and nothing that any text says: calls that were made elsewhere.
    Actions,
    /// A model: one of the suite's targets.
    Model,
    /// A program that runs its own loop, with one of the suite's targets as its model.
    Agent,
}

impl Driver {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Driver::Scripted => "scripted",
            Driver::ScriptedJson => "scripted_json",
            Driver::Actions => "actions",
            Driver::Model => "model",
            Driver::Agent => "agent",
        }
    }
}

/// How a model calls tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// It answers with `{"tool_calls": [{"name", "args"}]}`; an answer that is nothing of the kind is unparsed.
    #[default]
    Json,
    /// By its endpoint's own tool calls; an answer without one is an answer in words.
    Native,
}

impl Protocol {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Protocol::Json => "json",
            Protocol::Native => "native",
        }
    }
}

/// Driver and gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// Who drives.
    pub driver: Driver,
    /// Whether a gate stands before the tools.
    pub gated: bool,
}

/// The variants that need no definition.
pub const BUILT_IN: [(&str, Variant); 4] = [
    ("naive", Variant { driver: Driver::Scripted, gated: false }),
    ("calyx", Variant { driver: Driver::Scripted, gated: true }),
    ("naive_llm", Variant { driver: Driver::Model, gated: false }),
    ("calyx_llm", Variant { driver: Driver::Model, gated: true }),
];

impl Variant {
    /// A built-in variant by its name.
    pub fn built_in(name: &str) -> Option<Variant> {
        BUILT_IN.iter().find(|(built_in, _)| *built_in == name).map(|(_, variant)| *variant)
    }
}
