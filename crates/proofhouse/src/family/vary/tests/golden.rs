//! The bytes of some variants and prompts. A difference here needs a new `GENERATOR_VERSION` and a word in the changelog.

use std::fmt::Write as _;

use super::*;

const BASES: &[&str] = &[
    "Compile a list of email patterns into regex objects.",
    "Design a simple in-memory cache with get and set operations.",
    "Split the names and emails in `a.csv` into 3 groups, then stop. Use clear and concise names!\n",
    "正規表現を e\u{301}crire, שלום 🙂 — see https://example.org/a,b.",
];

const RULES: &[&str] = &[
    "whitespace_noise: {}",
    "punctuation_noise: {}",
    "lexical_shuffle: {max_swaps: 2}",
    "synonym_substitution: {whitelist: [list, operation]}",
    "ambiguity_injection_light: {}",
    "constraint_injection_light: {}",
    "add_scope_detail: {additions: [Include subdomains., as a whole], cumulative: true}",
    "add_constraints_tension: {additions: [Prefer clarity over cleverness.]}",
    "add_ambiguity: {additions: [where appropriate, in common cases]}",
    "add_multi_objective: {additions: [Keep public API small and clean.]}",
];

#[test]
fn variants_keep_their_bytes() {
    let mut text = String::new();
    for yaml in RULES {
        let config = config(yaml);
        writeln!(text, "{yaml} version {}", config.version()).expect("a string takes everything");
        for base in BASES {
            let given = variants(&config, &Ask { base, count: 3, seed: 7, case_id: "golden" });
            for variant in &given.list {
                writeln!(text, "  {} {:?}", variant.index, variant.text).expect("a string takes everything");
            }
            if let Some(shortfall) = given.shortfall {
                writeln!(text, "  {} of 3: {:?}", shortfall.produced, shortfall.reason)
                    .expect("a string takes everything");
            }
        }
    }
    insta::assert_snapshot!("variants", text);
}

#[test]
fn prompts_keep_their_bytes() {
    let mut text = String::new();
    for yaml in [
        "ai_rewrite: {styles: [casual_request, verbose_formal]}",
        "ai_rephrase_with_focus_shift: {}",
        "ai_semantic_restatement: {}",
        "ai_register_shift: {}",
    ] {
        let config = config(yaml);
        let Maker::Model(rewriter) = config.maker() else { panic!("{yaml} asks no model") };
        let prompt = rewriter.prompt(&Ask { base: BASES[0], count: 3, seed: 7, case_id: "golden" }, 2, 1);
        writeln!(text, "== {yaml} {:?} {}\n{}", prompt.choice, prompt.seed, prompt.text)
            .expect("a string takes everything");
    }
    insta::assert_snapshot!("prompts", text);
}
