//! Prompts × models × cases, through the real program: the matrix, what is sent, what is said before anything is asked, and what
//! an answer is.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::lab::{Lab, variable};
use super::servers::{Act, Server, completion};

/// A suite on a scripted target that says what it was asked.
fn echo(lab: &Lab, suite: &str) {
    lab.write(
        "suite.yaml",
        format!(
            "kind: probe\nsuite_id: s\njudges: {{any: {{regex: {{pattern: '.*'}}}}}}\ntargets: {{echo: {{scripted: {{otherwise: {{reply: '{{input}}'}}}}}}}}\n{suite}"
        ),
    );
}

/// A suite on a server of the OpenAI shape.
fn online(lab: &Lab, server: &Server, suite: &str) {
    lab.write(
        "suite.yaml",
        format!(
            "kind: probe\nsuite_id: s\njudges: {{any: {{regex: {{pattern: '.*'}}}}}}\ntargets: {{model: {{openai: {{model: m, base_url: '{}', transport: {{backoff_ms: 1}}}}}}}}\n{suite}",
            server.base()
        ),
    );
}

const CAPITALS: &str = "country,expected\nFrance,Paris\nItaly,Rome\nSpain,Madrid\n";

#[test]
fn every_prompt_meets_every_target_and_cells_can_be_chosen() {
    let lab = Lab::new();
    lab.write("capitals.csv", CAPITALS);
    lab.write("prompts/long.md", "You know capitals.\nWhich is that of {{ country | upper }}?\n");
    let suite = |more: &str| {
        format!(
            "kind: probe\nsuite_id: m\ndatasets: [capitals.csv]\njudges: {{has: {{contains: {{}}}}}}\n\
             prompts:\n  terse: 'Capital of {{{{ country }}}}?'\n  old: 'The capital of {{country}}'\n  long: {{file: prompts/long.md}}\n\
             targets:\n  a: {{scripted: {{otherwise: {{reply: '{{input}}'}}}}}}\n  b: {{scripted: {{otherwise: {{reply: Paris}}}}}}\n{more}"
        )
    };
    lab.write("m.yaml", suite(""));
    lab.run("run m.yaml --run-dir all").exits(0);
    lab.run("verify all").exits(0);
    let records = lab.records("all");
    assert_eq!(records.len(), 3 * 2 * 3);
    let slots: Vec<&str> = records[..6].iter().map(|record| record["slot"].as_str().unwrap()).collect();
    assert_eq!(slots, ["a/terse", "a/old", "a/long", "b/terse", "b/old", "b/long"]);
    assert_eq!(records[0]["input"], "Capital of France?");
    assert_eq!(records[1]["input"], "The capital of France");
    assert_eq!(records[2]["input"], "You know capitals.\nWhich is that of FRANCE?");
    let config = lab.read("all/config.resolved.yaml");
    assert!(config.contains("template: \"simple\"") && config.contains("template: \"jinja\""), "{config}");

    lab.write("m.yaml", suite("only: [a, b/terse]\nexcept: [a/old]\n"));
    lab.run("run m.yaml --run-dir some").exits(0);
    let slots: Vec<Value> = lab.json("some/summary.json")["slots"].as_array().unwrap().clone();
    let slots: Vec<&str> = slots.iter().map(|slot| slot["slot"].as_str().unwrap()).collect();
    assert_eq!(slots, ["a/terse", "a/long", "b/terse"]);
    // A trial is what it was, whichever other cells there are.
    let id = |run: &str| {
        let of = |record: &&Value| record["slot"] == "b/terse" && record["case_id"] == records[0]["case_id"];
        lab.records(run).iter().find(of).unwrap()["record_id"].clone()
    };
    assert_eq!(id("all"), id("some"));
    lab.write("m.yaml", suite("only: [c]\n"));
    lab.run("check m.yaml").exits(3).says("no cell is called `c`");
}

