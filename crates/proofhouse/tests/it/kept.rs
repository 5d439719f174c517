//! Answers that are kept: the answer cache, what tokens and time they took, and judging them again.

use serde_json::{Value, json};

use super::lab::Lab;
use super::servers::{Act, Server, completion};

/// Three prompts × two models × 100 cases on one server.
fn matrix(lab: &Lab, server: &Server, careful: &str) {
    let rows: String =
        (0..100).map(|n| format!("{{\"id\":\"c{n}\",\"q\":\"{n}\",\"expected\":\"{n}\"}}\n")).collect();
    lab.write("rows.jsonl", rows);
    lab.write(
        "m.yaml",
        format!(
            "kind: probe\nsuite_id: m\ncache: true\nseed: 5\ndatasets: [rows.jsonl]\njudges: {{has: {{contains: {{}}}}}}\n\
             prompts:\n  terse: 'Number {{{{ q }}}}'\n  careful: '{careful} {{{{ q }}}}'\n  \
             chat: {{messages: [{{role: system, content: Be brief.}}, {{role: user, content: '{{{{ q }}}}'}}]}}\n\
             targets:\n  small: {{openai: {{model: s, base_url: '{0}'}}}}\n  large: {{openai: {{model: l, base_url: '{0}', temperature: 0}}}}\n",
            server.base()
        ),
    );
}

fn echoing() -> Server {
    Server::start(|seen, _| {
        let messages = seen.body["messages"].as_array().unwrap();
        let text = messages.last().unwrap()["content"].as_str().unwrap();
        Act::Json(200, completion(&format!("{} says {text}", seen.body["model"].as_str().unwrap())))
    })
}

#[test]
fn an_edited_prompt_asks_exactly_the_cells_that_changed() {
    let (server, lab) = (echoing(), Lab::new());
    let run = |args: &str| {
        let args: Vec<&str> = args.split_whitespace().collect();
        lab.finish(lab.command(&args).env("XDG_CACHE_HOME", lab.path("cache")))
    };
    matrix(&lab, &server, "Think about");
    run("run m.yaml --run-dir one").exits(0).says("cache: 0 of 600 answers came from");
    assert_eq!(server.seen().len(), 600);
    run("run m.yaml --run-dir two").exits(0).says("cache: 600 of 600 answers came from");
    assert_eq!(server.seen().len(), 600, "nothing was asked again");
    matrix(&lab, &server, "Ponder");
    run("run m.yaml --run-dir three --jobs 32").exits(0).says("cache: 400 of 600 answers came from");
    assert_eq!(server.seen().len(), 800, "one prompt of three changed, on two models and 100 cases");
    assert!(
        server.seen()[600..]
            .iter()
            .all(|seen| seen.body["messages"][0]["content"].as_str().unwrap().starts_with("Ponder"))
    );
    // The bytes of a run do not tell where its answers came from.
    run("run m.yaml --run-dir without --no-cache").exits(0);
    assert_eq!(server.seen().len(), 1400);
    assert_eq!(lab.run_files("three"), lab.run_files("without"));
    assert!(lab.read("three.telemetry.jsonl").contains("\"cached\":true"), "hits are recorded");
    run("verify three").exits(0);
    // Another suite with the same questions asks nothing.
    lab.write("other.yaml", lab.read("m.yaml").replace("suite_id: m", "suite_id: other"));
    run("run other.yaml --run-dir other").exits(0).says("cache: 600 of 600");
}

#[test]
fn runs_at_the_same_time_share_a_cache() {
    let (server, lab) = (echoing(), Lab::new());
    matrix(&lab, &server, "Think about");
    let run = |dir: &str| lab.start(&format!("run m.yaml --run-dir {dir} --cache answers --jobs 8"));
    let mut runs = [run("a"), run("b"), run("c")];
    for run in &mut runs {
        assert!(run.wait().unwrap().success());
    }
    assert_eq!(lab.run_files("a"), lab.run_files("b"));
    assert_eq!(lab.run_files("a"), lab.run_files("c"));
    let asked = server.seen().len();
    assert!((600..=1800).contains(&asked), "{asked}");
    lab.run("run m.yaml --run-dir d --cache answers")
        .exits(0)
        .says("cache: 600 of 600 answers came from `answers`");
    assert_eq!(server.seen().len(), asked);
    assert_eq!(lab.run_files("a"), lab.run_files("d"));
}

