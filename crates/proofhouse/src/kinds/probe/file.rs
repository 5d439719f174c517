//! A `probe` suite as the user writes it.

use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use schemars::JsonSchema;
use serde::{Deserialize as DeriveDeserialize, Serialize};

use crate::family::judge::JudgeConfig;
use crate::family::target::TargetConfig;
use crate::spine::suite::bounds::{Fraction, Ordered, Weight, Whole};
use crate::spine::suite::file::{DatasetFile, DeterminismFile, Gate, InlineCase, once, one_minute, zero};
use crate::spine::suite::generators::VariantFile;
use crate::spine::suite::prompt::PromptFile;
use crate::text::template::Form;

/// The word for a suite of answers and judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProbeKind {
    /// Are the answers of these models right, and what changed since the last run?
    Probe,
}

/// A suite of kind `probe`: targets × cases × judges × repetitions.
#[derive(Debug, Clone, PartialEq, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProbeFile {
    /// What the suite asks.
    pub(crate) kind: ProbeKind,
    /// The suite's name in run directories: letters, digits, `.`, `_`, `-`.
    #[schemars(regex(pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$"))]
    pub(crate) suite_id: String,
    /// A line for people; no part of the run's identity.
    #[serde(default)]
    pub(crate) title: Option<String>,
    /// A paragraph for people; no part of the run's identity.
    #[serde(default)]
    pub(crate) description: Option<String>,
    /// Where all randomness of the run comes from.
    #[serde(default = "zero")]
    pub(crate) seed: Whole<0, MAX_SAFE_INTEGER>,
    /// How often each case is put to each target.
    #[serde(default = "once")]
    pub(crate) repetitions: Whole<1, 100_000>,
    /// How long one trial may take, in milliseconds.
    #[serde(default = "one_minute")]
    pub(crate) timeout_ms: Whole<1, 86_400_000>,
    /// What makes runs comparable byte for byte.
    #[serde(default)]
    pub(crate) determinism: DeterminismFile,
    /// The systems under test by the name of their slot, in the order in which they run.
    #[schemars(extend("minProperties" = 1))]
    pub(crate) targets: Ordered<TargetConfig>,
    /// What a target is asked: a template over the case's fields (`{{ question }}`, or the older `{question}`), or more than text.
    #[serde(default = "PromptFile::input")]
    pub(crate) prompt: PromptFile,
    /// Several prompts by name, each put to each target: a slot is then `target/prompt`.
    #[serde(default)]
    pub(crate) prompts: Option<Ordered<PromptFile>>,
    /// How holes of texts are written, where that cannot be read off them.
    #[serde(default)]
    pub(crate) template: Option<Form>,
    /// The only cells to run, as `target/prompt`, a target or a prompt; `*` and `?` stand for any text.
    #[serde(default)]
    pub(crate) only: Vec<String>,
    /// Cells to leave out.
    #[serde(default)]
    pub(crate) except: Vec<String>,
    /// Whether answers of targets with a seed or a temperature of 0 are kept and used again; no part of the run's identity.
    #[serde(default)]
    pub(crate) cache: bool,
    /// Files of cases, read after the cases written here.
    #[serde(default)]
    pub(crate) datasets: Vec<DatasetFile>,
    /// Cases written in the suite itself.
    #[serde(default)]
    pub(crate) cases: Vec<InlineCase>,
    /// Other wordings of every case: what generators make of the filled prompt, beside the prompt itself.
    #[serde(default)]
    pub(crate) vary: Vec<VariantFile>,
    /// How answers are judged, by name.
    #[schemars(extend("minProperties" = 1))]
    pub(crate) judges: Ordered<JudgeConfig>,
    /// How judges' scores become one verdict.
    #[serde(default)]
    pub(crate) scoring: ScoringFile,
    /// Answers whose right verdict is known: they tell how often the judges err, and rates are corrected by it.
    #[serde(default)]
    pub(crate) calibration: Option<CalibrationFile>,
    /// What has to hold for the run's exit code to be 0; no part of the run's identity.
    #[serde(default)]
    pub(crate) gate: Option<Gate>,
}

/// How judges' scores become one verdict.
#[derive(Debug, Clone, Default, PartialEq, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScoringFile {
    /// How much each judge counts in the weighted mean; 1 for those not named.
    #[serde(default)]
    pub(crate) weights: Ordered<Weight>,
    /// The primary score from which a trial passes; default 1.
    #[serde(default)]
    pub(crate) threshold: Option<Fraction>,
    /// The score that decides: a judge's name or `weighted_mean`; default: the only judge, else the weighted mean.
    #[serde(default)]
    pub(crate) primary: Option<String>,
}

/// Answers whose right verdict is known.
#[derive(Debug, Clone, Default, PartialEq, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CalibrationFile {
    /// Files of labelled answers, read after those written here: cases that also have `output` and `right`.
    #[serde(default)]
    pub(crate) datasets: Vec<DatasetFile>,
    /// Labelled answers written in the suite itself: cases that also have `output`, the answer, and `right`, true or false.
    #[serde(default)]
    pub(crate) cases: Vec<InlineCase>,
}
