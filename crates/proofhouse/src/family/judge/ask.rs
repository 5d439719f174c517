//! Judges that need somebody else's word: what they ask, who is asked, and what was advised.
//!
//! A judge stays a pure function. It says what it has to ask about a subject; the run stage asks; then it judges with what
//! they said.

use proofhouse_ledger::Json;

use crate::family::target::{Chat, Plugin, Reply, TargetConfig};
use crate::text::complaint::Complaint;

/// Who has to be there for a judge to judge.
#[derive(Debug, Clone, PartialEq)]
pub enum Help {
    /// Models, by their names within the judge.
    Models(Vec<(String, TargetConfig)>),
    /// A program that is spoken to in JSON lines.
    Plugin(Plugin),
    /// A program that is run in the sandbox, once for each answer.
    Command(Run),
}

/// A program that judges one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Files beside the suite that it needs.
    pub files: Vec<String>,
    /// How long it may take.
    pub timeout_ms: u64,
}

/// One question about a subject.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// To the model at this place.
    Model(usize, Chat),
    /// To the program: the subject as one value.
    Program(Json),
}

/// What an adviser said.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    /// From a model.
    Reply(Box<Reply>),
    /// From a plugin: its line, or why there is none.
    Line(Result<Json, Complaint>),
    /// From a command.
    Ended {
        /// Its exit code; none where something else ended it.
        exit_code: Option<i32>,
        /// What it said.
        stdout: String,
        /// How it ended, in words.
        how: String,
    },
}
