//! Killed at any moment, completed to the same bytes.

use std::thread::sleep;
use std::time::Duration;

use crate::lab::Lab;

/// The next number of a fixed sequence: one seed reproduces the whole history of kills.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Kills runs of 5,000 trials at random moments; `recover` must tell the truth, `--resume` must give the same bytes.
fn kill_and_resume(kills: usize, seed: u64) {
    let lab = Lab::new();
    lab.busy_suite(2500, 2);
    lab.run("run busy.yaml --run-dir whole --quiet --skip-report --jobs 200").exits(0);
    let whole = lab.run_files("whole");
    assert_eq!(lab.records("whole").len(), 5000);
    let (mut state, mut killed, mut interrupted) = (seed, 0, 0);
    let mut round = 0;
    while killed < kills {
        round += 1;
        let run = format!("run{round}");
        let flags = format!("--run-dir {run} --quiet --skip-report --jobs 200");
        let mut started = false;
        loop {
            let resume = if started { "--resume" } else { "" };
            let mut child = lab.start(&format!("run busy.yaml {flags} {resume}"));
            sleep(Duration::from_micros(next(&mut state) % 400_000));
            child.kill().unwrap();
            let ended_by_itself = child.wait().unwrap().success();
            killed += usize::from(!ended_by_itself);
            // Killed before its first file was written, a run may have an envelope and no directory once it is recovered.
            if ended_by_itself || killed >= kills {
                break;
            }
            interrupted += 1;
            if next(&mut state).is_multiple_of(3) && lab.path(&format!("{run}.run.json.tmp")).exists() {
                check_recovered(&lab, &run);
            }
            started |= lab.path(&run).exists() || lab.path(&format!("{run}.run.json")).exists();
        }
        started |= lab.path(&run).exists();
        let resume = if started { "--resume" } else { "" };
        lab.run(&format!("run busy.yaml {flags} {resume}")).exits(0);
        assert_eq!(lab.run_files(&run), whole, "after {killed} kills, seed {seed}");
        assert!(!lab.path(&format!("{run}.journal.jsonl")).exists(), "the journal is gone");
        assert!(!lab.path(&format!("{run}.run.json.tmp")).exists(), "the envelope is final");
        lab.run(&format!("verify {run}")).exits(0);
    }
    assert!(interrupted > kills / 3, "only {interrupted} of {kills} kills hit a run under way");
}

fn check_recovered(lab: &Lab, run: &str) {
    lab.run(&format!("recover {run}")).exits(0);
    let envelope = lab.json(&format!("{run}.run.json"));
    let records = std::fs::read_to_string(lab.path(&format!("{run}/records.jsonl"))).unwrap_or_default();
    assert!(records.is_empty() || records.ends_with('\n'), "no torn line after recover");
    assert_eq!(envelope["total_cases_completed"], records.lines().count());
    assert_eq!(envelope["total_cases_expected"], 5000);
    let whole = lab.path(&format!("{run}/manifest.json")).exists();
    assert_eq!(envelope["exit_status"], if whole { "normal" } else { "external_kill" });
    assert_eq!(envelope["receipt_sha256"], proofhouse_ledger::Digest::of(records.as_bytes()).to_string());
    assert!(!lab.path(&format!("{run}.run.json.tmp")).exists());
}

// Four parts, so that both cores have something to do.
#[test]
fn sigkill_at_random_moments_a() {
    kill_and_resume(50, 1);
}
#[test]
fn sigkill_at_random_moments_b() {
    kill_and_resume(50, 2);
}
#[test]
fn sigkill_at_random_moments_c() {
    kill_and_resume(50, 3);
}
#[test]
fn sigkill_at_random_moments_d() {
    kill_and_resume(50, 4);
}

/// SIGINT, SIGTERM and SIGHUP end a run in order: the envelope is written by the run itself.
#[test]
fn signals_write_the_envelope_themselves() {
    for signal in ["INT", "TERM", "HUP"] {
        let lab = Lab::new();
        lab.busy_suite(400, 40);
        let child = lab.start("run busy.yaml --run-dir run --jobs 2");
        wait_for_records(&lab, "run", 10);
        #[expect(clippy::disallowed_methods, reason = "the test sends a real signal to its own child")]
        let sent =
            std::process::Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(8), "{signal}");
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(talk.contains("--resume"), "{talk}");
        let envelope = lab.json("run.run.json");
        assert_eq!(envelope["exit_status"], "external_kill", "{signal}");
        assert_eq!(envelope["total_cases_completed"], lab.records("run").len());
        lab.run("run busy.yaml --run-dir run --jobs 200 --resume --quiet").exits(0);
        assert_eq!(lab.json("run.run.json")["exit_status"], "normal");
        assert_eq!(lab.json("run.run.json")["resumed_from"].as_array().unwrap().len(), 1);
    }
}

pub fn wait_for_records(lab: &Lab, run: &str, least: usize) {
    for _ in 0..3000 {
        let lines = std::fs::read(lab.path(&format!("{run}/records.jsonl")))
            .map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count());
        if lines >= least {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("no {least} records of {run} within 30 s");
}
