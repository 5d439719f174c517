//! Table-wide tests: what holds for every judge, and the helpers that make a judge's own tests one line each.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::{Strictness, parse};
use proptest::prelude::*;

use super::*;

fn config(yaml: &str) -> JudgeConfig {
    serde_saphyr::from_str(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"))
}

/// JSON where it is JSON, else text.
fn value(text: &str) -> Json {
    parse(text.as_bytes(), Strictness::Strict).unwrap_or_else(|_| Json::from(text))
}

fn verdict(yaml: &str, expected: &str, output: &str) -> Verdict {
    let judge = config(yaml).compile().unwrap_or_else(|error| panic!("{yaml}: {error}"));
    judge.judge(&Subject {
        input: "",
        output: &Json::from(output),
        expected: &value(expected),
        ..Subject::default()
    })
}

/// The judge gives this score to a text; `expected` is JSON where it parses as such.
#[track_caller]
pub(super) fn check(yaml: &str, expected: &str, output: &str, score: f64) {
    let verdict = verdict(yaml, expected, output);
    assert_eq!(verdict.score, Some(score), "{yaml}: {verdict:?}");
    assert_eq!(verdict.reason.is_some(), score < 1.0, "{yaml}: {verdict:?}");
}

/// The judge cannot judge and says so.
#[track_caller]
pub(super) fn unjudged(yaml: &str, expected: &str, output: &str, why: &str) {
    let verdict = verdict(yaml, expected, output);
    assert_eq!(verdict.score, None, "{yaml}: {verdict:?}");
    let error = verdict.error.expect("an error comes with a missing score");
    assert!(error.contains(why), "{yaml}: {error}");
}

/// The settings are refused before any answer is judged.
#[track_caller]
pub(super) fn refused(yaml: &str, why: &str) {
    let error = config(yaml).check().expect_err(yaml).to_string();
    assert!(error.contains(why), "{yaml}: {error}");
}

/// Why the answer is wrong.
#[track_caller]
pub(super) fn reason(yaml: &str, expected: &str, output: &str) -> String {
    verdict(yaml, expected, output).reason.expect("a wrong answer has a reason")
}

/// Working spellings, with a value of their own and more settings than the page of a judge shows.
const SAMPLES: &[&str] = &[
    "equals: {value: abc, ignore_case: true, collapse_whitespace: true, ignore_punctuation: true}",
    "contains: {value: [abc, d], require: all, ignore_case: true, whole_words: true}",
    "regex: {pattern: '(\\w+)\\s*=\\s*(\\w+)', group: 2, value: abc}",
    "json-schema: {schema: {type: object, required: [a]}}",
    "json-equals: {value: {a: [1, 2]}, ignore_order: true}",
    "numeric: {value: 42, percent: true}",
    "choice: {value: A}",
    "levenshtein: {value: abcabc, min_similarity: 0.1, ignore_punctuation: true}",
    "bleu: {value: abc def, min_score: 0.1}",
    "rouge: {value: abc def, variant: rouge-2, measure: recall}",
    "exit-code: {value: [0, 3]}",
    "command: {command: [judge, --strict], files: [judge]}",
    "plugin: {command: [judge], env: {A: b}}",
    "rubric: {criterion: It is short., models: {one: {scripted: {}}}, decide: mean}",
    "not: {contains: {value: abc}}",
    "any: {of: [{contains: {value: abc}}, {equals: {value: d}}]}",
    "all: {of: [{contains: {value: abc}}, {length: {max: 3}}]}",
    "starts-with: {value: [abc, d], ignore_case: true}",
    "length: {unit: sentences, min: 1, max: 3}",
    "refusal: {expected: false}",
    "finish-reason: {any_of: [stop]}",
    "f1: {value: abc def, min_score: 0.1}",
    "math: {value: 42, after: '####'}",
    "tool-calls: {calls: [{name: abc, args: {a: 1}}], order: same}",
    "similar: {value: abc, min_similarity: 0.5, model: {scripted: {}}}",
    "select-best: {value: abc, orders: both, models: {one: {scripted: {}}}}",
    "is-xml: {elements: [a.b]}",
    "given: {score: 0.5}",
    "latency: {max_ms: 2000}",
    "cost: {max_usd: 0.01}",
    "is-sql: {dialect: postgres, statements: [select], tables: [abc], columns: [a]}",
    "factuality: {value: abc, scores: {subset: 0.5}, models: {one: {scripted: {}}}}",
    "context-recall: {value: abc, context: abc def, min_share: 0.5, models: {one: {scripted: {}}}}",
    "faithfulness: {context: abc def, models: {one: {scripted: {}}}}",
];

/// Judges that compare: they need no settings, and ask nobody.
const COMPARING: [&str; 10] = [
    "equals",
    "contains",
    "regex",
    "json-schema",
    "json-equals",
    "numeric",
    "choice",
    "levenshtein",
    "bleu",
    "rouge",
];

/// One working spelling of every judge: its sample, or else the example of its page.
fn samples() -> Vec<String> {
    let sampled: Vec<&str> = SAMPLES.iter().map(|yaml| config(yaml).name()).collect();
    let pages = JudgeConfig::pages();
    let examples = pages.iter().filter(|page| !sampled.contains(&page.name));
    let examples = examples.map(|page| page.example().expect("every page has an example"));
    SAMPLES.iter().copied().chain(examples).map(str::to_owned).collect()
}

#[test]
fn every_page_is_complete_and_its_example_works() {
    for page in JudgeConfig::pages() {
        let example = page.example().unwrap_or_else(|| panic!("`{}` has no example", page.name));
        let shown = config(example);
        assert_eq!(shown.name(), page.name);
        shown.check().expect(example);
        assert!(page.text.contains("Guarantee: "), "{}", page.name);
        assert!(!page.summary.is_empty() && !page.summary.contains('\n'), "{}", page.summary);
        assert!(page.parameters.iter().all(|parameter| !parameter.text.is_empty()), "{page:?}");
    }
}

#[test]
fn settings_survive_a_round_trip() {
    for yaml in samples() {
        let config = config(&yaml);
        let json = proofhouse_ledger::json::to_json(&config).expect(&yaml);
        assert_eq!(serde_json::from_str::<JudgeConfig>(&json.to_string()).expect(&yaml), config);
    }
}

#[test]
fn unknown_settings_and_judges_are_refused() {
    for name in JudgeConfig::NAMES {
        let faulty = format!("{name}: {{ignore_cse: true}}");
        let error = serde_saphyr::from_str::<JudgeConfig>(&faulty).expect_err(&faulty).to_string();
        assert!(error.contains("ignore_cse"), "{error}");
    }
    assert!(serde_saphyr::from_str::<JudgeConfig>("equal: {}").is_err());
}

#[test]
fn a_judge_without_a_value_needs_an_expected_one() {
    for name in COMPARING {
        let bare = config(&format!("{name}: {{}}"));
        assert!(bare.needs_expected(), "{name}");
        assert!(JudgeConfig::Not(Not(Box::new(bare))).needs_expected(), "not {name}");
        unjudged(&format!("{name}: {{}}"), "null", "x", "no `expected`");
    }
    assert!(SAMPLES.iter().all(|yaml| !config(yaml).needs_expected()));
}

/// Answers that have broken evaluation tools: huge, repetitive, half-open, not quite text.
fn hostile() -> Vec<String> {
    const SIZE: usize = 1_000_000;
    let units = [
        "a",
        "A ",
        " ",
        "\n",
        "[",
        "\"",
        "{\"a\":",
        "[1,",
        "```\n",
        "1",
        "1,",
        "-",
        "1e",
        "9,999",
        "*",
        "answer: ",
        "the answer is A or ",
        "é",
        "\u{202e}",
        "\u{0}",
        "𝄞",
        "a=",
        "$",
        "% ",
        "\\boxed{",
        "I choose ",
    ];
    let mut answers: Vec<String> = units.iter().map(|unit| unit.repeat(SIZE / unit.len())).collect();
    answers.push(format!("answer{}", " ".repeat(SIZE)));
    answers.push(format!("1{}%", " ".repeat(SIZE)));
    answers.push("1e".to_owned() + &"9".repeat(SIZE));
    answers.push("[".repeat(SIZE / 2) + &"]".repeat(SIZE / 2));
    answers
}

#[test]
#[expect(clippy::disallowed_methods, reason = "that a judge does not hang shows only on a clock")]
fn hostile_answers_neither_panic_nor_hang() {
    let compiled = |yaml: String| (config(&yaml).compile().unwrap(), yaml);
    let judges: Vec<_> = samples().into_iter().map(compiled).collect();
    let expected = Json::from("abc");
    for answer in hostile().into_iter().map(Json::from) {
        for (judge, yaml) in &judges {
            let start = std::time::Instant::now();
            let verdict = judge.judge(&Subject {
                input: "",
                output: &answer,
                expected: &expected,
                ..Subject::default()
            });
            let excerpt: String = answer.to_text().chars().take(20).collect();
            assert!(start.elapsed().as_secs() < 60, "{yaml} took {:?} on {excerpt:?}", start.elapsed());
            assert_sound(yaml, &verdict);
        }
    }
}

#[track_caller]
fn assert_sound(yaml: &str, verdict: &Verdict) {
    assert_eq!(verdict.score.is_none(), verdict.error.is_some(), "{yaml}: {verdict:?}");
    if let Some(score) = verdict.score {
        assert!((0.0..=1.0).contains(&score), "{yaml}: {verdict:?}");
        assert_eq!(verdict.reason.is_some(), score < 1.0, "{yaml}: {verdict:?}");
    }
    let length = verdict.explanation().map_or(0, |text| text.chars().count());
    assert!(length <= MAX_REASON_CHARS, "{yaml}: {verdict:?}");
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        (-1e6..1e6).prop_map(Json::Number),
        any::<String>().prop_map(Json::String),
        "[A-D1-9a-c .,:(){}\\[\\]\"]{0,30}".prop_map(Json::String),
        Just(Json::from("The answer is A = abc")),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::Array),
            prop::collection::vec(("[abc]", inner), 0..3)
                .prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_answer_gets_a_sound_verdict_and_not_inverts_it(output in any_json(), expected in any_json()) {
        for name in COMPARING.iter().chain(&["exit-code"]) {
            let bare = config(&format!("{name}: {{}}"));
            let not = JudgeConfig::Not(Not(Box::new(bare.clone()))).compile().unwrap();
            let subject = Subject { input: "", output: &output, expected: &expected, ..Subject::default() };
            let verdict = bare.compile().unwrap().judge(&subject);
            assert_sound(name, &verdict);
            let inverse = not.judge(&subject);
            assert_sound(name, &inverse);
            prop_assert_eq!(inverse.score, verdict.score.map(|score| 1.0 - score));
        }
    }

    #[test]
    fn a_text_satisfies_the_judges_that_expect_it(text in "[ -~é日]{1,40}") {
        let output = Json::from(text.as_str());
        let subject = Subject { input: "", output: &output, expected: &output, ..Subject::default() };
        for name in ["equals", "contains", "levenshtein"] {
            let verdict = config(&format!("{name}: {{}}")).compile().unwrap().judge(&subject);
            prop_assert_eq!(verdict.score, Some(1.0), "{}", name);
        }
    }
}
