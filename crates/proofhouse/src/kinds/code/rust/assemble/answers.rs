//! Answers as chat models wrap them.

use super::tests::frame;
use super::*;

/// A right function, on one line.
const RIGHT: &str = "fn one() -> i32 { 1 }";

fn read(completion: &str) -> Assembled {
    let frame = frame("use std::fmt;\n\n/// Gives one.\nfn one() -> i32 {\n", "one");
    assemble(&frame, completion).expect("there is code")
}

/// Every part is in what the answer is read as, the function once, and it is made of items.
#[track_caller]
fn has(completion: &str, parts: &[&str]) -> Assembled {
    let found = read(completion);
    for part in parts {
        assert!(found.source.contains(part), "{part} is not in:\n{}", found.source);
    }
    assert_eq!(found.source.matches("fn one()").count(), 1, "{}", found.source);
    assert!(Item::all(&Lexed::of(&found.source).unwrap()).is_some(), "{}", found.source);
    assert_ne!(found.reading, Reading::AsIs, "{}", found.source);
    found
}

#[track_caller]
fn lacks(completion: &str, parts: &[&str], absent: &[&str]) {
    let found = has(completion, parts);
    for part in absent {
        assert!(!found.source.contains(part), "{part} is in:\n{}", found.source);
    }
}

#[test]
fn fences_of_every_kind_are_opened_and_closed() {
    for answer in [
        format!("```rust\n{RIGHT}\n```"),
        format!("\u{feff}```rust\n{RIGHT}\n```"),
        format!("```rs\n{RIGHT}\n```"),
        format!("```Rust\n{RIGHT}\n```"),
        format!("```rust title=\"src/lib.rs\"\n{RIGHT}\n```"),
        format!("```rust,no_run\n{RIGHT}\n```"),
        format!("```rust:src/lib.rs\n{RIGHT}\n```"),
        format!("```{{.rust .numberLines}}\n{RIGHT}\n```"),
        format!("~~~rust\n{RIGHT}\n~~~"),
        format!("`````rust\n{RIGHT}\n`````"),
        format!("1. It is:\n\n   ```rust\n   {RIGHT}\n   ```\n2. Done; enjoy {{it}}."),
        format!("Answer: ```rust\n{RIGHT}\n```"),
        format!("```rust {RIGHT}```"),
        format!("```{RIGHT}```"),
        format!("It is ```rust {RIGHT}``` as you see."),
        format!("It is `{RIGHT}` as you see."),
        format!("```rust {RIGHT}\n```"),
        format!("```rust\n{RIGHT}```\nThat's it."),
        format!("```rust\r\n{RIGHT}\r\n```\r\nThat's it.\r\n"),
        format!("```toml\n[package]\nname = \"x\"\n```\n\n```rust\n{RIGHT}\n```"),
        format!("```text\n{RIGHT}\n```"),
        format!("```c\nint one(void) {{ return 1; }}\n```\n```rust\n{RIGHT}\n```"),
        format!("<answer>\n{RIGHT}\n</answer>"),
    ] {
        has(&answer, &[RIGHT]);
    }
}

#[test]
fn fences_within_the_code_do_not_end_it() {
    let blocks = "````rust\n/// ```\n/// one();\n/// ```\nfn one() -> i32 { 1 }\n````";
    has(blocks, &["/// one();", RIGHT]);
    let docs = "```rust\n/// ```\n/// one();\n/// ```\nfn one() -> i32 { 1 }\n```\nDone.";
    has(docs, &["/// one();", RIGHT]);
    let comment = "```rust\n/**\n```\none();\n```\n*/\nfn one() -> i32 { 1 }\n```\nDone.";
    has(comment, &["one();\n```", RIGHT]);
    let string = "```rust\nfn one() -> i32 { let _ = r#\"\n```\n\"#; 1 }\n```\nDone.";
    has(string, &["\"#; 1 }"]);
}

#[test]
fn elements_are_read_with_and_without_entities() {
    let code =
        "fn one() -> i32 { let v: Vec<i32> = vec![1]; if v[0] > 0 && v.len() < 2 { v[0] } else { 0 } }";
    let escaped = code.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for answer in [
        format!("<p>Here</p>\n<pre><code class=\"language-rust\">{code}\n</code></pre>"),
        format!("<p>Here</p>\n<pre><code class=\"language-rust\">{escaped}\n</code></pre>"),
        format!("<PRE>\n{escaped}\n</PRE>"),
        format!("<pre>\n<code>{code}</code>\n</pre>"),
        format!("```rust\n{escaped}\n```"),
        format!("<code>{escaped}"),
    ] {
        has(&answer, &[code]);
    }
    has("```rust\nfn one() -> i32 { \"&lt;\".len() as i32 - 3 }\n```", &["\"&lt;\""]);
}

