//! Orders of a whole sentence: a phrase or a clause at its front, at its end, or in commas after the verb.
//!
//! Two blocks change places only when neither holds a negation or a quantifier, no clause begins or is joined in between,
//! and every pronoun keeps what it stands for. When in doubt there is no order but the one that is there.

use std::ops::Range;

use super::sentence::{Kind, Sentence, Word, is_function_word, opens_task};
use super::words::{
    ADJUNCTS, AUXILIARIES, COMPARING, CONDITIONS, DETERMINERS, JOINTS, LEAD_PREPOSITIONS, MONTHS, QUESTIONS,
    SEQUENCE, TIME_ADVERBS, TIMES, TITLES, UNITS, WONDERING,
};
use super::{adverbials, clauses, equations, nested, questions};

/// A sentence put together anew.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    /// What it takes the place of.
    pub(super) range: Range<usize>,
    pub(super) parts: Vec<Part>,
    /// How many moves it is.
    pub(super) moves: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Text of the base, with its first letter as it is, small or large.
    Span(Range<usize>, First),
    /// What is set between.
    Glue(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    Kept,
    Small,
    Large,
}

/// Every other order of the sentence that keeps the task; `lists` are the plain lists in it, which move whole.
pub(super) fn orders(sentence: &Sentence<'_>, lists: &[Range<usize>]) -> Vec<Order> {
    // A quotation that begins or ends elsewhere would be torn.
    let torn = |sign: char| sentence.text[sentence.whole()].matches(sign).count() % 2 == 1;
    if torn('`') || torn('"') {
        return Vec::new();
    }
    let Some(kind) = sentence.kind() else { return Vec::new() };
    let turning = Turning { sentence, kind, lists };
    // `Tomorrow is 11/12/2019.` has three words.
    let least = if kind == Kind::Statement { 3 } else { 4 };
    if sentence.len() < least
        || sentence.any(0..sentence.len(), SEQUENCE)
        || !matches!(sentence.words[sentence.last()].tail, "" | "." | "!" | "?")
    {
        return Vec::new();
    }
    let mut found = turning.leading();
    let more = [
        turning.trailing(),
        turning.purpose(),
        turning.relative(),
        clauses::aside(&turning),
        clauses::exchanged(&turning),
        clauses::statement_purpose(&turning),
        clauses::adverb(&turning),
        adverbials::trailing(&turning),
        adverbials::leading(&turning),
        questions::orders(&turning),
        equations::orders(&turning),
        equations::shares(&turning),
        turning.given(),
        clauses::role(&turning),
    ];
    for order in more.into_iter().flatten() {
        if !found.contains(&order) {
            found.push(order);
        }
    }
    for order in nested::of_task(&turning) {
        if !found.contains(&order) {
            found.push(order);
        }
    }
    let both = nested::both(&found);
    found.extend(both);
    found.extend(turning.politeness());
    found.retain(|order| keeps_numbers(sentence, order));
    found
}

/// No part ends between a number and the word after it, but for a percentage and its `of`.
fn keeps_numbers(sentence: &Sentence<'_>, order: &Order) -> bool {
    let ends =
        |end: usize| order.parts.iter().any(|part| matches!(part, Part::Span(range, _) if range.end == end));
    let inner = &sentence.words[..sentence.last()];
    let counts = |word: &Word<'_>| word.is_number() && !word.small.ends_with('%');
    !inner.iter().any(|word| counts(word) && word.tail.is_empty() && ends(word.core.end))
}

pub(super) struct Turning<'s, 'a> {
    pub(super) sentence: &'s Sentence<'a>,
    pub(super) kind: Kind,
    pub(super) lists: &'s [Range<usize>],
}

impl Turning<'_, '_> {
    pub(super) fn word(&self, at: usize) -> &str {
        self.sentence.words[at].small.as_str()
    }

    pub(super) fn end(&self) -> usize {
        self.sentence.len()
    }

