//! `summary.json`: what the records add up to. Every rate carries its parts and its interval, and is null when empty.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RunId;
use crate::record::Kind;

pub mod containment;
pub mod robustness;

pub use containment::ContainmentSummary;

/// The version of the summary format.
pub const SCHEMA_VERSION: &str = "1.0";

/// The tally of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The version of this format.
    pub schema_version: String,
    /// The kind of suite.
    pub kind: Kind,
    /// The run.
    pub run_id: RunId,
    /// The suite.
    pub suite_id: String,
    /// Planned trials; every one has a record.
    pub trials: u64,
    /// Trials that a judge could say something about.
    pub assessed: u64,
    /// Records by status; every status is listed.
    pub counts: BTreeMap<String, u64>,
    /// Records by `error_type`.
    pub error_types: BTreeMap<String, u64>,
    /// Each target, in the suite's order.
    pub slots: Vec<Slot>,
    /// Each pair of targets on the trials that both were assessed on.
    pub comparisons: Vec<Comparison>,
    /// The suite's gate, if it has one.
    pub gate: Option<Gate>,
    /// What other wordings of the cases did, for suites with `vary`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<Wording>,
    /// What a `code` run adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// What a `robustness` run adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub robustness: Option<robustness::Robustness>,
    /// What only receipts of containment trials can say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<ContainmentSummary>,
}

/// One target's tally.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The target.
    pub slot: String,
    /// Its planned trials.
    pub trials: u64,
    /// Records by status; every status is listed.
    pub counts: BTreeMap<String, u64>,
    /// Passed over assessed.
    pub pass_rate: Rate,
    /// Passed over all planned trials: the worst case if every unassessed trial had failed.
    pub pass_rate_all: Rate,
    /// Standard error of the pass rate with trials of one case taken as one cluster; null below two cases.
    pub pass_rate_clustered: Option<Mean>,
    /// Judge's name → its mean score.
    pub scores: BTreeMap<String, Mean>,
    /// Tag → passed over assessed.
    pub tags: BTreeMap<String, Rate>,
    /// Cases whose repetitions did not agree, over cases with at least two assessed ones.
    pub flaky_cases: Rate,
}

/// What one generator's wordings did to a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    /// The target.
    pub slot: String,
    /// The generator.
    pub generator: String,
    /// Passed over assessed, of its variants.
    pub pass_rate: Rate,
    /// The same of the same cases as they stand.
    pub base_pass_rate: Rate,
    /// How much of that rate is lost; null when there is none to lose.
    pub relative_drop: Option<f64>,
    /// Cases that passed as they stand and in every wording, over cases assessed in both.
    pub robust_cases: Rate,
}

/// A proportion with its Wilson 95 % interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// How many.
    pub numerator: u64,
    /// Of how many.
    pub denominator: u64,
    /// Null when the denominator is 0.
    pub value: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Which records are behind it: a condition on record fields, numerator first.
    pub records: String,
}

/// A mean over clusters (cases), with its 95 % interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mean {
    /// Values.
    pub count: u64,
    /// Cases that they come from.
    pub clusters: u64,
    /// Null when there is no value.
    pub value: Option<f64>,
    /// Standard error with cases as clusters; null below two cases.
    pub standard_error: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// Two targets on the same trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The first target.
    pub a: String,
    /// The second target.
    pub b: String,
    /// Trials (case, variant, repetition) on which both were assessed.
    pub pairs: u64,
    /// Both passed.
    pub both_passed: u64,
    /// Only the first passed.
    pub only_a: u64,
    /// Only the second passed.
    pub only_b: u64,
    /// Neither passed.
    pub neither: u64,
    /// Cases that those trials are of: what is counted in the test.
    pub cases: u64,
    /// Cases on which the first did better.
    pub cases_a: u64,
    /// Cases on which the second did better.
    pub cases_b: u64,
    /// Pass rate of the second minus that of the first.
    pub difference: Option<f64>,
    /// Lower end of its paired 95 % interval, with cases as clusters where they are repeated.
    pub low: Option<f64>,
    /// Upper end of its paired 95 % interval.
    pub high: Option<f64>,
    /// Exact two-sided sign test over cases; McNemar's test where no case is repeated.
    pub p_value: Option<f64>,
}

/// What the suite asked for, and whether it held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The pass rate that each target must reach.
    pub pass_rate: f64,
    /// Whether every target reached it; null where one has no assessed trial.
    pub held: Option<bool>,
    /// Targets that did not.
    pub failed_slots: Vec<String>,
}

