//! The `lexical_shuffle` generator.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::slots::{Choice, Slots, choose};
use super::{Ask, Edit, Generator, Lack, Maker, Settings, Variants};

mod adverbials;
mod aims;
mod clauses;
mod equations;
mod examples;
mod facts;
mod fronts;
mod imperatives;
mod lists;
mod moves;
mod nested;
mod pairs;
mod parallel;
mod questions;
mod sentence;
mod turns;
mod words;

use self::fronts::Front;
use self::moves::{Moves, Place};
use self::turns::{First, Order, Part};
use crate::text::complaint::Complaint;

/// Phrases in another order.
///
/// Only moves that cannot change the task are made. A *swap* exchanges two members of a list: things with their articles or
/// numbers, names, labels, plural nouns, plain adjectives, payments, two facts after `if`, or a known pair (`get and set
/// operations`). A *turn* takes a clause (`if …`, `when …`), a time, a purpose or a phrase that can only belong to the verb to
/// the other end of its sentence, or puts it in commas: `Convert the rows into records.` becomes `Into records, convert the
/// rows.`, and `Anna sold 3 rolls on Monday.` becomes `Anna, on Monday, sold 3 rolls.` What is equal may be said the other way
/// round (`Today is May 5, 2020.`, `The price is what?`), `or not` may stand beside its `whether`, and two neighbouring
/// *statements* that nothing binds to each other may change places. The question at the end of a story may come *first*, and the
/// *examples* of a docstring may change places. A sentence that says `then`, `respectively`, `ratio` or the like keeps its order;
/// lists of options, steps and columns do too, and other code is left as it is.
///
/// Guarantee: the same words, not counting capitals, in another order, with at most two commas more for each move; at most
/// `max_swaps` moves; no word crosses a negation or a quantifier unless a clause (`if …`, `to find all …`), question or example moves
/// as a whole with its own (`or not` after `whether` denies nothing); no number but a percentage is parted from the word after it,
/// and a pronoun keeps what it stands for. An instruction without a safe move gives a shortfall and never a broken sentence.
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
        LexicalShuffle { max_swaps: 3 }
    }
}

impl Settings for LexicalShuffle {
    const NAME: &'static str = "lexical_shuffle";
    const GENERATOR_VERSION: u32 = 6;

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
        let places = moves::places(ask.base, self.max_swaps as usize);
        let alternatives = places.iter().map(|place| place.moves.alternatives()).collect();
        let slots = Slots::new(alternatives, 1, self.max_swaps as usize);
        choose::<Self>(ask, slots, Lack::NoSafeMove, |choice| self.edits(ask.base, &places, choice))
    }
}

impl LexicalShuffle {
    /// The edits of a choice. Where its moves are more than `max_swaps`, the last ones are left out.
    fn edits(&self, base: &str, places: &[Place], choice: &Choice) -> Vec<Edit> {
        let mut left = self.max_swaps as usize;
        let mut edits = Vec::new();
        let mut front = None;
        for chosen in choice.chunk_by(|a, b| places[a.0].sentence == places[b.0].sentence) {
            let mut swaps = Vec::new();
            let mut turn = None;
            for (place, alternative) in chosen {
                match &places[*place].moves {
                    Moves::Swap(items) if left > 0 => {
                        left -= 1;
                        swaps.extend(swap_edits(base, items, *alternative));
                    }
                    Moves::Turn(orders) if orders[*alternative].moves <= left => {
                        left -= orders[*alternative].moves;
                        turn = Some(&orders[*alternative]);
                    }
                    Moves::Front(found) if left > 0 => {
                        left -= 1;
                        front = Some(found);
                    }
                    _ => {}
                }
            }
            swaps.sort_by_key(|edit: &Edit| edit.at);
            if let Some(order) = turn {
                let (inside, beside): (Vec<Edit>, Vec<Edit>) =
                    swaps.into_iter().partition(|edit| order.range.contains(&edit.at));
                swaps = beside;
                swaps.push(turned(base, order, &inside));
                swaps.sort_by_key(|edit: &Edit| edit.at);
            }
            edits.extend(swaps);
        }
        edits.sort_by_key(|edit: &Edit| edit.at);
        match front {
            Some(front) => fronted(base, front, edits),
            None => edits,
        }
    }
}

/// The question, with what changes in it, goes before the story.
fn fronted(base: &str, front: &Front, edits: Vec<Edit>) -> Vec<Edit> {
    let start = front.question.start;
    let (inside, mut edits): (Vec<Edit>, Vec<Edit>) = edits.into_iter().partition(|edit| edit.at >= start);
    let inside: Vec<Edit> = inside.into_iter().map(|edit| Edit { at: edit.at - start, ..edit }).collect();
    let question =
        super::apply(&base[front.question.clone()], &inside).expect("its edits lie in the question");
    edits.insert(0, Edit::insert(front.to, question + &base[front.gap.clone()]));
    edits.push(Edit::replace(base, front.gap.start..front.question.end, ""));
    edits
}

/// The members of a pair change places; pairs are numbered (0, 1), (0, 2), (1, 2), (0, 3) and so on.
fn swap_edits(base: &str, items: &[Range<usize>], alternative: usize) -> Vec<Edit> {
    let mut first = alternative;
    let mut second = 1;
    while first >= second {
        first -= second;
        second += 1;
    }
    let (first, second) = (items[first].clone(), items[second].clone());
    vec![Edit::replace(base, first.clone(), &base[second.clone()]), Edit::replace(base, second, &base[first])]
}

/// One edit for the whole sentence: the parts in their new order, and the swaps inside happen on the way.
fn turned(base: &str, order: &Order, swaps: &[Edit]) -> Edit {
    let part = |range: &Range<usize>| {
        let inside: Vec<Edit> = swaps
            .iter()
            .filter(|edit| range.contains(&edit.at))
            .map(|edit| Edit { at: edit.at - range.start, ..edit.clone() })
            .collect();
        super::apply(&base[range.clone()], &inside).expect("a list lies in one part")
    };
    let text = order.parts.iter().map(|piece| match piece {
        Part::Glue(glue) => (*glue).to_owned(),
        Part::Span(range, first) => with_first(part(range), *first),
    });
    Edit::replace(base, order.range.clone(), text.collect::<String>())
}

/// With another first letter; what is turned starts with an ASCII letter or a digit.
fn with_first(text: String, first: First) -> String {
    let letter = text.chars().next().map_or(0, char::len_utf8);
    match first {
        First::Kept => text,
        First::Small => text[..letter].to_lowercase() + &text[letter..],
        First::Large => text[..letter].to_uppercase() + &text[letter..],
    }
}
