//! A `robustness` suite as the user writes it: the schemas of its modes, and what they leave open.

use proofhouse_ledger::Json;
use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::family::judge::JudgeConfig;
use crate::family::target::TargetConfig;
use crate::kinds::robustness::PolicyName;
use crate::spine::suite::bounds::{Fraction, Ordered, Whole};
use crate::spine::suite::file::{DeterminismFile, Gate, zero};
use crate::spine::suite::generators::{Params, VariantFile};

/// The word for a suite of repetition, rewording and stress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RobustnessKind {
    /// Is a tool stable, how brittle is it to rewording, where is its capability boundary?
    Robustness,
}

/// Which question a suite asks of a tool; without one, a case may have variants and a ladder at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModeName {
    /// The same instruction again and again.
    Baseline,
    /// Other wordings of the same task.
    Adversarial,
    /// Harder versions of the task.
    Stress,
    /// Small and middle tasks side by side, each repeated.
    Canonical,
}

impl ModeName {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ModeName::Baseline => "baseline",
            ModeName::Adversarial => "adversarial",
            ModeName::Stress => "stress",
            ModeName::Canonical => "canonical",
        }
    }
}

/// Whether the looks at repeated runs are planned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Looks {
    /// Runs end as the policy has it, and nobody adds any: bounds are exact for that.
    #[default]
    Planned,
    /// Somebody may look, raise `runs` or `max_runs` and run again: bounds hold at any number of runs, and need more of them.
    Open,
}

impl Looks {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Looks::Planned => "planned",
            Looks::Open => "open",
        }
    }
}

/// Whose debug artefacts are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeepDebug {
    /// Those of every run of the tool.
    Always,
    /// Those of runs that were no success.
    #[default]
    OnFailure,
    /// Nobody's: a digest of what was there is all.
    Never,
}

/// How often something may be run.
pub(crate) type Runs = Whole<1, 1000>;
/// A deadline of one run of the tool.
pub(crate) type Seconds = Whole<1, 86_400>;
/// A seed that records can hold exactly.
pub(crate) type Seed = Whole<0, MAX_SAFE_INTEGER>;

/// A suite of kind `robustness`: a black-box tool under repetition, rewording and stress.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RobustnessFile {
    /// What the suite asks; a file with a `mode` needs no word for it.
    #[serde(default)]
    pub(crate) kind: Option<RobustnessKind>,
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
    pub(crate) seed: Seed,
    /// Which question the suite asks of a tool.
    #[serde(default)]
    pub(crate) mode: Option<ModeName>,
    /// Another word for `mode`.
    #[serde(default)]
    pub(crate) category: Option<ModeName>,
    /// Runs of a base instruction at most.
    #[serde(default)]
    pub(crate) runs: Option<Runs>,
    /// The same, in canonical suites.
    #[serde(default)]
    pub(crate) runs_per_case: Option<Runs>,
    /// Runs of a variant or, under `policy: fixed` and `seed`, of a level at most.
    #[serde(default)]
    pub(crate) runs_per_variant: Option<Runs>,
    /// Runs of a stress level at most, under `policy: evidence`; default 15.
    #[serde(default)]
    pub(crate) max_runs: Option<Runs>,
    /// How long one run of the tool may take.
    #[serde(default)]
    pub(crate) timeout_seconds: Option<Seconds>,
    /// Whether the tool may repair what it made.
    #[serde(default = "yes")]
    pub(crate) repair_enabled: bool,
    /// Whether the tool is told to leave debug artefacts.
    #[serde(default)]
    pub(crate) debug_enabled: bool,
    /// Whose debug artefacts are copied to the folder `RUN_DIR.debug`; default `on_failure`.
    #[serde(default)]
    pub(crate) keep_debug: KeepDebug,
    /// Judges of what the tool prints, by name: beside its own outcome rules, all of them must pass for a success.
    #[serde(default)]
    pub(crate) judges: Ordered<JudgeConfig>,
    /// When to stop repeating; default `evidence`.
    #[serde(default)]
    pub(crate) policy: PolicyName,
    /// The share that a baseline's modal outcome must have to be called stable, from 0.5 to below 1; default 0.8.
    #[serde(default)]
    pub(crate) agreement: Option<Fraction>,
    /// Whether the looks at the runs are planned; default `planned`.
    #[serde(default)]
    pub(crate) looks: Looks,
    /// The case of a baseline suite that this suite varies.
    #[serde(default)]
    pub(crate) base_case: Option<String>,
    /// That suite; default `baseline.yaml` beside this one, if it is there.
    #[serde(default)]
    pub(crate) baseline: Option<String>,
    /// Who rewrites for generators that need a model.
    #[serde(default)]
    pub(crate) rewriter: Option<RewriterFile>,
    /// What makes runs comparable byte for byte.
    #[serde(default)]
    pub(crate) determinism: DeterminismFile,
    /// The tools under test by the name of their slot; `--target` names a file with them instead.
    #[serde(default)]
    pub(crate) targets: Ordered<TargetConfig>,
    /// The instructions.
    #[serde(default)]
    pub(crate) cases: Vec<CaseFile>,
    /// Small tasks of a canonical suite.
    #[serde(default)]
    pub(crate) small: Vec<CaseFile>,
    /// Middle tasks of a canonical suite.
    #[serde(default)]
    pub(crate) mid: Vec<CaseFile>,
    /// Large tasks of a canonical suite.
    #[serde(default)]
    pub(crate) large: Vec<CaseFile>,
    /// What has to hold for the run's exit code to be 0; no part of the run's identity.
    #[serde(default)]
    pub(crate) gate: Option<Gate>,
}