#[test]
fn a_conversation_is_sent_recorded_and_fingerprinted_as_a_whole() {
    let server = Server::start(|seen, _| {
        let turns = seen.body["messages"].as_array().unwrap().len();
        let mut answer = completion(&format!("answer after {turns}"));
        answer["choices"][0]["message"]["tool_calls"] = match turns {
            8 => {
                json!([{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}}])
            }
            _ => Value::Null,
        };
        Act::Json(200, answer)
    });
    let lab = Lab::new();
    let train: String = (0..9).map(|n| format!("{{\"q\":\"{n}+{n}\",\"a\":\"{}\"}}\n", n + n)).collect();
    lab.write("train.jsonl", train);
    lab.write("cat.png", b"\x89PNG\r\n\x1a\nnot really");
    lab.write(
        "talk.yaml",
        "messages:\n  - {role: system, content: \"You work for {{ company | default('ACME') }}.\"}\n  \
         - {each: examples, role: user, content: '{{ q }}'}\n  - {each: examples, role: assistant, content: '{{ a }}'}\n  \
         - {role: user, content: [{text: '{{ q }}'}, {image: '{{ picture }}'}]}\n  - {role: assistant}\n  \
         - {role: user, content: 'Are you sure about {{ q }}?'}\n\
         examples: {dataset: train.jsonl, count: 2}\n\
         tools: [{name: look, description: looks, parameters: {type: object}}]\nresponse_format: json\n",
    );
    online(
        &lab,
        &server,
        "prompt: {file: talk.yaml}\ncases: [{id: a, q: 3+3, picture: cat.png}, {id: b, q: 4+4, picture: cat.png}]\n",
    );
    lab.run("run suite.yaml --run-dir run --jobs 1").exits(0);
    lab.run("verify run").exits(0);
    let seen = server.seen();
    assert_eq!(seen.len(), 4, "two cases of two turns");
    let first = &seen[0].body;
    assert_eq!(first["messages"][0], json!({"role": "system", "content": "You work for ACME."}));
    assert_eq!(first["messages"].as_array().unwrap().len(), 6);
    let shown: Vec<&str> =
        (1..5).step_by(2).map(|at| first["messages"][at]["content"].as_str().unwrap()).collect();
    assert!(!shown.contains(&"3+3"), "the case itself is no example: {shown:?}");
    assert_eq!(first["messages"][5]["content"][0], json!({"type": "text", "text": "3+3"}));
    let url = first["messages"][5]["content"][1]["image_url"]["url"].as_str().unwrap();
    assert!(url.starts_with("data:image/png;base64,iVBORw0KGgpub3Q"), "{url}");
    assert_eq!(first["response_format"], json!({"type": "json_object"}));
    assert_eq!(first["tools"][0]["function"]["name"], "look");
    let second = &seen[1].body;
    assert_eq!(second["messages"][6]["content"], "answer after 6");
    assert_eq!(second["messages"][7], json!({"role": "user", "content": "Are you sure about 3+3?"}));
    let record = &lab.records("run")[0];
    assert_eq!(record["turns"], json!(["answer after 6"]));
    assert_eq!(record["output"]["tool_calls"], json!([{"args": {"at": 1}, "name": "look"}]));
    assert_eq!(record["input"]["tools"][0]["name"], "look");
    assert_eq!(record["input"]["messages"][5]["content"][1]["image"]["media_type"], "image/png");
    assert_eq!(record["usage"]["input_tokens"], 22, "both turns");
    // Another picture is another question, though the path is the same.
    lab.write("cat.png", b"\x89PNG\r\n\x1a\nanother");
    lab.run("run suite.yaml --run-dir other --jobs 1").exits(0);
    assert_ne!(lab.records("other")[0]["input_fingerprint"], record["input_fingerprint"]);
    assert_eq!(lab.records("other")[0]["record_id"], record["record_id"]);
}

