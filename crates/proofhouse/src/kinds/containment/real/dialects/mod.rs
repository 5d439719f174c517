//! The three ways in which agents speak to their models: what they ask becomes a [`Chat`], and a [`Reply`] becomes what they
//! expect, in one piece or as events. A chat holds nothing of what differs from run to run: metadata, ids of items, models' names.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};

use crate::family::target::{Call, Chat, Message, Outcome, Reply, Tool};
use crate::text::complaint::Complaint;

mod completions;
mod messages;
mod responses;
#[cfg(test)]
mod tests;

/// One event of a stream, with its name where the API has names.
pub(super) type Event = (Option<String>, Json);

/// One API that agents use.
pub(super) struct Dialect {
    /// How its path ends.
    pub(super) path: &'static str,
    /// Reads a request.
    pub(super) read: fn(&Json) -> Result<ModelRequest, Complaint>,
    /// What goes back in one piece.
    pub(super) write: fn(&ModelRequest, &Answer) -> Json,
    /// The same as events, each with its name where the API has names.
    pub(super) events: fn(&Json) -> Vec<Event>,
    /// An error in its shape.
    pub(super) error: fn(&str, &str) -> Json,
    /// Whether a stream ends with `[DONE]`.
    pub(super) done: bool,
}

/// All of them.
pub(super) const DIALECTS: [&Dialect; 3] = [&completions::DIALECT, &responses::DIALECT, &messages::DIALECT];

/// A request as it was understood.
#[derive(Debug, Default)]
pub(super) struct ModelRequest {
    /// What the target is asked.
    pub(super) chat: Chat,
    /// The model that the agent named.
    pub(super) model: String,
    /// Whether it wants events.
    pub(super) stream: bool,
    /// Tools that stand in a namespace: the name in the chat, the tool's own, the namespace.
    pub(super) spaces: Vec<(String, String, String)>,
}

/// What goes back.
#[derive(Debug)]
pub(super) struct Answer {
    /// Its number in the conversation, from 0.
    pub(super) number: usize,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) ended: Ended,
    pub(super) input_tokens: f64,
    pub(super) output_tokens: f64,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Done,
    Length,
    Refused,
}

impl Answer {
    /// What goes back for a reply; nothing where there is none to give.
    pub(super) fn of(reply: &Reply, asked: &ModelRequest) -> Option<Answer> {
        let ended = match reply.outcome {
            Outcome::Answered | Outcome::Empty | Outcome::Null => Ended::Done,
            Outcome::Length => Ended::Length,
            Outcome::Refused | Outcome::Filtered => Ended::Refused,
            Outcome::Failed { .. } | Outcome::TimedOut | Outcome::Stalled | Outcome::RateLimited { .. } => {
                return None;
            }
        };
        let text = match &reply.output {
            None | Some(Json::Null) => None,
            Some(both) if !reply.calls.is_empty() => {
                both.get("content").filter(|text| **text != Json::Null).map(Json::to_text)
            }
            Some(output) => Some(output.to_text()),
        };
        let tokens = |key: &str| {
            reply.usage.as_ref().and_then(|usage| usage.get(key)).and_then(Json::as_f64).unwrap_or(0.0)
        };
        Some(Answer {
            number: number(&asked.chat),
            text,
            calls: asked.called(&reply.calls),
            ended,
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
        })
    }
}

/// How many turns of the model a conversation has.
pub(super) fn number(chat: &Chat) -> usize {
    chat.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count()
}

