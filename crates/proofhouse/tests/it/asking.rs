//! Suites that ask endpoints, through the real program: recorded and replayed, within budgets, judged by others, judged again.

use serde_json::json;

use super::lab::{Lab, variable};
use super::servers::{Act, Seen, Server, completion};
use super::targets::{CANARY, good, too_many};

/// A lab with a suite of `cases` questions to a server; repetitions differ by their seeds.
fn suite(server: &Server, cases: usize, more: &str) -> Lab {
    let lab = Lab::new();
    let rows: String = (0..cases)
        .map(|n| format!("{{\"id\":\"c{n}\",\"input\":\"question {n}\",\"expected\":\"answer {n}\"}}\n"))
        .collect();
    lab.write("cases.jsonl", rows);
    lab.write(
        "net.yaml",
        format!(
            "kind: probe\nsuite_id: net\ntimeout_ms: 5000\nrepetitions: 2\ndatasets: [{{path: cases.jsonl}}]\njudges: {{same: {{equals: {{}}}}}}\n\
             targets:\n  model: {{openai: {{model: m, base_url: '{}', api_key_env: CANARY_KEY, transport: {{backoff_ms: 20}}}}}}\n{more}",
            server.base()
        ),
    );
    lab
}

fn run(lab: &Lab, args: &str) -> super::lab::Outcome {
    let args: Vec<&str> = args.split_whitespace().collect();
    lab.finish(lab.command(&args).env("CANARY_KEY", CANARY))
}

/// Answers rightly to even questions, wrongly to odd ones, and fails where a three is in the number.
fn answering(seen: &Seen, before: usize) -> Act {
    let question = seen.body["messages"][0]["content"].as_str().unwrap().to_owned();
    let number = question.rsplit(' ').next().unwrap().to_owned();
    let even = number.parse::<u32>().unwrap() % 2 == 0;
    match number.contains('3') {
        true => Act::Json(400, json!({"error": {"message": format!("no {number} for {CANARY}")}})),
        false if before % 7 == 3 => too_many(&[("retry-after", "0.05")]),
        false => {
            Act::Json(200, completion(&if even { format!("answer {number}") } else { "no idea".to_owned() }))
        }
    }
}

#[test]
fn a_recorded_run_is_had_again_byte_for_byte_without_the_server() {
    let server = Server::start(answering);
    let lab = suite(&server, 12, "");
    run(&lab, "run net.yaml --run-dir live --record tape --jobs 8").exits(0);
    let requests = server.seen().len();
    let telemetry = lab.read("live.telemetry.jsonl");
    assert_eq!(
        telemetry.matches("\"event\":\"attempt\"").count(),
        requests,
        "every attempt is accounted for"
    );
    drop(server);
    // Nothing of the environment is needed, and no other number of jobs changes a byte.
    for (dir, jobs) in [("again", 1), ("more", 32)] {
        lab.run(&format!("run net.yaml --run-dir {dir} --replay tape --jobs {jobs}")).exits(0);
        assert_eq!(lab.run_files(dir), lab.run_files("live"), "{dir}");
    }
    for run in ["live", "again"] {
        lab.run(&format!("verify {run}")).exits(0);
    }
    let record = &lab.records("live")[0];
    assert_eq!(
        record["response"],
        json!({"finish_reason": "stop", "model": "m-2024", "system_fingerprint": "fp_1"})
    );
    assert_eq!(record["usage"], json!({"input_tokens": 11, "output_tokens": 3}));
    let failed = lab.records("live").into_iter().find(|record| record["case_id"] == "c3").unwrap();
    assert_eq!(failed["error"], "HTTP 400: no 3 for [redacted]");
    for (path, bytes) in lab.snapshot() {
        assert!(!String::from_utf8_lossy(&bytes).contains(CANARY), "the key is in {}", path.display());
    }
    // A changed knob is a miss that names its key.
    let changed = lab.read("net.yaml").replace("model: m,", "model: m, temperature: 1,");
    lab.write("net.yaml", changed);
    lab.run("run net.yaml --run-dir changed --replay tape").exits(9);
    let miss = &lab.records("changed")[0];
    assert_eq!(miss["error_type"], "replay_miss");
    assert!(miss["error"].as_str().unwrap().contains(".0 of slot `model`"), "{miss}");
    lab.run("run net.yaml --run-dir none --replay nowhere").exits(2).says("`--record nowhere` makes it");
}

