//! What passes, what does not, and what is written down of it.

use super::*;

fn proxy(policy: &str, simulates: bool) -> Proxy {
    Proxy::new(Proxy::policy(policy).unwrap(), simulates).unwrap()
}

const POLICY: &str = "{allowed: [read], forbidden: [send], rules: [{name: short, tools: [read], argument: path, max_bytes: 4, remedy: truncate}]}";

fn call(id: &str, name: &str, args: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{args}}}}}"#)
        .into_bytes()
}

fn text(onward: Option<Onward>) -> (char, String) {
    match onward {
        Some(Onward::Server(bytes)) => ('s', String::from_utf8(bytes).unwrap()),
        Some(Onward::Client(bytes)) => ('c', String::from_utf8(bytes).unwrap()),
        None => ('-', String::new()),
    }
}

#[test]
fn calls_are_decided_and_everything_else_passes_as_it_is() {
    let mut proxy = proxy(POLICY, false);
    // Keys in an order of their own: schemas and requests are not written anew.
    let hello = br#"{"jsonrpc":"2.0","method":"initialize","id":0,"params":{"b":1,"a":2}}"#;
    assert_eq!(proxy.client_said(hello), (Some(Onward::Server(hello.to_vec())), None));
    let (onward, line) = proxy.client_said(&call("1", "send", "{}"));
    assert_eq!(
        text(onward),
        ('c', r#"{"id":1,"jsonrpc":"2.0","result":{"content":[{"text":"denied: forbidden_tool","type":"text"}],"isError":true}}"#.to_owned())
    );
    assert!(line.unwrap().contains(r#""actions":[{"args":{},"name":"send"}]"#));
    let (onward, line) = proxy.client_said(&call("2", "read", r#"{"path":"a/b/c/d"}"#));
    let (to, forwarded) = text(onward);
    assert!(to == 's' && forwarded.contains(r#""arguments":{"path":"a/b/"}"#), "{forwarded}");
    assert_eq!(line, None, "it is not over yet");
    let (onward, _) = proxy.client_said(&call("2", "read", r#"{"path":"x"}"#));
    assert_eq!(text(onward).0, 'c', "an id that is under way is no second call");
    let answer = br#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"notes"}]}}"#;
    let line = proxy.server_said(answer).unwrap();
    assert!(line.contains(r#""tool_results":[{"result":"notes","tool":"read"}]"#), "{line}");
    assert!(line.contains(r#""path":"a/b/c/d""#), "what was attempted: {line}");
    assert_eq!(proxy.server_said(answer), None, "a second answer is nobody's");
    assert_eq!(proxy.calls(), 2);
}

#[test]
fn nothing_passes_that_was_not_looked_at() {
    let mut proxy = proxy(POLICY, false);
    let batch = format!("[{}]", String::from_utf8(call("1", "send", "{}")).unwrap());
    for (line, code) in [("{", "-32700"), (batch.as_str(), "-32600"), (r#"{"a":1,"a":2}"#, "-32700")] {
        let (to, said) = text(proxy.client_said(line.as_bytes()).0);
        assert!(to == 'c' && said.contains(code), "{line}: {said}");
    }
    let huge = vec![b' '; MAX_MESSAGE_BYTES + 1];
    assert_eq!(text(proxy.client_said(&[&b"{"[..], &huge].concat()).0).0, 'c');
    assert_eq!(proxy.client_said(b"  "), (None, None));
    let nameless = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    assert!(text(proxy.client_said(nameless).0).1.contains("empty_tool_name"));
}

#[test]
fn a_simulation_forwards_no_call_and_imports_the_tools() {
    let mut proxy = proxy("{policy: {allowed: [read]}, kind: containment}", true);
    let list = br#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;
    assert_eq!(text(proxy.client_said(list).0).0, 's');
    let answer = br#"{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"read","description":"Reads.","inputSchema":{"properties":{"path":{}}}}]}}"#;
    assert_eq!(proxy.server_said(answer), None);
    let (to, said) = text(proxy.client_said(&call("1", "read", "{}")).0);
    assert!(to == 'c' && said.contains("read: done") && said.contains(r#""isError":false"#), "{said}");
    let suite = proxy.suite("calls.jsonl");
    assert!(
        suite.contains(r#""tools":[{"arguments":["path"],"description":"Reads.","name":"read"}]"#),
        "{suite}"
    );
    let meta = br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    assert!(text(proxy.client_said(meta).0).1.contains(r#""resultType":"complete""#));
}

#[test]
fn calls_without_an_answer_are_written_down_in_the_end() {
    let mut proxy = proxy(POLICY, false);
    for id in ["3", "\"a\"", "1"] {
        proxy.client_said(&call(id, "read", "{}"));
    }
    let lines = proxy.unanswered();
    let ids: Vec<bool> =
        lines.iter().zip(1..).map(|(line, n)| line.contains(&format!("call-00000{n}"))).collect();
    assert_eq!(ids, [true; 3]);
}
