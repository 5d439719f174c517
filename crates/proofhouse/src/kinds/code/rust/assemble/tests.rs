//! Answers as models give them.

use super::*;
use crate::kinds::code::problem::Problem;

pub(super) fn frame(prompt: &str, entry: &str) -> Frame {
    let problem = Problem {
        prompt: prompt.into(),
        entry_point: Some(entry.into()),
        test: "#[test] fn t() { f() }".into(),
        ..Problem::default()
    };
    Frame::of(&problem, &BTreeSet::new())
}

fn read(completion: &str) -> Option<Assembled> {
    assemble(&frame("use std::fmt;\n\n/// Gives one.\nfn one() -> i32 {\n", "one"), completion)
}

/// The reading, and the source without the parts that every case has.
#[track_caller]
fn check(completion: &str, reading: Reading, main_free: bool, must_have: &str) {
    let found = read(completion).expect("there is code");
    assert_eq!((found.reading, found.main_free), (reading, main_free), "{}", found.source);
    assert!(found.source.contains(must_have), "{}", found.source);
    assert_eq!(found.source.matches("fn one()").count(), 1, "{}", found.source);
    if reading != Reading::AsIs {
        assert!(
            Lexed::of(&found.source).is_some_and(|lexed| Item::all(&lexed).is_some()),
            "{}",
            found.source
        );
    }
}

#[test]
fn a_body_continues_the_prompt() {
    check("    1\n}\n", Reading::Body, true, "-> i32 {\n    1\n}");
    check("    let s = \"}{\"; // }\n    s.len() as i32\n}\n", Reading::Body, true, "}{");
    check("    helper()\n}\n\nfn helper() -> i32 { 1 }\n", Reading::Body, true, "fn helper");
    check("    1\n}\n\nfn main() {\n    println!(\"{}\", one());\n}\n", Reading::Body, false, "fn main");
    check("    // fn main() {}\n    let _ = \"fn main() {}\"; 1\n}\n", Reading::Body, true, "// fn main");
    check("```rust\n    1\n}\n```", Reading::Body, true, "    1\n}");
    check("```rust\n    1\n```", Reading::Body, true, "    1\n\n}");
    check("```\n    1\n}", Reading::Body, true, "    1\n}");
}

#[test]
fn a_whole_function_stands_behind_the_preamble() {
    for code in [
        "fn one() -> i32 {\n    1\n}",
        "/// Gives one.\npub fn one() -> i32 {\n    1\n}\n",
        "use std::collections::HashMap;\n\nfn one() -> i32 { HashMap::from([(1, 1)])[&1] }\n",
        "#[derive(Debug, Clone)]\nstruct S { x: i32 }\nimpl S { fn main(&self) {} }\nfn one() -> i32 { S { x: 1 }.x }",
        "use std::fmt;\n\n/// Gives one.\nfn one() -> i32 {\n    1\n}\n",
    ] {
        for answer in [
            code.to_owned(),
            format!("```rust\n{code}\n```"),
            format!("```rust\n{code}"),
            format!(
                "Here's the code, it doesn't fail:\n\n```rust\n{code}\n```\nHope it helps. Don't `panic`."
            ),
            format!("Sure! Here's it:\n\n{code}\n\nThis function returns 1, doesn't it?"),
            format!("```toml\n[x]\n```\n```rust\n{code}\n```\n```bash\ncargo run\n```"),
        ] {
            check(&answer, Reading::Whole, true, "fn one() -> i32 {");
            let found = read(&answer).unwrap();
            assert_eq!(found.source.matches("use std::fmt;").count(), 1, "imported once: {}", found.source);
        }
    }
    check("fn one() -> i32 { 1 }\nfn main() {}\n", Reading::Whole, false, "fn main");
    check("fn one() -> i32 { 1 }\nmod m { fn main() {} }\n", Reading::Whole, true, "fn main");
}

#[test]
fn two_blocks_are_one_program() {
    let answer = "First a helper:\n```rust\nfn two() -> i32 { 2 }\n```\nthen\n```rust\nfn one() -> i32 { two() - 1 }\n```\n";
    let found = read(answer).unwrap();
    assert!(found.source.contains("fn one()"), "{}", found.source);
}

