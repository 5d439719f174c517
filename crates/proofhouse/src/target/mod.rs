//! The systems under test: a family whose members turn one input into one reply.
//!
//! What a target does wrong is never a Rust error: it is an [`Outcome`] that is recorded like any other.

use std::borrow::Cow;

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::page::Page;

mod scripted;

mod shape;
mod template;
#[cfg(test)]
mod tests;

pub use scripted::{Fault, Rule, Script, Scripted, ToolCall};
pub use template::{Template, TemplateError};

/// What a suite says of a target: the name of its kind, then that kind's settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetConfig {
    /// Rules over the input, without a network.
    Scripted(Scripted),
}

/// What the envelope calls the model of a target: the `model` that its settings name, or its kind.
pub fn model_id(kind: &str, config: &Json) -> String {
    let model = config.get(kind).and_then(|settings| settings.get("model")).and_then(Json::as_str);
    model.unwrap_or(kind).to_owned()
}

/// A setting that cannot work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The keys and list places that lead from the target's settings to it.
    pub at: Vec<At>,
    /// What is wrong: a lowercase fragment, the subject in backticks.
    pub what: String,
    /// How to fix it.
    pub hint: Option<String>,
}

/// One step from a setting to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// A key of a map.
    Key(Cow<'static, str>),
    /// A place in a list, from 0.
    Index(usize),
}

impl TargetConfig {
    /// The documentation page of every kind of target.
    pub fn pages() -> Vec<Page> {
        vec![Page::of::<Scripted>("scripted")]
    }

    /// The name of its kind, as a suite writes it.
    pub fn kind_name(&self) -> &'static str {
        match self {
            TargetConfig::Scripted(_) => "scripted",
        }
    }

    /// All settings that cannot work.
    pub fn check(&self) -> Vec<Complaint> {
        match self {
            TargetConfig::Scripted(config) => config.check(),
        }
    }

    /// Makes the target ready for requests; the settings have passed [`TargetConfig::check`].
    pub fn open(&self) -> Result<Target, Complaint> {
        match self {
            TargetConfig::Scripted(config) => Script::new(config).map(Target::Scripted),
        }
    }
}

/// A target that is ready for requests.
#[derive(Debug)]
pub enum Target {
    /// Rules over the input, without a network.
    Scripted(Script),
}

impl Target {
    /// What the target says to this request.
    pub fn reply(&self, request: &Request<'_>) -> Reply {
        match self {
            Target::Scripted(script) => script.reply(request),
        }
    }
}

/// One question to a target.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What the target receives, byte for byte.
    pub input: &'a str,
    /// The seed of this trial.
    pub seed: u64,
    /// Which repetition of the case this is, from 0.
    pub repetition: u32,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// How it ended.
    pub outcome: Outcome,
    /// Text or structure; nothing when nothing came back.
    pub output: Option<Json>,
    /// What the target says that it used.
    pub usage: Option<Json>,
    /// How long the run stage has to wait before the reply counts as arrived.
    pub delay_ms: u64,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With an answer.
    Answered,
    /// With an answer that has nothing in it.
    Empty,
    /// The target declined.
    Refused,
    /// Something broke.
    Failed {
        /// The class of the failure.
        error_type: String,
        /// The failure in words.
        error: String,
    },
    /// No answer in time.
    TimedOut,
    /// The target asked for fewer requests.
    RateLimited {
        /// How long it asked to wait.
        retry_after_ms: Option<u64>,
    },
}

impl Outcome {
    /// The word for it in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::Empty => "empty",
            Outcome::Refused => "refused",
            Outcome::Failed { .. } => "failed",
            Outcome::TimedOut => "timed_out",
            Outcome::RateLimited { .. } => "rate_limited",
        }
    }

    /// The record's `status`: whatever the target itself said, even a refusal, is a success that judges look at.
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Answered | Outcome::Empty | Outcome::Refused => "success",
            Outcome::Failed { .. } => "error",
            Outcome::TimedOut => "timeout",
            Outcome::RateLimited { .. } => "rate_limited",
        }
    }
}
