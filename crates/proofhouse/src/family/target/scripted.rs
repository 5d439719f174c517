//! The embedded target: rules and templates over the input, seeded chance, faults on demand.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;
use regex::{Captures, Regex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chat::made_up_id;
use super::shape::Shape;
use super::{Call, Member, Opening, Outcome, Reply, Request, System};
use crate::text::complaint::{At, Complaint};
use crate::text::template::Form;

/// Replies are written by whoever makes a test up: `{input}` is enough for them, and a reply may hold any other braces.
const SIMPLE: Option<Form> = Some(Form::Simple);

/// Why filling a reply cannot fail.
const KNOWN: &str = "every field was known when the shape was made";

/// A target without a network: what it says follows from the input, the seed and the repetition alone.
///
/// **Purpose.** Quickstarts, tests and rehearsals: a "model" whose strengths, weaknesses, noise and faults are written
/// down, so that every stage behind it can be seen working before the first real request is paid for.
///
/// **How it answers.** The first of `rules` whose conditions all hold, and whose `chance` comes up, answers. Then
/// `answers` is asked for exactly this input. What is left gets `otherwise`, or an empty answer without it.
///
/// **Conditions** of a rule: `equals`, `contains`, `regex`; those that are given must all hold, a rule without any always
/// holds. `ignore_case` makes all three blind to case. `chance` (0 to 1) is drawn for each rule by itself.
///
/// **Answers.** `reply` is text or any structure; `{input}`, the groups of the rule's `regex` as `{1}`, `{2}`, `{name}`,
/// and `{repetition}` are filled in wherever text stands in it; `{{` and `}}` are braces. `tool_calls` makes the answer a
/// structure of `content` and `tool_calls`. `fault` replaces the answer by `error`, `timeout`, `rate_limited`,
/// `refusal`, `empty` or `malformed_json`. `latency_ms` delays it.
///
/// **Guarantee.** A draw is a function of seed, input, repetition and the rule's place: no state is shared between
/// requests, so order and concurrency change nothing. Two slots with the same rules draw alike, which makes comparisons
/// between them paired.
///
/// ```yaml
/// hasty:
///   scripted:
///     latency_ms: 5
///     rules:
///       - {regex: '(\d+) [x*] (\d+)', reply: "{1}"}                # always wrong on products
///       - {contains: capital, chance: 0.3, reply: "I think it is Lyon."} # flaky on capitals
///       - {contains: weather, tool_calls: [{name: forecast, args: {query: "{input}"}}]}
///       - {contains: slow, fault: timeout}
///     answers:
///       "What is 2 + 2?": "4"
///     otherwise: {reply: "I do not know."}
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scripted {
    /// What is tried first, in this order.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Replies by exact input, asked when no rule answered.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub answers: BTreeMap<String, Json>,
    /// What is left when nothing else answered; its conditions, if any, must hold too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Rule>,
    /// How long a reply takes where its rule does not say otherwise, in milliseconds.
    #[serde(default)]
    pub latency_ms: u32,
}

/// One rule of a script: conditions, chance, and what happens then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The input is exactly this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<String>,
    /// The input contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// The input matches this somewhere; its groups can be used in the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// Whether the conditions are blind to case.
    #[serde(default)]
    pub ignore_case: bool,
    /// How likely the rule answers when its conditions hold.
    #[serde(default = "certain")]
    #[schemars(range(min = 0, max = 1))]
    pub chance: f64,
    /// Text or structure with holes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub reply: Option<Json>,
    /// What goes wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// How long this reply takes, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u32>,
    /// Tools that the target wants called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
}

fn certain() -> f64 {
    1.0
}

/// A call of a tool that the target asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// What it is called with; text in it may have holes.
    #[serde(default)]
    #[schemars(with = "serde_json::Value")]
    pub args: Json,
}