#[test]
fn nothing_is_sent_as_text_without_a_word() {
    let lab = Lab::new();
    let warned = |suite: &str| {
        echo(&lab, suite);
        lab.run("check suite.yaml").exits(0).said()
    };
    let rows = "cases: [{id: a, question: one}, {id: b, question: two}, {id: c, question: three}]\n";
    let with = |prompt: &str| format!("prompt: '{prompt}'\n{rows}");
    assert!(!warned(&with("{{ question }}")).contains("warning"));
    let said = warned(&format!("template: simple\n{}", with("{question} {{name}}")));
    assert!(said.contains("which `template: simple` sends as text"), "{said}");
    assert!(
        warned(&with("Read file://doc.txt: {{ question }}"))
            .contains("`file://doc.txt:`, which is sent as text")
    );
    assert!(
        warned(&with("${HOME} {{ question }}"))
            .contains("`${HOME}`, which is sent as text: the environment is not read")
    );
    let said = warned(&with("Say something."));
    assert!(said.contains("the prompt asks the same of all 3 cases"), "{said}");
    assert!(said.contains("nothing uses the field `question` of `cases` (and 2 more rows)"), "{said}");
    let values = "prompt: '{{ doc }}'\ncases: [{id: a, doc: 'file://a.md'}, {id: b, doc: 'file://b.md'}, {id: c, doc: '${KEY}'}]\n";
    let said = warned(values);
    assert!(
        said.contains(
            "`file://a.md` in field `doc` of `cases` is sent as it stands: no file is read (and 1 more value)"
        ),
        "{said}"
    );
    assert!(said.contains("`${KEY}` in field `doc` of `cases` is sent as it stands"), "{said}");

    let refused = |suite: &str| {
        echo(&lab, suite);
        lab.run("check suite.yaml").exits(3).said()
    };
    let said = refused(&with("{{ question }} {question}"));
    assert!(said.contains("this has both `{question}` and `{{ … }}`: which of them is meant?"), "{said}");
    // One mistake in ten thousand rows is one message.
    let rows: String = (0..10_000).map(|n| format!("{{\"id\":\"{n}\",\"qestion\":\"x\"}}\n")).collect();
    lab.write("rows.jsonl", rows);
    let said = refused("prompt: '{{ question }}'\ndatasets: [rows.jsonl]\n");
    assert!(said.contains("the prompt needs `{question}`, which this case does not have"), "{said}");
    assert!(said.contains("did you mean `qestion`?") && said.contains("and 9,999 more rows"), "{said}");
    assert_eq!(said.matches("the prompt needs").count(), 1, "{said}");
    // The words of other tools are understood.
    for (theirs, ours) in
        [("providers", "targets"), ("assert", "judges"), ("tests", "cases"), ("vars", "cases")]
    {
        let said = refused(&format!("{theirs}: []\ncases: [{{input: a}}]\n"));
        assert!(said.contains(&format!("that is `{ours}` here")), "{said}");
    }
}

#[test]
fn extra_replaces_nothing_that_a_target_writes_itself() {
    let lab = Lab::new();
    for key in ["messages", "model", "seed", "stream", "tools"] {
        lab.write(
            "s.yaml",
            format!("kind: probe\nsuite_id: s\njudges: {{same: {{equals: {{}}}}}}\ncases: [{{input: a, expected: a}}]\ntargets: {{m: {{openai: {{model: m, base_url: 'http://127.0.0.1:9/v1', extra: {{{key}: []}}}}}}}}\n"),
        );
        lab.run("check s.yaml").exits(3).says(&format!("`{key}` is what the target writes itself"));
    }
}

#[test]
fn thoughts_are_no_part_of_the_answer_in_any_dialect() {
    let shapes: [(&str, &str, Value); 5] = [
        (
            "openai",
            "/v1",
            json!({"choices": [{"message": {"content": "4", "reasoning_content": "two and two"}}]}),
        ),
        ("openai", "/v1", json!({"choices": [{"message": {"content": "<think>two and two</think>\n\n4"}}]})),
        (
            "anthropic",
            "",
            json!({"content": [{"type": "thinking", "thinking": "two and two", "signature": "x"}, {"type": "text", "text": "4"}]}),
        ),
        (
            "gemini",
            "",
            json!({"candidates": [{"content": {"parts": [{"thought": true, "text": "two and two"}, {"text": "4"}]}}]}),
        ),
        ("ollama", "", json!({"message": {"content": "4", "thinking": "two and two"}})),
    ];
    for (kind, path, answer) in shapes {
        let server = Server::start(move |_, _| Act::Json(200, answer.clone()));
        let lab = Lab::new();
        lab.write(
            "s.yaml",
            format!(
                "kind: probe\nsuite_id: s\njudges: {{same: {{equals: {{}}}}}}\ncases: [{{input: '2+2', expected: '4'}}]\ntargets: {{m: {{{kind}: {{model: m, base_url: 'http://{}{path}'}}}}}}\n",
                server.address
            ),
        );
        lab.run("run s.yaml --run-dir run").exits(0);
        lab.run("verify run").exits(0);
        let record = &lab.records("run")[0];
        assert_eq!((&record["output"], &record["reasoning"]), (&json!("4"), &json!("two and two")), "{kind}");
        assert_eq!(record["passed"], true, "{kind}");
    }
}

