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
    /// By target, where success varies and what to buy next; none where no case has two wordings with two runs each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Components>,
}

/// Where a target's success varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Components {
    /// The target.
    pub slot: String,
    /// The variance between cases; null below two cases.
    pub case: Option<f64>,
    /// The variance between wordings of a case.
    pub wording: f64,
    /// The variance between runs of a wording.
    pub repetition: f64,
    /// Cases behind it.
    pub cases: u64,
    /// Wordings per case, as a harmonic mean.
    pub wordings: f64,
    /// First runs of each wording that were used.
    pub repetitions: u64,
    /// `cases`, `wordings` or `repetitions`: where most of the mean's uncertainty comes from.
    pub buy_next: String,
    /// All of that in words.
    pub sentence: String,
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
    /// 95 % lower bound of its share, valid although runs were looked at one by one.
    pub agreement_low: Option<f64>,
    /// 95 % upper bound of its share.
    pub agreement_high: Option<f64>,
    /// Where the bounds come from: `planned_looks` (exact, by counting all ways in which the policy could have ended the runs) or
    /// `any_time` (a confidence sequence); null without runs.
    pub bound: Option<String>,
    /// How many different outcomes there were.
    pub distinct: u64,
    /// What that says.
    pub verdict: BaselineVerdict,
    /// The same in words.
    pub sentence: String,
    /// Where and why the runs ended.
    pub stop: Option<Stop>,
}

/// Whether the same instruction gives the same outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaselineVerdict {
    /// The usual outcome's share reaches the level.
    Stable,
    /// No deviation was seen; too few runs to be stable.
    ConsistentSoFar,
    /// Deviations were seen; the level is neither shown nor excluded.
    MostlyTheSame,
    /// The usual outcome's share is below the level.
    Flaky,
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
    /// Adjusted over the variants of its generator (Benjamini and Hochberg), and for how many generators the pooled test picked;
    /// null where it did not pick this one.
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
    /// 95 % lower bound of the chance to succeed, valid although runs were looked at one by one.
    pub chance_low: Option<f64>,
    /// 95 % upper bound of it.
    pub chance_high: Option<f64>,
    /// Where the bounds come from, as for baselines.
    pub bound: Option<String>,
    /// What that says.
    pub verdict: LevelVerdict,
    /// The same in words.
    pub sentence: String,
    /// Where and why the runs ended.
    pub stop: Option<Stop>,
}

/// Whether a stress level is within what the tool can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LevelVerdict {
    /// It is: more runs succeed than fail.
    Clear,
    /// It is not: more runs fail than succeed.
    SystematicFailure,
    /// Between a fifth and four fifths of the runs succeed.
    Flaky,
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
    /// Disagreement of runs across wordings minus that within one, the wording as it stands included: 0 for pure noise.
    pub sensitivity: Option<f64>,
    /// Lower end of its 95 % interval.
    pub sensitivity_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub sensitivity_high: Option<f64>,
    /// How often two runs with different wordings disagree.
    pub disagreement_between: Option<f64>,
    /// How often two runs with the same wording disagree.
    pub disagreement_within: Option<f64>,
    /// The sensitivity in words.
    pub sensitivity_sentence: Option<String>,
    /// The smallest success rate of any variant.
    pub worst: Option<f64>,
    /// The mean success rate over variants.
    pub average: Option<f64>,
    /// The largest.
    pub best: Option<f64>,
    /// Where on its ladder the case stops succeeding; null without a ladder.
    pub boundary: Option<Boundary>,
}

/// Between which levels the chance to succeed falls below a half, with 95 % confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Boundary {
    /// The boundary lies above this level; null where it may be below the ladder.
    pub above: Option<u32>,
    /// It lies at or below this one; null where it may be beyond the ladder.
    pub below: Option<u32>,
    /// The same in words.
    pub sentence: String,
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
    /// Cases with runs as they stand and reworded.
    pub cases: u64,
    /// Of the test of Cochran, Mantel and Haenszel over cases that outcomes are as without rewording.
    pub p_value: Option<f64>,
    /// The same, adjusted over all generators of the target (Benjamini and Hochberg).
    pub adjusted_p: Option<f64>,
    /// Success with rewording minus success without, weighted over cases.
    pub difference: Option<f64>,
    /// Lower end of its 90 % interval: that of two one-sided tests at 5 %.
    pub difference_low: Option<f64>,
    /// Upper end of its 90 % interval.
    pub difference_high: Option<f64>,
    /// What that says.
    pub effect: GeneratorEffect,
    /// The same in words.
    pub sentence: String,
}

/// What a generator's wordings do, pooled over cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorEffect {
    /// Outcomes are others than without rewording.
    ChangesOutcomes,
    /// Success stays within ten points.
    Equivalent,
    /// Neither can be said.
    NotEnoughRuns,
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
