//! Finding the moves of a sentence that cannot change its meaning. When in doubt there is no move.

use std::ops::Range;

use super::super::lexicon;
use super::super::scan::{Chunk, chunks};
use super::words::{ADJECTIVES, CLAUSES, LEADING, NOT_PLURAL, ORDERED, PAIRS, SHARED, TRAILING, is_marker};

/// A sentence and what may move in it.
pub(super) struct Sentence {
    pub(super) moves: Vec<Move>,
}

pub(super) enum Move {
    /// Two of these words may change places.
    Swap(Vec<Range<usize>>),
    /// The phrase may come first.
    Front(Fronting),
}

/// A sentence in two parts with one gap between them.
pub(super) struct Fronting {
    pub(super) main: Range<usize>,
    pub(super) moved: Range<usize>,
}

impl Move {
    pub(super) fn alternatives(&self) -> usize {
        match self {
            Move::Swap(items) => items.len() * (items.len() - 1) / 2,
            Move::Front(_) => 1,
        }
    }
}

/// The sentences that have moves.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let chunks = chunks(text);
    chunks
        .chunk_by(|chunk, next| {
            let gap = &text[chunk.whole.end..next.whole.start];
            !chunk.ends_sentence(text) && !gap.contains(['\n', '\r'])
        })
        .map(|chunks| Words::new(text, chunks).moves())
        .filter(|sentence| !sentence.moves.is_empty())
        .collect()
}

struct Words<'a> {
    text: &'a str,
    chunks: &'a [Chunk],
    /// The plain words in small letters; other chunks are empty.
    small: Vec<String>,
}

