//! What a `code` suite reads that others wrote: problems, samples, and the code in answers.

use std::io::Cursor;

use camino::Utf8Path;

use super::{Format, Problem, Prose, Samples, read_problem_file, rust};
use crate::kinds::Reader;

pub(super) const READERS: &[Reader] = &[
    Reader {
        name: "sample",
        read: samples,
        examples: &[
            b"{\"task_id\":\"a\",\"completion\":\"    return 1\"}\n{\"task_id\":\"a\",\"solution\":null}\n",
            b"{\"task_id\":7,\"generation\":\"NaN \\\" \\ud83d\\ude00\",\"logprob\":NaN}\n\n[1]\n{\"task_id\":\"cut off",
        ],
    },
    Reader {
        name: "problem",
        read: problems,
        examples: &[
            include_bytes!("init/problems.jsonl"),
            b"{\"task_id\":\"a\",\"prompt\":\"def f():\\n\",\"entry_point\":\"f\",\"test\":\"def check(f):\\n    assert f()\\n\"}\n",
            b"{\"name\":\"a\",\"language\":\"rs\",\"prompt\":\"fn f() -> u8 {\\n\",\"tests\":\"fn main() {}\",\"stop_tokens\":[\"\\n}\"]}\n",
        ],
    },
    Reader {
        name: "completion",
        read: completion,
        examples: &[
            b"    a + b\n}",
            b"Here it is:\n```rust\nfn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n```\nIt adds.",
            b"<think>```</think>```\nuse std::fmt;\nimpl A { fn add(&self) {} }\nfn main() { let s = r#\"}\"#; /* { */ }\n```",
            b"fn add(a: u8, b: u8) -> u8 { match a { 0 => b, _ => { let x = '{'; unsafe { x as u8 } } } } #[test] fn t() {}",
        ],
    },
];

fn samples(bytes: &[u8], _folder: &Utf8Path) {
    Samples::from_reader(Cursor::new(bytes.to_vec())).for_each(drop);
}

fn problems(bytes: &[u8], folder: &Utf8Path) {
    let path = folder.join("problems.jsonl");
    if std::fs::write(&path, bytes).is_ok() {
        let _ = read_problem_file(&path);
    }
}

/// Tasks whose answers are read: a function, a method of a type, and one that is declared apart.
fn tasks() -> [Problem; 3] {
    let function = Problem {
        task_id: "add".to_owned(),
        prompt: "/// Adds.\nfn add(a: u8, b: u8) -> u8 {\n".to_owned(),
        declaration: None,
        entry_point: Some("add".to_owned()),
        test: "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn t() { assert_eq!(add(1, 2), 3); }\n}\n".to_owned(),
        stop_tokens: vec!["\n}".to_owned()],
        canonical_solution: None,
        buggy_solution: None,
        language: None,
        format: Format::HumanEval,
    };
    let method = Problem {
        prompt: "struct A(u8);\nimpl A {\n    fn add(&self, b: u8) -> u8 {\n".to_owned(),
        test: "fn main() { assert_eq!(A(1).add(2), 3); }".to_owned(),
        ..function.clone()
    };
    let apart = Problem {
        prompt: "Write a function that adds.".to_owned(),
        declaration: Some("use std::fmt;\nfn add(a: u8, b: u8) -> u8 {\n".to_owned()),
        ..function.clone()
    };
    [function, method, apart]
}

fn completion(bytes: &[u8], _folder: &Utf8Path) {
    let text = String::from_utf8_lossy(bytes);
    for problem in tasks() {
        rust::read_answer(&problem, &text);
    }
    let [program, ..] = tasks();
    let _ = Problem { format: Format::Stdio, ..program }.judged(&text);
    // An answer is also what a prompt may look like.
    for prose in [Prose::in_rust(&text, Some("add")), Prose::in_python(&text, Some("add"))] {
        let _ = prose.text();
    }
}
