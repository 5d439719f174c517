//! The three APIs, there and back: what is asked, what goes back whole, and what goes back as events.

use super::*;

fn json(text: &str) -> Json {
    parse(text.as_bytes(), Strictness::Strict).unwrap()
}

/// The same conversation in each API: instructions, a question, a call, its result; and metadata of one run.
const ASKED: [&str; 3] = [
    r#"{"model":"m","stream":true,"messages":[{"role":"system","content":"Help."},{"role":"user","content":[{"type":"text","text":"Read x"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"t_fs_read","arguments":"{\"path\":\"x\"}"}}]},{"role":"tool","tool_call_id":"call_0","content":"notes"}],"tools":[{"type":"function","function":{"name":"t_fs_read","description":"Read.","parameters":{"type":"object"}}}]}"#,
    r#"{"model":"m","stream":true,"client_metadata":{"x":"RUN"},"prompt_cache_key":"RUN","instructions":"Help.","input":[{"type":"message","role":"user","id":"msg_RUN","content":[{"type":"input_text","text":"Read x"}]},{"type":"reasoning","id":"rs_RUN","summary":[]},{"type":"function_call","id":"fc_RUN","call_id":"call_0","name":"fs_read","namespace":"t","arguments":"{\"path\":\"x\"}"},{"type":"function_call_output","call_id":"call_0","output":"notes"}],"tools":[{"type":"web_search"},{"type":"namespace","name":"t","tools":[{"type":"function","name":"fs_read","description":"Read.","parameters":{"type":"object"}}]}]}"#,
    r#"{"model":"m","stream":true,"max_tokens":9,"metadata":{"user_id":"RUN"},"system":[{"type":"text","text":"x-anthropic-billing-header: RUN"},{"type":"text","text":"Help."}],"messages":[{"role":"user","content":"Read x"},{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"mcp__t__fs_read","input":{"path":"x"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":[{"type":"text","text":"notes"}]}]}],"tools":[{"name":"mcp__t__fs_read","description":"Read.","input_schema":{"type":"object"}}]}"#,
];

#[test]
fn the_three_apis_ask_the_same_and_nothing_of_one_run() {
    for (dialect, text) in DIALECTS.iter().zip(ASKED) {
        let asked = (dialect.read)(&json(text)).unwrap();
        assert!(asked.stream && asked.model == "m");
        let chat = asked.chat.to_json().to_string();
        let name = &asked.chat.tools[0].name;
        assert!(name.ends_with("fs_read"), "{name}");
        let expected = format!(
            r#"{{"messages":[{{"content":"Read x","role":"user"}},{{"content":null,"role":"assistant","tool_calls":[{{"args":{{"path":"x"}},"id":"call_0","name":"{name}"}}]}},{{"content":"notes","name":"{name}","role":"tool","tool_call_id":"call_0"}}],"repetition":0,"seed":"0","system":"Help.","tools":[{{"description":"Read.","name":"{name}","parameters":{{"type":"object"}}}}]}}"#
        );
        assert_eq!(chat, expected, "{}", dialect.path);
    }
}

fn reply(calls: Vec<Call>, output: &str) -> Reply {
    Reply { calls, ..Reply::new(Outcome::Answered, Some(json(output))) }
}

/// A model knows the tool by its own name, the agent by another, and an id is never given twice.
#[test]
fn calls_come_back_by_the_names_and_ids_that_the_agent_knows() {
    let call = Call { id: "call_0".into(), name: "fs_read".into(), args: json(r#"{"path":"y"}"#) };
    let given = ["t_fs_read", "fs_read", "mcp__t__fs_read"];
    for ((dialect, text), name) in DIALECTS.iter().zip(ASKED).zip(given) {
        let asked = (dialect.read)(&json(text)).unwrap();
        let reply = reply(vec![call.clone()], r#"{"content":"Well.","tool_calls":[]}"#);
        let answer = Answer::of(&reply, &asked).unwrap();
        assert_eq!(answer.calls[0].id, "call_0_1", "{}", dialect.path);
        let whole = (dialect.write)(&asked, &answer);
        let text = whole.to_string();
        assert!(text.contains(&format!(r#""name":"{name}""#)), "{text}");
        assert!(text.contains("Well.") && text.contains("call_0_1"), "{text}");
        let events: String = (dialect.events)(&whole).iter().map(|(_, event)| event.to_string()).collect();
        assert!(events.contains(&format!(r#""name":"{name}""#)) && events.contains("Well."), "{events}");
    }
    let asked = (DIALECTS[0].read)(&json(r#"{"messages":[{"role":"user","content":"Title?"}]}"#)).unwrap();
    let answer = Answer::of(&reply(vec![call], r#"{"content":"T"}"#), &asked).unwrap();
    assert!(answer.calls.is_empty(), "who was offered no tools is given no calls");
}

#[test]
fn streams_begin_and_end_as_their_apis_say() {
    let ends = [
        (None, None, 3),
        (Some("response.created"), Some("response.completed"), 9),
        (Some("message_start"), Some("message_stop"), 6),
    ];
    for ((dialect, text), (first, last, count)) in DIALECTS.iter().zip(ASKED).zip(ends) {
        let asked = (dialect.read)(&json(text)).unwrap();
        let answer = Answer::of(&reply(Vec::new(), "\"done\""), &asked).unwrap();
        let whole = (dialect.write)(&asked, &answer);
        let events = (dialect.events)(&whole);
        assert_eq!(events.len(), count, "{}", dialect.path);
        assert_eq!(events[0].0.as_deref(), first);
        assert_eq!(events[count - 1].0.as_deref(), last);
        assert!(events.iter().any(|(_, event)| event.to_string().contains("done")));
    }
}

#[test]
fn an_answer_that_is_none_goes_back_as_an_error() {
    let asked = ModelRequest::default();
    for outcome in [Outcome::TimedOut, Outcome::Stalled, Outcome::RateLimited { retry_after_ms: None }] {
        assert!(Answer::of(&Reply::new(outcome, None), &asked).is_none());
    }
    assert_eq!(Answer::of(&Reply::new(Outcome::Length, None), &asked).unwrap().ended, Ended::Length);
    for dialect in DIALECTS {
        for garbage in ["{}", "7", r#"{"messages":7,"input":7}"#] {
            assert!((dialect.read)(&json(garbage)).is_err(), "{} {garbage}", dialect.path);
        }
    }
}

#[test]
fn a_turn_goes_back_to_the_endpoint_as_it_was_said() {
    let mut spoken = Spoken::default();
    let call = Call { id: "call_0".into(), name: "f".into(), args: Json::Null };
    let said = json(r#"[{"type":"thinking","signature":"s"}]"#);
    spoken.keep(&Reply { spoken: Some(said.clone()), ..reply(vec![call], "null") });
    let mut asked = (DIALECTS[0].read)(&json(ASKED[0])).unwrap();
    spoken.fill(&mut asked.chat);
    let Message::Assistant { spoken, .. } = &asked.chat.messages[1] else { panic!() };
    assert_eq!(spoken.as_ref(), Some(&said));
}