impl<'a> Words<'a> {
    fn new(text: &'a str, chunks: &'a [Chunk]) -> Words<'a> {
        let small = chunks
            .iter()
            .map(|chunk| if chunk.plain { chunk.word(text).to_lowercase() } else { String::new() })
            .collect();
        Words { text, chunks, small }
    }

    fn moves(&self) -> Sentence {
        let mut moves = Vec::new();
        let mut joints = Vec::new();
        if !self.small.iter().any(|word| ORDERED.contains(&word.as_str())) {
            let mut from = 0;
            while let Some((items, next)) = self.coordination(from) {
                joints.push(next - 2);
                moves.push(Move::Swap(items.iter().map(|&item| self.chunks[item].core.clone()).collect()));
                from = next;
            }
        }
        moves.extend(self.fronting(&joints).map(Move::Front));
        Sentence { moves }
    }

    /// The next coordination whose members may be swapped, and where to look on.
    fn coordination(&self, from: usize) -> Option<(Vec<usize>, usize)> {
        (from.max(2)..self.chunks.len().saturating_sub(1)).find_map(|joint| {
            if !self.joins(joint) || !self.tail(joint).is_empty() {
                return None;
            }
            let items = self.members(joint)?;
            (items[0] >= from).then_some((items, joint + 2))
        })
    }

    fn members(&self, joint: usize) -> Option<Vec<usize>> {
        let (left, right) = (joint - 1, joint + 1);
        if !self.is_small_word(left) || !self.is_small_word(right) {
            return None;
        }
        if self.is_plural(left) && self.is_plural(right) && self.closes(right) {
            return self.plural_list(left, right);
        }
        if !self.tail(left).is_empty() || !self.tail(right).is_empty() || right + 1 >= self.chunks.len() {
            return None;
        }
        let (first, second) = (self.small[left].as_str(), self.small[right].as_str());
        let adjectives = first != second
            && [first, second].iter().all(|word| ADJECTIVES.contains(word))
            && self.same_article(left, right);
        let pair = LEADING.contains(&self.small[left - 1].as_str())
            && self.tail(left - 1).is_empty()
            && SHARED.contains(&self.small[right + 1].as_str())
            && (PAIRS.contains(&(first, second)) || PAIRS.contains(&(second, first)));
        (adjectives || pair).then(|| vec![left, right])
    }

    /// `of names, emails and addresses`: all members are plural nouns and different words.
    fn plural_list(&self, left: usize, right: usize) -> Option<Vec<usize>> {
        let mut first = left;
        if !matches!(self.tail(left), "" | ",") {
            return None;
        }
        while first > 1 && self.tail(first - 1) == "," {
            first -= 1;
            if !self.is_small_word(first) || !self.is_plural(first) {
                return None;
            }
        }
        // One comma and only one member before it is no list: `of names, and emails`.
        if first == left && self.tail(left) == "," {
            return None;
        }
        let leads = LEADING.contains(&self.small[first - 1].as_str()) && self.tail(first - 1).is_empty();
        let items: Vec<usize> = (first..=left).chain([right]).collect();
        let mut words: Vec<&str> = items.iter().map(|&item| self.small[item].as_str()).collect();
        words.sort_unstable();
        words.dedup();
        (leads && words.len() == items.len()).then_some(items)
    }

    /// A plain word in small letters with nothing before it.
    fn is_small_word(&self, at: usize) -> bool {
        let chunk = &self.chunks[at];
        chunk.plain
            && chunk.whole.start == chunk.core.start
            && chunk.word(self.text).bytes().all(|byte| byte.is_ascii_lowercase())
    }

    fn is_plural(&self, at: usize) -> bool {
        let word = self.small[at].as_str();
        let singular = ["ss", "us", "is", "as", "ous"].iter().any(|ending| word.ends_with(ending));
        word.len() > 3
            && word.ends_with('s')
            && !singular
            && !NOT_PLURAL.contains(&word)
            && !lexicon::is_scoped(word)
    }

    /// Nothing after this word can belong to the coordination.
    fn closes(&self, at: usize) -> bool {
        let ends_here = at + 1 == self.chunks.len() && self.tail(at).chars().count() <= 1;
        let tail = self.tail(at);
        ends_here
            || tail == ";"
            || (tail.is_empty()
                && at + 1 < self.chunks.len()
                && TRAILING.contains(&self.small[at + 1].as_str()))
    }

    /// An article before the first adjective fits the second one too.
    fn same_article(&self, left: usize, right: usize) -> bool {
        let vowel =
            |at: usize| self.small[at].starts_with(['a', 'e', 'i', 'o', 'u']) && self.small[at] != "useful";
        !matches!(self.small[left - 1].as_str(), "a" | "an") || vowel(left) == vowel(right)
    }

    fn tail(&self, at: usize) -> &str {
        self.chunks[at].tail(self.text)
    }

    /// A trailing phrase of a simple imperative sentence that may come first; `joints` join single words.
    fn fronting(&self, joints: &[usize]) -> Option<Fronting> {
        let verb = self.small.first()?.as_str();
        let opening = &self.chunks[0];
        let capitalised = opening.whole.start == opening.core.start
            && opening.word(self.text).starts_with(|c: char| c.is_ascii_uppercase())
            && opening.word(self.text)[1..].bytes().all(|byte| byte.is_ascii_lowercase());
        if !capitalised || !lexicon::is_imperative(verb) {
            return None;
        }
        let marker = (0..self.small.len()).rev().find(|&at| is_marker(&self.small[at]))?;
        if self.small[marker] == "into" && !lexicon::is_becoming(verb) {
            return None;
        }
        let last = self.chunks.len() - 1;
        let long_enough = marker >= 3 && (1..=8).contains(&(last - marker));
        let still =
            (0..=last).all(|at| self.lies_still(at, last) && (!self.joins(at) || joints.contains(&at)));
        let other_clause = self.small[..marker].iter().any(|word| is_marker(word) && word != "into");
        if !long_enough || !still || other_clause {
            return None;
        }
        let tail = self.tail(last);
        (tail.is_empty() || tail == "." || tail == "!").then(|| Fronting {
            main: opening.core.start..self.chunks[marker - 1].core.end,
            moved: self.chunks[marker].core.start..self.chunks[last].core.end,
        })
    }

    /// A plain word without punctuation that neither binds clauses nor has a scope.
    fn lies_still(&self, at: usize, last: usize) -> bool {
        let word = self.small[at].as_str();
        let chunk = &self.chunks[at];
        chunk.plain
            && chunk.whole.start == chunk.core.start
            && (at == last || chunk.whole.end == chunk.core.end)
            && !lexicon::is_scoped(word)
            && !CLAUSES.contains(&word)
            && chunk.word(self.text).is_ascii()
    }

    fn joins(&self, at: usize) -> bool {
        matches!(self.small[at].as_str(), "and" | "or")
    }
}
