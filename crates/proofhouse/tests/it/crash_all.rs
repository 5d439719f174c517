//! Killed while any command writes, for every kind: never unsound, always completed to the same bytes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::golden::golden;
use crate::lab::{Lab, variable};

/// Kills in all; `PROOFHOUSE_KILLS` makes them more. Kinds whose commands start compilers and boxes have the smaller shares.
const KILLS: usize = 1_000;

struct Victim {
    lab: Lab,
    exit: i32,
    whole: BTreeMap<PathBuf, Vec<u8>>,
    state: u64,
    /// What whole commands took, in microseconds.
    longest: BTreeMap<&'static str, u64>,
}

const RUN: &str = "run suite.yaml --run-dir victim --quiet --jobs 4";

const MERGE: &str = "merge parts --quiet --overwrite";
const SCORE: &str = "score victim suite.yaml --run-dir scored --quiet --overwrite";

impl Victim {
    fn new(kind: &str, exit: i32, seed: u64) -> Self {
        let lab = golden("v1", kind);
        lab.tools("run suite.yaml --run-dir whole --quiet").exits(exit);
        let whole = lab.run_files("whole");
        let key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\n-----END PRIVATE KEY-----\n";
        lab.write("key.pem", key);
        Self { lab, exit, whole, state: seed, longest: BTreeMap::new() }
    }

    fn next(&mut self, bound: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % bound.max(1)
    }

    /// Starts a command and kills it at a random moment; true if it was still under way.
    fn kill(&mut self, name: &'static str, args: &str) -> bool {
        let longest = self.longest.get(name).copied().unwrap_or(60_000);
        let moment = self.next(longest);
        let words: Vec<&str> = args.split_whitespace().collect();
        let mut command = self.lab.command_with_tools(&words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_micros(moment));
        child.kill().unwrap();
        let killed = child.wait().unwrap().code().is_none();
        // Where commands end before they are killed, the next ones are killed earlier; where none does, later.
        let next = if killed { longest * 21 / 20 } else { longest * 9 / 10 };
        self.longest.insert(name, next.clamp(2_000, 400_000));
        for run in ["victim", "parts", "scored"].into_iter().filter(|run| self.lab.path(run).is_dir()) {
            let verified = self.lab.run(&format!("verify {run}"));
            let sound = matches!(verified.code, Some(0 | 8));
            assert!(
                sound,
                "after a killed `{args}`: {:?}\n{}{}",
                verified.code, verified.stdout, verified.stderr
            );
        }
        killed
    }

    fn complete(&mut self) {
        // A run that was killed before it had a directory, and recovered, has an envelope alone.
        let there = ["victim", "victim.run.json.tmp", "victim.run.json"]
            .iter()
            .any(|name| self.lab.path(name).exists());
        let replacing = self.lab.path(".victim.proofhouse-next").exists()
            || self.lab.path(".victim.proofhouse-prev").exists();
        let flags = match (there, replacing) {
            (_, true) => "--resume --overwrite",
            (true, false) => "--resume",
            (false, false) => "",
        };
        self.lab.tools(&format!("{RUN} {flags}")).exits(self.exit);
        assert_eq!(self.lab.run_files("victim"), self.whole);
        self.lab.run("verify victim").exits(0);
    }

    fn remove(&self) {
        let _ = std::fs::remove_dir_all(self.lab.path("victim"));
        for name in ["run.json", "run.json.tmp", "telemetry.jsonl", "journal.jsonl", "intoto.jsonl", "jsonl"]
        {
            let _ = std::fs::remove_file(self.lab.path(&format!("victim.{name}")));
        }
    }
}

fn kill_everything(kind: &str, exit: i32, exports: &'static [&'static str], (percent, seed): (usize, u64)) {
    let all = variable("PROOFHOUSE_KILLS").map_or(KILLS, |text| text.parse().expect("a number"));
    let kills = all * percent / 100;
    let mut victim = Victim::new(kind, exit, seed);
    for shard in 0..2 {
        victim.lab.tools(&format!("run suite.yaml --run-dir parts --quiet --shard {shard}/2"));
    }
    let (mut killed, mut round, mut tries) = (0, 0, 0);
    while killed < kills {
        round += 1;
        tries += 1;
        assert!(tries < kills * 20, "only {killed} of {tries} commands were killed under way");
        // A run that is killed, gone on with and killed again, some times over.
        victim.remove();
        let mut flags = "";
        for _ in 0..4 {
            killed += usize::from(victim.kill("run", &format!("{RUN} {flags}")));
            if victim.lab.path("victim").exists() {
                flags = "--resume";
            }
            if round % 3 == 0 && victim.lab.path("victim.run.json.tmp").exists() {
                killed += usize::from(victim.kill("recover", "recover victim"));
            }
        }
        victim.complete();
        killed += usize::from(victim.kill("report", "report victim --quiet"));
        killed += usize::from(victim.kill("attest", "attest victim --key key.pem"));
        let export = exports[round % exports.len()];
        killed += usize::from(victim.kill("export", &format!("export victim --format {export} --out out")));
        victim.lab.run(&format!("export victim --format {export} --out out")).exits(0);
        killed += usize::from(victim.kill("bless", "bless victim --store kept --branch main"));
        victim.lab.run("bless victim --store kept --branch main").exits(0);
        killed += usize::from(victim.kill("merge", MERGE));
        victim.lab.run(MERGE).exits(exit);
        assert_eq!(victim.lab.run_files("parts"), victim.whole);
        // Only answers to probe suites are judged anew.
        if kind == "probe" {
            killed += usize::from(victim.kill("score", SCORE));
            victim.lab.run(SCORE).exits(exit);
            victim.lab.run("verify scored").exits(0);
        }
        killed += usize::from(victim.kill("overwrite", &format!("{RUN} --overwrite")));
        victim.complete();
    }
    victim.lab.run("report victim --quiet").exits(0);
    assert_eq!(victim.lab.run_files("victim"), victim.whole);
}

#[test]
fn probe_commands_killed_at_random_moments() {
    kill_everything("probe", 9, &["junit"], (46, 11));
}
#[test]
fn code_commands_killed_at_random_moments() {
    kill_everything("code", 4, &["humaneval", "junit"], (4, 12));
}
#[test]
fn robustness_commands_killed_at_random_moments() {
    kill_everything("robustness", 0, &["tree"], (10, 13));
}
#[test]
fn containment_commands_killed_at_random_moments() {
    kill_everything("containment", 0, &["receipts"], (40, 14));
}
