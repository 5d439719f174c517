//! Prompts of every form, taken apart and put together again.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::family::vary::{Ask, GeneratorConfig, Maker};
use crate::kinds::code::Problem;

#[track_caller]
fn check(prose: &Prose<'_>, expected: &str) {
    assert_eq!(prose.text().unwrap_or("(none)"), expected);
    assert_eq!(prose.reword(&[]).as_deref(), Ok(prose.prompt), "nothing changes without edits");
}

fn replace(prose: &Prose<'_>, old: &str, new: &str) -> Result<String, Unfit> {
    let at = prose.text().unwrap().find(old).unwrap();
    prose.reword(&[Edit { at, removed: old.to_owned(), inserted: new.to_owned() }])
}

const BLOCK: &str = "fn main(){}\n\nuse std::fmt;\n\n/*\n Check if any two\n    numbers are close.\n    \n*/\nfn close(numbers: Vec<f32>) -> bool{\n";

#[test]
fn rust_comments_of_every_form() {
    let rust = |prompt| Prose::in_rust(prompt, Some("f"));
    check(&rust("/// Adds two\n/// numbers.\nfn f(a: i32) -> i32 {\n"), "Adds two\nnumbers.");
    check(
        &rust("//! Adds two numbers.\n//! And more.\n#![allow(unused)]\nuse std::fmt;\nfn f() {\n"),
        "Adds two numbers.\nAnd more.",
    );
    check(&rust("fn f() {\n    //! Adds two numbers.\n"), "Adds two numbers.");
    check(&rust("// Adds two numbers.\n\n// Returns it.\nfn f() {\n"), "Adds two numbers.\nReturns it.");
    check(&rust("/** Adds two\n  * numbers.\n  */\nfn f() {\n"), "Adds two\nnumbers.");
    check(
        &rust("    #[inline]\n    // Adds two numbers.\n    pub const fn f() -> u8 {\n"),
        "Adds two numbers.",
    );
    check(&rust("fn f() {\n    // Adds two numbers.\n"), "Adds two numbers.");
    check(&rust("/// Adds two numbers.\nfn f() -> i32;"), "Adds two numbers.");
    check(&rust("/* A /* nested */ thing */\nfn f() {}"), "A /* nested */ thing");
    check(&Prose::in_rust(BLOCK, Some("close")), "Check if any two\nnumbers are close.");
    check(&Prose::in_rust(BLOCK, Some("another_name")), "Check if any two\nnumbers are close.");
    // The task's comment may stand above a function that only helps.
    check(&rust("/// Finds a zero.\nfn poly() { 1 }\n\nfn f() {\n"), "Finds a zero.");
    check(&rust("fn g() { let x = 1; } // not on a line of its own\nfn f() {\n"), "(none)");
    check(&rust("fn f() {\n"), "(none)");
}

#[test]
fn python_docstrings_of_every_form() {
    let python = |prompt| Prose::in_python(prompt, Some("f"));
    check(
        &python("def f(a: int = {1: 'x'}[1]) -> str:\n    \"\"\" Adds two\n    numbers. \"\"\"\n"),
        "Adds two\nnumbers.",
    );
    check(
        &python(
            "def g():\n    '''Helps.'''\n\ndef f(a,\n      b=\":\"):  # def f(\n\n    r'''Adds two numbers.'''\n",
        ),
        "Adds two numbers.",
    );
    check(&python("async def f():\n    'Adds two numbers.'\n"), "Adds two numbers.");
    check(
        &python("X = \"\"\"\ndef f():\n    '''No.'''\n\"\"\"\ndef f():\n    '''Yes it does.'''\n"),
        "Yes it does.",
    );
    check(&python("\"\"\"Adds two numbers.\"\"\"\ndef f(a):\n"), "Adds two numbers.");
    check(&python("def other():\n    '''Adds two numbers.'''\n"), "Adds two numbers.");
    for none in [
        "def f(a):\n",
        "def f(a):\n    return 1\n",
        "def f():\n    f'Adds {two} numbers.'\n",
        "def f():\n    '''Never closed\n",
        "",
    ] {
        check(&python(none), "(none)");
    }
}

#[test]
fn prompts_that_are_prose_themselves() {
    let prompt = "Write a function `f(a: i32) -> i32` that adds one.\nIt must not panic.\n\n```rust\nfn f(a: i32) -> i32 { Do it well }\n```\n\nfn helper() {\n    Some words here\n}\n\nThank you very much.\n";
    let expected =
        "Write a function `f(a: i32) -> i32` that adds one.\nIt must not panic.\n\nThank you very much.";
    check(&Prose::in_rust(prompt, None), expected);
    check(&Prose::in_python(prompt, None), expected);
    check(
        &Prose::in_python("Add two numbers.\n\ndef f(a, b):\n    return the sum\n", Some("f")),
        "Add two numbers.",
    );
    check(&Prose::in_rust("fn broken(x: Vec< {\n", None), "(none)");
}

