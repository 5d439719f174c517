//! `-v` says what is done and changes nothing, and manual pages say what the help says.

use super::lab::{Lab, Outcome};
use super::servers::{Act, Server, completion};
use super::targets::CANARY;

fn suite(server: &Server) -> Lab {
    let lab = Lab::new();
    lab.write("cases.jsonl", "{\"id\":\"a\",\"input\":\"question\",\"expected\":\"answer\"}\n");
    lab.write(
        "net.yaml",
        format!(
            "kind: probe\nsuite_id: net\ntimeout_ms: 5000\ndatasets: [{{path: cases.jsonl}}]\njudges: {{same: {{equals: {{}}}}}}\n\
             targets:\n  model: {{openai: {{model: m, base_url: '{}', api_key_env: CANARY_KEY, transport: {{backoff_ms: 20}}}}}}\n",
            server.base()
        ),
    );
    lab
}

fn run(lab: &Lab, args: &str) -> Outcome {
    let args: Vec<&str> = args.split_whitespace().collect();
    lab.finish(lab.command(&args).env("CANARY_KEY", CANARY))
}

#[test]
fn requests_are_told_with_their_status_and_without_the_key() {
    let busy = |before: usize| before == 0;
    let server = Server::start(move |_, before| match busy(before) {
        true => {
            Act::Json(503, serde_json::json!({"error": {"message": format!("busy\u{1b}[31m, {CANARY}")}}))
        }
        false => Act::Json(200, completion("answer")),
    });
    let lab = suite(&server);
    let told = run(&lab, "run net.yaml --run-dir a -v --record tape").exits(0);
    let requests: Vec<&str> = told.stderr.lines().filter(|line| line.contains(" request ")).collect();
    assert_eq!(requests.len(), 2, "{}", told.stderr);
    assert!(requests[0].contains("number=1 http_status=503 result=http_503 elapsed_ms="), "{requests:?}");
    assert!(requests[1].contains("number=2 http_status=200 result=answered elapsed_ms="), "{requests:?}");
    assert!(requests[0].contains("host=127.0.0.1 path=/v1/chat/completions"), "{requests:?}");
    assert!(told.stderr.contains("run opened dir=a going_on=false"), "{}", told.stderr);
    assert!(!told.stderr.contains(CANARY) && !told.stderr.contains('\u{1b}'), "{}", told.stderr);
    assert!(!told.stdout.contains("request "), "data stays data: {}", told.stdout);
    // Without the flag nothing is told, and no byte of the run differs.
    let silent = run(&lab, "run net.yaml --run-dir b --replay tape").exits(0);
    assert!(!silent.stderr.contains("run opened"), "{}", silent.stderr);
    assert_eq!(lab.run_files("a"), lab.run_files("b"));
}

#[test]
fn what_a_resumed_run_goes_on_with_is_told() {
    let lab = Lab::new();
    lab.small_suite();
    lab.run("run small.yaml --run-dir run").exits(0);
    lab.run("run small.yaml --run-dir run --resume --retry-errors -vv")
        .exits(0)
        .says("run opened dir=./.run.proofhouse-next going_on=false replace=true recorded=0 torn_bytes=0 takes_over=true");
    lab.run("run small.yaml --run-dir run --resume -v -q").exits(2).says("cannot be used with");
}

#[test]
fn boxes_are_told_when_asked_twice() {
    let lab = Lab::new();
    lab.write("cases.jsonl", "{\"id\":\"a\",\"input\":\"x\",\"expected\":\"x\"}\n");
    lab.write(
        "box.yaml",
        "kind: probe\nsuite_id: box\ndatasets: [{path: cases.jsonl}]\njudges: {own: {command: {command: [/bin/true]}}}\n\
         targets: {echo: {scripted: {otherwise: {reply: '{input}'}}}}\n",
    );
    let once = lab.run("run box.yaml --run-dir once -v");
    let twice = lab.run("run box.yaml --run-dir twice -vv");
    assert!(!once.stderr.contains("box of a judge"), "{}", once.stderr);
    assert!(twice.stderr.contains("box of a judge status="), "{}", twice.stderr);
}

#[test]
fn every_command_has_a_manual_page() {
    let lab = Lab::new();
    lab.run("man --out pages").exits(0).says("manual pages are in `pages`");
    let pages = lab.run_files("pages");
    let names: Vec<String> = pages.keys().map(|path| path.display().to_string()).collect();
    for name in ["proofhouse.1", "proofhouse-run.1", "proofhouse-verify.1", "proofhouse-man.1"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let help = lab.run("--help").exits(0).stdout;
    let commands = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|word| !word.is_empty() && *word != "help")
        .collect();
    assert_eq!(names.len(), commands.len() + 1, "{names:?} for {commands:?}");
    let run = lab.read("pages/proofhouse-run.1");
    assert!(run.contains(".TH proofhouse-run 1") && run.contains("\\-\\-retry\\-errors"), "{run}");
    assert_eq!(lab.run("man").exits(0).stdout, lab.read("pages/proofhouse.1"));
}

#[test]
fn vary_takes_a_generator_by_its_name() {
    let lab = Lab::new();
    let mut command = lab.command(&["vary", "whitespace_noise", "--instruction", "Sort the list of names."]);
    lab.finish(&mut command).exits(0).says("Sort");
}
