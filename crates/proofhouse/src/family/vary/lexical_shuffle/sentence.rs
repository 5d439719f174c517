//! A sentence as the moves read it: words with what stands after them, and what kind of sentence they make.

use std::ops::Range;

use super::super::lexicon;
use super::super::scan::{Chunk, chunks, is_final};
use super::words::{
    ABBREVIATIONS, CLAUSES, CONDITIONS, FUNCTION_WORDS, IMPERATIVES, LEAD_PREPOSITIONS, PRONOUNS, QUESTIONS,
    TIME_ADVERBS,
};

/// One word, number or quotation.
#[derive(Clone)]
pub(super) struct Word<'a> {
    /// Without punctuation after it.
    pub(super) core: Range<usize>,
    /// In small letters.
    pub(super) small: String,
    /// The punctuation after it.
    pub(super) tail: &'a str,
    /// An ordinary word.
    pub(super) plain: bool,
    /// Letters alone, all small.
    pub(super) lower: bool,
    /// A capital and small letters.
    pub(super) capital: bool,
    /// A bracket stands before or after it.
    pub(super) bracket: bool,
}

impl Word<'_> {
    pub(super) fn is(&self, list: &[&str]) -> bool {
        self.plain && list.contains(&self.small.as_str())
    }

    /// A number in digits or as a word.
    pub(super) fn is_number(&self) -> bool {
        !self.core.is_empty()
            && (self.small.starts_with(|c: char| c.is_ascii_digit() || c == '$')
                || lexicon::is_number_word(&self.small))
    }
}

/// What a sentence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It asks somebody to do something.
    Imperative,
    /// It asks something.
    Question,
    /// It says something.
    Statement,
}

/// The words of one sentence.
pub(super) struct Sentence<'a> {
    pub(super) text: &'a str,
    pub(super) words: Vec<Word<'a>>,
}

/// All sentences of the prose, in order. A line break ends one unless the next line goes on in small letters.
pub(super) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let chunks = chunks(text);
    let parts = chunks.chunk_by(|chunk, next| !ends(text, chunk, next));
    parts
        .filter(|part| part.iter().all(|chunk| !chunk.code))
        .map(|part| Sentence { text, words: part.iter().map(|chunk| word(text, chunk)).collect() })
        .collect()
}

fn ends(text: &str, chunk: &Chunk, next: &Chunk) -> bool {
    let gap = &text[chunk.whole.end..next.whole.start];
    let small =
        next.plain && next.word(text).starts_with(char::is_lowercase) && next.whole.start == next.core.start;
    if chunk.code || next.code || gap.matches('\n').count() > 1 || (gap.contains(['\n', '\r']) && !small) {
        return true;
    }
    let word = chunk.word(text).to_lowercase();
    let final_sign = chunk.tail(text).contains(is_final);
    let abbreviation =
        chunk.tail(text) == "." && (ABBREVIATIONS.contains(&word.as_str()) || word.chars().count() == 1);
    if gap.contains(['\n', '\r']) && chunk.tail(text).contains(':') {
        return true;
    }
    final_sign && !abbreviation && (chunk.plain || !small)
}

fn word<'a>(text: &'a str, chunk: &Chunk) -> Word<'a> {
    let raw = chunk.word(text);
    let letters =
        chunk.plain && raw.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '-' | '\'' | '’'));
    let mut signs = raw.chars();
    let first = signs.next();
    let rest_small = signs.all(|c| !c.is_uppercase());
    Word {
        core: chunk.core.clone(),
        small: raw.to_lowercase(),
        tail: chunk.tail(text),
        plain: chunk.plain && letters,
        lower: letters && raw.chars().all(|c| !c.is_uppercase()),
        capital: letters && first.is_some_and(|c| c.is_ascii_uppercase()) && rest_small,
        bracket: chunk.whole.start != chunk.core.start || chunk.tail(text).contains([')', ']', '}']),
    }
}

impl<'a> Sentence<'a> {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn last(&self) -> usize {
        self.words.len() - 1
    }

    /// From the start of one word to the end of another, without the punctuation after it.
    pub(super) fn span(&self, words: Range<usize>) -> Range<usize> {
        self.words[words.start].core.start..self.words[words.end - 1].core.end
    }

