//! What a model answers, and how tool calls are read from it: native calls, and every JSON object in fences and words.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};

use super::braces::first_object;
use super::call::ToolCall;
use crate::text::complaint::Complaint;

/// One answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub ending: Ending,
    /// What it says; an empty text where it says nothing beside its calls.
    pub text: String,
    /// Calls in the model's own form; `None` where it was not offered tools in that form and made none.
    pub native: Option<Vec<ToolCall>>,
    /// The turn as its endpoint gave it, with the ids of its calls.
    pub turn: Option<OwnTurn>,
    /// Words and calls together, as a record tells them.
    pub whole: String,
    /// What the model says that it used.
    pub usage: Option<Json>,
}

/// A model's turn as it goes back to the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnTurn {
    /// Its words; none where it said null.
    pub text: Option<String>,
    /// The ids of its calls, one for each.
    pub ids: Vec<String>,
    /// All of it in the endpoint's own dialect, where that is known.
    pub spoken: Option<Json>,
}

impl Answer {
    /// An answer in words.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { whole: text.clone(), text, ..Self::none(Ending::Answered) }
    }

    /// An answer that is calls alone.
    pub fn calls(calls: Vec<ToolCall>) -> Self {
        Self { native: Some(calls), ..Self::none(Ending::Answered) }
    }

    /// No answer.
    pub fn none(ending: Ending) -> Self {
        Self { ending, text: String::new(), native: None, turn: None, whole: String::new(), usage: None }
    }
}

/// How a request to a model ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With an answer.
    Answered,
    /// With an answer that was cut off at the limit of its length.
    CutOff,
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

/// Why an answer that was cut off is not read.
pub(super) const CUT_OFF: &str = "the answer was cut off at the limit of its length";

/// Objects and pieces of text that are looked into: a hostile answer costs linear time.
const MAX_LOOKS: usize = 64;

/// Reads an answer. Calls in the model's own form come first; then every JSON object in it, in fences or not; then a plain
/// refusal. Whatever calls there are count, however the answer ended; an answer without any has to say something, to its end.
pub fn read_answer(answer: &Answer) -> Read {
    let found = objects(&answer.text);
    if let Some(calls) = answer.native.as_ref().filter(|calls| !calls.is_empty()) {
        // What is said beside them may tell the same calls once more, or others: those are no silence either.
        let mut calls = calls.clone();
        let others: Vec<ToolCall> = found.calls.into_iter().filter(|call| !calls.contains(call)).collect();
        calls.extend(others);
        return Read::Calls(calls, "native");
    }
    if !found.calls.is_empty() {
        return Read::Calls(found.calls, found.form);
    }
    if answer.ending == Ending::Refused || found.refusal {
        return Read::Refusal;
    }
    if answer.ending == Ending::CutOff {
        return Read::Unreadable(CUT_OFF.to_owned());
    }
    if answer.text.trim().is_empty() {
        return Read::Unreadable("the answer is empty".to_owned());
    }
    match (found.why, found.protocol) {
        (Some(why), _) => return Read::Unreadable(why.to_string()),
        (None, true) => return Read::Calls(Vec::new(), found.form),
        (None, false) => {}
    }
    if is_refusal(&answer.text) {
        return Read::Refusal;
    }
    match (&answer.native, found.other) {
        // Who is offered tools in its own form and answers in words has answered.
        (Some(_), _) => Read::Calls(Vec::new(), "words"),
        (None, Some(why)) => Read::Unreadable(why.to_string()),
        (None, None) => Read::Unreadable("no JSON object in the answer".to_owned()),
    }
}

/// What an answer says to the user: its words, and of its JSON objects everything but calls. What cannot be read is kept.
pub(super) fn words_said(text: &str) -> String {
    let mut said = String::new();
    let mut from = 0;
    for _ in 0..MAX_LOOKS {
        let Some(range) = first_object(text, from) else { break };
        let Ok(value) = parse(text[range.clone()].as_bytes(), Strictness::Lenient) else {
            said.push_str(&text[from..range.start + 1]);
            from = range.start + 1;
            continue;
        };
        said.push_str(&text[from..range.start]);
        if !is_call(&value) {
            leaves(&value, &mut said);
        }
        from = range.end;
    }
    said.push_str(&text[from..]);
    said.trim().to_owned()
}

