//! Black-box tools: what reaches them, what they may do, and how they are read.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use camino::Utf8Path;
use proofhouse::target::Command;
use proofhouse::target::command::{Invocation, Opening, Tool, WorkFile};
use proofhouse_ledger::record::{FailureStage, Termination};
use proofhouse_sandbox::{Helper, Options, Sandbox};

fn sandbox() -> Arc<Sandbox> {
    static SANDBOX: OnceLock<Arc<Sandbox>> = OnceLock::new();
    let open = || {
        let mut options = Options::new(std::env::temp_dir());
        options.helper = Helper::At(env!("CARGO_BIN_EXE_proofhouse").into());
        Arc::new(Sandbox::open(options).expect("a sandbox"))
    };
    SANDBOX.get_or_init(open).clone()
}

fn tool_with(settings: &str, debug_enabled: bool, files: Vec<WorkFile>) -> Tool {
    let command: Command = serde_saphyr::from_str(settings).unwrap();
    assert_eq!(command.check(), []);
    let opening = Opening {
        sandbox: sandbox(),
        scratch: std::env::temp_dir(),
        base: Utf8Path::new("/"),
        files,
        debug_enabled,
        repair_enabled: true,
        environment: &|name| (name == "TOKEN").then(|| "secret".to_owned()),
    };
    Tool::new(&command, opening).unwrap()
}

fn tool(settings: &str) -> Tool {
    tool_with(settings, false, Vec::new())
}

/// A tool that is a shell script with the instruction as `$1`.
fn script(text: &str) -> Tool {
    let text = serde_json::to_string(text).unwrap();
    tool(&format!(
        "argv: [sh, -c, {text}, tool, '{{instruction}}']\noutcome: [{{stdout: '(?m)^done', success: true}}]\n"
    ))
}

const DEADLINE_MS: u64 = 20_000;

fn run(tool: &Tool, instruction: &str) -> Invocation {
    tool.invoke(instruction, 0, DEADLINE_MS)
}

const INSTRUCTIONS: [&str; 12] = [
    "plain",
    "two\nlines\n",
    "\ttabs\tand  spaces ",
    "emoji 🦀👩‍👩‍👧 and combining é",
    "مرحبا \u{202e}RTL",
    "quotes \" ' ` $HOME $(id) \\n",
    "--help",
    "-",
    "",
    "{instruction} {1} %s",
    "\r\ncarriage\r",
    "* ? [a] ~ ! # ; & | < > ( )",
];

#[test]
fn an_echo_tool_gives_back_every_byte() {
    for via in ["argv", "stdin", "file"] {
        let argv = match via {
            "argv" => "[printf, '%s', '{instruction}']",
            "stdin" => "[cat]",
            _ => "[cat, '{instruction}']",
        };
        let echo = tool(&format!("argv: {argv}\nvia: {via}\noutcome: [{{exit_code: 0, success: true}}]\n"));
        for instruction in INSTRUCTIONS {
            let ran = run(&echo, instruction);
            assert_eq!(ran.stdout.text, instruction, "{via}");
            assert!(ran.observed.is_some_and(|seen| seen.success), "{via} {instruction:?} {ran:?}");
        }
    }
    let embedded =
        tool("argv: [printf, '%s', '--ask={instruction}!']\noutcome: [{exit_code: 0, success: true}]\n");
    assert_eq!(run(&embedded, "a{instruction}b").stdout.text, "--ask=a{instruction}b!");
}

#[test]
fn nothing_but_the_instruction_depends_on_the_case() {
    let look = script("env | sort | grep -v '^_='; pwd; echo $0 $#; ls -A; echo done");
    let (one, other) = (run(&look, "one"), run(&look, "another one"));
    assert_eq!(one.stdout.text, other.stdout.text);
    assert!(!one.stdout.text.contains("CARGO"), "{}", one.stdout.text);
    let seeded = tool(
        "argv: [sh, -c, 'echo $NOISE $TOKEN $PLAIN', x, '{instruction}']\nseed_env: NOISE\npass_env: [TOKEN]\nenv: {PLAIN: p}\noutcome: [{exit_code: 0, success: true}]\n",
    );
    assert_eq!(seeded.invoke("x", 42, DEADLINE_MS).stdout.text, "42 secret p\n");
}

#[track_caller]
fn ends(ran: &Invocation, termination: Termination, trouble: Option<&str>) {
    assert_eq!(ran.termination, Some(termination), "{ran:?}");
    assert_eq!(ran.trouble.as_ref().map(|(code, _)| *code), trouble, "{ran:?}");
    assert!(ran.observed.is_none_or(|seen| !seen.success));
}

