//! The Model Context Protocol from a server's side: one message in, at most one out, whatever carries them.
//!
//! Both generations are spoken: up to 2025-11-25, where a client says `initialize` first, and 2026-07-28, where every request
//! carries its version and `server/discover` says what there is. Clients of the new kind ask an old server in vain and go back.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};

#[cfg(test)]
mod tests;

/// Versions with a handshake, newest first.
const WITH_HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The version without one.
const WITHOUT_HANDSHAKE: &str = "2026-07-28";
/// Where a request of that version says so.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Where a server of that version says who it is.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The longest message that is read.
pub(super) const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// Messages in one batch, which versions before 2025-06-18 had.
const MAX_BATCH: usize = 64;

/// The numbers of errors.
const PARSE_ERROR: f64 = -32700.0;
const INVALID_REQUEST: f64 = -32600.0;
const METHOD_NOT_FOUND: f64 = -32601.0;
const INVALID_PARAMS: f64 = -32602.0;
const UNSUPPORTED_VERSION: f64 = -32022.0;

/// Who has tools and carries calls out.
pub(crate) trait ToolServer {
    /// What `tools/list` says.
    fn tools(&mut self) -> Vec<Json>;
    /// Carries a call out; nothing for a tool that is not there.
    fn call(&mut self, name: &str, args: Json) -> Option<ToolResult>;
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolResult {
    /// In words.
    pub(crate) text: String,
    /// Whether the tool failed, or the call was denied.
    pub(crate) is_error: bool,
}

/// What came of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answered {
    /// Something goes back.
    With(Json),
    /// It was a notification or an answer.
    Nothing,
    /// It was no message of the protocol; what goes back, and a word for the transcript.
    Refused(Json, &'static str),
}

/// A tool as `tools/list` says it.
pub(super) fn tool(name: &str, description: &str, schema: Json) -> Json {
    Json::Object(Object::from_iter([
        ("description", Json::from(description)),
        ("inputSchema", schema),
        ("name", Json::from(name)),
    ]))
}

/// Reads a body or a line and answers it.
pub(crate) fn answer_bytes(bytes: &[u8], server: &mut dyn ToolServer) -> Answered {
    if bytes.len() > MAX_MESSAGE_BYTES {
        return Answered::Refused(error(&Json::Null, INVALID_REQUEST, "message too large"), "oversized");
    }
    match parse(bytes, Strictness::Lenient) {
        Ok(message) => answer(&message, server),
        Err(_) => Answered::Refused(error(&Json::Null, PARSE_ERROR, "parse error"), "malformed"),
    }
}

/// Answers one message, or a batch of them.
pub(crate) fn answer(message: &Json, server: &mut dyn ToolServer) -> Answered {
    let Json::Array(batch) = message else { return one(message, server) };
    if batch.is_empty() || batch.len() > MAX_BATCH {
        let what = format!("a batch has 1 to {MAX_BATCH} messages");
        return Answered::Refused(error(&Json::Null, INVALID_REQUEST, &what), "malformed");
    }
    let mut answers = Vec::new();
    for message in batch {
        match one(message, server) {
            Answered::With(answer) | Answered::Refused(answer, _) => answers.push(answer),
            Answered::Nothing => {}
        }
    }
    if answers.is_empty() { Answered::Nothing } else { Answered::With(Json::Array(answers)) }
}

fn one(message: &Json, server: &mut dyn ToolServer) -> Answered {
    let refuse = |id: &Json, what: &str| Answered::Refused(error(id, INVALID_REQUEST, what), "malformed");
    if message.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
        return refuse(&Json::Null, "not a message of JSON-RPC 2.0");
    }
    let id = message.get("id");
    let Some(method) = message.get("method").and_then(Json::as_str) else {
        // A client that answers was asked by nobody here.
        let answers = message.get("result").is_some() || message.get("error").is_some();
        return if answers { Answered::Nothing } else { refuse(&Json::Null, "a message without a method") };
    };
    let Some(id) = id else { return Answered::Nothing };
    if !matches!(id, Json::String(_) | Json::Number(_)) {
        return refuse(&Json::Null, "an id is a text or a number");
    }
    let none = Json::Object(Object::new());
    let params = match message.get("params") {
        None | Some(Json::Null) => &none,
        Some(params @ Json::Object(_)) => params,
        Some(_) => return Answered::With(error(id, INVALID_PARAMS, "params is an object")),
    };
    Answered::With(match result(method, params, server) {
        Ok(result) => Json::Object(Object::from_iter([
            ("id", id.clone()),
            ("jsonrpc", Json::from("2.0")),
            ("result", Json::Object(result)),
        ])),
        Err(Failed { code, what, data }) => {
            let mut answer = error(id, code, &what);
            if let (Some(data), Json::Object(answer)) = (data, &mut answer)
                && let Some(Json::Object(mut fields)) = answer.remove("error")
            {
                fields.set("data", data);
                answer.set("error", Json::Object(fields));
            }
            answer
        }
    })
}

struct Failed {
    code: f64,
    what: String,
    data: Option<Json>,
}

