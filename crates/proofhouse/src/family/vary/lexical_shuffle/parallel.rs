//! Lists whose members are built alike: a number and what is counted, then the same preposition and its noun.

use std::ops::Range;

use super::lists::Reader;
use super::sentence::is_function_word;
use super::words::{ADJUNCTS, CONDITIONS, HOLDING};

impl Reader<'_, '_> {
    /// `7 hours on Saturday and 5 hours on Sunday`.
    pub(super) fn parallel(&self, joint: usize) -> Option<Vec<Range<usize>>> {
        let (last, preposition) = self.counted(joint + 1)?;
        let ends = last.end == self.sentence.len() || !self.tail(last.end - 1).is_empty();
        let mut members = vec![last];
        let mut end = joint;
        loop {
            let start = (end.saturating_sub(9)..end).rev().find(|&at| {
                self.counted(at).is_some_and(|(member, same)| member.end == end && same == preposition)
            })?;
            members.push(start..end);
            let more = start > 0 && self.tail(start - 1) == "," && members.len() < 12;
            if !more {
                break;
            }
            end = start;
        }
        members.reverse();
        let before = members[0].start.checked_sub(1)?;
        let word = self.small(before);
        let held =
            HOLDING.contains(&word) || ADJUNCTS.contains(&word) || matches!(word, "for" | "measures" | "fit");
        (ends && held && self.tail(before).is_empty()).then_some(members)
    }

    /// A number, one to three words, a preposition, perhaps an article, one to three words; and which preposition.
    fn counted(&self, start: usize) -> Option<(Range<usize>, &str)> {
        let words = &self.sentence.words;
        if !words.get(start)?.is_number() || !self.tail(start).is_empty() {
            return None;
        }
        let preposition = |at: usize| matches!(self.small(at), "on" | "in" | "of" | "from" | "to" | "at");
        let noun = |at: usize| {
            let word = &words[at];
            word.plain
                && !word.bracket
                && (word.capital || self.lower(at))
                && !is_function_word(&word.small)
                && !ADJUNCTS.contains(&word.small.as_str())
                && !CONDITIONS.contains(&word.small.as_str())
        };
        let at = (start + 2..(start + 5).min(words.len())).find(|&at| preposition(at))?;
        if !(start + 1..at).all(|at| noun(at) && self.tail(at).is_empty()) {
            return None;
        }
        let article = words.get(at + 1)?.is(&["a", "an", "the"]);
        let from = at + 1 + usize::from(article);
        let mut end = from;
        while end < words.len() && end < from + 3 && noun(end) {
            end += 1;
            if !self.tail(end - 1).is_empty() {
                break;
            }
        }
        (end > from && self.tail(at).is_empty()).then(|| (start..end, self.small(at)))
    }
}