#[test]
fn whatever_a_tool_does_is_an_outcome() {
    ends(&run(&script("exit 3"), "x"), Termination::Exited, Some("exit_code"));
    ends(&run(&script("echo done; exit 1"), "x"), Termination::Exited, Some("exit_code"));
    let silent = run(&script("exit 0"), "x");
    ends(&silent, Termination::Exited, None);
    assert_eq!(silent.observed.unwrap().failure_stage, Some(FailureStage::Unknown));
    let crash = run(&script("kill -SEGV $$"), "x");
    ends(&crash, Termination::Signalled, Some("signalled"));
    assert_eq!(crash.signal, Some(11));
    let missing = run(
        &tool("argv: [no-such-tool-here, '{instruction}']\noutcome: [{exit_code: 0, success: true}]\n"),
        "x",
    );
    ends(&missing, Termination::SpawnFailed, Some("spawn_failed"));
    assert_eq!(missing.observed, None, "what was not started is neither a success nor a failure");
    let flood = tool(
        "argv: [sh, -c, 'yes {instruction}']\noutput_bytes: 100000\noutcome: [{exit_code: 0, success: true}]\n",
    );
    ends(&run(&flood, "x"), Termination::Signalled, Some("output_limit"));
}

/// Processes of this machine whose command line holds a text.
fn living(text: &str) -> Vec<String> {
    #[expect(clippy::disallowed_methods, reason = "the order does not matter")]
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(text) && !line.contains("nextest"))
        .collect()
}

#[test]
fn a_deadline_ends_the_whole_tree() {
    let marker = format!("31{}.25", std::process::id());
    let hang = script(&format!(
        "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM; sleep {marker}' &) ; sleep {marker}; sleep {marker}"
    ));
    let ran = hang.invoke("x", 0, 700);
    ends(&ran, Termination::Timeout, Some("timeout"));
    assert!((700..3000).contains(&ran.duration_ms), "{}", ran.duration_ms);
    // The tree is gone when `invoke` returns; a process that is only just being reaped has no command line.
    assert_eq!(living(&format!("sleep {marker}")), Vec::<String>::new());
    let fork = script("sleep 600 & sleep 600 & echo done");
    let ran = run(&fork, "x");
    assert!(ran.duration_ms < DEADLINE_MS / 2, "left-over children do not keep a run open: {ran:?}");
}

#[test]
fn what_a_tool_writes_stays_in_its_own_directory() {
    let before = listing(Path::new("."));
    let write =
        script("echo x > leaked-file; mkdir -p a/b; cat leaked-file; echo y > \"$OLDPWD/out\" ; echo done");
    let first = run(&write, "x");
    assert!(first.stdout.text.contains("done"), "{first:?}");
    let again = run(&script("ls -A; echo done"), "x");
    assert_eq!(again.stdout.text, "done\n", "every trial starts in an empty directory");
    assert_eq!(listing(Path::new(".")), before);
}

fn listing(dir: &Path) -> Vec<String> {
    #[expect(clippy::disallowed_methods, reason = "sorted below")]
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn files_that_a_tool_leaves_are_read() {
    let settings = "argv: [sh, run.sh, '{instruction}']\ndebug_dir: build/debug\ndebug_on: {env: {DEBUG: '1'}, args: [--debug]}\noutcome:\n  \
                    - {artefact: 'bricks/*.py', success: true}\n  - {json: /tries, file: result.json, attempts: value}\n  \
                    - {json: /repairs, repairs_triggered: value}\n";
    let text = "mkdir bricks; echo 1 > bricks/$1.py; echo '{\"tries\": 4}' > result.json\n\
                [ \"$DEBUG\" ] && mkdir -p build/debug/run_1 && echo $2 > build/debug/run_1/log; echo '{\"repairs\": 2}'\n";
    let files = || vec![WorkFile { path: "run.sh".to_owned(), bytes: text.into(), executable: false }];
    let quiet = run(&tool_with(settings, false, files()), "name");
    let seen = quiet.observed.unwrap();
    assert_eq!((seen.success, seen.attempts, seen.repairs_triggered), (true, Some(4), Some(2)), "{quiet:?}");
    assert_eq!(quiet.debug, None);
    let debugged = run(&tool_with(settings, true, files()), "name");
    let again = run(&tool_with(settings, true, files()), "name");
    assert_eq!(debugged.debug.as_ref().unwrap().path, "build/debug/run_1");
    assert_eq!(debugged.debug, again.debug, "the digest is of what was there");
    assert!(debugged.observed.unwrap().success);
}

#[test]
fn a_version_is_the_first_line() {
    let versioned = tool(
        "argv: [sh, -c, 'true', x, '{instruction}']\nversion_command: [sh, -c, 'echo; echo 1.2 beta; echo more']\noutcome: [{exit_code: 0, success: true}]\n",
    );
    assert_eq!(versioned.version().as_deref(), Some("1.2 beta"));
    let failing = tool(
        "argv: [sh, -c, 'true', x, '{instruction}']\nversion_command: [sh, -c, 'echo 1; exit 1']\noutcome: [{exit_code: 0, success: true}]\n",
    );
    assert_eq!(failing.version(), None);
}
