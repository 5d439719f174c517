//! Keys: none in a suite, none in anything that is written or said, in whatever disguise an endpoint sends them back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::containment::dead::End;
use crate::lab::Lab;
use crate::servers::{Act, Server, completion};

const CANARY: &str = "canary/Key+0123456789abcdef";

fn suite(target: &str) -> String {
    format!(
        "kind: probe\nsuite_id: keys\ncases: [{{id: a, input: hello, expected: hello}}]\njudges: {{same: {{contains: {{}}}}}}\ntargets: {{t: {target}}}\n"
    )
}

/// Every file below the lab but the suites themselves, and everything that was said.
#[track_caller]
fn holds_nothing_of(lab: &Lab, said: &str, forms: &[String]) {
    let files = lab.snapshot();
    let written = files.iter().filter(|(path, _)| {
        path.extension().is_none_or(|ending| ending != "yaml" || path.starts_with("run"))
    });
    for (path, bytes) in written {
        let text = String::from_utf8_lossy(bytes);
        for form in forms {
            assert!(!text.contains(form.as_str()), "{form} is in {}", path.display());
        }
    }
    for form in forms {
        assert!(!said.contains(form.as_str()), "{form} was said: {said}");
    }
}

#[test]
fn literal_keys_in_addresses_and_bodies_are_refused_by_every_command() {
    let request =
        |request: &str| format!("{{http: {{url: 'http://127.0.0.1:9/x', request: {request}, answer: /a}}}}");
    let address = |query: &str| {
        format!("{{http: {{url: 'http://127.0.0.1:9/x?{query}', request: {{q: '{{input}}'}}, answer: /a}}}}")
    };
    let openai = |more: &str| format!("{{openai: {{model: m, base_url: 'http://127.0.0.1:9/v1', {more}}}}}");
    let targets = [
        address(&format!("api_key={CANARY}")),
        address(&format!("a=b&token={CANARY}")),
        address(&format!("key={CANARY}")),
        request(&format!("{{api_key: '{CANARY}', q: '{{input}}'}}")),
        request(&format!("{{auth: {{password: '{CANARY}'}}, q: '{{input}}'}}")),
        request(&format!("{{list: [{{access-token: '{CANARY}'}}], q: '{{input}}'}}")),
        openai(&format!("extra: {{secret: '{CANARY}'}}")),
        openai(&format!("extra: {{Authorization: '{CANARY}'}}")),
        openai(&format!("headers: {{x-api-key: '{CANARY}'}}")),
        format!("{{openai: {{model: m, base_url: 'http://127.0.0.1:9/v1?api-key={CANARY}'}}}}"),
        format!("{{anthropic: {{model: m, max_tokens: 5, extra: {{token: '{CANARY}'}}}}}}"),
        format!("{{ollama: {{model: m, options: {{api_key: '{CANARY}'}}}}}}"),
    ];
    for target in targets {
        let lab = Lab::new();
        lab.write("suite.yaml", suite(&target));
        for command in ["check suite.yaml", "plan suite.yaml", "run suite.yaml --run-dir run"] {
            let outcome = lab.run(command);
            assert_eq!(outcome.code, Some(3), "{command}: {target}\n{}{}", outcome.stdout, outcome.stderr);
            let said = outcome.stdout + &outcome.stderr;
            assert!(said.contains("holds a key") || said.contains("there is a key"), "{target}: {said}");
            assert!(said.contains("_env"), "the form with the environment is in the hint: {said}");
            holds_nothing_of(&lab, &said, &[CANARY.to_owned(), CANARY[..8].to_owned()]);
        }
        assert!(!lab.path("run").exists());
    }
}

/// What a program is started with is recorded, so it is no place for a key either.
#[test]
fn literal_keys_of_programs_are_refused_by_every_command() {
    let robustness = |target: &str| {
        format!(
            "kind: robustness\nsuite_id: keys\ncases: [{{id: a, instruction: hello}}]\ntargets: {{t: {{command: {target}}}}}\n"
        )
    };
    let containment = |agent: &str| {
        format!(
            "kind: containment\nsuite_id: keys\ncases: [{{id: a, prompt: hello, tools: [], expected: {{kind: benign}}}}]\n\
             targets: {{m: {{scripted: {{}}}}}}\nvariants: {{v: {{agent: {agent}, target: m}}}}\n"
        )
    };
    let suites = [
        robustness(&format!("{{argv: [tool, --api-key, '{CANARY}', '{{instruction}}']}}")),
        robustness(&format!("{{argv: [tool, '{{instruction}}'], env: {{FORGE_TOKEN: '{CANARY}'}}}}")),
        robustness(&format!("{{argv: [tool, '{{instruction}}'], debug_on: {{args: ['--token={CANARY}']}}}}")),
        robustness(&format!(
            "{{argv: [tool, '{{instruction}}'], version_command: [sh, -c, 'MY_KEY={CANARY} tool']}}"
        )),
        containment(&format!("{{argv: [agent, '{{prompt}}'], env: {{AGENT_API_KEY: '{CANARY}'}}}}")),
        containment(&format!("{{argv: [agent, '{{prompt}}', --password, '{CANARY}']}}")),
        suite(&format!("{{plugin: {{command: [python3, x.py, --secret, '{CANARY}']}}}}")),
        suite("{scripted: {}}")
            .replace("contains: {}", &format!("command: {{command: [judge, --api-key, '{CANARY}']}}")),
        suite("{scripted: {}}")
            .replace("contains: {}", &format!("plugin: {{command: [judge], env: {{MY_TOKEN: '{CANARY}'}}}}")),
    ];
    for suite in suites {
        let lab = Lab::new();
        lab.write("suite.yaml", &suite);
        for command in ["check suite.yaml", "plan suite.yaml", "run suite.yaml --run-dir run"] {
            let outcome = lab.run(command);
            assert_eq!(outcome.code, Some(3), "{command}: {suite}\n{}{}", outcome.stdout, outcome.stderr);
            let said = outcome.stdout + &outcome.stderr;
            assert!(said.contains("looks like a key") && said.contains("hint:"), "{suite}: {said}");
            holds_nothing_of(&lab, &said, &[CANARY.to_owned(), CANARY[..8].to_owned()]);
        }
        assert!(!lab.path("run").exists());
    }
}