    /// `and`, `or`, `but` that join more than the members of a plain list.
    pub(super) fn joined(&self, words: Range<usize>) -> bool {
        words.into_iter().any(|at| JOINTS.contains(&self.word(at)) && !self.listed(at))
    }

    /// Whether the word stands in a plain list, and not at its end.
    pub(super) fn listed(&self, at: usize) -> bool {
        self.lists.iter().any(|list| list.contains(&at) && at + 1 < list.end)
    }

    /// Whether punctuation stands between these words, but for that of plain lists.
    pub(super) fn broken(&self, words: Range<usize>) -> bool {
        let inner = words.start..words.end.saturating_sub(1).max(words.start);
        let plain = |at: usize| {
            let tail = self.sentence.words[at].tail;
            let short = tail == "." && (MONTHS.contains(&self.word(at)) || TITLES.contains(&self.word(at)));
            tail.is_empty() || (tail == "," && (self.listed(at) || self.in_date(at))) || short
        };
        !inner.into_iter().all(plain) || self.sentence.words[words].iter().any(|word| word.bracket)
    }

    /// Whether `to` opens an infinitive among these words.
    pub(super) fn has_infinitive(&self, words: Range<usize>) -> bool {
        words.into_iter().any(|at| {
            let next = self.sentence.words.get(at + 1);
            let noun = next.is_some_and(|next| {
                DETERMINERS.contains(&next.small.as_str())
                    || next.is_number()
                    || next.capital
                    || matches!(next.small.as_str(), "his" | "her" | "their" | "its")
            });
            self.word(at) == "to" && !noun
        })
    }

    /// A block that can be the main part: one clause, nothing with a scope.
    pub(super) fn is_main(&self, words: Range<usize>) -> bool {
        let to = self.kind != Kind::Question && self.has_infinitive(words.clone());
        words.len() >= 2
            && !to
            && !self.broken(words.clone())
            && !self.sentence.joins_clauses(words.clone())
            && !self.sentence.has_scope(words.clone())
            && !self.joined(words)
    }

    pub(super) fn span(&self, words: Range<usize>, first: First) -> Part {
        // A sentence that begins with a small letter does so in every order.
        let small = self.sentence.words[0].lower && first == First::Large;
        let first = if small { First::Kept } else { first };
        Part::Span(self.sentence.span(words), first)
    }

    pub(super) fn order(&self, parts: Vec<Part>) -> Order {
        Order { range: self.sentence.span(0..self.end()), parts, moves: 1 }
    }

    /// The first word of the sentence when something comes before it.
    pub(super) fn inner(&self) -> First {
        if self.sentence.lower_first() { First::Small } else { First::Kept }
    }

    /// `Phrase, main` out of `main phrase`.
    pub(super) fn fronted(&self, at: usize) -> Order {
        let moved = self.span(at..self.end(), First::Large);
        self.order(vec![moved, Part::Glue(", "), self.span(0..at, self.inner())])
    }

    /// In commas after the verb of an imperative, after a name, or before the auxiliary of a question.
    pub(super) fn parenthesis(&self, moved: Range<usize>, rest: Range<usize>, first: First) -> Option<Order> {
        let cut = self.cut(rest.clone())?;
        let case = if moved.start == 0 { First::Small } else { First::Kept };
        Some(self.order(vec![
            self.span(rest.start..cut, first),
            Part::Glue(", "),
            self.span(moved, case),
            Part::Glue(", "),
            self.span(cut..rest.end, First::Kept),
        ]))
    }

    /// Where a phrase in commas may stand in these words.
    pub(super) fn cut(&self, rest: Range<usize>) -> Option<usize> {
        let words = &self.sentence.words;
        let start = rest.start;
        match self.kind {
            _ if rest.len() < 3 => None,
            Kind::Imperative => {
                let person = matches!(self.word(start + 1), "me" | "us" | "him" | "them");
                (rest.len() >= 4 || !person).then_some(start + 1 + usize::from(person))
            }
            Kind::Question => {
                let auxiliary = |at: &usize| words[*at].is(AUXILIARIES) && words[*at].small != "there";
                (start + 1..rest.end - 1)
                    .find(auxiliary)
                    .filter(|at| *at > start + 1 || self.word(start) != "how")
            }
            Kind::Statement => {
                let head = &words[start];
                let name = head.capital && !is_function_word(&head.small) && !opens_task(&head.small);
                (name && words[start + 1].lower && words[start + 1].is(ADJUNCTS)).then_some(start + 1)
            }
        }
    }

