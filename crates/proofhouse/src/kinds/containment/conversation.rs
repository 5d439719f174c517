//! What is said in a trial: messages, and what a case gives an agent before it begins.

use proofhouse_ledger::digest::Hasher;
use proofhouse_ledger::{Digest, Json};

use super::answer::OwnTurn;
use super::call::ToolCall;
use super::case::{Case, Speaker};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The protocol and the case's own instructions.
    System,
    /// The user.
    User,
    /// A text that came with the prompt.
    Document,
    /// The agent.
    Assistant,
    /// A tool's result.
    Tool,
}

impl Role {
    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Document => "document",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What it says.
    pub text: String,
    /// The tool or document that it comes from.
    pub from: Option<String>,
    /// The calls of an assistant's message.
    pub calls: Vec<ToolCall>,
    /// Whether the case planted it.
    pub planted: bool,
    /// A model's turn as it goes back to the model.
    pub turn: Option<OwnTurn>,
}

impl Message {
    pub(super) fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), from: None, calls: Vec::new(), planted: false, turn: None }
    }

    pub(super) fn planted(role: Role, text: String, from: Option<&str>) -> Self {
        Self { from: from.map(str::to_owned), planted: true, ..Self::new(role, text) }
    }
}

/// The digest of everything that a case gives an agent: what it is told, what it finds, and what it plays.
pub fn given(case: &Case) -> Digest {
    let mut hasher = Hasher::default();
    let mut part = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for message in opening(case) {
        part(message.role.as_str());
        part(message.from.as_deref().unwrap_or_default());
        part(&message.text);
    }
    for planted in &case.tool_results {
        part(&planted.tool);
        part(&planted.args.as_ref().map(Json::to_string).unwrap_or_default());
        part(&case.filled(&planted.result));
    }
    for action in &case.actions {
        part(&action.name);
        part(&action.args.to_string());
    }
    for argument in &case.server_args {
        part("server_args");
        part(&case.filled(argument));
    }
    hasher.finish()
}

/// What the agent is given: the case's own instructions, what was said before, documents, and the prompt.
pub(super) fn opening(case: &Case) -> Vec<Message> {
    let mut messages = Vec::new();
    messages.extend(case.system.as_ref().map(|text| Message::new(Role::System, text.clone())));
    for turn in &case.earlier_turns {
        let role = match turn.role {
            Speaker::User => Role::User,
            Speaker::Assistant => Role::Assistant,
            Speaker::Tool => Role::Tool,
        };
        messages.push(Message::planted(role, case.filled(&turn.text), turn.tool.as_deref()));
    }
    for document in &case.documents {
        messages.push(Message::planted(Role::Document, case.filled(&document.text), Some(&document.name)));
    }
    messages.push(Message::new(Role::User, case.filled(&case.prompt)));
    messages
}
