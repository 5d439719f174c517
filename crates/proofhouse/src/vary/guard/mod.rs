//! The guard: whether a model's answer is the same task in other words.
//!
//! It reads bytes and gives either the instruction to run or every reason against it. It cannot understand a text, so it
//! looks for what must not appear, grow or vanish. A word that the base has already is exempt as long as it does not
//! appear more often. `strict` also refuses what is only doubtful.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

mod content;
mod shape;
mod terms;
mod text;

use self::text::Text;

/// How many times as long as the base an answer may be.
const MAX_GROWTH: usize = 3;

/// Why an answer was refused. Its text is a stable code, in some cases with the word in question after a colon.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub enum Reason {
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// There is no text.
    Empty,
    /// It is the base, but for white space.
    Unchanged,
    /// It is more than three times as long as the base.
    TooLong,
    /// A word that an instruction must not have.
    ForbiddenToken(String),
    /// A verb that means more work.
    NewWorkVerb(String),
    /// It has more sentences than the base.
    ExtraSentence,
    /// It has steps where the base has none.
    MultiStep,
    /// It talks about itself or wraps the instruction in something.
    MetaCommentary,
    /// It speaks of a format.
    ReferencesFormat,
    /// It speaks of speed or cost.
    ReferencesPerformance,
    /// It speaks of tools.
    ReferencesTooling,
    /// It asks for more.
    AddsRequirement,
    /// Something of the base is gone.
    RemovedContent(String),
    /// A programming language or a script that the base does not have.
    NewLanguage(String),
    /// A feature that the base does not ask for.
    OutOfScopeTerm(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::InvalidUtf8 => f.write_str("invalid_utf8"),
            Reason::Empty => f.write_str("empty"),
            Reason::Unchanged => f.write_str("unchanged"),
            Reason::TooLong => f.write_str("too_long"),
            Reason::ForbiddenToken(token) => write!(f, "forbidden_token:{token}"),
            Reason::NewWorkVerb(verb) => write!(f, "new_work_verb:{verb}"),
            Reason::ExtraSentence => f.write_str("extra_sentence"),
            Reason::MultiStep => f.write_str("multi_step"),
            Reason::MetaCommentary => f.write_str("meta_commentary"),
            Reason::ReferencesFormat => f.write_str("references_format"),
            Reason::ReferencesPerformance => f.write_str("references_performance"),
            Reason::ReferencesTooling => f.write_str("references_tooling"),
            Reason::AddsRequirement => f.write_str("adds_requirement"),
            Reason::RemovedContent(word) => write!(f, "removed_content:{word}"),
            Reason::NewLanguage(language) => write!(f, "new_language:{language}"),
            Reason::OutOfScopeTerm(term) => write!(f, "out_of_scope_term:{term}"),
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

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
