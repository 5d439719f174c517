//! Members of lists that say something: qualities to choose between, payments, and facts.

use std::ops::Range;

use super::lists::Reader;
use super::sentence::{family, is_function_word};
use super::words::{ADJUNCTS, COMPARING, QUALITIES, STATIVE};

impl Reader<'_, '_> {
    /// `is even or odd`.
    pub(super) fn qualities(&self, joint: usize) -> Option<Vec<Range<usize>>> {
        let (left, right) = (joint - 1, joint + 1);
        let known = |pair: &&(&str, &str)| {
            let here = (self.small(left), self.small(right));
            here == **pair || here == (pair.1, pair.0)
        };
        let holds = left > 0
            && matches!(self.small(left - 1), "is" | "are" | "be")
            && self.small(joint) == "or"
            && self.tail(left).is_empty()
            && right == self.sentence.last()
            && QUALITIES.iter().any(|pair| known(&pair));
        holds.then(|| vec![left..left + 1, right..right + 1])
    }

    /// `$5 on a book and $19 on a game` after a verb of paying.
    pub(super) fn payments(&self, joint: usize) -> Option<Vec<Range<usize>>> {
        let payment = |start: usize, end: usize| {
            let price = start + 2 < end && self.small(start).starts_with('$') && self.tail(start).is_empty();
            price
                && matches!(self.small(start + 1), "on" | "for")
                && (start + 2..end).all(|at| {
                    let small = self.small(at);
                    self.lower(at)
                        && (matches!(small, "a" | "an" | "the" | "his" | "her") || !is_function_word(small))
                        && !ADJUNCTS.contains(&small)
                        && (self.tail(at).is_empty() || at + 1 == end)
                })
        };
        let end = self.sentence.len();
        let start = (joint.saturating_sub(6)..joint).rev().find(|&at| payment(at, joint))?;
        let verb = start.checked_sub(1)?;
        let pays = matches!(self.small(verb), "spend" | "spends" | "spent" | "pays" | "paid" | "pay");
        let holds = pays
            && self.tail(joint - 1).is_empty()
            && payment(joint + 1, end)
            && self.small(start + 1) == self.small(joint + 2);
        holds.then(|| vec![start..joint, joint + 1..end])
    }

    /// `if a pen weighs 2 grams and a book weighs 90 grams, …`: two clauses about how things are.
    pub(super) fn facts(&self, joint: usize) -> Option<Vec<Range<usize>>> {
        let words = &self.sentence.words;
        let end = (joint + 3..self.sentence.len())
            .find(|&at| !self.tail(at).is_empty())
            .map_or(words.len(), |at| at + 1);
        let opens = |at: usize| {
            matches!(self.small(at), "if" | "that" | "when" | "and" | "but") || self.tail(at) == ","
        };
        let start = (0..joint).rev().find(|&at| opens(at))? + 1;
        let (left, right) = (start..joint, joint + 1..end);
        let (one, two) = (self.fact(left.clone())?, self.fact(right.clone())?);
        let comma = self.tail(joint - 1);
        let holds = self.small(one) == self.small(two)
            && !words[joint - 1].is_number()
            && matches!(self.small(start - 1), "if" | "when" | "that")
            && matches!(comma, "" | ",")
            && (end == words.len() || matches!(self.small(end), "how" | "what"))
            && !words[start].capital;
        holds.then(|| vec![left, right])
    }

    /// The verb of a clause such as `a bag of nuts weighs 4 pounds`.
    fn fact(&self, clause: Range<usize>) -> Option<usize> {
        let verb = (clause.start + 1..clause.end).find(|&at| STATIVE.contains(&self.small(at)))?;
        let words = &self.sentence.words;
        let plain = |at: usize| {
            (self.tail(at).is_empty() || at + 1 == clause.end)
                && !words[at].bracket
                && family(self.small(at)).is_none_or(|family| family == 4 && words[at].is_number())
        };
        let subject = |at: usize| {
            matches!(self.small(at), "a" | "an" | "the" | "of" | "one") || !is_function_word(self.small(at))
        };
        let holds = clause.len() <= 10
            && verb + 1 < clause.end
            && clause.clone().all(plain)
            && (clause.start..verb).all(subject)
            && words[verb + 1].is_number()
            && !self.sentence.has_scope(clause.clone())
            && !self.sentence.any(clause.clone(), COMPARING)
            && !self.sentence.any(clause, &["other", "another", "rest", "remaining", "also", "too", "to"]);
        holds.then_some(verb)
    }
}
