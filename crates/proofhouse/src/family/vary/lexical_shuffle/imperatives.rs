//! Orders of imperatives: phrases of the verb, purposes, conditions inside a relative clause, and politeness.

use std::ops::Range;

use super::super::lexicon;
use super::questions;
use super::sentence::{Kind, is_function_word, opens_task};
use super::turns::{First, Order, Part, Turning};
use super::words::{
    AIM_PREPOSITIONS, COMPARING, DETERMINERS, FORMS, JOINTS, MAKING, RECEIVERS, SORTING, SOURCES, TIED_FORMS,
};

impl Turning<'_, '_> {
    /// An imperative whose last phrases can only belong to its verb: each may come first or stand in commas after the verb, and two
    /// of them may change places.
    pub(super) fn phrases(&self) -> Vec<Order> {
        let starts: Vec<usize> = (2..self.end()).filter(|&at| self.belongs_to_verb(at)).collect();
        let Some(&from) = starts.first() else { return Vec::new() };
        let phrases: Vec<Range<usize>> = starts
            .iter()
            .enumerate()
            .map(|(nth, &at)| at..starts.get(nth + 1).copied().unwrap_or(self.end()))
            .collect();
        let calm = self.is_main(0..from)
            && phrases.iter().all(|phrase| {
                phrase.len() >= 2
                    && phrase.len() <= 10
                    && self.is_calm(phrase.clone())
                    && self.sentence.pronouns(phrase.clone()).is_empty()
            })
            && !self.sentence.any(0..from, COMPARING)
            && !self.has_infinitive(from..self.end());
        if !calm || phrases.len() > 3 {
            return Vec::new();
        }
        let mut found = Vec::new();
        for phrase in &phrases {
            let rest: Vec<Range<usize>> = phrases.iter().filter(|other| *other != phrase).cloned().collect();
            let add = |parts: &mut Vec<Part>| {
                for other in &rest {
                    parts.extend([Part::Glue(" "), self.span(other.clone(), First::Kept)]);
                }
            };
            let mut fronted = vec![
                self.span(phrase.clone(), First::Large),
                Part::Glue(", "),
                self.span(0..from, self.inner()),
            ];
            add(&mut fronted);
            found.push(self.order(fronted));
            if let Some(cut) = self.cut(0..from) {
                let mut aside = vec![
                    self.span(0..cut, First::Kept),
                    Part::Glue(", "),
                    self.span(phrase.clone(), First::Kept),
                    Part::Glue(", "),
                    self.span(cut..from, First::Kept),
                ];
                add(&mut aside);
                found.push(self.order(aside));
            }
        }
        for pair in phrases.windows(2) {
            let mut swapped = vec![self.span(0..pair[0].start, First::Kept), Part::Glue(" ")];
            swapped.extend([
                self.span(pair[1].clone(), First::Kept),
                Part::Glue(" "),
                self.span(pair[0].clone(), First::Kept),
            ]);
            if pair[1].end < self.end() {
                swapped.extend([Part::Glue(" "), self.span(pair[1].end..self.end(), First::Kept)]);
            }
            found.push(self.order(swapped));
        }
        found
    }

    /// Whether a phrase that can only belong to the verb of the imperative begins here.
    fn belongs_to_verb(&self, at: usize) -> bool {
        let last = self.sentence.last();
        let verb = self.word(0);
        let list = ["using", "into", "from", "in", "by", "as", "for", "about", "to", "within"];
        if at >= last || last - at > 14 || !self.sentence.words[at].is(&list) {
            return false;
        }
        let next = &self.sentence.words[at + 1];
        let noun = DETERMINERS.contains(&next.small.as_str()) || next.is_number();
        let until =
            (at + 1..last + 1).find(|&other| self.sentence.words[other].is(&list)).unwrap_or(last + 1);
        match self.word(at) {
            "using" => true,
            "into" => lexicon::is_becoming(verb),
            "from" | "within" => SOURCES.contains(&verb),
            "in" => {
                let form = (at + 1..until).any(|at| FORMS.contains(&self.word(at)));
                let inside = matches!(
                    verb,
                    "find"
                        | "count"
                        | "replace"
                        | "locate"
                        | "search"
                        | "identify"
                        | "highlight"
                        | "underline"
                        | "correct"
                        | "fix"
                );
                // When the thing was, not when to look for it.
                let time = self.is_time(at..until);
                form || (noun && inside && !time)
            }
            "by" => SORTING.contains(&verb),
            "as" => matches!(next.small.as_str(), "a" | "an") && !SORTING.contains(&verb) && verb != "use",
            "for" => MAKING.contains(&verb) && (noun || until - at <= 4),
            "about" => MAKING.contains(&verb),
            "to" => RECEIVERS.contains(&verb) && noun,
            _ => false,
        }
    }

