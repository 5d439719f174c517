//! The gate in front of a real MCP server: what a client sends is forwarded as it is, but for calls, which the policy decides
//! first. Every call becomes a line of cases, which a suite that plays them turns into receipts.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};
use proofhouse_ledger::record::containment::Decision;

use super::call::{ToolCall, cut};
use super::case::{Case, Expected, Planted};
use super::gate::{Gate, Ruling};
use super::mcp::{self, MAX_MESSAGE_BYTES};
use super::policy::{Compiled, Policy};
use super::tools::ToolSpec;
use crate::text::complaint::Complaint;
use crate::text::yaml;

/// What is kept of a result.
const KEPT_RESULT_BYTES: usize = 64 << 10;
/// Calls under way at the same time.
const MAX_PENDING: usize = 10_000;

/// What becomes of what a client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Onward {
    /// This goes to the server.
    Server(Vec<u8>),
    /// This goes back.
    Client(Vec<u8>),
}

/// A call that is over.
#[derive(Debug)]
struct Call {
    attempted: ToolCall,
    executed: Option<ToolCall>,
    number: u64,
}

/// The gate between a client and a server.
#[derive(Debug)]
pub(crate) struct Proxy {
    policy: Policy,
    compiled: Compiled,
    simulates: bool,
    pending: BTreeMap<String, Call>,
    /// Requests for the list of tools.
    listing: BTreeMap<String, ()>,
    tools: Vec<ToolSpec>,
    calls: u64,
}

impl Proxy {
    /// A gate with this policy. One that simulates forwards no call.
    ///
    /// # Errors
    /// A rule that cannot be compiled.
    pub(crate) fn new(policy: Policy, simulates: bool) -> Result<Proxy, Complaint> {
        let compiled = policy.compile()?;
        Ok(Proxy {
            policy,
            compiled,
            simulates,
            pending: BTreeMap::new(),
            listing: BTreeMap::new(),
            tools: Vec::new(),
            calls: 0,
        })
    }

