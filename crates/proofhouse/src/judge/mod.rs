//! A stand-in for the family of judges: just enough configuration for suites to be read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an answer is judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeConfig {
    /// The answer is the expected one.
    Equals(Equals),
    /// The answer contains a text.
    Contains(Contains),
}

/// The answer is the expected one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Equals {
    /// Whether `A` equals `a`.
    #[serde(default)]
    pub ignore_case: bool,
}

/// The answer contains a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contains {
    /// What it has to contain.
    pub value: String,
}

impl JudgeConfig {
    /// Refuses settings that cannot work.
    pub fn check(&self) -> Result<(), String> {
        match self {
            JudgeConfig::Contains(Contains { value }) if value.is_empty() => {
                Err("`value` is empty, which every answer contains".to_owned())
            }
            _ => Ok(()),
        }
    }
}