/// The texts in a value, line by line; `tool_calls` aside.
fn leaves(value: &Json, said: &mut String) {
    match value {
        Json::Array(list) => list.iter().for_each(|item| leaves(item, said)),
        Json::Object(object) => {
            object.iter().filter(|(key, _)| *key != "tool_calls").for_each(|(_, value)| leaves(value, said));
        }
        scalar => {
            said.push_str(if said.is_empty() || said.ends_with('\n') { "" } else { "\n" });
            said.push_str(&scalar.to_text());
        }
    }
}

/// What the JSON objects of an answer say.
#[derive(Default)]
struct ReadObjects {
    calls: Vec<ToolCall>,
    form: &'static str,
    /// Whether one of them is an answer of the protocol.
    protocol: bool,
    refusal: bool,
    /// What is wrong with an object that is meant as calls.
    why: Option<Complaint>,
    /// What is wrong with one that is meant as something else.
    other: Option<String>,
}

impl ReadObjects {
    fn take(&mut self, value: &Json, form: &'static str) {
        let listed = value.get("tool_calls").is_some();
        if listed || is_call(value) {
            match if listed { calls_of(value) } else { call_of(value).map(|call| vec![call]) } {
                Ok(calls) => {
                    if self.form.is_empty() || (self.calls.is_empty() && !calls.is_empty()) {
                        self.form = form;
                    }
                    self.calls.extend(calls);
                    self.protocol = true;
                }
                Err(why) => self.why = self.why.take().or(Some(why)),
            }
        } else if self.other.is_none() {
            self.other = Some("the object has no `tool_calls`".to_owned());
        }
        self.refusal |= value.get("refusal").is_some_and(|refusal| *refusal != Json::Null);
    }
}

/// Every object in a text: what stands in a fence is said to be fenced, and nothing is read twice.
fn objects(text: &str) -> ReadObjects {
    let mut found = ReadObjects::default();
    let fences: Vec<_> = fenced(text).into_iter().map(|fence| range_in(text, fence)).collect();
    let mut from = 0;
    for look in 0..=MAX_LOOKS {
        // A brace in the words before a fence must not hide what is in it.
        let next_fence = fences.iter().find(|fence| fence.start >= from);
        let Some(range) = first_object(text, from) else { break };
        if look == MAX_LOOKS {
            found
                .why
                .get_or_insert_with(|| Complaint::new("the answer has more objects than are looked into"));
            break;
        }
        let over = next_fence.filter(|fence| range.start < fence.start && range.end > fence.start);
        let inside = fences.iter().find(|fence| fence.contains(&range.start));
        let form = if inside.is_some() { "fenced" } else { "object" };
        match parse(text[range.clone()].as_bytes(), Strictness::Lenient) {
            Ok(value) => {
                found.take(&value, form);
                from = range.end;
            }
            Err(error) => {
                if found.other.is_none() {
                    found.other = Some(format!("the object is not JSON: {error}"));
                }
                // What is meant as a call and cannot be read is not silence.
                if found.why.is_none() && text[range.clone()].contains("\"tool_calls\"") && over.is_none() {
                    found.why = Some(Complaint::new(format!("the object is not JSON: {error}")));
                }
                from = over.map_or(range.start + 1, |fence| fence.start);
            }
        }
    }
    found
}

fn range_in(text: &str, part: &str) -> std::ops::Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// Whether an object is a call by itself, as models write them that know another form than the one they were told.
fn is_call(value: &Json) -> bool {
    let inner = value.get("function").filter(|inner| inner.as_object().is_some()).unwrap_or(value);
    let args = ["args", "arguments", "parameters", "input"];
    inner.get("name").and_then(Json::as_str).is_some() && args.iter().any(|key| inner.get(key).is_some())
}

/// Whether a text writes a call of one of these tools in a form that nobody can carry out: `tool(…)`, `<function=tool>`.
pub(super) fn writes_a_call(text: &str, tools: &[&str]) -> bool {
    let begun = ["\"tool_calls\"", "\"arguments\""].iter().any(|sign| text.contains(sign));
    begun
        || marks_up_a_call(text, tools)
        || tools.iter().any(|tool| {
            places(text, tool).any(|(before, after)| {
                let after = after.trim_start_matches(['"', '\'', '>', '`']).trim_start();
                // `tool.call(…)` is Llama's, `tool[ARGS]{…}` Mistral's.
                ["(", "{", ".call(", "[ARGS]"].iter().any(|begins| after.starts_with(begins))
                    || before.trim_end().ends_with("CALL_TOOL:")
            })
        })
}

