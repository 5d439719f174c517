//! Judging stored answers once more, to find verdicts that nobody could have given.

use std::collections::BTreeMap;

use proofhouse_ledger::record::Line;

use super::plan::Trial;

/// What judging a record again came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Again {
    /// The same verdict.
    Same,
    /// There is no verdict to repeat.
    Nothing,
    /// It cannot be repeated from the run directory alone, for this reason.
    Impossible(&'static str),
    /// Another verdict: what the record says, and what was found.
    Other(String),
}

/// What a kind can say about its records with nothing but the run's own configuration.
pub(crate) trait Rejudge {
    /// What a record says against the run's settings, without judging anything.
    fn contradiction(&self, line: &Line<'_>) -> Option<String> {
        let _ = line;
        None
    }

    /// Judges the record's answer again.
    fn again(&self, line: &Line<'_>) -> Again;
}

/// For kinds whose verdicts rest on more than the record holds.
pub(crate) struct Impossible(pub(crate) &'static str);

impl Rejudge for Impossible {
    fn again(&self, line: &Line<'_>) -> Again {
        match line.get(proofhouse_ledger::record::HEAD.passed) {
            Ok(Some(_)) => Again::Impossible(self.0),
            _ => Again::Nothing,
        }
    }
}

/// A record beside the trial that it is of.
pub(crate) struct Recorded<'a, I> {
    /// What was planned.
    pub(crate) trial: Trial,
    /// What was to be carried out.
    pub(crate) item: I,
    /// What was written.
    pub(crate) line: Line<'a>,
}

/// What a kind can say about its records with the suite at hand.
pub(crate) trait JudgeAgain<I> {
    /// The most records that it takes at a time.
    fn together(&self) -> usize {
        1
    }

    /// Judges records again: one verdict for each, in their order.
    fn again(&self, records: &[Recorded<'_, I>]) -> Vec<Again>;

    /// What took part in it: name → version text.
    fn toolchains(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}