/// An endpoint that gives the key back in every way that it can.
fn echoing(seen: &Seen, _: usize) -> Act {
    let escaped = CANARY.replace('-', "\\u002d");
    let json = |body: String| Act::Whole(200, vec![("content-type", "application/json".to_owned())], body);
    let asked = seen.body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    match asked.rsplit(' ').next().unwrap() {
        "0" => Act::Json(200, completion(&format!("{CANARY} and {escaped}"))),
        "1" => json(completion("HERE").to_string().replace("HERE", &escaped)),
        "2" => json(format!("{{\"choices\": {} {escaped}", CANARY)),
        "3" => Act::Whole(
            302,
            vec![("location", format!("http://h/?key={}", CANARY.replace('-', "%2D")))],
            String::new(),
        ),
        "4" => Act::Json(401, json!({"error": {"message": format!("{}{CANARY}", "x".repeat(290))}})),
        "5" => Act::Whole(200, vec![("content-type", format!("text/{CANARY}"))], "no".to_owned()),
        "6" => {
            let mut body = completion("");
            let arguments = format!("{{\"key\": \"{escaped}\", \"{CANARY}\": 1}}");
            let call = json!({"id": CANARY, "type": "function", "function": {"name": CANARY, "arguments": arguments}});
            body["choices"][0]["message"] =
                json!({"role": "assistant", "content": null, "tool_calls": [call]});
            body["model"] = json!(CANARY);
            body["system_fingerprint"] = json!(CANARY);
            body["choices"][0]["finish_reason"] = json!(CANARY);
            Act::Json(200, body)
        }
        _ => Act::Json(500, json!({"error": seen.head})),
    }
}

#[test]
fn a_key_that_comes_back_is_kept_nowhere() {
    let server = Server::start(echoing);
    let lab = suite(&server, 8, "");
    lab.write("net.yaml", lab.read("net.yaml").replace("backoff_ms: 20", "backoff_ms: 1, max_attempts: 2"));
    let outcome = run(&lab, "run net.yaml --run-dir live --record tape");
    let doctor = run(&lab, "doctor net.yaml");
    assert!(server.seen().iter().all(|seen| seen.head.contains(CANARY)), "the key was never sent");
    let said = format!("{}{}{}{}", outcome.stdout, outcome.stderr, doctor.stdout, doctor.stderr);
    let mut kept: Vec<(String, String)> = lab
        .snapshot()
        .into_iter()
        .map(|(path, bytes)| (path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()))
        .collect();
    kept.push(("the terminal".to_owned(), said));
    for (place, text) in &kept {
        for part in [CANARY, &CANARY[..12], "002dkey", "002Dkey", "key-0123", "2Dkey"] {
            assert!(!text.contains(part), "{part} is in {place}");
        }
    }
    let records = lab.records("live");
    let of = |case: &str| records.iter().find(|record| record["case_id"] == case).unwrap();
    assert_eq!(of("c0")["output"], "[redacted] and [redacted]");
    assert_eq!(of("c1")["output"], "[redacted]");
    assert_eq!(of("c6")["output"]["tool_calls"][0]["name"], "[redacted]");
    assert_eq!(of("c7")["error_type"], "http_500");
    drop(server);
    run(&lab, "run net.yaml --run-dir again --replay tape");
    assert_eq!(lab.run_files("again"), lab.run_files("live"));
}

#[test]
fn a_key_in_use_is_refused_wherever_a_suite_says_it() {
    let server = Server::saying("x");
    let lab = suite(&server, 2, "");
    lab.write("cases.jsonl", lab.read("cases.jsonl").replace("question 1", &format!("question {CANARY}")));
    let before = lab.snapshot();
    for command in ["check net.yaml", "plan net.yaml", "run net.yaml --run-dir live", "doctor net.yaml"] {
        let outcome =
            run(&lab, command).exits(3).says("the value of `CANARY_KEY` stands here").says("cases.jsonl:2:");
        assert!(!format!("{}{}", outcome.stdout, outcome.stderr).contains(CANARY), "{}", outcome.stderr);
    }
    assert_eq!(lab.snapshot(), before, "a refusal changes no byte");
    // Where it is no key it is text.
    lab.run("check net.yaml").exits(0);
}

