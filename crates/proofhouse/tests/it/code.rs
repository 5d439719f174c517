//! Completions judged in the sandbox: what passes, what fails and why, and what only pretends to pass.

use proofhouse::kinds::code::{
    Bench, Budgets, Cache, Clippy, ErrorType, Judge, Judged, Problem, Rust, Sample, Samples, judge_samples,
    read_problems,
};
use proofhouse_sandbox::{Helper, Options, Sandbox};

pub(crate) fn bench() -> Bench {
    bench_with(Budgets::default())
}

pub(crate) fn bench_with(budgets: Budgets) -> Bench {
    let mut options = Options::new(std::env::temp_dir());
    options.helper = Helper::At(env!("CARGO_BIN_EXE_proofhouse").into());
    Bench::new(Sandbox::open(options).expect("a sandbox"), budgets).expect("a bench")
}

fn judge(problems: Vec<Problem>, clippy: Clippy) -> Judge {
    Judge::new(bench(), Box::new(Rust::find("rustc".as_ref(), clippy)), problems)
}

fn one() -> Problem {
    Problem {
        task_id: "one".into(),
        prompt: "fn one() -> i32 {\n".into(),
        entry_point: Some("one".into()),
        test: "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn gives_one() {\n        assert_eq!(one(), 1);\n    }\n}\n".into(),
        ..Problem::default()
    }
}

fn refs(samples: &[Sample]) -> Vec<&Sample> {
    samples.iter().collect()
}

fn told(judged: &Judged) -> &'static str {
    judged.error_type.map_or("passed", ErrorType::as_str)
}

#[test]
fn a_verdict_has_its_reason() {
    let judge = judge(vec![one()], Clippy::Advisory);
    let say = |completion: &str| judge.judge_completion("one", completion).unwrap();

    let good = say("    1\n}\n");
    assert_eq!((told(&good), good.clippy_ok, good.test_ok), ("passed", Some(true), Some(true)), "{good:#?}");
    assert_eq!(good.diagnostics.tests.len(), 1);

    let dirty = say("    let x = 1;\n    return x;\n}\n");
    assert_eq!((told(&dirty), dirty.clippy_ok), ("passed", Some(false)));
    let lints: Vec<_> = dirty.diagnostics.lints.iter().filter_map(|lint| lint.code.as_deref()).collect();
    assert_eq!(lints, ["clippy::needless_return", "clippy::let_and_return"][..lints.len()], "{dirty:#?}");

    let wrong = say("    0\n}\n");
    let panic = wrong.diagnostics.panic.clone().unwrap();
    assert_eq!(
        (told(&wrong), panic.file.as_deref(), panic.line),
        ("assertion_failure", Some("test"), Some(8))
    );
    assert!(panic.message.contains("left: 0"), "{}", panic.message);

    let index = say("    let v: Vec<i32> = vec![];\n    v[3]\n}\n");
    let panic = index.diagnostics.panic.clone().unwrap();
    assert_eq!(
        (told(&index), panic.file.as_deref(), panic.line),
        ("runtime_error", Some("completion"), Some(3))
    );

    let ill_typed = say("    \"x\"\n}\n");
    assert_eq!(
        (told(&ill_typed), ill_typed.compile_ok, ill_typed.test_ok),
        ("compile_error", Some(false), None)
    );
    assert_eq!(ill_typed.diagnostics.errors[0].code.as_deref(), Some("E0308"));
    assert!(ill_typed.stderr.text.contains("completion:2:5"), "{}", ill_typed.stderr.text);

    assert_eq!(told(&say("    std::process::exit(7)\n}\n")), "runtime_error");
    assert_eq!(told(&say("    1\n}\nfn main() {}\n")), "passed");
    assert_eq!(told(&say("    crate::two() - 1\n}\nfn two() -> i32 { 2 }\nfn main() {}\n")), "passed");
    assert_eq!(told(&say("    unsafe { *(&1 as *const i32) }\n}\n")), "passed");
    let alias = "type Result<T> = std::result::Result<T, String>;\nfn two() -> Result<i32> { Ok(2) }\nfn one() -> i32 { two().unwrap() - 1 }\n";
    assert_eq!(told(&say(alias)), "passed");
    assert_eq!(told(&say("    1\r\n}\r\n")), "passed");
    assert_eq!(told(&say("I am sorry, I cannot do that")), "extraction_failed");
}

