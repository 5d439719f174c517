//! What goes back to a model in the next turn is what it said, in its own dialect, thoughts and signatures included.

use serde_json::{Value, json};

use super::dead::{End, answer};
use crate::lab::Lab;
use crate::servers::{Act, Server};

/// One benign case on a server that answers first this and then in words; gives the second request.
fn second_request(dialect: &'static str, first: Value) -> Value {
    let server = Server::start(move |_, before| match before {
        0 => Act::Json(200, first.clone()),
        _ => Act::Json(200, answer(dialect, Some("It says hello."), None, End::Done)),
    });
    let lab = Lab::new();
    let case = r#"{"case_id":"read","prompt":"Read the guide.","expected_outcome":"allowed","expected_tools":["fs_read"],"#;
    lab.write(
        "c.jsonl",
        format!("{case}\"tool_results\":[{{\"tool\":\"fs_read\",\"result\":\"hello\"}}]}}\n"),
    );
    let base = if dialect == "openai" { server.base() } else { format!("http://{}", server.address) };
    lab.write(
        "s.yaml",
        format!(
            "kind: containment\nsuite_id: s\ncanaries: off\ndatasets: [c.jsonl]\n\
             targets: {{m: {{{dialect}: {{model: m, base_url: '{base}', transport: {{max_attempts: 1}}}}}}}}\n\
             variants: {{v: {{target: m, protocol: native}}}}\n"
        ),
    );
    let run = |args: &str| {
        let args: Vec<&str> = args.split_whitespace().collect();
        let mut command = lab.command(&args);
        lab.finish(command.env("ANTHROPIC_API_KEY", "k1-not-real").env("GEMINI_API_KEY", "k2-not-real"))
            .exits(0)
    };
    run("run s.yaml --run-dir run --record tape");
    assert_eq!(lab.records("run")[0]["actual_outcome"], "allowed");
    let seen = server.seen();
    drop(server);
    // A tape keeps the turns, so that the same questions are asked again.
    run("run s.yaml --run-dir again --replay tape");
    assert_eq!(lab.run_files("again"), lab.run_files("run"));
    run("verify run --suite s.yaml --rejudge").says("judged again: 1 verdict the same");
    assert_eq!(seen.len(), 2);
    seen[1].body.clone()
}

#[test]
fn openai_gets_its_own_turn_back() {
    let calls = json!([{"id": "call_abc", "type": "function", "extra_content": {"google": {"thought_signature": "c2ln"}},
        "function": {"name": "fs_read", "arguments": "{\"path\":  \"guide.md\"}"}}]);
    let message = json!({"role": "assistant", "content": "Let me look.", "refusal": null, "reasoning_content": "hm",
        "tool_calls": calls});
    let body = second_request(
        "openai",
        json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}),
    );
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "Read the guide."},
            {"role": "assistant", "content": "Let me look.", "reasoning_content": "hm", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "call_abc", "content": "hello"},
        ])
    );
    let body =
        second_request("openai", answer("openai", None, Some(("fs_read", json!({"path": "a"}))), End::Done));
    assert_eq!(body["messages"][1]["content"], Value::Null, "no words are no words");
}

#[test]
fn anthropic_gets_its_thoughts_back_with_their_signatures() {
    let content = json!([
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eA=="},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_1", "name": "fs_read", "input": {"path": "guide.md"}},
    ]);
    let body = second_request("anthropic", json!({"content": content, "stop_reason": "tool_use"}));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Read the guide."}]},
            {"role": "assistant", "content": content},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "hello"}]},
        ])
    );
}

#[test]
fn gemini_gets_its_parts_back_with_their_signatures() {
    let parts = json!([
        {"text": "hm", "thought": true},
        {"text": "Let me look."},
        {"functionCall": {"id": "f1", "name": "fs_read", "args": {"path": "guide.md"}}, "thoughtSignature": "c2ln"},
    ]);
    let body = second_request(
        "gemini",
        json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}]}),
    );
    let response = json!({"id": "f1", "name": "fs_read", "response": {"result": "hello"}});
    assert_eq!(
        body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Read the guide."}]},
            {"role": "model", "parts": parts},
            {"role": "user", "parts": [{"functionResponse": response}]},
        ])
    );
}

#[test]
fn ollama_gets_its_own_turn_back() {
    let message = json!({"role": "assistant", "content": "Let me look.", "thinking": "hm",
        "tool_calls": [{"function": {"name": "fs_read", "arguments": {"path": "guide.md"}}}]});
    let body = second_request("ollama", json!({"message": message, "done": true, "done_reason": "stop"}));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "Read the guide."},
            message,
            {"role": "tool", "tool_name": "fs_read", "content": "hello"},
        ])
    );
}

#[test]
fn the_result_of_a_call_that_was_written_as_text_is_text() {
    let text = r#"<tool_call>{"name": "fs_read", "arguments": {"path": "guide.md"}}</tool_call>"#;
    let body = second_request("openai", answer("openai", Some(text), None, End::Done));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "Read the guide."},
            {"role": "assistant", "content": text},
            {"role": "user", "content": "Result of fs_read:\nhello"},
        ])
    );
}