    /// A clause or phrase before the only comma goes to the end, or between verb and object.
    fn leading(&self) -> Vec<Order> {
        let sentence = self.sentence;
        let commas: Vec<usize> = (0..sentence.last())
            .filter(|&at| !sentence.words[at].tail.is_empty() && !self.listed(at))
            .collect();
        let [comma] = commas[..] else { return Vec::new() };
        if sentence.words[comma].tail != "," {
            return Vec::new();
        }
        let (lead, main) = (0..comma + 1, comma + 1..self.end());
        let adverb = lead.len() == 1 && TIME_ADVERBS.contains(&self.word(0));
        let total = lead.len() == 2 && self.word(0) == "in" && self.word(1) == "total";
        let clause = CONDITIONS.contains(&self.word(0)) && lead.len() >= 3;
        let time = LEAD_PREPOSITIONS.contains(&self.word(0)) && self.is_time(lead.clone());
        let means = matches!(self.word(0), "using" | "given" | "from" | "for")
            && self.starts_imperative(comma + 1)
            && !self.has_adjunct(main.clone());
        if !(adverb || total || clause || time || means) || main.len() < 2 {
            return Vec::new();
        }
        let head = &sentence.words[comma + 1];
        let year = head.is_number() && head.small.len() == 4;
        let asks = sentence.words[sentence.last()].tail != "?" || QUESTIONS.contains(&self.word(comma + 1));
        let inner = Turning { sentence, kind: self.kind_from(comma + 1), lists: self.lists };
        let scoped = !clause && sentence.has_scope(lead.clone());
        if year
            || !asks
            || scoped
            || !inner.is_main(main.clone())
            || self.sentence.any(main.clone(), CONDITIONS)
        {
            return Vec::new();
        }
        if !(adverb || total || sentence.keeps_references(lead.clone(), main.clone())) {
            return Vec::new();
        }
        // `Sort the list in June`: the time would be the list's.
        if time && inner.kind == Kind::Imperative {
            return Vec::new();
        }
        if (adverb || total || time) && sentence.any(main.clone(), COMPARING) {
            return Vec::new();
        }
        let back = self.order(vec![
            self.span(main.clone(), First::Large),
            Part::Glue(" "),
            self.span(lead.clone(), First::Small),
        ]);
        let mid = inner.parenthesis(lead, main, First::Large);
        std::iter::once(back).chain(mid).collect()
    }

    fn kind_from(&self, at: usize) -> Kind {
        if self.starts_imperative(at) {
            Kind::Imperative
        } else if self.sentence.words[self.sentence.last()].tail == "?" {
            Kind::Question
        } else {
            Kind::Statement
        }
    }

    pub(super) fn starts_imperative(&self, at: usize) -> bool {
        self.sentence.words[at].lower
            && opens_task(self.word(at))
            && self.sentence.words[self.sentence.last()].tail != "?"
    }

    /// Whether the words name a time and nothing else: at most five of them, with a word for it last.
    pub(super) fn is_time(&self, words: Range<usize>) -> bool {
        let last = &self.sentence.words[words.end - 1];
        let year = last.small.len() == 4 && last.small.bytes().all(|byte| byte.is_ascii_digit());
        (2..=6).contains(&words.len())
            && (TIMES.contains(&last.small.as_str()) || year)
            && !self.sentence.joins_clauses(words.clone())
            && !self.broken(words.clone())
            && self.sentence.pronouns(words).is_empty()
    }