    /// `Write a function to find it.`: the purpose comes first, or its last phrase stands in commas after its verb.
    pub(super) fn purpose(&self) -> Vec<Order> {
        let sentence = self.sentence;
        let Some(to) = (2..self.end().saturating_sub(2)).find(|&at| self.word(at) == "to") else {
            return Vec::new();
        };
        if self.kind != Kind::Imperative || !MAKING.contains(&self.word(0)) || to > 7 {
            return Vec::new();
        }
        let (main, aim) = (0..to, to..self.end());
        let verb = &sentence.words[to + 1];
        let made =
            matches!(self.word(to - 1), "function" | "program" | "method" | "script" | "query" | "class");
        let known = opens_task(&verb.small)
            || verb.small == "check"
            || (made && verb.plain && !is_function_word(&verb.small) && verb.tail.is_empty());
        let holds = self.is_main(main.clone())
            && verb.lower
            && known
            && self.is_unbroken(aim.clone())
            && sentence.pronouns(main.clone()).is_empty();
        if !holds {
            return Vec::new();
        }
        let mut found = vec![self.fronted(to)];
        if main.len() >= 3 {
            found.extend(self.parenthesis(aim.clone(), main.clone(), First::Kept));
        }
        found.extend(self.whether(to));
        // Inside the purpose, a pronoun stands for what came before it.
        let inner = !self.broken(aim.clone()) && sentence.pronouns(aim.clone()).is_empty();
        let phrases = if inner { self.phrases_of_aim(to + 1) } else { Vec::new() };
        // Where no phrase can move inside the purpose, the means can still move past all of it.
        if phrases.is_empty() {
            found.extend(self.means(to));
        }
        for phrase in phrases {
            let shifted = |parts: &mut Vec<Part>, first: First| {
                parts.push(self.span(to..to + 2, first));
                parts.push(Part::Glue(", "));
                parts.push(self.span(phrase..self.end(), First::Kept));
                parts.push(Part::Glue(", "));
                parts.push(self.span(to + 2..phrase, First::Kept));
            };
            let mut inside = vec![self.span(main.clone(), First::Kept), Part::Glue(" ")];
            shifted(&mut inside, First::Kept);
            found.push(self.order(inside));
            let mut both = Vec::new();
            shifted(&mut both, First::Large);
            both.extend([Part::Glue(", "), self.span(main.clone(), self.inner())]);
            found.push(Order { moves: 2, ..self.order(both) });
            if let Some(cut) = self.cut(main.clone()) {
                let mut aside = vec![self.span(0..cut, First::Kept), Part::Glue(", ")];
                shifted(&mut aside, First::Kept);
                aside.extend([Part::Glue(", "), self.span(cut..to, First::Kept)]);
                found.push(Order { moves: 2, ..self.order(aside) });
            }
            if matches!(self.word(phrase), "using" | "by") && self.word(to + 1) != "sort" {
                let rest = self.span(0..phrase, self.inner());
                found.push(self.order(vec![
                    self.span(phrase..self.end(), First::Large),
                    Part::Glue(", "),
                    rest,
                ]));
            }
        }
        found
    }

    /// Whether these words hold no punctuation but brackets that are closed again.
    fn is_unbroken(&self, words: Range<usize>) -> bool {
        let text = &self.sentence.text[self.sentence.span(words.clone())];
        let tail = |at: usize| self.sentence.words[at].tail;
        let plain =
            |at: usize| tail(at).is_empty() || tail(at) == ")" || (tail(at) == "," && self.listed(at));
        (words.start..words.end - 1).all(plain)
            && text.matches('(').count() == text.matches(')').count()
            && !tail(words.end - 1).contains(')')
            && !text.contains(['[', ']', '{', '}'])
    }

