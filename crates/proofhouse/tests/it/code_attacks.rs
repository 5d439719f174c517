//! Answers that pretend, and answers that only look unusual, through the real program: none of the first may pass, none of
//! the second may fail or be accused. The texts are beside this file.
//!
//! ```text
//! === name | task, task | what it tries
//! $SIG { $WRONG }
//! ```
//!
//! `$SIG` stands for the task's signature, `$HEAD` for that without its result, `$ENTRY` for the function's name, `$WRONG`
//! for a value that is wrong, `$POINTER` for what makes a pointer of the function, and `$RAW` for functions that write bytes
//! to a descriptor.

use std::collections::BTreeMap;

use serde_json::json;

use crate::lab::Lab;

const TASKS: &str = include_str!("code_attacks/tasks.txt");
const HONEST: &str = include_str!("code_attacks/honest.txt");
const FORGED: [(&str, &str); 11] = [
    ("types", include_str!("code_attacks/forged_types.txt")),
    ("names", include_str!("code_attacks/forged_names.txt")),
    ("process", include_str!("code_attacks/forged_process.txt")),
    ("memory", include_str!("code_attacks/forged_memory.txt")),
    ("files", include_str!("code_attacks/forged_files.txt")),
    ("border", include_str!("code_attacks/forged_border.txt")),
    ("shared", include_str!("code_attacks/forged_shared.txt")),
    ("decoys", include_str!("code_attacks/forged_decoys.txt")),
    ("carried", include_str!("code_attacks/forged_carried.txt")),
    ("open", include_str!("code_attacks/forged_open.txt")),
    ("shapes", include_str!("code_attacks/forged_shapes.txt")),
];

/// What `$RAW` stands for. A reply is a status, the length of what follows, and that.
const RAW: &str = "extern \"C\" { fn write(fd: i32, from: *const u8, n: usize) -> isize; fn read(fd: i32, to: *mut u8, n: usize) -> isize; \
fn close(fd: i32) -> i32; fn fcntl(fd: i32, what: i32, value: i32) -> i32; fn _exit(code: i32) -> !; }
fn raw(fd: i32, bytes: &[u8]) { unsafe { write(fd, bytes.as_ptr(), bytes.len()); } }
fn reply(status: u8, payload: &[u8]) -> Vec<u8> { let mut all = vec![status]; all.extend((payload.len() as u64).to_le_bytes()); all.extend(payload); all }";

/// A task by its parts: `before`, `signature`, `wrong`, `right`, `solution` (its own, where it gives one), `test`.
type Task<'a> = BTreeMap<&'a str, String>;

/// One answer to one task.
struct Answer {
    name: String,
    task: String,
    text: String,
    passes: bool,
}

/// The parts of a text that begin with this mark: what follows it in its line, and the lines below.
fn sections<'a>(text: &'a str, mark: &str) -> Vec<(&'a str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix(mark) {
            found.push((head.trim(), String::new()));
        } else if let Some((_, body)) = found.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }
    found
}

fn tasks() -> BTreeMap<&'static str, Task<'static>> {
    let parts = |body: &str| -> Task<'static> {
        let known = ["before", "signature", "wrong", "right", "solution", "test"];
        let named = |name: &str| *known.iter().find(|known| **known == name).expect("a part of a task");
        sections(body, "--- ").into_iter().map(|(name, text)| (named(name), text)).collect()
    };
    sections(TASKS, "=== ").into_iter().map(|(name, body)| (name, parts(&body))).collect()
}

fn answers(group: &str, text: &str, passes: bool) -> Vec<Answer> {
    let tasks = tasks();
    let mut all = Vec::new();
    for (head, body) in sections(text, "=== ") {
        let [name, wanted, _] = head.split(" | ").collect::<Vec<_>>()[..] else { panic!("{head}") };
        for task in wanted.split(", ") {
            let parts = &tasks[task];
            let signature = parts["signature"].trim();
            let end = signature.rfind(" -> ").filter(|at| *at > signature.rfind(')').unwrap_or_default());
            let pointer =
                if task == "twice" { "::<F> as fn(F, i32) -> i32" } else { " as fn(i32, i32) -> i32" };
            let text = body
                .replace("$RAW", RAW)
                .replace("$POINTER", pointer)
                .replace("$SIG", signature)
                .replace("$HEAD", &signature[..end.unwrap_or(signature.len())])
                .replace("$ENTRY", task)
                .replace("$WRONG", parts["wrong"].trim());
            all.push(Answer { name: format!("{group}: {name}"), task: task.to_owned(), text, passes });
        }
    }
    all
}

