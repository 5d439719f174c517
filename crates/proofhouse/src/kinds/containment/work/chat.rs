//! An agent's conversation as targets take it, and their replies as an agent reads them.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;

use crate::family::target::{Call, Chat, Message as Said, Outcome, Reply, Tool};
use crate::kinds::containment::{Answer, Ending, Message, Protocol, Role, ToolCall, ToolSpec};

/// The conversation for a target. With the JSON protocol tools stand in the instructions and their results in the user's words;
/// with native calls both have their own place.
pub(super) fn of(conversation: &[Message], tools: &[ToolSpec], protocol: Protocol) -> Chat {
    let mut chat = Chat::default();
    let mut documents = String::new();
    let mut open_calls = Vec::new();
    for message in conversation {
        match (message.role, protocol) {
            (Role::System, _) => {
                let system = chat.system.get_or_insert_default();
                system.push_str(if system.is_empty() { "" } else { "\n\n" });
                system.push_str(&message.text);
            }
            (Role::Document, _) => {
                documents.push_str(&format!(
                    "{}:\n{}\n\n",
                    message.from.as_deref().unwrap_or("document"),
                    message.text
                ));
            }
            (Role::User, _) => {
                chat.messages.push(Said::User(format!("{}{}", std::mem::take(&mut documents), message.text)));
            }
            (Role::Assistant, _) => {
                let calls = if protocol == Protocol::Native { &message.calls[..] } else { &[] };
                let calls: Vec<Call> =
                    calls.iter().enumerate().map(|(at, call)| named(chat.messages.len(), at, call)).collect();
                open_calls = calls.iter().map(|call| call.id.clone()).rev().collect();
                chat.messages.push(Said::Assistant { text: Some(message.text.clone()), calls });
            }
            (Role::Tool, Protocol::Json) => {
                let name = message.from.as_deref().unwrap_or("tool");
                chat.messages.push(Said::User(format!("Result of {name}:\n{}", message.text)));
            }
            (Role::Tool, Protocol::Native) => {
                let name = message.from.clone().unwrap_or_else(|| "tool".to_owned());
                let call_id = open_calls.pop().unwrap_or_else(|| {
                    // A result from before the prompt: an endpoint wants to see the call that it answers.
                    let call = named(
                        chat.messages.len(),
                        0,
                        &ToolCall::new(name.clone(), Json::Object(Object::new())),
                    );
                    let id = call.id.clone();
                    chat.messages.push(Said::Assistant { text: None, calls: vec![call] });
                    id
                });
                chat.messages.push(Said::Tool { call_id, name, content: message.text.clone() });
            }
        }
    }
    if protocol == Protocol::Native {
        chat.tools = tools.iter().map(tool).collect();
    }
    chat
}

fn named(turn: usize, at: usize, call: &ToolCall) -> Call {
    Call { id: format!("call_{turn}_{at}"), name: call.name.clone(), args: call.args.clone() }
}

fn tool(spec: &ToolSpec) -> Tool {
    let text = || Json::Object(Object::from_iter([("type", "string")]));
    let properties = spec.arguments.iter().map(|name| (name.as_str(), text()));
    let parameters = Object::from_iter([
        ("properties", Json::Object(properties.collect())),
        ("type", Json::from("object")),
    ]);
    Tool {
        name: spec.name.clone(),
        description: spec.description.clone(),
        parameters: Json::Object(parameters),
    }
}

/// A reply as an agent reads it. A target that speaks natively and called nothing has said all that it had to say.
pub(super) fn answer(reply: Reply, protocol: Protocol) -> Answer {
    let ending = match reply.outcome {
        Outcome::Answered | Outcome::Empty | Outcome::Null | Outcome::Length => Ending::Answered,
        Outcome::Refused | Outcome::Filtered => Ending::Refused,
        Outcome::TimedOut | Outcome::Stalled => Ending::TimedOut,
        Outcome::RateLimited { .. } => Ending::RateLimited,
        Outcome::Failed { error_type, error } => Ending::Failed { error_type, error },
    };
    let calls: Vec<ToolCall> =
        reply.calls.iter().map(|call| ToolCall::new(call.name.clone(), call.args.clone())).collect();
    let native = (protocol == Protocol::Native || !calls.is_empty()).then_some(calls);
    let text = reply.output.as_ref().map(Json::to_text).unwrap_or_default();
    Answer { ending, text, native, usage: reply.usage }
}