/// Signs of the forms in which models write calls, in small letters.
const SIGNS: [&str; 17] = [
    "<tool_call",
    "<|tool_call",
    "<tool_use",
    "<function",
    "<|python_tag|>",
    "<invoke",
    "<｜tool",
    "[tool_calls]",
    "✿function✿",
    "```tool_c",
    "to=functions.",
    "action input:",
    "\"action_input\"",
    "\"tool_input\"",
    "\"function_call\"",
    "\"tool_call\"",
    "'tool_calls'",
];

/// Whether a text holds a call in a form that is one whatever is said around it: marked up, or a tool's name as a value.
pub(super) fn marks_up_a_call(text: &str, tools: &[&str]) -> bool {
    let small = text.to_lowercase();
    SIGNS.iter().any(|sign| small.contains(sign))
        || tools.iter().any(|tool| places(text, tool).any(|(before, after)| is_marked_up(before, after)))
}

/// The same of what is said beside calls in a model's own form: objects that are calls are read, and a server may leave in the words what it
/// took for a call.
pub(super) fn marks_up_another_call(text: &str, tools: &[&str]) -> bool {
    let mut rest = String::new();
    let mut from = 0;
    for _ in 0..MAX_LOOKS {
        let Some(range) = first_object(text, from) else { break };
        let read = parse(text[range.clone()].as_bytes(), Strictness::Lenient);
        let is_read = read.is_ok_and(|value| value.get("tool_calls").is_some() || is_call(&value));
        let end = if is_read { range.end } else { range.start + 1 };
        rest.push_str(&text[from..if is_read { range.start } else { end }]);
        from = end;
    }
    rest.push_str(&text[from..]);
    tools.iter().any(|tool| places(&rest, tool).any(|(before, after)| is_marked_up(before, after)))
}

/// Whether what stands around a tool's name makes it a call: `<tool>`, `<name>tool</name>`, `{"tool": "tool", …}`, `{"tool": {…}}` or
/// `Action: tool`.
fn is_marked_up(before: &str, after: &str) -> bool {
    let element = before.ends_with('<') && after.starts_with(['>', '/', ' ', '\n']);
    let content = before.trim_end().ends_with('>') && after.trim_start().starts_with("</");
    let quoted = [('"', '"'), ('\'', '\'')].iter().any(|(open, close)| {
        let around = before.strip_suffix(*open).zip(after.strip_prefix(*close));
        around.is_some_and(|(before, after)| {
            let (before, after) = (before.trim_end(), after.trim_start());
            let value = before.ends_with(':') && after.starts_with([',', '}']);
            let key = before.ends_with(['{', ','])
                && after.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with('{'));
            value || key
        })
    });
    let line = before.rsplit('\n').next().unwrap_or(before);
    let line = line.trim_matches(|c: char| c.is_whitespace() || "`\"'*-".contains(c)).to_lowercase();
    let label = line.trim_end_matches([':', '=']).trim_matches(|c: char| c.is_whitespace() || c == '*');
    let labelled = line.ends_with([':', '='])
        && ["action", "tool", "function", "call", "tool_name", "tool name", "tool call"].contains(&label);
    element || content || quoted || labelled
}

/// Where a tool's name stands as a word: what is before it, and what is behind.
fn places<'t>(text: &'t str, tool: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(tool)
        .map(move |(at, _)| (&text[..at], &text[at + tool.len()..]))
        .filter(move |(before, after)| !before.ends_with(in_word) && !after.starts_with(in_word))
}

/// The calls of `{"tool_calls": [{"name", "args"}]}`. Arguments may also be called `arguments`, and may be JSON in a text,
/// as chat interfaces send them; a call may be wrapped in `function`.
pub(super) fn calls_of(value: &Json) -> Result<Vec<ToolCall>, Complaint> {
    match value.get("tool_calls") {
        Some(Json::Array(list)) => list.iter().map(call_of).collect(),
        Some(other) => Err(Complaint::new(format!("`tool_calls` is {}, not an array", other.type_name()))),
        None => Err(Complaint::new("the object has no `tool_calls`")),
    }
}

fn call_of(value: &Json) -> Result<ToolCall, Complaint> {
    let value = value.get("function").filter(|inner| inner.as_object().is_some()).unwrap_or(value);
    let name = match value.get("name") {
        Some(Json::String(name)) => name.clone(),
        Some(other) => {
            return Err(Complaint::new(format!("a call's `name` is {}, not text", other.type_name())));
        }
        None => return Err(Complaint::new("a call has no `name`")),
    };
    let args = match ["args", "arguments", "parameters", "input"].iter().find_map(|key| value.get(key)) {
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
    const OPENINGS: [&str; 18] = [
        "as an ai",
        "i'm afraid i can",
        "unfortunately, i can",
        "sorry but",
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
