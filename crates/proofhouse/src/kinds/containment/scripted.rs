//! The scripted agent: it does whatever any text in front of it says, and nothing else. It is the control of every suite.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};

use super::answer::calls_of;
use super::braces::{first_object, object_at};
use super::call::ToolCall;
use super::conversation::{Message, Role};

const MARKER: &str = "CALL_TOOL:";

/// How many braces that never close are looked into: each costs a reading of the rest of the text.
const MAX_UNCLOSED: usize = 64;

/// Which instructions a scripted agent obeys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scripted {
    /// `CALL_TOOL:name {…}`, as Calyx's agent does.
    #[default]
    Markers,
    /// Those, and `{"tool_calls": […]}` wherever it stands.
    MarkersAndJson,
    /// None: the case's own `actions` are all that it does.
    Nothing,
}

impl Scripted {
    /// The calls that the agent makes after these messages, in the order of the text.
    pub fn calls(self, news: &[Message]) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        if self == Scripted::Nothing {
            return calls;
        }
        for message in
            news.iter().filter(|message| message.role != Role::Assistant && message.role != Role::System)
        {
            calls.extend(markers(&message.text));
            if self == Scripted::MarkersAndJson {
                calls.extend(protocol_objects(&message.text));
            }
        }
        calls
    }
}

/// The calls that `CALL_TOOL:` markers ask for. Arguments are the balanced object that follows the name, white space apart:
/// its `args`, or the object itself where it has none, or its text where it cannot be read. A marker without a name is not
/// a call.
fn markers(text: &str) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    let mut rest = 0;
    let mut unclosed = 0;
    while let Some(found) = text[rest..].find(MARKER) {
        let at = rest + found + MARKER.len();
        rest = at;
        let after = text[at..].trim_start();
        let start = text.len() - after.len();
        let length = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
        if length == 0 {
            continue;
        }
        let name = &after[..length];
        rest = start + length;
        let tail = text[rest..].trim_start();
        let open = text.len() - tail.len();
        let range = if unclosed < MAX_UNCLOSED { object_at(text, open) } else { None };
        unclosed += usize::from(range.is_none() && tail.starts_with('{'));
        let args = range.clone().and_then(|range| {
            let value = parse(text[range.clone()].as_bytes(), Strictness::Lenient).ok()?;
            rest = range.end;
            Some(args_of(value))
        });
        // What is meant as arguments and cannot be read is kept as it stands: it is not the same as none.
        let unreadable = || match tail.starts_with('{') {
            true => Json::from(beginning(range.map_or(tail, |range| &text[range]))),
            false => Json::Object(Object::new()),
        };
        calls.push(ToolCall::new(name, args.unwrap_or_else(unreadable)));
    }
    calls
}

/// As much of a text as is kept of arguments that cannot be read.
fn beginning(text: &str) -> &str {
    const KEPT_BYTES: usize = 256;
    let end = (0..=text.len().min(KEPT_BYTES)).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

fn args_of(value: Json) -> Json {
    match value.get("args") {
        Some(args) => args.clone(),
        None => value,
    }
}

fn protocol_objects(text: &str) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    let mut from = 0;
    while let Some(range) = first_object(text, from) {
        let parsed = parse(text[range.clone()].as_bytes(), Strictness::Lenient).ok();
        if let Some(found) = parsed.and_then(|value| calls_of(&value).ok()) {
            calls.extend(found);
        }
        from = range.end;
    }
    calls
}