    /// The phrases at the end of an infinitive that can stand before its object: where each begins, the last one first.
    fn phrases_of_aim(&self, verb: usize) -> Vec<usize> {
        let last = self.sentence.last();
        // `find out`, `add up`: the verb keeps its second word.
        if matches!(self.word(verb + 1), "out" | "up" | "down" | "off") {
            return Vec::new();
        }
        let using =
            |at: usize| if self.word(at) == "using" && self.word(at - 1) == "by" { at - 1 } else { at };
        let mut found: Vec<usize> = (verb + 3..last)
            .rev()
            .filter(|&at| AIM_PREPOSITIONS.contains(&self.word(at)))
            .map(using)
            .filter(|&at| self.is_phrase_of_aim(verb, at))
            .collect();
        found.dedup();
        found.truncate(2);
        found
    }

    fn is_phrase_of_aim(&self, verb: usize, at: usize) -> bool {
        let sentence = self.sentence;
        let last = sentence.last();
        let (object, phrase) = (verb + 1..at, at..last + 1);
        let next = &sentence.words[at + 1];
        let opener = self.word(at);
        let means = matches!(opener, "using" | "by" | "based");
        let given = DETERMINERS.contains(&next.small.as_str())
            || matches!(next.small.as_str(), "given" | "list" | "string" | "array" | "tuple" | "dictionary")
            || next.is_number();
        let clause = sentence.joins_clauses(object.clone())
            || sentence.any(object.clone(), &["if", "is", "are", "be", "not", "when", "to"])
            || sentence.joins_clauses(phrase.clone())
            || (sentence.any(at + 1..last + 1, &["if", "is", "are", "such", "to"]) && !means);
        // `in the strings by k`: two phrases of the verb.
        let tied = !means
            && (sentence.any(phrase.clone(), TIED_FORMS)
                || sentence.any(at + 1..last + 1, &["using"])
                || sentence.any(at + 1..last + 1, &["by"]) && self.word(last - 1) == "by");
        let bound = matches!(
            self.word(verb),
            "check" | "change" | "move" | "verify" | "join" | "combine" | "convert"
        ) && !(means || matches!(opener, "into" | "to"));
        let bare = opener == "of" && self.word(verb + 1) == "the" && phrase.len() <= 4;
        self.fits_verb(verb, at)
            && (given || bare || means || matches!(opener, "into" | "to"))
            && !clause
            && !tied
            && !bound
            && !self.joined(object.clone())
            && (opener == "by" || !self.joined(phrase.clone()))
            && !sentence.has_scope(object.clone())
            && !sentence.has_scope(phrase.clone())
            && phrase.len() <= 8
            && object.len() >= 2
    }

    /// Whether the verb of an infinitive takes a phrase that opens like this one.
    fn fits_verb(&self, verb: usize, at: usize) -> bool {
        let sorts = SORTING.contains(&self.word(verb));
        let object = verb + 1..at;
        let seeks = matches!(self.word(verb), "find" | "count" | "get" | "print" | "list");
        match self.word(at) {
            "by" => sorts || self.word(at + 1) == "using",
            "based" => self.word(at + 1) == "on",
            "using" => true,
            "into" => lexicon::is_becoming(self.word(verb)),
            "to" => self.word(verb) == "convert" && !opens_task(self.word(at + 1)),
            "of" => self.is_genitive(object, at),
            "between" => {
                seeks
                    && !self
                        .sentence
                        .any(object, &["difference", "distance", "gap", "ratio", "relation", "sum", "of"])
            }
            "for" => !sorts && !self.sentence.any(object, &["for", "check"]),
            _ => !sorts,
        }
    }

    /// `the area of a circle`: whose it is may come first, `of a circle, the area`.
    fn is_genitive(&self, object: Range<usize>, of: usize) -> bool {
        let tied = [
            "array", "count", "grid", "kind", "list", "lists", "number", "pair", "pairs", "power",
            "sequence", "series", "set", "string", "tuple", "type", "value", "values", "way", "ways",
        ];
        let plain = |at: usize| {
            let word = &self.sentence.words[at];
            let other = ["at", "between", "by", "for", "from", "in", "than", "to", "with"];
            word.lower && !other.contains(&word.small.as_str())
        };
        // `the sum of the even digits of a number`: the digits are its own.
        let owners = object.clone().filter(|&at| self.word(at) == "of").count();
        DETERMINERS.contains(&self.word(object.start))
            && object.clone().all(plain)
            && object.len() <= 6
            && owners == 0
            && !tied.contains(&self.word(of - 1))
            && !self.sentence.any(of + 1..self.end(), &["of", "with", "for", "that", "whose", "by", "at"])
    }

