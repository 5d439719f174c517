//! How a completion meets its tests: over the border, beside them where its task needs that, and never by its own choice.

use proofhouse::kinds::code::{Border, Clippy, ErrorType, Judge, Judged, Language, Problem, Rust, Sample};

use crate::code::bench;

fn judge(problems: Vec<Problem>) -> Judge {
    Judge::new(bench(), Box::new(Rust::find("rustc".as_ref(), Clippy::Off)), problems)
}

/// A task whose function is `f`; `prompt` ends with its open declaration.
fn task(task_id: &str, prompt: &str, test: &str, solution: &str) -> Problem {
    Problem {
        task_id: task_id.into(),
        prompt: prompt.into(),
        entry_point: Some("f".into()),
        test: format!("fn main() {{ {test} }}"),
        canonical_solution: (!solution.is_empty()).then(|| solution.into()),
        ..Problem::default()
    }
}

fn told(judged: &Judged) -> (&'static str, Option<Border>) {
    (judged.error_type.map_or("passed", ErrorType::as_str), judged.border)
}

/// An answer, its verdict, and what stands between it and its tests.
pub(crate) type Answer<'a> = (&'a str, &'a str, Option<Border>);

/// Judges each answer alone and all together: both say what is expected.
#[track_caller]
pub(crate) fn are(table: &[(Problem, &[Answer<'_>])]) {
    let judge = judge(table.iter().map(|(problem, _)| problem.clone()).collect());
    let mut samples = Vec::new();
    let mut expected = Vec::new();
    for (problem, answers) in table {
        for (completion, verdict, border) in *answers {
            samples.push(Sample {
                index: 0,
                task_id: Some(problem.task_id.clone()),
                completion_id: 0,
                completion: Ok((*completion).to_owned()),
            });
            expected.push((*verdict, *border));
        }
    }
    let together = judge.judge_many(&samples.iter().collect::<Vec<_>>());
    for ((sample, together), expected) in samples.iter().zip(together).zip(expected) {
        assert_eq!(told(&together), expected, "together: {sample:?} {together:#?}");
        let alone = judge.judge(sample);
        assert_eq!(told(&alone), expected, "alone: {sample:?} {alone:#?}");
    }
}

const SEPARATE: Option<Border> = Some(Border::Separate);
const SHARED: Option<Border> = Some(Border::Shared);

#[test]
fn what_only_one_process_shows_is_judged_in_one_process() {
    let capacity = |solution| {
        task(
            "capacity",
            "fn f(n: usize) -> Vec<u8> {\n",
            "let v = f(500); assert!(v.is_empty() && v.capacity() >= 500);",
            solution,
        )
    };
    let unknown = Problem { task_id: "unknown".into(), ..capacity("") };
    let error = "#[derive(Debug)] pub struct Odd(pub i32);\nimpl std::fmt::Display for Odd { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(\"odd\") } }\nimpl std::error::Error for Odd {}\n";
    are(&[
        (
            capacity("    Vec::with_capacity(n)\n}\n"),
            &[
                ("    let mut v = Vec::new(); v.reserve(n); v\n}\n", "passed", SHARED),
                ("    let _ = n; Vec::new()\n}\n", "assertion_failure", SHARED),
            ],
        ),
        // Nobody can know without a solution.
        (unknown, &[("    Vec::with_capacity(n)\n}\n", "assertion_failure", SEPARATE)]),
        (
            task(
                "address",
                "fn f(v: &[String]) -> &String {\n",
                "let v = vec![String::from(\"a\"), String::from(\"b\")]; assert!(std::ptr::eq(f(&v), &v[1]));",
                "    &v[1]\n}\n",
            ),
            &[
                ("    v.last().unwrap()\n}\n", "passed", SHARED),
                ("    &v[0]\n}\n", "assertion_failure", SHARED),
            ],
        ),
        (
            task(
                "error",
                &format!("{error}pub fn f(x: i32) -> Result<i32, Box<dyn std::error::Error>> {{\n"),
                "assert_eq!(f(2).unwrap(), 1); assert_eq!(f(3).unwrap_err().downcast_ref::<Odd>().unwrap().0, 3);",
                "    if x % 2 == 0 { Ok(x / 2) } else { Err(Box::new(Odd(x))) }\n}\n",
            ),
            &[
                ("    if x & 1 == 1 { return Err(Odd(x).into()); }\n    Ok(x >> 1)\n}\n", "passed", SHARED),
                ("    let _ = x; Err(\"odd\".into())\n}\n", "assertion_failure", SHARED),
            ],
        ),
        (
            task(
                "environment",
                "fn f(name: &str) -> Option<String> {\n",
                "std::env::set_var(\"A\", \"7\"); assert_eq!(f(\"A\").as_deref(), Some(\"7\"));",
                "    std::env::var(name).ok()\n}\n",
            ),
            &[
                (
                    "    std::env::vars().find(|(key, _)| key == name).map(|(_, value)| value)\n}\n",
                    "passed",
                    SHARED,
                ),
                ("    let _ = name; None\n}\n", "assertion_failure", SHARED),
            ],
        ),
        (
            task(
                "payload",
                "fn f(x: u32) {\n",
                "let told = std::panic::catch_unwind(|| f(7)).unwrap_err(); assert_eq!(*told.downcast::<u32>().unwrap(), 7);",
                "    std::panic::panic_any(x)\n}\n",
            ),
            &[("    let y = x; std::panic::panic_any(y)\n}\n", "passed", SHARED)],
        ),
        (
            task(
                "counter",
                "use std::sync::atomic::{AtomicU32, Ordering};\nstatic CALLS: AtomicU32 = AtomicU32::new(0);\nfn f() -> u32 {\n",
                "f(); f(); assert_eq!(CALLS.load(Ordering::SeqCst), 2);",
                "    CALLS.fetch_add(1, Ordering::SeqCst)\n}\n",
            ),
            &[
                ("    CALLS.fetch_add(1, Ordering::Relaxed)\n}\n", "passed", SHARED),
                ("    3\n}\n", "assertion_failure", SHARED),
            ],
        ),
    ]);
}

#[test]
fn tests_that_take_what_no_task_defines_are_nobody_s_failure() {
    // Without a solution only the answer could say what `close` is: every answer that does is left out, whatever its model.
    let helped = task("helped", "fn f(x: f64) -> f64 {\n", "assert!(close(f(4.0), 2.0));", "");
    are(&[(
        helped,
        &[
            ("    x.sqrt()\n}\nfn close(a: f64, b: f64) -> bool { a == b }\n", "unsupported", None),
            ("    x.sqrt()\n}\n", "compile_error", None),
        ],
    )]);
}

#[test]
fn a_task_that_crosses_stays_apart() {
    // Its own solution passes over the border: no answer is judged beside its tests, however it fails.
    are(&[(
        task("add", "fn f(a: i32, b: i32) -> i32 {\n", "assert_eq!(f(1, 2), 3);", "    a + b\n}\n"),
        &[
            ("    b + a\n}\n", "passed", SEPARATE),
            ("    a - b\n}\n", "assertion_failure", SEPARATE),
            ("    a / (b - 2)\n}\n", "runtime_error", SEPARATE),
        ],
    )]);
}

#[test]
fn types_by_other_names_cross() {
    are(&[
        (
            task(
                "alias",
                "type R<T> = Result<T, String>;\nfn f(x: i32) -> R<Vec<i32>> {\n",
                "assert_eq!(f(1), Ok(vec![1])); assert!(f(-1).is_err());",
                "",
            ),
            &[
                ("    if x < 0 { Err(\"no\".into()) } else { Ok(vec![x]) }\n}\n", "passed", SEPARATE),
                ("    Ok(vec![x])\n}\n", "assertion_failure", SEPARATE),
            ],
        ),
        (
            task(
                "module",
                "use std::collections as c;\nfn f(x: i32) -> c::BTreeMap<i32, i32> {\n",
                "assert_eq!(f(4)[&4], 4);",
                "",
            ),
            &[("    c::BTreeMap::from([(x, x)])\n}\n", "passed", SEPARATE)],
        ),
        (
            task(
                "io",
                "use std::io;\nfn f(x: i32) -> io::Result<i32> {\n",
                "assert_eq!(f(1).unwrap(), 1); let told = f(-1).unwrap_err(); assert_eq!((told.kind(), told.to_string().as_str()), (io::ErrorKind::InvalidInput, \"below\"));",
                "",
            ),
            &[
                (
                    "    if x < 0 { Err(io::Error::new(io::ErrorKind::InvalidInput, \"below\")) } else { Ok(x) }\n}\n",
                    "passed",
                    SEPARATE,
                ),
                (
                    "    if x < 0 { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(x) }\n}\n",
                    "assertion_failure",
                    SEPARATE,
                ),
            ],
        ),
        (
            task(
                "errors",
                "use std::num::TryFromIntError;\nfn f(x: i64) -> Result<u8, TryFromIntError> {\n",
                "assert_eq!(f(7), Ok(7)); assert!(f(300).is_err()); assert_eq!(f(-1).unwrap_err(), u8::try_from(-1).unwrap_err());",
                "",
            ),
            &[("    x.try_into()\n}\n", "passed", SEPARATE)],
        ),
        (
            task("nothing", "fn f(n: usize) -> Vec<()> {\n", "assert_eq!(f(100_000).len(), 100_000);", ""),
            &[
                ("    vec![(); n]\n}\n", "passed", SEPARATE),
                ("    vec![(); n + 1]\n}\n", "assertion_failure", SEPARATE),
            ],
        ),
        (
            task("large", "fn f(n: usize) -> Vec<u8> {\n", "assert_eq!(f(4 << 20).len(), 4 << 20);", ""),
            &[
                ("    vec![1; n]\n}\n", "passed", SEPARATE),
                ("    vec![1; n - 1]\n}\n", "assertion_failure", SEPARATE),
            ],
        ),
        (
            task("larger", "fn f(n: usize) -> String {\n", "assert_eq!(f(20 << 20).len(), 20 << 20);", ""),
            &[
                ("    \"x\".repeat(n)\n}\n", "passed", SEPARATE),
                // More than is carried.
                ("    \"x\".repeat(16 * n)\n}\n", "memory_limit", SEPARATE),
            ],
        ),
    ]);
}

#[test]
fn what_cannot_cross_for_the_task_s_sake_is_judged_beside_its_tests() {
    let word = "use std::str::FromStr;\npub struct W;\nimpl FromStr for W { type Err = i32; fn from_str(s: &str) -> Result<W, i32> { if s == \"w\" { Ok(W) } else { Err(3) } } }\n";
    are(&[
        (
            task(
                "hidden",
                "fn f(x: &str) -> Result<i32, impl std::fmt::Debug> {\n",
                "assert_eq!(f(\"4\").unwrap(), 4); assert!(f(\"x\").is_err());",
                "",
            ),
            &[
                ("    x.parse::<i32>()\n}\n", "passed", SHARED),
                ("    x.parse::<i32>().map(|x| x + 1)\n}\n", "assertion_failure", SHARED),
            ],
        ),
        (
            task(
                "projected",
                &format!("{word}pub fn f(x: &str) -> Result<W, <W as FromStr>::Err> {{\n"),
                "assert!(f(\"w\").is_ok()); assert_eq!(f(\"x\").err(), Some(3));",
                "",
            ),
            &[("    x.parse()\n}\n", "passed", SHARED)],
        ),
        (
            task(
                "many types",
                "fn f(x: impl AsRef<str>) -> Result<i32, String> {\n",
                "assert_eq!(f(\"4\").unwrap(), 4); assert!(f(String::from(\"x\")).is_err());",
                "",
            ),
            &[
                ("    x.as_ref().parse::<i32>().map_err(|e| e.to_string())\n}\n", "passed", SHARED),
                (
                    "fn f(x: impl AsRef<str>) -> Result<i32, std::num::ParseIntError> { x.as_ref().parse() }\n",
                    "passed",
                    SHARED,
                ),
            ],
        ),
        (
            task("constant", "const fn f(x: u32) -> u32 {\n", "const N: u32 = f(4); assert_eq!(N, 8);", ""),
            &[
                ("    x * 2\n}\n", "passed", SHARED),
                ("    x + 2\n}\n", "assertion_failure", SHARED),
                ("fn f(x: u32) -> u32 { x * 2 }\n", "compile_error", None),
            ],
        ),
    ]);
}

#[test]
fn a_function_of_a_type_crosses() {
    let test = "assert_eq!(Solution::add(vec![1, 2], 3), 6);";
    let solution = |task_id: &str, prompt: &str, entry: &str| Problem {
        entry_point: Some(entry.into()),
        ..task(task_id, prompt, test, "")
    };
    let open = "struct Solution;\n\nimpl Solution {\n    pub fn add(v: Vec<i32>, x: i32) -> i32 {\n";
    let answers: &[Answer<'_>] = &[
        ("        v.iter().sum::<i32>() + x\n    }\n}\n", "passed", SEPARATE),
        (
            "impl Solution {\n    pub fn add(v: Vec<i32>, x: i32) -> i32 {\n        v.iter().sum::<i32>() + x\n    }\n}\n",
            "passed",
            SEPARATE,
        ),
        (
            "pub struct Solution;\nimpl Solution { pub fn add(v: Vec<i32>, x: i32) -> i32 { Self::all(&v) + x } fn all(v: &[i32]) -> i32 { v.iter().sum() } }\n",
            "passed",
            SEPARATE,
        ),
        ("fn add(v: Vec<i32>, x: i32) -> i32 { v.len() as i32 + x }\n", "assertion_failure", SEPARATE),
        (
            "#[derive(Debug)] pub struct All;\nimpl PartialEq<i32> for All { fn eq(&self, _: &i32) -> bool { true } }\npub struct Solution;\nimpl Solution { pub fn add(_: Vec<i32>, _: i32) -> All { All } }\n",
            "compile_error",
            None,
        ),
    ];
    are(&[
        (solution("open", open, "add"), answers),
        (solution("by its path", open, "Solution::add"), answers),
        (solution("closed", &format!("{open}    }}\n}}\n"), "add"), &answers[1..]),
    ]);
}

#[test]
fn tests_take_helpers_from_the_task_s_own_solution() {
    let helped = task(
        "helped",
        "fn f(x: f64) -> f64 {\n",
        "assert!(close(f(4.0), 2.0)); assert!(close(f(9.0), 3.0));",
        "    x.sqrt()\n}\nfn close(a: f64, b: f64) -> bool { (a - b).abs() < LIMIT }\nconst LIMIT: f64 = 1e-6;\n",
    );
    are(&[(
        helped,
        &[
            ("    x.powf(0.5)\n}\nfn close(a: f64, b: f64) -> bool { a == b }\n", "passed", SEPARATE),
            ("    x\n}\nfn close(_: f64, _: f64) -> bool { true }\n", "assertion_failure", SEPARATE),
            ("    x.powf(0.5)\n}\n", "compile_error", None),
        ],
    )]);
}

const MOST: &str = "fn f<T: Ord + Copy>(v: &[T]) -> T {\n";
const LEFT_OUT: [Answer<'_>; 10] = [
    ("    const { assert!(std::mem::size_of::<T>() > 99) }; v[0]\n}\n", "compile_error", None),
    (
        "    r(v[0], std::hint::black_box(0)); v[0]\n}\nfn r<T: Copy>(x: T, n: u32) { if n > 0 { r((x, 1u8), n) } }\n",
        "compile_error",
        None,
    ),
    ("    let r#unsafe = 0; v[r#unsafe]\n}\n", "assertion_failure", SHARED),
    ("extern crate std as s;\nfn f<T: Ord + Copy>(v: &[T]) -> T { v[0] }\n", "assertion_failure", SHARED),
    (
        "extern crate alloc;\nfn f<T: Ord + Copy>(v: &[T]) -> T { let v: alloc::vec::Vec<T> = v.to_vec(); *v.iter().max().unwrap() }\n",
        "passed",
        SHARED,
    ),
    // What reaches below the language is not believed there, but it can fail.
    ("    unsafe { *v.get_unchecked(1) }\n}\n", "unsupported", SHARED),
    ("    unsafe { *v.get_unchecked(0) }\n}\n", "assertion_failure", SHARED),
    // A code by which the tests once said something of the box.
    ("    let _ = v; std::process::exit(7)\n}\n", "runtime_error", SHARED),
    // Two lifetimes and a pointer that lengthen nothing.
    ("    v[0]\n}\nfn x<'a, 'b>(_: &'a &'b ()) {} fn y(_: fn(u8)) {}\n", "assertion_failure", SHARED),
    ("    v[1]\n}\nfn x<'a, 'b>(_: &'a &'b ()) {} fn y(_: fn(u8)) {}\n", "passed", SHARED),
];

#[test]
fn what_the_prompt_defines_is_the_prompt_s_beside_the_tests_too() {
    const TOTAL: &str = "fn f<T: Into<f64> + Copy>(v: &[T]) -> f64 {\n";
    const RIGHT: &str = "    v.iter().map(|x| (*x).into()).sum()\n}\n";
    const WRONG: &str = "fn f<T: Into<f64> + Copy>(_: &[T]) -> f64 { 0.0 }\n";
    let close = "fn close(a: f64, b: f64) -> bool { (a - b).abs() < LIMIT }\n";
    let prompt = |before: &str| format!("{before}{close}{TOTAL}");
    let test = "assert!(close(f(&[1.0f32, 2.0]), 3.0)); assert!(close(f(&[4i32, 5]), 9.0));";
    let own = format!("fn close(_: f64, _: f64) -> bool {{ true }}\n{WRONG}");
    let limit = format!("const LIMIT: f64 = f64::INFINITY;\n{WRONG}");
    let fixed = format!("static LIMIT: f64 = f64::INFINITY;\n{WRONG}");
    let reworded = format!("fn close(x: f64, y: f64) -> bool {{ f64::abs(x - y) < LIMIT }}\n{TOTAL}{RIGHT}");
    are(&[
        (
            task("constant", &prompt("const LIMIT: f64 = 1e-9;\n"), test, RIGHT),
            &[
                (&own, "assertion_failure", SHARED),
                (&limit, "assertion_failure", SHARED),
                (&reworded, "passed", SHARED),
            ],
        ),
        (
            task("static", &prompt("static LIMIT: f64 = 1e-9;\n"), test, RIGHT),
            &[(&own, "assertion_failure", SHARED), (&fixed, "compile_error", None)],
        ),
        // The helper is the solution's own.
        (
            task("lent", TOTAL, test, &format!("{RIGHT}const LIMIT: f64 = 1e-9;\n{close}")),
            &[
                (&own, "assertion_failure", SHARED),
                (&format!("const LIMIT: f64 = 0.1;\n{close}{TOTAL}{RIGHT}"), "passed", SHARED),
                (RIGHT, "compile_error", None),
            ],
        ),
    ]);
}

#[test]
fn who_passes_beside_the_tests_fails_wrong_ones() {
    let pair = "#[derive(Debug, Clone)]\npub struct Pair<T> { pub a: T, pub b: T }\n";
    let equal = |body: &str| {
        format!(
            "impl<T: PartialEq> PartialEq for Pair<T> {{ fn eq(&self, o: &Self) -> bool {{ {body} }} }}\n"
        )
    };
    let swap = "pub fn f<T: Clone>(p: &Pair<T>) -> Pair<T> {\n";
    let prompt = format!("{pair}{}{swap}", equal("self.a == o.a && self.b == o.b"));
    let right = "    Pair { a: p.b.clone(), b: p.a.clone() }\n}\n";
    let always = format!("{pair}{}{swap}    p.clone()\n}}\n", equal("{ let _ = o; true }"));
    let honest = format!("{pair}{}{swap}{right}", equal("(&self.a, &self.b) == (&o.a, &o.b)"));
    let answers: [Answer<'_>; 3] = [
        (&always, "tampered", SHARED),
        (&honest, "passed", SHARED),
        ("    p.clone()\n}\n", "assertion_failure", SHARED),
    ];
    let test = "assert_eq!(f(&Pair { a: 1, b: 2 }), Pair { a: 2, b: 1 });";
    let items = "fn f(n: u32) -> impl DoubleEndedIterator<Item = u32> {\n";
    let own = "struct W; impl Iterator for W { type Item = u32; fn next(&mut self) -> Option<u32> { None } \
               fn eq<I>(self, _: I) -> bool where I: IntoIterator, u32: PartialEq<I::Item> { true } }\n\
               impl DoubleEndedIterator for W { fn next_back(&mut self) -> Option<u32> { None } }\n\
               fn f(_: u32) -> impl DoubleEndedIterator<Item = u32> { W }\n";
    let items_test = "assert!(f(3).eq([0, 1, 2])); assert!(f(1).eq([0]));";
    let of_items: [Answer<'_>; 2] =
        [(own, "tampered", SHARED), ("    (0..n).into_iter()\n}\n", "passed", SHARED)];
    are(&[
        (task("solved", &prompt, test, right), &answers),
        (task("unsolved", &prompt, test, ""), &answers),
        (task("items", items, items_test, "    0..n\n}\n"), &of_items),
        (task("items, unsolved", items, items_test, ""), &of_items),
    ]);
}

#[test]
fn no_answer_has_itself_left_out_of_the_score() {
    let one = || task("one", "fn f() -> i32 {\n", "assert_eq!(f(), 1);", "");
    let prose = || Problem {
        prompt: "Write a function `f` that gives the larger of two numbers.".into(),
        ..task("prose", "", "assert_eq!(f(1, 2), 2);", "fn f(a: i32, b: i32) -> i32 { a.max(b) }\n")
    };
    are(&[
        (
            one(),
            &[
                ("fn f() -> impl PartialEq<i32> + std::fmt::Debug { 1 }\n", "compile_error", None),
                ("    1\n}\n/*", "compile_error", None),
                ("fn f() -> i32 {\n    1\n}\nfn g() -> i32 { 2 } /* and more }\n", "compile_error", None),
            ],
        ),
        // What the compiler finds only where the tests use a function of many types, and words that only look like more.
        (task("most", MOST, "assert_eq!(f(&[1, 2]), 2);", "    *v.iter().max().unwrap()\n}\n"), &LEFT_OUT),
        (task("most, unsolved", MOST, "assert_eq!(f(&[1, 2]), 2);", ""), &LEFT_OUT),
        // What the task does not declare, its own solution does.
        (prose(), &[("fn f<T: Ord>(a: T, b: T) -> T { a.max(b) }\n", "passed", SEPARATE)]),
    ]);
}

#[test]
fn an_error_without_a_place_costs_the_neighbours_nothing() {
    // The compiler finds the mistake in the standard library, where nobody's answer is.
    let placeless = "    let v: Vec<[u64; usize::MAX / 8]> = Vec::new(); v.len() as i32 + a + b\n}\n";
    let mut answers: Vec<String> = (0..23).map(|n| format!("    let n = {n}; a + b + n - n\n}}\n")).collect();
    answers.insert(11, placeless.to_owned());
    let add = task("add", "fn f(a: i32, b: i32) -> i32 {\n", "assert_eq!(f(1, 2), 3);", "");
    let items: Vec<(&Problem, &str)> = answers.iter().map(|text| (&add, text.as_str())).collect();
    let rust = Rust::find("rustc".as_ref(), Clippy::Off);
    let mut passed = Vec::new();
    rust.judge_together(&bench(), &items, &mut |at, judged| {
        assert_eq!(told(&judged), ("passed", SEPARATE), "{at}: {judged:#?}");
        passed.push(at);
    });
    // Halves of halves: with it only those of the last part are left to be judged alone.
    assert!(passed.len() >= 18 && !passed.contains(&11), "{passed:?}");
    let alone = judge(vec![add]).judge_completion("add", placeless).unwrap();
    assert_eq!(told(&alone), ("compile_error", None), "{alone:#?}");
}
