//! Orders of a purpose that keep all of it together: `or not` beside its `whether`, and what a function is written with.

use std::ops::Range;

use super::sentence::is_function_word;
use super::turns::{First, Order, Part, Turning};
use super::words::DEVICES;

impl Turning<'_, '_> {
    /// `… to check whether it is sorted or not` becomes `… to check whether or not it is sorted`, wherever the purpose stands.
    pub(super) fn whether(&self, to: usize) -> Vec<Order> {
        let whether = to + 2;
        let or = (whether + 3..self.end())
            .find(|&at| self.word(at - 1) == "or" && self.word(at) == "not")
            .map(|not| not - 1);
        let Some(or) = or.filter(|_| self.word(whether) == "whether") else { return Vec::new() };
        let rest = or + 2..self.end();
        // What follows may only be the means: `or not all of them` is another question.
        let means = rest.is_empty()
            || (matches!(self.word(rest.start), "using" | "by") && !self.sentence.has_scope(rest.clone()));
        // A second `or` may be the one that `whether` goes with.
        let single = !self.sentence.any(whether..or, &["or", "either", "not"]);
        let held = (to..or).all(|at| self.sentence.words[at].tail.is_empty());
        let free = !self.sentence.has_scope(whether + 1..or);
        if !(means && single && held && free) {
            return Vec::new();
        }
        let aim = |first: First| {
            let mut parts = vec![
                self.span(to..whether + 1, first),
                Part::Glue(" "),
                self.span(or..or + 2, First::Kept),
                Part::Glue(" "),
                self.span(whether + 1..or, First::Kept),
            ];
            if !rest.is_empty() {
                parts.extend([Part::Glue(" "), self.span(rest.clone(), First::Kept)]);
            }
            parts
        };
        let mut within = vec![self.span(0..to, First::Kept), Part::Glue(" ")];
        within.extend(aim(First::Kept));
        let mut before = aim(First::Large);
        before.extend([Part::Glue(", "), self.span(0..to, self.inner())]);
        let mut found = vec![self.order(within), Order { moves: 2, ..self.order(before) }];
        if let Some(cut) = self.cut(0..to) {
            let mut aside = vec![self.span(0..cut, First::Kept), Part::Glue(", ")];
            aside.extend(aim(First::Kept));
            aside.extend([Part::Glue(", "), self.span(cut..to, First::Kept)]);
            found.push(Order { moves: 2, ..self.order(aside) });
        }
        found
    }

    /// `Write a function to find all of it using recursion.`: the means may come first, or stand beside what is written; the purpose
    /// keeps its words and their order.
    pub(super) fn means(&self, to: usize) -> Vec<Order> {
        let Some(at) = self.device(to + 4..self.end()) else { return Vec::new() };
        let (main, aim, means) = (0..to, to..at, at..self.end());
        let front = vec![
            self.span(means.clone(), First::Large),
            Part::Glue(", "),
            self.span(main.clone(), self.inner()),
            Part::Glue(" "),
            self.span(aim.clone(), First::Kept),
        ];
        let aside = vec![
            self.span(main.clone(), First::Kept),
            Part::Glue(", "),
            self.span(means.clone(), First::Kept),
            Part::Glue(", "),
            self.span(aim.clone(), First::Kept),
        ];
        let last = vec![
            self.span(aim, First::Large),
            Part::Glue(", "),
            self.span(main, self.inner()),
            Part::Glue(" "),
            self.span(means, First::Kept),
        ];
        vec![self.order(front), self.order(aside), Order { moves: 2, ..self.order(last) }]
    }

    /// Where `using …` or `by using …` begins at the end of these words, if it names something that a function is written with.
    fn device(&self, words: Range<usize>) -> Option<usize> {
        let last = words.end - 1;
        let using = words.clone().rev().find(|&at| self.word(at) == "using")?;
        let by = self.word(using - 1) == "by" && using > words.start;
        let at = if by { using - 1 } else { using };
        let phrase = using + 1..words.end;
        let before = self.word(at - 1);
        // `numbers formed by using the digits`: the means belongs to `formed`.
        let formed = before.len() > 3 && (before.ends_with("ed") || before.ends_with("en"));
        let free = !formed && !matches!(before, "without" | "and" | "or" | "by" | "not" | "made" | "built");
        let plain = |at: usize| {
            let word = &self.sentence.words[at];
            word.tail.is_empty()
                && (word.small == "a" || word.small == "the" || !is_function_word(&word.small))
        };
        let known = DEVICES.contains(&self.word(last).trim_end_matches('s'));
        let whole = (phrase.start..last).all(plain) && (1..=5).contains(&phrase.len());
        let calm = self.is_calm(at..words.end) && self.sentence.words[at - 1].tail.is_empty();
        (free && known && whole && calm).then_some(at)
    }
}
