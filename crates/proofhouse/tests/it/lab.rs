//! A place to try things: a temporary directory, the real binary, and short ways to say what is expected.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

pub struct Lab {
    dir: TempDir,
}

/// What a command came to.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let Outcome { stdout, stderr, .. } = &self;
        assert_eq!(self.code, Some(code), "stdout:\n{stdout}\nstderr:\n{stderr}");
        self
    }

    /// Wherever it says so, and wherever its lines end.
    #[track_caller]
    pub fn says(self, part: &str) -> Self {
        let all = self.said();
        assert!(all.contains(&on_one_line(part)), "expected {part:?} in:\n{}{}", self.stdout, self.stderr);
        self
    }

    /// All that it says, on one line.
    pub fn said(&self) -> String {
        on_one_line(&format!("{}{}", self.stdout, self.stderr))
    }
}

/// Text without its line ends, indents and hard spaces: how wide a terminal is decides none of the facts.
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Lab {
    pub fn new() -> Self {
        Lab { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub fn records(&self, run: &str) -> Vec<serde_json::Value> {
        self.read(&format!("{run}/records.jsonl"))
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The binary in the lab's directory, with nothing of this machine's environment.
    pub fn command(&self, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "tests run the real binary")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_proofhouse"));
        command.args(args).current_dir(self.dir.path()).env_clear().stdin(Stdio::null());
        command
    }

    /// Runs `proofhouse` with words separated by spaces.
    pub fn run(&self, args: &str) -> Outcome {
        let args: Vec<&str> = args.split_whitespace().collect();
        finish(self.command(&args).output().unwrap())
    }

    /// The binary with the search path of this machine, so that compilers and interpreters are found.
    pub fn command_with_tools(&self, args: &[&str]) -> Command {
        let mut command = self.command(args);
        for name in ["PATH", "HOME", "RUSTUP_HOME", "CARGO_HOME"] {
            #[expect(
                clippy::disallowed_methods,
                reason = "where the toolchain is differs from machine to machine"
            )]
            let value = std::env::var_os(name);
            command.envs(value.map(|value| (name, value)));
        }
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    /// Runs `proofhouse` where compilers and interpreters are found.
    pub fn tools(&self, args: &str) -> Outcome {
        let args: Vec<&str> = args.split_whitespace().collect();
        finish(self.command_with_tools(&args).output().unwrap())
    }

    /// Runs a command that was made ready by [`Lab::command`].
    pub fn finish(&self, command: &mut Command) -> Outcome {
        finish(command.output().unwrap())
    }

    /// Starts `proofhouse` and leaves it running.
    pub fn start(&self, args: &str) -> Child {
        let args: Vec<&str> = args.split_whitespace().collect();
        self.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Every file below the lab with its bytes; locks are left out.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.dir.path(), self.dir.path(), &mut files);
        files
    }

    /// Every file of a run directory with its bytes.
    pub fn run_files(&self, run: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.path(run), &self.path(run), &mut files);
        files
    }

    /// A suite of `cases` cases on two targets, with latency so that trials finish out of order.
    pub fn busy_suite(&self, cases: usize, latency_ms: u32) -> &Self {
        let rows: String = (0..cases)
            .map(|n| format!("{{\"id\":\"c{n}\",\"input\":\"question {n}\",\"expected\":\"{}\"}}\n", n % 7))
            .collect();
        self.write("busy.jsonl", rows);
        self.write("busy.yaml", format!(
            "kind: probe\nsuite_id: busy\nseed: 3\ndatasets: [{{path: busy.jsonl}}]\njudges: {{same: {{equals: {{}}}}}}\ntargets:\n  \
             quick: {{scripted: {{rules: [{{regex: '(\\d)$', reply: '{{1}}'}}]}}}}\n  \
             slow: {{scripted: {{rules: [{{regex: '[02468]$', latency_ms: {latency_ms}, reply: '1'}}], otherwise: {{reply: '2'}}}}}}\n"
        ))
    }

    /// A small suite: three cases, two targets of the same model, two judges, a structured answer, an error.
    pub fn small_suite(&self) -> &Self {
        self.write(
            "small.jsonl",
            concat!(
                "{\"id\":\"a\",\"input\":\"alpha\",\"expected\":\"alpha\",\"judges\":[\"same\",\"near\"]}\n",
                "{\"id\":\"b\",\"input\":\"beta\",\"expected\":\"gamma\",\"judges\":[\"same\",\"near\"]}\n",
                "{\"id\":\"s\",\"input\":\"structure\",\"expected\":{\"x\":1},\"judges\":[\"tree\"]}\n",
                "{\"id\":\"e\",\"input\":\"explode\",\"expected\":\"\",\"judges\":[\"same\"]}\n",
            ),
        );
        self.write("small.yaml", concat!(
            "kind: probe\nsuite_id: small\ndatasets: [{path: small.jsonl}]\nrepetitions: 2\n",
            "judges:\n  same: {equals: {}}\n  near: {levenshtein: {min_similarity: 0.1}}\n  tree: {json-equals: {}}\n",
            "scoring: {weights: {near: 0}}\n",
            "targets:\n",
            "  one: {scripted: &model {rules: [{contains: explode, fault: error, reply: boom}, {contains: structure, reply: {x: 1, list: [1, 2]}}], otherwise: {reply: '{input}'}}}\n",
            "  two: {scripted: *model}\n",
        ))
    }
}

/// A variable of the tests' own environment.
pub fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the one place where tests read the environment")]
    std::env::var(name).ok()
}

/// Where `tools/NAME install` keeps what it installed, as `tools/kept.sh` says; whether it has is in the file `ready` there.
pub fn kept(name: &str) -> std::path::PathBuf {
    let cache = || variable("XDG_CACHE_HOME").or_else(|| Some(format!("{}/.cache", variable("HOME")?)));
    let tools = variable("PROOFHOUSE_TOOLS")
        .or_else(|| Some(format!("{}/proofhouse-tools", cache()?)))
        .expect("a home, or PROOFHOUSE_TOOLS");
    std::path::Path::new(&tools).join(name)
}

fn finish(output: Output) -> Outcome {
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn collect(root: &Path, dir: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    #[expect(clippy::disallowed_methods, reason = "into a sorted map")]
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            files.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
}