#[test]
fn what_the_answer_repeats_is_not_doubled() {
    let frame = frame(
        "use std::{cmp::{max, self}, collections::{HashSet, HashMap}};\nstruct P { x: i32 }\nimpl P { fn new() -> P { P { x: 1 } } }\nfn main(){}\nfn one() -> i32 {\n",
        "one",
    );
    let answer = "use std::collections::HashMap;\nstruct P { x: i32 }\nimpl P { fn new() -> P { P { x: 1 } } }\nfn one() -> i32 { P::new().x }";
    let found = assemble(&frame, answer).unwrap();
    assert_eq!(found.source.matches("struct P").count(), 1);
    assert_eq!(found.source.matches("impl P").count(), 1);
    assert!(found.source.contains("use std::cmp::max; use std::cmp; use std::collections::HashSet;"));
    assert_eq!(found.source.matches("HashMap").count(), 1);
    assert!(found.main_free, "the prompt's `main` is not the model's");
    assert_eq!(&found.source[found.own.clone()], answer);
}

#[test]
fn what_cannot_be_read_goes_to_the_compiler_as_it_is() {
    check("", Reading::AsIs, true, "fn one() -> i32 {\n");
    check("    \"never closed\n}\n", Reading::AsIs, true, "never closed");
    check("    0\n}\n/**/ #[cfg(any())]\n", Reading::AsIs, true, "cfg(any())");
    check("    1\n", Reading::AsIs, true, "    1\n");
}

#[test]
fn prose_alone_is_no_code() {
    assert_eq!(read("I'm sorry, but I cannot help with that request."), None);
    assert_eq!(read("The function returns the number one, as the documentation says"), None);
}

/// A task as MultiPL-E has it: the model was stopped at the brace that the tests begin with.
fn stopped_at_the_brace() -> Frame {
    let problem = Problem {
        prompt: "fn one() -> i32 {\n".into(),
        test: "}\n\nfn main() { f(); }".into(),
        stop_tokens: vec!["\n}".into()],
        ..Problem::default()
    };
    Frame::of(&problem, &BTreeSet::new())
}

#[test]
fn a_model_that_was_stopped_before_the_brace_gets_it() {
    let frame = stopped_at_the_brace();
    assert_eq!(frame.entry.as_deref(), Some("one"), "found in the prompt");
    assert_eq!(frame.checks.names, ["main"]);
    assert_eq!(assemble(&frame, "    1").unwrap().source, "fn one() -> i32 {\n    1\n}\n");
    assert_eq!(assemble(&frame, "    1\n}\n").unwrap().source, "fn one() -> i32 {\n    1\n}\n");
    assert_eq!(assemble(&frame, "fn one() -> i32 { 1 }").unwrap().reading, Reading::Whole);
}

#[test]
fn imports_of_absent_crates_are_taken_out_of_the_prompt() {
    let prompt = "use std::fmt;\nuse rand::Rng;\nuse md5;\nfn one() -> i32 {\n";
    let problem = Problem { prompt: prompt.into(), test: "fn main() { f(); }".into(), ..Problem::default() };
    let none = Frame::of(&problem, &BTreeSet::new());
    assert_eq!(none.head.len(), prompt.len());
    assert!(none.head.contains("use std::fmt;") && !none.head.contains("rand"));
    assert_eq!(none.missing.iter().map(|leaf| leaf.name.as_str()).collect::<Vec<_>>(), ["Rng", "md5"]);
    let some = Frame::of(&problem, &BTreeSet::from(["rand".to_owned(), "md5".to_owned()]));
    assert!(some.missing.is_empty() && some.head == prompt);
}

#[test]
fn what_a_model_thought_is_not_its_answer() {
    let draft = "fn one() -> i32 {\n    2\n}";
    for thought in [format!("<think>\n{draft}\n</think>\n"), format!("```rust\n{draft}\n```\n</think>")] {
        for answer in ["fn one() -> i32 {\n    1\n}", "```rust\nfn one() -> i32 {\n    1\n}\n```"] {
            check(&format!("{thought}{answer}"), Reading::Whole, true, "    1\n}");
        }
    }
}

#[test]
fn a_fence_that_closes_nothing_ends_a_body() {
    check("    1;\n    1\n}\n```", Reading::Body, true, "    1;\n    1\n}");
    check("    1;\n    1\n}\n```\nThis gives one.", Reading::Body, true, "    1;\n    1\n}");
    check("Here it is:\n```\n    1;\n    1\n}", Reading::Body, true, "    1;\n    1\n}");
}