#[test]
fn where_nothing_could_be_assessed_the_terminal_says_what_broke_and_what_to_do() {
    let server = Server::start(|seen, _| match seen.body["messages"][0]["content"].as_str() {
        Some("question 0") => Act::Json(400, json!({"error": {"message": "no"}})),
        _ => Act::Json(401, json!({"error": {"message": "no"}})),
    });
    let lab = suite(&server, 3, "");
    run(&lab, "run net.yaml --run-dir live")
        .exits(9)
        .says("6 of 6 trials could not be assessed: 4 × unauthorized, 2 × http_400\n")
        .says("hint: `proofhouse doctor net.yaml` asks each target");
    // Answers that are assessed are no errors, and where something was assessed nobody has to ask again.
    let some = Server::start(|seen, _| match seen.body["messages"][0]["content"].as_str() {
        Some("question 0") => Act::Json(200, completion("")),
        _ => Act::Json(401, json!({"error": {"message": "no"}})),
    });
    lab.write("net.yaml", lab.read("net.yaml").replace(&server.base(), &some.base()));
    let outcome = run(&lab, "run net.yaml --run-dir some")
        .exits(0)
        .says("4 of 6 trials could not be assessed: 4 × unauthorized\n");
    assert!(!outcome.stderr.contains("doctor"), "{}", outcome.stderr);
    lab.write("tape/x", "");
    run(&lab, "run net.yaml --run-dir miss --replay tape")
        .exits(9)
        .says("6 × replay_miss")
        .says("hint: `--record DIR`");
}

#[test]
fn a_containment_run_against_a_dead_endpoint_says_what_broke() {
    let server = Server::start(|_, _| Act::Json(403, json!({"error": {"message": "no"}})));
    let lab = Lab::new();
    lab.write(
        "c.yaml",
        format!(
            "kind: containment\nsuite_id: c\ntargets:\n  m: {{openai: {{model: m, base_url: '{}', api_key_env: CANARY_KEY}}}}\nvariants: {{naive_llm: {{}}, calyx_llm: {{}}}}\n\
             cases:\n  - {{case_id: a, prompt: send it, expected_outcome: contained, actions: [{{name: http_post, args: {{url: 'http://h/'}}}}]}}\n",
            server.base()
        ),
    );
    run(&lab, "run c.yaml --run-dir live --jobs 1")
        .exits(8)
        .says("`m` was refused 5 times in a row: HTTP 403: no");
}

#[test]
fn an_endpoint_does_not_drive_the_terminal() {
    let server = Server::start(|_, _| Act::Json(400, json!({"error": {"message": "\u{1b}[31mred\u{7}"}})));
    let lab = suite(&server, 1, "");
    let outcome = run(&lab, "doctor net.yaml").exits(9).says("[31mred");
    assert!(!outcome.stdout.contains(['\u{1b}', '\u{7}']), "{:?}", outcome.stdout);
}

#[test]
fn fewer_requests_are_under_way_when_the_endpoint_says_so_and_more_again_later() {
    const BEARS: usize = 12;
    let server = Server::start(|seen, _| match seen.under_way > BEARS {
        true => Act::After(30, Box::new(too_many(&[]))),
        false => Act::After(30, Box::new(good())),
    });
    let lab = suite(&server, 200, "");
    lab.write("net.yaml", lab.read("net.yaml").replace("backoff_ms: 20", "backoff_ms: 20, max_attempts: 20"));
    run(&lab, "run net.yaml --run-dir live --jobs 64").exits(0);
    assert_eq!(lab.records("live").iter().filter(|record| record["status"] == "success").count(), 400);
    let under_way: Vec<usize> = server.seen().iter().map(|seen| seen.under_way).collect();
    let refused = under_way.iter().filter(|count| **count > BEARS).count();
    let first =
        under_way.iter().position(|count| *count > BEARS).expect("the first rounds double until it refuses");
    assert!(refused < under_way.len() / 4, "{refused} of {} were refused: {under_way:?}", under_way.len());
    // The most under way in each stretch of ten requests: it falls to half of what it was, and climbs from there.
    let stretches: Vec<usize> =
        under_way[first..].chunks(10).map(|some| *some.iter().max().unwrap()).collect();
    let before = *under_way[..=first + 10].iter().max().unwrap();
    let fell = stretches.iter().position(|most| *most <= before / 2 + 1);
    let after = fell.map(|at| &stretches[at..]).unwrap_or_else(|| panic!("from {before}: {stretches:?}"));
    assert!(after.iter().any(|most| *most >= after[0] + 2), "it never climbed again: {stretches:?}");
}

