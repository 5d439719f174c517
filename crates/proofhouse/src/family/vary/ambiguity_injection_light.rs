//! The `ambiguity_injection_light` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scan::{Chunk, chunks, ending};
use super::slots::{Slots, choose};
use super::{Ask, Edit, Generator, Lack, Maker, Settings, Variants, lexicon};

/// One mildly ambiguous phrase more.
///
/// Real users leave things open. A phrase such as `where appropriate` is put at the end of a sentence, with or without
/// a comma, or after the verb that opens the instruction. Phrases that the instruction has already are not used.
///
/// Guarantee: deleting the one phrase, with the comma and the space that came with it, restores the base; no phrase
/// adds a goal.
///
/// ```yaml
/// ambiguity_injection_light: {}
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmbiguityInjectionLight {}

/// The phrases; each leaves something open and asks for nothing.
const PHRASES: &[&str] = &[
    "where appropriate",
    "in common cases",
    "using reasonable assumptions",
    "as needed",
    "where it makes sense",
    "in most situations",
    "within reason",
    "as you see fit",
    "more or less as usual",
    "in the usual way",
    "where practical",
    "to a sensible extent",
];

impl Settings for AmbiguityInjectionLight {
    const NAME: &'static str = "ambiguity_injection_light";
    const GENERATOR_VERSION: u32 = 2;

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for AmbiguityInjectionLight {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        if !ask.base.contains(char::is_alphanumeric) {
            return Variants::of(Vec::new(), ask.count, Lack::EmptyText);
        }
        let small = ask.base.to_lowercase();
        let phrases: Vec<&str> = PHRASES.iter().copied().filter(|phrase| !small.contains(phrase)).collect();
        let spots = spots(ask.base);
        let slots = Slots::one_of(phrases.len() * spots.len());
        choose::<Self>(ask, slots, Lack::NoFittingPhrase, |choice| {
            let (_, nth) = choice[0];
            let spot = &spots[nth / phrases.len()];
            let phrase = phrases[nth % phrases.len()];
            vec![Edit::insert(spot.at, format!("{}{phrase}{}", spot.before, spot.after))]
        })
    }
}

/// A place for a phrase, and what goes before and after it.
struct Spot {
    at: usize,
    before: &'static str,
    after: &'static str,
}

fn spots(text: &str) -> Vec<Spot> {
    let chunks = chunks(text);
    let mut ends: Vec<usize> = chunks
        .iter()
        .filter(|chunk| chunk.ends_sentence(text) && is_single(chunk, text))
        .map(|chunk| chunk.core.end)
        .collect();
    if let Some(last) = ending(text).map(|ending| ending.before_punctuation)
        && !ends.contains(&last)
    {
        ends.push(last);
    }
    let after_verb = chunks.first().filter(|chunk| {
        chunk.whole == chunk.core
            && chunks.len() > 2
            && lexicon::is_imperative(&chunk.word(text).to_ascii_lowercase())
    });
    let verb = after_verb.map(|chunk| Spot { at: chunk.core.end, before: ", ", after: "," });
    let ends = ends.into_iter().flat_map(|at| [", ", " "].map(|before| Spot { at, before, after: "" }));
    verb.into_iter().chain(ends).collect()
}

/// The sentence ends with one sign and no bracket, so that a phrase before it stands in the sentence.
fn is_single(chunk: &Chunk, text: &str) -> bool {
    chunk.tail(text).chars().count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_phrases_are_there_and_none_is_banned() {
        for phrase in ["where appropriate", "in common cases", "using reasonable assumptions"] {
            assert!(PHRASES.contains(&phrase));
        }
        for phrase in PHRASES {
            assert_eq!(super::super::contract::findings(phrase, &[]), [], "{phrase}");
        }
    }
}
