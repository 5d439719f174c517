//! What goes into a judge and what comes out: a subject and a verdict.

use std::borrow::Cow;

use proofhouse_ledger::Json;
use proofhouse_ledger::json::Object;

/// The longest reason or error of a verdict, in characters.
pub const MAX_REASON_CHARS: usize = 300;

/// One answer and what a judge may know about it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// What the target was given.
    pub input: &'a str,
    /// What the target gave: text, or a structure.
    pub output: &'a Json,
    /// What the case expects; null when it expects nothing in particular.
    pub expected: &'a Json,
    /// The fields of the case, where a judge's settings are filled from them.
    pub fields: Option<&'a Object>,
    /// The endpoint's own word for why the answer ended.
    pub finish_reason: Option<&'a str>,
    /// Tokens that the target says it used.
    pub usage: Option<&'a Json>,
    /// Which repetition of the case this is, from 0.
    pub repetition: u32,
    /// What the answer cost in US dollars, where its price is known.
    pub cost_usd: Option<f64>,
    /// How long the target took for it, as a tape or the target itself keeps it.
    pub latency_ms: Option<f64>,
}

/// What a judge weighs beside the answer itself, and what a run has to have ready for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Weighs {
    /// How long the answer took.
    pub time: bool,
    /// What it cost.
    pub cost: bool,
}

impl Weighs {
    /// What either of two judges weighs.
    #[must_use]
    pub fn and(self, other: Weighs) -> Weighs {
        Weighs { time: self.time || other.time, cost: self.cost || other.cost }
    }
}

/// What stands where nothing was given.
static NULL: Json = Json::Null;

impl Default for Subject<'_> {
    fn default() -> Self {
        Subject {
            input: "",
            output: &NULL,
            expected: &NULL,
            fields: None,
            finish_reason: None,
            usage: None,
            repetition: 0,
            cost_usd: None,
            latency_ms: None,
        }
    }
}

impl<'a> Subject<'a> {
    /// The answer as text: null is the empty text, a structure is its canonical JSON.
    pub fn text(&self) -> Cow<'a, str> {
        match self.output {
            Json::String(text) => Cow::Borrowed(text),
            Json::Null => Cow::Borrowed(""),
            structure => Cow::Owned(structure.to_string()),
        }
    }
}

/// What one judge said about one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// From 0 (wrong) to 1 (right); none when this judge could not judge.
    pub score: Option<f64>,
    /// What the judge says for its score: always where that is not 1. At most
    /// [`MAX_REASON_CHARS`] characters.
    pub reason: Option<String>,
    /// Why there is no score; set exactly when there is none.
    pub error: Option<String>,
}

impl Verdict {
    /// The answer is right.
    pub fn right() -> Self {
        Verdict { score: Some(1.0), reason: None, error: None }
    }

    /// The answer is wrong.
    pub fn wrong(reason: impl Into<String>) -> Self {
        Verdict { score: Some(0.0), reason: Some(bounded(reason.into())), error: None }
    }

    /// The answer is right to a degree.
    ///
    /// # Panics
    /// When the score is not within 0..=1.
    pub fn graded(score: f64, reason: impl FnOnce() -> String) -> Self {
        assert!((0.0..=1.0).contains(&score), "a score is within 0..=1");
        let reason = (score < 1.0).then(|| bounded(reason()));
        Verdict { score: Some(score), reason, error: None }
    }

    /// The same with what the judge says for it, also where the score is 1.
    pub fn explained(mut self, reason: impl FnOnce() -> String) -> Self {
        if self.score.is_some() && self.reason.is_none() {
            self.reason = Some(bounded(reason()));
        }
        self
    }

    /// The judge could not judge: its settings, the case or the size of the answer do not allow it.
    pub fn unjudged(error: impl Into<String>) -> Self {
        Verdict { score: None, reason: None, error: Some(bounded(error.into())) }
    }

    /// Right or wrong.
    pub(super) fn of(right: bool, reason: impl FnOnce() -> String) -> Self {
        if right { Self::right() } else { Self::wrong(reason()) }
    }

    /// Why the score is not 1 or why there is none.
    pub fn explanation(&self) -> Option<&str> {
        self.error.as_deref().or(self.reason.as_deref())
    }
}

fn bounded(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_REASON_CHARS) {
        let (keep, _) = text[..end].char_indices().next_back().expect("the limit is above zero");
        text.truncate(keep);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_has_a_limit_in_characters() {
        let exact = "é".repeat(MAX_REASON_CHARS);
        assert_eq!(Verdict::wrong(exact.clone()).reason, Some(exact.clone()));
        let cut = Verdict::unjudged(exact + "é").error.unwrap();
        assert_eq!(cut.chars().count(), MAX_REASON_CHARS);
        assert!(cut.ends_with("é…"));
    }

    #[test]
    fn a_full_score_needs_no_reason() {
        assert_eq!(Verdict::graded(1.0, || unreachable!()), Verdict::right());
        assert_eq!(Verdict::graded(0.5, || "half".into()).explanation(), Some("half"));
    }
}
