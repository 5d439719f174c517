//! The MCP client that talks to a tool server in its box: JSON-RPC, one message a line, everything with a deadline and a size.

use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::time::Duration;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};
use proofhouse_sandbox::{Cancel, Outcome, Sandbox, Status, link};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use super::{ServerSpec, ToolSpec};
use crate::family::target::Schema;
use crate::kinds::containment::answer::Ending;
use crate::kinds::containment::call::{ToolCall, cut};
use crate::kinds::containment::case::Case;

/// The protocol that is asked for; a server may answer with an earlier one.
const PROTOCOL: &str = "2025-06-18";
/// The longest message of a server.
const MAX_LINE_BYTES: u64 = 4 << 20;
/// Messages between a question and its answer: notifications, requests of the server, answers that come late.
const MAX_MESSAGES: usize = 1_000;
/// Everything that a server says in one trial.
const MAX_TRIAL_BYTES: u64 = 64 << 20;
/// Pages of a list of tools, and tools on them.
const MAX_PAGES: usize = 100;
const MAX_TOOLS: usize = 1_000;
/// The longest result that an agent gets to see.
const MAX_RESULT_BYTES: usize = 256 << 10;
/// How long a server that has closed its end may take to end, so that its last words are known.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// The code for a method that a server does not know.
const NO_METHOD: f64 = -32601.0;

/// Why a server gave no result: the trial cannot be assessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoResult {
    /// A stable code.
    pub error_type: &'static str,
    /// In words.
    pub error: String,
}

impl NoResult {
    fn new(error_type: &'static str, error: impl Into<String>) -> Self {
        Self { error_type, error: error.into() }
    }

    /// A tool of a server where there is none.
    pub(crate) fn no_server() -> Self {
        Self::new("tool_server_start", "the tool server was not started")
    }

    fn garbled(error: impl Into<String>) -> Self {
        Self::new("tool_server_garbled", error)
    }
}

impl From<NoResult> for Ending {
    fn from(gone: NoResult) -> Self {
        Ending::Failed { error_type: gone.error_type.to_owned(), error: gone.error }
    }
}

/// A tool server in its box, for one trial.
#[derive(Debug)]
pub struct ToolServer {
    stream: BufReader<UnixStream>,
    cancel: Arc<Cancel>,
    ended: Option<oneshot::Receiver<Outcome>>,
    timeout: Duration,
    next_id: u64,
    heard_bytes: u64,
    spec: ServerSpec,
    /// The tools that agents may reach, in its order.
    tools: Vec<ToolSpec>,
}

impl Drop for ToolServer {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl ToolServer {
    /// Starts a server for a case and asks for its tools.
    pub async fn start(sandbox: &Arc<Sandbox>, spec: &ServerSpec, case: &Case) -> Result<Self, NoResult> {
        let opened = Self::open(sandbox, spec, case);
        let mut server = opened.map_err(|error| NoResult::new("tool_server_start", error.to_string()))?;
        server.greet().await?;
        server.tools = server.list().await?;
        Ok(server)
    }

    fn open(sandbox: &Arc<Sandbox>, spec: &ServerSpec, case: &Case) -> io::Result<Self> {
        let (ours, theirs) = link()?;
        let ours = StdStream::from(ours);
        ours.set_nonblocking(true)?;
        let cancel = Arc::new(Cancel::new()?);
        let (tell, ended) = oneshot::channel();
        let (stop, sandbox, boxed) = (Arc::clone(&cancel), Arc::clone(sandbox), spec.spec(case));
        std::thread::Builder::new().name("tool-server".to_owned()).spawn(move || {
            // Nobody may be left who wants to know.
            let _ = tell.send(sandbox.run_linked(&boxed, theirs, Some(&stop)));
        })?;
        Ok(Self {
            stream: BufReader::new(UnixStream::from_std(ours)?),
            cancel,
            ended: Some(ended),
            timeout: Duration::from_millis(spec.timeout_ms),
            next_id: 0,
            heard_bytes: 0,
            spec: spec.clone(),
            tools: Vec::new(),
        })
    }

