//! Prompts of many kinds, and variants of them that somebody read: how many there are, and how many are still the same task.

use std::collections::BTreeMap;

use super::*;

/// Variants asked for each prompt.
const COUNT: u32 = 5;

struct Prompt {
    kind: &'static str,
    id: &'static str,
    text: String,
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match (sign, if sign == '\\' { signs.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(other)) => out.push(other),
            _ => out.push(sign),
        }
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
}

fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

fn prompts() -> Vec<Prompt> {
    rows(include_str!("prompts.tsv"))
        .map(|row| {
            let [kind, id, text] = row[..] else { panic!("{row:?}") };
            Prompt { kind, id, text: unescaped(text) }
        })
        .collect()
}

fn made(generator: &str, prompt: &Prompt) -> Vec<Variant> {
    let config = config(&format!("{generator}: {{}}"));
    variants(&config, &Ask { base: &prompt.text, count: COUNT, seed: 7, case_id: "vary" }).list
}

const RULED: [&str; 6] = [
    "whitespace_noise",
    "punctuation_noise",
    "lexical_shuffle",
    "synonym_substitution",
    "ambiguity_injection_light",
    "constraint_injection_light",
];

/// What `docs/statistics.md` says about the yield on these prompts.
#[test]
fn yields_on_prompts_of_many_kinds() {
    let prompts = prompts();
    assert!(prompts.len() >= 120);
    let produced =
        |generator: &str| -> usize { prompts.iter().map(|prompt| made(generator, prompt).len()).sum() };
    let asked = prompts.len() * COUNT as usize;
    for (generator, least) in [("lexical_shuffle", 0.56), ("synonym_substitution", 0.6)] {
        let share = produced(generator) as f64 / asked as f64;
        assert!(share >= least, "{generator}: {share}");
    }
}

/// `proofhouse vary GENERATOR --seed 7` shows the same variants.
#[test]
fn the_reviewed_sample_is_what_the_generators_make() {
    let prompts: BTreeMap<&str, Prompt> = prompts().into_iter().map(|prompt| (prompt.id, prompt)).collect();
    let mut labels: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for row in rows(include_str!("reviewed.tsv")) {
        let [label, generator, id, index, text] = row[..] else { panic!("{row:?}") };
        let prompt = &prompts[id];
        let index: usize = index.parse().expect("a number");
        let variant = made(generator, prompt).into_iter().nth(index);
        assert_eq!(
            variant.map(|variant| escaped(&variant.text)).as_deref(),
            Some(text),
            "{generator} {id} {index}"
        );
        assert!(matches!(label, "same" | "changed"), "{label}");
        assert!(seen.insert((generator, id, index)), "{generator} {id} {index} twice");
        *labels.entry((generator, label)).or_default() += 1;
    }
    let count = |generator, label| labels.get(&(generator, label)).copied().unwrap_or_default();
    let of = |generator| (count(generator, "same"), count(generator, "changed"));
    let all: u32 = labels.values().sum();
    let changed: u32 = RULED.iter().map(|generator| count(generator, "changed")).sum();
    assert!(all >= 200 && changed * 50 <= all, "{changed} of {all} are another task");
    assert!(of("lexical_shuffle").0 >= 100 && of("synonym_substitution").0 >= 100, "{labels:?}");
}

/// The bytes of a text that are code, by a reading that shares nothing with the generators' own: everything outside docstrings and
/// block comments, and the examples in them.
fn code_of(text: &str) -> Vec<String> {
    let mut kept = Vec::new();
    let mut quotes: Option<&str> = None;
    let mut example = false;
    for line in text.lines() {
        let trimmed = line.trim();
        match quotes {
            Some(closing) => {
                example = trimmed.starts_with(">>>") || (example && !trimmed.is_empty());
                let shows = example || trimmed.contains("==") || trimmed.ends_with(closing);
                if shows && !trimmed.ends_with(closing) {
                    kept.push(line.to_owned());
                }
                if trimmed.ends_with(closing) {
                    kept.push(closing.to_owned());
                    quotes = None;
                }
            }
            None => {
                let opening = [("\"\"\"", "\"\"\""), ("'''", "'''"), ("/*", "*/")]
                    .into_iter()
                    .find(|(open, _)| trimmed.starts_with(open));
                match opening {
                    Some((open, close)) if !trimmed[open.len()..].contains(close) => {
                        kept.push(line[..line.find(open).unwrap_or(0) + open.len()].to_owned());
                        quotes = Some(close);
                    }
                    Some((open, close)) => {
                        kept.push(line[..line.find(open).unwrap_or(0) + open.len()].to_owned());
                        kept.push(close.to_owned());
                    }
                    None if trimmed.is_empty() => {}
                    None => kept.push(line.to_owned()),
                }
                example = false;
            }
        }
    }
    kept
}

#[test]
fn code_around_prose_is_never_touched() {
    let mut checked = 0;
    for prompt in prompts().iter().filter(|prompt| prompt.kind == "docstring") {
        let additions = ["add_scope_detail", "add_ambiguity"]
            .map(|name| format!("{name}: {{additions: [as a whole, Keep it small.]}}"));
        let configs = RULED.iter().map(|name| format!("{name}: {{}}")).chain(additions);
        for yaml in configs {
            let ask = Ask { base: &prompt.text, count: 20, seed: 3, case_id: prompt.id };
            for variant in variants(&config(&yaml), &ask).list {
                assert_eq!(code_of(&variant.text), code_of(&prompt.text), "{yaml}: {}", variant.text);
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn what_is_all_code_has_no_variants() {
    for base in [
        "let a = 1;\nlet b = (2);",
        "not ( True ) and ( False ) is",
        "```\nSort the rows, and print them.\n```",
    ] {
        for name in RULED {
            let given = variants(
                &config(&format!("{name}: {{}}")),
                &Ask { base, count: 3, seed: 1, case_id: "code" },
            );
            assert!(given.list.is_empty() && given.shortfall.is_some(), "{name}: {base}: {:?}", given.list);
        }
        let added = variants(
            &config("add_ambiguity: {additions: [as needed]}"),
            &Ask { base, count: 1, seed: 1, case_id: "code" },
        );
        assert_eq!(added.shortfall.map(|shortfall| shortfall.reason), Some(Lack::NoFittingPhrase), "{base}");
    }
}

#[test]
fn an_addition_that_would_end_a_docstring_is_refused() {
    let base = "def f():\n    \"\"\"Sort the rows.\"\"\"\n";
    for addition in ["as \"\"\" said", "in \\\\", "as they \"say\""] {
        let yaml = format!("add_ambiguity: {{additions: ['{addition}']}}");
        let given = variants(&config(&yaml), &Ask { base, count: 1, seed: 1, case_id: "code" });
        assert!(given.list.is_empty(), "{:?}", given.list);
    }
}
