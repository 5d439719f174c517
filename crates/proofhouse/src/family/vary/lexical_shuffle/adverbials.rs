//! Phrases of statements that can only belong to the verb of their clause: when, where, for how much, from whom, to whom.
//!
//! Such a phrase may open its sentence, close its clause, or stand in commas before the verb. What it crosses on the way is
//! all that is looked at: a quantifier elsewhere in the sentence keeps its place and its words.

use std::ops::Range;

use super::sentence::{Kind, is_function_word};
use super::turns::{First, Order, Part, Turning};
use super::words::{
    ADJUNCTS, BEING, BUYING, COMPARING, CONDITIONS, DETERMINERS, GETTING, GIVING, MONTHS,
    PHRASE_PREPOSITIONS, PLACES, POSSESSIVES, TIME_ADVERBS, TIMES, TITLES,
};

/// A clause with its own subject.
struct Clause {
    words: Range<usize>,
    verb: usize,
}

impl Turning<'_, '_> {
    /// The clauses of a statement: the first one, and those after a comma and `and`, `but` or `so`.
    fn clauses(&self) -> Vec<Clause> {
        let opens = |at: usize| {
            at > 0
                && self.sentence.words[at - 1].tail == ","
                && matches!(self.word(at), "and" | "but" | "so")
                && !self.listed(at)
        };
        let mut starts: Vec<usize> = (0..self.end()).filter(|&at| at == 0 || opens(at)).collect();
        starts.push(self.end());
        starts
            .windows(2)
            .map(|pair| pair[0] + usize::from(pair[0] > 0)..pair[1])
            .filter(|words| words.len() >= 4 && !self.broken(words.clone()))
            .filter_map(|words| Some(Clause { verb: self.subject_end(words.clone())?, words }))
            .collect()
    }

    /// The verb of a clause whose subject is a name, a pronoun, or a noun with an article, a possessive or a number.
    pub(super) fn subject_end(&self, clause: Range<usize>) -> Option<usize> {
        let words = &self.sentence.words;
        let start = clause.start;
        let verb = |at: usize| {
            at < clause.end
                && words[at].lower
                && (ADJUNCTS.contains(&self.word(at)) || (at == start + 1 && self.is_verb(at, clause.end)))
                && words[at].tail.is_empty()
        };
        let first = &words[start];
        let title = TITLES.contains(&first.small.as_str()) && first.tail == ".";
        let name = |at: usize| {
            at < clause.end && words[at].plain && self.is_capital(at) && words[at].tail.is_empty()
        };
        let pronoun = matches!(first.small.as_str(), "he" | "she" | "they" | "we" | "i" | "it" | "you");
        if title && name(start + 1) && verb(start + 2) {
            return Some(start + 2);
        }
        if pronoun || (name(start) && !is_function_word(&first.small)) {
            let rest = (start + 1..start + 3).find(|&at| !name(at) || verb(at))?;
            return (verb(rest) && !verb(rest + 1)).then_some(rest);
        }
        let opens = DETERMINERS.contains(&first.small.as_str())
            || POSSESSIVES.contains(&first.small.as_str())
            || first.small.ends_with("'s")
            || first.small.ends_with("’s")
            || first.is_number();
        let at = (start + 2..clause.end.min(start + 6)).find(|&at| verb(at))?;
        let noun =
            |at: usize| words[at].plain && words[at].tail.is_empty() && !is_function_word(self.word(at));
        (opens && first.tail.is_empty() && (start + 1..at).all(noun) && !verb(at + 1)).then_some(at)
    }

    /// A verb that no list has: a form in `-s` or `-ed` between a name or a pronoun and what can only follow a verb.
    fn is_verb(&self, at: usize, end: usize) -> bool {
        let words = &self.sentence.words;
        let (word, Some(next)) = (self.word(at), words.get(at + 1).filter(|_| at + 1 < end)) else {
            return false;
        };
        let small = next.small.as_str();
        let follows = DETERMINERS.contains(&small)
            || POSSESSIVES.contains(&small)
            || next.is_number()
            || PHRASE_PREPOSITIONS.contains(&small);
        let formed = word.len() > 3
            && (word.ends_with('s') || word.ends_with("ed"))
            && !word.contains(['\'', '’', '-']);
        formed && follows && !is_function_word(word) && !word.ends_with("ss")
    }

    fn is_capital(&self, at: usize) -> bool {
        self.sentence.text[self.sentence.words[at].core.clone()].starts_with(char::is_uppercase)
    }

