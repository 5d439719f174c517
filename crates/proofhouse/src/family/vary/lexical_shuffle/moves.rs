//! Finding the moves of a text that cannot change its task. When in doubt there is no move.

use std::ops::Range;

use super::examples::examples;
use super::fronts::{Front, front};
use super::lists::lists;
use super::pairs;
use super::sentence::{Sentence, sentences};
use super::turns::{Order, Part, orders};
use super::words::SEQUENCE;

/// A place where something may move.
pub(super) struct Place {
    /// The sentence, or the first of two.
    pub(super) sentence: usize,
    pub(super) moves: Moves,
}

pub(super) enum Moves {
    /// Two of these may change places.
    Swap(Vec<Range<usize>>),
    /// The sentence may have one of these orders.
    Turn(Vec<Order>),
    /// The question at the end may come first.
    Front(Front),
}

impl Moves {
    pub(super) fn alternatives(&self) -> usize {
        match self {
            Moves::Swap(items) => items.len() * (items.len() - 1) / 2,
            Moves::Turn(orders) => orders.len(),
            Moves::Front(_) => 1,
        }
    }
}

/// Every place, in the order of the text; orders of more than `max_swaps` moves are left out.
pub(super) fn places(text: &str, max_swaps: usize) -> Vec<Place> {
    let sentences = sentences(text);
    let mut places = Vec::new();
    let mut taken = vec![false; sentences.len()];
    for (nth, sentence) in sentences.iter().enumerate() {
        let goes_on = sentences.get(nth + 1).is_some_and(goes_on);
        let found = of_sentence(sentence, max_swaps, goes_on);
        taken[nth] = !found.is_empty();
        places.extend(found.into_iter().map(|moves| Place { sentence: nth, moves }));
    }
    for first in pairs::independent(&sentences) {
        if !taken[first] && !taken[first + 1] {
            (taken[first], taken[first + 1]) = (true, true);
            let whole = [&sentences[first], &sentences[first + 1]].map(Sentence::whole);
            places.push(Place { sentence: first, moves: Moves::Swap(whole.to_vec()) });
        }
    }
    if let Some(front) = front(text, &sentences) {
        places.push(Place { sentence: sentences.len() - 1, moves: Moves::Front(front) });
    }
    places.extend(
        examples(text).into_iter().map(|run| Place { sentence: sentences.len(), moves: Moves::Swap(run) }),
    );
    places.sort_by_key(|place| place.sentence);
    places
}

/// `Then …`, `After that, …`: the sentence goes on with what the one before began.
fn goes_on(sentence: &Sentence<'_>) -> bool {
    let small = |at: usize| sentence.words.get(at).map_or("", |word| word.small.as_str());
    SEQUENCE.contains(&small(0))
        || matches!(small(0), "next" | "later")
        || (small(0) == "after" && matches!(small(1), "that" | "this" | "which"))
}

/// `goes_on`: the next sentence goes on with this one, so that what both begin with stays at the beginning.
fn of_sentence(sentence: &Sentence<'_>, max_swaps: usize, goes_on: bool) -> Vec<Moves> {
    let lists = lists(sentence);
    let ranges: Vec<Range<usize>> =
        lists.iter().map(|list| list.members[0].start..list.members[list.members.len() - 1].end).collect();
    let spans: Vec<Vec<Range<usize>>> = lists
        .iter()
        .map(|list| list.members.iter().map(|member| sentence.span(member.clone())).collect())
        .collect();
    let mut orders = orders(sentence, &ranges);
    orders.retain(|order| order.moves <= max_swaps && spans.iter().all(|items| holds(order, items)));
    let begins = sentence.words.first().map(|word| word.core.start);
    let stays =
        |order: &Order| matches!(&order.parts[0], Part::Span(range, _) if range.start == order.range.start);
    orders.retain(|order| !goes_on || begins != Some(order.range.start) || stays(order));
    let turn = (!orders.is_empty()).then_some(Moves::Turn(orders));
    spans.into_iter().map(Moves::Swap).chain(turn).collect()
}

/// Whether one part of the order holds the whole list.
fn holds(order: &Order, items: &[Range<usize>]) -> bool {
    let (start, end) = (items[0].start, items[items.len() - 1].end);
    if end <= order.range.start || order.range.end <= start {
        return true;
    }
    order
        .parts
        .iter()
        .any(|part| matches!(part, Part::Span(range, _) if range.start <= start && end <= range.end))
}