    /// The tools that agents may reach, in the server's order.
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.tools.iter().map(|tool| tool.name.clone()).collect()
    }

    /// Calls a tool that the gate let through. What the tool complains about is a result like any other.
    pub async fn call(&mut self, call: &ToolCall) -> Result<String, NoResult> {
        let answer = self.call_tool(&call.name, call.args.clone()).await?;
        let text = match &answer {
            Ok(result) => words_of(result),
            Err(ServerError(message)) => format!("error: {message}"),
        };
        Ok(match text.len() > MAX_RESULT_BYTES {
            true => format!("{}… ({} bytes)", cut(&text, MAX_RESULT_BYTES), text.len()),
            false => text,
        })
    }

    /// Asks for the state at the end of a trial; nothing where none was declared.
    pub async fn state(&mut self, answer: &str) -> Result<Option<Json>, NoResult> {
        let Some(state) = self.spec.state.clone() else { return Ok(None) };
        let mut arguments = match state.arguments {
            Some(Json::Object(arguments)) => arguments,
            _ => Object::new(),
        };
        if let Some(name) = &state.answer {
            arguments.set(name, answer);
        }
        let gone = |why: String| NoResult::new("tool_server_state", format!("`{}`: {why}", state.tool));
        let result =
            self.call_tool(&state.tool, Json::Object(arguments)).await?.map_err(|told| gone(told.0))?;
        if result.get("isError") == Some(&Json::Bool(true)) {
            return Err(gone(words_of(&result)));
        }
        if let Some(structured) = result.get("structuredContent").filter(|value| **value != Json::Null) {
            return Ok(Some(structured.clone()));
        }
        let text = words_of(&result);
        Ok(Some(parse(text.as_bytes(), Strictness::Lenient).unwrap_or(Json::String(text))))
    }

    /// The result of a tool, or what the server says against the call.
    async fn call_tool(&mut self, name: &str, args: Json) -> Result<Result<Json, ServerError>, NoResult> {
        let arguments = match args {
            Json::Object(_) => args,
            other => Json::Object(Object::from_iter([("arguments", other)])),
        };
        let params = Object::from_iter([("arguments", arguments), ("name", Json::from(name))]);
        let (answer, _) = self.ask("tools/call", Json::Object(params)).await?;
        if let Some(error) = answer.get("error") {
            return Ok(Err(message_of(error)));
        }
        match answer.get("result") {
            Some(result @ Json::Object(_)) => Ok(Ok(result.clone())),
            _ => Err(NoResult::garbled("an answer to `tools/call` has no `result`")),
        }
    }

    /// Both generations of the protocol begin here: who does not know `initialize` needs none.
    async fn greet(&mut self) -> Result<(), NoResult> {
        let client = Object::from_iter([("name", "proofhouse"), ("version", env!("CARGO_PKG_VERSION"))]);
        let params = Object::from_iter([
            ("capabilities", Json::Object(Object::new())),
            ("clientInfo", Json::Object(client)),
            ("protocolVersion", Json::from(PROTOCOL)),
        ]);
        let (answer, _) = self.ask("initialize", Json::Object(params)).await?;
        match answer.get("error") {
            None => {
                let note = Object::from_iter([("jsonrpc", "2.0"), ("method", "notifications/initialized")]);
                self.within(async |server| server.send(&Json::Object(note)).await).await
            }
            Some(error) if error.get("code").and_then(Json::as_f64) == Some(NO_METHOD) => Ok(()),
            Some(error) => Err(NoResult::new(
                "tool_server_start",
                format!("it refuses `initialize`: {}", message_of(error).0),
            )),
        }
    }

