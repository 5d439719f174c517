//! Code suites with `vary`: what is refused, and what a task's other wordings are.

use insta::assert_snapshot;

use super::Lab;
use crate::kinds::code::CodeBody;

const PROBLEMS: &str = concat!(
    r#"{"task_id":"sum","prompt":"/// Adds two numbers.\n/// Returns the sum.\nfn sum(a: i32, b: i32) -> i32 {\n","entry_point":"sum","test":"t"}"#,
    "\n",
    r#"{"task_id":"one","prompt":"fn one() -> i32 {\n","entry_point":"one","test":"t"}"#,
    "\n",
);

const VARY: &str =
    "vary:\n  - {generator: whitespace_noise, count: 2}\n  - {generator: synonym_substitution, count: 1}\n";

fn lab(rest: &str) -> Lab {
    Lab::new(&format!("kind: code\nsuite_id: demo\nproblems: p.jsonl\n{rest}"))
        .file("p.jsonl", PROBLEMS)
        .file("s.jsonl", "{\"task_id\":\"sum\",\"completion\":\"    a + b\\n}\\n\"}\n")
}

const MODEL: &str = "targets: {model: {scripted: {otherwise: {reply: x}}}}\n";

#[test]
fn wordings_need_a_model_that_is_asked() {
    assert_snapshot!(lab(&format!("samples: {{m: s.jsonl}}\n{VARY}")).refused(), @r"
    suite.yaml:5:1: `vary` rewords what models are asked, and the suite asks none
      |
    5 | vary:
      | ^^^^

    hint: name a model below `targets:`, or take `vary` out: lines of samples files are judged as they are
    ");
}

#[test]
fn wordings_need_the_prompt() {
    assert_snapshot!(lab(&format!("{MODEL}prompt: 'Do {{task_id}}.'\n{VARY}")).refused(), @r"
    suite.yaml:5:9: `vary` rewords the tasks' `{prompt}`, which is not part of what models are asked
      |
    5 | prompt: 'Do {task_id}.'
      |         ^^^^^^^^^^^^^^^ prompt

    hint: put `{prompt}` into the suite's `prompt`, or take `vary` out
    ");
}

#[test]
fn wordings_come_from_rules() {
    let vary = VARY.replace("synonym_substitution", "ai_rewrite");
    assert_snapshot!(lab(&format!("{MODEL}{vary}")).refused(), @r"
    suite.yaml:7:17: `ai_rewrite` needs a model, and `vary` takes generators that work by rules
      |
    7 |   - {generator: ai_rewrite, count: 1}
      |                 ^^^^^^^^^^ vary[1].generator

    hint: robustness suites have a `rewriter`
    ");
}

#[test]
fn a_misspelt_generator_has_its_line() {
    let vary = VARY.replace("synonym_substitution", "synonym_substitutions");
    assert_snapshot!(lab(&format!("{MODEL}{vary}")).refused(), @r"
    suite.yaml:7:17: no generator is named `synonym_substitutions`
      |
    7 |   - {generator: synonym_substitutions, count: 1}
      |                 ^^^^^^^^^^^^^^^^^^^^^ vary[1].generator

    hint: did you mean `synonym_substitution`?
    ");
}

#[test]
fn only_prose_is_reworded_and_every_wording_keeps_its_place() {
    let loaded = lab(&format!("{MODEL}{VARY}")).loaded();
    let code = loaded.body_as::<CodeBody>().unwrap();
    let wordings = code.reworded(&code.problems[0]);
    let ids: Vec<&str> = wordings.iter().map(|(id, _)| &**id).collect();
    assert_eq!(ids, ["whitespace_noise_0001", "whitespace_noise_0002", "synonym_substitution_0001"]);
    for (id, prompt) in &wordings[..2] {
        let prompt = prompt.as_ref().unwrap();
        assert!(prompt.ends_with("\nfn sum(a: i32, b: i32) -> i32 {\n"), "{id}: {prompt}");
        assert!(prompt.lines().rev().skip(1).all(|line| line.starts_with("/// ")), "{id}: {prompt}");
        assert_ne!(*prompt, code.problems[0].prompt);
    }
    let lacks: Vec<&str> = code
        .reworded(&code.problems[1])
        .iter()
        .map(|(_, prompt)| prompt.clone().unwrap_err().0.leak() as &str)
        .collect();
    assert_eq!(lacks, ["no_prose"; 3]);
}

/// A literal that ends with its line takes no line breaks: the generator's next variants do without.
#[test]
fn what_would_break_the_code_is_replaced_or_missing() {
    let vary = "language: python\nvary:\n  - {generator: whitespace_noise, count: 3}\n  - {generator: add_scope_detail, count: 1, params: {additions: ['It''s \\ quick.']}}\n";
    let problem = r#"{"task_id":"one","prompt":"def one(a):\n    'Adds one to the number that it gets.'\n","entry_point":"one","test":"t"}"#;
    let loaded = lab(&format!("{MODEL}{vary}")).file("p.jsonl", format!("{problem}\n")).loaded();
    let code = loaded.body_as::<CodeBody>().unwrap();
    let wordings = code.reworded(&code.problems[0]);
    for (id, prompt) in &wordings[..3] {
        let prompt = prompt.as_ref().unwrap();
        assert_eq!(prompt.lines().count(), 2, "{id}: {prompt}");
    }
    assert_eq!(wordings[3].1.as_ref().unwrap_err().0, "breaks_the_code");
}
