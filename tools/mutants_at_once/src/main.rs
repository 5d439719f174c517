//! All mutants of a part in one test program.
//!
//! cargo-mutants changes one place, builds and tests, and does so for each mutant: hours for some thousand. Here every
//! changed place becomes a choice that is made when the program starts, so that one build serves all of them:
//!
//!     mutants-at-once build COPY PACKAGE KEPT          changes COPY as KEPT/list.json says, which is `cargo mutants --list --json`
//!     mutants-at-once try KEPT SECONDS|- [TESTS...]    tries what has no outcome yet; ends with 3 when there was not the time
//!     mutants-at-once say KEPT                         counts, and the names of those that no test caught
//!
//! What differs from cargo-mutants: an operator is changed in its place in the tree (`a - b * c` becomes `a - (b + c)`, not
//! `a - b + c`), and mutants in constants, `const fn`, conditions with `let`, functions that return `impl Trait` and arms
//! that a `match` cannot do without are not placed: `say` names them, for cargo-mutants itself. One that does not compile
//! here might there, where a choice costs a type or a borrow. A test is taken to come by the same places in each run:
//! random cases have a fixed seed.

mod build;
mod places;
mod rewrite;
mod run;

use std::collections::BTreeMap;
use std::env::args;
use std::fs;
use std::path::Path;
use std::process::exit;
use std::time::{Duration, Instant};

use serde::{Serialize, de::DeserializeOwned};

fn main() {
    let arguments: Vec<String> = args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["build", copy, package, kept] => {
            let mut built = build::build(Path::new(copy), package, &Path::new(kept).join("list.json"));
            // Cargo gives the programs of two copies one name: the next part's would take its place.
            let program = Path::new(kept).join("tests");
            fs::copy(&built.program, &program).expect("the program is kept");
            built.program = program;
            save(kept, "built.json", &built);
        }
        ["try", kept, seconds, ref tests @ ..] => {
            attempt(kept, if seconds == "-" { 1 << 30 } else { seconds.parse().expect("a number") }, tests);
        }
        ["say", kept] => say(kept),
        _ => {
            eprintln!(
                "usage: mutants-at-once build COPY PACKAGE KEPT | try KEPT SECONDS|- [TESTS...] | say KEPT"
            );
            exit(2);
        }
    }
}

fn save(kept: &str, name: &str, value: &impl Serialize) {
    let text = serde_json::to_string(value).expect("our own types have a JSON form");
    fs::write(Path::new(kept).join(name), text).expect("the file is written");
}

fn load<T: DeserializeOwned>(kept: &str, name: &str) -> Option<T> {
    let text = fs::read_to_string(Path::new(kept).join(name)).ok()?;
    Some(serde_json::from_str(&text).expect("what was saved is read"))
}

fn attempt(kept: &str, seconds: u64, words: &[&str]) {
    let until = Instant::now() + Duration::from_secs(seconds);
    let built: build::Built = load(kept, "built.json").expect("`build` comes first");
    let folder = Path::new(kept);
    fs::create_dir_all(folder.join("tmp")).expect("the folder is made");
    let runner = run::Runner { built: &built, kept: folder, until };
    let tests = load(kept, "tests.json").unwrap_or_else(|| {
        let tests = runner.record(words);
        save(kept, "tests.json", &tests);
        tests
    });
    let outcomes = folder.join("outcomes.tsv");
    runner.attempt(&tests, &outcomes);
    let tried = run::read(&outcomes).len();
    eprintln!("{tried} of {}", built.mutants.len());
    if tried < built.mutants.len() {
        exit(3);
    }
}

fn say(kept: &str) {
    let outcomes = run::read(&Path::new(kept).join("outcomes.tsv"));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, outcome) in &outcomes {
        *counts.entry(outcome).or_default() += 1;
        if ["survived", "not reached", "not placed"].contains(&outcome.as_str()) {
            println!("{outcome}: {name}");
        }
    }
    println!("{} mutants: {counts:?}", outcomes.len());
}