    /// Where the last phrase of the clause begins, if it can only belong to the verb.
    fn adverbial(&self, clause: &Clause) -> Option<usize> {
        let (start, end) = (clause.verb + 1, clause.words.end);
        if let Some(at) = self.time_without_preposition(start..end) {
            return Some(at);
        }
        let at =
            (start..end.saturating_sub(1)).rev().find(|&at| PHRASE_PREPOSITIONS.contains(&self.word(at)))?;
        let phrase = at..end;
        let parted = self.sentence.any(start..at, &["from", "between", "to"]);
        let told = self.is_moment(phrase.clone())
            || (at > start && !parted && self.is_argument(self.word(clause.verb), phrase));
        told.then_some(at)
    }

    /// Whether the word is a time, or a sum, that stands for itself: not so in `from now` or `right now`.
    pub(super) fn ends_in_time(&self, at: usize) -> bool {
        let tied = [
            "from", "by", "until", "till", "since", "right", "just", "of", "for", "before", "after", "than",
            "to",
        ];
        self.sentence.words[at].is(TIME_ADVERBS) && at > 0 && !tied.contains(&self.word(at - 1))
    }

    /// `yesterday`, `last week`, `two years ago`.
    fn time_without_preposition(&self, words: Range<usize>) -> Option<usize> {
        let last = words.end.checked_sub(1).filter(|last| words.contains(last))?;
        if self.ends_in_time(last) && self.word(last) != "altogether" {
            return Some(last);
        }
        let before = last.checked_sub(1).filter(|before| words.contains(before))?;
        if matches!(self.word(last), "week" | "month" | "year" | "night" | "summer" | "winter")
            && matches!(self.word(before), "last" | "next" | "this")
        {
            return Some(before);
        }
        let from = before.checked_sub(1).filter(|from| words.contains(from))?;
        (matches!(self.word(last), "ago" | "later" | "earlier") && self.counts_time(from)).then_some(from)
    }

    /// `two years`, `a week`.
    fn counts_time(&self, at: usize) -> bool {
        let first = &self.sentence.words[at];
        (first.is_number() || matches!(first.small.as_str(), "a" | "an"))
            && TIMES.contains(&self.word(at + 1))
    }

    /// A preposition, then a time and nothing else.
    fn is_moment(&self, phrase: Range<usize>) -> bool {
        let last = phrase.end - 1;
        let inner = phrase.start + 1..phrase.end;
        let date = self.is_date(inner.clone());
        let day = |at: usize| {
            let word = &self.sentence.words[at];
            TIMES.contains(&word.small.as_str())
                || word.is_number()
                || DETERMINERS.contains(&word.small.as_str())
                || POSSESSIVES.contains(&word.small.as_str())
                || matches!(
                    word.small.as_str(),
                    "of" | "first" | "second" | "third" | "fourth" | "last" | "next"
                )
        };
        let time =
            TIMES.contains(&self.word(last)) && (2..=6).contains(&phrase.len()) && inner.clone().all(day);
        let counted = self.word(phrase.start) != "for" || self.sentence.words[phrase.start + 1].is_number();
        (time || date) && counted && !matches!(self.word(phrase.start), "to" | "from" | "with")
    }

