//! Orders within clauses: a phrase in commas after the subject, two clauses of the same kind, a purpose, an adverb.

use std::ops::Range;

use super::sentence::{Kind, is_function_word, opens_task};
use super::turns::{First, Order, Part, Turning};
use super::words::{
    ADJUNCTS, COMPARING, CONDITIONS, DETERMINERS, JOINTS, LEAD_PREPOSITIONS, MIDDLE_ADVERBS, PLACES,
    PURPOSES, SEQUENCE, STATIVE, TO_TAKING,
};

impl Turning<'_, '_> {
    /// The verb of a clause that begins here with a name, a pronoun, or an article and a noun.
    fn verb_of(&self, clause: Range<usize>) -> Option<usize> {
        let words = &self.sentence.words;
        let first = &words[clause.start];
        let verb = |at: usize| clause.contains(&at) && words[at].lower && ADJUNCTS.contains(&self.word(at));
        let name = first.plain
            && self.sentence.text[first.core.clone()].starts_with(char::is_uppercase)
            && !is_function_word(&first.small)
            && !opens_task(&first.small);
        let pronoun = matches!(first.small.as_str(), "he" | "she" | "they" | "we" | "i" | "it");
        if (name || pronoun) && verb(clause.start + 1) {
            return Some(clause.start + 1);
        }
        let noun = matches!(first.small.as_str(), "a" | "an" | "the")
            || (first.is_number() && first.tail.is_empty());
        let plain = |at: usize| {
            let of = self.word(at) == "of" && at > clause.start + 1;
            words[at].lower && (of || !is_function_word(self.word(at))) && !ADJUNCTS.contains(&self.word(at))
        };
        let at = (clause.start + 2..clause.end.min(clause.start + 8)).find(|&at| verb(at))?;
        (noun && (clause.start + 1..at).all(plain)).then_some(at)
    }

    /// The first clause: up to a comma before `and`, `but` or `so`, or the whole sentence where nothing joins clauses.
    fn first_clause(&self) -> Option<Range<usize>> {
        let words = &self.sentence.words;
        let comma = (0..self.end() - 1).find(|&at| !words[at].tail.is_empty());
        match comma {
            Some(at) if words[at].tail == "," && matches!(self.word(at + 1), "and" | "but" | "so") => {
                Some(0..at + 1)
            }
            Some(_) => None,
            None => Some(0..self.end()),
        }
    }

    /// Where the last phrase of a clause begins, if it says when or where something is done.
    fn aside_from(&self, clause: &Range<usize>) -> Option<usize> {
        let last = clause.end - 1;
        if self.ends_in_time(last) && self.word(last) != "altogether" {
            return Some(last);
        }
        if matches!(self.word(last), "week" | "month" | "year" | "night" | "summer" | "winter")
            && matches!(self.word(last - 1), "last" | "next" | "this")
        {
            return Some(last - 1);
        }
        let at = (clause.start + 2..clause.end)
            .rev()
            .find(|&at| LEAD_PREPOSITIONS.contains(&self.word(at)) || self.word(at) == "for")?;
        let place =
            matches!(self.word(at), "at" | "for") && last - at <= 2 && PLACES.contains(&self.word(last));
        ((self.word(at) != "for" && self.is_time(at..clause.end)) || place).then_some(at)
    }
}