#[test]
fn slots_of_one_endpoint_share_its_places() {
    let server = Server::start(|_, _| Act::After(20, Box::new(good())));
    let lab = suite(&server, 12, "");
    let slot = |name: &str, most: u32| {
        format!(
            "  {name}: {{openai: {{model: {name}, base_url: '{}', api_key_env: CANARY_KEY, transport: {{max_in_flight: {most}}}}}}}\n",
            server.base()
        )
    };
    let yaml = lab.read("net.yaml");
    let head = yaml.split("  model:").next().unwrap();
    lab.write("net.yaml", format!("{head}{}{}", slot("a", 3), slot("b", 5)));
    run(&lab, "run net.yaml --run-dir live --jobs 32").exits(0);
    assert_eq!(server.peak(), 3, "the smaller number holds for both");
    assert_eq!(server.seen().len(), 48);
}

#[test]
fn jobs_are_in_flight() {
    let server = Server::start(|_, _| Act::Crowd(64, 1_500, Box::new(good())));
    let lab = suite(&server, 150, "");
    run(&lab, "run net.yaml --run-dir live --jobs 64").exits(0);
    assert_eq!(server.peak(), 64);
    assert_eq!(server.seen().len(), 300);
}

#[test]
fn a_budget_stops_the_run_and_it_can_be_resumed() {
    let server = Server::start(|_, _| good());
    let lab = suite(&server, 20, "");
    // An answer costs 11 + 3 × 3 = 20 millionths of a dollar.
    lab.write("prices.yaml", "m: {input: 1, output: 3}\n");
    run(&lab, "run net.yaml --run-dir live --jobs 2 --prices prices.yaml --budget 0.0002")
        .exits(8)
        .says("the budget is used up")
        .says("--resume --prices prices.yaml --budget 0.0002` completes it");
    let asked = server.seen().len();
    assert!((10..=12).contains(&asked), "{asked}");
    assert_eq!(lab.read("live/records.jsonl").lines().count(), asked, "what was paid for is kept");
    run(&lab, "run net.yaml --run-dir live --resume").exits(0);
    assert_eq!(server.seen().len(), 40);
    run(&lab, "run net.yaml --run-dir other --prices empty.yaml --budget 1").says("empty.yaml");
    lab.write("empty.yaml", "x: {input: 1, output: 3}\n");
    run(&lab, "run net.yaml --run-dir other --prices empty.yaml --budget 1")
        .says("`--budget` needs a price for `m`");
}

#[test]
fn a_missing_key_and_a_key_in_a_suite_are_said_without_showing_it() {
    let server = Server::saying("x");
    let lab = suite(&server, 1, "");
    let before = lab.snapshot();
    lab.run("run net.yaml --run-dir live")
        .exits(9)
        .says("`CANARY_KEY` is not set in the environment")
        .says("--replay DIR");
    assert_eq!(lab.snapshot(), before, "a refusal changes no byte");
    let literal = lab.read("net.yaml").replace("api_key_env: CANARY_KEY", "api_key: sk-0123456789abcdefghij");
    lab.write("net.yaml", literal);
    let outcome = lab.run("check net.yaml").says("a suite is no place for a key").says("api_key_env");
    assert!(!outcome.stderr.contains("sk-0123456789"), "{}", outcome.stderr);
    assert!(!outcome.stdout.contains("sk-0123456789"), "{}", outcome.stdout);
}

