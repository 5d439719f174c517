//! What a target is asked for one case: the filled prompt, as it is sent, recorded and fingerprinted.

use std::borrow::Cow;
use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json};

use crate::family::target::{AnswerFormat, Chat, Message, Part, Tool};

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Sent {
    /// One message of the user: text.
    Text(String),
    /// A conversation.
    Talk(Arc<Talk>),
}

/// A conversation that is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Talk {
    /// Instructions above it.
    pub system: Option<String>,
    /// What is said, in turns: after each but the last the target answers.
    pub turns: Vec<Vec<Message>>,
    /// Tools that are offered.
    pub tools: Arc<Vec<Tool>>,
    /// The form that the answer is to have.
    pub format: Option<AnswerFormat>,
}

impl Default for Sent {
    fn default() -> Self {
        Sent::Text(String::new())
    }
}

impl Sent {
    /// What a record holds: the text, or the conversation as a structure.
    pub fn to_json(&self) -> Json {
        match self {
            Sent::Text(text) => Json::from(text.as_str()),
            Sent::Talk(talk) => talk.to_json(),
        }
    }

    /// The digest of what a record holds.
    pub fn fingerprint(&self) -> Digest {
        match self {
            Sent::Text(text) => Digest::of(text.as_bytes()),
            Sent::Talk(talk) => Digest::of(talk.to_json().to_string().as_bytes()),
        }
    }

    /// As judges and people read it.
    pub fn shown(&self) -> Cow<'_, str> {
        match self {
            Sent::Text(text) => Cow::Borrowed(text),
            Sent::Talk(talk) => Cow::Owned(talk.shown()),
        }
    }

    /// The first thing that is asked, and how many more turns follow the target's answers.
    pub fn chat(&self, seed: u64, repetition: u32) -> Chat {
        match self {
            Sent::Text(text) => Chat::ask(text.as_str(), seed, repetition),
            Sent::Talk(talk) => Chat {
                system: talk.system.clone(),
                messages: talk.turns.first().cloned().unwrap_or_default(),
                tools: talk.tools.to_vec(),
                format: talk.format.clone(),
                seed,
                repetition,
                ..Chat::default()
            },
        }
    }

    /// What is said after each of the target's answers but the last.
    pub fn later(&self) -> &[Vec<Message>] {
        match self {
            Sent::Text(_) => &[],
            Sent::Talk(talk) => talk.turns.get(1..).unwrap_or_default(),
        }
    }
}

impl Talk {
    fn to_json(&self) -> Json {
        let mut messages = Vec::new();
        if let Some(system) = &self.system {
            let system = [("content", Json::from(system.as_str())), ("role", Json::from("system"))];
            messages.push(Json::Object(system.into_iter().collect()));
        }
        for (nth, turn) in self.turns.iter().enumerate() {
            if nth > 0 {
                // Here the target speaks; what it says is no part of what is asked.
                messages.push(Json::Object(Object::from_iter([("role", "assistant")])));
            }
            messages.extend(turn.iter().map(Message::to_json));
        }
        let mut whole = Object::from_iter([("messages", Json::Array(messages))]);
        if let Some(format) = &self.format {
            whole.set("response_format", format.to_json());
        }
        if !self.tools.is_empty() {
            let tools = self.tools.iter().map(|tool| {
                Json::Object(Object::from_iter([
                    ("description", Json::from(tool.description.as_str())),
                    ("name", Json::from(tool.name.as_str())),
                    ("parameters", tool.parameters.to_json()),
                ]))
            });
            whole.set("tools", Json::Array(tools.collect()));
        }
        Json::Object(whole)
    }

    fn shown(&self) -> String {
        let mut lines: Vec<String> = self.system.iter().map(|system| format!("system: {system}")).collect();
        for (nth, turn) in self.turns.iter().enumerate() {
            if nth > 0 {
                lines.push("assistant: …".to_owned());
            }
            for message in turn {
                lines.push(match message {
                    Message::User(text) => format!("user: {text}"),
                    Message::Shown(parts) => {
                        let parts: Vec<&str> = parts
                            .iter()
                            .map(|part| match part {
                                Part::Text(text) => text.as_str(),
                                Part::Image(_) => "[picture]",
                            })
                            .collect();
                        format!("user: {}", parts.join(" "))
                    }
                    Message::Assistant { text, .. } => {
                        format!("assistant: {}", text.as_deref().unwrap_or_default())
                    }
                    Message::Tool { content, .. } => format!("tool: {content}"),
                });
            }
        }
        // One question alone reads best without the name of its speaker.
        match lines.as_slice() {
            [only] => only.strip_prefix("user: ").unwrap_or(only).to_owned(),
            _ => lines.join("\n"),
        }
    }
}
