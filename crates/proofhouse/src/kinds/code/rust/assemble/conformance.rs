//! Answers of public data, put together and given to plain `rustc --test`, many to a crate. Passes, and says so, where the
//! data is not there.
#![allow(clippy::print_stderr, clippy::disallowed_methods, reason = "plain rustc is what is compared with")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::*;
use crate::kinds::code::Problem;

/// One answer in its place, with the task's own tests behind it.
struct Member {
    id: String,
    source: Option<String>,
    passes: bool,
}

fn rows(root: &Path, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(root.join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(row: &Value, key: &str) -> Option<String> {
    row[key].as_str().map(str::to_owned)
}

fn problem(row: &Value) -> Problem {
    Problem {
        prompt: text(row, "prompt").unwrap(),
        declaration: text(row, "declaration"),
        entry_point: text(row, "entry_point"),
        test: text(row, "test").unwrap(),
        ..Problem::default()
    }
}

fn member(id: String, row: &Value, completion: &str, passes: bool) -> Member {
    let problem = problem(row);
    let assembled = assemble(&Frame::of(&problem, &BTreeSet::new()), completion);
    // Tests that are a `main` become a test that calls it; the answer's own `main` is out of its way.
    let main = problem.test.contains("fn main()");
    let source = assembled.map(|assembled| {
        let tests = match main {
            true => format!("mod tests {{ use super::*; #[test] fn runs() {{ main() }} {} }}", problem.test),
            false => problem.test.clone(),
        };
        format!("{}\n{tests}\n", assembled.source)
    });
    Member { id, source, passes }
}

/// The numbers of the members that plain rustc passes.
fn plain(dir: &Path, members: &[Member]) -> BTreeSet<usize> {
    let mut alive: BTreeSet<usize> = (0..members.len()).filter(|at| members[*at].source.is_some()).collect();
    for at in &alive {
        std::fs::write(dir.join(format!("m{at}.rs")), members[*at].source.as_deref().unwrap()).unwrap();
    }
    loop {
        let mods: String = alive.iter().map(|at| format!("#[path = \"m{at}.rs\"] mod m{at};\n")).collect();
        std::fs::write(dir.join("main.rs"), format!("#![allow(warnings)]\n{mods}fn main() {{}}\n")).unwrap();
        let mut rustc = Command::new("rustc");
        rustc.args([
            "--test",
            "--edition=2021",
            "--error-format=short",
            "-Cdebuginfo=0",
            "-o",
            "all",
            "main.rs",
        ]);
        let output = rustc.current_dir(dir).output().unwrap();
        if output.status.success() {
            break;
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let named = |line: &str| line.strip_prefix('m')?.split(['.', ':']).next()?.parse().ok();
        let broken: Vec<usize> =
            said.lines().filter(|line| line.contains("error")).filter_map(named).collect();
        assert!(!broken.is_empty(), "{said}");
        alive.retain(|at| !broken.contains(at));
    }
    // Each in a process of its own: some overflow the stack.
    let passes = |at: &usize| {
        let output = Command::new(dir.join("all")).arg(format!("m{at}::")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success() && !said.contains("running 0 tests")
    };
    alive.into_iter().filter(passes).collect()
}

#[test]
fn conformance_of_assembly_with_plain_rustc() {
    let Some(root) = std::env::var_os("PROOFHOUSE_CONFORMANCE_DATA").map(PathBuf::from) else {
        eprintln!("skipped: PROOFHOUSE_CONFORMANCE_DATA is not set");
        return;
    };
    let mut members = Vec::new();
    for name in ["answers_rust", "honest_rust"] {
        let problems = rows(&root, &format!("attacks/{name}_problems.jsonl"));
        let samples = rows(&root, &format!("attacks/{name}_samples.jsonl"));
        for (problem, sample) in problems.iter().zip(&samples) {
            let id = text(sample, "task_id").unwrap();
            let passes = !id.ends_with("/wrong");
            // Its output would be ours.
            if id != "prints_20MB" {
                members.push(member(id, problem, &text(sample, "completion").unwrap(), passes));
            }
        }
    }
    for row in rows(&root, "code/gpt4_rust_completions_dev.jsonl") {
        let passes = row["plain_rustc_verdict"] == "pass";
        members.push(member(
            text(&row, "task_id").unwrap(),
            &row,
            &text(&row, "completion").unwrap(),
            passes,
        ));
    }
    for row in rows(&root, "code/humanevalpack_rust_dev.jsonl") {
        let id = text(&row, "task_id").unwrap();
        let body = text(&row, "canonical_solution").unwrap();
        // Some need crates that are not there.
        let all = format!("{body}{}", text(&row, "test").unwrap());
        if !["regex", "Regex", "rand", "md5"].iter().any(|name| all.contains(name)) {
            members.push(member(format!("{id}/canonical"), &row, &body, true));
        }
        members.push(member(format!("{id}/buggy"), &row, &text(&row, "buggy_solution").unwrap(), false));
    }
    assert!(members.len() > 280, "{}", members.len());
    let dir = tempfile::tempdir().unwrap();
    let passed = plain(dir.path(), &members);
    let wrong: Vec<&str> = members
        .iter()
        .enumerate()
        .filter(|(at, member)| member.passes != passed.contains(at))
        .map(|(_, member)| member.id.as_str())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