/// What can go wrong on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The request fails; the text of `reply` is the error.
    Error,
    /// No answer in time.
    Timeout,
    /// The target asks for fewer requests; `latency_ms` is what it asks to wait.
    RateLimited,
    /// The target declines, with the text of `reply`.
    Refusal,
    /// An answer with nothing in it.
    Empty,
    /// The answer as JSON that ends one character too early.
    MalformedJson,
}

impl Scripted {
    /// All settings that cannot work.
    pub fn check(&self) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        for (index, rule) in self.rules.iter().enumerate() {
            complaints
                .extend(prefixed(vec![At::Key("rules".into()), At::Index(index)], CompiledRule::new(rule)));
        }
        for (input, reply) in &self.answers {
            let at = vec![At::Key("answers".into()), At::Key(input.clone().into())];
            complaints.extend(prefixed(at, Shape::new(reply, &|name| is_common(name), SIMPLE)));
        }
        if let Some(rule) = &self.otherwise {
            complaints.extend(prefixed(vec![At::Key("otherwise".into())], CompiledRule::new(rule)));
        }
        complaints
    }
}

impl Member for Scripted {
    const IS_HERE: bool = true;

    fn system(&self, _: &Opening) -> Result<System, Complaint> {
        Ok(System::Scripted(Script::new(self)?))
    }
}

fn prefixed<T>(at: Vec<At>, result: Result<T, Complaint>) -> Option<Complaint> {
    Some(result.err()?.below(at))
}

/// A script made ready: patterns compiled, templates parsed.
#[derive(Debug)]
pub struct Script {
    rules: Vec<CompiledRule>,
    answers: BTreeMap<String, Shape>,
    otherwise: Option<CompiledRule>,
    latency_ms: u32,
}

impl Script {
    /// Compiles a script.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub fn new(config: &Scripted) -> Result<Self, Complaint> {
        let answers = config.answers.iter().map(|(input, reply)| {
            Shape::new(reply, &|name| is_common(name), SIMPLE).map(|shape| (input.clone(), shape))
        });
        Ok(Script {
            rules: config.rules.iter().map(CompiledRule::new).collect::<Result<_, _>>()?,
            answers: answers.collect::<Result<_, _>>()?,
            otherwise: config.otherwise.as_ref().map(CompiledRule::new).transpose()?,
            latency_ms: config.latency_ms,
        })
    }

    /// What the script says to a request.
    pub fn reply(&self, request: &Request<'_>) -> Reply {
        for (index, rule) in self.rules.iter().enumerate() {
            if let Some(reply) = rule.try_reply(request, index, self.latency_ms) {
                return reply;
            }
        }
        if let Some(shape) = self.answers.get(request.input) {
            let holes = Holes { request, captures: None };
            let output = shape.fill(&|name, out| holes.fill(name, out)).expect(KNOWN);
            let reply = Reply::new(Outcome::Answered, Some(output));
            return Reply { delay_ms: self.latency_ms.into(), ..reply };
        }
        let otherwise = self.otherwise.as_ref();
        otherwise.and_then(|rule| rule.try_reply(request, self.rules.len(), self.latency_ms)).unwrap_or(
            Reply {
                delay_ms: self.latency_ms.into(),
                ..Reply::new(Outcome::Empty, Some(Json::String(String::new())))
            },
        )
    }
}

#[derive(Debug)]
struct CompiledRule {
    equals: Option<String>,
    contains: Option<String>,
    regex: Option<Regex>,
    /// Whether the reply uses the regex's groups, so that finding out whether it matches is not enough.
    uses_groups: bool,
    ignore_case: bool,
    chance: f64,
    reply: Option<Shape>,
    fault: Option<Fault>,
    latency_ms: Option<u32>,
    tool_calls: Vec<(String, Shape)>,
}

fn is_common(name: &str) -> bool {
    matches!(name, "input" | "repetition")
}

