//! The scripted target as suites use it.

use proofhouse_ledger::Json;

use super::{Outcome, Reply, Request, Script, Scripted};
use crate::text::complaint::At;

fn script(yaml: &str) -> Script {
    Script::new(&serde_saphyr::from_str::<Scripted>(yaml).unwrap()).unwrap()
}

fn ask(script: &Script, input: &str) -> Reply {
    script.reply(&Request { input, seed: 7, repetition: 0 })
}

fn text(script: &Script, input: &str) -> String {
    ask(script, input).output.unwrap_or_default().to_text()
}

#[test]
fn the_first_rule_that_holds_answers() {
    let script = script(
        r#"
rules:
  - {equals: "ping", reply: "pong"}
  - {contains: "CAPITAL", ignore_case: true, regex: 'of (?<land>\w+)', reply: "Paris is the capital of {land}."}
  - {regex: '(\d+) \+ (\d+)', reply: "{1}+{2}={{?}} ({0}, {input}, {repetition})"}
answers: {"exactly this": [1, "{input}"]}
otherwise: {reply: "I do not know."}
"#,
    );
    assert_eq!(text(&script, "ping"), "pong");
    assert_eq!(text(&script, "ping?"), "I do not know.");
    assert_eq!(text(&script, "the capital OF France"), "Paris is the capital of France.");
    assert_eq!(text(&script, "capital"), "I do not know.");
    assert_eq!(text(&script, "say 1 + 22!"), "1+22={?} (1 + 22, say 1 + 22!, 0)");
    assert_eq!(text(&script, "exactly this"), r#"[1,"exactly this"]"#);
}

#[test]
fn faults_are_outcomes() {
    let script = script(
        r#"
latency_ms: 3
rules:
  - {equals: a, fault: error, reply: "no {input}"}
  - {equals: b, fault: timeout, latency_ms: 90}
  - {equals: c, fault: rate_limited, latency_ms: 40}
  - {equals: d, fault: refusal}
  - {equals: e, fault: empty}
  - {equals: f, fault: malformed_json, reply: {answer: [1, "{input}"]}}
  - {equals: g, fault: malformed_json, reply: "4"}
  - {equals: h, reply: "on it", tool_calls: [{name: search, args: {q: "{input}"}}, {name: stop}]}
"#,
    );
    let shown = |input: &str| {
        let reply = ask(&script, input);
        let output = reply.output.map_or("nothing".to_owned(), |output| output.to_string());
        format!("{} {} {output} {}ms", reply.outcome.status(), reply.outcome.name(), reply.delay_ms)
    };
    assert_eq!(shown("a"), "error failed nothing 3ms");
    let failed = Outcome::Failed { error_type: "scripted_error".to_owned(), error: "no a".to_owned() };
    assert_eq!(ask(&script, "a").outcome, failed);
    assert_eq!(shown("b"), "timeout timed_out nothing 90ms");
    assert_eq!(shown("c"), "rate_limited rate_limited nothing 40ms");
    assert_eq!(ask(&script, "c").outcome, Outcome::RateLimited { retry_after_ms: Some(40) });
    assert_eq!(shown("d"), "success refused \"I cannot help with that.\" 3ms");
    assert_eq!(shown("e"), "success empty \"\" 3ms");
    assert_eq!(shown("f"), r#"success answered "{\"answer\":[1,\"f\"]" 3ms"#);
    assert_eq!(shown("g"), r#"success answered "{\"answer\":\"4\"" 3ms"#);
    let calls = r#"{"content":"on it","tool_calls":[{"args":{"q":"h"},"name":"search"},{"args":null,"name":"stop"}]}"#;
    assert_eq!(shown("h"), format!("success answered {calls} 3ms"));
    assert_eq!(shown("nobody"), "success empty \"\" 3ms");
}

#[test]
fn chance_depends_on_seed_input_repetition_and_rule_alone() {
    let script =
        script("rules: [{chance: 0.25, reply: a}, {chance: 0.25, reply: b}]\notherwise: {reply: c}\n");
    let ask = |seed, repetition, input: &str| script.reply(&Request { input, seed, repetition }).output;
    let count = |answer: &str, replies: &[Option<Json>]| {
        replies.iter().filter(|reply| **reply == Some(Json::from(answer))).count()
    };
    let by_seed: Vec<_> = (0..10_000).map(|seed| ask(seed, 0, "x")).collect();
    let by_repetition: Vec<_> = (0..10_000).map(|repetition| ask(7, repetition, "x")).collect();
    let by_input: Vec<_> = (0..10_000).map(|input| ask(7, 0, &format!("case {input}"))).collect();
    for replies in [&by_seed, &by_repetition, &by_input] {
        // 2500 and 1875 expected, with a standard deviation of about 43 and 39.
        assert!((2300..2700).contains(&count("a", replies)), "{}", count("a", replies));
        assert!((1690..2060).contains(&count("b", replies)), "{}", count("b", replies));
    }
    assert_eq!(ask(3, 5, "x"), ask(3, 5, "x"));
}

/// The draws of released versions never change: a run id stands for its answers.
#[test]
fn draws_are_pinned() {
    let script = script("rules: [{chance: 0.5, reply: a}]\notherwise: {reply: b}\n");
    let drawn: String = (0..32)
        .map(|repetition| script.reply(&Request { input: "What is 2 + 2?", seed: 7, repetition }))
        .map(|reply| reply.output.unwrap_or_default().to_text())
        .collect();
    insta::assert_snapshot!(drawn, @"bbaaababbbaaabbbabbababaababbaab");
}

#[test]
fn certain_and_impossible_rules() {
    let script = script("rules: [{chance: 0, reply: never}, {chance: 1, reply: always}]\n");
    assert!((0..1000).all(
        |seed| script.reply(&Request { input: "", seed, repetition: 0 }).output == Some("always".into())
    ));
}

#[test]
fn complaints_name_their_place() {
    let config: Scripted = serde_saphyr::from_str(
        r#"
rules:
  - {regex: "(", reply: x}
  - {reply: [{a: "{nobody}"}]}
  - {fault: timeout, tool_calls: [{name: x}]}
  - {regex: "(a)", tool_calls: [{name: x, args: ["{1} {2}"]}]}
  - {regex: 'a(?=b)', reply: x}
answers: {q: "{1}"}
otherwise: {}
"#,
    )
    .unwrap();
    let shown: Vec<String> = config
        .check()
        .into_iter()
        .map(|complaint| {
            let at = complaint.at.iter().map(|at| match at {
                At::Key(key) => format!("/{key}"),
                At::Index(index) => format!("/{index}"),
            });
            format!("{}: {}", at.collect::<String>(), complaint.what)
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    /rules/0/regex: the pattern cannot be used: unclosed group
    /rules/1/reply/0/a: nothing fills `{nobody}`
    /rules/2/fault: a fault calls no tools
    /rules/3/tool_calls/0/args/0: nothing fills `{2}`
    /rules/4/regex: the pattern cannot be used: look-around, including look-ahead and look-behind, is not supported
    /answers/q: nothing fills `{1}`
    /otherwise: the rule says nothing
    ");
    assert!(Script::new(&config).is_err());
}
