//! The robustness section of a summary: baselines, variants, stress levels, and what they say of cases and generators.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Rate;
use crate::record::{Mode, Observed, Stop};

/// What a robustness suite found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Robustness {
    /// Which rules decided when to stop: `seed`, `evidence` or `fixed`.
    pub policy: String,
    /// The share of false findings that `structural` accepts.
    pub alpha: f64,
    /// The share that a baseline's modal outcome must have to be stable.
    pub level: f64,
    /// Each case's base instruction, in plan order.
    pub baselines: Vec<Baseline>,
    /// Each variant, in plan order.
    pub variants: Vec<Variant>,
    /// Each stress level, in plan order.
    pub levels: Vec<Level>,
    /// Each case that was varied or stressed.
    pub cases: Vec<Case>,
    /// Each generator over all cases.
    pub generators: Vec<Generator>,
    /// Success by the number of repairs that a run needed; runs whose output does not say are left out.
    pub repairs: Vec<Repairs>,
    /// What was asked of generators and could not be had.
    pub shortfalls: Vec<Shortfall>,
}

/// Repeated runs of a base instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The target.
    pub slot: String,
    /// The case.
    pub case_id: String,
    /// Runs that could be assessed.
    pub runs: u64,
    /// Runs that could not.
    pub unassessed: u64,
    /// Successful runs over assessed ones.
    pub success: Rate,
    /// The most frequent outcome.
    pub modal: Option<Observed>,
    /// How many runs had it.
    pub modal_runs: u64,
    /// Exact one-sided 95 % lower bound of its share.
    pub agreement_low: Option<f64>,
    /// How many different outcomes there were.
    pub distinct: u64,
    /// What that says.
    pub verdict: BaselineVerdict,
    /// Where and why the runs ended.
    pub stop: Option<Stop>,
}

/// Whether the same instruction gives the same outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaselineVerdict {
    /// The policy calls it stable.
    Stable,
    /// Outcomes differ.
    Flaky,
    /// All alike, but too few to say.
    Undetermined,
    /// Nothing could be assessed.
    Unassessed,
}

/// Runs of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The target.
    pub slot: String,
    /// The case.
    pub case_id: String,
    /// The variant.
    pub variant_id: String,
    /// What made it.
    pub generator: String,
    /// Runs that could be assessed.
    pub runs: u64,
    /// Runs that could not.
    pub unassessed: u64,
    /// Successful runs over assessed ones.
    pub success: Rate,
    /// The most frequent outcome.
    pub modal: Option<Observed>,
    /// Runs whose outcome is not the baseline's modal one.
    pub deviating: u64,
    /// Whether any run deviates.
    pub interesting: bool,
    /// Of the exact conditional test against the baseline; null without one, and where the runs were ended for futility.
    pub p_value: Option<f64>,
    /// Adjusted over all variants of the target (Benjamini and Hochberg).
    pub adjusted_p: Option<f64>,
    /// What that says.
    pub verdict: VariantVerdict,
    /// Where and why the runs ended.
    pub stop: Option<Stop>,
}

/// Whether a variant behaves differently from the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VariantVerdict {
    /// Every run had the baseline's modal outcome.
    NoEvidence,
    /// Some runs deviate, but no more than chance explains.
    Stochastic,
    /// More than chance explains.
    Structural,
    /// Nothing could be assessed or compared.
    Unassessed,
}

/// Runs of one stress level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The target.
    pub slot: String,
    /// The case.
    pub case_id: String,
    /// The rung.
    pub level: u32,
    /// The variant.
    pub variant_id: String,
    /// What made it.
    pub generator: String,
    /// Runs that could be assessed.
    pub runs: u64,
    /// Runs that could not.
    pub unassessed: u64,
    /// Successful runs over assessed ones.
    pub success: Rate,
    /// The most frequent outcome.
    pub modal: Option<Observed>,
    /// Repairs per run, where the output says.
    pub mean_repairs: Option<f64>,
    /// Failures by stage; every stage is listed.
    pub failure_breakdown: BTreeMap<String, u64>,
    /// What that says.
    pub verdict: LevelVerdict,
    /// Where and why the runs ended.
    pub stop: Option<Stop>,
}

/// Whether a stress level is within what the tool can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LevelVerdict {
    /// It is.
    ClearSuccess,
    /// It is not.
    SystematicFailure,
    /// The runs do not say.
    Undetermined,
    /// Nothing could be assessed.
    Unassessed,
}

/// What variants and levels say of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The target.
    pub slot: String,
    /// The case.
    pub case_id: String,
    /// How often two runs with different wordings disagree, on average over pairs of wordings, the base included.
    pub sensitivity: Option<f64>,
    /// The smallest success rate of any variant.
    pub worst: Option<f64>,
    /// The mean success rate over variants.
    pub average: Option<f64>,
    /// The largest.
    pub best: Option<f64>,
    /// The last level of the ladder up to which every one is a clear success.
    pub holds_up_to: Option<u32>,
    /// The first level that fails systematically: the capability boundary.
    pub boundary: Option<u32>,
}

/// What a generator does to a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// The target.
    pub slot: String,
    /// The generator.
    pub generator: String,
    /// Its variants.
    pub variants: u64,
    /// Those that differ structurally from their baseline.
    pub structural: u64,
    /// Those that deviate by chance.
    pub stochastic: u64,
    /// Successful runs over assessed ones.
    pub success: Rate,
    /// The same of the baselines of its cases.
    pub base_success: Rate,
    /// How much of the baseline's success is lost; null when there is none to lose.
    pub relative_drop: Option<f64>,
}

/// Runs that needed a number of repairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repairs {
    /// The target.
    pub slot: String,
    /// How many repairs.
    pub repairs: u32,
    /// Successful runs over assessed ones.
    pub success: Rate,
}

/// Variants that a generator could not give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shortfall {
    /// The case.
    pub case_id: String,
    /// The generator.
    pub generator: String,
    /// How many were asked for.
    pub requested: u32,
    /// How many there are.
    pub produced: u32,
    /// Why there are no more.
    pub reason: String,
}

/// `aggregate.json`: runs of one case and variant, added up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// Which question the runs belong to.
    pub suite: Mode,
    /// The case.
    pub case_id: String,
    /// The generator or level; null for a baseline.
    pub variant: Option<String>,
    /// Runs that could be assessed.
    pub total_runs: u64,
    /// Those that succeeded.
    pub successes: u64,
    /// Those that did not.
    pub failures: u64,
    /// Null without runs.
    pub success_rate: Option<f64>,
    /// Failures by stage; every stage is listed.
    pub failure_breakdown: BTreeMap<String, u64>,
    /// Runs by validation cycles; `unknown` where the output does not say.
    pub attempts_distribution: BTreeMap<String, u64>,
    /// Null where no duration is known.
    pub avg_duration_ms: Option<u64>,
    /// By nearest rank.
    pub p95_duration_ms: Option<u64>,
    /// Runs with debug artefacts over all runs.
    pub debug_coverage: Option<f64>,
}
