//! The guard: whether a model's answer is the same task in other words.
//!
//! It reads bytes and gives either the instruction to run or every reason against it. It cannot understand a text, so it
//! looks for what must not appear, grow or vanish. A word that the base has already is exempt as long as it does not
//! appear more often. `strict` also refuses what is only doubtful.

mod content;
mod meaning;
mod model;
mod reason;
mod shape;
mod terms;
mod text;

pub use self::model::{question, reading};
pub use self::reason::{NotAReason, Reason};
use self::text::Text;

/// How many times as long as the base an answer may be: 200 % longer, and no more.
const MAX_GROWTH: usize = 3;

/// The instruction that the answer holds, without white space around it, or every reason against it.
///
/// `allow_terms` names words that this case may have, in any form of theirs.
pub fn check(base: &str, answer: &[u8], strict: bool, allow_terms: &[String]) -> Result<String, Vec<Reason>> {
    let answer = std::str::from_utf8(answer).map_err(|_| vec![Reason::InvalidUtf8])?.trim();
    if answer.is_empty() {
        return Err(vec![Reason::Empty]);
    }
    if answer.split_whitespace().eq(base.split_whitespace()) {
        return Err(vec![Reason::Unchanged]);
    }
    let comparison = Comparison { base: &Text::read(base), answer: &Text::read(answer), strict, allow_terms };
    let mut reasons = Vec::new();
    if answer.chars().count() > MAX_GROWTH * base.trim().chars().count() {
        reasons.push(Reason::TooLong);
    }
    comparison.banned_words(&mut reasons);
    comparison.shape(&mut reasons);
    comparison.subjects(&mut reasons);
    comparison.requirements(&mut reasons);
    comparison.losses(&mut reasons);
    comparison.novelties(&mut reasons);
    // The closest look, where nothing else is wrong: it compares words one by one, and after a coarser fault nearly every word
    // would be a reason of its own, which hides the real one from whoever reads the record.
    if reasons.is_empty() {
        comparison.meaning(&mut reasons);
    }
    if reasons.is_empty() { Ok(answer.to_owned()) } else { Err(reasons) }
}

/// The base, the answer and how to look at them.
struct Comparison<'a> {
    base: &'a Text<'a>,
    answer: &'a Text<'a>,
    strict: bool,
    allow_terms: &'a [String],
}

impl Comparison<'_> {
    /// Whether the phrase appears more often than in the base, and is not allowed.
    fn grows(&self, phrase: &str) -> bool {
        let found = self.answer.count(phrase);
        found > 0 && found > self.base.count(phrase) && !self.allows(phrase)
    }

    /// Whether the phrases together appear more often than in the base; an allowed one does not count.
    fn grows_any(&self, phrases: &[&str]) -> bool {
        let counted = || phrases.iter().filter(|phrase| !self.allows(phrase));
        let found: usize = counted().map(|phrase| self.answer.count(phrase)).sum();
        found > 0 && found > counted().map(|phrase| self.base.count(phrase)).sum()
    }

    /// Whether the case may have the word in any of its forms.
    fn allows(&self, phrase: &str) -> bool {
        self.allow_terms.iter().any(|term| text::same_words(&term.to_lowercase(), phrase))
    }
}

#[cfg(test)]
mod tests;