#[test]
fn what_is_wrong_is_never_kept() {
    let server = Server::start(|_, before| match before {
        0 => Act::Json(400, json!({"error": {"message": "no"}})),
        _ => Act::Json(200, completion("yes")),
    });
    let lab = Lab::new();
    lab.write(
        "s.yaml",
        format!("kind: probe\nsuite_id: s\njudges: {{same: {{equals: {{}}}}}}\ncases: [{{input: a, expected: yes please}}]\ntargets: {{m: {{openai: {{model: m, base_url: '{}'}}}}}}\n", server.base()),
    );
    lab.run("run s.yaml --run-dir one --cache answers").exits(9);
    lab.run("run s.yaml --run-dir two --cache answers").exits(0).says("cache: 0 of 1 answer came");
    lab.run("run s.yaml --run-dir three --cache answers").exits(0).says("cache: 1 of 1 answer came");
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn tokens_cost_and_latency_are_said_and_canonical_files_stay_canonical() {
    let (server, lab) = (echoing(), Lab::new());
    matrix(&lab, &server, "Think about");
    lab.write("prices.yaml", "s: {input: 0.15, output: 0.6}\nl: {input: 3, output: 15}\n");
    let shown = lab.run("run m.yaml --run-dir run --no-cache --prices prices.yaml").exits(0);
    for part in ["Input tokens", "1,000 trials", "p50", "p95", "small/terse", "large/chat"] {
        assert!(shown.said().contains(part), "{part}: {}", shown.said());
    }
    let summary = lab.json("run/summary.json");
    let slot = |name: &str| {
        summary["slots"].as_array().unwrap().iter().find(|slot| slot["slot"] == name).unwrap().clone()
    };
    assert_eq!(slot("large/terse")["usage"]["input_tokens"], 1100);
    let cost = slot("large/terse")["usage"]["cost_usd"].as_f64().unwrap();
    assert!((cost - (1100.0 * 3.0 + 300.0 * 15.0) / 1e6).abs() < 1e-12, "{cost}");
    let manifest = lab.json("run/manifest.json");
    assert_eq!(manifest["prices"]["slots"]["small/chat"], json!({"input": 0.15, "output": 0.6}));
    assert!(manifest["prices"]["sha256"].as_str().unwrap().starts_with("sha256:"));
    for (format, name) in
        [("markdown", "Latency"), ("json", "Latency"), ("text", "p95"), ("markdown", "Tokens and cost")]
    {
        lab.run(&format!("report run --format {format}")).exits(0).says(name);
    }
    let page = lab.read("run/report.html");
    assert!(
        page.contains("Tokens and cost") && !page.contains("p95"),
        "what was measured is no part of the run"
    );
    lab.run("report run --timing").exits(0).says("timing: run.timing.html");
    let timed = lab.read("run.timing.html");
    assert!(
        timed.contains("p95") && timed.contains("id=\"latency\">[[0,"),
        "of each target and of each answer"
    );
    assert!(!page.contains("id=\"latency\""));
    assert_eq!(lab.read("run/report.html"), page);
    lab.run("verify run").exits(0);
    // Prices change no record and no run id, and the same answers give the same bytes.
    lab.run("run m.yaml --run-dir again --no-cache --prices prices.yaml --jobs 3").exits(0);
    assert_eq!(lab.run_files("again"), lab.run_files("run"));
    lab.run("run m.yaml --run-dir free --no-cache").exits(0);
    assert_eq!(lab.read("free/records.jsonl"), lab.read("run/records.jsonl"));
    // A manifest that names other prices is found out.
    lab.write("run/manifest.json", lab.read("run/manifest.json").replace("0.15", "0.16"));
    lab.run("verify run").exits(7).says("`prices` is not what config.resolved.yaml says");
}

#[test]
fn answers_are_judged_again_as_they_were_asked_and_given() {
    let lab = Lab::new();
    let suite = |prompt: &str, judge: &str| {
        lab.write(
            "s.yaml",
            format!("kind: probe\nsuite_id: s\nprompt: '{prompt}'\ncases: [{{id: a, q: one, expected: one}}, {{id: b, q: two, expected: zwei}}]\njudges: {{j: {judge}}}\ntargets: {{echo: {{scripted: {{otherwise: {{reply: '{{input}}'}}}}}}}}\n"),
        );
    };
    suite("Say {{ q }}", "{equals: {}}");
    lab.run("run s.yaml --run-dir run").exits(0);
    suite("Say {{ q }}", "{contains: {}}");
    lab.run("score run s.yaml --run-dir again").exits(0);
    let passed =
        |run: &str| lab.records(run).iter().map(|record| record["passed"].clone()).collect::<Vec<Value>>();
    assert_eq!(passed("run"), [json!(false), json!(false)]);
    assert_eq!(passed("again"), [json!(true), json!(false)]);
    let config = lab.read("again/config.resolved.yaml");
    assert!(config.contains("derived_from") && config.contains("records_sha256"), "{config}");
    // A suite that asks something else is not what was answered.
    suite("Please say {{ q }}", "{contains: {}}");
    lab.run("score run s.yaml --run-dir other")
        .exits(11)
        .says("case `a` asks something else than what was answered, and in 1 more trials");
    assert!(!lab.path("other").exists());
    lab.run("score run s.yaml --run-dir other --only-judges").exits(0);
    assert_eq!(lab.records("other")[0]["input"], "Say one", "what the model got is what is recorded");
    lab.run("verify other").exits(0);
    lab.write("s.yaml", lab.read("s.yaml").replace("reply: '{input}'", "reply: never"));
    lab.run("score run s.yaml --run-dir another").exits(11).says("`echo` is another target now");
    // Records that were altered are not judged.
    let whole = lab.read("run/records.jsonl");
    lab.write("run/records.jsonl", whole.replace("Say one", "Say ten"));
    lab.run("score run s.yaml --run-dir forged --only-judges").exits(7);
    assert!(!lab.path("forged").exists());
}
