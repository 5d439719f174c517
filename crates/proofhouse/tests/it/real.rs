//! Endpoints that we did not write: a real model behind llama.cpp, and LiteLLM's proxy. `./test` installs both.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use proofhouse::family::target::{Chat, Opening, Outcome, Reply, Target, TargetConfig, Tool};
use serde_json::json;

use super::lab::{Lab, kept, variable};

/// Set by `./test` when the servers were installed: then they have to work.
const REQUIRED: &str = "PROOFHOUSE_REQUIRE_SERVERS";

pub(crate) struct Served {
    child: Child,
    pub(crate) base: String,
}

impl Served {
    /// Starts a server by the project's own script; none, with a message, where it is not installed.
    pub(crate) fn start(tool: &str) -> Option<Served> {
        Served::doing(tool, "serve")
    }

    /// The same for another thing that the script can serve.
    pub(crate) fn doing(tool: &str, what: &str) -> Option<Served> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let required = variable(REQUIRED).is_some();
        if !required && !kept(tool).join("ready").exists() {
            eprintln!("left out: `tools/{tool} install` has not been run");
            return None;
        }
        #[expect(clippy::disallowed_methods, reason = "tests start what a user would start")]
        let mut command = Command::new(root.join("tools").join(tool));
        command.arg(what).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let mut base = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut base).unwrap();
        assert!(base.starts_with("http://127.0.0.1:"), "`tools/{tool} {what}` said {base:?}");
        Some(Served { child, base: base.trim().to_owned() })
    }

    fn target(&self, settings: &str) -> Target {
        let yaml = format!("openai: {{base_url: '{}', {settings}}}", self.base);
        let config: TargetConfig = serde_saphyr::from_str(&yaml).unwrap();
        assert_eq!(config.check(), []);
        let opening = Opening { timeout: Duration::from_secs(100), ..Opening::default() };
        config.open("slot", &opening).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // The script ends its server when it is told to end.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

fn ask(target: &Target, chat: &Chat) -> Reply {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(target.chat(chat))
}

fn weather(question: &str) -> Chat {
    let parameters =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tool = Tool {
        name: "weather".into(),
        description: "The weather in a city.".into(),
        parameters: serde_json::from_value(parameters).unwrap(),
    };
    Chat { tools: vec![tool], ..Chat::ask(question, 7, 0) }
}

#[test]
fn a_real_model_is_asked_recorded_and_replayed() {
    let Some(server) = Served::start("smollm2") else { return };
    let lab = Lab::new();
    lab.write(
        "geo.yaml",
        format!(
            "kind: probe\nsuite_id: smollm2\ntimeout_ms: 120000\nprompt: 'Answer with one word. {{input}}'\n\
             targets:\n  small: {{openai: {{model: smollm2-135m-instruct, base_url: '{}', temperature: 0, max_tokens: 10}}}}\n\
             judges: {{names: {{contains: {{ignore_case: true}}}}}}\n\
             cases:\n  - {{id: france, input: 'What is the capital of France?', expected: Paris}}\n  \
             - {{id: italy, input: 'What is the capital of Italy?', expected: Rome}}\n  \
             - {{id: sum, input: 'What is 17 times 23?', expected: '391'}}\n",
            server.base
        ),
    );
    lab.run("run geo.yaml --run-dir live --record tape --jobs 2").exits(0);
    let records = lab.records("live");
    assert_eq!(records.len(), 3);
    for record in &records {
        assert_eq!(record["status"], "success", "{record}");
        assert_eq!(record["response"]["model"], "smollm2-135m-instruct");
        assert!(record["usage"]["output_tokens"].as_u64().unwrap() <= 10, "{record}");
        assert!(record["usage"]["input_tokens"].as_u64().unwrap() > 10, "{record}");
    }
    // It is a weak model, and the records say so: it cannot multiply.
    assert_eq!(records[2]["passed"], false, "{}", records[2]);

    let small = |more: &str| server.target(&format!("model: smollm2-135m-instruct, {more}"));
    let question = Chat::ask("Count from one to twenty.", 7, 0);
    let cut = ask(&small("temperature: 0, max_tokens: 3"), &question);
    assert_eq!((&cut.outcome, cut.finish_reason.as_deref()), (&Outcome::Length, Some("length")));
    let stopped = ask(&small("temperature: 0, max_tokens: 12, stop: [' ', ',', '.', \"\\n\"]"), &question);
    assert_eq!(stopped.finish_reason.as_deref(), Some("stop"), "{stopped:?}");
    let seeded = small("temperature: 1, max_tokens: 8");
    assert_eq!(ask(&seeded, &question).output, ask(&seeded, &question).output, "the same seed says the same");
    let tools = ask(&small("temperature: 0, max_tokens: 16"), &weather("What is the weather in Paris?"));
    assert_eq!(tools.outcome.status(), "success", "a request with tools is understood: {tools:?}");
    let wrong = ask(&small("extra: {grammar: 'root ::= ('}, transport: {max_attempts: 1}"), &question);
    assert!(wrong.outcome.explained().0.unwrap().starts_with("http_"), "{wrong:?}");

    write_code(&lab, &server.base);
    lab.tools("run code.yaml --run-dir code --record tape --no-cache").exits(0).says("pass@2");
    let records = lab.records("code");
    assert_eq!(records.len(), 4);
    assert!(
        records.iter().all(|record| record["status"] == "success" && record["passed"].is_boolean()),
        "{records:?}"
    );

    write_rewritten(&lab, &server.base);
    lab.tools("run rewritten.yaml --run-dir rewritten --record tape --no-cache")
        .exits(0)
        .says("asked for 4 variants");
    let refused = |record: &serde_json::Value| record["error_type"] == "ai_generation_failure";
    let rewritten = lab.records("rewritten");
    assert!(rewritten.iter().any(refused), "so small a model breaks the rules of rewriting: {rewritten:?}");

    write_contained(&lab, &server.base);
    let first = lab.run("run contained.yaml --lane 1 --run-dir lane1 --record tape");
    let second = lab.run("run contained.yaml --lane 2 --limit 2 --run-dir lane2 --record tape");
    // Whether it can be read is the model's business; that it never counts as safe where it cannot is ours.
    let summary = lab.json("lane2/summary.json");
    for variant in summary["containment"]["variants"].as_array().unwrap() {
        let rate = &variant["attack_success_rate"];
        assert_eq!(rate["denominator"] == 0, rate["value"].is_null(), "{variant}");
    }
    assert!(
        matches!(first.code, Some(0 | 4 | 9)) && matches!(second.code, Some(0 | 4 | 9)),
        "{}",
        second.stderr
    );

    drop(server);
    std::fs::remove_file(lab.path("rewritten.variants.jsonl")).unwrap();
    lab.tools("run rewritten.yaml --run-dir rewritten-again --replay tape --no-cache").exits(0);
    assert_eq!(lab.run_files("rewritten-again"), lab.run_files("rewritten"));
    assert_eq!(lab.run("run contained.yaml --lane 1 --run-dir lane1-again --replay tape").code, first.code);
    assert_eq!(lab.run_files("lane1-again"), lab.run_files("lane1"));
    assert_eq!(
        lab.run("run contained.yaml --lane 2 --limit 2 --run-dir lane2-again --replay tape").code,
        second.code
    );
    assert_eq!(lab.run_files("lane2-again"), lab.run_files("lane2"));
    lab.run("run geo.yaml --run-dir again --replay tape --jobs 1").exits(0);
    assert_eq!(lab.run_files("again"), lab.run_files("live"));
    lab.tools("run code.yaml --run-dir code-again --replay tape --jobs 1 --no-cache").exits(0);
    assert_eq!(lab.run_files("code-again"), lab.run_files("code"));
}

/// A code suite of two tasks with two samples each.
fn write_code(lab: &Lab, base: &str) {
    let task = |name: &str, what: &str, test: &str| {
        let prompt = format!("def {name}:\n    \"\"\"{what}\"\"\"\n");
        let entry = name.split('(').next().unwrap();
        json!({"task_id": entry, "prompt": prompt, "entry_point": entry,
               "test": format!("def check(candidate):\n    assert {test}\n")})
    };
    let sum = task("add(a, b)", "Return the sum of a and b.", "candidate(1, 2) == 3");
    let reversed = task("rev(s)", "Return the string s reversed.", "candidate('abc') == 'cba'");
    lab.write("tasks.jsonl", format!("{sum}\n{reversed}\n"));
    lab.write(
        "code.yaml",
        format!(
            "kind: code\nsuite_id: smollm2-code\nlanguage: python\nproblems: tasks.jsonl\ntimeout_ms: 120000\nk: [1, 2]\n\
             samples_per_task: 2\ntargets:\n  small: {{openai: {{model: smollm2-135m-instruct, base_url: '{base}', \
             temperature: 0.6, max_tokens: 40}}}}\n"
        ),
    );
}

/// A robustness suite whose variants the model writes, one of each generator.
fn write_rewritten(lab: &Lab, base: &str) {
    lab.write(
        "rewritten.yaml",
        format!(
            "kind: robustness\nsuite_id: rewritten\npolicy: fixed\nruns: 2\nruns_per_variant: 1\ntimeout_seconds: 120\nrewriter:\n  max_attempts: 2\n  \
             target: {{openai: {{model: smollm2-135m-instruct, base_url: '{base}', temperature: 0.7, max_tokens: 24}}}}\n\
             targets:\n  echo: {{command: {{argv: [echo, '{{instruction}}'], outcome: [{{stdout: cache, success: true}}]}}}}\n\
             cases:\n  - id: cache\n    instruction: Design a simple in-memory cache with get and set operations.\n    variants:\n      \
             - {{generator: ai_rewrite, params: {{styles: [concise_directive]}}, count: 1}}\n      \
             - {{generator: ai_rephrase_with_focus_shift, params: {{focus_values: [simplicity]}}, count: 1}}\n      \
             - {{generator: ai_semantic_restatement, count: 1}}\n      \
             - {{generator: ai_register_shift, params: {{registers: [planner_voice]}}, count: 1}}\n"
        ),
    );
}

/// A containment suite with the model as the agent, without and with the gate.
fn write_contained(lab: &Lab, base: &str) {
    lab.run("init containment shipped").exits(0);
    lab.write("attacks.jsonl", lab.read("shipped/attacks.jsonl"));
    lab.write(
        "contained.yaml",
        format!(
            "kind: containment\nsuite_id: contained\ntimeout_ms: 120000\ndatasets: [attacks.jsonl]\nvariants:\n  naive: {{}}\n  \
             naive_llm: {{target: small}}\n  calyx_llm: {{target: small}}\ntargets:\n  \
             small: {{openai: {{model: smollm2-135m-instruct, base_url: '{base}', temperature: 0, max_tokens: 24}}}}\n"
        ),
    );
}

#[test]
fn litellm_is_understood() {
    let Some(server) = Served::start("litellm") else { return };
    let said = |model: &str, chat: &Chat| {
        ask(&server.target(&format!("model: {model}, transport: {{max_attempts: 2, backoff_ms: 50}}")), chat)
    };
    let chat = Chat::ask("What is the capital of France?", 7, 0);
    let paris = said("paris", &chat);
    assert_eq!(
        (&paris.outcome, paris.output),
        (&Outcome::Answered, Some("Paris is the capital of France.".into()))
    );
    assert_eq!(paris.model.as_deref(), Some("paris"));
    assert!(paris.usage.unwrap().get("output_tokens").is_some());
    let limited = said("limited", &chat);
    assert!(
        matches!(limited.outcome, Outcome::RateLimited { .. }) && limited.attempts.len() == 2,
        "{limited:?}"
    );
    let broken = said("broken", &chat);
    assert_eq!((broken.outcome.explained().0, broken.attempts.len()), (Some("http_500"), 2), "{broken:?}");
    let caller = said("caller", &weather("What is the weather in Paris?"));
    assert_eq!(
        (caller.calls[0].name.as_str(), caller.calls[0].args.to_string()),
        ("weather", r#"{"city":"Paris"}"#.into())
    );
    let nobody = said("nobody", &chat);
    assert_eq!((nobody.outcome.explained().0, nobody.attempts.len()), (Some("http_400"), 1));
    assert!(nobody.outcome.explained().1.unwrap().contains("Invalid model name"), "{nobody:?}");
}

#[test]
fn the_example_of_a_plugin_runs() {
    let lab = Lab::new();
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    for name in ["plugin.yaml", "plugin.py"] {
        lab.write(name, std::fs::read(suites.join(name)).unwrap());
    }
    let path = variable("PATH").unwrap();
    lab.finish(lab.command(&["run", "plugin.yaml", "--run-dir", "live"]).env("PATH", path)).exits(0);
    let records = lab.records("live");
    let passed: Vec<_> = records.iter().map(|record| record["passed"].as_bool()).collect();
    assert_eq!(passed, [Some(true), Some(true), Some(false), None]);
    assert_eq!(records[3]["error_type"], "refused");
    assert_eq!(records[3]["judge"]["named"], "the case expects nothing in particular");
}

#[test]
fn the_example_of_a_service_runs() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    #[expect(clippy::disallowed_methods, reason = "tests start what a user would start")]
    let mut command = Command::new("python3");
    let mut child = command.arg(suites.join("service.py")).stdout(Stdio::piped()).spawn().unwrap();
    let mut base = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut base).unwrap();
    let service = Served { child, base: base.trim().to_owned() };
    let lab = Lab::new();
    let suite = std::fs::read_to_string(suites.join("service.yaml")).unwrap();
    lab.write("service.yaml", suite.replace("http://127.0.0.1:9000", &service.base));
    lab.run("run service.yaml --run-dir live").exits(0);
    let records = lab.records("live");
    assert_eq!(
        (&records[0]["output"], &records[0]["usage"]),
        (&json!("4 words"), &json!({"output_tokens": 4}))
    );
    assert_eq!(records[1]["error"], "an error inside a success: there is no question");
}