    async fn list(&mut self) -> Result<Vec<ToolSpec>, NoResult> {
        let mut tools: Vec<ToolSpec> = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = Object::from_iter(cursor.iter().map(|cursor| ("cursor", cursor.as_str())));
            let (answer, line) = self.ask("tools/list", Json::Object(params)).await?;
            if let Some(error) = answer.get("error") {
                let why = format!("it refuses `tools/list`: {}", message_of(error).0);
                return Err(NoResult::new("tool_server_start", why));
            }
            // Read once more as it stands: models see the order of a schema's keys.
            let page: Listed = serde_json::from_slice(&line)
                .map_err(|error| NoResult::garbled(format!("its list of tools cannot be read: {error}")))?;
            for tool in page.result.tools {
                if tools.iter().any(|known| known.name == tool.name) {
                    return Err(NoResult::garbled(format!("it has two tools `{}`", tool.name)));
                }
                tools.push(tool.into());
            }
            if tools.len() > MAX_TOOLS {
                return Err(NoResult::garbled(format!("it has more than {MAX_TOOLS} tools")));
            }
            cursor = page.result.next_cursor;
            if cursor.is_none() {
                let hidden = tools.iter().filter(|tool| self.spec.hides(&tool.name)).count();
                let missing = self
                    .spec
                    .state
                    .as_ref()
                    .filter(|state| !tools.iter().any(|tool| tool.name == state.tool));
                if let Some(state) = missing {
                    let why = format!("it has no tool `{}`, which should give the state", state.tool);
                    return Err(NoResult::new("tool_server_start", why));
                }
                tracing::debug!(tools = tools.len(), hidden, "tools of a server");
                tools.retain(|tool| !self.spec.hides(&tool.name));
                return Ok(tools);
            }
        }
        Err(NoResult::garbled(format!("its list of tools has more than {MAX_PAGES} pages")))
    }

    /// Asks, and waits for the answer to this question. Also its line as it was said.
    async fn ask(&mut self, method: &str, params: Json) -> Result<(Json, Vec<u8>), NoResult> {
        let id = self.next_id;
        self.next_id += 1;
        let question = Object::from_iter([
            ("id", Json::Number(id as f64)),
            ("jsonrpc", Json::from("2.0")),
            ("method", Json::from(method)),
            ("params", params),
        ]);
        self.within(async |server| {
            server.send(&Json::Object(question)).await?;
            for _ in 0..MAX_MESSAGES {
                let (message, line) = server.hear().await?;
                if let Some(asked) = message.get("method").and_then(Json::as_str) {
                    if let Some(reply) = reply_to(asked, &message) {
                        server.send(&reply).await?;
                    }
                } else if message.get("id").and_then(Json::as_f64) == Some(id as f64) {
                    return Ok((message, line));
                }
                // Anything else is an answer that nobody waits for.
            }
            Err(NoResult::garbled(format!(
                "more than {MAX_MESSAGES} messages came before the answer to `{method}`"
            )))
        })
        .await
    }

    async fn within<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Self) -> Result<T, NoResult>,
    ) -> Result<T, NoResult> {
        let timeout = self.timeout;
        match tokio::time::timeout(timeout, work(self)).await {
            Ok(done) => done,
            Err(_) => {
                let error = format!("the tool server did not answer within {} ms", timeout.as_millis());
                Err(NoResult::new("tool_server_timeout", error))
            }
        }
    }

    async fn send(&mut self, message: &Json) -> Result<(), NoResult> {
        let line = format!("{message}\n");
        match self.stream.get_mut().write_all(line.as_bytes()).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.last_words().await),
        }
    }

    /// The next message; empty lines are none.
    async fn hear(&mut self) -> Result<(Json, Vec<u8>), NoResult> {
        loop {
            let mut line = Vec::new();
            let read = (&mut self.stream).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await;
            if !matches!(read, Ok(1..)) {
                return Err(self.last_words().await);
            }
            self.heard_bytes += line.len() as u64;
            if self.heard_bytes > MAX_TRIAL_BYTES {
                return Err(NoResult::garbled(format!("it said more than {MAX_TRIAL_BYTES} bytes")));
            }
            if !line.ends_with(b"\n") && line.len() as u64 == MAX_LINE_BYTES {
                return Err(NoResult::garbled(format!("it said a line of more than {MAX_LINE_BYTES} bytes")));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            return match parse(&line, Strictness::Lenient) {
                Ok(message @ Json::Object(_)) => Ok((message, line)),
                Ok(other) => Err(NoResult::garbled(format!("it said {}, not an object", other.type_name()))),
                Err(error) => {
                    let shown = String::from_utf8_lossy(&line);
                    let shown = cut(shown.trim(), 200);
                    Err(NoResult::garbled(format!("it said a line that is not JSON ({error}): {shown}")))
                }
            };
        }
    }

    /// Why the server is gone, with what it said on standard error.
    async fn last_words(&mut self) -> NoResult {
        let Some(ended) = self.ended.take() else {
            return NoResult::new("tool_server_died", "the tool server ended");
        };
        let Ok(Ok(outcome)) = tokio::time::timeout(LAST_WORDS, ended).await else {
            return NoResult::new("tool_server_died", "the tool server closed its output");
        };
        let said = [outcome.stderr.head.as_slice(), outcome.stderr.tail.as_slice()].concat();
        let said = String::from_utf8_lossy(&said);
        let last = said.trim().lines().last().map(|line| format!(": {}", cut(line, 400))).unwrap_or_default();
        let how = match &outcome.status {
            Status::Exit(code) => format!("with exit code {code}"),
            Status::InfraError(error) => return NoResult::new("tool_server_start", format!("{error}{last}")),
            status => format!("({})", status.word()),
        };
        NoResult::new("tool_server_died", format!("the tool server ended {how}{last}"))
    }
}

