//! Table-wide tests: what holds for every generator, on random instructions, and the bytes that must not change.

use std::collections::BTreeSet;

use super::*;

mod checkers;
mod examples;
mod golden;
mod instructions;
mod reviewed;

use self::checkers::Verdict;
use self::instructions::{Dice, instruction};

/// How many random instructions each generator must stand; an optimised build takes all of them.
const INSTRUCTIONS: u64 = if cfg!(debug_assertions) { 2_000 } else { 100_000 };

fn config(yaml: &str) -> GeneratorConfig {
    serde_saphyr::from_str(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"))
}

fn variants(config: &GeneratorConfig, ask: &Ask<'_>) -> Variants {
    match config.maker() {
        Maker::Rules(generator) => generator.variants(ask),
        Maker::Model(_) => panic!("`{}` asks a model", config.name()),
    }
}

/// What holds for every rule-based generator.
fn holds_for_all(config: &GeneratorConfig, ask: &Ask<'_>, given: &Variants) -> Verdict {
    let produced = given.list.len() as u32;
    let shortfall = given.shortfall.map(|shortfall| (shortfall.requested, shortfall.produced));
    let expected = (produced < ask.count).then_some((ask.count, produced));
    if shortfall != expected || produced > ask.count {
        return Err(format!("{:?} with {produced} variants", given.shortfall));
    }
    let mut texts = BTreeSet::from([ask.base]);
    for (index, variant) in (0..).zip(&given.list) {
        if variant.index != index || !texts.insert(&variant.text) {
            return Err(format!("variant {index} is out of place or repeated"));
        }
        if apply(ask.base, &variant.edits).as_ref() != Some(&variant.text)
            || reverse(&variant.text, &variant.edits).as_deref() != Some(ask.base)
        {
            return Err(format!("the edits of variant {index} do not lead there and back"));
        }
    }
    if &variants(config, ask) != given {
        return Err("the second time is not like the first".into());
    }
    let fewer = Ask { count: ask.count / 2, ..*ask };
    let prefix = variants(config, &fewer).list;
    if prefix != given.list[..prefix.len()] || prefix.len() < given.list.len().min(fewer.count as usize) {
        return Err("fewer variants are not the first of more".into());
    }
    Ok(())
}

/// Random instructions through one generator; returns how many variants there were.
#[track_caller]
fn stand(
    configure: impl Fn(&mut Dice) -> GeneratorConfig,
    check: impl Fn(&GeneratorConfig, &str, &Variant) -> Verdict,
) -> usize {
    let mut total = 0;
    for round in 0..INSTRUCTIONS {
        let mut dice = Dice::new(round + 1);
        let base = instruction(&mut dice);
        let config = configure(&mut dice);
        config.check().expect("the settings are right");
        let count = dice.roll(9) as u32;
        let ask = Ask { base: &base, count, seed: dice.roll(1 << 30) as u64, case_id: "random" };
        let given = variants(&config, &ask);
        let told = |error: String| panic!("{error}\nround {round}, {config:?}\n{base:?}\n{given:?}");
        holds_for_all(&config, &ask, &given).unwrap_or_else(told);
        for variant in &given.list {
            check(&config, &base, variant)
                .unwrap_or_else(|error| told(format!("{error}: {:?}", variant.text)));
        }
        total += given.list.len();
    }
    total
}

fn range(dice: &mut Dice) -> (f64, f64) {
    let min = dice.roll(30) as f64 / 100.0;
    (min, min + dice.roll(40) as f64 / 100.0)
}

#[test]
fn whitespace_noise_stands() {
    let total = stand(
        |dice| {
            let (intensity_min, intensity_max) = range(dice);
            GeneratorConfig::WhitespaceNoise(whitespace_noise::WhitespaceNoise {
                intensity_min,
                intensity_max,
            })
        },
        |config, base, variant| {
            let GeneratorConfig::WhitespaceNoise(noise) = config else { unreachable!() };
            checkers::whitespace_noise(base, &variant.text, (noise.intensity_min, noise.intensity_max))
        },
    );
    assert!(total as u64 > INSTRUCTIONS * 2, "only {total} variants were checked");
}

#[test]
fn punctuation_noise_stands() {
    let total = stand(
        |dice| {
            let intensity_min = dice.roll(10) as f64 / 100.0;
            let intensity_max = intensity_min + dice.roll(20) as f64 / 100.0;
            GeneratorConfig::PunctuationNoise(punctuation_noise::PunctuationNoise {
                intensity_min,
                intensity_max,
            })
        },
        |config, base, variant| {
            let GeneratorConfig::PunctuationNoise(noise) = config else { unreachable!() };
            checkers::punctuation_noise(base, &variant.text, (noise.intensity_min, noise.intensity_max))
        },
    );
    assert!(total as u64 > INSTRUCTIONS, "only {total} variants were checked");
}

#[test]
fn lexical_shuffle_stands() {
    let total = stand(
        |dice| {
            let max_swaps = 1 + dice.roll(4) as u32;
            GeneratorConfig::LexicalShuffle(lexical_shuffle::LexicalShuffle { max_swaps })
        },
        |config, base, variant| {
            let GeneratorConfig::LexicalShuffle(shuffle) = config else { unreachable!() };
            assert!(variant.edits.len() <= 2 * shuffle.max_swaps as usize, "{:?}", variant.edits);
            checkers::lexical_shuffle(base, &variant.text, shuffle.max_swaps as usize)
        },
    );
    assert!(total as u64 > INSTRUCTIONS / 4, "only {total} variants were checked");
}

#[test]
fn synonym_substitution_stands() {
    let total = stand(
        |dice| {
            let max_replacements = 1 + dice.roll(5) as u32;
            let whitelist = match dice.roll(3) {
                0 => vec!["list".to_owned(), "cache".to_owned(), "row".to_owned()],
                _ => Vec::new(),
            };
            let settings = synonym_substitution::SynonymSubstitution { max_replacements, whitelist };
            GeneratorConfig::SynonymSubstitution(settings)
        },
        |config, base, variant| {
            let GeneratorConfig::SynonymSubstitution(synonyms) = config else { unreachable!() };
            let most = synonyms.max_replacements as usize;
            checkers::synonym_substitution(base, &variant.text, most, &synonyms.whitelist)
        },
    );
    assert!(total as u64 > INSTRUCTIONS, "only {total} variants were checked");
}

#[test]
fn ambiguity_injection_light_stands() {
    let total = stand(
        |_| config("ambiguity_injection_light: {}"),
        |_, base, variant| checkers::ambiguity_injection_light(base, &variant.text),
    );
    assert!(total as u64 > INSTRUCTIONS * 3, "only {total} variants were checked");
}

#[test]
fn constraint_injection_light_stands() {
    let total = stand(
        |_| config("constraint_injection_light: {}"),
        |_, base, variant| checkers::constraint_injection_light(base, &variant.text),
    );
    assert!(total as u64 > INSTRUCTIONS * 3, "only {total} variants were checked");
}

/// Additions of both kinds, in any order.
fn additions(dice: &mut Dice) -> Vec<String> {
    let pool = [
        "Include subdomains.",
        "where appropriate",
        " in common cases ",
        "Keep it small",
        "why not?",
        "並べ替える。",
        "🙂",
    ];
    (0..1 + dice.roll(4)).map(|_| dice.pick(&pool).to_owned()).collect()
}

#[track_caller]
fn additions_stand(make: impl Fn(Vec<String>, bool) -> GeneratorConfig) {
    let total = stand(
        |dice| make(additions(dice), dice.roll(2) == 0),
        |config, base, variant| {
            let (additions, cumulative) = match config {
                GeneratorConfig::AddScopeDetail(it) => (&it.additions, it.cumulative),
                GeneratorConfig::AddConstraintsTension(it) => (&it.additions, it.cumulative),
                GeneratorConfig::AddAmbiguity(it) => (&it.additions, it.cumulative),
                GeneratorConfig::AddMultiObjective(it) => (&it.additions, it.cumulative),
                _ => unreachable!(),
            };
            let taken = if cumulative { variant.index as usize + 1 } else { additions.len() };
            checkers::additions(base, &variant.text, &additions[..taken])
        },
    );
    assert!(total as u64 > INSTRUCTIONS / 2, "only {total} variants were checked");
}

#[test]
fn add_scope_detail_stands() {
    additions_stand(|additions, cumulative| {
        GeneratorConfig::AddScopeDetail(add_scope_detail::AddScopeDetail { additions, cumulative })
    });
}

#[test]
fn add_constraints_tension_stands() {
    additions_stand(|additions, cumulative| {
        let settings = add_constraints_tension::AddConstraintsTension { additions, cumulative };
        GeneratorConfig::AddConstraintsTension(settings)
    });
}

#[test]
fn add_ambiguity_stands() {
    additions_stand(|additions, cumulative| {
        GeneratorConfig::AddAmbiguity(add_ambiguity::AddAmbiguity { additions, cumulative })
    });
}

#[test]
fn add_multi_objective_stands() {
    additions_stand(|additions, cumulative| {
        GeneratorConfig::AddMultiObjective(add_multi_objective::AddMultiObjective { additions, cumulative })
    });
}

#[test]
fn every_page_is_complete_and_its_example_works() {
    for page in GeneratorConfig::pages() {
        let example = page.example().unwrap_or_else(|| panic!("`{}` has no example", page.name));
        let shown = config(example);
        assert_eq!(shown.name(), page.name);
        assert!(shown.version() > 0);
        shown.check().expect(example);
        assert!(page.text.contains("Guarantee: "), "{}", page.name);
        assert!(!page.summary.is_empty() && !page.summary.contains('\n'), "{}", page.summary);
        assert!(page.parameters.iter().all(|parameter| !parameter.text.is_empty()), "{page:?}");
    }
    assert!(GeneratorConfig::NAMES.len() >= 14);
}

#[test]
fn settings_survive_a_round_trip() {
    for page in GeneratorConfig::pages() {
        let config = config(page.example().expect("a page has an example"));
        let json = proofhouse_ledger::json::to_json(&config).expect(page.name);
        assert_eq!(serde_json::from_str::<GeneratorConfig>(&json.to_string()).expect(page.name), config);
    }
}

#[test]
fn unknown_settings_and_generators_are_refused() {
    for name in GeneratorConfig::NAMES {
        let faulty = format!("{name}: {{additions: [x], intensty: 1}}");
        let error = serde_saphyr::from_str::<GeneratorConfig>(&faulty).expect_err(&faulty).to_string();
        assert!(error.contains("intensty") || error.contains("additions"), "{error}");
    }
    assert!(serde_saphyr::from_str::<GeneratorConfig>("whitespace-noise: {}").is_err());
    assert_eq!(config("ai_rewrite_style: {}").name(), "ai_rewrite");
}