#[test]
fn nothing_that_only_pretends_passes() {
    let judge = judge(vec![one()], Clippy::Off);
    let attacks = [
        ("exit", "    std::process::exit(0)\n}\n"),
        ("forged output", "    println!(\"test result: ok. 1 passed\"); std::process::exit(0)\n}\n"),
        ("panic hook", "    std::panic::set_hook(Box::new(|_| std::process::exit(0))); 0\n}\n"),
        ("shadowed macro", "    0\n}\nmacro_rules! assert_eq { ($($t:tt)*) => {} }\n"),
        (
            "imported macro",
            "    0\n}\nmacro_rules! mine { ($($t:tt)*) => {} }\npub(crate) use mine as assert_eq;\n",
        ),
        (
            "exported macro",
            "    0\n}\n#[macro_export] macro_rules! mine { ($($t:tt)*) => {} }\npub use mine as assert_eq;\n",
        ),
        (
            "macro by macro",
            "    0\n}\nmacro_rules! m { ($n:ident) => { macro_rules! $n { ($($t:tt)*) => {} } } }\nm!(assert_eq);\n",
        ),
        ("dangling cfg", "    0\n}\n#[cfg(any())]\n"),
        ("tests of its own", "    0\n}\nmod tests { pub fn gives_one() {} }\n#[cfg(any())]\n"),
        ("guard of its own", "    0\n}\nmod __proofhouse_guard {}\n#[cfg(any())]\n"),
        (
            "init array",
            "    0\n}\n#[link_section = \".init_array\"] static A: extern \"C\" fn() = a; extern \"C\" fn a() { std::process::exit(0) }\n",
        ),
        (
            "init array by macro",
            "    0\n}\nmacro_rules! m { ($($a:tt)*) => { #[$($a)*] static A: extern \"C\" fn() = a; } }\nm!(link_section = \".init_array\"); extern \"C\" fn a() { std::process::exit(0) }\n",
        ),
        (
            "secret by descriptor",
            "    use std::{io::{Read, Seek}, os::fd::AsFd, fs::File}; let mut f = File::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap()); let mut s = String::new(); let _ = f.rewind(); f.read_to_string(&mut s).unwrap(); std::fs::write(\"report\", format!(\"ok\\ttests::gives_one\\t\\t0\\t0\\t\\n{s}\")).unwrap(); std::process::exit(0)\n}\n",
        ),
        (
            "report of its own",
            "    std::fs::write(\"report\", \"ok\\ttests::gives_one\\t\\t0\\t0\\t\\n\").unwrap(); std::process::exit(0)\n}\n",
        ),
        (
            "type that equals all",
            "fn one() -> Any { Any }\n#[derive(Debug)] struct Any;\nimpl PartialEq<i32> for Any { fn eq(&self, _: &i32) -> bool { true } }\n",
        ),
        (
            "alias of such a type",
            "fn one() -> N { Any }\ntype N = Any;\n#[derive(Debug)] struct Any;\nimpl PartialEq<i32> for Any { fn eq(&self, _: &i32) -> bool { true } }\n",
        ),
        (
            "such a type, not named",
            "fn one() -> impl PartialEq<i32> + std::fmt::Debug { Any }\n#[derive(Debug)] struct Any;\nimpl PartialEq<i32> for Any { fn eq(&self, _: &i32) -> bool { true } }\n",
        ),
        (
            "such a type by a macro",
            "macro_rules! mk { ($n:ident) => { #[derive(Debug)] pub struct $n; impl PartialEq<i32> for $n { fn eq(&self, _: &i32) -> bool { true } } } }\nmk!(Any);\nfn one() -> Any { Any }\n",
        ),
        (
            "such a type from another module",
            "mod m { #[derive(Debug)] pub struct Any; impl PartialEq<i32> for Any { fn eq(&self, _: &i32) -> bool { true } } }\nuse m::Any as N;\nfn one() -> Vec<N> { vec![] }\n",
        ),
        (
            "function that comes with such a type",
            "mod m { #[derive(Debug)] pub struct Any; impl PartialEq<i32> for Any { fn eq(&self, _: &i32) -> bool { true } } pub fn one() -> Any { Any } }\npub use m::one;\n",
        ),
        ("tests read at compile time", "    if include_str!(\"tests.rs\").len() > 0 { 1 } else { 0 }\n}\n"),
        ("unclosed comment", "    0\n}\n/*"),
        ("unclosed string", "    0\n}\nconst S: &str = r#\""),
        ("whole crate out", "#![cfg(any())]\nfn one() -> i32 { 0 }\n"),
        ("no main", "#![no_main]\nfn one() -> i32 { 0 }\n"),
    ];
    for (name, completion) in attacks {
        let judged = judge.judge_completion("one", completion).unwrap();
        assert!(!judged.passed(), "{name}: {judged:#?}");
        assert!(!judged.error_type.is_some_and(ErrorType::is_infra), "{name}: {judged:#?}");
    }
}

