//! What a kind of suite adds to what people are told. The spine knows no kind by name: it asks here.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;

use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::record::{Damage, Line};
use proofhouse_ledger::summary::{Comparison, Slot, Summary};

use super::failures::Tell;
use super::sections::{Facts, Section};
use crate::text::doc::{self, Content, Doc};
use crate::text::numbers;

/// What a kind looks for while the records are read.
pub trait OwnSurvey: Debug + Any {
    /// Looks at a record.
    ///
    /// # Errors
    /// When the record lacks a field of its kind.
    fn add(&mut self, line: &Line<'_>) -> Result<(), Damage>;
}

/// What a kind adds; `PLAIN` is a kind that adds nothing.
pub struct OwnPresentation {
    /// Sections of its own, behind the verdict.
    pub(crate) sections: &'static [Section],
    /// What it looks for in the records.
    pub(crate) survey: Option<fn() -> Box<dyn OwnSurvey>>,
    /// What it tells of a failed trial, where that says something.
    pub(crate) failure: Option<Tell>,
    /// Whether a target is there to be compared with: that it fails is no news.
    pub(crate) is_control: fn(&Summary, &str) -> bool,
    /// Whether what is asked and answered are programs, which read best in letters of one width.
    pub(crate) verbatim: bool,
    /// How its records are shown on the page: an expression of JavaScript.
    pub(crate) script: &'static str,
    /// The table of each target's result that stands under the verdict.
    pub(crate) rates: Option<fn(&Facts<'_>) -> Doc>,
    /// Whether a stopping rule may make planned trials unnecessary: nobody misses their verdict.
    pub(crate) spares: bool,
    /// Trials that count for nothing.
    pub(crate) left_out: fn(&Summary) -> u64,
    /// What those are called.
    pub(crate) left_out_as: &'static str,
    /// Cases that nobody is scored against, and what that is called.
    pub(crate) excluded: fn(&Summary) -> BTreeSet<&str>,
    pub(crate) excluded_because: &'static str,
    /// What it means that only some trials of a case passed, and the sentence about how many cases that is.
    pub(crate) partly: &'static str,
    pub(crate) partly_said: fn(&Slot) -> Content,
    /// Whether its own sections say why trials could not be assessed.
    pub(crate) explains: bool,
    /// Whether it asks endpoints, which `doctor` can look at.
    pub(crate) asks_endpoints: bool,
    /// Why the first line says that nothing could be assessed although some trials were.
    pub(crate) nothing: fn(&Summary) -> Option<String>,
    /// Whether a comparison is one that people ask for; where none is, all are told.
    pub(crate) compares: fn(&Manifest, &Comparison) -> bool,
}

impl OwnPresentation {
    /// Of a kind that adds nothing.
    pub(crate) const PLAIN: OwnPresentation = OwnPresentation {
        sections: &[],
        survey: None,
        failure: None,
        is_control: |_, _| false,
        verbatim: false,
        script: "{}",
        rates: None,
        spares: false,
        left_out: |_| 0,
        left_out_as: "left out",
        excluded: |_| BTreeSet::new(),
        excluded_because: "left out",
        partly: "flaky: repetitions disagree",
        partly_said: flaky,
        explains: false,
        asks_endpoints: false,
        nothing: |_| None,
        compares: |_, _| true,
    };
}

/// How many cases did not come out the same every time.
fn flaky(slot: &Slot) -> Content {
    let flaky = &slot.flaky_cases;
    let cases = if flaky.denominator == 1 { "repeated case" } else { "repeated cases" };
    let mut text = format!("\u{a0}{cases} did not agree ({}", super::words::rate(flaky));
    if let Some(interval) = numbers::interval(flaky.low, flaky.high) {
        text.push_str(&format!(", 95 % interval {interval}"));
    }
    let line = doc::Line::default().name(slot.slot.as_str()).text(": the repetitions of ");
    Content::finding(doc::Tone::Neutral, line.then(super::words::flaky_cases(slot)).text(text + ")."))
}
