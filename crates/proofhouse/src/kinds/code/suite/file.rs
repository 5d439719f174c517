//! A `code` suite as the user writes it.

use proofhouse_ledger::json::MAX_SAFE_INTEGER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::family::target::TargetConfig;
use crate::kinds::code::{Clippy, LanguageName};
use crate::spine::suite::bounds::{Ordered, Whole};
use crate::spine::suite::file::{DeterminismFile, FileRef, Gate, one_minute, zero};
use crate::spine::suite::generators::VariantFile;

/// The word for a suite of completions and tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CodeKind {
    /// Does generated code compile, pass its tests, satisfy the linter?
    Code,
}

/// What becomes of completions that reach below the language where their tests are in the same process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UnsafeFile {
    /// They can fail, and are `unsupported` where they pass, which is no pass: they could read what the tests expect.
    #[default]
    Refuse,
    /// They are judged all the same.
    Allow,
}

/// A suite of kind `code`: tasks × (lines of samples files, or samples of models).
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeFile {
    /// What the suite asks.
    pub(crate) kind: CodeKind,
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
    /// How long a model may take for one answer, in milliseconds.
    #[serde(default = "one_minute")]
    pub(crate) timeout_ms: Whole<1, 86_400_000>,
    /// What makes runs comparable byte for byte.
    #[serde(default)]
    pub(crate) determinism: DeterminismFile,
    /// The language of the completions; as the problems say or look, if it is not given.
    #[serde(default)]
    pub(crate) language: Option<LanguageName>,
    /// The tasks: HumanEval, HumanEval+, HumanEval-X, HumanEvalPack, MultiPL-E, McEval, MBPP, MBPP+, or programs with
    /// standard input and output (APPS, CodeContests), as JSON lines, `.gz` too.
    pub(crate) problems: FileRef,
    /// Files of completions by the name of their slot; every line becomes one record.
    #[serde(default)]
    pub(crate) samples: Ordered<FileRef>,
    /// Models that are asked, by the name of their slot.
    #[serde(default)]
    pub(crate) targets: Ordered<TargetConfig>,
    /// How often each model is asked for each task.
    #[serde(default = "once")]
    pub(crate) samples_per_task: Whole<1, 10_000>,
    /// What a model is asked: a template over the problem's `prompt`, `task_id` and `entry_point`.
    #[serde(default = "prompt_field")]
    pub(crate) prompt: String,
    /// Other wordings of every task that models are asked for: what generators make of the prose of its prompt, beside the
    /// prompt itself. Code and examples stay as they are, and completions are tested as ever.
    #[serde(default)]
    pub(crate) vary: Vec<VariantFile>,
    /// Only these tasks; or `answered`: tasks without any completion do not count as failures.
    #[serde(default)]
    pub(crate) tasks: TasksFile,
    /// Only so many tasks, drawn by the seed.
    #[serde(default)]
    pub(crate) sample: Option<Whole<1, 1_000_000>>,
    /// The k of pass@k; default 1, 5 and 10. One that is larger than a task's number of completions is left out, and said so.
    #[serde(default)]
    pub(crate) k: Option<Vec<Whole<1, 10_000>>>,
    /// Whether completions are linted (Rust).
    #[serde(default)]
    pub(crate) clippy: Clippy,
    /// Whether completions that reach below the language are judged where they have to share a process with their tests (Rust).
    #[serde(default, rename = "unsafe")]
    pub(crate) unsafe_code: UnsafeFile,
    /// The Rust edition.
    #[serde(default)]
    pub(crate) edition: Edition,
    /// Crates that tasks use: name → version, built once by cargo (Rust).
    #[serde(default)]
    pub(crate) crates: Ordered<String>,
    /// How much each phase may use.
    #[serde(default)]
    pub(crate) limits: LimitsFile,
    /// Judge each completion alone, and record compile time and program size.
    #[serde(default)]
    pub(crate) measure: bool,
    /// What has to hold for the run's exit code to be 0; no part of the run's identity.
    #[serde(default)]
    pub(crate) gate: Option<Gate>,
}

fn once() -> Whole<1, 10_000> {
    Whole(1)
}
fn prompt_field() -> String {
    "{prompt}".to_owned()
}

/// Which tasks count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum TasksFile {
    /// All of the problem file; one without a completion is a failure.
    #[default]
    All,
    /// Those with at least one completion.
    Answered,
    /// These.
    Named(Vec<String>),
}

impl<'de> Deserialize<'de> for TasksFile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tasks;
        impl<'de> serde::de::Visitor<'de> for Tasks {
            type Value = TasksFile;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`all`, `answered`, or a list of task ids")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<TasksFile, E> {
                match word {
                    "all" => Ok(TasksFile::All),
                    "answered" => Ok(TasksFile::Answered),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_unit<E: serde::de::Error>(self) -> Result<TasksFile, E> {
                Ok(TasksFile::All)
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<TasksFile, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(TasksFile::Named(names))
            }
        }
        deserializer.deserialize_any(Tasks)
    }
}

impl JsonSchema for TasksFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TasksFile".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Which tasks count.",
            "anyOf": [
                {"enum": ["all", "answered"]},
                {"type": "array", "items": {"type": "string"}},
                {"type": "null"}
            ]
        })
    }
}

/// An edition of the Rust language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Edition {
    /// 2015
    #[serde(rename = "2015")]
    E2015,
    /// 2018
    #[serde(rename = "2018")]
    E2018,
    /// 2021
    #[default]
    #[serde(rename = "2021")]
    E2021,
    /// 2024
    #[serde(rename = "2024")]
    E2024,
}

impl Edition {
    /// As rustc wants it.
    pub fn as_str(self) -> &'static str {
        match self {
            Edition::E2015 => "2015",
            Edition::E2018 => "2018",
            Edition::E2021 => "2021",
            Edition::E2024 => "2024",
        }
    }
}

/// Budgets of the phases. CPU time decides; wall clock is a guard that a loaded machine does not reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsFile {
    /// For compiler and linter.
    #[serde(default)]
    pub(crate) compile: PhaseFile,
    /// For the tests.
    #[serde(default)]
    pub(crate) test: PhaseFile,
}

/// The budget of one phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PhaseFile {
    /// CPU time, in milliseconds.
    #[serde(default)]
    pub(crate) cpu_ms: Option<Whole<10, 3_600_000>>,
    /// Wall clock, in milliseconds.
    #[serde(default)]
    pub(crate) wall_ms: Option<Whole<10, 86_400_000>>,
    /// Memory, in MiB.
    #[serde(default)]
    pub(crate) memory_mib: Option<Whole<16, 1_048_576>>,
}