impl ModelRequest {
    /// Calls with names that the agent knows, and ids that it has not seen.
    fn called(&self, calls: &[Call]) -> Vec<Call> {
        // Who was offered nothing is asking for a title or a summary.
        if self.chat.tools.is_empty() {
            return Vec::new();
        }
        let seen: Vec<&str> = self
            .chat
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Assistant { calls, .. } => Some(calls),
                _ => None,
            })
            .flatten()
            .map(|call| call.id.as_str())
            .collect();
        let offered = || self.chat.tools.iter().map(|tool| tool.name.as_str());
        let named = |name: &str| {
            let exactly = offered().any(|tool| tool == name);
            let by_end = || offered().find(|tool| super::super::mcp::own_name(tool, [name]).is_some());
            if exactly { name.to_owned() } else { by_end().unwrap_or(name).to_owned() }
        };
        let fresh = |id: &str| {
            if seen.contains(&id) { format!("{id}_{}", number(&self.chat)) } else { id.to_owned() }
        };
        calls
            .iter()
            .map(|call| Call { id: fresh(&call.id), name: named(&call.name), args: call.args.clone() })
            .collect()
    }

    /// Adds words or calls to the model's turn that is being read, or begins one.
    fn said(&mut self, words: Option<String>, call: Option<Call>) {
        if !matches!(self.chat.messages.last(), Some(Message::Assistant { .. })) {
            self.chat.messages.push(Message::Assistant { text: None, calls: Vec::new(), spoken: None });
        }
        let Some(Message::Assistant { text, calls, .. }) = self.chat.messages.last_mut() else { return };
        if let Some(words) = words {
            *text = Some(text.take().map_or(words.clone(), |before| before + &words));
        }
        calls.extend(call);
    }

    fn instructed(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        let system = self.chat.system.get_or_insert_default();
        system.push_str(if system.is_empty() { "" } else { "\n\n" });
        system.push_str(words);
    }

    /// Adds a tool's result; its name is that of the call that it answers.
    fn told(&mut self, call_id: &str, content: String) {
        let calls = self.chat.messages.iter().rev().filter_map(|message| match message {
            Message::Assistant { calls, .. } => Some(calls),
            _ => None,
        });
        let name = calls.flatten().find(|call| call.id == call_id).map(|call| call.name.clone());
        let name = name.unwrap_or_else(|| "tool".to_owned());
        self.chat.messages.push(Message::Tool { call_id: call_id.to_owned(), name, content });
    }

    fn offered(&mut self, tool: &Json, parameters: &str) {
        let Some(name) = text(tool, "name") else { return };
        let description = text(tool, "description").unwrap_or_default();
        let parameters = tool.get(parameters).cloned().unwrap_or_else(|| Json::Object(Object::new()));
        self.chat.tools.push(Tool { name, description, parameters: parameters.into() });
    }
}

fn text(value: &Json, key: &str) -> Option<String> {
    value.get(key).and_then(Json::as_str).map(str::to_owned)
}

fn list<'j>(value: &'j Json, key: &str) -> &'j [Json] {
    match value.get(key) {
        Some(Json::Array(list)) => list,
        _ => &[],
    }
}

/// The words of a text or of a list of parts; what is not text is named.
fn words(content: Option<&Json>) -> String {
    let part = |part: &Json| match part {
        Json::String(text) => text.clone(),
        _ => match (text(part, "text"), text(part, "type")) {
            (Some(text), _) => text,
            (None, Some(kind)) if kind.contains("thinking") || kind == "reasoning" => String::new(),
            (None, kind) => format!("[{}]", kind.unwrap_or_else(|| "part".to_owned())),
        },
    };
    match content {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(parts)) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// Arguments that were written as text; what is no JSON stays text.
fn arguments(written: Option<&Json>) -> Json {
    match written {
        Some(Json::String(text)) if text.trim().is_empty() => Json::Object(Object::new()),
        Some(Json::String(text)) => {
            parse(text.as_bytes(), Strictness::Lenient).unwrap_or_else(|_| Json::from(text.as_str()))
        }
        Some(other) => other.clone(),
        None => Json::Object(Object::new()),
    }
}

fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(Object::from_iter(fields))
}

/// A copy of an object with these fields set.
fn with<const N: usize>(value: &Json, fields: [(&str, Json); N]) -> Json {
    let Json::Object(object) = value else { return value.clone() };
    let mut object = object.clone();
    for (key, value) in fields {
        object.set(key, value);
    }
    Json::Object(object)
}

/// An OpenAI error.
fn plain_error(kind: &str, message: &str) -> Json {
    let error =
        object([("code", Json::from(kind)), ("message", Json::from(message)), ("type", Json::from(kind))]);
    object([("error", error)])
}

/// The turns of a model as its endpoint gave them, by the calls in them: what an agent sends back goes to the endpoint as it was
/// said, thoughts and signatures included.
#[derive(Debug, Default)]
pub(super) struct Spoken(BTreeMap<String, Json>);

impl Spoken {
    /// Keeps a turn.
    pub(super) fn keep(&mut self, reply: &Reply) {
        if let (Some(call), Some(spoken)) = (reply.calls.first(), &reply.spoken) {
            self.0.insert(call.id.clone(), spoken.clone());
        }
    }

    /// Puts kept turns into a conversation.
    pub(super) fn fill(&self, chat: &mut Chat) {
        for message in &mut chat.messages {
            if let Message::Assistant { calls, spoken, .. } = message {
                *spoken = calls.first().and_then(|call| self.0.get(&call.id)).cloned();
            }
        }
    }
}