#[test]
fn prose_around_a_whole_function_is_no_body_where_the_brace_is_missing() {
    let frame = stopped_at_the_brace();
    for answer in
        ["Here it is:\nfn one() -> i32 {\n    1\n}\n", "fn one() -> i32 {\n    1\n}\nIt gives one.\n"]
    {
        assert_eq!(assemble(&frame, answer).unwrap().reading, Reading::Whole, "{answer}");
    }
}

#[test]
fn imports_of_absent_crates_that_an_answer_only_repeats_are_taken_out_too() {
    let prompt = "use std::fmt;\nuse rand::Rng;\nfn one() -> i32 {\n";
    let problem = Problem { prompt: prompt.into(), test: "fn main() { f(); }".into(), ..Problem::default() };
    let frame = Frame::of(&problem, &BTreeSet::new());
    let found = assemble(&frame, &format!("{prompt}    1\n}}\n")).unwrap();
    assert!(!found.source.contains("rand"), "{}", found.source);
    assert!(super::super::screen::screen(&frame, &found).missing_crates.is_empty());
    let needed = assemble(&frame, &format!("{prompt}    rand::thread_rng().gen()\n}}\n")).unwrap();
    assert_eq!(super::super::screen::screen(&frame, &needed).missing_crates, ["rand"]);
}

#[test]
fn a_type_that_the_prompt_ends_with_may_be_written_whole() {
    let whole = "#[derive(Debug)]\npub struct Stack { items: Vec<i32> }\nimpl Stack { fn new() -> Self { todo!() } }\n";
    for prompt in ["use std::fmt;\n/// A stack.\npub struct Stack\n", "use std::fmt;\npub struct Stack {\n"] {
        let frame = frame(prompt, "Stack");
        let found = assemble(&frame, whole).unwrap();
        assert_eq!(found.source.matches("struct Stack").count(), 1, "{}", found.source);
        assert!(found.source.starts_with("use std::fmt;\n") && found.reading == Reading::Whole);
        let fields = "{ items: Vec<i32> }\nimpl Stack {}\n";
        if !prompt.contains('{') {
            assert!(assemble(&frame, fields).unwrap().source.contains("pub struct Stack\n{ items"));
        }
    }
}

#[test]
fn methods_of_a_block_that_the_prompt_leaves_open() {
    let prompt = "pub struct Stack<T> { items: Vec<T> }\n\nimpl<T: Ord> Stack<T> {\n    pub fn new() -> Self { Stack { items: Vec::new() } }\n    /// Puts one on it.\n    pub fn push(&mut self, item: T) {\n";
    for named in ["push", "Stack"] {
        let frame = frame(prompt, named);
        assert_eq!(frame.entry.as_deref(), Some("Stack"));
        let push = "pub fn push(&mut self, item: T) { self.items.push(item) }";
        let whole = format!(
            "pub struct Stack<T> {{ items: Vec<T> }}\nimpl<T: Ord> Stack<T> {{ pub fn new() -> Self {{ Stack {{ items: Vec::new() }} }} {push} }}"
        );
        for (answer, reading) in [
            ("        self.items.push(item);\n    }\n}\n".to_owned(), Reading::Body),
            ("        self.items.push(item);\n    }\n    pub fn len(&self) -> usize { self.items.len() }\n}\n".to_owned(), Reading::Body),
            (push.to_owned(), Reading::Whole),
            (format!("Here:\n```rust\n    {push}\n```\n"), Reading::Whole),
            (whole.clone(), Reading::Whole),
            (format!("```rust\n{whole}\n```"), Reading::Whole),
            (format!("impl<T: Ord> Stack<T> {{ pub fn new() -> Self {{ Stack {{ items: Vec::new() }} }} {push} }}"), Reading::Whole),
        ] {
            let found = assemble(&frame, &answer).expect("there is code");
            assert_eq!(found.reading, reading, "{answer}\n{}", found.source);
            for once in ["struct Stack", "impl<T: Ord>", "fn new", "fn push", "self.items.push"] {
                assert_eq!(found.source.matches(once).count(), 1, "{once} in\n{}", found.source);
            }
            assert!(Item::all(&Lexed::of(&found.source).unwrap()).is_some(), "{}", found.source);
        }
    }
}