fn yes() -> bool {
    true
}

/// A model that rewrites instructions, and the file that keeps what it wrote.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RewriterFile {
    /// The model.
    pub(crate) target: TargetConfig,
    /// Where its answers are kept; a run whose answers are all there asks no model. Default: the suite's name with
    /// `.variants.jsonl` behind it.
    #[serde(default)]
    pub(crate) recorded: Option<String>,
    /// How often it is asked for one variant; default 3.
    #[serde(default)]
    pub(crate) max_attempts: Option<Whole<1, 20>>,
    /// Who is asked, beside the guard's rules, whether a rewording is still the same task.
    #[serde(default)]
    pub(crate) guard: Option<GuardFile>,
}

/// A model that compares a rewording with its instruction; what it says is kept with the rewording.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GuardFile {
    /// The model. A rewording that it calls changed is refused; where it fails, nothing is accepted, and its failure is recorded.
    pub(crate) target: TargetConfig,
}

/// One instruction, with its variants and its ladder.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseFile {
    /// Its name, unique in the suite: letters, digits, `.`, `_`, `-`.
    pub(crate) id: String,
    /// Exactly what the tool receives.
    #[serde(default)]
    pub(crate) instruction: Option<String>,
    /// The same, in adversarial and stress suites.
    #[serde(default)]
    pub(crate) base_instruction: Option<String>,
    /// The case of a baseline suite that this one varies.
    #[serde(default)]
    pub(crate) base_case: Option<String>,
    /// Runs of the base instruction at most, for this case.
    #[serde(default)]
    pub(crate) runs: Option<Runs>,
    /// How long one run of the tool may take, for this case.
    #[serde(default)]
    pub(crate) timeout_seconds: Option<Seconds>,
    /// How large the task is, for people.
    #[serde(default)]
    pub(crate) complexity: Option<String>,
    /// Words that the contract of instructions bans and this case may have.
    #[serde(default)]
    pub(crate) allow_terms: Vec<String>,
    /// What the judges compare the tool's output with; the same for every wording of the case.
    #[serde(default)]
    #[schemars(with = "serde_json::Value")]
    pub(crate) expected: Json,
    /// Which of the suite's judges this case has; default: all.
    #[serde(default)]
    pub(crate) judges: Option<Vec<String>>,
    /// Which generators make variants of it.
    #[serde(default)]
    pub(crate) variants: Vec<VariantFile>,
    /// Harder versions of it, from the easiest up.
    #[serde(default)]
    pub(crate) stress_ladder: Vec<LevelFile>,
}

/// One rung of a stress ladder.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LevelFile {
    /// Which rung; they ascend.
    pub(crate) level: Whole<1, 1000>,
    /// The generator; `proofhouse list generators` shows them.
    pub(crate) generator: String,
    /// Its settings.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub(crate) params: Params,
    /// The generator's seed; default: the suite's.
    #[serde(default)]
    pub(crate) seed: Option<Seed>,
}
