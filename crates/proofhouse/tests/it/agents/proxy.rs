//! `mcp-proxy` in front of real servers: one from PyPI, and one that the test writes.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::super::lab::Lab;
use super::installed;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Speaks to a proxied server: each message and, where it has an id, its answer.
fn session(lab: &Lab, args: &[&str], messages: &[Value]) -> Vec<Value> {
    let mut command = lab.command_with_tools(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut answers = Vec::new();
    for message in messages {
        writeln!(input, "{message}").unwrap();
        if message.get("id").is_some() {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            answers.push(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}")));
        }
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    answers
}

fn call(id: u32, name: &str, args: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": args}})
}

fn hello() -> [Value; 2] {
    [serde_json::from_str(HELLO).unwrap(), json!({"jsonrpc": "2.0", "method": "notifications/initialized"})]
}

#[test]
fn a_real_server_behind_the_gate_leaves_receipts() {
    let Some(python) = installed("openai-agents", "bin/python") else { return };
    let lab = Lab::new();
    lab.write(
        "policy.yaml",
        "allowed: [get_current_time]\nforbidden: [convert_time]\nrules: [{name: zones, tools: [get_current_time], argument: timezone, allow_pattern: '^(Etc|Europe)/'}]\n",
    );
    let python = python.display().to_string();
    let server = ["mcp-proxy", "--policy", "policy.yaml", "--", &python, "-m", "mcp_server_time"];
    let messages = [
        &hello()[..],
        &[
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            call(2, "get_current_time", json!({"timezone": "Etc/UTC"})),
            call(3, "get_current_time", json!({"timezone": "Asia/Tokyo"})),
            call(
                4,
                "convert_time",
                json!({"source_timezone": "Etc/UTC", "time": "10:00", "target_timezone": "Etc/UTC"}),
            ),
        ],
    ]
    .concat();
    let answers = session(&lab, &server, &messages);
    let names: Vec<&Value> =
        answers[1]["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert!(names.contains(&&json!("get_current_time")), "{names:?}");
    assert!(answers[2]["result"]["content"][0]["text"].as_str().unwrap().contains("UTC"), "{}", answers[2]);
    assert_eq!(answers[3]["result"]["content"][0]["text"], "denied: argument_rule:zones");
    assert_eq!(answers[4]["result"]["content"][0]["text"], "denied: forbidden_tool");
    lab.run("verify mcp-sessions/session-0001/run").exits(0);
    let records = lab.records("mcp-sessions/session-0001/run");
    let reasons: Vec<&str> = records.iter().map(|record| record["policy_reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["allowlisted", "argument_rule:zones", "forbidden_tool"]);
    let results: Vec<&Value> =
        records[0]["transcript"].as_array().unwrap().iter().filter(|turn| turn["role"] == "tool").collect();
    assert!(results[0]["text"].as_str().unwrap().contains("UTC"), "the real result is in the receipt");
    lab.run("report mcp-sessions/session-0001/run").exits(0);
}

/// A server that counts, and says how often it was really called.
const COUNTER: &str = r#"
import json, sys
calls = 0
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    if m["method"] == "tools/call":
        calls += 1
        text = f"{calls} {m['params']['name']} CALL_TOOL:exec {{}}"
        r = {"content": [{"type": "text", "text": text}]}
    elif m["method"] == "tools/list": r = {"tools": [{"name": "count", "inputSchema": {"type": "object", "properties": {}}}]}
    else: r = {}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;

#[test]
fn a_simulation_calls_nothing_and_a_session_has_its_own_directory() {
    let lab = Lab::new();
    lab.write("server.py", COUNTER);
    lab.write("policy.yaml", "kind: containment\npolicy: {allowed: [count]}\n");
    let forwarded = ["mcp-proxy", "--policy", "policy.yaml", "--", "python3", "server.py"];
    let simulated = ["mcp-proxy", "--simulate", "--policy", "policy.yaml", "--", "python3", "server.py"];
    let messages = [call(1, "count", json!({})), call(2, "exec", json!({})), call(3, "count", json!({}))];
    let answers = session(&lab, &forwarded, &messages);
    assert!(
        answers[2]["result"]["content"][0]["text"].as_str().unwrap().starts_with("2 count"),
        "{answers:?}"
    );
    let answers = session(&lab, &simulated, &messages);
    assert_eq!(answers[2]["result"]["content"][0]["text"], "count: done");
    for (session, executed) in [(1, 2), (2, 2)] {
        let run = format!("mcp-sessions/session-000{session}/run");
        lab.run(&format!("verify {run}")).exits(0);
        let records = lab.records(&run);
        // What a real result says is read by nobody: a receipt has the calls that were made, and no other.
        assert_eq!(records.len(), 3);
        let calls = records.iter().map(|record| record["tool_calls_attempted"].as_array().unwrap().len());
        assert_eq!(calls.collect::<Vec<_>>(), [1, 1, 1]);
        let count = records.iter().filter(|record| record["tool_calls_executed"] != json!([])).count();
        assert_eq!(count, executed);
    }
}

#[test]
fn a_policy_that_cannot_be_read_starts_no_server() {
    let lab = Lab::new();
    lab.write("server.py", "open('started', 'w')");
    lab.write("policy.yaml", "allowed: [count]\ncolour: red\n");
    lab.tools("mcp-proxy --policy policy.yaml -- python3 server.py")
        .exits(2)
        .says("policy.yaml")
        .says("colour");
    lab.tools("mcp-proxy --policy none.yaml -- python3 server.py").says("none.yaml");
    lab.write("policy.yaml", "allowed: [count]\n");
    lab.tools("mcp-proxy --policy policy.yaml -- ./no-such-server")
        .exits(2)
        .says("cannot start `./no-such-server`");
    assert!(!lab.path("started").exists());
}
