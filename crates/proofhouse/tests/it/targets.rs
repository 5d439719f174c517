//! Targets over a network: every fault ends in its own outcome, every attempt is accounted for, nothing is sent twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use proofhouse::family::target::{
    Call, Chat, Environment, Message, Mode, Opening, Outcome, Reply, Tape, Target, TargetConfig, Tool,
};
use proofhouse_ledger::Json;
use serde_json::json;
use tokio::time::Instant;

use super::lab::variable;
use super::servers::{Act, Server, completion};

pub const CANARY: &str = "canary-key-0123456789";

fn environment() -> Environment {
    Environment::new(|name| (name == "CANARY_KEY").then(|| CANARY.to_owned()))
}

fn opening(timeout_ms: u64) -> Opening {
    Opening { environment: environment(), timeout: Duration::from_millis(timeout_ms), ..Opening::default() }
}

#[track_caller]
fn target(yaml: &str, opening: &Opening) -> Target {
    let config: TargetConfig = serde_saphyr::from_str(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"));
    assert_eq!(config.check(), [], "{yaml}");
    config.open("slot", opening).unwrap_or_else(|complaint| panic!("{complaint:?}"))
}

fn openai(server: &Server, more: &str) -> String {
    format!("openai: {{model: m, base_url: '{}', api_key_env: CANARY_KEY{more}}}", server.base())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn ask(target: &Target, chat: &Chat) -> Reply {
    runtime().block_on(target.chat(chat))
}

fn shown(reply: &Reply) -> String {
    let (error_type, _) = reply.outcome.explained();
    let attempts: Vec<&str> = reply.attempts.iter().map(|attempt| attempt.result.as_str()).collect();
    format!("{} {} [{}]", reply.outcome.status(), error_type.unwrap_or("-"), attempts.join(" "))
}

/// Asks once, with quick retries and a deadline of a second, and says what became of it, how many requests the server saw
/// and how long it took.
fn fault(behave: impl Fn(usize) -> Act + Send + Sync + 'static) -> (String, usize, Duration, Reply) {
    let server = Server::start(move |_, before| behave(before));
    let settings = ", transport: {max_attempts: 3, backoff_ms: 10, stall_ms: 300, max_body_bytes: 100000}";
    let target = target(&openai(&server, settings), &opening(1_000));
    let start = Instant::now();
    let reply = ask(&target, &Chat::ask("q", 7, 0));
    (shown(&reply), server.seen().len(), start.elapsed(), reply)
}

#[track_caller]
fn check_fault(
    expected: &str,
    requests: usize,
    within_ms: u64,
    behave: impl Fn(usize) -> Act + Send + Sync + 'static,
) {
    let (found, seen, elapsed, reply) = fault(behave);
    assert_eq!(found, expected, "{reply:?}");
    assert_eq!(seen, requests, "the server saw other requests than were accounted for");
    assert_eq!(reply.attempts.iter().filter(|attempt| attempt.sent).count(), requests, "{reply:?}");
    assert!(elapsed < Duration::from_millis(within_ms), "it took {elapsed:?}");
}

pub fn good() -> Act {
    Act::Json(200, completion("Paris"))
}

fn status(status: u16) -> Act {
    Act::Json(status, json!({"error": {"message": "it broke", "type": "server_error"}}))
}

pub fn too_many(headers: &[(&'static str, &str)]) -> Act {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Act::Whole(429, headers, "{\"error\":{\"message\":\"slow down\"}}".to_owned())
}

#[test]
fn rate_limits_are_waited_for_and_bounded() {
    check_fault("success - [rate_limited answered]", 2, 900, |n| if n == 0 { too_many(&[]) } else { good() });
    let (found, _, elapsed, _) = fault(|n| if n == 0 { too_many(&[("retry-after", "0.3")]) } else { good() });
    assert_eq!(found, "success - [rate_limited answered]");
    assert!(elapsed >= Duration::from_millis(300), "Retry-After was not honoured: {elapsed:?}");
    check_fault("rate_limited rate_limited [rate_limited rate_limited rate_limited]", 3, 900, |_| {
        too_many(&[])
    });
    // A wait that the trial's deadline does not allow ends it at once.
    check_fault("rate_limited rate_limited [rate_limited]", 1, 500, |_| too_many(&[("retry-after", "30")]));
    let (_, _, _, reply) = fault(|_| too_many(&[("retry-after-ms", "30000")]));
    assert_eq!(reply.outcome, Outcome::RateLimited { retry_after_ms: Some(30_000) });
}

#[test]
fn server_errors_are_tried_again_and_others_are_not() {
    check_fault("success - [http_500 http_503 answered]", 3, 900, |n| match n {
        0 => status(500),
        1 => status(503),
        _ => good(),
    });
    let (found, _, elapsed, _) = fault(|n| match n {
        0 => Act::Whole(503, vec![("retry-after", "0.3".to_owned())], String::new()),
        _ => good(),
    });
    assert_eq!(found, "success - [http_503 answered]");
    assert!(elapsed >= Duration::from_millis(300), "Retry-After of a 503 was not honoured: {elapsed:?}");
    check_fault("error http_502 [http_502 http_502 http_502]", 3, 900, |_| status(502));
    check_fault("error http_400 [http_400]", 1, 500, |_| status(400));
    check_fault("error unauthorized [unauthorized]", 1, 500, |_| status(401));
    check_fault("error not_found [not_found]", 1, 500, |_| status(404));
    let (_, _, _, reply) = fault(|_| status(400));
    assert_eq!(reply.outcome.explained().1, Some("HTTP 400: it broke"));
}

#[test]
fn silence_ends_within_the_deadline() {
    check_fault("timeout timeout [timeout]", 1, 1_400, |_| Act::Hang);
    check_fault("timeout stalled [stalled]", 1, 800, |_| Act::HangAfterHeaders);
    check_fault("timeout timeout [timeout]", 1, 1_400, |_| Act::Trickle(50));
}

#[test]
fn broken_connections_are_tried_again() {
    check_fault("success - [connection_cut answered]", 2, 900, |n| if n == 0 { Act::Cut } else { good() });
    check_fault("error connection_cut [connection_cut connection_cut connection_cut]", 3, 900, |_| Act::Cut);
    let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"a\":";
    check_fault("success - [connection_cut answered]", 2, 900, move |n| {
        if n == 0 { Act::Raw(half.to_owned()) } else { good() }
    });
}

#[test]
fn nobody_there_is_no_timeout_of_the_model() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let yaml = format!(
        "openai: {{model: m, base_url: 'http://{free}/v1', transport: {{max_attempts: 2, backoff_ms: 5}}}}"
    );
    let reply = ask(&target(&yaml, &opening(1_000)), &Chat::ask("q", 7, 0));
    assert_eq!(shown(&reply), "error connection [connection connection]");
    assert!(reply.attempts.iter().all(|attempt| !attempt.sent));
    assert!(reply.outcome.explained().1.unwrap().contains("refused"), "{:?}", reply.outcome);
    // A place that swallows connections is no answer in time either, but nothing was sent: the backlog is full.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let https = format!(
        "openai: {{model: m, base_url: 'https://{address}/v1', transport: {{max_attempts: 1, connect_timeout_ms: 200}}}}"
    );
    let reply = ask(&target(&https, &opening(1_000)), &Chat::ask("q", 7, 0));
    assert_eq!(shown(&reply), "error connection [connection]", "a TLS handshake that nobody answers");
    assert!(!reply.attempts[0].sent);
}

#[test]
fn bodies_that_are_no_answer_have_names() {
    let json =
        |body: &str| Act::Whole(200, vec![("content-type", "application/json".to_owned())], body.to_owned());
    let (malformed, empty, null) = (json("{\"choices\": [{"), json(""), json("null"));
    check_fault("error malformed_json [malformed_json]", 1, 500, move |_| malformed.clone());
    check_fault("error malformed_json [malformed_json]", 1, 500, move |_| empty.clone());
    check_fault("error unexpected_shape [unexpected_shape]", 1, 500, move |_| null.clone());
    let html =
        Act::Whole(200, vec![("content-type", "text/html".to_owned())], "<html>Sign in</html>".to_owned());
    check_fault("error content_type [content_type]", 1, 500, move |_| html.clone());
    check_fault("error body_too_large [body_too_large]", 1, 900, |_| Act::Endless);
    let away = Act::Whole(302, vec![("location", "http://127.0.0.1:1/elsewhere".to_owned())], String::new());
    check_fault("error redirect [redirect]", 1, 500, move |_| away.clone());
    let inside = |code: serde_json::Value| Act::Json(200, json!({"error": {"message": "no", "code": code}}));
    let (broken, busy, weak) = (inside(json!("bad")), inside(json!(429)), inside(json!(502)));
    check_fault("error error_body [error_body]", 1, 500, move |_| broken.clone());
    check_fault(
        "success - [rate_limited answered]",
        2,
        900,
        move |n| if n == 0 { busy.clone() } else { good() },
    );
    check_fault(
        "success - [error_body answered]",
        2,
        900,
        move |n| if n == 0 { weak.clone() } else { good() },
    );
}

#[test]
fn what_the_model_says_has_a_name() {
    let said = |message: serde_json::Value, finish: &str| {
        let mut body = completion("");
        body["choices"][0]["message"] = message;
        body["choices"][0]["finish_reason"] = json!(finish);
        let (_, _, _, reply) = fault(move |_| Act::Json(200, body.clone()));
        let output = reply.output.as_ref().map_or("nothing".to_owned(), Json::to_string);
        format!("{} {output}", reply.outcome.name())
    };
    assert_eq!(said(json!({"content": "Paris"}), "stop"), "answered \"Paris\"");
    assert_eq!(said(json!({"content": ""}), "stop"), "empty \"\"");
    assert_eq!(said(json!({"content": null}), "stop"), "null null");
    assert_eq!(said(json!({}), "stop"), "null null");
    assert_eq!(said(json!({"content": "Par"}), "length"), "length \"Par\"");
    assert_eq!(said(json!({"content": null, "refusal": "I will not."}), "stop"), "refused \"I will not.\"");
    assert_eq!(said(json!({"content": null}), "content_filter"), "filtered null");
    assert_eq!(
        said(json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}), "stop"),
        "answered \"ab\""
    );
    assert_eq!(said(json!({"content": ["a", {"type": "image"}]}), "stop"), "answered \"a\"");
    assert_eq!(said(json!({"content": [{"type": "thinking", "thinking": "x"}]}), "stop"), "empty \"\"");
    // What is neither text nor null is neither an empty answer nor none.
    for odd in [json!(3), json!({"k": 1}), json!([1]), json!(true)] {
        assert_eq!(said(json!({"content": odd}), "stop"), "failed nothing", "{odd}");
    }
    let calls = json!([{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}},
                       {"function": {"name": "g", "arguments": "{oops"}}, {"function": {"name": "h", "arguments": ""}}]);
    assert_eq!(
        said(json!({"content": null, "tool_calls": calls}), "tool_calls"),
        r#"answered {"content":null,"tool_calls":[{"args":{"x":1},"name":"f"},{"args":"{oops","name":"g"},{"args":{},"name":"h"}]}"#
    );
    let blocked = Act::Json(400, json!({"error": {"code": "content_filter", "message": "blocked"}}));
    let (_, _, _, reply) = fault(move |_| blocked.clone());
    assert_eq!(reply.outcome, Outcome::Filtered);
}

