//! Members of lists that may change places: nouns, names, labels and plain adjectives, each moved whole.

use std::ops::Range;

use super::super::lexicon;
use super::sentence::{Sentence, family, is_function_word, opens_task};
use super::words::{
    ADJECTIVES, ADJUNCTS, CLAUSES, CONDITIONS, HOLDING, JOINTS, LEAD_PREPOSITIONS, LEADING, NOT_PLURAL,
    NOUNS_IN_ED, ORDERED, PAIRS, SHARED, TRAILING,
};

/// A list: its members as ranges of words.
pub(super) struct List {
    pub(super) members: Vec<Range<usize>>,
}

/// The lists of a sentence, from left to right and without overlap.
pub(super) fn lists(sentence: &Sentence<'_>) -> Vec<List> {
    if sentence.any(0..sentence.len(), ORDERED) {
        return Vec::new();
    }
    let reader = Reader { sentence };
    let mut found: Vec<List> = Vec::new();
    for joint in 1..sentence.len().saturating_sub(1) {
        let from = found.last().and_then(|list| list.members.last()).map_or(0, |member| member.end);
        let Some(list) = reader.at(joint) else { continue };
        if list.members[0].start >= from {
            found.push(list);
        }
    }
    found
}

pub(super) struct Reader<'s, 'a> {
    pub(super) sentence: &'s Sentence<'a>,
}

impl Reader<'_, '_> {
    pub(super) fn small(&self, at: usize) -> &str {
        self.sentence.words[at].small.as_str()
    }

    pub(super) fn tail(&self, at: usize) -> &str {
        self.sentence.words[at].tail
    }

    fn at(&self, joint: usize) -> Option<List> {
        let word = &self.sentence.words[joint];
        if !word.is(&["and", "or"]) || !word.tail.is_empty() || word.bracket {
            return None;
        }
        let list = |members: Vec<Range<usize>>| List { members };
        self.adjectives(joint)
            .or_else(|| self.qualities(joint))
            .or_else(|| self.payments(joint))
            .or_else(|| self.pair(joint))
            .or_else(|| self.names(joint))
            .or_else(|| self.parallel(joint))
            .or_else(|| self.things(joint))
            .or_else(|| self.facts(joint))
            .or_else(|| self.single_words(joint))
            .filter(|members| self.distinct(members))
            .map(list)
    }

    /// No two members are the same words.
    fn distinct(&self, members: &[Range<usize>]) -> bool {
        let words =
            |member: &Range<usize>| -> Vec<&str> { member.clone().map(|at| self.small(at)).collect() };
        members
            .iter()
            .enumerate()
            .all(|(nth, member)| members[..nth].iter().all(|other| words(other) != words(member)))
    }

    pub(super) fn lower(&self, at: usize) -> bool {
        let word = &self.sentence.words[at];
        word.lower && !word.bracket && !lexicon::is_scoped(&word.small) && family(&word.small).is_none()
    }

    /// `simple and clear` before a noun.
    fn adjectives(&self, joint: usize) -> Option<Vec<Range<usize>>> {
        let (left, right) = (joint - 1, joint + 1);
        let fits =
            |at: usize| self.lower(at) && ADJECTIVES.contains(&self.small(at)) && self.tail(at).is_empty();
        let vowel =
            |at: usize| self.small(at).starts_with(['a', 'e', 'i', 'o', 'u']) && self.small(at) != "useful";
        let article = left == 0 || !matches!(self.small(left - 1), "a" | "an") || vowel(left) == vowel(right);
        (fits(left) && fits(right) && article && right < self.sentence.last())
            .then(|| vec![left..left + 1, right..right + 1])
    }

    /// `get and set operations`.
    fn pair(&self, joint: usize) -> Option<Vec<Range<usize>>> {
        let (left, right) = (joint - 1, joint + 1);
        if left == 0
            || right >= self.sentence.last()
            || !self.tail(left).is_empty()
            || !self.tail(right).is_empty()
        {
            return None;
        }
        let (first, second) = (self.small(left), self.small(right));
        let known = PAIRS.contains(&(first, second)) || PAIRS.contains(&(second, first));
        (known
            && self.lower(left)
            && self.lower(right)
            && LEADING.contains(&self.small(left - 1))
            && self.tail(left - 1).is_empty()
            && SHARED.contains(&self.small(right + 1)))
        .then(|| vec![left..left + 1, right..right + 1])
    }