#[test]
fn packed_bodies_and_addresses_with_a_query_are_understood() {
    let server = Server::start(|seen, before| {
        assert!(seen.head.to_lowercase().contains("accept-encoding: gzip, deflate, br"), "{}", seen.head);
        let body = completion("4").to_string();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(body.as_bytes()).unwrap();
        match before {
            0 => Act::Packed("gzip", packed.finish().unwrap()),
            _ => Act::Packed("zstd", vec![1, 2, 3]),
        }
    });
    let lab = Lab::new();
    lab.write(
        "s.yaml",
        format!(
            "kind: probe\nsuite_id: s\njudges: {{same: {{equals: {{}}}}}}\ncases: [{{id: a, input: '2+2', expected: '4'}}, {{id: b, input: '2+2', expected: '4'}}]\n\
             targets: {{azure: {{openai: {{model: m, base_url: 'http://{}/openai/deployments/m?api-version=2024-10-21', headers_env: {{api-key: AZURE_KEY}}}}}}}}\n",
            server.address
        ),
    );
    lab.finish(
        lab.command(&["run", "s.yaml", "--run-dir", "run", "--jobs", "1"]).env("AZURE_KEY", "hush-hush-key"),
    )
    .exits(0);
    let records = lab.records("run");
    assert_eq!(records[0]["output"], "4");
    assert_eq!(records[1]["error_type"], "content_encoding");
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| seen.path == "/openai/deployments/m/chat/completions?api-version=2024-10-21")
    );
    assert!(server.seen()[0].head.to_lowercase().contains("api-key: hush-hush-key"));
}

#[test]
fn a_wrong_key_is_told_after_a_few_requests_and_the_run_can_be_completed() {
    let good = Arc::new(AtomicBool::new(false));
    let key = good.clone();
    let server = Server::start(move |_, _| match key.load(Ordering::SeqCst) {
        true => Act::Json(200, completion("x")),
        false => Act::Json(401, json!({"error": {"message": "Incorrect API key provided"}})),
    });
    let lab = Lab::new();
    let rows: String = (0..500).map(|n| format!("{{\"input\":\"question {n}\"}}\n")).collect();
    lab.write("rows.jsonl", rows);
    online(&lab, &server, "datasets: [rows.jsonl]\n");
    let stopped = lab.run("run suite.yaml --run-dir run --jobs 4").exits(8);
    let stopped = stopped.says("`model` was refused 5 times in a row: HTTP 401: Incorrect API key provided");
    assert!(stopped.said().contains("--resume --retry-errors"), "{}", stopped.said());
    assert!(server.seen().len() < 16, "{} requests", server.seen().len());
    good.store(true, Ordering::SeqCst);
    lab.run("run suite.yaml --run-dir run --resume --retry-errors").exits(0);
    lab.run("verify run").exits(0);
    assert!(lab.records("run").iter().all(|record| record["passed"] == true));
}