impl CompiledRule {
    fn new(rule: &Rule) -> Result<Self, Complaint> {
        let complaint =
            |key: &'static str, what: String, hint: &str| Complaint::new(what).hint(hint).key(key);
        if !(0.0..=1.0).contains(&rule.chance) {
            let what = format!("expected a number from 0 to 1, found `{}`", rule.chance);
            return Err(Complaint::new(what).key("chance"));
        }
        if rule.reply.is_none() && rule.fault.is_none() && rule.tool_calls.is_empty() {
            let hint = "give it `reply`, `fault` or `tool_calls`";
            return Err(Complaint::new("the rule says nothing").hint(hint));
        }
        if rule.fault.is_some() && !rule.tool_calls.is_empty() {
            let hint = "make two rules of it, with a `chance` on the first";
            return Err(complaint("fault", "a fault calls no tools".to_owned(), hint));
        }
        let regex = rule.regex.as_deref().map(|pattern| compile(pattern, rule.ignore_case)).transpose()?;
        let group = |name: &str| match (&regex, name.parse::<usize>()) {
            (Some(regex), Ok(index)) => index < regex.captures_len(),
            (Some(regex), Err(_)) => regex.capture_names().flatten().any(|known| known == name),
            (None, _) => false,
        };
        let known = |name: &str| is_common(name) || group(name);
        let shape = |value: &Json, at: Vec<At>| {
            Shape::new(value, &known, SIMPLE).map_err(|complaint| complaint.below(at))
        };
        let reply =
            rule.reply.as_ref().map(|reply| shape(reply, vec![At::Key("reply".into())])).transpose()?;
        let tool_calls = rule.tool_calls.iter().enumerate().map(|(index, call)| {
            let at = vec![At::Key("tool_calls".into()), At::Index(index), At::Key("args".into())];
            shape(&call.args, at).map(|args| (call.name.clone(), args))
        });
        let tool_calls = tool_calls.collect::<Result<Vec<_>, _>>()?;
        let shapes = || reply.iter().chain(tool_calls.iter().map(|(_, args)| args));
        let uses_groups = shapes().any(|shape| shape.uses(&|name| !is_common(name)));
        let fold = |text: &Option<String>| {
            text.as_ref().map(|text| if rule.ignore_case { text.to_lowercase() } else { text.clone() })
        };
        Ok(CompiledRule {
            equals: fold(&rule.equals),
            contains: fold(&rule.contains),
            regex,
            uses_groups,
            ignore_case: rule.ignore_case,
            chance: rule.chance,
            reply,
            fault: rule.fault,
            latency_ms: rule.latency_ms,
            tool_calls,
        })
    }

    fn try_reply(&self, request: &Request<'_>, index: usize, latency_ms: u32) -> Option<Reply> {
        if !self.conditions_hold(request.input) {
            return None;
        }
        let captures = match &self.regex {
            Some(regex) if self.uses_groups => Some(regex.captures(request.input)?),
            Some(regex) if !regex.is_match(request.input) => return None,
            _ => None,
        };
        if self.chance < 1.0 && draw(request, index) >= self.chance {
            return None;
        }
        Some(self.answer(&Holes { request, captures }, self.latency_ms.unwrap_or(latency_ms).into()))
    }

    fn conditions_hold(&self, input: &str) -> bool {
        if self.equals.is_none() && self.contains.is_none() {
            return true;
        }
        let folded;
        let input = if self.ignore_case {
            folded = input.to_lowercase();
            folded.as_str()
        } else {
            input
        };
        self.equals.as_deref().is_none_or(|text| input == text)
            && self
                .contains
                .as_deref()
                .is_none_or(|text| memchr::memmem::find(input.as_bytes(), text.as_bytes()).is_some())
    }