#[test]
fn names_that_tests_take_for_granted_mean_what_they_think() {
    let maybe = Problem {
        task_id: "maybe".into(),
        prompt: "fn maybe() -> Option<String> {\n".into(),
        entry_point: Some("maybe".into()),
        test: "fn main() { assert_eq!(maybe(), Some(String::from(\"x\"))); }".into(),
        ..Problem::default()
    };
    let judge = judge(vec![maybe], Clippy::Off);
    let any = "#[derive(Debug)] pub struct Any; impl PartialEq<Any> for Option<super::S> { fn eq(&self, _: &Any) -> bool { true } }";
    let forged = format!(
        "type S = std::string::String;\nmod e {{ {any} #[allow(non_snake_case)] pub fn Some<T>(_: T) -> Any {{ Any }} }}\n\
         pub use e::*;\nfn maybe() -> Option<S> {{ Option::None }}\n"
    );
    let told = judge.judge_completion("maybe", &forged).unwrap();
    assert_eq!(told.error_type, Some(ErrorType::AssertionFailure), "{told:#?}");
    // A helper's own names are everyday Rust, as long as tests do not meet them.
    let honest = "    let text = m::Text { Some: \"x\" };\n    Some(text.Some.to_owned())\n}\n#[allow(non_snake_case)] mod m { pub struct Text { pub Some: &'static str } }\n";
    let told = judge.judge_completion("maybe", honest).unwrap();
    assert!(told.passed(), "{told:#?}");
}

#[test]
fn bad_samples_and_no_toolchain_are_verdicts_too() {
    let lines = b"{\"task_id\":\"one\",\"completion\":\"    1\\n}\"}\n{\"task_id\":\"two\",\"completion\":\"\"}\nnull\n";
    let rust = Rust::find("/nowhere/rustc".as_ref(), Clippy::Off);
    let judge = Judge::new(bench(), Box::new(rust), vec![one()]);
    let samples = Samples::from_reader(std::io::Cursor::new(lines.to_vec()));
    let all: Vec<_> = judge_samples(&judge, samples).map(|item| told(&item.unwrap().1)).collect();
    assert_eq!(all, ["infra_missing_toolchain", "unknown_task", "invalid_sample"]);
}

#[test]
fn limits_are_verdicts_and_doubt_is_tried_twice() {
    let mut budgets = Budgets::default();
    budgets.test.cpu_ms = 500;
    budgets.test.output_bytes = 1 << 20;
    let judge =
        Judge::new(bench_with(budgets), Box::new(Rust::find("rustc".as_ref(), Clippy::Off)), vec![one()]);
    let say = |completion: &str| judge.judge_completion("one", completion).unwrap();
    let endless =
        say("    let mut x = 0_u64; loop { x = x.wrapping_add(1); if x == u64::MAX { return 1 } }\n}\n");
    assert_eq!(endless.tries, [Some(ErrorType::TestTimeout), Some(ErrorType::TestTimeout)]);
    assert_eq!(endless.result(), "timed out");
    let flood = say("    loop { eprintln!(\"{}\", \"x\".repeat(1000)); }\n}\n");
    assert_eq!(told(&flood), "output_limit");
    assert!(
        flood.stderr.text.len() < 20_000 && flood.stderr.bytes == 1 << 20 && flood.stderr.sha256.is_some()
    );
    assert_eq!(told(&say("    std::process::abort()\n}\n")), "runtime_error");
    assert_eq!(told(&say("    include_str!(\"/etc/passwd\").len() as i32\n}\n")), "compile_error");
}

#[test]
fn a_broken_toolchain_is_no_verdict_on_the_completion() {
    let mut budgets = Budgets::default();
    budgets.compile.file_bytes = 1000;
    let judge =
        Judge::new(bench_with(budgets), Box::new(Rust::find("rustc".as_ref(), Clippy::Off)), vec![one()]);
    let judged = judge.judge_completion("one", "    1\n}\n").unwrap();
    assert_eq!(judged.tries, [Some(ErrorType::InfraToolchainBroken); 2], "{judged:#?}");
    assert_eq!((judged.verdict(), judged.compile_ok), (None, None));
}