#[test]
fn a_budget_that_cannot_be_kept_is_told_at_once() {
    let server = Server::start(|_, _| {
        let mut answer = completion("x");
        answer["usage"] = Value::Null;
        Act::Json(200, answer)
    });
    let lab = Lab::new();
    let rows: String = (0..200).map(|n| format!("{{\"input\":\"question {n}\"}}\n")).collect();
    lab.write("rows.jsonl", rows).write("prices.yaml", "m: {input: 1, output: 2}\n");
    online(&lab, &server, "datasets: [rows.jsonl]\n");
    lab.run("run suite.yaml --run-dir run --jobs 2 --prices prices.yaml --budget 1")
        .exits(8)
        .says("does not say how many tokens it used, so `--budget` cannot be kept");
    assert!(server.seen().len() < 8, "{} requests", server.seen().len());
}

#[test]
fn systems_judges_and_bodies_are_filled_from_the_case() {
    let server = Server::start(|seen, _| {
        let system = seen.body["messages"][0]["content"].as_str().unwrap_or_default();
        Act::Json(200, completion(&format!("{system} - {}", seen.body["note"])))
    });
    let lab = Lab::new();
    lab.write(
        "s.yaml",
        format!(
            "kind: probe\nsuite_id: s\nprompt: '{{{{ q }}}}'\njudges: {{has: {{contains: {{value: '{{{{ tone | upper }}}}'}}}}}}\n\
             cases: [{{id: a, q: one, tone: kind}}, {{id: b, q: two, tone: stern}}]\n\
             targets:\n  chat: {{openai: {{model: m, base_url: '{0}', system: 'Be {{{{ tone | upper }}}}.'}}}}\n  \
             raw: {{http: {{url: '{0}/chat', answer: /choices/0/message/content, request: {{messages: [{{content: '{{{{ tone | upper }}}}'}}], note: '{{{{ input }}}}/{{{{ q }}}}'}}}}}}\n",
            server.base()
        ),
    );
    lab.run("run s.yaml --run-dir run --jobs 1").exits(0);
    let outputs: Vec<Value> = lab.records("run").iter().map(|record| record["output"].clone()).collect();
    assert_eq!(
        outputs,
        [
            json!("Be KIND. - null"),
            json!("KIND - \"one/one\""),
            json!("Be STERN. - null"),
            json!("STERN - \"two/two\"")
        ]
    );
    assert!(lab.records("run").iter().all(|record| record["passed"] == true));
    // What a case does not have is told before anything is asked.
    let asked = server.seen().len();
    lab.write("s.yaml", lab.read("s.yaml").replace("tone: stern", "tune: stern"));
    lab.run("run s.yaml --run-dir again")
        .exits(3)
        .says("target `chat` needs `{tone}`, which this case does not have");
    assert_eq!(server.seen().len(), asked);
}