#[test]
fn examples_are_no_prose() {
    let prompt = concat!(
        "def f(s):\n    \"\"\"Count the letters.\n\n    >>> f('a word')\n    1\n    more of it\n\n    It is simple.\n    Example 1:\n        Input: some words\n        and more words\n\n",
        "    for examble:\n    f(\"hi\") => 2\n    assert f('') == 0 always and forever\n    For n = 3 the output should be 4.\n    GPA  |  Letter grade\n    3.7    A\n    [1, 2, 3]\n    # a remark about it\n",
        "    If shift > number of digits, stop.\n    ```\n    words in a fence\n    ```\n    Ignore case.\n    \"\"\"\n"
    );
    check(
        &Prose::in_python(prompt, Some("f")),
        "Count the letters.\n\nIt is simple.\n\nIf shift > number of digits, stop.\n\nIgnore case.",
    );
}

#[test]
fn edits_keep_marks_and_indentation() {
    let prose = Prose::in_rust("  /// Adds two\n  /// numbers.\n  fn f() {\n", None);
    assert_eq!(
        replace(&prose, "two", "\n\ttwo").unwrap(),
        "  /// Adds \n  /// \ttwo\n  /// numbers.\n  fn f() {\n"
    );
    assert_eq!(
        replace(&prose, "two\nnumbers", "numbers both").unwrap(),
        "  /// Adds numbers both.\n  fn f() {\n"
    );
    let prose = Prose::in_rust(BLOCK, None);
    assert_eq!(replace(&prose, "any", "\nany").unwrap(), BLOCK.replace(" any", " \n any"));
    assert_eq!(replace(&prose, "are", "\nare").unwrap(), BLOCK.replace(" are", " \n    are"));
    let starred = "/** Adds two\n  * numbers.\n  */\nfn f() {\n";
    assert_eq!(
        replace(&Prose::in_rust(starred, None), "two", "\ntwo").unwrap(),
        starred.replace("two", "\n  * two")
    );
    let python = "def f():\n    \"\"\" Adds two\r\n    numbers.   \"\"\"\n";
    let prose = Prose::in_python(python, None);
    assert_eq!(replace(&prose, "two", "\ntwo").unwrap(), python.replace("two", "\n    two"));
    assert_eq!(
        replace(&prose, "numbers.", "numbers. Be quick.").unwrap(),
        python.replace("numbers.", "numbers. Be quick.")
    );
}

#[test]
fn what_would_be_other_code_is_refused() {
    let prose = Prose::in_rust(BLOCK, None);
    for text in ["*/", "/*", "any */ fn x() {} /*"] {
        assert_eq!(replace(&prose, "any", text), Err(Unfit::BreaksCode), "{text}");
    }
    let prose = Prose::in_python("def f():\n    \"\"\"Adds \\a two\n    numbers.\"\"\"\n", None);
    for text in ["\"\"\"", "a\\", "two\"\"\" + \"\"\"", "\0"] {
        assert_eq!(replace(&prose, "two", text), Err(Unfit::BreaksCode), "{text}");
    }
    assert_eq!(replace(&prose, "a two", "two"), Err(Unfit::BreaksCode), "an escape is cut in two");
    assert_eq!(replace(&prose, ".", "\""), Err(Unfit::BreaksCode), "four quotes end before the last");
    assert!(replace(&prose, "two", "\"two\"").is_ok(), "quotes are no harm where they do not end it");
    let short = Prose::in_python("def f():\n    'Adds two numbers.'\n", None);
    assert_eq!(replace(&short, "two", "\ntwo"), Err(Unfit::BreaksCode));
    assert_eq!(replace(&short, "two", "'two'"), Err(Unfit::BreaksCode));
    let split = Prose::in_python(
        "def f():\n    \"\"\"Adds two\n    >>> f()\n    1\n\n    numbers.\"\"\"\n",
        Some("f"),
    );
    assert_eq!(replace(&split, "two\n\nnumbers", "numbers, two"), Err(Unfit::AcrossExample));
    assert!(replace(&split, "two", "two small").is_ok());
}

/// Every generator that works by rules, as a suite would write it.
fn generators() -> Vec<GeneratorConfig> {
    let additions = r#"{"additions": ["Prefer clarity.", "with care"]}"#;
    let configs = GeneratorConfig::NAMES.iter().filter_map(|name| {
        let params = if name.starts_with("add_") { additions } else { "{}" };
        serde_json::from_str::<GeneratorConfig>(&format!("{{\"{name}\": {params}}}")).ok()
    });
    configs.filter(|config| matches!(config.maker(), Maker::Rules(_))).collect()
}

