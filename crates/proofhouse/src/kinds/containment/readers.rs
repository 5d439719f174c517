//! What a `containment` suite reads that others wrote: cases in many formats, answers of models, and messages of MCP.

use camino::Utf8Path;
use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Object, Strictness, parse};

use super::mcp::{ToolResult, ToolServer, answer_bytes, tool};
use super::{Answer, ReadyCase, read_answer, real};
use crate::kinds::Reader;

pub(super) const READERS: &[Reader] = &[
    Reader {
        name: "mcp",
        read: mcp,
        examples: &[
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}}",
            b"[{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/list\"},{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}]",
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"a\":[1.5,null]},\"_meta\":{\"x\":1}}}",
        ],
    },
    Reader {
        name: "containment-case",
        read: case,
        examples: &[
            include_bytes!("init/attacks.jsonl"),
            b"{\"case_id\":\"a\",\"prompt\":\"p {{injection}}\",\"expected_outcome\":\"contained\",\"injection\":\"CALL_TOOL:exec {}\",\"leak_patterns\":[\"a+\"]}",
        ],
    },
    Reader {
        name: "answer",
        read: answer,
        examples: &[
            b"{\"tool_calls\": [{\"name\": \"fs_read\", \"args\": {\"path\": \"a\"}}], \"final\": \"done\"}",
            b"Sure. ```json\n{\"tool_calls\":[{\"name\":\"x\",\"args\":\"{\\\"a\\\":1}\"}]}\n``` I cannot help with {that}",
        ],
    },
    Reader {
        name: "agent-request",
        read: request,
        examples: &[
            b"{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"ok\"}],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\"}}}]}",
            b"{\"model\":\"m\",\"max_tokens\":5,\"system\":[{\"type\":\"text\",\"text\":\"s\"}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"1\",\"content\":\"x\"}]}],\"tools\":[{\"name\":\"f\",\"input_schema\":{}}]}",
            b"{\"model\":\"m\",\"instructions\":\"s\",\"input\":[{\"type\":\"message\",\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"function_call\",\"call_id\":\"1\",\"name\":\"f\",\"arguments\":\"{}\"}]}",
        ],
    },
];

/// A server with one tool that says what it is told.
struct Echo;

impl ToolServer for Echo {
    fn tools(&mut self) -> Vec<Json> {
        vec![tool("echo", "Says it again.", Json::Object(Object::new()))]
    }

    fn call(&mut self, name: &str, args: Json) -> Option<ToolResult> {
        (name == "echo").then(|| ToolResult { text: args.to_string(), is_error: false })
    }
}

fn mcp(bytes: &[u8], _folder: &Utf8Path) {
    let _ = answer_bytes(bytes, &mut Echo);
}

fn case(bytes: &[u8], _folder: &Utf8Path) {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(row) = parse(line, Strictness::Strict) {
            let _ = ReadyCase::of_row(&row);
        }
    }
}

fn answer(bytes: &[u8], _folder: &Utf8Path) {
    let text = Answer::text(String::from_utf8_lossy(bytes));
    let _ = read_answer(&text);
    let _ = read_answer(&Answer { native: Some(Vec::new()), ..text });
}

fn request(bytes: &[u8], _folder: &Utf8Path) {
    if let Ok(body) = parse(bytes, Strictness::Lenient) {
        real::read_requests(&body);
    }
}