    fn is_name(&self, at: usize) -> bool {
        let word = &self.sentence.words[at];
        word.capital
            && !word.bracket
            && !is_function_word(&word.small)
            && !opens_task(&word.small)
            && !word.small.contains(['\'', '’'])
    }

    /// `Anna and Ben`: names, where no `he` or `she` of the text could stand for one of them.
    fn names(&self, joint: usize) -> Option<Vec<Range<usize>>> {
        let (left, right) = (joint - 1, joint + 1);
        let alone =
            |at: usize| !(at + 1 < self.sentence.len() && self.tail(at).is_empty() && self.is_name(at + 1));
        if !self.is_name(left)
            || !self.is_name(right)
            || !alone(right)
            || !matches!(self.tail(left), "" | ",")
        {
            return None;
        }
        let mut first = left;
        while first > 0 && self.tail(first - 1) == "," && self.is_name(first - 1) {
            first -= 1;
        }
        if (first == left) != self.tail(left).is_empty() && first == left {
            return None;
        }
        if first > 0
            && (self.is_name(first - 1)
                || self.tail(first - 1) == ","
                || matches!(self.small(first - 1), "than" | "from"))
        {
            return None;
        }
        let members = (first..left + 1).chain([right]);
        let referred = self.refers(members.clone().map(|at| self.small(at)).collect(), right);
        let possessive = right + 1 < self.sentence.len()
            && self.sentence.words[right].tail.is_empty()
            && self.small(right + 1) == "each";
        // `Anna and Ben have 3 and 5 pens`: the numbers follow the names.
        let matched = (1..self.sentence.last()).any(|at| {
            let words = &self.sentence.words;
            words[at].is(&["and"]) && words[at - 1].is_number() && words[at + 1].is_number()
        });
        (!referred && !possessive && !matched).then(|| members.map(|at| at..at + 1).collect())
    }

    /// Whether a `he` or `she` comes after the names before one of them is named again.
    fn refers(&self, names: Vec<&str>, last: usize) -> bool {
        let rest = &self.sentence.text[self.sentence.words[last].core.end..];
        let words = rest.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        for word in words {
            if names.contains(&word.as_str()) {
                return false;
            }
            if family(&word).is_some_and(|family| family < 2) {
                return true;
            }
        }
        false
    }

    /// `a dog, two cats, and a head of broccoli` after a verb of having or the like; nothing comes after the last member.
    fn things(&self, joint: usize) -> Option<Vec<Range<usize>>> {
        let last = self.thing(joint + 1)?;
        let closed = self.closes(last.end);
        let mut members = vec![last];
        let mut end = joint;
        loop {
            let start = (end.saturating_sub(5)..end).rev().find(|&at| self.opens_thing(at))?;
            if self.thing(start)? != (start..end) || members.len() > 30 {
                return None;
            }
            members.push(start..end);
            let before = start.checked_sub(1)?;
            match self.tail(before) {
                "," if self.opens_before(start) => end = start,
                "" | "," => break,
                _ => return None,
            }
        }
        members.reverse();
        if !closed {
            // What comes after the last member may belong to it alone: the others may still change places.
            members.pop();
        }
        if members.len() < 2 {
            return None;
        }
        let before = members[0].start.checked_sub(1)?;
        if self.tail(before) == "," && !closed {
            return None;
        }
        if self.tail(before) == "," {
            // The list is the subject: `On Monday, 6 buses and 4 vans were late.`
            let next = members[members.len() - 1].end;
            return (next < self.sentence.len()
                && matches!(self.small(next), "are" | "were" | "have" | "had"))
            .then_some(members);
        }
        (HOLDING.contains(&self.small(before)) && members.len() >= 2).then_some(members)
    }

    /// Whether another member of the list ends right before this place.
    fn opens_before(&self, end: usize) -> bool {
        let start = (end.saturating_sub(5)..end).rev().find(|&at| self.opens_thing(at));
        start.is_some_and(|start| self.thing(start) == Some(start..end))
    }

