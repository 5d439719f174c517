//! How far judges can be trusted: their errors on answers whose right verdict is known, rates without those errors, and how far
//! several judges agree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Rate;

/// What the labelled answers of a suite say of its judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Labelled answers; each has a record, and none counts for a target.
    pub trials: u64,
    /// The verdict that decides whether a trial passes, then each judge by itself where there are several.
    pub judges: Vec<JudgeErrors>,
    /// Each target's pass rate without the errors of that verdict, in the order of `slots`.
    pub corrected: Vec<CorrectedRate>,
}

/// How often a judge errs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeErrors {
    /// The judge, or `verdict`.
    pub judge: String,
    /// Right answers that it called right, over right answers that it could judge.
    pub sensitivity: Rate,
    /// Wrong answers that it called wrong, over wrong answers that it could judge.
    pub specificity: Rate,
    /// Answers of which it could not say.
    pub unjudged: u64,
    /// All of that in words.
    pub sentence: String,
}

/// A pass rate without the errors of the judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrectedRate {
    /// The target.
    pub slot: String,
    /// As judged; null where nothing was assessed.
    pub judged: Option<f64>,
    /// Corrected after Rogan and Gladen; null where that is impossible, as the sentence says.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval, after Lang and Reiczigel.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// All of that in words.
    pub sentence: String,
}

/// How far models agree that judge by one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// What they judge by.
    pub criterion: String,
    /// The models, as `judge/model`.
    pub raters: Vec<String>,
    /// Answers that at least two of them could judge.
    pub answers: u64,
    /// Cases that those are of.
    pub cases: u64,
    /// Krippendorff's alpha; null where all say the same of everything.
    pub alpha: Option<f64>,
    /// Lower end of its 95 % interval over cases.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval over cases.
    pub high: Option<f64>,
    /// All of that in words.
    pub sentence: String,
}
