//! A model as the guard of rewordings, on pairs whose label is known: the suite that users measure their own model with, and the small
//! real model's rates.

use std::fmt::Write as _;
use std::path::Path;

use proofhouse::family::vary::guard::{check, question, reading};
use proofhouse::stats::{Confidence, wilson};
use serde_json::Value;

use super::lab::{Lab, variable};
use super::real::Served;

/// `full` asks about all pairs, which takes some minutes.
const GUARD: &str = "PROOFHOUSE_GUARD";

const SETS: [(&str, &str); 2] = [
    ("labelled", include_str!("../../src/family/vary/guard/labelled.tsv")),
    ("heldout", include_str!("../../src/family/vary/guard/heldout.tsv")),
];

fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn pairs() -> Vec<Value> {
    shipped("guard/pairs.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_suite_asks_what_the_guard_asks() {
    let suite: Value = serde_saphyr::from_str(&shipped("guard.yaml")).unwrap();
    let prompt = suite["prompt"].as_str().unwrap();
    let mut left = pairs().into_iter();
    for (set, text) in SETS {
        for (nth, line) in text.lines().filter(|line| !line.starts_with('#')).enumerate() {
            let [label, base, rewording] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let pair = left.next().unwrap();
            let id = format!("{set}-{:03}", nth + 1);
            assert_eq!((pair["id"].as_str(), pair["base"].as_str()), (Some(&*id), Some(base)));
            assert_eq!(pair["rewording"].as_str(), Some(rewording), "{id}");
            let judge = if label == "changed" { "refuses" } else { "keeps" };
            assert_eq!(
                (&pair["tags"], &pair["judges"]),
                (&serde_json::json!([label, set]), &serde_json::json!([judge])),
                "{id}"
            );
            let asked = prompt.replace("{base}", base).replace("{rewording}", rewording);
            assert_eq!(asked, question(base, rewording), "{id}");
        }
    }
    assert_eq!(left.next(), None);
}

/// Changed tasks that are refused and rewordings that are kept.
#[derive(Default)]
struct Rates {
    refused: u64,
    changed: u64,
    kept: u64,
    same: u64,
    unread: u64,
}

impl Rates {
    fn count(&mut self, changed: bool, said: Option<bool>) {
        self.unread += u64::from(said.is_none());
        if changed {
            self.changed += 1;
            self.refused += u64::from(said != Some(true));
        } else {
            self.same += 1;
            self.kept += u64::from(said == Some(true));
        }
    }

    fn sentence(&self) -> String {
        let rate = |count: u64, of: u64| {
            let interval = wilson(count, of, Confidence::P95).unwrap();
            let percent = |share: f64| 100.0 * share;
            format!(
                "{count} of {of} ({:.1} %, {:.1} to {:.1})",
                percent(count as f64 / of as f64),
                percent(interval.low),
                percent(interval.high)
            )
        };
        let (refused, kept) = (rate(self.refused, self.changed), rate(self.kept, self.same));
        format!("refuses {refused} changed tasks, keeps {kept} rewordings, {} not read", self.unread)
    }
}

/// `docs/statistics.md` publishes these; without the variable a few pairs show that it works.
#[test]
fn rates_of_a_real_model_as_the_guard() {
    let Some(server) = Served::start("smollm2") else { return };
    let full = variable(GUARD).as_deref() == Some("full");
    let asked: Vec<Value> = pairs().into_iter().step_by(if full { 1 } else { 60 }).collect();
    let lab = Lab::new();
    lab.write("guard.yaml", shipped("guard.yaml").replace("http://127.0.0.1:8080/v1", &server.base));
    let lines = asked.iter().fold(String::new(), |mut lines, pair| {
        writeln!(lines, "{pair}").unwrap();
        lines
    });
    lab.write("guard/pairs.jsonl", lines);
    lab.run("run guard.yaml --run-dir run --jobs 2").exits(0);
    let records = lab.records("run");
    assert_eq!(records.len(), 2 * asked.len());
    for slot in ["small", "small_made_to_choose"] {
        for (set, _) in SETS {
            let mut rates = Rates::default();
            let of_set = |record: &&Value| record["slot"] == slot && record["tags"][1] == set;
            for record in records.iter().filter(of_set) {
                let said = record["output"].as_str().and_then(reading);
                assert!(slot == "small" || said.is_some(), "the grammar leaves two answers: {record}");
                let changed = record["tags"][0] == "changed";
                let right = if changed { said != Some(true) } else { said == Some(true) };
                assert!(
                    slot == "small" || record["passed"] == right,
                    "the suite counts as a run does: {record}"
                );
                rates.count(changed, said);
            }
            eprintln!("{slot}, {set}: {}", rates.sentence());
        }
    }
    for (set, _) in SETS {
        let mut rates = Rates::default();
        for pair in pairs().iter().filter(|pair| pair["tags"][1] == set) {
            let text = |key: &str| pair[key].as_str().unwrap();
            let kept = check(text("base"), text("rewording").as_bytes(), false, &[]).is_ok();
            rates.count(pair["tags"][0] == "changed", Some(kept));
        }
        eprintln!("the rules, {set}: {}", rates.sentence());
    }
}