fn failed(code: f64, what: impl Into<String>) -> Failed {
    Failed { code, what: what.into(), data: None }
}

fn result(method: &str, params: &Json, server: &mut dyn ToolServer) -> Result<Object, Failed> {
    let version = version_of(params);
    let is_new = version == Some(WITHOUT_HANDSHAKE);
    if let Some(version) = version.filter(|version| !is_new && !WITH_HANDSHAKE.contains(version)) {
        let data = Object::from_iter([("requested", Json::from(version)), ("supported", versions())]);
        let what = "unsupported protocol version".to_owned();
        return Err(Failed { code: UNSUPPORTED_VERSION, what, data: Some(Json::Object(data)) });
    }
    let mut result = match method {
        "initialize" => initialized(params),
        "server/discover" => discovered(),
        "ping" => Object::new(),
        "tools/list" => Object::from_iter([("tools", Json::Array(server.tools()))]),
        "tools/call" => called(params, server)?,
        _ => return Err(failed(METHOD_NOT_FOUND, "method not found")),
    };
    if is_new || method == "server/discover" {
        result.set("resultType", "complete");
        if matches!(method, "tools/list" | "server/discover") {
            // Nothing is kept: the list may be another one the next time.
            result.set("ttlMs", Json::Number(0.0));
            result.set("cacheScope", "private");
        }
    }
    Ok(result)
}

fn versions() -> Json {
    let all = std::iter::once(WITHOUT_HANDSHAKE).chain(WITH_HANDSHAKE);
    Json::Array(all.map(Json::from).collect())
}

/// Whether a version in a header is one that is spoken.
pub(super) fn knows(version: &str) -> bool {
    version == WITHOUT_HANDSHAKE || WITH_HANDSHAKE.contains(&version)
}

fn about() -> Json {
    Json::Object(Object::from_iter([("name", "proofhouse"), ("version", env!("CARGO_PKG_VERSION"))]))
}

fn capabilities() -> Json {
    Json::Object(Object::from_iter([("tools", Json::Object(Object::new()))]))
}

fn initialized(params: &Json) -> Object {
    let wanted = params.get("protocolVersion").and_then(Json::as_str);
    let version = wanted.filter(|wanted| WITH_HANDSHAKE.contains(wanted)).unwrap_or(WITH_HANDSHAKE[0]);
    Object::from_iter([
        ("capabilities", capabilities()),
        ("protocolVersion", Json::from(version)),
        ("serverInfo", about()),
    ])
}

fn discovered() -> Object {
    Object::from_iter([
        ("_meta", Json::Object(Object::from_iter([(SERVER_KEY, about())]))),
        ("capabilities", capabilities()),
        ("supportedVersions", versions()),
    ])
}

fn called(params: &Json, server: &mut dyn ToolServer) -> Result<Object, Failed> {
    let Some(name) = params.get("name").and_then(Json::as_str) else {
        return Err(failed(INVALID_PARAMS, "a call names its tool"));
    };
    let args = params.get("arguments").filter(|args| **args != Json::Null).cloned();
    let args = args.unwrap_or_else(|| Json::Object(Object::new()));
    let Some(result) = server.call(name, args) else {
        return Err(failed(INVALID_PARAMS, format!("unknown tool: {name}")));
    };
    Ok(of_call(&result.text, result.is_error))
}

fn of_call(text: &str, is_error: bool) -> Object {
    let content = Object::from_iter([("text", text), ("type", "text")]);
    Object::from_iter([
        ("content", Json::Array(vec![Json::Object(content)])),
        ("isError", Json::Bool(is_error)),
    ])
}

/// What a call with these parameters came to, in the generation that they are of.
pub(super) fn result_fields(text: &str, is_error: bool, params: &Json) -> Object {
    let mut fields = of_call(text, is_error);
    if version_of(params) == Some(WITHOUT_HANDSHAKE) {
        fields.set("resultType", "complete");
    }
    fields
}

fn version_of(params: &Json) -> Option<&str> {
    params.get("_meta").and_then(|meta| meta.get(VERSION_KEY)).and_then(Json::as_str)
}

fn error(id: &Json, code: f64, message: &str) -> Json {
    let error = Object::from_iter([("code", Json::Number(code)), ("message", Json::from(message))]);
    Json::Object(Object::from_iter([
        ("error", Json::Object(error)),
        ("id", id.clone()),
        ("jsonrpc", Json::from("2.0")),
    ]))
}

/// Which of these tools a name means: agents put the name of the server before it.
pub(super) fn own_name<'t>(name: &str, own: impl IntoIterator<Item = &'t str>) -> Option<&'t str> {
    let ends = |tool: &str| {
        name.strip_suffix(tool)
            .is_some_and(|before| before.is_empty() || !before.ends_with(|c: char| c.is_alphanumeric()))
    };
    // The longest: `read` is a suffix of `fs_read` as well.
    own.into_iter().filter(|tool| !tool.is_empty() && ends(tool)).max_by_key(|tool| tool.len())
}