#[test]
fn what_the_function_needs_is_taken_from_other_blocks() {
    let calls = "```rust\nfn one() -> i32 { two() - UNIT }\n```";
    let helper = "```rust\nfn two() -> i32 { UNIT + UNIT }\n```";
    let unit = "```rust\nconst UNIT: i32 = 1;\n```";
    let usage = "```rust\nfn main() {\n    println!(\"{}\", one());\n}\n```";
    let parts = ["one()", "fn two()", "const UNIT"];
    for answer in [
        format!("{helper}\n{unit}\nThen:\n{calls}"),
        format!("{calls}\nwith\n{helper}\nand\n{unit}"),
        format!("{usage}\n{unit}\n{calls}\n{helper}\n```\noutput: 1\n```"),
    ] {
        lacks(&answer, &parts, &["fn main"]);
    }
    let alternatives = format!(
        "{calls}\n{helper}\n{unit}\nOr:\n```rust\nfn three() -> i32 {{ 3 }}\nfn one() -> i32 {{ three() - 2 }}\n```"
    );
    lacks(&alternatives, &parts, &["three"]);
    let types = "```rust\nuse std::collections::HashMap;\nuse std::io::Write as _;\nstruct Map(HashMap<i32, i32>);\n```\n\
                 ```rust\nimpl Map { fn get(&self) -> i32 { self.0[&1] } }\nimpl Drop for Map { fn drop(&mut self) {} }\n```\n\
                 ```rust\nfn one() -> i32 { Map(HashMap::from([(1, 1)])).get() }\n```";
    has(
        types,
        &["use std::collections::HashMap;", "Write as _;", "struct Map", "impl Map", "impl Drop for Map"],
    );
    let macros =
        "```rust\nfn one() -> i32 { unit!() }\n```\nwith\n```rust\nmacro_rules! unit { () => { 1 } }\n```";
    let found = has(macros, &["macro_rules! unit"]);
    assert!(found.source.find("macro_rules") < found.source.find("fn one"), "{}", found.source);
    let body = "The body:\n```rust\n    two() - 1\n}\n```\nThe helper:\n```rust\nfn two() -> i32 { 2 }\n```";
    has(body, &["    two() - 1\n}\n", "fn two()"]);
    let body = "The helper:\n```rust\nfn two() -> i32 { 2 }\n```\nThe body:\n```rust\ntwo() - 1\n```";
    has(body, &["\ntwo() - 1\n\n}\n", "fn two()"]);
}

#[test]
fn a_stub_is_not_the_answer() {
    for stub in [
        "fn one() -> i32 { todo!() }",
        "fn one() -> i32 { todo!(\"later\"); }",
        "fn one() -> i32 {\n    unimplemented!()\n}",
        "fn one() -> i32 {\n    // your code here\n}",
        "fn one() -> i32 { ... }",
        "fn one() -> i32;",
    ] {
        lacks(&format!("```rust\n{stub}\n```\nbecomes\n```rust\n{RIGHT}\n```"), &[RIGHT], &[stub]);
    }
    lacks("fn one() -> i32 { todo!() }\n\nfn one() -> i32 { 1 }", &[RIGHT], &["todo"]);
    has("```rust\nfn one() -> i32 { todo!() }\n```", &["todo!()"]);
}

#[test]
fn what_is_about_the_file_comes_first() {
    let frame = frame("use std::fmt;\nstruct P;\nfn one() -> i32 {\n", "one");
    for (header, inner) in [
        ("#![allow(dead_code)]", true),
        ("//! A crate.\n#![feature(test)]", true),
        ("//! A crate.\n//! With two lines.", false),
        ("/*! A crate. */", false),
    ] {
        let found = assemble(&frame, &format!("```rust\n{header}\n\n{RIGHT}\n```")).unwrap();
        assert!(found.source.starts_with(header), "{}", found.source);
        assert!(found.source.contains("use std::fmt;\nstruct P;"), "{}", found.source);
        assert_eq!((found.inner(), found.own.start), (inner, 0), "{}", found.source);
        let helped = format!(
            "```rust\nfn two() -> i32 {{ 2 }}\n```\n```rust\n{header}\nfn one() -> i32 {{ two() }}\n```"
        );
        let found = assemble(&frame, &helped).unwrap();
        assert!(found.source.starts_with(header) && found.source.contains("fn two"), "{}", found.source);
    }
    assert!(!read("    #![allow(unused)]\n    1\n}\n").inner(), "an attribute of the body is not the file's");
    let denying = format!("#![forbid(unused)]\n#![deny(missing_docs)]\n#![allow(dead_code)]\n{RIGHT}");
    let softened = "#![warn  (unused)]\n#![warn(missing_docs)]\n#![allow(dead_code)]\n";
    assert!(
        read(&denying).source.contains(softened),
        "lints are denied to nobody: {}",
        read(&denying).source
    );
    let with_own =
        super::tests::frame("//! Task.\n#![allow(unused)]\nuse std::fmt;\nfn one() -> i32 {\n", "one");
    let found = assemble(&with_own, &format!("#![allow(dead_code)]\n{RIGHT}")).unwrap();
    assert!(
        found.source.starts_with("//! Task.\n#![allow(unused)]\n#![allow(dead_code)]\n"),
        "{}",
        found.source
    );
    assert_eq!(&found.source[found.own.clone()], format!("#![allow(dead_code)]\n{RIGHT}"));
}

