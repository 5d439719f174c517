//! Runs the test program: once for each test, to see which places it comes by, then for each mutant the tests that come by
//! its place, the fastest first, until one fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::build::{Built, Placed};

#[derive(Serialize, Deserialize)]
pub struct Test {
    name: String,
    millis: u64,
    places: BTreeSet<usize>,
}

enum Ended {
    Passed,
    Failed,
    TimedOut,
}

pub struct Runner<'a> {
    pub built: &'a Built,
    /// Where everything is kept; tests write below it.
    pub kept: &'a Path,
    pub until: Instant,
}

impl Runner<'_> {
    fn run(&self, test: &str, variable: (&str, String), limit: Duration) -> (Ended, Duration) {
        let start = Instant::now();
        let mut child = Command::new(&self.built.program)
            .args(["--exact", test, "--test-threads", "1"])
            .env(variable.0, variable.1)
            .env("TMPDIR", self.kept.join("tmp"))
            .env("INSTA_UPDATE", "no")
            .env("PROPTEST_RNG_SEED", "7")
            .current_dir(&self.built.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the test program starts");
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait().expect("the test program is waited for") {
                let ended = if status.success() { Ended::Passed } else { Ended::Failed };
                return (ended, start.elapsed());
            }
            if start.elapsed() > limit {
                child.kill().and_then(|()| child.wait()).expect("the test program is ended");
                return (Ended::TimedOut, start.elapsed());
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Which places each test comes by, of those with one of these words in their name.
    pub fn record(&self, words: &[&str]) -> Vec<Test> {
        let output =
            Command::new(&self.built.program).args(["--list", "--format", "terse"]).args(words).output();
        let list = String::from_utf8(output.expect("the tests are listed").stdout).expect("names are UTF-8");
        let names: Vec<&str> = list.lines().filter_map(|line| line.strip_suffix(": test")).collect();
        let tests = Mutex::new(Vec::new());
        each(&names, |index, name| {
            let seen = self.kept.join(format!("seen-{index}"));
            let variable = ("MUTANTS_SEEN", seen.to_str().expect("the path is UTF-8").to_owned());
            let (ended, time) = self.run(name, variable, Duration::from_secs(600));
            assert!(matches!(ended, Ended::Passed), "{name} fails without a mutant, or takes too long");
            let text = fs::read_to_string(&seen).unwrap_or_default();
            fs::remove_file(seen).ok();
            let places = text.lines().map(|line| line.parse().expect("a place is a number")).collect();
            let test = Test { name: (*name).to_owned(), millis: time.as_millis() as u64, places };
            tests.lock().expect("no thread failed").push(test);
        });
        let mut tests = tests.into_inner().expect("no thread failed");
        tests.sort_by(|a, b| (a.millis, &a.name).cmp(&(b.millis, &b.name)));
        tests
    }

    /// Tries what has no outcome yet, as long as there is time, and adds a line to `outcomes` for each.
    pub fn attempt(&self, tests: &[Test], outcomes: &PathBuf) {
        let before = read(outcomes);
        let open = |mutant: &&Placed| !before.contains_key(&mutant.name);
        let open: Vec<&Placed> = self.built.mutants.iter().filter(open).collect();
        let file = OpenOptions::new().append(true).create(true).open(outcomes).expect("outcomes are kept");
        let file = Mutex::new(file);
        each(&open, |_, mutant| {
            if Instant::now() < self.until {
                let outcome = self.outcome(mutant, tests);
                let mut file = file.lock().expect("no thread failed");
                writeln!(file, "{outcome}\t{}", mutant.name).expect("an outcome is written");
            }
        });
    }

    fn outcome(&self, mutant: &Placed, tests: &[Test]) -> String {
        let Some((place, variant)) = mutant.choice else { return "not placed\t".to_owned() };
        if !mutant.compiles {
            return "does not compile\t".to_owned();
        }
        let mut reached = false;
        for test in tests.iter().filter(|test| test.places.contains(&place)) {
            reached = true;
            let limit = Duration::from_millis(4_000 + 8 * test.millis);
            let (ended, _) = self.run(&test.name, ("MUTANT", (place << 8 | variant).to_string()), limit);
            match ended {
                Ended::Passed => (),
                Ended::Failed => return format!("caught\t{}", test.name),
                Ended::TimedOut => return format!("timed out\t{}", test.name),
            }
        }
        if reached { "survived\t".to_owned() } else { "not reached\t".to_owned() }
    }
}

/// Mutant to outcome.
pub fn read(outcomes: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(outcomes).unwrap_or_default();
    let row = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let (outcome, _, name) = (parts.next()?, parts.next()?, parts.next()?);
        Some((name.to_owned(), outcome.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

/// On two threads, in order.
fn each<T: Sync>(items: &[T], work: impl Fn(usize, &T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((index, item)) = {
                    let index = next.fetch_add(1, Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    work(index, item);
                }
            });
        }
    });
}
