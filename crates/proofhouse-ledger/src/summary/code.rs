//! What the completions of a `code` run add up to.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Rate;

/// What the completions of a `code` run add up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// Each slot, in the suite's order.
    pub slots: Vec<CodeSlot>,
}

impl Code {
    /// The tasks that nobody is scored against: no rate of the run counts them.
    pub fn excluded(&self) -> BTreeSet<&str> {
        self.slots.iter().flat_map(|slot| &slot.broken).map(|task| task.task_id.as_str()).collect()
    }
}

/// The completions of one slot. `total` = `scored` + `infra` + `invalid`. Where the suite has `vary`, everything but
/// `robust` is of the tasks as they stand, so that it compares with a run without.
///
/// The denominator is closed: `pass_at_k` counts every planned task that is not broken, one without any completion as a
/// failure, and every answer of the model, an unreadable one as a failure.
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
    /// Lines that count for nothing: `unknown` and `excluded` together.
    pub invalid: u64,
    /// Lines that answer no planned task.
    #[serde(default)]
    pub unknown: u64,
    /// Completions of broken tasks.
    #[serde(default)]
    pub excluded: u64,
    /// Answers of the model that could not be read (`invalid_sample`); they are scored, as failures.
    #[serde(default)]
    pub unreadable: u64,
    /// Answers among `infra` that are of a shape which cannot be judged (`unsupported`); the headline counts them as not passed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unsupported: u64,
    /// Tasks that were planned: those of the problem file, or those that were chosen from it.
    #[serde(default)]
    pub tasks_planned: u64,
    /// Planned tasks without any completion, by name.
    #[serde(default)]
    pub unanswered: Vec<String>,
    /// Whether those count as failures; `tasks: answered` in the suite leaves them out.
    #[serde(default)]
    pub unanswered_fail: bool,
    /// Tasks that nobody is scored against: without tests, with a solution of their own that fails, or in need of
    /// something that is not there.
    #[serde(default)]
    pub broken: Vec<BrokenTask>,
    /// Tasks of whose completions none could be assessed, by name; they are in the bounds and in nothing else.
    #[serde(default)]
    pub unassessed_tasks: Vec<String>,
    /// What lines name that answer no planned task, with their number.
    #[serde(default)]
    pub unknown_tasks: BTreeMap<String, u64>,
    /// Where not one completion passed: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nothing_passed: Option<NothingPassed>,
    /// Tasks with at least one scored completion.
    pub tasks: u64,
    /// Tasks for which at least one completion passed.
    pub tasks_solved: Rate,
    /// The headline: mean over tasks, for each k that every answered task has enough completions for.
    pub pass_at_k: Vec<PassAtK>,
    /// The same over tasks with at least one scored completion.
    #[serde(default)]
    pub scored_pass_at_k: Vec<PassAtK>,
    /// Each k that was asked for and cannot be said.
    pub omitted_k: Vec<OmittedK>,
    /// Robust pass@k for suites with `vary`: a row for each generator, then one for all wordings together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub robust: Vec<Robust>,
    /// Passed over scored and unassessed if every unassessed completion had failed.
    pub worst: Rate,
    /// Passed over scored and unassessed if every unassessed completion had passed.
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
    /// Lower end of the 95 % interval over tasks, from their own estimates.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// The same if everything that could not be assessed had failed.
    #[serde(default)]
    pub worst: Option<f64>,
    /// The same if everything that could not be assessed had passed.
    #[serde(default)]
    pub best: Option<f64>,
}

/// A task that nobody is scored against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrokenTask {
    /// The task.
    pub task_id: String,
    /// What is wrong with it.
    pub why: String,
}

/// Why not one completion of a slot passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NothingPassed {
    /// The most frequent types of error, most frequent first, each with its first example.
    pub failures: Vec<FailureExample>,
    /// What that looks like: another language, other task ids, something that is not installed.
    pub signs: Vec<String>,
}

/// One type of error with an example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureExample {
    /// The type of error.
    pub error_type: String,
    /// Completions that have it.
    pub count: u64,
    /// The task of the first of them.
    pub task_id: String,
    /// Which completion of that task it is.
    pub completion_id: u64,
    /// What was said of it, in one line.
    pub message: String,
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
    /// Lower end of the 95 % interval over tasks, from their own estimates.
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

fn is_zero(count: &u64) -> bool {
    *count == 0
}