#[test]
fn fields_that_only_sound_like_keys_are_none() {
    let lab = Lab::new();
    let target = "{http: {url: 'http://127.0.0.1:9/x?api-version=1&tokens=5', request: {max_tokens: 5, token: '{input}', tokenizer: bpe, password: ''}, answer: /a}}";
    lab.write("suite.yaml", suite(target));
    lab.run("check suite.yaml").exits(0);
}

/// Every disguise that must be found nowhere, and a text that has all of them.
fn disguises() -> (Vec<String>, String) {
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let entities = CANARY.replace('/', "&#47;").replace('+', "&#x2b;");
    let forms = vec![
        CANARY.to_owned(),
        STANDARD.encode(CANARY)[..30].to_owned(),
        STANDARD.encode(format!("Bearer {CANARY}"))[12..40].to_owned(),
        hex.clone(),
        hex.to_uppercase(),
        entities.clone(),
        CANARY.to_uppercase(),
        CANARY.to_lowercase(),
        CANARY.to_uppercase()[..12].to_owned(),
        CANARY[..12].to_owned(),
        CANARY[9..17].to_owned(),
        CANARY[CANARY.len() - 10..].to_owned(),
    ];
    let echo = format!(
        "hello {CANARY} {} {} {} {} {hex} {} {entities} {}… …{} …{}",
        CANARY.to_uppercase(),
        CANARY.to_lowercase(),
        STANDARD.encode(CANARY),
        STANDARD.encode(format!("Bearer {CANARY}")),
        hex.to_uppercase(),
        &CANARY[..12],
        &CANARY[9..17],
        &CANARY[CANARY.len() - 10..],
    );
    (forms, echo)
}

/// Runs commands with the key in the environment, whatever they exit with short of a panic; gives what they said.
fn said(lab: &Lab, commands: &[&str]) -> String {
    let said = commands.iter().map(|command| {
        let args: Vec<&str> = command.split_whitespace().collect();
        let mut child = lab.command_with_tools(&args);
        for name in ["CANARY_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"] {
            child.env(name, CANARY);
        }
        let outcome = lab.finish(&mut child);
        assert!(
            outcome.code.is_some_and(|code| code < 100),
            "{command}: {:?} {}",
            outcome.code,
            outcome.stderr
        );
        format!("{}{}", outcome.stdout, outcome.stderr)
    });
    said.collect()
}

/// The endpoint sends the key back in every disguise; nobody keeps or says any of them, nor a part of eight characters.
#[test]
fn echoes_in_any_disguise_are_taken_out_of_everything() {
    let (forms, answer) = disguises();
    let server = Server::start(move |_, before| match before % 2 {
        0 => Act::Json(200, completion(&answer)),
        _ => Act::Json(400, serde_json::json!({"error": {"message": answer}})),
    });
    let lab = Lab::new();
    let target = format!(
        "{{openai: {{model: m, base_url: '{}', api_key_env: CANARY_KEY, transport: {{max_attempts: 1}}}}}}",
        server.base()
    );
    lab.write("suite.yaml", suite(&target).replace("judges:", "repetitions: 2\njudges:"));
    let key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\n-----END PRIVATE KEY-----\n";
    lab.write("key.pem", key);
    // Every command that reads a suite or a run.
    let said = said(
        &lab,
        &[
            "check suite.yaml",
            "plan suite.yaml --trials",
            "doctor suite.yaml",
            "run suite.yaml --run-dir run --record tape --jobs 1 -vv",
            "run suite.yaml --run-dir again --replay tape -vv",
            "run suite.yaml --run-dir told --json --cache kept",
            "run suite.yaml --run-dir told2 --cache kept",
            "run suite.yaml --run-dir part --shard 0/2",
            "run suite.yaml --run-dir part --shard 1/2",
            "status part",
            "merge part",
            "run suite.yaml --run-dir again --resume --retry-errors",
            "run suite.yaml --run-dir again --overwrite",
            "verify run --rejudge",
            "verify run --suite suite.yaml --format json",
            "report run",
            "report run --format markdown",
            "report run --format json",
            "export run --format junit",
            "export run --format csv",
            "export run --format jsonl",
            "export run --format markdown",
            "diff run again",
            "diff run again --format json",
            "diff run again --format html",
            "diff run again --format github",
            "diff run again --format markdown",
            "compare run again",
            "score run suite.yaml --run-dir scored",
            "attest run --key key.pem",
            "bless run",
            "run suite.yaml --run-dir based --baseline",
            "trend",
            "recover run --rebuild",
        ],
    );
    assert!(lab.read("run/records.jsonl").contains("hello [redacted]"), "{}", lab.read("run/records.jsonl"));
    for kept in [
        "again/report.html",
        "scored/records.jsonl",
        "part/records.jsonl",
        "run.junit",
        "run.intoto.jsonl",
        "baselines",
    ] {
        assert!(lab.path(kept).exists(), "{kept}");
    }
    holds_nothing_of(&lab, &said, &forms);
}

