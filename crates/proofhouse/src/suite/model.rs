//! A suite as the program uses it: every default applied, every name resolved.

use crate::judge::{self, JudgeConfig, Panel};
use crate::target::{TargetConfig, Template};

use super::file::{Gate, Kind};

/// A checked suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// What it asks.
    pub kind: Kind,
    /// Its name in run directories.
    pub suite_id: String,
    /// A line for people.
    pub title: Option<String>,
    /// A paragraph for people.
    pub description: Option<String>,
    /// Where all randomness comes from.
    pub seed: u64,
    /// How often each case is put to each target.
    pub repetitions: u32,
    /// How long one trial may take.
    pub timeout_ms: u64,
    /// What makes runs comparable.
    pub determinism: Determinism,
    /// Slots and what stands in them, in the order of the suite.
    pub targets: Vec<(String, TargetConfig)>,
    /// What a target is asked, as it was written.
    pub prompt: String,
    /// The same, parsed.
    pub prompt_template: Template,
    /// Judges by name, in the order of the suite.
    pub judges: Vec<(String, JudgeConfig)>,
    /// How scores become a verdict.
    pub scoring: Scoring,
    /// What has to hold for exit code 0.
    pub gate: Option<Gate>,
}

impl Suite {
    /// The name of the score that decides.
    pub fn primary_metric(&self) -> &str {
        match self.scoring.primary {
            Primary::Judge(at) => &self.judges[at].0,
            Primary::WeightedMean => "weighted_mean",
        }
    }

    /// The judges, compiled.
    pub fn panel(&self) -> Result<Panel, String> {
        let names = self.judges.iter().map(|(name, _)| name.clone());
        let scoring = judge::Scoring {
            weights: names.zip(self.scoring.weights.iter().copied()).collect(),
            primary: match self.scoring.primary {
                Primary::Judge(at) => Some(self.judges[at].0.clone()),
                Primary::WeightedMean => None,
            },
            threshold: self.scoring.threshold,
        };
        Panel::new(&self.judges, &scoring)
    }
}

/// Determinism controls with their defaults applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Determinism {
    /// Whether what has no exact JSON form is refused.
    pub strict_serialization: bool,
    /// Whether host and wall-clock facts stay out of the run directory.
    pub deterministic_artifacts: bool,
}

/// How scores become a verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Scoring {
    /// One weight per judge, in the order of `judges`.
    pub weights: Vec<f64>,
    /// The primary score from which a trial passes.
    pub threshold: f64,
    /// The score that decides.
    pub primary: Primary,
}

/// The score that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Primary {
    /// That of one judge, by its index.
    Judge(usize),
    /// The weighted mean of all judges of the case.
    WeightedMean,
}