    /// `a function that returns it if …`: the condition stands in commas after `that`.
    pub(super) fn relative(&self) -> Vec<Order> {
        let sentence = self.sentence;
        let Some(that) = (2..self.end().saturating_sub(4)).find(|&at| self.word(at) == "that") else {
            return Vec::new();
        };
        let mut marker =
            (that + 3..self.end()).filter(|&at| matches!(self.word(at), "if" | "when" | "using"));
        let (Some(at), None) = (marker.next(), marker.next()) else { return Vec::new() };
        let verb = &sentence.words[that + 1];
        let (inside, moved) = (that + 1..at, at..self.end());
        let holds = self.kind == Kind::Imperative
            && verb.lower
            && verb.small.ends_with('s')
            && self.end() - at >= 2
            && !self.broken(0..self.end())
            && !sentence.has_scope(that..self.end())
            && !sentence.joins_clauses(inside.clone())
            && !sentence.any(0..self.end(), &["otherwise", "else"])
            && !self.joined(that..self.end())
            && !sentence.any(that + 1..at, &["to", "whether", "if"])
            && sentence.keeps_references(inside.clone(), moved.clone());
        if !holds {
            return Vec::new();
        }
        vec![self.order(vec![
            self.span(0..that + 1, First::Kept),
            Part::Glue(", "),
            self.span(moved, First::Kept),
            Part::Glue(", "),
            self.span(inside, First::Kept),
        ])]
    }

    /// `Given a list, return all of it.`: what is given stands in commas after the verb, or after everything.
    pub(super) fn given(&self) -> Vec<Order> {
        let sentence = self.sentence;
        let opens = matches!(self.word(0), "given" | "for" | "from" | "using" | "in" | "if" | "when");
        let clause = matches!(self.word(0), "if" | "when");
        let reach = if clause { 40 } else { 16 };
        let comma = (1..self.end().saturating_sub(3).min(reach)).find(|&at| {
            let joins = clause && matches!(self.word(at + 1), "and" | "but");
            sentence.words[at].tail == "," && !self.listed(at) && !joins
        });
        let Some(comma) = comma.filter(|&at| opens && self.starts_imperative(at + 1)) else {
            return Vec::new();
        };
        let (lead, main) = (0..comma + 1, comma + 1..self.end());
        let particle = matches!(self.word(comma + 2), "out" | "up" | "me" | "us");
        let cut = comma + 2 + usize::from(particle);
        // A clause of condition crosses the verb as a whole, with whatever is in it.
        let whole = if clause {
            questions::is_whole_clause(self, lead.clone())
        } else {
            !self.broken(lead.clone())
                && !sentence.has_scope(lead.clone())
                && !sentence.joins_clauses(lead.clone())
                && !sentence.any(lead.clone(), COMPARING)
        };
        let calm = lead.len() >= 2
            && whole
            && !matches!(self.word(1), "example" | "instance")
            && sentence.words[cut - 1].tail.is_empty()
            && !JOINTS.contains(&self.word(cut))
            && self.end() >= cut + 2;
        if !calm {
            return Vec::new();
        }
        let mut found = vec![Order {
            range: sentence.span(0..cut + 1),
            parts: vec![
                self.span(comma + 1..cut, First::Large),
                Part::Glue(", "),
                self.span(lead.clone(), First::Small),
                Part::Glue(", "),
                self.span(cut..cut + 1, First::Kept),
            ],
            moves: 1,
        }];
        if !clause && self.is_main(main.clone()) && sentence.pronouns(main.clone()).is_empty() {
            let back = vec![self.span(main, First::Large), Part::Glue(", "), self.span(lead, First::Small)];
            found.push(self.order(back));
        }
        found
    }

    /// `Please` at the other end of its sentence.
    pub(super) fn politeness(&self) -> Option<Order> {
        let polite = matches!(self.word(0), "please" | "kindly");
        let first = &self.sentence.words[1];
        (polite
            && self.sentence.words[0].tail.is_empty()
            && first.lower
            && opens_task(&first.small)
            && !self.sentence.has_scope(0..self.end()))
        .then(|| {
            let rest = self.span(1..self.end(), First::Large);
            self.order(vec![rest, Part::Glue(", "), self.span(0..1, First::Small)])
        })
    }
}
