//! The `add_multi_objective` generator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ask, Generator, Maker, Settings, Variants, additions};
use crate::text::complaint::Complaint;

/// Further deliverables are added.
///
/// A rung of a stress ladder: more than one thing is asked for. An addition that would change the class of the task
/// (documentation, error handling, a test suite, deployment) is refused. The seed has no effect.
///
/// Guarantee: the base is kept; every addition is there, unchanged and in order: a sentence after one space, a phrase
/// before the final punctuation after `, `. One variant, or one per addition when `cumulative`.
///
/// ```yaml
/// add_multi_objective:
///   additions: [Return a brief explanation of each pattern., Keep public API small and clean.]
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddMultiObjective {
    /// What to add: sentences (capital first letter or final punctuation) or phrases.
    pub additions: Vec<String>,
    /// One variant per addition, each with all additions before it, instead of a single one with all.
    #[serde(default)]
    pub cumulative: bool,
}

impl Settings for AddMultiObjective {
    const NAME: &'static str = "add_multi_objective";
    const GENERATOR_VERSION: u32 = 2;

    fn check(&self) -> Result<(), Complaint> {
        additions::check(&self.additions)?;
        match self.additions.iter().find_map(|addition| other_task(addition)) {
            Some((addition, what)) => Err(Complaint::new(format!("addition `{addition}` asks for {what}"))
                .hint(
                    "add objectives of the same task; \
                 documentation, error handling and test suites are tasks of their own",
                )),
            None => Ok(()),
        }
    }

    fn maker(&self) -> Maker<'_> {
        Maker::Rules(self)
    }
}

impl Generator for AddMultiObjective {
    fn variants(&self, ask: &Ask<'_>) -> Variants {
        additions::variants(ask, &self.additions, self.cumulative)
    }
}

/// Words that ask for a task of its own, by their beginnings; several words must follow each other.
const OTHER_TASKS: &[(&str, &[&[&str]])] = &[
    (
        "documentation",
        &[&["document"], &["docs"], &["docstring"], &["readme"], &["user", "guide"], &["tutorial"]],
    ),
    (
        "error handling",
        &[
            &["error", "handl"],
            &["exception", "handl"],
            &["handl", "error"],
            &["handl", "exception"],
            &["handl", "all", "error"],
        ],
    ),
    ("a test suite", &[&["test"], &["unittest"], &["pytest"], &["coverage"]]),
    ("benchmarks", &[&["benchmark"], &["profil"]]),
    ("logging", &[&["logging"], &["logger"], &["logs"]]),
    ("deployment", &[&["deploy"], &["docker"], &["ci", "pipeline"]]),
];

/// The addition and what it asks for, when that is another task.
fn other_task(addition: &str) -> Option<(&str, &'static str)> {
    let small = addition.to_lowercase();
    let words: Vec<&str> =
        small.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let asks = |beginnings: &&[&str]| {
        words
            .windows(beginnings.len())
            .any(|run| run.iter().zip(*beginnings).all(|(word, start)| word.starts_with(start)))
    };
    OTHER_TASKS.iter().find(|(_, ways)| ways.iter().any(asks)).map(|(what, _)| (addition, *what))
}