fn all() -> Vec<Answer> {
    let mut all: Vec<Answer> = FORGED.iter().flat_map(|(group, text)| answers(group, text, false)).collect();
    all.extend(answers("honest", HONEST, true));
    for (task, parts) in tasks() {
        let control = |name: &str, text: String, passes| {
            let name = format!("control: {name}");
            Answer { name, task: task.to_owned(), text, passes }
        };
        all.push(control("right", parts["right"].clone(), true));
        all.push(control("wrong", format!("    {}}}\n", parts["wrong"]), false));
    }
    all
}

/// Whether all forgeries meet all combinations of box and batch; otherwise two of the four have a third of them.
pub fn is_full() -> bool {
    #[expect(clippy::disallowed_methods, reason = "how much is tried differs from place to place")]
    let how = std::env::var("PROOFHOUSE_ATTACKS");
    how.is_ok_and(|how| how == "full")
}

/// Every third of the forgeries, and all honest answers.
fn some() -> Vec<Answer> {
    let mut at = 0;
    let mut all = all();
    all.retain(|answer| {
        at += usize::from(!answer.passes);
        answer.passes || at % 3 == 0 || is_full()
    });
    all
}

/// Judges these answers, and says which verdicts are not as they must be.
fn wrongly_judged(answers: &[Answer], args: &str) -> Vec<String> {
    let lab = Lab::new();
    let problems: String = tasks()
        .iter()
        .map(|(task, parts)| {
            let before = parts.get("before").cloned().unwrap_or_default();
            let prompt = format!("{before}\n/// The task `{task}`.\n{} {{\n", parts["signature"].trim());
            let test = format!("\n{}", parts["test"]);
            let mut row = json!({"task_id": task, "prompt": prompt, "entry_point": task, "test": test});
            if let Some(solution) = parts.get("solution") {
                row["canonical_solution"] = json!(solution);
            }
            row.to_string() + "\n"
        })
        .collect();
    let samples: String = answers
        .iter()
        .map(|answer| json!({"task_id": answer.task, "completion": answer.text}).to_string() + "\n")
        .collect();
    lab.write("problems.jsonl", problems).write("samples.jsonl", samples);
    lab.write(
        "suite.yaml",
        "kind: code\nsuite_id: attacks\nlanguage: rust\nproblems: problems.jsonl\nsamples: {m: samples.jsonl}\nclippy: off\n\
         limits:\n  test: {cpu_ms: 1000, wall_ms: 6000, memory_mib: 256}\n",
    );
    let done = lab.tools(&format!("run suite.yaml --no-cache --skip-report --quiet --run-dir r {args}"));
    assert!(lab.path("r/records.jsonl").exists(), "{}{}", done.stdout, done.stderr);
    let records = lab.records("r");
    assert_eq!(records.len(), answers.len());
    let mut wrong = Vec::new();
    for (answer, record) in answers.iter().zip(&records) {
        let told = record["error_type"].as_str().unwrap_or("passed");
        let infra = told.starts_with("infra_");
        if (told == "passed") != answer.passes || infra {
            wrong.push(format!("{} [{}]: {told} {}", answer.name, answer.task, record["error"]));
        }
    }
    wrong
}

#[test]
fn there_are_enough_of_them() {
    let all = all();
    let count = |passes: bool| all.iter().filter(|answer| answer.passes == passes).count();
    assert!(count(false) >= 120 && count(true) >= 60 + tasks().len() && tasks().len() >= 12);
    let mut names: Vec<_> = all.iter().map(|answer| (&answer.name, &answer.task)).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len(), "each has a name of its own");
}

#[test]
fn no_forgery_passes_and_no_honest_answer_fails_together() {
    assert_eq!(wrongly_judged(&all(), "--sandbox strong"), [""; 0]);
}

#[test]
fn no_forgery_passes_and_no_honest_answer_fails_alone() {
    assert_eq!(wrongly_judged(&some(), "--sandbox strong --measure"), [""; 0]);
}

#[test]
fn no_forgery_passes_and_no_honest_answer_fails_in_a_weaker_box() {
    assert_eq!(wrongly_judged(&some(), "--sandbox confined"), [""; 0]);
}

#[test]
fn no_forgery_passes_and_no_honest_answer_fails_alone_in_a_weaker_box() {
    assert_eq!(wrongly_judged(&all(), "--sandbox confined --measure"), [""; 0]);
}