/// What the completions of a `code` run add up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// Each slot, in the suite's order.
    pub slots: Vec<CodeSlot>,
}

/// The completions of one slot. `total` = `scored` + `infra` + `invalid`. Where the suite has `vary`, everything but
/// `robust` is of the tasks as they stand, so that it compares with a run without.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeSlot {
    /// The slot.
    pub slot: String,
    /// Completions in all.
    pub total: u64,
    /// Completions with a verdict.
    pub scored: u64,
    /// Completions about which machine, toolchain or model left nothing known.
    pub infra: u64,
    /// Lines with nothing to judge.
    pub invalid: u64,
    /// Tasks with at least one scored completion.
    pub tasks: u64,
    /// Tasks for which at least one completion passed.
    pub tasks_solved: Rate,
    /// Mean over tasks, for each k that every task has enough completions for.
    pub pass_at_k: Vec<PassAtK>,
    /// Each k that was asked for and cannot be said.
    pub omitted_k: Vec<OmittedK>,
    /// Robust pass@k for suites with `vary`: a row for each generator, then one for all wordings together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub robust: Vec<Robust>,
    /// Passed over total if every completion that is not scored had failed.
    pub worst: Rate,
    /// Passed over total if every completion that is not scored had passed.
    pub best: Rate,
    /// Compiled, over those that were given to the compiler.
    pub compile_rate: Rate,
    /// Clean, over those that were linted.
    pub clippy_rate: Rate,
    /// Without a `main` of its own, over those that were read.
    pub main_free_rate: Rate,
    /// Mean CPU time of the compiler in milliseconds, where it was measured and recorded.
    pub mean_compile_time_ms: Option<f64>,
    /// Mean size of the test program, where it was measured.
    pub mean_binary_size_bytes: Option<f64>,
    /// How much larger than a test program without completion and tests they are on average, where measured.
    pub mean_binary_size_over_baseline_bytes: Option<f64>,
    /// Completions by error type.
    pub error_types: BTreeMap<String, u64>,
    /// Completions in which the compiler's error code occurs.
    pub compile_error_codes: BTreeMap<String, u64>,
    /// Completions in which the lint occurs.
    pub lint_names: BTreeMap<String, u64>,
    /// Crates that tasks need and that are not there, with the completions that this kept from being scored.
    pub missing_crates: BTreeMap<String, u64>,
}

/// pass@k as the mean of its unbiased estimates over tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PassAtK {
    /// k
    pub k: u64,
    /// Tasks that it is the mean of.
    pub tasks: u64,
    /// The mean.
    pub value: f64,
    /// Standard error over tasks; null below two tasks.
    pub standard_error: Option<f64>,
    /// Lower end of the 95 % interval over tasks (Wilson's with tasks as the units).
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

/// Robust pass@k after ReCode (Wang et al. 2022): the i-th completion of a task is right if it passes in the worst of
/// several wordings, that is in all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Robust {
    /// The generator of the wordings; null for all wordings together, the task's own among them.
    pub generator: Option<String>,
    /// In how many wordings a completion has to pass.
    pub wordings: u64,
    /// Tasks in the row: those of which every completion, in these wordings and in the task's own, has a verdict.
    pub tasks: u64,
    /// Tasks left out because a generator could not make one of the wordings.
    pub tasks_without_wording: u64,
    /// Other tasks left out because a completion has no verdict.
    pub tasks_without_verdict: u64,
    /// For each k that every task of the row has enough completions for.
    pub at_k: Vec<RobustAtK>,
    /// Each k that was asked for and cannot be said.
    pub omitted_k: Vec<OmittedK>,
}

/// Robust pass@k as the mean of its unbiased estimates over the tasks of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RobustAtK {
    /// k
    pub k: u64,
    /// The mean.
    pub value: f64,
    /// Standard error over tasks; null below two tasks.
    pub standard_error: Option<f64>,
    /// Lower end of the 95 % interval over tasks (Wilson's with tasks as the units).
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// pass@k of the same tasks as they stand.
    pub pass_at_k: f64,
    /// How much of that is lost, as a share of it; null when there is none to lose.
    pub drop: Option<f64>,
}

/// A k that cannot be said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OmittedK {
    /// k
    pub k: u64,
    /// Why not.
    pub reason: String,
}