    /// A policy from the text of a file: a policy by itself, or a suite's.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn policy(text: &str) -> Result<Policy, Complaint> {
        let json: Json = yaml::read(text)?;
        let policy = json.get("policy").unwrap_or(&json).clone();
        proofhouse_ledger::json::from_json(&policy).map_err(Complaint::of)
    }

    /// How many calls were decided.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Takes a line of the client: what is sent on, and a line of cases where a call is over already.
    pub(crate) fn client_said(&mut self, line: &[u8]) -> (Option<Onward>, Option<String>) {
        let refuse = |text: &str| (Some(Onward::Client(text.as_bytes().to_vec())), None);
        if line.trim_ascii().is_empty() {
            return (None, None);
        }
        if line.len() > MAX_MESSAGE_BYTES {
            return refuse(
                r#"{"error":{"code":-32600,"message":"message too large"},"id":null,"jsonrpc":"2.0"}"#,
            );
        }
        // What cannot be read here might be read there: nothing passes that was not looked at.
        let Ok(message) = parse(line, Strictness::Lenient) else {
            return refuse(r#"{"error":{"code":-32700,"message":"parse error"},"id":null,"jsonrpc":"2.0"}"#);
        };
        if matches!(message, Json::Array(_)) {
            return refuse(
                r#"{"error":{"code":-32600,"message":"batches are not forwarded"},"id":null,"jsonrpc":"2.0"}"#,
            );
        }
        match message.get("method").and_then(Json::as_str) {
            Some("tools/call") => self.decide(message),
            Some("tools/list") => {
                if let Some(id) = message.get("id").filter(|_| self.listing.len() < MAX_PENDING) {
                    self.listing.insert(id.to_string(), ());
                }
                (Some(Onward::Server(line.to_vec())), None)
            }
            _ => (Some(Onward::Server(line.to_vec())), None),
        }
    }

    /// Takes a line of the server, which goes to the client as it is: a line of cases where it answers a call.
    pub(crate) fn server_said(&mut self, line: &[u8]) -> Option<String> {
        if self.pending.is_empty() && self.listing.is_empty() {
            return None;
        }
        let message = parse(line, Strictness::Lenient).ok()?;
        if message.get("method").is_some() {
            return None;
        }
        let id = message.get("id")?.to_string();
        if self.listing.remove(&id).is_some() {
            self.import(&message);
        }
        let call = self.pending.remove(&id)?;
        let text = match (message.get("result"), message.pointer("/error/message")) {
            (Some(result), _) => words(result),
            (None, Some(error)) => format!("error: {}", error.to_text()),
            (None, None) => String::new(),
        };
        Some(self.line(&call, Some(text)))
    }

    fn decide(&mut self, mut message: Json) -> (Option<Onward>, Option<String>) {
        let answer = |message: &Json, fields: Object| {
            let id = message.get("id").cloned().unwrap_or_default();
            let body = [("id", id), ("jsonrpc", Json::from("2.0")), ("result", Json::Object(fields))];
            Some(Onward::Client(Json::Object(Object::from_iter(body)).to_string().into_bytes()))
        };
        let params = message.get("params").cloned().unwrap_or_default();
        let name = params.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
        let args = params.get("arguments").filter(|args| **args != Json::Null).cloned();
        let attempted = ToolCall::new(name, args.unwrap_or_else(|| Json::Object(Object::new())));
        let ruling = self.ruling(&attempted);
        let executed = match ruling.decision {
            Decision::Deny => None,
            Decision::AllowModified => ruling.instead.clone(),
            Decision::Allow | Decision::Execute => Some(attempted.clone()),
        };
        self.calls += 1;
        let call = Call { attempted, executed, number: self.calls };
        let Some(executed) = call.executed.clone() else {
            let text = format!("denied: {}", ruling.reason);
            let line = self.line(&call, None);
            return (answer(&message, mcp::result_fields(&text, true, &params)), Some(line));
        };
        if self.simulates {
            let text = format!("{}: done", executed.name);
            let line = self.line(&call, Some(text.clone()));
            return (answer(&message, mcp::result_fields(&text, false, &params)), Some(line));
        }
        // A call that nobody wants an answer to is carried out all the same.
        let id = message.get("id").map(Json::to_string);
        if self.pending.len() >= MAX_PENDING || id.as_ref().is_some_and(|id| self.pending.contains_key(id)) {
            let text = "denied: an id that is in use, or too many calls under way";
            self.calls -= 1;
            return (answer(&message, mcp::result_fields(text, true, &params)), None);
        }
        if let (Json::Object(message), Json::Object(mut params)) = (&mut message, params)
            && ruling.decision == Decision::AllowModified
        {
            params.set("name", executed.name.as_str());
            params.set("arguments", executed.args);
            message.set("params", Json::Object(params));
        }
        let onward = Some(Onward::Server(message.to_string().into_bytes()));
        match id {
            Some(id) => {
                self.pending.insert(id, call);
                (onward, None)
            }
            None => {
                let line = self.line(&call, None);
                (onward, Some(line))
            }
        }
    }

    fn ruling(&self, call: &ToolCall) -> Ruling {
        Gate::plain(&self.compiled).decide(call)
    }

    /// Calls that never got an answer, as lines of cases.
    pub(crate) fn unanswered(&mut self) -> Vec<String> {
        let calls = std::mem::take(&mut self.pending);
        let mut calls: Vec<Call> = calls.into_values().collect();
        calls.sort_by_key(|call| call.number);
        calls.iter().map(|call| self.line(call, None)).collect()
    }

    fn line(&self, call: &Call, result: Option<String>) -> String {
        let planted = match (&call.executed, result) {
            (Some(executed), Some(result)) => vec![Planted {
                tool: executed.name.clone(),
                args: None,
                result: cut(&result, KEPT_RESULT_BYTES).to_owned(),
            }],
            _ => Vec::new(),
        };
        let case = Case {
            case_id: format!("call-{:06}", call.number),
            category: "session".to_owned(),
            prompt: format!("call {}", call.number),
            expected_outcome: Expected::Allowed,
            tool_results: planted,
            actions: vec![call.attempted.clone()],
            ..Case::default()
        };
        let json = proofhouse_ledger::json::to_json(&case);
        json.map(|json| json.to_string()).unwrap_or_default()
    }

    fn import(&mut self, message: &Json) {
        let Some(Json::Array(tools)) = message.pointer("/result/tools") else { return };
        for tool in tools {
            let Some(name) = tool.get("name").and_then(Json::as_str) else { continue };
            let arguments = match tool.pointer("/inputSchema/properties") {
                Some(Json::Object(properties)) => {
                    properties.iter().map(|(name, _)| name.to_owned()).collect()
                }
                _ => Vec::new(),
            };
            let description = tool.get("description").and_then(Json::as_str).unwrap_or_default().to_owned();
            self.tools.retain(|known| known.name != name);
            self.tools.push(ToolSpec {
                name: name.to_owned(),
                description,
                arguments,
                ..ToolSpec::default()
            });
        }
    }

    /// The suite that makes receipts of the cases in a file beside it.
    pub(crate) fn suite(&self, cases: &str) -> String {
        let json = |value: Result<Json, proofhouse_ledger::json::SerError>| value.unwrap_or_default();
        let variant = Object::from_iter([("driver", Json::from("actions")), ("gated", Json::Bool(true))]);
        let suite = Object::from_iter([
            ("datasets", Json::Array(vec![Json::from(cases)])),
            ("kind", Json::from("containment")),
            ("policy", json(proofhouse_ledger::json::to_json(&self.policy))),
            ("suite_id", Json::from("mcp-session")),
            ("tools", json(proofhouse_ledger::json::to_json(&self.tools))),
            ("variants", Json::Object(Object::from_iter([("proxy", Json::Object(variant))]))),
        ]);
        // Every JSON text is YAML.
        format!("{}\n", Json::Object(suite))
    }
}

/// The words of a tool's result.
fn words(result: &Json) -> String {
    let Some(Json::Array(parts)) = result.get("content") else { return result.to_string() };
    let part = |part: &Json| match part.get("text").and_then(Json::as_str) {
        Some(text) => text.to_owned(),
        None => format!("[{}]", part.get("type").and_then(Json::as_str).unwrap_or("part")),
    };
    parts.iter().map(part).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