    /// The same with its final punctuation.
    pub(super) fn whole(&self) -> Range<usize> {
        let last = &self.words[self.last()];
        self.words[0].core.start..last.core.end + last.tail.len()
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        let first = self.words.first()?;
        // A docstring may begin with a small letter, but only where a task or a condition opens it.
        let small =
            first.lower && (opens_task(&first.small) || first.is(&["if", "when", "given", "for", "from"]));
        if !first.capital && !first.is_number() && !small {
            return None;
        }
        let last = self.words.last()?.tail;
        match () {
            () if last == "?"
                && (first.is(QUESTIONS)
                    || first.is(CONDITIONS)
                    || first.is(LEAD_PREPOSITIONS)
                    || first.is(TIME_ADVERBS)) =>
            {
                Some(Kind::Question)
            }
            () if last == "?" => None,
            () if opens_task(&first.small) || self.commands() => Some(Kind::Imperative),
            () => Some(Kind::Statement),
        }
    }

    /// The first word is no known verb, but an article or the like comes after it: no name stands there.
    fn commands(&self) -> bool {
        let (Some(first), Some(second)) = (self.words.first(), self.words.get(1)) else { return false };
        first.capital
            && first.tail.is_empty()
            && !is_function_word(&first.small)
            && !first.small.ends_with("ly")
            && second.is(&["a", "an", "the", "my", "your", "our", "this", "these"])
    }

    /// Whether these words hold a negation, a quantifier or a comparison by quantity; `how many` asks and is none.
    pub(super) fn has_scope(&self, words: Range<usize>) -> bool {
        words.into_iter().any(|at| {
            let asks = matches!(self.words[at].small.as_str(), "many" | "much")
                && at > 0
                && self.words[at - 1].small == "how";
            let word = self.words[at].small.as_str();
            (lexicon::is_scoped(word) && !asks)
                || (word.contains('-') && word.split('-').any(lexicon::is_scoped))
        })
    }

    /// Whether one of the words is in the list.
    pub(super) fn any(&self, words: Range<usize>, list: &[&str]) -> bool {
        self.words[words].iter().any(|word| list.contains(&word.small.as_str()))
    }

    /// Whether these words open, join or relate clauses.
    pub(super) fn joins_clauses(&self, words: Range<usize>) -> bool {
        // `the first word`: it counts things and not steps.
        let counts = |at: usize| {
            self.words[at].small == "first"
                && at > 0
                && self.words[at - 1].is(&["the", "a", "of", "its", "his", "her", "their"])
        };
        words.into_iter().any(|at| CLAUSES.contains(&self.words[at].small.as_str()) && !counts(at))
    }

    /// Which families of pronouns are there: he, she, it, they, this.
    pub(super) fn pronouns(&self, words: Range<usize>) -> Vec<usize> {
        let mut found: Vec<usize> = self.words[words].iter().filter_map(|word| family(&word.small)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a name stands there, for which `he` or `she` could be.
    pub(super) fn has_name(&self, words: Range<usize>) -> bool {
        words.into_iter().any(|at| {
            let word = &self.words[at];
            let own = word.core.start < word.core.end
                && self.text[word.core.clone()].starts_with(char::is_uppercase);
            own && word.small != "i" && (at > 0 || !is_function_word(&word.small))
        })
    }

    /// Whether two neighbouring blocks can change places without any pronoun losing what it stands for.
    pub(super) fn keeps_references(&self, first: Range<usize>, second: Range<usize>) -> bool {
        let (before, after) = (self.pronouns(first.clone()), self.pronouns(second.clone()));
        let person = |family: usize, block: Range<usize>| family < 2 && !self.has_name(block);
        let known = after.iter().all(|family| before.contains(family) || person(*family, first.clone()));
        let safe = before.iter().all(|family| after.contains(family) || person(*family, second.clone()));
        known && safe
    }

    /// The word as the first of a sentence, or inside one.
    pub(super) fn lower_first(&self) -> bool {
        let first = &self.words[0];
        first.small != "i"
            && !first.small.starts_with("i'")
            && (is_function_word(&first.small)
                || opens_task(&first.small)
                || self.commands()
                || self.common_noun())
    }

    /// The first word appears in small letters elsewhere, so its capital is the sentence's.
    fn common_noun(&self) -> bool {
        let small = &self.words[0].small;
        self.text.split(|c: char| !c.is_alphanumeric()).any(|word| word == small)
    }
}

pub(super) fn is_function_word(small: &str) -> bool {
    FUNCTION_WORDS.binary_search(&small).is_ok()
}

/// The family of a pronoun of the third person.
pub(super) fn family(small: &str) -> Option<usize> {
    let small = small.split(['\'', '’']).next().unwrap_or(small);
    PRONOUNS.iter().position(|family| family.contains(&small))
}

/// Whether the word, in small letters, is a verb that opens a task.
pub(super) fn opens_task(small: &str) -> bool {
    lexicon::is_imperative(small) || IMPERATIVES.binary_search(&small).is_ok()
}