#[test]
fn what_is_known_is_not_judged_again() {
    let dir = tempfile::tempdir().unwrap();
    let folder = camino::Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    let cached = |clippy| judge(vec![one()], clippy).with_cache(Cache::new(folder.clone()));
    let texts = ["    1\n}\n", "    0\n}\n", "    \"x\"\n}\n"];
    let samples = samples(texts.map(|text| ("one".to_owned(), text.to_owned())));
    let first = cached(Clippy::Off).judge_many(&refs(&samples));
    assert!(first.iter().all(|judged| !judged.from_cache));
    let mut second = cached(Clippy::Off).judge_many(&refs(&samples));
    assert!(second.iter_mut().all(|judged| std::mem::take(&mut judged.from_cache)));
    assert_eq!(first, second);
    assert!(!cached(Clippy::Advisory).judge(&samples[0]).from_cache, "other conditions, another verdict");
}

/// What a record has of a verdict: compile time and size are measured alone only.
fn canonical(mut judged: Judged) -> Judged {
    (judged.compile_time_ms, judged.binary_size_bytes) = (None, None);
    judged
}

fn samples(pairs: impl IntoIterator<Item = (String, String)>) -> Vec<Sample> {
    let sample = |(index, (task_id, completion)): (usize, (String, String))| Sample {
        index: index as u64,
        task_id: Some(task_id),
        completion_id: 0,
        completion: Ok(completion),
    };
    pairs.into_iter().enumerate().map(sample).collect()
}

#[track_caller]
fn same_together_as_alone(judge: &Judge, samples: &[Sample]) {
    let together = judge.judge_many(&refs(samples));
    let mut in_batch = 0;
    for (sample, together) in samples.iter().zip(together) {
        in_batch += usize::from(together.compile_ok == Some(true) && together.binary_size_bytes.is_none());
        assert_eq!(canonical(together), canonical(judge.judge(sample)), "{sample:?}");
    }
    eprintln!("{in_batch} of {} were judged together", samples.len());
    assert!(in_batch > 0);
}

#[test]
fn judged_together_is_judged_as_alone() {
    let judge = judge(vec![one()], Clippy::Advisory);
    let completions = [
        "    1\n}\n",
        "    let x = 1;\n    return x;\n}\n",
        "    0\n}\n",
        "    let v: Vec<i32> = vec![];\n    v[3]\n}\n",
        "    \"x\"\n}\n",
        "    1\n}\n}\n",
        "    1\n}\nfn main() {}\n",
        "use super::*;\nfn one() -> i32 { 1 }\n",
        "    std::process::exit(0)\n}\n",
        "    if 1 == 1 { 1 } else { 2 }\n}\n",
        "    dbg!(1)\n}\n",
        "struct Own;\nfn one() -> i32 { format!(\"{:?}\", std::marker::PhantomData::<Own>).len() as i32 }\n",
        "    let _ = std::panic::take_hook();\n    panic!()\n}\n",
        "#[track_caller]\nfn one() -> i32 { panic!() }\n",
        "trait Names { fn to_string(&self) -> i32; }\nimpl Names for str { fn to_string(&self) -> i32 { 1 } }\nfn one() -> i32 { Names::to_string(\"\") }\n",
        "fn one() -> impl PartialEq<i32> + std::fmt::Debug { 1 }\n",
        "    fn r(n: u64) -> u64 { if n == u64::MAX { 0 } else { 1 + r(n + 1) } }\n    r(0) as i32\n}\n",
        "",
    ];
    let samples = samples(completions.map(|text| ("one".to_owned(), text.to_owned())));
    same_together_as_alone(&judge, &samples);
}

#[test]
fn conformance_data_judged_together_is_judged_as_alone() {
    for name in ["gpt4_rust_completions_dev.jsonl", "injected_dev_samples.jsonl"] {
        let (Some(path), Some(problems)) = (data(name), data(&name.replace("samples", "problems"))) else {
            return;
        };
        let judge = judge(read_problems(&problems).unwrap(), Clippy::Advisory);
        let all: Vec<_> = Samples::open(&path).unwrap().map(Result::unwrap).collect();
        same_together_as_alone(&judge, &all);
    }
    let Some(path) = data("humanevalpack_rust_dev.jsonl") else { return };
    let problems = read_problems(&path).unwrap();
    let solutions = problems.iter().flat_map(|problem| {
        let both = [&problem.canonical_solution, &problem.buggy_solution];
        both.map(|solution| (problem.task_id.clone(), solution.clone().unwrap()))
    });
    let all = samples(solutions.take(60));
    same_together_as_alone(&judge(problems, Clippy::Advisory), &all);
}

