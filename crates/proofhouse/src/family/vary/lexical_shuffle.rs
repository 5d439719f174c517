//! The `lexical_shuffle` generator.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::slots::{Choice, Slots, choose};
use super::{Ask, Edit, Generator, Lack, Maker, Settings, Variants};

mod moves;
mod words;

use self::moves::{Move, Sentence};
use crate::text::complaint::Complaint;

/// Phrases in another order.
///
/// Two moves are made, and only where they cannot change the task. A *conjunct swap* exchanges two members of a
/// coordination: plural nouns after a preposition (`of names and emails`, also longer lists), two plain adjectives, or
/// a known pair (`get and set operations`). A *fronting* takes a trailing phrase of a simple imperative sentence to its
/// front: `Convert the rows into records.` becomes `Into records, convert the rows.` A sentence that says `then`,
/// `respectively` or the like keeps its order.
///
/// Guarantee: the same words, not counting capitals, in another order; at most `max_swaps` moves; no word crosses a
/// negation or a quantifier. An instruction without a safe move gives a shortfall and never a broken sentence.
///
/// ```yaml
/// lexical_shuffle: {max_swaps: 3}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LexicalShuffle {
    /// The greatest number of moves in one variant, at least 1.
    pub max_swaps: u32,
}

impl Default for LexicalShuffle {
    fn default() -> Self {
        LexicalShuffle { max_swaps: 1 }
    }
}

impl Settings for LexicalShuffle {
    const NAME: &'static str = "lexical_shuffle";
    const GENERATOR_VERSION: u32 = 1;

    fn check(&self) -> Result<(), Complaint> {
        if self.max_swaps == 0 {
            return Err(Complaint::new("`max_swaps` is 0").hint("give at least 1"));
        }
        Ok(())
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for LexicalShuffle {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        let sentences = moves::sentences(ask.base);
        let places: Vec<Place> = sentences
            .iter()
            .enumerate()
            .flat_map(|(sentence, found)| (0..found.moves.len()).map(move |nth| Place { sentence, nth }))
            .collect();
        let alternatives =
            places.iter().map(|place| sentences[place.sentence].moves[place.nth].alternatives()).collect();
        let slots = Slots::new(alternatives, 1, self.max_swaps as usize);
        let moves = Moves { base: ask.base, sentences, places };
        choose::<Self>(ask, slots, Lack::NoSafeMove, |choice| moves.edits(choice))
    }
}

/// Which move of which sentence.
struct Place {
    sentence: usize,
    nth: usize,
}

struct Moves<'a> {
    base: &'a str,
    sentences: Vec<Sentence>,
    places: Vec<Place>,
}

impl Moves<'_> {
    fn edits(&self, point: &Choice) -> Vec<Edit> {
        let mut edits = Vec::new();
        for chosen in point.chunk_by(|a, b| self.places[a.0].sentence == self.places[b.0].sentence) {
            let sentence = &self.sentences[self.places[chosen[0].0].sentence];
            let mut swaps = Vec::new();
            let mut fronting = None;
            for (place, alternative) in chosen {
                match &sentence.moves[self.places[*place].nth] {
                    Move::Swap(items) => swaps.extend(swap_edits(self.base, items, *alternative)),
                    Move::Front(phrase) => fronting = Some(phrase),
                }
            }
            swaps.sort_by_key(|edit: &Edit| edit.at);
            match fronting {
                Some(phrase) => edits.push(front(self.base, phrase, &swaps)),
                None => edits.extend(swaps),
            }
        }
        edits
    }
}

/// The members of a pair change places; pairs are numbered (0, 1), (0, 2), (1, 2), (0, 3) and so on.
fn swap_edits(base: &str, items: &[Range<usize>], alternative: usize) -> [Edit; 2] {
    let mut first = alternative;
    let mut second = 1;
    while first >= second {
        first -= second;
        second += 1;
    }
    let (first, second) = (items[first].clone(), items[second].clone());
    [Edit::replace(base, first.clone(), &base[second.clone()]), Edit::replace(base, second, &base[first])]
}

/// One edit for the whole sentence: the phrase comes first, and the swaps inside happen on the way.
fn front(base: &str, phrase: &moves::Fronting, swaps: &[Edit]) -> Edit {
    let part = |range: Range<usize>| {
        let inside: Vec<Edit> = swaps
            .iter()
            .filter(|edit| range.contains(&edit.at))
            .map(|edit| Edit { at: edit.at - range.start, ..edit.clone() })
            .collect();
        super::apply(&base[range], &inside).expect("a swap lies on one side of the phrase")
    };
    let main = part(phrase.main.clone());
    let moved = part(phrase.moved.clone());
    let fronted = format!("{}, {}", capital(&moved), small(&main));
    Edit::replace(base, phrase.main.start..phrase.moved.end, fronted)
}

/// With a capital first letter; what is moved starts with an ASCII letter.
fn capital(text: &str) -> String {
    text[..1].to_ascii_uppercase() + &text[1..]
}

fn small(text: &str) -> String {
    text[..1].to_ascii_lowercase() + &text[1..]
}
