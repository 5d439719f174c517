//! The reasons of the guard, as values and as stable codes.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

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
    /// A number, quantifier, bound, opposite or connective that makes it another task.
    ChangedMeaning(String),
    /// The guard's model calls it another task.
    ModelSaysChanged,
    /// The guard's model gave no answer that could be read.
    ModelCheckFailed,
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
            Reason::ChangedMeaning(word) => write!(f, "changed_meaning:{word}"),
            Reason::ModelSaysChanged => f.write_str("model_says_changed"),
            Reason::ModelCheckFailed => f.write_str("model_check_failed"),
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The text is not a reason of the guard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a reason of the guard")]
pub struct NotAReason(String);

impl FromStr for Reason {
    type Err = NotAReason;
    fn from_str(text: &str) -> Result<Self, NotAReason> {
        let (code, word) =
            text.split_once(':').map_or((text, None), |(code, word)| (code, Some(word.to_owned())));
        Ok(match (code, word) {
            ("invalid_utf8", None) => Reason::InvalidUtf8,
            ("empty", None) => Reason::Empty,
            ("unchanged", None) => Reason::Unchanged,
            ("too_long", None) => Reason::TooLong,
            ("forbidden_token", Some(token)) => Reason::ForbiddenToken(token),
            ("new_work_verb", Some(verb)) => Reason::NewWorkVerb(verb),
            ("extra_sentence", None) => Reason::ExtraSentence,
            ("multi_step", None) => Reason::MultiStep,
            ("meta_commentary", None) => Reason::MetaCommentary,
            ("references_format", None) => Reason::ReferencesFormat,
            ("references_performance", None) => Reason::ReferencesPerformance,
            ("references_tooling", None) => Reason::ReferencesTooling,
            ("adds_requirement", None) => Reason::AddsRequirement,
            ("removed_content", Some(word)) => Reason::RemovedContent(word),
            ("new_language", Some(language)) => Reason::NewLanguage(language),
            ("out_of_scope_term", Some(term)) => Reason::OutOfScopeTerm(term),
            ("changed_meaning", Some(word)) => Reason::ChangedMeaning(word),
            ("model_says_changed", None) => Reason::ModelSaysChanged,
            ("model_check_failed", None) => Reason::ModelCheckFailed,
            _ => return Err(NotAReason(text.to_owned())),
        })
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_read_back() {
        for code in "invalid_utf8 empty unchanged too_long forbidden_token:x new_work_verb:x extra_sentence multi_step \
                     meta_commentary references_format references_performance references_tooling adds_requirement \
                     removed_content:a:b new_language:c++ out_of_scope_term:x changed_meaning:x model_says_changed model_check_failed"
            .split_whitespace()
        {
            assert_eq!(code.parse::<Reason>().expect(code).to_string(), code);
        }
        for code in ["", "Empty", "empty:x", "forbidden_token", "x:y"] {
            assert!(code.parse::<Reason>().is_err(), "{code}");
        }
    }
}
