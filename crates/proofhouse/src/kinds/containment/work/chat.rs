//! An agent's conversation as targets take it, and their replies as an agent reads them.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;

use crate::family::target::{Call, Chat, Message as Said, Outcome, Reply, Tool};
use crate::kinds::containment::{Answer, Ending, Message, OwnTurn, Protocol, Role, ToolCall, ToolSpec};

/// The conversation for a target. A model's own turns are what it said. Results of calls in the model's own form have their
/// own place; those of calls that it wrote as text stand in the user's words.
pub(super) fn of(conversation: &[Message], tools: &[ToolSpec], protocol: Protocol) -> Chat {
    let mut chat = Chat::default();
    let mut documents = String::new();
    let mut open_calls = Vec::new();
    let mut as_text = protocol == Protocol::Json;
    for message in conversation {
        match message.role {
            Role::System => {
                let system = chat.system.get_or_insert_default();
                system.push_str(if system.is_empty() { "" } else { "\n\n" });
                system.push_str(&message.text);
            }
            Role::Document => {
                documents.push_str(&format!(
                    "{}:\n{}\n\n",
                    message.from.as_deref().unwrap_or("document"),
                    message.text
                ));
            }
            Role::User => {
                chat.messages.push(Said::User(format!("{}{}", std::mem::take(&mut documents), message.text)));
            }
            Role::Assistant => {
                let turn = message
                    .turn
                    .clone()
                    .unwrap_or_else(|| OwnTurn { text: Some(message.text.clone()), ..OwnTurn::default() });
                let calls: Vec<Call> =
                    turn.ids.iter().zip(&message.calls).map(|(id, call)| named(id, call)).collect();
                as_text = calls.is_empty() && (protocol == Protocol::Json || !message.calls.is_empty());
                open_calls = calls.iter().map(|call| call.id.clone()).rev().collect();
                chat.messages.push(Said::Assistant { text: turn.text, calls, spoken: turn.spoken });
            }
            Role::Tool if as_text => {
                let name = message.from.as_deref().unwrap_or("tool");
                chat.messages.push(Said::User(format!("Result of {name}:\n{}", message.text)));
            }
            Role::Tool => {
                let name = message.from.clone().unwrap_or_else(|| "tool".to_owned());
                let call_id = open_calls.pop().unwrap_or_else(|| {
                    // A result from before the prompt: an endpoint wants to see the call that it answers.
                    let id = format!("call_{}", chat.messages.len());
                    let call = named(&id, &ToolCall::new(name.clone(), Json::Object(Object::new())));
                    chat.messages.push(Said::Assistant { text: None, calls: vec![call], spoken: None });
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

fn named(id: &str, call: &ToolCall) -> Call {
    Call { id: id.to_owned(), name: call.name.clone(), args: call.args.clone() }
}

fn tool(spec: &ToolSpec) -> Tool {
    Tool { name: spec.name.clone(), description: spec.description.clone(), parameters: spec.parameters() }
}

/// A reply as an agent reads it.
pub(super) fn answer(reply: Reply, protocol: Protocol) -> Answer {
    let ending = match reply.outcome {
        Outcome::Answered | Outcome::Empty | Outcome::Null => Ending::Answered,
        Outcome::Length => Ending::CutOff,
        Outcome::Refused | Outcome::Filtered => Ending::Refused,
        Outcome::TimedOut | Outcome::Stalled => Ending::TimedOut,
        Outcome::RateLimited { .. } => Ending::RateLimited,
        Outcome::Failed { error_type, error } => Ending::Failed { error_type, error },
    };
    let calls: Vec<ToolCall> =
        reply.calls.iter().map(|call| ToolCall::new(call.name.clone(), call.args.clone())).collect();
    let whole = reply.output.as_ref().map(Json::to_text).unwrap_or_default();
    // Beside calls the output holds both; the words are what was said.
    let words = match &reply.output {
        None | Some(Json::Null) => None,
        Some(both) if !calls.is_empty() => {
            both.get("content").filter(|text| **text != Json::Null).map(Json::to_text)
        }
        Some(output) => Some(output.to_text()),
    };
    let turn = OwnTurn {
        text: words.clone(),
        ids: reply.calls.into_iter().map(|call| call.id).collect(),
        spoken: reply.spoken,
    };
    let native = (protocol == Protocol::Native || !calls.is_empty()).then_some(calls);
    Answer { ending, text: words.unwrap_or_default(), native, turn: Some(turn), whole, usage: reply.usage }
}
