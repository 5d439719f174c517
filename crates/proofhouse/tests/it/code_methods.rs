//! Tasks that ask for methods of a type, and tests that look at what a copy of a value does not tell.

use proofhouse::kinds::code::{Border, Problem};

use crate::code_ways::{Answer, are};

const SHARED: Option<Border> = Some(Border::Shared);

const STACK: &str = "#[derive(Default)]\npub struct MinStack { items: Vec<(i32, i32)> }\n\nimpl MinStack {\n    pub fn new() -> Self { Self::default() }\n    pub fn push(&mut self, x: i32) {\n";
const PUSH: &str = "        let least = self.items.last().map_or(x, |last| last.1.min(x)); self.items.push((x, least));\n    }\n";
const REST: &str = "    pub fn pop(&mut self) -> Option<i32> { self.items.pop().map(|pair| pair.0) }\n    pub fn min(&self) -> Option<i32> { self.items.last().map(|pair| pair.1) }\n}\n";
const TEST: &str = "let mut s = MinStack::new(); s.push(3); s.push(1); s.push(2); assert_eq!(s.min(), Some(1)); assert_eq!(s.pop(), Some(2)); s.pop(); assert_eq!(s.min(), Some(3));";

fn task(entry: &str, prompt: &str, test: &str, solution: Option<String>) -> Problem {
    Problem {
        task_id: format!("{entry} {}", solution.is_some()),
        prompt: prompt.into(),
        entry_point: Some(entry.into()),
        test: format!("#[cfg(test)]\nmod tests {{ use super::*; #[test] fn t() {{ {test} }} }}"),
        canonical_solution: solution,
        ..Problem::default()
    }
}

#[test]
fn a_prompt_that_ends_in_a_method_is_continued() {
    let right = format!("{PUSH}{REST}");
    let wrong = format!("        self.items.push((x, x));\n    }}\n{REST}");
    let whole = format!("```rust\n{STACK}{right}```");
    let methods = format!(
        "```rust\n    pub fn push(&mut self, x: i32) {{\n{PUSH}{}\n```",
        REST.trim_end().trim_end_matches('}')
    );
    let exits = format!("        let _ = x; std::process::exit(0)\n    }}\n{REST}");
    let answers: Vec<Answer<'_>> = vec![
        (&right, "passed", SHARED),
        (&whole, "passed", SHARED),
        (&methods, "passed", SHARED),
        (&wrong, "assertion_failure", SHARED),
        (&exits, "runtime_error", SHARED),
    ];
    let tasks = ["push", "MinStack"].map(|entry| {
        [None, Some(right.clone())].map(|solution| (task(entry, STACK, TEST, solution), answers.as_slice()))
    });
    are(&tasks.concat());
}

#[test]
fn a_prompt_that_ends_in_a_method_of_a_trait_is_continued() {
    let fib = "pub struct Fib { a: u64, b: u64 }\nimpl Fib { pub fn new() -> Self { Fib { a: 0, b: 1 } } }\nimpl Iterator for Fib {\n    type Item = u64;\n    fn next(&mut self) -> Option<u64> {\n";
    let shown = "use std::fmt;\npub struct Frac(pub i32, pub i32);\nimpl fmt::Display for Frac {\n    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n";
    are(&[
        (
            task(
                "next",
                fib,
                "assert_eq!(Fib::new().take(7).collect::<Vec<_>>(), vec![0, 1, 1, 2, 3, 5, 8]);",
                None,
            ),
            &[
                (
                    "        let r = self.a; self.a = self.b; self.b += r; Some(r)\n    }\n}\n",
                    "passed",
                    SHARED,
                ),
                ("        Some(self.a)\n    }\n}\n", "assertion_failure", SHARED),
            ],
        ),
        (
            task(
                "fmt",
                shown,
                "assert_eq!(format!(\"{}\", Frac(1, 2)), \"1/2\"); assert_eq!(Frac(3, 4).to_string(), \"3/4\");",
                None,
            ),
            &[
                ("        write!(f, \"{}/{}\", self.0, self.1)\n    }\n}\n", "passed", SHARED),
                ("        write!(f, \"{}\", self.0)\n    }\n}\n", "assertion_failure", SHARED),
            ],
        ),
    ]);
}

#[test]
fn borrowed_or_owned_is_seen_where_tests_ask() {
    let prompt = "use std::borrow::Cow;\npub fn joined(s: &str) -> Cow<'_, str> {\n";
    let test =
        "assert_eq!(joined(\"a b\"), \"a_b\"); assert!(matches!(joined(\"ab\"), Cow::Borrowed(\"ab\")));";
    let right = "    if s.contains(' ') { Cow::Owned(s.replace(' ', \"_\")) } else { Cow::Borrowed(s) }\n}\n";
    are(&[(
        task("joined", prompt, test, None),
        &[
            (right, "passed", SHARED),
            ("    Cow::Owned(s.replace(' ', \"_\"))\n}\n", "assertion_failure", SHARED),
        ],
    )]);
}

#[test]
fn an_expectation_that_says_nothing_accuses_nobody() {
    let prompt = "pub fn turned<const N: usize>(a: [i32; N]) -> [i32; N] {\n";
    let test = "assert_eq!(turned([1, 2, 3]), [3, 2, 1]); assert_eq!(turned([]), [0i32; 0]); assert_eq!(turned([4]), [5 * 0 + 4]);";
    are(&[(
        task("turned", prompt, test, None),
        &[
            ("    let mut b = a; b.reverse(); b\n}\n", "passed", SHARED),
            ("    a\n}\n", "assertion_failure", SHARED),
        ],
    )]);
}