    /// `Jan 2, 1958`, `5 May 2019`, `4/19/1969`.
    pub(super) fn is_date(&self, words: Range<usize>) -> bool {
        let part = |at: usize| {
            let word = &self.sentence.words[at];
            let small = word.small.as_str();
            let ordinal = small.trim_end_matches(char::is_alphabetic);
            TIMES.contains(&small)
                || MONTHS.contains(&small)
                || (!ordinal.is_empty() && ordinal.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/'))
        };
        let digits = |at: usize| self.word(at).contains(|c: char| c.is_ascii_digit());
        !words.is_empty() && words.len() <= 4 && words.clone().all(part) && words.into_iter().any(digits)
    }

    /// A place, a price, a source, a receiver or what money went to, as the verb asks for it.
    fn is_argument(&self, verb: &str, phrase: Range<usize>) -> bool {
        let (at, last) = (phrase.start, phrase.end - 1);
        let next = &self.sentence.words[at + 1];
        let small = next.small.as_str();
        let noun = DETERMINERS.contains(&small) || POSSESSIVES.contains(&small) || small.ends_with("'s");
        let someone = noun || (next.capital && !is_function_word(small));
        let plain = phrase.len() <= 6
            && (at + 1..last + 1).all(|at| {
                let word = &self.sentence.words[at];
                !ADJUNCTS.contains(&word.small.as_str())
                    && (!is_function_word(&word.small)
                        || noun && at == phrase.start + 1
                        || word.is_number()
                        || word.small == "of"
                        || word.small == "a")
            });
        plain
            && match self.word(at) {
                "at" | "in" | "on" if noun && phrase.len() <= 5 && PLACES.contains(&self.word(last)) => {
                    !BEING.contains(&verb)
                }
                "for" => small.starts_with('$') && BUYING.contains(&verb),
                "from" => someone && GETTING.contains(&verb),
                "to" => someone && GIVING.contains(&verb) && phrase.len() <= 4,
                "on" => matches!(verb, "spend" | "spends" | "spent"),
                _ => false,
            }
    }

    /// Whether a noun comes right after the verb, before which a phrase in commas may stand.
    fn takes_object(&self, verb: usize, end: usize) -> bool {
        let Some(next) = self.sentence.words.get(verb + 1).filter(|_| verb + 2 < end) else { return false };
        let small = next.small.as_str();
        let noun = DETERMINERS.contains(&small) || POSSESSIVES.contains(&small) || next.is_number();
        noun && next.tail.is_empty() && !BEING.contains(&self.word(verb))
    }

    /// Whether a phrase may go before these words, all of one clause.
    pub(super) fn may_cross(&self, crossed: Range<usize>, phrase: Range<usize>) -> bool {
        let sentence = self.sentence;
        let free =
            |words: Range<usize>| !sentence.has_scope(words.clone()) && !sentence.any(words, COMPARING);
        let named = crossed.clone().any(|at| self.is_capital(at));
        let pronouns = sentence.pronouns(phrase.clone());
        free(crossed.clone())
            && free(phrase.clone())
            && !sentence.joins_clauses(crossed.clone())
            && !sentence.joins_clauses(phrase.clone())
            && !self.joined(crossed.clone())
            && !self.joined(phrase)
            && !sentence.any(crossed.clone(), CONDITIONS)
            && !sentence.any(crossed.clone(), &["to", "that", "than", "how", "what", "per"])
            && !sentence.any(crossed.start + 1..crossed.end, ADJUNCTS)
            && !matches!(self.word(crossed.end - 1), "right" | "just" | "until")
            && (pronouns.is_empty() || !named)
    }
}

/// `Anna sold 3 rolls to a friend.` becomes `To a friend, Anna sold 3 rolls.` or `Anna, to a friend, sold 3 rolls.`
pub(super) fn trailing(turning: &Turning<'_, '_>) -> Vec<Order> {
    if turning.kind != Kind::Statement {
        return Vec::new();
    }
    let sentence = turning.sentence;
    let mut found = Vec::new();
    let clauses = turning.clauses();
    for clause in &clauses {
        // At the end of a series of clauses it may belong to all of them.
        if clause.words.start > 0 && clause.words.end == turning.end() {
            continue;
        }
        let Some(at) = turning.adverbial(clause) else { continue };
        let (crossed, phrase) = (clause.verb..at, at..clause.words.end);
        if !turning.may_cross(crossed.clone(), phrase.clone()) {
            continue;
        }
        let subject = clause.words.start..clause.verb;
        let known = sentence.pronouns(subject.clone());
        let pronouns = sentence.pronouns(phrase.clone());
        let held = pronouns.iter().all(|family| known.contains(family));
        let named = sentence.has_name(subject.clone());
        let whole = clause.words == (0..turning.end());
        if whole && held && !sentence.has_scope(subject.clone()) {
            found.push(turning.fronted(at));
        }
        if held || (named && known.is_empty()) {
            found.push(Order {
                range: sentence.span(clause.words.clone()),
                parts: vec![
                    turning.span(subject, First::Kept),
                    Part::Glue(", "),
                    turning.span(phrase, First::Kept),
                    Part::Glue(", "),
                    turning.span(crossed, First::Kept),
                ],
                moves: 1,
            });
        }
        if held && turning.takes_object(clause.verb, at) {
            found.push(Order {
                range: sentence.span(clause.words.clone()),
                parts: vec![
                    turning.span(clause.words.start..clause.verb + 1, First::Kept),
                    Part::Glue(", "),
                    turning.span(at..clause.words.end, First::Kept),
                    Part::Glue(", "),
                    turning.span(clause.verb + 1..at, First::Kept),
                ],
                moves: 1,
            });
        }
    }
    found
}

/// `On Monday, Anna sold half of them.` becomes `Anna, on Monday, sold half of them.`: only the subject is crossed.
pub(super) fn leading(turning: &Turning<'_, '_>) -> Vec<Order> {
    let sentence = turning.sentence;
    if turning.kind != Kind::Statement {
        return Vec::new();
    }
    let comma = (0..turning.end().min(14))
        .find(|&at| sentence.words[at].tail == "," && !turning.in_date(at))
        .filter(|&at| at + 4 < turning.end());
    let Some(comma) = turning.bare_time().or(comma) else { return Vec::new() };
    let lead = 0..comma + 1;
    let Some(verb) = turning.subject_end(comma + 1..turning.end()) else { return Vec::new() };
    let subject = comma + 1..verb;
    let next = &sentence.words[verb + 1];
    let time = turning.is_time_lead(lead.clone());
    let clause = CONDITIONS.contains(&turning.word(0))
        && lead.len() >= 3
        && turning.subject_end(1..comma + 1).is_some();
    let place = matches!(turning.word(0), "at" | "in" | "on" | "for" | "from")
        && lead.len() <= 6
        && !sentence.any(1..comma + 1, ADJUNCTS)
        && !turning.broken(lead.clone());
    let aim = turning.word(0) == "to"
        && lead.len() >= 3
        && turning.has_infinitive(0..1)
        && sentence.words[1].lower
        && !turning.broken(lead.clone());
    let pronouns = sentence.pronouns(subject.clone());
    let person = pronouns.is_empty()
        || (pronouns.iter().all(|family| *family < 2) && !sentence.has_name(1..comma + 1));
    let known = match () {
        () if time => true,
        () if clause => pronouns.is_empty() && sentence.has_name(subject.clone()),
        () => person,
    };
    let outside = sentence.pronouns(lead.clone());
    let holds = (time || clause || place || aim)
        && known
        && (outside.is_empty()
            || outside == pronouns
            || (pronouns.is_empty() && sentence.has_name(subject.clone())))
        && (clause || !sentence.has_scope(lead.clone()))
        && !sentence.has_scope(subject.clone())
        && !sentence.joins_clauses(lead.clone())
        && !turning.joined(lead.clone())
        && next.tail != ","
        && !sentence.any(lead.clone(), COMPARING);
    if !holds {
        return Vec::new();
    }
    let order = |parts: Vec<Part>, end: usize| Order { range: sentence.span(0..end), parts, moves: 1 };
    let mut found = vec![order(
        vec![
            turning.span(subject, First::Large),
            Part::Glue(", "),
            turning.span(lead.clone(), First::Small),
            Part::Glue(", "),
            turning.span(verb..verb + 1, First::Kept),
        ],
        verb + 1,
    )];
    if !clause && turning.takes_object(verb, turning.end()) {
        let parts = vec![
            turning.span(comma + 1..verb + 1, First::Large),
            Part::Glue(", "),
            turning.span(lead, First::Small),
            Part::Glue(", "),
            turning.span(verb + 1..verb + 2, First::Kept),
        ];
        found.push(order(parts, verb + 2));
    }
    found
}

impl Turning<'_, '_> {
    /// Whether a comma here stands inside a date: `May 9th, 2017`.
    pub(super) fn in_date(&self, at: usize) -> bool {
        let year = |word: &str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
        let day = self.word(at).trim_end_matches(char::is_alphabetic);
        let next = self.sentence.words.get(at + 1);
        self.sentence.words[at].tail == ","
            && (1..=2).contains(&day.len())
            && day.bytes().all(|byte| byte.is_ascii_digit())
            && at > 0
            && (MONTHS.contains(&self.word(at - 1)) || TIMES.contains(&self.word(at - 1)))
            && next.is_some_and(|next| year(&next.small))
    }

    /// The last word of a time that opens the sentence without a comma: `On Monday she counts 3 clouds.`
    fn bare_time(&self) -> Option<usize> {
        let words = &self.sentence.words;
        (0..5.min(self.end().saturating_sub(4))).find(|&last| {
            let lead = 0..last + 1;
            words[lead.clone()].iter().all(|word| word.tail.is_empty())
                && self.is_time_lead(lead)
                && !TIMES.contains(&self.word(last + 1))
                && self.word(last + 1) != "it"
                && self.subject_end(last + 1..self.end()).is_some()
        })
    }

    fn is_time_lead(&self, lead: Range<usize>) -> bool {
        let single = lead.len() == 1 && TIME_ADVERBS.contains(&self.word(0)) && self.word(0) != "altogether";
        let counted = self.time_without_preposition(lead.clone()) == Some(0);
        let phrase = lead.len() >= 2
            && matches!(
                self.word(0),
                "after" | "at" | "before" | "by" | "during" | "for" | "in" | "on" | "over" | "within"
            )
            && self.is_moment(lead);
        single || counted || phrase
    }
}