fn weather() -> Chat {
    let schema =
        serde_json::from_value(json!({"type": "object", "properties": {"city": {"type": "string"}}}))
            .unwrap();
    Chat {
        system: Some("Be brief.".into()),
        messages: vec![
            Message::User("Weather in Paris?".into()),
            Message::Assistant {
                text: None,
                calls: vec![Call {
                    id: "c1".into(),
                    name: "weather".into(),
                    args: serde_json::from_value(json!({"city": "Paris"})).unwrap(),
                }],
                spoken: None,
            },
            Message::Tool { call_id: "c1".into(), name: "weather".into(), content: "rain".into() },
        ],
        tools: vec![Tool { name: "weather".into(), description: "The weather.".into(), parameters: schema }],
        seed: 5 << 33,
        ..Chat::default()
    }
}

#[test]
fn openai_requests_have_the_documented_shape() {
    let server = Server::saying("Rain.");
    let settings = ", system: You are a clerk., temperature: 0, top_p: 0.5, max_tokens: 9, stop: [END], extra: {logit_bias: {}}, headers: {X-Team: t}";
    let reply = ask(&target(&openai(&server, settings), &opening(1_000)), &weather());
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/v1/chat/completions");
    let head = seen.head.to_lowercase();
    assert!(
        head.contains(&format!("authorization: bearer {CANARY}")) && head.contains("x-team: t"),
        "{head}"
    );
    assert_eq!(
        seen.body,
        json!({
            "model": "m", "temperature": 0, "top_p": 0.5, "max_tokens": 9, "stop": ["END"], "seed": 5, "logit_bias": {},
            "messages": [
                {"role": "system", "content": "You are a clerk.\n\nBe brief."},
                {"role": "user", "content": "Weather in Paris?"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Paris\"}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "rain"},
            ],
            "tools": [{"type": "function", "function": {"name": "weather", "description": "The weather.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}],
        })
    );
    assert_eq!(reply.output, Some("Rain.".into()));
    assert_eq!(reply.usage.unwrap().to_string(), r#"{"input_tokens":11,"output_tokens":3}"#);
    assert_eq!((reply.finish_reason.as_deref(), reply.model.as_deref()), (Some("stop"), Some("m-2024")));
    assert_eq!(reply.fingerprint.as_deref(), Some("fp_1"));
}

#[test]
fn anthropic_speaks_its_own_api() {
    let server = Server::start(|_, n| match n {
        0 => Act::Json(
            529,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ),
        1 => Act::Json(
            200,
            json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-20250101",
                "content": [{"type": "text", "text": "Let me look."}, {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Paris"}}],
                "stop_reason": "tool_use", "stop_sequence": null,
                "usage": {"input_tokens": 20, "output_tokens": 7, "cache_read_input_tokens": 4},
            }),
        ),
        2 => Act::Json(
            200,
            json!({"type": "message", "content": [{"type": "text", "text": "Par"}], "stop_reason": "max_tokens", "usage": {}}),
        ),
        3 => Act::Json(200, json!({"type": "message", "content": [], "stop_reason": "refusal", "usage": {}})),
        _ => Act::Json(
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: required"}}),
        ),
    });
    let yaml = format!(
        "anthropic: {{model: claude-x, base_url: 'http://{}', api_key_env: CANARY_KEY, stop: [END], transport: {{backoff_ms: 5}}}}",
        server.address
    );
    let target = target(&yaml, &opening(2_000));
    let reply = ask(&target, &weather());
    assert_eq!(shown(&reply), "success - [http_529 answered]");
    assert_eq!(reply.calls[0].id, "toolu_1");
    assert_eq!(
        reply.usage.unwrap().to_string(),
        r#"{"cached_tokens":4,"input_tokens":20,"output_tokens":7}"#
    );
    assert_eq!(
        reply.output.unwrap().to_string(),
        r#"{"content":"Let me look.","tool_calls":[{"args":{"city":"Paris"},"name":"weather"}]}"#
    );
    let seen = &server.seen()[1];
    assert_eq!(seen.path, "/v1/messages");
    let head = seen.head.to_lowercase();
    assert!(
        head.contains(&format!("x-api-key: {CANARY}")) && head.contains("anthropic-version: 2023-06-01"),
        "{head}"
    );
    assert_eq!(seen.body["system"], "Be brief.");
    assert_eq!(seen.body["max_tokens"], 1024);
    assert_eq!(seen.body["stop_sequences"], json!(["END"]));
    assert_eq!(seen.body["tools"][0]["input_schema"]["type"], "object");
    assert_eq!(
        seen.body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Weather in Paris?"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Paris"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "rain"}]},
        ])
    );
    assert_eq!(ask(&target, &Chat::ask("q", 0, 0)).outcome, Outcome::Length);
    assert_eq!(ask(&target, &Chat::ask("q", 0, 0)).outcome, Outcome::Refused);
    let failed = ask(&target, &Chat::ask("q", 0, 0)).outcome;
    assert_eq!(failed.explained(), (Some("http_400"), Some("HTTP 400: max_tokens: required")));
}

