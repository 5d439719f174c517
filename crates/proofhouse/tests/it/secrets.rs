//! Keys: none in a suite, none in anything that is written or said, in whatever disguise an endpoint sends them back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

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

#[test]
fn fields_that_only_sound_like_keys_are_none() {
    let lab = Lab::new();
    let target = "{http: {url: 'http://127.0.0.1:9/x?api-version=1&tokens=5', request: {max_tokens: 5, token: '{input}', tokenizer: bpe, password: ''}, answer: /a}}";
    lab.write("suite.yaml", suite(target));
    lab.run("check suite.yaml").exits(0);
}

/// The endpoint sends the key back in every disguise; nobody keeps or says any of them, nor a part of eight characters.
#[test]
fn echoes_in_any_disguise_are_taken_out_of_everything() {
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let entities = CANARY.replace('/', "&#47;").replace('+', "&#x2b;");
    let forms = vec![
        CANARY.to_owned(),
        STANDARD.encode(CANARY)[..30].to_owned(),
        STANDARD.encode(format!("Bearer {CANARY}"))[12..40].to_owned(),
        hex.clone(),
        hex.to_uppercase(),
        entities.clone(),
        CANARY[..12].to_owned(),
        CANARY[9..17].to_owned(),
        CANARY[CANARY.len() - 10..].to_owned(),
    ];
    let echo = format!(
        "hello {CANARY} {} {} {hex} {} {entities} {}… …{} …{}",
        STANDARD.encode(CANARY),
        STANDARD.encode(format!("Bearer {CANARY}")),
        hex.to_uppercase(),
        &CANARY[..12],
        &CANARY[9..17],
        &CANARY[CANARY.len() - 10..],
    );
    let answer = echo.clone();
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
    let mut said = String::new();
    for command in [
        "run suite.yaml --run-dir run --record tape --jobs 1 -vv",
        "run suite.yaml --run-dir again --replay tape -vv",
        "verify run --rejudge",
        "report run",
        "report run --markdown",
        "export run --format junit",
        "diff run again",
        "score run suite.yaml --run-dir scored",
        "verify run --suite suite.yaml",
        "check suite.yaml",
        "plan suite.yaml",
        "recover run --rebuild",
    ] {
        let args: Vec<&str> = command.split_whitespace().collect();
        let outcome = lab.finish(lab.command(&args).env("CANARY_KEY", CANARY));
        assert!(
            matches!(outcome.code, Some(0 | 4 | 5 | 9)),
            "{command}: {:?} {}",
            outcome.code,
            outcome.stderr
        );
        said += &outcome.stdout;
        said += &outcome.stderr;
    }
    assert!(lab.read("run/records.jsonl").contains("hello [redacted]"), "{}", lab.read("run/records.jsonl"));
    holds_nothing_of(&lab, &said, &forms);
}