/// What no rewording may touch, found by plain search: all code around the comment or docstring, and lines of examples.
fn untouchable<'a>(prompt: &'a str, entry: &str, python: bool) -> (&'a str, &'a str, Vec<&'a str>) {
    let open = if python {
        let def = prompt.rfind(&format!("def {entry}(")).unwrap();
        def + prompt[def..].find("\"\"\"").or(prompt[def..].find("'''")).unwrap() + 3
    } else {
        prompt.rfind("/*").unwrap() + 2
    };
    let close = open + prompt[open..].find(if python { &prompt[open - 3..open] } else { "*/" }).unwrap();
    let lines: Vec<&str> = prompt[open..close].lines().collect();
    let shows =
        |nth: usize| lines[nth].trim_start().starts_with(">>>") || lines[nth].contains(&format!("{entry}("));
    let examples = (0..lines.len()).filter(|nth| shows(*nth) || (*nth > 0 && lines[nth - 1].contains(">>>")));
    (&prompt[..open], &prompt[close..], examples.map(|nth| lines[nth]).collect())
}

/// Every prompt of the conformance data with every generator: only prose changes.
#[test]
#[expect(clippy::disallowed_methods, reason = "only the tests know where conformance data is")]
fn conformance_of_reworded_prompts() {
    let Ok(folder) = std::env::var("PROOFHOUSE_CONFORMANCE_DATA") else { return };
    assert_eq!(generators().len(), 10);
    for (name, python) in [("humanevalpack_rust_dev.jsonl", false), ("humaneval_python_dev.jsonl", true)] {
        let path = format!("{folder}/code/{name}");
        let mut made = BTreeMap::<&str, usize>::new();
        for problem in crate::kinds::code::read_problems(path.as_str().into()).unwrap() {
            for config in generators() {
                *made.entry(config.name()).or_default() += reworded(&problem, &config, python);
            }
        }
        // Noise and additions fit every task, orders and synonyms only some.
        let rare = ["lexical_shuffle", "synonym_substitution"];
        let least = |name: &str| if rare.contains(&name) { 1 } else { 82 };
        assert!(
            made.len() == 10 && made.iter().all(|(name, count)| *count >= least(name)),
            "{name}: {made:?}"
        );
    }
}

fn read<'a>(prompt: &'a str, entry: Option<&str>, python: bool) -> Prose<'a> {
    if python { Prose::in_python(prompt, entry) } else { Prose::in_rust(prompt, entry) }
}

/// Checks every variant of a prompt and says how many there are.
fn reworded(problem: &Problem, config: &GeneratorConfig, python: bool) -> usize {
    let (prompt, task) = (problem.prompt.as_str(), &problem.task_id);
    let entry = problem.entry_point.as_deref();
    let prose = read(prompt, entry, python);
    let base = prose.text().unwrap_or_else(|_| panic!("{task} has prose"));
    let (head, tail, examples) = untouchable(prompt, entry.unwrap(), python);
    let Maker::Rules(rules) = config.maker() else { unreachable!("filtered") };
    let mut seen = BTreeSet::new();
    for variant in rules.variants(&Ask { base, count: 10, seed: 7, case_id: task }).list {
        let reworded = match prose.reword(&variant.edits) {
            Ok(reworded) => reworded,
            Err(unfit) => {
                assert_eq!(unfit, Unfit::AcrossExample, "{task}: {}", variant.text);
                continue;
            }
        };
        assert!(
            reworded.starts_with(head) && reworded.ends_with(tail) && reworded != prompt,
            "{task}: {reworded}"
        );
        let mut left = reworded.lines();
        assert!(examples.iter().all(|line| left.any(|found| found == *line)), "{task}: {reworded}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        // A line that a generator breaks in two may look like data, so noise cannot be read back line by line.
        if config.name() != "whitespace_noise" {
            assert_eq!(
                words(read(&reworded, entry, python).text().unwrap_or_default()),
                words(&variant.text),
                "{task}"
            );
        }
        assert!(seen.insert(reworded), "{task}: the same wording twice");
    }
    seen.len()
}

proptest::proptest! {
    /// Whatever a prompt holds, it is read without harm and comes back whole.
    #[test]
    fn any_text_is_read(pieces in proptest::collection::vec(proptest::sample::select(vec![
        "/// Adds two words.\n", "/*", "*/", "fn f() {", "}", "\n", "\r\n", "    ", "def f(", "):", "\"\"\"", "'''", "'", "\\",
        "Some plain words here.", ">>> f(1)\n", "# é", "//! 文", "```", "\u{feff}", "\0", "r\"", "#[a]", " * ", "Example:",
    ]), 0..30)) {
        let prompt = pieces.concat();
        for prose in [Prose::in_rust(&prompt, Some("f")), Prose::in_python(&prompt, Some("f"))] {
            let Ok(base) = prose.text() else { continue };
            for config in generators() {
                let Maker::Rules(rules) = config.maker() else { continue };
                for variant in rules.variants(&Ask { base, count: 3, seed: 1, case_id: "c" }).list {
                    if let Ok(reworded) = prose.reword(&variant.edits) {
                        proptest::prop_assert_ne!(&reworded, &prompt);
                    }
                }
            }
        }
    }
}
