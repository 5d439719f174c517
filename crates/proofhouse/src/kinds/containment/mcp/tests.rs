//! Both generations of the protocol, message by message, and what is no message at all.

use super::*;

#[derive(Default)]
struct Bench {
    calls: Vec<(String, String)>,
}

impl ToolServer for Bench {
    fn tools(&mut self) -> Vec<Json> {
        vec![tool("fs_read", "Read.", Json::Object(Object::from_iter([("type", "object")])))]
    }

    fn call(&mut self, name: &str, args: Json) -> Option<ToolResult> {
        if name != "fs_read" {
            return None;
        }
        self.calls.push((name.to_owned(), args.to_string()));
        Some(ToolResult { text: "notes".to_owned(), is_error: false })
    }
}

fn check(message: &str, expected: &str) {
    let said = match answer_bytes(message.as_bytes(), &mut Bench::default()) {
        Answered::With(answer) => answer.to_string(),
        Answered::Nothing => "nothing".to_owned(),
        Answered::Refused(answer, word) => format!("{word}: {answer}"),
    };
    assert_eq!(said.replace(env!("CARGO_PKG_VERSION"), "V"), expected, "{message}");
}

#[test]
fn the_older_generation_shakes_hands() {
    let hello = |wanted: &str, given: &str| {
        check(
            &format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{wanted}","capabilities":{{}}}}}}"#
            ),
            &format!(
                r#"{{"id":1,"jsonrpc":"2.0","result":{{"capabilities":{{"tools":{{}}}},"protocolVersion":"{given}","serverInfo":{{"name":"proofhouse","version":"V"}}}}}}"#
            ),
        );
    };
    for version in WITH_HANDSHAKE {
        hello(version, version);
    }
    hello("1999-01-01", "2025-11-25");
    hello("2026-07-28", "2025-11-25");
    check(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "nothing");
    check(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#, "nothing");
    check(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, r#"{"id":"a","jsonrpc":"2.0","result":{}}"#);
    check(
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        r#"{"id":2,"jsonrpc":"2.0","result":{"tools":[{"description":"Read.","inputSchema":{"type":"object"},"name":"fs_read"}]}}"#,
    );
    check(
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"x"}}}"#,
        r#"{"id":3,"jsonrpc":"2.0","result":{"content":[{"text":"notes","type":"text"}],"isError":false}}"#,
    );
}

#[test]
fn the_newer_generation_says_its_version_with_every_request() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    check(
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{meta}}}}}"#),
        r#"{"id":1,"jsonrpc":"2.0","result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"proofhouse","version":"V"}},"cacheScope":"private","capabilities":{"tools":{}},"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"ttlMs":0}}"#,
    );
    check(
        &format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{{meta}}}}}"#),
        r#"{"id":2,"jsonrpc":"2.0","result":{"cacheScope":"private","resultType":"complete","tools":[{"description":"Read.","inputSchema":{"type":"object"},"name":"fs_read"}],"ttlMs":0}}"#,
    );
    check(
        &format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"fs_read",{meta}}}}}"#),
        r#"{"id":3,"jsonrpc":"2.0","result":{"content":[{"text":"notes","type":"text"}],"isError":false,"resultType":"complete"}}"#,
    );
    check(
        r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}"#,
        r#"{"error":{"code":-32022,"data":{"requested":"2031-01-01","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]},"message":"unsupported protocol version"},"id":4,"jsonrpc":"2.0"}"#,
    );
}

#[test]
fn what_is_no_message_has_a_clear_answer() {
    let refused = |message: &str, word: &str, code: i32| {
        let Answered::Refused(answer, said) = answer_bytes(message.as_bytes(), &mut Bench::default()) else {
            panic!("{message} was answered")
        };
        assert_eq!(
            (said, answer.pointer("/error/code").and_then(Json::as_f64)),
            (word, Some(f64::from(code)))
        );
    };
    refused("{", "malformed", -32700);
    refused("", "malformed", -32700);
    refused("\u{0}", "malformed", -32700);
    refused("7", "malformed", -32600);
    refused("[]", "malformed", -32600);
    refused(r#"{"id":1,"method":"ping"}"#, "malformed", -32600);
    refused(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "malformed", -32600);
    refused(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "malformed", -32600);
    refused(r#"{"jsonrpc":"2.0","id":1}"#, "malformed", -32600);
    refused(&format!("[{}]", vec!["1"; MAX_BATCH + 1].join(",")), "malformed", -32600);
    refused(&" ".repeat(MAX_MESSAGE_BYTES + 1), "oversized", -32600);
    let error = |code: i32, message: &str| {
        format!(r#"{{"error":{{"code":{code},"message":"{message}"}},"id":1,"jsonrpc":"2.0"}}"#)
    };
    let with = |rest: &str| format!(r#"{{"jsonrpc":"2.0","id":1,{rest}}}"#);
    check(&with(r#""method":"resources/list""#), &error(-32601, "method not found"));
    check(&with(r#""method":"tools/call","params":[]"#), &error(-32602, "params is an object"));
    check(&with(r#""method":"tools/call","params":{}"#), &error(-32602, "a call names its tool"));
    check(&with(r#""method":"tools/call","params":{"name":"rm"}"#), &error(-32602, "unknown tool: rm"));
    check(&with(r#""result":{}"#), "nothing");
}

#[test]
fn a_batch_is_answered_in_its_order_and_every_call_counts_whatever_its_id() {
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_read","arguments":{"n":1}}}"#;
    let mut bench = Bench::default();
    let batch = format!(r#"[{call},{{"jsonrpc":"2.0","method":"notifications/x"}},{call},7]"#);
    let Answered::With(Json::Array(answers)) = answer_bytes(batch.as_bytes(), &mut bench) else { panic!() };
    assert_eq!(answers.len(), 3);
    assert_eq!(bench.calls.len(), 2);
}

#[test]
fn names_are_known_by_their_end() {
    let own = ["fs_read", "read", "send_email"];
    for (name, expected) in [
        ("fs_read", Some("fs_read")),
        ("t_fs_read", Some("fs_read")),
        ("mcp__t__fs_read", Some("fs_read")),
        ("mcp__t__read", Some("read")),
        ("t.send_email", Some("send_email")),
        ("spread", None),
        ("fs_read2", None),
        ("", None),
    ] {
        assert_eq!(own_name(name, own), expected, "{name}");
    }
}