    fn answer(&self, holes: &Holes<'_>, delay_ms: u64) -> Reply {
        let content =
            self.reply.as_ref().map(|shape| shape.fill(&|name, out| holes.fill(name, out)).expect(KNOWN));
        let calls = self.calls(holes);
        let (outcome, output) = match self.fault {
            None if self.tool_calls.is_empty() => (Outcome::Answered, content),
            None => (Outcome::Answered, Some(with_tool_calls(content, &calls))),
            Some(Fault::Error) => {
                let error = content.map_or_else(|| "scripted error".to_owned(), |content| content.to_text());
                (Outcome::Failed { error_type: "scripted_error".to_owned(), error }, None)
            }
            Some(Fault::Timeout) => (Outcome::TimedOut, None),
            Some(Fault::RateLimited) => (Outcome::RateLimited { retry_after_ms: Some(delay_ms) }, None),
            Some(Fault::Refusal) => {
                (Outcome::Refused, Some(content.unwrap_or_else(|| Json::from("I cannot help with that."))))
            }
            Some(Fault::Empty) => (Outcome::Empty, Some(Json::String(String::new()))),
            Some(Fault::MalformedJson) => {
                let structure = match content {
                    Some(structure @ (Json::Object(_) | Json::Array(_))) => structure,
                    other => Json::Object(Object::from_iter([("answer", other.unwrap_or_default())])),
                };
                let mut text = structure.to_string();
                text.pop();
                (Outcome::Answered, Some(Json::String(text)))
            }
        };
        Reply { calls, delay_ms, ..Reply::new(outcome, output) }
    }

    fn calls(&self, holes: &Holes<'_>) -> Vec<Call> {
        let calls = self.tool_calls.iter().enumerate().map(|(place, (name, args))| Call {
            id: made_up_id(place),
            name: name.clone(),
            args: args.fill(&|name, out| holes.fill(name, out)).expect(KNOWN),
        });
        calls.collect()
    }
}

fn with_tool_calls(content: Option<Json>, calls: &[Call]) -> Json {
    let calls = Json::Array(calls.iter().map(|call| Json::Object(call.as_output())).collect());
    Json::Object(Object::from_iter([("content", content.unwrap_or_default()), ("tool_calls", calls)]))
}

fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, Complaint> {
    regex::RegexBuilder::new(pattern).case_insensitive(ignore_case).build().map_err(|error| {
        let text = error.to_string();
        let reason = text.lines().rev().find_map(|line| line.strip_prefix("error: ")).unwrap_or(&text);
        let complaint = Complaint::new(format!("the pattern cannot be used: {reason}")).key("regex");
        match needs_backtracking(pattern) {
            true => complaint
                .hint("patterns run in linear time, so that no input can hang them; write it without"),
            false => complaint,
        }
    })
}

/// Whether a pattern looks ahead or back, or refers to what a group captured.
fn needs_backtracking(pattern: &str) -> bool {
    let refers = pattern.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| matches!(c, '1'..='9')));
    refers || ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|mark| pattern.contains(mark))
}

/// A number from 0 to 1 that depends on the request and the rule's place, and on nothing else.
///
/// FNV-1a over the input, then the finaliser of SplitMix64 over each part: both are fixed for ever, unlike the hashes of
/// the standard library.
fn draw(request: &Request<'_>, index: usize) -> f64 {
    let hash = request.input.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let parts = [request.seed, hash, request.repetition.into(), index as u64];
    let mixed = parts.iter().fold(0, |state, part| mix(state ^ part));
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What fills the holes of a reply.
struct Holes<'a> {
    request: &'a Request<'a>,
    captures: Option<Captures<'a>>,
}

impl Holes<'_> {
    fn fill(&self, name: &str, out: &mut String) -> bool {
        match name {
            "input" => out.push_str(self.request.input),
            "repetition" => out.push_str(&self.request.repetition.to_string()),
            _ => {
                let Some(captures) = &self.captures else { return false };
                let group = match name.parse::<usize>() {
                    Ok(index) => captures.get(index),
                    Err(_) => captures.name(name),
                };
                // A group that took no part in the match is empty.
                out.push_str(group.map_or("", |group| group.as_str()));
            }
        }
        true
    }
}