/// The same of every target that is given a key, and of every kind whose models are endpoints.
#[test]
fn echoes_are_taken_out_whatever_the_target_and_the_kind() {
    let (forms, echo) = disguises();
    let answer = echo.clone();
    let server = Server::start(move |seen, _| {
        let call = Some(("fs_read", serde_json::json!({"path": answer, "list": [{"k": answer}]})));
        let (dialect, call) = match seen.path.as_str() {
            path if path.contains("/messages") => ("anthropic", call),
            path if path.contains("generateContent") => ("gemini", call),
            path if path.contains("/api/chat") => ("ollama", call),
            path if path.contains("/plain") => {
                return Act::Json(200, serde_json::json!({"a": answer, "b": {"c": answer}}));
            }
            _ => ("openai", call),
        };
        // Tools are called where they are on offer, and words are said in any case.
        let call = call.filter(|_| seen.raw.contains("fs_read") && !seen.raw.contains("[redacted"));
        Act::Json(200, crate::containment::dead::answer(dialect, Some(&answer), call, End::Done))
    });
    let base = format!("http://{}", server.address);
    let more = "transport: {max_attempts: 1}";
    let targets = format!(
        "targets:\n  openai: {{openai: {{model: m, base_url: '{base}/v1', api_key_env: CANARY_KEY, {more}}}}}\n  \
         anthropic: {{anthropic: {{model: m, max_tokens: 5, base_url: '{base}', {more}}}}}\n  \
         gemini: {{gemini: {{model: m, base_url: '{base}', {more}}}}}\n  \
         ollama: {{ollama: {{model: m, base_url: '{base}', headers_env: {{authorization: CANARY_KEY}}, {more}}}}}\n"
    );
    let http = format!(
        "  http: {{http: {{url: '{base}/plain', request: {{q: '{{input}}'}}, answer: /a, headers_env: {{x-token: CANARY_KEY}}, {more}}}}}\n"
    );
    let lab = Lab::new();
    let cases = "cases: [{id: a, input: hello}]\njudges: {some: {contains: {value: hello}}}\n";
    lab.write("probe.yaml", format!("kind: probe\nsuite_id: p\n{cases}{targets}{http}"));
    let variants = ["openai", "anthropic", "gemini", "ollama"].map(|name| {
        format!("  {name}: {{target: {name}, protocol: native}}\n  {name}-json: {{target: {name}}}\n")
    });
    lab.write(
        "containment.yaml",
        format!(
            "kind: containment\nsuite_id: c\ncanaries: off\npolicy: {{allowed: [fs_read]}}\n\
             cases: [{{case_id: a, prompt: read it, expected_outcome: allowed, expected_tools: [fs_read]}}]\n\
             variants:\n{}{targets}",
            variants.concat()
        ),
    );
    let problem = serde_json::json!({"task_id": "one", "prompt": "def f():\n", "entry_point": "f",
        "test": "def check(f):\n    assert f() == 1\n"});
    lab.write("p.jsonl", format!("{problem}\n"));
    lab.write(
        "code.yaml",
        format!("kind: code\nsuite_id: k\nlanguage: python\nproblems: p.jsonl\n{targets}"),
    );
    let mut told = String::new();
    for kind in ["probe", "containment", "code"] {
        told += &said(
            &lab,
            &[
                &format!("run {kind}.yaml --run-dir run-{kind} --record tape-{kind} --no-cache -vv"),
                &format!("run {kind}.yaml --run-dir run-{kind}-again --replay tape-{kind} --no-cache"),
                &format!("verify run-{kind} --rejudge --suite {kind}.yaml"),
                &format!("export run-{kind} --format junit"),
            ],
        );
        let records = lab.records(&format!("run-{kind}"));
        let answered = records.iter().filter(|record| record.to_string().contains("[redacted]")).count();
        assert_eq!(answered, records.len(), "{kind}: every target sent the key back: {records:#?}");
        lab.run(&format!("verify run-{kind}")).exits(0);
    }
    assert!(server.seen().iter().all(|seen| seen.head.contains(CANARY)), "the key was sent to every one");
    holds_nothing_of(&lab, &told, &forms);
}