/// `Anna sold 3 rolls on Monday, and …` becomes `Anna, on Monday, sold 3 rolls, and …`.
pub(super) fn aside(turning: &Turning<'_, '_>) -> Vec<Order> {
    let sentence = turning.sentence;
    let found = (turning.kind == Kind::Statement).then(|| turning.first_clause()).flatten();
    let Some(clause) = found.filter(|clause| clause.len() >= 5) else { return Vec::new() };
    let (Some(verb), Some(at)) = (turning.verb_of(clause.clone()), turning.aside_from(&clause)) else {
        return Vec::new();
    };
    let between = verb..at;
    let known = sentence.pronouns(0..verb);
    let holds = at >= verb + 2
        && !turning.broken(between.clone())
        && !sentence.joins_clauses(between.clone())
        && !turning.joined(between.clone())
        && !sentence.has_scope(verb..clause.end)
        && !sentence.any(between.clone(), COMPARING)
        && !sentence.any(between.clone(), CONDITIONS)
        && !sentence.any(verb + 1..at, ADJUNCTS)
        && !sentence.any(between.clone(), &["to", "that", "than"])
        && sentence.pronouns(at..clause.end).iter().all(|family| known.contains(family));
    if !holds {
        return Vec::new();
    }
    vec![Order {
        range: sentence.span(clause.clone()),
        parts: vec![
            turning.span(0..verb, First::Kept),
            Part::Glue(", "),
            turning.span(at..clause.end, First::Kept),
            Part::Glue(", "),
            turning.span(between, First::Kept),
        ],
        moves: 1,
    }]
}

/// `Anna has 3 pens and Ben has 5 books.`: two clauses with the same verb change places.
pub(super) fn exchanged(turning: &Turning<'_, '_>) -> Vec<Order> {
    let sentence = turning.sentence;
    let all = 0..turning.end();
    let mut joints = all.clone().filter(|&at| JOINTS.contains(&turning.word(at)));
    let (Some(and), None) = (joints.next(), joints.next()) else { return Vec::new() };
    if turning.kind != Kind::Statement || turning.word(and) != "and" || and < 3 || and + 4 > turning.end() {
        return Vec::new();
    }
    let (left, right) = (0..and, and + 1..turning.end());
    let (Some(first), Some(second)) = (turning.verb_of(left.clone()), turning.verb_of(right.clone())) else {
        return Vec::new();
    };
    let comma = sentence.words[and - 1].tail;
    let holds = turning.word(first) == turning.word(second)
        && matches!(comma, "" | ",")
        && sentence.words[and].tail.is_empty()
        && !turning.broken(left.clone())
        && !turning.broken(right.clone())
        && !sentence.joins_clauses(all.clone())
        && !sentence.has_scope(all.clone())
        && !sentence.any(all.clone(), COMPARING)
        && !sentence.any(all.clone(), CONDITIONS)
        && !sentence.any(all.clone(), SEQUENCE)
        && !sentence
            .any(all.clone(), &["other", "another", "rest", "remaining", "also", "too", "to", "more"])
        && sentence.pronouns(all.clone()).iter().all(|family| *family == 4)
        && !sentence.any(all, &["this", "these", "those", "ones", "such"])
        && (STATIVE.contains(&turning.word(first)) || comma.is_empty());
    if !holds {
        return Vec::new();
    }
    let glue = if comma.is_empty() { " " } else { ", " };
    vec![turning.order(vec![
        turning.span(right, First::Large),
        Part::Glue(glue),
        turning.span(and..and + 1, First::Kept),
        Part::Glue(" "),
        turning.span(left, turning.inner()),
    ])]
}

/// `Anna runs a stall to raise money.` becomes `To raise money, Anna runs a stall.`
pub(super) fn statement_purpose(turning: &Turning<'_, '_>) -> Vec<Order> {
    let sentence = turning.sentence;
    let Some(to) = (4..turning.end().saturating_sub(2)).rev().find(|&at| turning.word(at) == "to") else {
        return Vec::new();
    };
    if turning.kind != Kind::Statement {
        return Vec::new();
    }
    let (main, aim) = (0..to, to..turning.end());
    let all = 0..turning.end();
    let verb = &sentence.words[to + 1];
    let object = &sentence.words[to + 2];
    let noun = DETERMINERS.contains(&object.small.as_str()) || object.is_number();
    let known = opens_task(&verb.small) || PURPOSES.contains(&verb.small.as_str());
    let takes_time =
        turning.word(0) == "it" && matches!(turning.word(1), "takes" | "took" | "costs" | "cost");
    // `She needs to bake 5 pies to win a prize`: the first infinitive belongs to `needs`.
    let first = main.clone().find(|&at| turning.word(at) == "to");
    let wanted = first.is_none_or(|at| {
        at == main.start + 2
            && matches!(turning.word(1), "needs" | "has" | "have" | "need" | "decides" | "decided" | "plans")
    });
    let taken = TO_TAKING.contains(&turning.word(to - 1))
        || (first.is_none() && !takes_time && sentence.any(main.clone(), TO_TAKING));
    let holds = (takes_time || (turning.subject_end(main.clone()).is_some() && known && noun))
        && wanted
        && !taken
        && verb.lower
        && !turning.broken(all.clone())
        && !sentence.joins_clauses(all.clone())
        && !sentence.has_scope(all.clone())
        && !sentence.any(all.clone(), COMPARING)
        && !sentence.any(all.clone(), CONDITIONS)
        && !turning.joined(all)
        && sentence.pronouns(aim).is_empty();
    if holds { vec![turning.fronted(to)] } else { Vec::new() }
}