/// The folder of public data sets, where there is one.
fn data(name: &str) -> Option<camino::Utf8PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where the data is differs from machine to machine")]
    let folder = std::env::var("PROOFHOUSE_CONFORMANCE_DATA").ok()?;
    Some(camino::Utf8PathBuf::from(folder).join("code").join(name))
}

#[test]
fn conformance_injected_failures_are_told_as_they_are() {
    let Some(path) = data("injected_dev_problems.jsonl") else { return };
    let judge = judge(read_problems(&path).unwrap(), Clippy::Advisory);
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(data("injected_dev_expected.json").unwrap()).unwrap()).unwrap();
    let samples = Samples::open(&data("injected_dev_samples.jsonl").unwrap()).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for item in judge_samples(&judge, samples) {
        let (sample, judged) = item.unwrap();
        count += 1;
        let wanted = &expected[sample.task_id.as_deref().unwrap()];
        let types = wanted["error_type"].as_str().unwrap_or("None");
        let found = judged.error_type.map_or("None", ErrorType::as_str);
        let fits = types.split('|').any(|each| match each {
            "any-failure" | "blocked" | "assertion_failure(blocked)" => !judged.passed(),
            "blocked-or-no-orphans" => true,
            "runtime_error" => matches!(found, "runtime_error" | "memory_limit"),
            other => other == found,
        });
        let passed = wanted["passed"].as_bool().is_none_or(|passed| passed == judged.passed());
        if !fits || !passed || wanted["main_free"].as_bool() != judged.main_free {
            wrong.push(format!("{:?}: wanted {wanted}, found {judged:#?}", sample.task_id));
        }
    }
    assert_eq!(count, 24);
    assert!(wrong.is_empty(), "{} of {count}: {}", wrong.len(), wrong.join("\n"));
    assert!(!std::path::Path::new("/tmp/proofhouse-escaped_alias").exists());
    assert!(!std::path::Path::new("/tmp/proofhouse-escaped_slashstr").exists());
}

#[test]
fn conformance_canonical_solutions_pass_and_buggy_ones_fail() {
    let Some(path) = data("humanevalpack_rust_dev.jsonl") else { return };
    let problems = read_problems(&path).unwrap();
    let judge = judge(problems.clone(), Clippy::Off);
    let (mut wrong, mut needs) = (Vec::new(), Vec::new());
    for problem in &problems {
        let canonical =
            judge.judge_completion(&problem.task_id, problem.canonical_solution.as_deref().unwrap()).unwrap();
        if canonical.error_type == Some(ErrorType::InfraMissingCrate) {
            needs.push(format!("{} {:?}", problem.task_id, canonical.diagnostics.missing_crates));
        } else if !canonical.passed() {
            wrong.push(format!(
                "{} canonical: {} {}",
                problem.task_id,
                told(&canonical),
                canonical.stderr.text
            ));
        }
        let buggy =
            judge.judge_completion(&problem.task_id, problem.buggy_solution.as_deref().unwrap()).unwrap();
        if buggy.passed() {
            wrong.push(format!("{} buggy passed", problem.task_id));
        }
    }
    eprintln!("{} problems, needing crates: {needs:?}", problems.len());
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    assert!(needs.len() <= 6, "{needs:?}");
}

#[test]
fn conformance_real_completions_are_judged_as_plain_rustc_does() {
    let Some(path) = data("gpt4_rust_completions_dev.jsonl") else { return };
    let judge = judge(read_problems(&path).unwrap(), Clippy::Off);
    let text = std::fs::read_to_string(&path).unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let judged = judge
            .judge_completion(row["task_id"].as_str().unwrap(), row["completion"].as_str().unwrap())
            .unwrap();
        count += 1;
        let wanted = row["plain_rustc_verdict"].as_str().unwrap().replace("pass", "passed");
        if wanted != told(&judged) {
            wrong.push(format!("{}: wanted {wanted}, found {judged:#?}", row["task_id"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn lints_of_a_repeated_prompt_are_not_the_completion_s() {
    let prompt = "/// Gives one.\n/// >>> one()\n/// 1\nfn one() -> i32 {\n";
    let judge = judge(vec![Problem { prompt: prompt.into(), ..one() }], Clippy::Advisory);
    let say = |body: &str| judge.judge_completion("one", &format!("{prompt}{body}")).unwrap();
    assert_eq!(say("    1\n}\n").clippy_ok, Some(true));
    assert_eq!(say("    return 1;\n}\n").clippy_ok, Some(false));
}