#[test]
fn gemini_speaks_its_own_api() {
    let server = Server::start(|_, n| match n {
        0 => Act::Json(
            429,
            json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota",
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.2s"}]}}),
        ),
        1 => Act::Json(
            200,
            json!({
                "candidates": [{"content": {"role": "model", "parts": [{"text": "Ra"}, {"text": "in."}]}, "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 2, "totalTokenCount": 10}, "modelVersion": "gemini-x-001",
            }),
        ),
        2 => Act::Json(
            200,
            json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}}),
        ),
        3 => Act::Json(200, json!({"candidates": [{"finishReason": "SAFETY"}]})),
        4 => Act::Json(
            200,
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "weather", "args": {"city": "Paris"}}}]}, "finishReason": "STOP"}]}),
        ),
        5 => Act::Json(
            200,
            json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "MAX_TOKENS"}]}),
        ),
        _ => Act::Json(
            404,
            json!({"error": {"code": 404, "status": "NOT_FOUND", "message": "models/x is not found"}}),
        ),
    });
    let yaml = format!(
        "gemini: {{model: gemini-x, base_url: 'http://{}', api_key_env: CANARY_KEY, temperature: 0, max_tokens: 9, stop: [END]}}",
        server.address
    );
    let target = target(&yaml, &opening(2_000));
    let start = Instant::now();
    let reply = ask(&target, &weather());
    assert_eq!(shown(&reply), "success - [rate_limited answered]");
    assert!(start.elapsed() >= Duration::from_millis(200), "the delay in the body was not honoured");
    assert_eq!((reply.output, reply.model.as_deref()), (Some("Rain.".into()), Some("gemini-x-001")));
    assert_eq!(reply.usage.unwrap().to_string(), r#"{"input_tokens":8,"output_tokens":2}"#);
    let seen = &server.seen()[1];
    assert_eq!(seen.path, "/v1beta/models/gemini-x:generateContent");
    assert!(seen.head.to_lowercase().contains(&format!("x-goog-api-key: {CANARY}")), "{}", seen.head);
    assert_eq!(
        seen.body,
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Weather in Paris?"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Paris"}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"result": "rain"}}}]},
            ],
            "tools": [{"functionDeclarations": [{"name": "weather", "description": "The weather.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]}],
            "generationConfig": {"temperature": 0, "maxOutputTokens": 9, "stopSequences": ["END"], "seed": 5},
        })
    );
    let next = || ask(&target, &Chat::ask("q", 0, 0));
    assert_eq!(next().outcome, Outcome::Filtered);
    assert_eq!(next().outcome, Outcome::Filtered);
    assert_eq!(next().calls[0].name, "weather");
    assert_eq!(next().outcome, Outcome::Length);
    assert_eq!(next().outcome.explained(), (Some("not_found"), Some("HTTP 404: models/x is not found")));
}

