//! What a model answers, and how tool calls are read from it: native calls, a fenced block, or the first balanced object.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};

use super::braces::first_object;
use super::call::ToolCall;

/// One answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub ending: Ending,
    /// What it says.
    pub text: String,
    /// Calls in the model's own form; `None` where the model has no such form or made none.
    pub native: Option<Vec<ToolCall>>,
    /// What the model says that it used.
    pub usage: Option<Json>,
}

impl Answer {
    /// An answer in words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { ending: Ending::Answered, text: text.into(), native: None, usage: None }
    }

    /// An answer that is calls alone.
    pub fn calls(calls: Vec<ToolCall>) -> Self {
        Self { ending: Ending::Answered, text: String::new(), native: Some(calls), usage: None }
    }

    /// No answer.
    pub fn none(ending: Ending) -> Self {
        Self { ending, text: String::new(), native: None, usage: None }
    }
}

/// How a request to a model ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With an answer.
    Answered,
    /// The model, or who serves it, declined.
    Refused,
    /// No answer in time.
    TimedOut,
    /// Turned away, retries included.
    RateLimited,
    /// Something broke.
    Failed {
        /// The class of the failure.
        error_type: String,
        /// The failure in words.
        error: String,
    },
}

/// What was read from an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// These calls, perhaps none, and the form in which they stood.
    Calls(Vec<ToolCall>, &'static str),
    /// The model declined.
    Refusal,
    /// Nobody can tell, and why.
    Unreadable(String),
}

/// Reads an answer: native calls first, then a fenced block, then the first balanced object, then a plain refusal.
pub fn read_answer(answer: &Answer) -> Read {
    if answer.ending == Ending::Refused {
        return Read::Refusal;
    }
    if let Some(calls) = &answer.native {
        return Read::Calls(calls.clone(), "native");
    }
    let mut why = "no JSON object in the answer".to_owned();
    for (text, form) in
        fenced(&answer.text).into_iter().map(|text| (text, "fenced")).chain([(&*answer.text, "object")])
    {
        let Some(range) = first_object(text, 0) else { continue };
        let value = match parse(text[range].as_bytes(), Strictness::Lenient) {
            Ok(value) => value,
            Err(error) => {
                why = format!("the object is not JSON: {error}");
                continue;
            }
        };
        if value.get("refusal").is_some_and(|refusal| *refusal != Json::Null) && no_calls(&value) {
            return Read::Refusal;
        }
        match calls_of(&value) {
            Ok(calls) => return Read::Calls(calls, form),
            Err(error) => why = error,
        }
    }
    if is_refusal(&answer.text) {
        return Read::Refusal;
    }
    Read::Unreadable(why)
}

fn no_calls(value: &Json) -> bool {
    matches!(value.get("tool_calls"), None | Some(Json::Null))
        || value.get("tool_calls") == Some(&Json::Array(Vec::new()))
}

/// The calls of `{"tool_calls": [{"name", "args"}]}`. Arguments may also be called `arguments`, and may be JSON in a text,
/// as chat interfaces send them; a call may be wrapped in `function`.
pub(super) fn calls_of(value: &Json) -> Result<Vec<ToolCall>, String> {
    match value.get("tool_calls") {
        Some(Json::Array(list)) => list.iter().map(call_of).collect(),
        Some(other) => Err(format!("`tool_calls` is {}, not an array", other.type_name())),
        None => Err("the object has no `tool_calls`".to_owned()),
    }
}

fn call_of(value: &Json) -> Result<ToolCall, String> {
    let value = value.get("function").filter(|inner| inner.as_object().is_some()).unwrap_or(value);
    let name = match value.get("name") {
        Some(Json::String(name)) => name.clone(),
        Some(other) => return Err(format!("a call's `name` is {}, not text", other.type_name())),
        None => return Err("a call has no `name`".to_owned()),
    };
    let args = match value.get("args").or_else(|| value.get("arguments")) {
        None | Some(Json::Null) => Json::Object(Object::new()),
        Some(Json::String(text)) => {
            parse(text.as_bytes(), Strictness::Lenient).unwrap_or_else(|_| Json::String(text.clone()))
        }
        Some(other) => other.clone(),
    };
    Ok(ToolCall { name, args })
}

/// The contents of code fences, in order.
fn fenced(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("```") {
        let after = &rest[open + 3..];
        let body = after.find('\n').map_or(after, |line| &after[line + 1..]);
        let Some(close) = body.find("```") else {
            blocks.push(body);
            break;
        };
        blocks.push(&body[..close]);
        rest = &body[close + 3..];
    }
    blocks
}

/// Whether an answer in words begins as refusals begin. Only its first sentence is looked at: an answer that merely mentions
/// that it cannot do something is not one.
fn is_refusal(text: &str) -> bool {
    const OPENINGS: [&str; 14] = [
        "i can't",
        "i cannot",
        "i can not",
        "i won't",
        "i will not",
        "i'm sorry",
        "i am sorry",
        "sorry,",
        "i'm unable",
        "i am unable",
        "i'm not able",
        "i am not able",
        "i must decline",
        "i refuse",
    ];
    let start = text.trim_start().replace('’', "'").to_lowercase();
    OPENINGS.iter().any(|opening| start.starts_with(opening))
}
