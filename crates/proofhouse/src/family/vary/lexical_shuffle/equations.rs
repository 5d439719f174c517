//! Sentences that say that one thing is another: the two may change places.

use std::ops::Range;

use super::sentence::{Kind, is_function_word};
use super::turns::{First, Order, Part, Turning};
use super::words::{ADJUNCTS, CONDITIONS, DETERMINERS, POSSESSIVES, QUANTITIES};

/// `Today is May 5, 2020.` becomes `May 5, 2020 is today.`; `Your task is to sort it.` becomes `To sort it is your task.`
pub(super) fn orders(turning: &Turning<'_, '_>) -> Vec<Order> {
    let sentence = turning.sentence;
    if turning.kind != Kind::Statement || sentence.has_scope(0..turning.end()) {
        return Vec::new();
    }
    let Some(be) = (1..turning.end().min(6)).find(|&at| matches!(turning.word(at), "is" | "was")) else {
        return Vec::new();
    };
    let (one, other) = (0..be, be + 1..turning.end());
    let calm = !other.is_empty()
        && (0..be + 1).all(|at| sentence.words[at].tail.is_empty() && !sentence.words[at].bracket)
        && !turning.broken(other.clone())
        && !sentence.joins_clauses(other.clone())
        && !turning.joined(other.clone())
        && !sentence.any(other.clone(), CONDITIONS);
    let equal = (is_moment(turning, one.clone()) && is_definite(turning, other.clone()))
        || (is_quantity(turning, one.clone()) && is_amount(turning, other.clone()));
    let task = matches!(turning.word(0), "your" | "the")
        && be == 2
        && matches!(turning.word(1), "task" | "goal" | "job" | "aim" | "objective")
        && turning.word(be + 1) == "to"
        && (4..=16).contains(&other.len())
        && sentence.pronouns(other.clone()).is_empty();
    if !(calm && (equal || task)) {
        return Vec::new();
    }
    vec![turning.order(vec![
        turning.span(other, First::Large),
        Part::Glue(" "),
        turning.span(be..be + 1, First::Kept),
        Part::Glue(" "),
        turning.span(one, turning.inner()),
    ])]
}

/// `today`, `the day before yesterday`, `the current local time`, `the deadline`.
fn is_moment(turning: &Turning<'_, '_>, words: Range<usize>) -> bool {
    let first = turning.word(0);
    let last = turning.word(words.end - 1);
    let day = words.len() == 1 && matches!(first, "today" | "yesterday" | "tomorrow");
    let around = first == "the" && matches!(last, "yesterday" | "tomorrow" | "time" | "deadline" | "date");
    day || around
}

/// A date, or a noun with an article or a possessive.
fn is_definite(turning: &Turning<'_, '_>, words: Range<usize>) -> bool {
    let first = turning.word(words.start);
    let noun = matches!(first, "the" | "her" | "his" | "their" | "my");
    let clock = first.contains(':');
    turning.is_date(words.clone()) || (words.len() <= 9 && (noun || clock))
}

/// `the price of a ticket`, `his rent`.
fn is_quantity(turning: &Turning<'_, '_>, words: Range<usize>) -> bool {
    let first = turning.word(0);
    let noun = DETERMINERS.contains(&first) || POSSESSIVES.contains(&first) || first.ends_with("'s");
    let head = words.clone().find(|&at| matches!(turning.word(at), "of" | "for")).unwrap_or(words.end) - 1;
    noun && QUANTITIES.contains(&turning.word(head))
}

/// `$400`, `12 miles`.
fn is_amount(turning: &Turning<'_, '_>, words: Range<usize>) -> bool {
    let first = &turning.sentence.words[words.start];
    let unit =
        |at: usize| turning.sentence.words[at].lower && !matches!(turning.word(at), "old" | "long" | "and");
    first.is_number() && words.len() <= 2 && (words.start + 1..words.end).all(unit)
}

/// `Two-thirds of the loaves are sold.` becomes `Of the loaves, two-thirds are sold.`
pub(super) fn shares(turning: &Turning<'_, '_>) -> Vec<Order> {
    let sentence = turning.sentence;
    let whole = turning.word(0);
    let part = whole.ends_with('%')
        || ["third", "thirds", "fourth", "fourths", "quarters", "fifth", "fifths", "tenth", "tenths"]
            .iter()
            .any(|part| whole.split_once('-').is_some_and(|(_, last)| last == *part));
    let noun = |at: usize| {
        let word = &sentence.words[at];
        word.lower && word.tail.is_empty() && !word.bracket && !is_function_word(&word.small)
    };
    let verb = (4..turning.end().saturating_sub(1).min(9)).find(|&at| ADJUNCTS.contains(&turning.word(at)));
    let Some(verb) = verb.filter(|_| turning.kind == Kind::Statement && part) else { return Vec::new() };
    let opens = |word: &str| DETERMINERS.contains(&word) || POSSESSIVES.contains(&word);
    let holds = turning.word(1) == "of"
        && opens(turning.word(2))
        && (0..3).all(|at| sentence.words[at].tail.is_empty())
        && (3..verb).all(noun)
        && !sentence.has_scope(0..verb);
    if !holds {
        return Vec::new();
    }
    vec![Order {
        range: sentence.span(0..verb + 1),
        parts: vec![
            turning.span(1..verb, First::Large),
            Part::Glue(", "),
            turning.span(0..1, First::Small),
            Part::Glue(" "),
            turning.span(verb..verb + 1, First::Kept),
        ],
        moves: 1,
    }]
}