    /// Whether a preposition stands in these words to which a phrase at the end could attach instead.
    fn has_adjunct(&self, words: Range<usize>) -> bool {
        self.sentence.any(
            words,
            &["in", "on", "at", "from", "with", "for", "by", "into", "about", "using", "than", "as"],
        )
    }

    /// A clause or phrase at the end comes to the front, or between verb and object.
    fn trailing(&self) -> Vec<Order> {
        let clause = self.trailing_clause();
        if clause.is_none() && self.kind == Kind::Imperative {
            return self.phrases();
        }
        let Some(at) = clause.or_else(|| self.trailing_phrase()) else { return Vec::new() };
        let mid = self.parenthesis(at..self.end(), 0..at, First::Kept);
        std::iter::once(self.fronted(at)).chain(mid).collect()
    }

    fn trailing_clause(&self) -> Option<usize> {
        let sentence = self.sentence;
        let opens = |at: &usize| CONDITIONS.contains(&self.word(*at)) && sentence.words[*at].plain;
        let mut markers = (0..self.end()).filter(opens);
        let at = markers.next().filter(|_| markers.next().is_none())?;
        let (main, moved) = (0..at, at..self.end());
        let comma = sentence.words[at.checked_sub(1)?].tail;
        // `Find out if …`: the clause is what is found out.
        let asked = self.word(at) == "if" && WONDERING.contains(&self.word(at - 1));
        let least = if self.kind == Kind::Imperative { 2 } else { 3 };
        let holds = main.len() >= least
            && !asked
            && moved.len() >= 3
            && (comma.is_empty() || (comma == "," && self.kind != Kind::Imperative))
            && !matches!(
                self.word(at - 1),
                "a" | "even"
                    | "as"
                    | "except"
                    | "the"
                    | "day"
                    | "days"
                    | "year"
                    | "years"
                    | "week"
                    | "minutes"
                    | "hours"
                    | "or"
                    | "and"
            )
            && self.is_main(main.clone())
            && !self.broken(moved.clone())
            && sentence.keeps_references(main, moved);
        holds.then_some(at)
    }

    fn trailing_phrase(&self) -> Option<usize> {
        let at = self.told_phrase()?;
        let (main, moved) = (0..at, at..self.end());
        let known = self.sentence.pronouns(main.clone());
        let pronouns = self.sentence.pronouns(moved.clone()).iter().all(|family| known.contains(family));
        (main.len() >= 3
            && self.is_main(main.clone())
            && self.is_calm(moved)
            && pronouns
            && !self.sentence.any(main, COMPARING))
        .then_some(at)
    }

    /// A phrase without clauses, joints, punctuation or scope.
    pub(super) fn is_calm(&self, words: Range<usize>) -> bool {
        !self.broken(words.clone())
            && !self.sentence.joins_clauses(words.clone())
            && !self.joined(words.clone())
            && !self.sentence.has_scope(words)
    }

    /// The last phrase of a question or a statement, if it says when, in what measure or how much in all.
    fn told_phrase(&self) -> Option<usize> {
        let last = self.sentence.last();
        if self.ends_in_time(last) {
            return Some(last);
        }
        if matches!(self.word(last), "week" | "month" | "year" | "night" | "summer" | "winter")
            && matches!(self.word(last.checked_sub(1)?), "last" | "next" | "this")
        {
            return Some(last - 1);
        }
        let at = (1..last + 1).rev().find(|&at| LEAD_PREPOSITIONS.contains(&self.word(at)))?;
        let moved = at..last + 1;
        let word = self.sentence.words[last].small.as_str();
        let unit = self.word(at) == "in"
            && moved.len() == 2
            && (UNITS.contains(&word) || word.contains('/') || word == "total");
        let there = self.word(0) == "there"
            && matches!(self.word(at), "in" | "on" | "at")
            && (DETERMINERS.contains(&self.word(at + 1)) || self.sentence.words[at + 1].capital)
            && moved.len() <= 5;
        let question = self.kind == Kind::Question;
        let told = (unit && question) || there || self.is_time(moved);
        if told { Some(at) } else { self.asked_phrase() }
    }
}