#[test]
fn the_function_may_be_given_by_other_means() {
    let frame = frame("fn one() -> i32 {\n", "one");
    for (answer, entry) in [
        ("fn one() -> i32 { 1 }", Entry::Function),
        ("mod imp { pub fn one() -> i32 { 1 } }\npub use imp::one;", Entry::Import),
        (
            "mod imp { pub mod deep { pub fn solve() -> i32 { 1 } } }\nuse self::imp::deep::solve as one;",
            Entry::Import,
        ),
        ("mod imp { pub fn one() -> i32 { 1 } }\nuse imp::{one};", Entry::Import),
        ("const one: fn() -> i32 = || 1;", Entry::Other),
        ("macro_rules! make { ($n:ident) => { fn $n() -> i32 { 1 } } }\nmake!(one);", Entry::Other),
        ("macro_rules! make { () => { fn one() -> i32 { 1 } } }\nmake! {}", Entry::Other),
    ] {
        for answer in [answer.to_owned(), format!("Sure:\n```rust\n{answer}\n```")] {
            let found = assemble(&frame, &answer).unwrap();
            assert_eq!((found.reading, found.entry(&frame)), (Reading::Whole, Some(entry)), "{answer}");
        }
    }
    let usage = "```rust\nuse mylib::one;\nfn main() { one(); }\n```\n```rust\nfn one() -> i32 { 1 }\n```";
    assert!(!assemble(&frame, usage).unwrap().source.contains("mylib"));
}

#[test]
fn a_function_of_a_type_is_called_by_one_with_the_wanted_name() {
    let frame = frame("/// Adds.\nfn add(a: i32, mut b: Vec<(i32, u8)>) -> i32 {\n", "add");
    let method = "impl Solution {\n    pub fn add(a: i32, b: Vec<(i32, u8)>) -> i32 { a + b[0].0 }\n}";
    for declaration in ["struct Solution;\n", "pub struct Solution {}\n", ""] {
        let found = assemble(&frame, &format!("```rust\n{declaration}{method}\n```")).unwrap();
        let call = "fn add(a: i32, mut b: Vec<(i32, u8)>) -> i32 { Solution::add(a, b) }";
        assert!(found.source.contains(call), "{}", found.source);
        assert_eq!(found.source.matches("struct Solution").count(), 1, "{}", found.source);
    }
}

#[test]
fn tests_of_its_own_do_not_matter() {
    for tests in [
        "#[cfg(test)]\nmod tests { use super::*; #[test] fn t() { assert_eq!(one(), 2) } }",
        "#[cfg(all(test, not(feature = \"x\")))]\nmod checks { }",
        "#[test]\nfn t() { assert_eq!(one(), 2) }",
        "mod tests { #[test] fn t() { assert_eq!(super::one(), 2) } }",
    ] {
        lacks(&format!("{RIGHT}\n\n{tests}\n"), &[RIGHT], &["assert_eq", "mod "]);
        let body = read(&format!("    1\n}}\n\n{tests}\n"));
        assert!(!body.source.contains("assert_eq") && !body.source.contains("mod "), "{}", body.source);
    }
    has(&format!("{RIGHT}\nmod tests {{ pub fn two() -> i32 {{ 2 }} }}"), &["fn two"]);
}

#[test]
fn prose_around_code_is_left_out() {
    for answer in [
        format!("Sure! Here's the function:\n\n{RIGHT}\n\nIt's simple; it returns 1."),
        format!("<thinking>\nfn one() -> i32 {{ 2 }}\n</thinking>\n{RIGHT}"),
        format!("<reasoning>It's {{hard}}</reasoning>\n```rust\n{RIGHT}\n```"),
        format!("/// Gives exactly one.\n/// Never two.\n{RIGHT}\n"),
    ] {
        has(&answer, &[RIGHT]);
    }
    has("    1\n}\n\nThis gives one, as it's asked.", &["    1\n}\n"]);
    has("\t1\r\n}\r\n", &["\t1\r\n}"]);
}

#[test]
fn depth_and_length_are_no_danger() {
    let depth = 60_000;
    let deep = format!("fn one() -> i32 {{ {}1{} }}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(read(&deep).reading, Reading::Whole);
    assert_eq!(read(&format!("```rust\n{deep}\n```")).reading, Reading::Whole);
    let fences = format!("{}{RIGHT}\n```\n", "```rust\n".repeat(3000));
    has(&fences, &[RIGHT]);
    let elements = format!("{}{RIGHT}", "<pre><code>".repeat(3000));
    let _ = read(&elements);
}