    /// Whether nothing after the last member can belong to it alone.
    fn closes(&self, end: usize) -> bool {
        if end == self.sentence.len() {
            return true;
        }
        let next = &self.sentence.words[end];
        match self.tail(end - 1) {
            "" => {
                let noun = self.sentence.words.get(end + 1).is_some_and(|word| {
                    matches!(word.small.as_str(), "the" | "his" | "her" | "their" | "my" | "a")
                        || word.capital
                });
                (noun && matches!(next.small.as_str(), "at" | "from" | "to"))
                    || matches!(next.small.as_str(), "are" | "were" | "have" | "had")
            }
            "," => {
                let relates = CLAUSES.contains(&next.small.as_str())
                    || matches!(next.small.as_str(), "all" | "both" | "each" | "with");
                !self.opens_thing(end) && !next.capital && !relates
            }
            _ => true,
        }
    }

    fn opens_thing(&self, at: usize) -> bool {
        let word = &self.sentence.words[at];
        !word.bracket && (word.is(&["a", "an", "the"]) || word.is_number()) && !word.small.contains('%')
    }

    /// A noun phrase from here: article or number, plain words, perhaps `of` and a word.
    fn thing(&self, start: usize) -> Option<Range<usize>> {
        if start >= self.sentence.len() || !self.opens_thing(start) || !self.tail(start).is_empty() {
            return None;
        }
        let mut at = start + 1;
        while at < self.sentence.len() {
            let word = &self.sentence.words[at];
            let of = word.small == "of" && at > start + 1 && word.tail.is_empty();
            let joins = JOINTS.contains(&word.small.as_str());
            let ended = at > start + 1
                && matches!(word.small.as_str(), "at" | "from" | "to" | "are" | "were" | "have" | "had");
            if joins || ended {
                break;
            }
            let noun = self.lower(at)
                && !is_function_word(&word.small)
                && !opens_task(&word.small)
                && (!word.small.ends_with("ed") || NOUNS_IN_ED.contains(&word.small.as_str()))
                && !ADJUNCTS.contains(&word.small.as_str())
                && !CONDITIONS.contains(&word.small.as_str())
                && !LEAD_PREPOSITIONS.contains(&word.small.as_str());
            if !(noun || of) || at - start > 5 {
                return None;
            }
            at += 1;
            if !word.tail.is_empty() {
                break;
            }
        }
        (at > start + 1 && self.small(at - 1) != "of").then_some(start..at)
    }

    /// `of names, emails and addresses`; `as positive, neutral or negative`.
    fn single_words(&self, joint: usize) -> Option<Vec<Range<usize>>> {
        let (left, right) = (joint - 1, joint + 1);
        if !self.is_single(left) || !self.is_single(right) || !matches!(self.tail(left), "" | ",") {
            return None;
        }
        let mut first = left;
        while first > 1 && self.tail(first - 1) == "," {
            first -= 1;
            if !self.is_single(first) {
                return None;
            }
        }
        let alone = first == left;
        if first == 0 || (alone && self.tail(left) == ",") || !self.tail(first - 1).is_empty() {
            return None;
        }
        let ends = right == self.sentence.last() && self.tail(right).chars().count() <= 1;
        let leads = self.small(first - 1);
        let label = leads == "as" && ends && first > 1;
        let plural = (first..left + 1).chain([right]).all(|at| self.is_plural(at));
        let closed = ends
            || self.tail(right) == ";"
            || (self.tail(right).is_empty() && TRAILING.contains(&self.small(right + 1)));
        let nouns = LEADING.contains(&leads) && ((plural && closed) || (ends && !alone && leads != "the"));
        (label || nouns).then(|| (first..left + 1).chain([right]).map(|at| at..at + 1).collect())
    }

    fn is_single(&self, at: usize) -> bool {
        let small = self.small(at);
        self.lower(at)
            && !small.contains(['-', '\''])
            && small.len() > 2
            && !is_function_word(small)
            && !opens_task(small)
            && !small.ends_with("ing")
            && !small.ends_with("ly")
            && !NOT_PLURAL.contains(&small)
    }

    fn is_plural(&self, at: usize) -> bool {
        let word = self.small(at);
        let singular = ["ss", "us", "is", "as", "ous"].iter().any(|ending| word.ends_with(ending));
        word.len() > 3 && word.ends_with('s') && !singular && !NOT_PLURAL.contains(&word)
    }
}