/// What a server says against a request.
#[derive(Debug)]
struct ServerError(String);

/// What we say to a request of the server; nothing to a notification.
fn reply_to(method: &str, message: &Json) -> Option<Json> {
    let id = message.get("id").filter(|id| **id != Json::Null)?;
    let (key, value) = match method {
        "ping" => ("result", Json::Object(Object::new())),
        _ => {
            let error = [("code", Json::Number(NO_METHOD)), ("message", Json::from("Method not found"))];
            ("error", Json::Object(Object::from_iter(error)))
        }
    };
    Some(Json::Object(Object::from_iter([("id", id.clone()), ("jsonrpc", Json::from("2.0")), (key, value)])))
}

fn message_of(error: &Json) -> ServerError {
    ServerError(error.get("message").and_then(Json::as_str).unwrap_or("it gives no reason").to_owned())
}

/// The text of a result: its text parts, and what the others are.
fn words_of(result: &Json) -> String {
    let Some(Json::Array(parts)) = result.get("content") else {
        return result.get("structuredContent").map(Json::to_string).unwrap_or_default();
    };
    let words = parts.iter().map(|part| match (part.get("type").and_then(Json::as_str), part.get("text")) {
        (_, Some(Json::String(text))) => text.clone(),
        (Some(kind), _) => format!("[{}]", cut(kind, 40)),
        (None, _) => String::new(),
    });
    words.collect::<Vec<_>>().join("\n")
}

/// An answer to `tools/list`, as it stands.
#[derive(Deserialize)]
struct Listed {
    result: Page,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<ListedTool>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedTool {
    name: String,
    description: Option<String>,
    input_schema: Schema,
}

impl From<ListedTool> for ToolSpec {
    fn from(tool: ListedTool) -> Self {
        ToolSpec {
            name: tool.name,
            description: tool.description.unwrap_or_default(),
            schema: Some(tool.input_schema),
            ..ToolSpec::default()
        }
    }
}
