//! Generators on prompts that people have: public data that is not part of the project. Where it is not there, they say so and pass.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proofhouse::family::vary::{Ask, GeneratorConfig, Maker};
use serde_json::Value;

use crate::conformance::data;

/// Every text below the key, from one JSON object per line or from a file of examples.
fn prompts(path: &Path, key: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Value> = match serde_json::from_str::<Value>(&text) {
        Ok(whole) if whole["examples"].is_array() => whole["examples"].as_array().unwrap().clone(),
        _ => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    };
    rows.iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

fn variants(yaml: &str, base: &str, id: &str) -> Vec<String> {
    let config: GeneratorConfig = serde_saphyr::from_str(yaml).unwrap();
    let Maker::Rules(rules) = config.maker() else { panic!("{yaml} asks a model") };
    let given = rules.variants(&Ask { base, count: 5, seed: 7, case_id: id });
    given.list.into_iter().map(|variant| variant.text).collect()
}

/// What `docs/statistics.md` says about yields: produced ÷ requested, five variants for each prompt.
#[test]
fn conformance_of_yields_on_public_prompts() {
    let Some(root) = data("") else { return };
    let kinds = [
        ("probe/gsm8k_dev.jsonl", "question", 0.47, 0.6),
        ("probe/mbpp_dev.jsonl", "text", 0.64, 0.88),
        ("probe/bbh_object_counting.json", "input", 0.95, 0.95),
        ("probe/bbh_date_understanding.json", "input", 0.98, 0.85),
        ("probe/bbh_boolean_expressions.json", "input", 0.0, 0.0),
        ("code/humaneval_python_dev.jsonl", "prompt", 0.39, 0.6),
        ("code/humanevalpack_rust_dev.jsonl", "prompt", 0.08, 0.6),
    ];
    let mut low = Vec::new();
    for (file, key, shuffle, synonyms) in kinds {
        let prompts = prompts(&root.join(file), key);
        for (generator, least) in [("lexical_shuffle", shuffle), ("synonym_substitution", synonyms)] {
            let id = |nth: usize| format!("{file}-{nth}");
            let made: usize = prompts
                .iter()
                .enumerate()
                .map(|(nth, base)| variants(&format!("{generator}: {{}}"), base, &id(nth)).len())
                .sum();
            let share = made as f64 / (5 * prompts.len()) as f64;
            eprintln!("{generator} {file} {share:.3}");
            if share < least {
                low.push(format!("{generator} on {file}: {share:.3}"));
            }
        }
    }
    assert!(low.is_empty(), "{low:?}");
}

const CHECK: &str = r#"
import ast, io, json, sys, tokenize
def code(text):
    tree = ast.parse(text + "\n    pass\n")
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            node.body[0].value.value = ""
    return ast.dump(tree)
broken = 0
for line in sys.stdin:
    base, variant = json.loads(line)
    try:
        same = code(base) == code(variant)
    except SyntaxError:
        same = False
    if not same:
        broken += 1
        sys.stderr.write(variant + "\n")
sys.exit(1 if broken else 0)
"#;

/// After each deterministic generator, a prompt that is a Python function is still the same function: only its docstring differs, and
/// what the docstring shows of an interpreter's session is byte for byte what it was, but for the order of its examples.
#[test]
fn conformance_of_code_in_prompts() {
    let Some(root) = data("code") else { return };
    let bases = prompts(&root.join("humaneval_python_dev.jsonl"), "prompt");
    let additions = "{additions: [as a whole, Keep it small.], cumulative: true}";
    let generators: Vec<String> = GeneratorConfig::NAMES
        .iter()
        .filter(|name| !name.starts_with("ai_"))
        .map(|name| format!("{name}: {}", if name.starts_with("add_") { additions } else { "{}" }))
        .chain(
            [
                "whitespace_noise: {intensity_min: 0.3, intensity_max: 0.9}",
                "punctuation_noise: {intensity_min: 0.05, intensity_max: 0.2}",
            ]
            .map(str::to_owned),
        )
        .collect();
    let examples = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.trim_start().starts_with(">>>")).map(str::to_owned).collect()
    };
    // Each prompt of a session with the line below it, in any order: `lexical_shuffle` lets examples change places.
    let steps = |text: &str| -> Vec<(String, String)> {
        let lines: Vec<&str> = text.lines().chain([""]).collect();
        let shown = lines.windows(2).filter(|pair| pair[0].trim_start().starts_with(">>>"));
        let mut steps: Vec<(String, String)> =
            shown.map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect();
        steps.sort();
        steps
    };
    let mut lines = String::new();
    for generator in &generators {
        let mut made = 0;
        for (nth, base) in bases.iter().enumerate() {
            for variant in variants(generator, base, &nth.to_string()) {
                let moves = generator.starts_with("lexical_shuffle");
                assert!(moves || examples(&variant) == examples(base), "{generator}: {variant}");
                assert!(!moves || steps(&variant) == steps(base), "{generator}: {variant}");
                lines.push_str(&serde_json::to_string(&(base, &variant)).unwrap());
                lines.push('\n');
                made += 1;
            }
        }
        assert!(made > 0, "{generator}");
    }
    #[expect(clippy::disallowed_methods, reason = "Python itself says whether a text is Python")]
    let mut python = Command::new("python3");
    let mut python =
        python.args(["-W", "ignore", "-c", CHECK]).stdin(Stdio::piped()).spawn().expect("python3");
    python.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert!(python.wait().unwrap().success(), "a prompt broke");
}
