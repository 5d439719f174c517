//! Judging stored answers once more, to find verdicts that nobody could have given.

use proofhouse_ledger::record::Line;

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
