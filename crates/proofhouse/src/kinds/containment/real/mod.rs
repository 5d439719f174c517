//! Real agents: programs that run their own loop, as they are. For each trial one is started in the sandbox, where it reaches two
//! addresses and nothing else: an MCP server of ours that offers the case's tools and decides every call, and endpoints of ours
//! that forward to the suite's target.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::family::target::{keys_of_program, looks_like_key};
use crate::spine::suite::bounds::Whole;
use crate::text::complaint::Complaint;

mod dialects;
mod names;
mod plain;
mod prepared;
mod preset;
mod serve;
mod trial;

pub(super) use prepared::Prepared;

/// Reads what an agent asks its model for, in every dialect, and answers it.
pub(super) fn read_requests(body: &proofhouse_ledger::Json) {
    for dialect in dialects::DIALECTS {
        if let Ok(asked) = (dialect.read)(body) {
            let reply = crate::family::target::Reply::new(
                crate::family::target::Outcome::Answered,
                Some(proofhouse_ledger::Json::from("done")),
            );
            let answer = dialects::Answer::of(&reply, &asked).map(|answer| (dialect.write)(&asked, &answer));
            answer.iter().for_each(|answer| drop((dialect.events)(answer)));
        }
    }
}

pub(crate) use preset::Preset;
pub(super) use trial::{Asker, play};

/// An agent that is put through the suite as it is.
///
/// It is started once for each trial, in the sandbox, with a loopback of its own. `{prompt}` in `argv` is what the case asks,
/// `{mcp_url}` the address of the server that offers the case's tools, `{openai_url}` and `{anthropic_url}` those of its model,
/// which is the variant's target whatever model it names; `{shim}` is a program that gives the same server on standard input
/// and output. The variables that OpenAI's and Anthropic's libraries read are set. What it prints is its answer.
///
/// ```yaml
/// variants:
///   mine: {agent: {argv: [agents/mine, "{prompt}"]}, target: small}
///   codex: {agent: {preset: codex, program: /opt/codex/bin/codex}, target: small, gated: false}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentSettings {
    /// An agent that is known: its command, environment and configuration files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preset: Option<Preset>,
    /// The command; with `preset`, in place of its own. With `python`, what that is to run: a script, and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) argv: Vec<String>,
    /// Where the preset's program is, relative to the suite's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// A Python, perhaps of a venv, that runs `argv` and whose packages it sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) python: Option<String>,
    /// Further variables of its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
    /// Files in its working directory: name and content. The placeholders of `argv` are filled in, `{prompt}` excepted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) files: BTreeMap<String, String>,
    /// Further files and directories of this machine that it may read, relative to the suite's directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) read: Vec<String>,
    /// The file that holds its answer; without it, standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer_file: Option<String>,
    /// How its tools are reached.
    #[serde(default, skip_serializing_if = "ToolsOver::is_http")]
    pub(crate) tools_over: ToolsOver,
    /// How long a whole trial may take, in milliseconds.
    #[serde(default = "five_minutes")]
    pub(crate) timeout_ms: Whole<1, 86_400_000>,
    /// How much memory it may use, in megabytes.
    #[serde(default = "two_gigabytes")]
    pub(crate) memory_mb: Whole<16, 1_000_000>,
}

fn five_minutes() -> Whole<1, 86_400_000> {
    Whole(300_000)
}

fn two_gigabytes() -> Whole<16, 1_000_000> {
    Whole(2_048)
}

/// How an agent reaches the server of its tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolsOver {
    /// By HTTP; the server is out of its reach.
    #[default]
    Http,
    /// By standard input and output of a program that it starts, and that it could tamper with; what decides is outside all the
    /// same.
    Stdio,
}

impl ToolsOver {
    fn is_http(&self) -> bool {
        *self == ToolsOver::Http
    }
}

impl AgentSettings {
    /// All settings that cannot work.
    pub(super) fn check(&self) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        match (self.preset, self.argv.is_empty()) {
            (None, true) => complaints.push(
                Complaint::new("the agent has no command")
                    .hint("give `argv`, or one of the presets by `preset`"),
            ),
            (Some(preset), true) => complaints.extend(preset.missing(self)),
            _ => {}
        }
        if !self.argv.is_empty() && !self.argv.iter().any(|arg| arg.contains("{prompt}")) {
            let hint = "put `{prompt}` where the agent takes its task";
            complaints.push(Complaint::new("the agent is not told what to do").hint(hint).key("argv"));
        }
        for name in self.files.keys().chain(&self.answer_file) {
            let inside = std::path::Path::new(name)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            if !inside || name.is_empty() {
                let what = format!("`{name}` is not a file of the working directory");
                complaints.push(Complaint::new(what).hint("give a relative path without `..`"));
            }
        }
        let hint = "an agent needs no key: its model is the variant's target, whose key `api_key_env` names";
        complaints.extend(keys_of_program(("argv", &self.argv), &self.env, hint));
        for (name, _) in self.files.iter().filter(|(_, content)| looks_like_key(content)) {
            let what = "this looks like a key, and a suite is no place for one";
            complaints.push(Complaint::new(what).hint(hint).key("files").key(name.clone()).secret());
        }
        complaints
    }
}