#[test]
fn cases_come_from_bare_paths_globs_filters_and_samples() {
    let lab = Lab::new();
    lab.write(
        "data/a.jsonl",
        "{\"input\":\"one\",\"level\":\"hard\"}\n{\"input\":\"two\",\"level\":\"easy\"}\n",
    );
    lab.write(
        "data/b.jsonl",
        "{\"input\":\"two\",\"level\":\"hard\"}\n{\"input\":\"two\",\"level\":\"hard\"}\n",
    );
    lab.write("semi.csv", "input;level\r\n\"a;b\";hard\r\nc;easy\r\n");
    lab.write("tabs.tsv", "input\tlevel\nx\thard\n");
    lab.write("t.toml", "[[cases]]\ninput = \"toml\"\nlevel = \"hard\"\n");
    let inputs = |datasets: &str| -> Vec<(String, String)> {
        echo(&lab, &format!("datasets: {datasets}\n"));
        lab.run("run suite.yaml --run-dir run --overwrite").exits(0);
        lab.run("verify run").exits(0);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        lab.records("run").iter().map(|record| (text(&record["case_id"]), text(&record["input"]))).collect()
    };
    let all = inputs("['data/*.jsonl']");
    assert_eq!(all.iter().map(|(_, input)| input.as_str()).collect::<Vec<_>>(), ["one", "two", "two", "two"]);
    assert_eq!(all[0].0.len(), 12, "the digest of the row's content: {all:?}");
    assert_eq!(all[3].0, format!("{}-2", all[2].0), "duplicates are numbered");
    assert_eq!(inputs("[{path: data/a.jsonl, where: \"level == 'hard'\"}]").len(), 1);
    assert_eq!(inputs("[{path: 'data/*.jsonl', sample: {count: 2, seed: 7}}]").len(), 2);
    assert_eq!(
        inputs("[{path: 'data/*.jsonl', sample: {count: 2, seed: 7}}]"),
        inputs("[{path: 'data/*.jsonl', sample: {count: 2, seed: 7}}]")
    );
    assert_eq!(
        inputs("[semi.csv, tabs.tsv, t.toml]").iter().map(|(_, input)| input.as_str()).collect::<Vec<_>>(),
        ["a;b", "c", "x", "toml"]
    );
    lab.run("check suite.yaml")
        .says("the fields of `semi.csv` are separated by `;`")
        .says("`tabs.tsv` are separated by a tab");
    // The third record begins on the third line, whatever ends the lines.
    lab.write("crlf.csv", "input,expected\r\na,1\r\nb\r\n");
    echo(&lab, "datasets: [crlf.csv]\n");
    lab.run("check suite.yaml").exits(3).says("crlf.csv:3:1");
    lab.write("hub/snapshots/abc123/data/test-00000.jsonl", "{\"input\":\"h\"}\n");
    lab.write("hub/snapshots/abc123/data/train-00000.jsonl", "{\"input\":\"t\"}\n");
    let hub = inputs("[{path: hub/snapshots/abc123, format: hf, revision: abc123, split: test}]");
    assert_eq!(hub.iter().map(|(_, input)| input.as_str()).collect::<Vec<_>>(), ["h"]);
    echo(&lab, "datasets: [{path: hub/snapshots/abc123, format: hf, split: test}]\n");
    lab.run("check suite.yaml").exits(3).says("nothing pins `hub/snapshots/abc123`");
}

/// The published verdicts on 660 questions × 4 models of GSM8K's authors, row by row.
#[test]
fn conformance_math_and_numeric_agree_with_the_published_verdicts() {
    let Some(data) = variable("PROOFHOUSE_CONFORMANCE_DATA") else { return };
    let path = std::path::Path::new(&data).join("probe/gsm8k_solutions_dev.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else { return };
    let (mut cases, mut answers, mut right) = (String::new(), String::new(), Vec::new());
    for (row, line) in text.lines().enumerate() {
        let line: Value = serde_json::from_str(line).unwrap();
        let truth = line["ground_truth"].as_str().unwrap().rsplit_once("A:").unwrap().1.trim().to_owned();
        for model in ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"] {
            let input = format!("{row} {model}");
            cases.push_str(&format!("{}\n", json!({"id": input, "input": input, "expected": truth})));
            answers.push_str(&format!("{}\n", json!({"input": input, "output": line[model]["solution"]})));
            right.push(f64::from(u8::from(line[model]["is_correct"].as_bool().unwrap())));
        }
    }
    assert!(right.len() > 1_000, "{}", right.len());
    let lab = Lab::new();
    let digest = proofhouse_ledger::Digest::of(answers.as_bytes()).prefixed();
    lab.write("cases.jsonl", cases).write("answers.jsonl", answers);
    lab.write(
        "s.yaml",
        format!(
            "kind: probe\nsuite_id: s\ndatasets: [cases.jsonl]\njudges:\n  math: {{math: {{after: 'A:'}}}}\n  numeric: {{numeric: {{after: 'A:'}}}}\n\
             targets: {{stored: {{replay: {{path: answers.jsonl, sha256: '{digest}'}}}}}}\n"
        ),
    );
    lab.run("run s.yaml --run-dir run --skip-report").exits(0);
    let mut differ = Vec::new();
    for (record, right) in lab.records("run").iter().zip(&right) {
        for judge in ["math", "numeric"] {
            if record["scores"][judge].as_f64() != Some(*right) {
                differ.push(format!(
                    "{judge} {} {}: {}",
                    record["case_id"], record["expected"], record["judge"]
                ));
            }
        }
    }
    assert!(differ.is_empty(), "{} of {}: {:#?}", differ.len(), right.len(), &differ[..differ.len().min(20)]);
}
