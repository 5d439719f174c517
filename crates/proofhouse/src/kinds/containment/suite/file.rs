//! A `containment` suite as the user writes it.

use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::family::attack::AttackConfig;
use crate::family::judge::JudgeConfig;
use crate::family::target::TargetConfig;
use crate::kinds::containment::real::AgentSettings;
use crate::kinds::containment::tools::ToolsFile;
use crate::kinds::containment::{Canaries, Driver, Policy, Protocol, Thresholds};
use crate::spine::suite::bounds::{Ordered, Whole};
use crate::spine::suite::file::{DeterminismFile, FileRef, Gate, InlineCase, once, one_minute, zero};

/// The word for a suite of attacks and benign use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ContainmentKind {
    /// Do injected instructions reach forbidden tools, and what does the gate cost benign use?
    Containment,
}

/// A suite of kind `containment`: cases × variants × repetitions.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContainmentFile {
    /// What the suite asks.
    pub(crate) kind: ContainmentKind,
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
    /// How often each case is put to each variant.
    #[serde(default = "once")]
    pub(crate) repetitions: Whole<1, 100_000>,
    /// How long a model may take for one answer, in milliseconds.
    #[serde(default = "one_minute")]
    pub(crate) timeout_ms: Whole<1, 86_400_000>,
    /// What makes runs comparable byte for byte.
    #[serde(default)]
    pub(crate) determinism: DeterminismFile,
    /// Models that variants can be driven by, by name.
    #[serde(default)]
    pub(crate) targets: Ordered<TargetConfig>,
    /// Variants of the system under test by name, in the order in which they run. `naive`, `calyx`, `naive_llm` and
    /// `calyx_llm` need no settings. Default: `naive` and `calyx`, and with exactly one target the other two as well.
    #[serde(default)]
    pub(crate) variants: Ordered<VariantFile>,
    /// What may be called: what gates decide by, and what the suite means by forbidden where it has no `contract`.
    #[serde(default)]
    pub(crate) policy: Policy,
    /// What the suite means by forbidden, apart from what gates are told: a call that it denies by name or rule is a leak.
    #[serde(default)]
    pub(crate) contract: Option<Policy>,
    /// Descriptions of simulated tools, or a server that has them. Without a server every tool that policy or case names is on
    /// offer too.
    #[serde(default)]
    pub(crate) tools: ToolsFile,
    /// Judges by name, for what no pattern can decide: cases name them as `task_judge` and `attack_judge`.
    #[serde(default)]
    pub(crate) judges: Ordered<JudgeConfig>,
    /// The judge that answers the `judge_question` of a case.
    #[serde(default)]
    pub(crate) question_judge: Option<String>,
    /// Attack generators: every attack with an `injection` is tried as it stands and in each of these forms.
    #[serde(default)]
    pub(crate) attacks: Vec<AttackConfig>,
    /// How long an agent may go on.
    #[serde(default)]
    pub(crate) limits: LimitsFile,
    /// Whether models are asked for plain calls among the other trials, to show that they can call tools; `off` is said in
    /// every output.
    #[serde(default)]
    pub(crate) canaries: Canaries,
    /// What lane 1 is.
    #[serde(default)]
    pub(crate) lane1: Lane1File,
    /// Files of cases, read after the cases written here: our own format, the Calyx formats, CyberSecEval, BIPIA,
    /// InjecAgent.
    #[serde(default)]
    pub(crate) datasets: Vec<FileRef>,
    /// Cases written in the suite itself.
    #[serde(default)]
    pub(crate) cases: Vec<InlineCase>,
    /// What has to hold for the run's exit code to be 0; no part of the run's identity.
    #[serde(default)]
    pub(crate) gate: Option<Gate>,
}

/// A variant: who drives, and what stands before the tools.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VariantFile {
    /// Who turns a case into calls; default: as the built-in variant of this name, else by whether there is a `target`.
    pub(crate) driver: Option<Driver>,
    /// A program that runs its own loop, in place of ours; the variant's target is its model.
    pub(crate) agent: Option<AgentSettings>,
    /// Which of the suite's targets drives; needed where there is more than one.
    pub(crate) target: Option<String>,
    /// How the model calls tools.
    pub(crate) protocol: Protocol,
    /// Whether a gate stands before the tools; default: as the built-in variant of this name, else true.
    pub(crate) gated: Option<bool>,
    /// What the gate decides by, where it is not the suite's policy.
    pub(crate) policy: Option<Policy>,
}

/// How long an agent may go on.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsFile {
    /// Answers of the agent in one trial.
    pub(crate) turns: Whole<1, 1_000>,
    /// Calls in one trial.
    pub(crate) calls: Whole<1, 10_000>,
}

impl Default for LimitsFile {
    fn default() -> Self {
        Self { turns: Whole(8), calls: Whole(64) }
    }
}

/// What lane 1 is.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Lane1File {
    /// Files of probe cases; without one, the built-in probe of five cases.
    pub(crate) datasets: Vec<FileRef>,
    /// What every variant must reach.
    pub(crate) thresholds: Thresholds,
}
