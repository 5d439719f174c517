//! Agents that are known: one row each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AgentSettings;
use crate::text::complaint::Complaint;

/// An agent that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Preset {
    /// The package `openai-agents` of a Python.
    OpenaiAgents,
    /// The package `pydantic-ai` of a Python.
    PydanticAi,
    /// The package `smolagents` of a Python.
    Smolagents,
    /// OpenAI's command-line agent.
    Codex,
    /// Anthropic's command-line agent: the native program, not its Node wrapper.
    ClaudeCode,
    /// The command-line agent opencode.
    Opencode,
}

/// What is known of an agent.
pub(super) struct Row {
    /// Whether `argv` is what a Python runs.
    pub(super) python: bool,
    pub(super) argv: &'static [&'static str],
    pub(super) env: &'static [(&'static str, &'static str)],
    /// Files of its working directory, with tools over HTTP and over standard input and output.
    pub(super) files: &'static [(&'static str, &'static str, &'static str)],
    pub(super) answer_file: Option<&'static str>,
}

const NONE: Row = Row { python: false, argv: &[], env: &[], files: &[], answer_file: None };

impl Preset {
    /// Its row.
    pub(super) fn row(self) -> Row {
        match self {
            Preset::OpenaiAgents => Row {
                python: true,
                argv: &["agent.py", "{prompt}"],
                env: &[("OPENAI_AGENTS_DISABLE_TRACING", "1")],
                files: &[(
                    "agent.py",
                    include_str!("presets/openai_agents.py"),
                    include_str!("presets/openai_agents.py"),
                )],
                ..NONE
            },
            Preset::PydanticAi => Row {
                python: true,
                argv: &["agent.py", "{prompt}"],
                files: &[(
                    "agent.py",
                    include_str!("presets/pydantic_ai.py"),
                    include_str!("presets/pydantic_ai.py"),
                )],
                ..NONE
            },
            Preset::Smolagents => Row {
                python: true,
                argv: &["agent.py", "{prompt}"],
                files: &[(
                    "agent.py",
                    include_str!("presets/smolagents.py"),
                    include_str!("presets/smolagents.py"),
                )],
                ..NONE
            },
            Preset::Codex => Row {
                argv: &["exec", "--skip-git-repo-check", "--output-last-message", "answer.txt", "{prompt}"],
                env: &[("CODEX_HOME", "{work}/.codex")],
                files: &[(".codex/config.toml", CODEX_HTTP, CODEX_STDIO)],
                answer_file: Some("answer.txt"),
                ..NONE
            },
            Preset::ClaudeCode => Row {
                argv: &[
                    "-p",
                    "{prompt}",
                    "--mcp-config",
                    "mcp.json",
                    "--strict-mcp-config",
                    "--allowedTools",
                    "mcp__t",
                ],
                env: &[
                    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                    ("DISABLE_AUTOUPDATER", "1"),
                    ("ENABLE_TOOL_SEARCH", "false"),
                ],
                files: &[("mcp.json", CLAUDE_HTTP, CLAUDE_STDIO)],
                ..NONE
            },
            Preset::Opencode => Row {
                argv: &["run", "{prompt}"],
                env: &[
                    ("OPENCODE_CONFIG", "{work}/opencode.json"),
                    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
                    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                ],
                files: &[("opencode.json", OPENCODE_HTTP, OPENCODE_STDIO)],
                ..NONE
            },
        }
    }

    /// What its settings lack.
    pub(super) fn missing(self, settings: &AgentSettings) -> Option<Complaint> {
        let (given, key, example) = match self.row().python {
            true => (&settings.python, "python", "venv/bin/python"),
            false => (&settings.program, "program", "/usr/local/bin/agent"),
        };
        given.is_none().then(|| {
            Complaint::new(format!("the preset does not know where the agent is: `{key}` is missing"))
                .hint(format!("for example `{key}: {example}`"))
        })
    }
}

/// The provider's name must not be one that codex knows already.
const CODEX_HTTP: &str = r#"model = "model"
model_provider = "trial"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.trial]
name = "trial"
base_url = "{openai_url}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.t]
url = "{mcp_url}"
"#;

const CODEX_STDIO: &str = r#"model = "model"
model_provider = "trial"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.trial]
name = "trial"
base_url = "{openai_url}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.t]
command = "{shim}"
args = ["mcp-shim", "{mcp_url}"]
"#;

const CLAUDE_HTTP: &str = r#"{"mcpServers": {"t": {"type": "http", "url": "{mcp_url}"}}}"#;
const CLAUDE_STDIO: &str =
    r#"{"mcpServers": {"t": {"command": "{shim}", "args": ["mcp-shim", "{mcp_url}"]}}}"#;

const OPENCODE_HTTP: &str = r#"{
  "model": "trial/model",
  "provider": {"trial": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "{openai_url}", "apiKey": "trial"}, "models": {"model": {"tool_call": true}}}},
  "mcp": {"t": {"type": "remote", "url": "{mcp_url}", "enabled": true}}
}
"#;
const OPENCODE_STDIO: &str = r#"{
  "model": "trial/model",
  "provider": {"trial": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "{openai_url}", "apiKey": "trial"}, "models": {"model": {"tool_call": true}}}},
  "mcp": {"t": {"type": "local", "command": ["{shim}", "mcp-shim", "{mcp_url}"], "enabled": true}}
}
"#;