#[test]
fn ollama_speaks_its_own_api() {
    let server = Server::start(|_, n| match n {
        0 => Act::Json(
            200,
            json!({"model": "llama3.2:1b", "created_at": "2024-01-01T00:00:00Z", "done": true, "done_reason": "stop",
            "message": {"role": "assistant", "content": "Rain."}, "prompt_eval_count": 26, "eval_count": 5, "total_duration": 5191566416u64}),
        ),
        1 => Act::Json(
            200,
            json!({"model": "m", "done": true, "done_reason": "stop",
            "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "weather", "arguments": {"city": "Paris"}}}]}}),
        ),
        2 => Act::Json(
            200,
            json!({"model": "m", "done": true, "done_reason": "length", "message": {"role": "assistant", "content": "x"}}),
        ),
        _ => Act::Json(404, json!({"error": "model 'm' not found"})),
    });
    let yaml = format!(
        "ollama: {{model: 'llama3.2:1b', base_url: 'http://{}', max_tokens: 9, options: {{num_ctx: 512}}}}",
        server.address
    );
    let target = target(&yaml, &opening(2_000));
    let reply = ask(&target, &weather());
    assert_eq!(
        (reply.output, reply.usage.unwrap().to_string()),
        (Some("Rain.".into()), r#"{"input_tokens":26,"output_tokens":5}"#.into())
    );
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/api/chat");
    assert_eq!(seen.body["options"], json!({"num_ctx": 512, "num_predict": 9, "seed": 5}));
    assert_eq!(seen.body["stream"], json!(false));
    assert_eq!(
        seen.body["messages"][2]["tool_calls"],
        json!([{"function": {"name": "weather", "arguments": {"city": "Paris"}}}])
    );
    assert_eq!(seen.body["messages"][3], json!({"role": "tool", "content": "rain", "tool_name": "weather"}));
    let next = || ask(&target, &Chat::ask("q", 0, 0));
    assert_eq!(next().calls[0].args.to_string(), r#"{"city":"Paris"}"#);
    assert_eq!(next().outcome, Outcome::Length);
    assert_eq!(next().outcome.explained(), (Some("not_found"), Some("HTTP 404: model 'm' not found")));
}

#[test]
fn http_sends_what_the_suite_spells_out() {
    let server = Server::start(|_, n| match n {
        0 => Act::Json(200, json!({"result": {"text": "Rain.", "n": 3}, "error": null})),
        1 => Act::Json(200, json!({"result": {}})),
        _ => Act::Json(200, json!({"error": "out of order"})),
    });
    let yaml = format!(
        "http: {{url: 'http://{}/ask/', request: {{q: 'Say: {{input}}', raw: '{{messages}}', seed: '{{seed}}', n: 1}}, answer: /result/text, error: /error, output_tokens: /result/n}}",
        server.address
    );
    let target = target(&yaml, &opening(1_000));
    let chat = Chat::ask("hi", 5 << 33, 0);
    let reply = ask(&target, &chat);
    assert_eq!(
        (reply.output, reply.usage.unwrap().to_string()),
        (Some("Rain.".into()), r#"{"output_tokens":3}"#.into())
    );
    assert_eq!(server.seen()[0].path, "/ask/");
    assert_eq!(
        server.seen()[0].body,
        json!({"q": "Say: hi", "raw": [{"role": "user", "content": "hi"}], "seed": 5, "n": 1})
    );
    assert_eq!(
        ask(&target, &chat).outcome.explained(),
        (Some("unexpected_shape"), Some("the answer has nothing at `/result/text`"))
    );
    assert_eq!(ask(&target, &chat).outcome.explained().0, Some("error_body"));
}

/// Asks `count` times, all at once.
fn flood(target: Target, count: usize) -> Vec<Reply> {
    let target = Arc::new(target);
    runtime().block_on(async {
        let asked: Vec<_> = (0..count)
            .map(|n| {
                let target = target.clone();
                tokio::spawn(
                    async move { target.chat(&Chat::ask(format!("question {n}"), n as u64, 0)).await },
                )
            })
            .collect();
        let mut replies = Vec::new();
        for reply in asked {
            replies.push(reply.await.unwrap());
        }
        replies
    })
}

#[test]
fn sixty_four_are_under_way_and_none_is_lost_or_doubled() {
    let server = Server::start(|seen, _| {
        let text = seen.body["messages"][0]["content"].as_str().unwrap().to_owned();
        Act::Crowd(64, 1_500, Box::new(Act::Json(200, completion(&text))))
    });
    let replies = flood(target(&openai(&server, ", transport: {max_in_flight: 64}"), &opening(10_000)), 400);
    for (n, reply) in replies.iter().enumerate() {
        assert_eq!(reply.output, Some(format!("question {n}").into()), "{reply:?}");
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    server
        .seen()
        .iter()
        .for_each(|seen| *counts.entry(seen.body["messages"][0]["content"].to_string()).or_default() += 1);
    assert_eq!(counts.len(), 400);
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    assert_eq!(server.peak(), 64);
}

#[test]
fn an_endpoint_that_bears_little_gets_little() {
    // At most 8 under way; whatever is beyond is pushed back.
    let busy = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let server = Server::start({
        let busy = busy.clone();
        move |_, _| {
            use std::sync::atomic::Ordering::SeqCst;
            if busy.load(SeqCst) >= 8 {
                return too_many(&[]);
            }
            busy.fetch_add(1, SeqCst);
            let busy = busy.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                busy.fetch_sub(1, SeqCst);
            });
            Act::After(20, Box::new(good()))
        }
    });
    let yaml = openai(&server, ", transport: {max_attempts: 20, backoff_ms: 20, max_in_flight: 64}");
    let replies = flood(target(&yaml, &opening(20_000)), 300);
    assert!(replies.iter().all(|reply| reply.outcome == Outcome::Answered));
    let attempts: usize = replies.iter().map(|reply| reply.attempts.len()).sum();
    assert_eq!(attempts, server.seen().len());
    // Blind retries of 300 at once would be pushed back thousands of times.
    assert!(attempts < 450, "{attempts} attempts for 300 answers");
}

#[test]
fn proxies_are_honoured() {
    let proxy = Server::saying("by proxy");
    let address = format!("http://user:pass@{}", proxy.address);
    let environment = Environment::new(move |name| match name {
        "HTTP_PROXY" => Some(address.clone()),
        "NO_PROXY" => Some("127.0.0.1".to_owned()),
        _ => None,
    });
    let opening = Opening { environment, ..opening(1_000) };
    let reply = ask(
        &target("openai: {model: m, base_url: 'http://model.invalid/v1'}", &opening),
        &Chat::ask("q", 0, 0),
    );
    assert_eq!(reply.output, Some("by proxy".into()));
    assert_eq!(proxy.seen()[0].path, "http://model.invalid/v1/chat/completions");
    assert!(proxy.seen()[0].head.to_lowercase().contains("proxy-authorization: basic dxnlcjpwyxnz"));
    let direct = Server::saying("direct");
    let yaml = format!("openai: {{model: m, base_url: '{}'}}", direct.base());
    assert_eq!(ask(&target(&yaml, &opening), &Chat::ask("q", 0, 0)).output, Some("direct".into()));
}

#[test]
fn a_tape_plays_back_what_it_recorded_without_a_network_or_a_key() {
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let server = Server::start(|seen, n| match n % 3 {
        0 => Act::Json(200, completion(&format!("answer {n} for {}", seen.head))),
        1 => Act::Json(400, json!({"error": {"message": format!("bad key {CANARY}")}})),
        _ => Act::Json(200, completion("again")),
    });
    let yaml = openai(&server, "");
    let chats = [Chat::ask("a", 1, 0), Chat::ask("b", 1, 0), Chat::ask("a", 1, 0), Chat::ask("a", 2, 1)];
    let tape = |mode| Some(Arc::new(Tape::open(dir, mode).unwrap()));
    let recording = target(&yaml, &Opening { tape: tape(Mode::Record), ..opening(1_000) });
    let strip = |mut reply: Reply| {
        reply.attempts.iter_mut().for_each(|attempt| (attempt.elapsed_ms, attempt.waited_ms) = (0.0, 0.0));
        reply
    };
    let recorded: Vec<Reply> = chats.iter().map(|chat| strip(ask(&recording, chat))).collect();
    drop(server);
    let playing = target(
        &yaml,
        &Opening { tape: tape(Mode::Replay), environment: Environment::default(), ..opening(1_000) },
    );
    let played: Vec<Reply> =
        chats.iter().map(|chat| Reply { replayed: false, ..ask(&playing, chat) }).collect();
    assert_eq!(played, recorded);
    let miss = ask(&playing, &Chat::ask("c", 1, 0));
    assert_eq!(miss.outcome.explained().0, Some("replay_miss"));
    let other = target(
        &yaml.replace("model: m", "model: m, temperature: 0"),
        &Opening { tape: tape(Mode::Replay), ..opening(1_000) },
    );
    assert_eq!(ask(&other, &chats[0]).outcome.explained().0, Some("replay_miss"), "a changed knob is a miss");
    let mut files = 0;
    #[expect(clippy::disallowed_methods, reason = "the order does not matter")]
    for entry in std::fs::read_dir(dir.join("slot")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains(CANARY), "{text}");
        files += 1;
    }
    assert_eq!(files, 4);
    assert!(!format!("{recorded:?}{recording:?}").contains(CANARY));
}

#[test]
fn keys_in_suites_are_refused() {
    let refused = |yaml: &str| {
        let config: TargetConfig = serde_saphyr::from_str(yaml).unwrap();
        let complaints = config.check();
        assert!(!complaints.is_empty(), "{yaml}");
        assert!(!format!("{complaints:?}").contains("sk-0123456789abcdefghij"), "{complaints:?}");
    };
    refused("openai: {model: m, api_key: sk-0123456789abcdefghij}");
    refused("openai: {model: m, api_key_env: sk-0123456789abcdefghij}");
    refused("openai: {model: m, headers: {Authorization: x}}");
    refused("openai: {model: m, headers: {X-Other: Bearer sk-0123456789abcdefghij}}");
    refused("openai: {model: m, extra: {api_key: x}}");
    refused("openai: {model: m, system: 'Use sk-0123456789abcdefghij for that.'}");
    refused("openai: {model: m, base_url: 'https://u:p@h/v1'}");
    refused("anthropic: {model: m, api_key: x}");
    refused("gemini: {model: m, api_key: x}");
    refused("http: {url: 'http://h/?key=AIzaSyA0123456789abcdefghijklmnopqrstuv', request: {}, answer: /a}");
    refused("plugin: {command: [x], env: {K: sk-0123456789abcdefghij}}");
    let missing: TargetConfig = serde_saphyr::from_str("openai: {model: gpt-4o-mini}").unwrap();
    let complaint = missing.open("s", &Opening::default()).unwrap_err();
    assert_eq!(complaint.what, "`OPENAI_API_KEY` is not set in the environment");
    let unknown: TargetConfig = serde_saphyr::from_str("openai: {model: acme/large}").unwrap();
    let complaint = unknown.open("s", &Opening::default()).unwrap_err();
    assert_eq!(complaint.hint.unwrap(), "set `base_url`, or `ACME_BASE_URL` in the environment");
}

#[test]
fn model_references_find_their_provider() {
    let server = Server::saying("hello");
    let base = server.base();
    let environment = Environment::new(move |name| match name {
        "ACME_LABS_BASE_URL" => Some(base.clone()),
        "ACME_LABS_API_KEY" => Some(CANARY.to_owned()),
        _ => None,
    });
    let reply = ask(
        &target("openai: {model: acme-labs/org/large}", &Opening { environment, ..opening(1_000) }),
        &Chat::ask("q", 0, 0),
    );
    assert_eq!(reply.output, Some("hello".into()));
    assert_eq!(server.seen()[0].body["model"], "org/large");
    assert!(server.seen()[0].head.contains(CANARY));
}

const PLUGIN: &str = r#"
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    text = asked["chat"]["messages"][-1]["content"]
    if text == "die": sys.exit("I am dead")
    if text == "hang": continue
    if text == "garble": print("what?", flush=True); continue
    if text == "nan": print('{"id": %d, "reply": {"output": NaN}}' % asked["id"], flush=True); continue
    if text == "fail": print(json.dumps({"id": asked["id"], "error": "no luck"}), flush=True); continue
    reply = {"output": text.upper() + " " + os.environ.get("MODE", "-") + os.environ.get("CANARY_KEY", ""), "usage": {"input_tokens": 1}}
    if text == "call": reply = {"output": None, "tool_calls": [{"name": "f", "args": {"x": 1}}]}
    if text == "no": reply = {"output": "never", "outcome": "refused"}
    print(json.dumps({"id": asked["id"], "reply": reply}), flush=True)
"#;

#[test]
fn a_plugin_in_python_answers_dies_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let base_dir = Utf8Path::from_path(dir.path()).unwrap().to_owned();
    std::fs::write(base_dir.join("answer.py"), PLUGIN).unwrap();
    let path = variable("PATH");
    let environment = Environment::new(move |name| match name {
        "PATH" => path.clone(),
        "CANARY_KEY" => Some(CANARY.to_owned()),
        _ => None,
    });
    let target = target(
        "plugin: {command: [python3, answer.py], env: {MODE: test}}",
        &Opening { base_dir, environment, ..opening(1_500) },
    );
    let say = |text: &str| {
        let reply = ask(&target, &Chat::ask(text, 0, 0));
        format!(
            "{} {} {:?}",
            reply.outcome.name(),
            reply.output.unwrap_or_default(),
            reply.outcome.explained()
        )
    };
    assert_eq!(say("hello"), "answered \"HELLO test\" (None, None)");
    assert_eq!(
        say("call"),
        r#"answered {"content":null,"tool_calls":[{"args":{"x":1},"name":"f"}]} (None, None)"#
    );
    assert_eq!(say("no"), "refused \"never\" (Some(\"refused\"), None)");
    assert_eq!(say("fail"), "failed null (Some(\"plugin_error\"), Some(\"no luck\"))");
    assert_eq!(say("die"), "failed null (Some(\"plugin_died\"), Some(\"the program ended: I am dead\"))");
    assert_eq!(say("back"), "answered \"BACK test\" (None, None)");
    assert!(say("garble").contains("plugin_garbled"));
    // A line that is broken for one is an answer that one lacks; the others get theirs.
    let (nan, well) = (Chat::ask("nan", 0, 0), Chat::ask("whole", 0, 0));
    let (broken, whole) = runtime().block_on(async { tokio::join!(target.chat(&nan), target.chat(&well)) });
    assert_eq!(broken.outcome.explained().0, Some("plugin_garbled"));
    assert_eq!(whole.output, Some("WHOLE test".into()));
    assert!(say("hang").starts_with("timed_out"));
    assert_eq!(say("still"), "answered \"STILL test\" (None, None)");
    let replies = flood(target, 50);
    for (n, reply) in replies.iter().enumerate() {
        assert_eq!(reply.output, Some(format!("QUESTION {n} test").into()));
    }
}

/// A plugin that leaves a process behind which holds its streams open, and says its number.
const ORPHANS: &str = r#"
import json, os, subprocess, sys
for line in sys.stdin:
    asked = json.loads(line)
    text = asked["chat"]["messages"][-1]["content"]
    child = subprocess.Popen(["sleep", "600"], start_new_session=text.startswith("away"))
    open(text, "w").write(str(child.pid))
    if text.endswith("answered"): print(json.dumps({"id": asked["id"], "reply": {"output": "last"}}), flush=True)
    sys.stderr.write("gone"); sys.stderr.flush()
    os._exit(3)
"#;

#[test]
fn a_plugin_that_dies_is_known_to_be_dead_whoever_holds_its_streams() {
    let dir = tempfile::tempdir().unwrap();
    let base_dir = Utf8Path::from_path(dir.path()).unwrap().to_owned();
    std::fs::write(base_dir.join("orphans.py"), ORPHANS).unwrap();
    let path = variable("PATH");
    let environment = Environment::new(move |name| (name == "PATH").then(|| path.clone()).flatten());
    let opening = Opening { base_dir: base_dir.clone(), environment, ..opening(60_000) };
    let target = target("plugin: {command: [python3, orphans.py]}", &opening);
    for (text, expected) in [
        ("near", "failed (Some(\"plugin_died\"), Some(\"the program ended: gone\"))"),
        ("near answered", "answered (None, None)"),
        // One that left the group lives on, but nobody waits for it.
        ("away", "failed (Some(\"plugin_died\"), Some(\"the program ended: gone\"))"),
    ] {
        let start = Instant::now();
        let reply = ask(&target, &Chat::ask(text, 0, 0));
        assert_eq!(format!("{} {:?}", reply.outcome.name(), reply.outcome.explained()), expected, "{text}");
        assert!(start.elapsed() < Duration::from_secs(10), "{text}: {:?}", start.elapsed());
        let orphan: i32 = std::fs::read_to_string(base_dir.join(text)).unwrap().parse().unwrap();
        match text {
            "away" => end_process(orphan),
            _ => assert!(ends_soon(orphan), "the process that `{text}` left is still there"),
        }
    }
}

#[test]
fn what_a_plugin_started_ends_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let base_dir = Utf8Path::from_path(dir.path()).unwrap().to_owned();
    let script = PLUGIN.replace("for line", "import subprocess\nchild = subprocess.Popen(['sleep', '600'])\nopen('child', 'w').write(str(child.pid))\nfor line");
    std::fs::write(base_dir.join("answer.py"), script).unwrap();
    let path = variable("PATH");
    let environment = Environment::new(move |name| (name == "PATH").then(|| path.clone()).flatten());
    let target = target(
        "plugin: {command: [python3, answer.py]}",
        &Opening { base_dir: base_dir.clone(), environment, ..opening(20_000) },
    );
    assert_eq!(ask(&target, &Chat::ask("hi", 0, 0)).output, Some("HI -".into()));
    let child: i32 = std::fs::read_to_string(base_dir.join("child")).unwrap().parse().unwrap();
    assert!(!is_over(child), "it was never there");
    drop(target);
    assert!(ends_soon(child));
}

/// Whether a process has ended, reaped or not.
pub fn is_over(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(state) => state.rsplit(") ").next().is_some_and(|state| state.starts_with('Z')),
        Err(_) => rustix::process::test_kill_process(rustix::process::Pid::from_raw(pid).unwrap()).is_err(),
    }
}

pub fn ends_soon(pid: i32) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_over(pid)
    })
}

fn end_process(pid: i32) {
    assert!(!is_over(pid), "it was never there");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
}

#[test]
fn a_plugin_that_is_not_there_says_so() {
    let target = target("plugin: {command: [no-such-program-here]}", &opening(500));
    let reply = ask(&target, &Chat::ask("q", 0, 0));
    assert_eq!(reply.outcome.explained().0, Some("plugin_not_started"));
}