#[test]
fn judges_that_ask_somebody_are_asked() {
    let server = Server::start(|seen, _| {
        let asked = seen.body["messages"][0]["content"].as_str().unwrap().to_owned();
        let text = match asked.contains("strict examiner") {
            true if asked.contains("answer 1") => "Hm.\nVERDICT: WRONG",
            true if asked.contains("question 2") => "VERDICT: CANNOT JUDGE",
            true => "VERDICT: RIGHT",
            false => "some answer",
        };
        Act::Json(200, completion(text))
    });
    let lab = suite(&server, 3, "");
    let judges = format!(
        "judges:\n  words: {{rubric: {{criterion: It is polite., models: {{a: {{openai: {{model: j, base_url: '{}'}}}}}}}}}}\n  \
         mine: {{plugin: {{command: [python3, judge.py]}}}}\n  boxed: {{command: {{command: [sh, boxed.sh], files: [boxed.sh]}}}}\nscoring: {{primary: words}}\n",
        server.base()
    );
    lab.write("net.yaml", lab.read("net.yaml").replace("judges: {same: {equals: {}}}\n", &judges));
    lab.write("judge.py", "import json, sys\nfor line in sys.stdin:\n    asked = json.loads(line)\n    print(json.dumps({'id': asked['id'], 'verdict': {'score': 1 if asked['judge']['output'] == 'some answer' else 0}}), flush=True)\n");
    lab.write("boxed.sh", "grep -q '\"input\":\"question 0\"' && exit 0; echo not the first; exit 1\n");
    let args = ["run", "net.yaml", "--run-dir", "live", "--record", "tape"];
    lab.finish(lab.command(&args).env("CANARY_KEY", CANARY).env("PATH", variable("PATH").unwrap())).exits(0);
    let scores: Vec<String> = lab
        .records("live")
        .iter()
        .map(|record| format!("{} {} {}", record["case_id"], record["scores"], record["passed"]))
        .collect();
    assert_eq!(scores[0], r#""c0" {"boxed":1.0,"mine":1.0,"words":1.0} true"#.replace("1.0", "1"));
    assert_eq!(scores[2], r#""c1" {"boxed":0,"mine":1,"words":0} false"#);
    assert_eq!(scores[4], r#""c2" {"boxed":0,"mine":1,"words":null} null"#);
    assert_eq!(lab.records("live")[2]["judge"]["boxed"], "`not the first`");
    drop(server);
    let args = ["run", "net.yaml", "--run-dir", "again", "--replay", "tape"];
    lab.finish(lab.command(&args).env("PATH", variable("PATH").unwrap())).exits(0);
    assert_eq!(lab.run_files("again"), lab.run_files("live"));
}

#[test]
fn stored_answers_are_judged_again() {
    let server = Server::start(answering);
    let lab = suite(&server, 6, "");
    run(&lab, "run net.yaml --run-dir first").exits(0);
    drop(server);
    let before = lab.run_files("first");
    lab.write(
        "new.yaml",
        lab.read("net.yaml").replace("same: {equals: {}}", "loose: {contains: {value: answer}}"),
    );
    // Neither the server nor the key is there any more.
    lab.run("score first new.yaml --run-dir second").exits(0);
    lab.run("verify second").exits(0);
    assert_eq!(lab.run_files("first"), before);
    let (old, new) = (lab.records("first"), lab.records("second"));
    assert_eq!(old.len(), new.len());
    for (old, new) in old.iter().zip(&new) {
        for field in ["record_id", "output", "status", "error", "usage", "response"] {
            assert_eq!(old[field], new[field], "{field}");
        }
        let right = new["output"].as_str().map(|text| text.contains("answer"));
        assert_eq!(new["scores"]["loose"].as_f64().map(|score| score == 1.0), right, "{new}");
    }
    let config = lab.read("second/config.resolved.yaml");
    assert!(
        config.contains("derived_from") && config.contains(old[0]["run_id"].as_str().unwrap()),
        "{config}"
    );
    assert_ne!(old[0]["run_id"], new[0]["run_id"]);
    lab.write("first/records.jsonl", lab.read("first/records.jsonl").replacen("no idea", "an idea", 1));
    lab.run("score first new.yaml --run-dir third").exits(7).says("`first` is not sound");
}

#[test]
fn doctor_asks_endpoints_and_shows_no_key() {
    let server = Server::start(|_, _| good());
    let lab = suite(&server, 1, "");
    let outcome =
        run(&lab, "doctor net.yaml").says("answered by `m-2024`").says(&format!("http://{}", server.address));
    assert!(!format!("{}{}", outcome.stdout, outcome.stderr).contains(CANARY));
    lab.run("doctor net.yaml").exits(9).says("`CANARY_KEY` is not set in the environment");
    drop(server);
    run(&lab, "doctor net.yaml").exits(9).says("cannot connect");
}