/// `Anna currently has 3 pens.` becomes `Currently, Anna has 3 pens.`
pub(super) fn adverb(turning: &Turning<'_, '_>) -> Vec<Order> {
    let sentence = turning.sentence;
    let found = (1..turning.end().min(5)).find(|&at| MIDDLE_ADVERBS.contains(&turning.word(at)));
    let Some(at) = found.filter(|_| turning.kind == Kind::Statement) else { return Vec::new() };
    let plain = |at: usize| sentence.words[at].tail.is_empty() && !sentence.words[at].bracket;
    let holds = (0..at + 1).all(plain)
        && at + 2 < turning.end()
        && !sentence.has_scope(0..at)
        && !sentence.joins_clauses(0..at)
        && !sentence.any(0..at, CONDITIONS)
        && !sentence.any(0..at, &["and", "or", "but", "not"])
        && !sentence.any(at + 1..at + 2, &["known"]);
    if !holds {
        return Vec::new();
    }
    let order = Order {
        range: sentence.span(0..at + 2),
        parts: vec![
            turning.span(at..at + 1, First::Large),
            Part::Glue(", "),
            turning.span(0..at, turning.inner()),
            Part::Glue(" "),
            turning.span(at + 1..at + 2, First::Kept),
        ],
        moves: 1,
    };
    vec![order]
}

/// Verbs that take something in or give it out, beside which `as …` says what it is.
const ROLES: &[&str] = &["accept", "accepts", "receive", "receives", "return", "returns", "take", "takes"];

/// `It takes a list of rows as an input.` becomes `It takes, as an input, a list of rows.`
pub(super) fn role(turning: &Turning<'_, '_>) -> Vec<Order> {
    let sentence = turning.sentence;
    let last = sentence.last();
    let Some(at) = (3..last).rev().find(|&at| turning.word(at) == "as") else { return Vec::new() };
    let input = matches!(turning.word(at + 1), "a" | "an" | "input" | "output" | "its");
    let Some(verb) = (0..at).rev().find(|&at| ROLES.contains(&turning.word(at))) else { return Vec::new() };
    let (object, phrase) = (verb + 1..at, at..last + 1);
    let holds = input
        && phrase.len() <= 4
        && (2..=9).contains(&object.len())
        && !turning.broken(verb..last + 1)
        && !turning.joined(verb..last + 1)
        && !sentence.has_scope(verb..last + 1)
        && !sentence.joins_clauses(verb..last + 1)
        && !sentence.any(object.clone(), CONDITIONS)
        && !sentence.any(object.clone(), &["also", "as", "to", "same"])
        && sentence.pronouns(phrase.clone()).is_empty();
    if !holds {
        return Vec::new();
    }
    vec![Order {
        range: sentence.span(verb..last + 1),
        parts: vec![
            turning.span(verb..verb + 1, First::Kept),
            Part::Glue(", "),
            turning.span(phrase, First::Kept),
            Part::Glue(", "),
            turning.span(object, First::Kept),
        ],
        moves: 1,
    }]
}
