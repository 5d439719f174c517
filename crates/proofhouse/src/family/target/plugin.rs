//! A target in any language: a program that is spoken to in JSON lines.

use std::collections::BTreeMap;
use std::time::Duration;

use proofhouse_ledger::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pipe::{NoAnswer, Pipe};
use super::reply::{Outcome, Reply, output_of};
use super::secret::keys_of_program;
use super::{Call, Chat, Member, Opening, System};
use crate::text::complaint::Complaint;

/// A program of yours that answers, in any language: started once, spoken to in JSON lines.
///
/// **Purpose.** Systems that no other target reaches: an in-process model, an agent with its own loop, a simulator.
///
/// **Protocol.** Each question is one line on the program's standard input: `{"id":0,"chat":{"messages":[{"role":"user",
/// "content":"…"}],"system":null,"tools":[],"seed":"…","repetition":0}}`. It answers with one line on its standard output, in
/// any order: `{"id":0,"reply":{"output":"…"}}`. `output` is text or any structure. Beside it may stand `outcome` (`answered`,
/// `refused`, `filtered`, `length`; `empty` and `null` are seen by themselves), `tool_calls` (a list of `{"name":…,"args":…}`),
/// `usage`, `finish_reason` and `model`. `{"id":0,"error":"…"}` is an error of that trial. What it says on standard error is
/// shown when it dies.
///
/// **Guarantee.** It starts in the suite's directory and sees `PATH`, `HOME` and the locale of our environment, and `env`;
/// no key reaches it. A program that dies is started again three times; the trials that it left are errors named
/// `plugin_died`. It has a process group of its own, and the whole group ends when the program dies and when the run does:
/// what it starts ends with it, unless that leaves the group. If Proofhouse itself is killed, its standard input ends.
///
/// ```yaml
/// mine: {plugin: {command: [python3, answer.py], env: {MODE: test}}}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plugin {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Further variables of its environment; none that holds a key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

impl Plugin {
    /// All settings that cannot work.
    pub(crate) fn check(&self) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        if self.command.first().is_none_or(|program| program.trim().is_empty()) {
            complaints.push(
                Complaint::new("there is no program")
                    .hint("for example `command: [python3, answer.py]`")
                    .key("command"),
            );
        }
        let hint = "let the program read it from a file of its own";
        complaints.extend(keys_of_program(("command", &self.command), &self.env, hint));
        complaints
    }

    /// The program, not yet started.
    pub(crate) fn pipe(&self, opening: &Opening) -> Pipe {
        Pipe::new(&self.command, &self.env, opening.base_dir.clone(), &opening.environment)
    }
}

impl Member for Plugin {
    fn system(&self, opening: &Opening) -> Result<System, Complaint> {
        Ok(System::Plugin(self.pipe(opening)))
    }
}

/// Asks the program behind a pipe.
pub(super) async fn chat(pipe: &Pipe, chat: &Chat, timeout: Duration) -> Reply {
    match pipe.ask("chat", chat.to_json(), timeout).await {
        Ok(answer) => read(&answer),
        Err(NoAnswer::TimedOut) => Reply::new(Outcome::TimedOut, None),
        Err(NoAnswer::NotStarted(why)) => Reply::failed("plugin_not_started", why),
        Err(NoAnswer::Died(why)) => Reply::failed("plugin_died", why),
        Err(NoAnswer::Garbled(why)) => Reply::failed("plugin_garbled", why),
    }
}

fn read(answer: &Json) -> Reply {
    if let Some(error) = answer.get("error").filter(|error| !matches!(error, Json::Null)) {
        return Reply::failed("plugin_error", error.to_text());
    }
    let Some(said) = answer.get("reply").filter(|said| said.as_object().is_some()) else {
        return Reply::failed("plugin_garbled", "the answer has neither `reply` nor `error`");
    };
    let text = |key: &str| said.get(key).and_then(Json::as_str).map(str::to_owned);
    let calls = match said.get("tool_calls") {
        Some(Json::Array(list)) => list.as_slice(),
        _ => &[],
    };
    let calls: Vec<Call> =
        calls.iter().enumerate().filter_map(|(place, call)| Call::from_json(call, place)).collect();
    let output = said.get("output").cloned().unwrap_or_default();
    let outcome = match (text("outcome").as_deref(), &output) {
        (Some("refused"), _) => Outcome::Refused,
        (Some("filtered"), _) => Outcome::Filtered,
        (Some("length"), _) => Outcome::Length,
        (None | Some("answered" | "empty" | "null"), _) if !calls.is_empty() => Outcome::Answered,
        (None | Some("answered" | "empty" | "null"), Json::Null) => Outcome::Null,
        (None | Some("answered" | "empty" | "null"), Json::String(text)) if text.is_empty() => Outcome::Empty,
        (None | Some("answered" | "empty" | "null"), _) => Outcome::Answered,
        (Some(other), _) => {
            return Reply::failed("plugin_garbled", format!("`{other}` is not an outcome"));
        }
    };
    let output = if calls.is_empty() { output } else { output_of(output.as_str(), &calls) };
    Reply {
        calls,
        usage: said.get("usage").filter(|usage| usage.as_object().is_some()).cloned(),
        finish_reason: text("finish_reason"),
        model: text("model"),
        ..Reply::new(outcome, Some(output))
    }
}
