//! `summary.json`: what the records add up to. Every rate carries its parts and its interval, and is null when empty.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RunId;
use crate::record::Kind;

pub mod calibration;
pub mod code;
pub mod containment;
pub mod robustness;

pub use code::{
    BrokenTask, Code, CodeSlot, FailureExample, NothingPassed, OmittedK, PassAtK, Robust, RobustAtK,
};
pub use containment::ContainmentSummary;

/// The version of the summary format.
pub const SCHEMA_VERSION: &str = "1.1";

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
    /// Pairs of targets on the trials that both were assessed on: all pairs of up to ten targets; of more, each with the first
    /// and with the one that did best.
    pub comparisons: Vec<Comparison>,
    /// Which of three or more targets is best, and by how much another could still be better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
    /// The suite's gate, if it has one.
    pub gate: Option<Gate>,
    /// What other wordings of the cases did, for suites with `vary`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<Wording>,
    /// How far the judges can be trusted, for suites with `calibration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<calibration::Calibration>,
    /// How far models that judge by the same criterion agree, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreement: Vec<calibration::Agreement>,
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

impl Summary {
    /// The cases that count for nobody, whatever their records say: no rate has them.
    pub fn left_out(&self) -> BTreeSet<&str> {
        self.code.as_ref().map(Code::excluded).unwrap_or_default()
    }
}

impl Summary {
    /// A summary before anything is added up: whoever adds up fills in what it knows, and names no kind's part but its own.
    pub fn empty(kind: Kind, run_id: RunId, suite_id: &str) -> Self {
        Summary {
            schema_version: SCHEMA_VERSION.to_owned(),
            kind,
            run_id,
            suite_id: suite_id.to_owned(),
            trials: 0,
            assessed: 0,
            counts: BTreeMap::new(),
            error_types: BTreeMap::new(),
            slots: Vec::new(),
            comparisons: Vec::new(),
            best: None,
            gate: None,
            wordings: Vec::new(),
            calibration: None,
            agreement: Vec::new(),
            code: None,
            robustness: None,
            containment: None,
        }
    }
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
    /// How long its trials took; absent where records say no times, as with deterministic artefacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Latency>,
    /// What it says that it used; absent where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether nothing that it answered can be assessed: it gave no answer, or only empty ones, or has not shown that it can do what is
    /// asked. It is compared with nobody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
}

/// Times of trials in milliseconds. Each value is what it is at least, and at most: null there where trials were cut off that
/// could have taken any time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Trials with a time.
    pub trials: u64,
    /// Those of them that timed out.
    pub cut_off: u64,
    /// Trials that were carried out and have no answer with a time: they may have taken any. Absent where there is none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// The mean.
    pub mean: [Option<f64>; 2],
    /// The time within which half of them ended.
    pub p50: [Option<f64>; 2],
    /// The time within which 95 % of them ended.
    pub p95: [Option<f64>; 2],
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Tokens, as the target reported them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Trials of which it said what it used.
    pub trials: u64,
    /// Trials that were carried out and of which it did not.
    pub unknown: u64,
    /// Tokens read, all together.
    pub input_tokens: u64,
    /// Tokens written, all together.
    pub output_tokens: u64,
    /// What they cost at the prices of the suite's gate; null without a price.
    pub cost_usd: Option<f64>,
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
    /// The mean over cases of the second's pass rate minus the first's.
    pub difference: Option<f64>,
    /// Lower end of its 95 % interval over cases: Student's, or Tango's where no case is repeated.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Two-sided permutation test over cases (signs flipped); McNemar's exact test where no case is repeated.
    pub p_value: Option<f64>,
    /// The same, adjusted by Holm for all pairs of targets.
    #[serde(default)]
    pub adjusted_p: Option<f64>,
    /// What that says of cases like these.
    #[serde(default)]
    pub sentence: String,
}

/// The target that did best, after Hsu's comparison with the best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// The target.
    pub slot: String,
    /// How far the true best is above it at most, with 95 % certainty; 0 where it is the best.
    pub within: f64,
    /// Targets that may be as good or better.
    pub rivals: Vec<String>,
    /// What that says of cases like these.
    pub sentence: String,
}

/// What the suite asked for, and whether it held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The pass rate that each target must reach.
    pub pass_rate: f64,
    /// How sure that has to be on cases like these; absent where these cases alone count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether every target met every demand; null where what was not assessed, or too few cases, leave that open.
    pub held: Option<bool>,
    /// Targets that missed one, whatever the unassessed trials would have been.
    pub failed_slots: Vec<String>,
    /// Targets of which it cannot be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided_slots: Vec<String>,
    /// All of that in words.
    #[serde(default)]
    pub sentence: String,
}

impl Gate {
    /// The sentence without the outcome that it begins with, for where that stands already.
    pub fn reason(&self) -> &str {
        self.sentence.split_once(": ").map_or(&*self.sentence, |(_, reason)| reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(kind: Kind) -> Summary {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../proofhouse/tests/golden/v1");
        let path = format!("{root}/{}/run/summary.json", kind.as_str());
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn broken_tasks_count_for_nobody() {
        let mut summary = golden(Kind::Code);
        let slots = &mut summary.code.as_mut().unwrap().slots;
        let broken =
            |task: &str| BrokenTask { task_id: task.to_owned(), why: "its solution fails".to_owned() };
        slots[0].broken = vec![broken("b"), broken("a")];
        assert!(summary.left_out().is_superset(&BTreeSet::from(["a", "b"])));
        assert_eq!(summary.code.as_ref().unwrap().excluded(), summary.left_out());
        assert!(golden(Kind::Probe).left_out().is_empty());
    }

    /// Readers from before the count was there do not know its name.
    #[test]
    fn answers_of_shapes_that_cannot_be_judged_are_counted_only_where_there_are_any() {
        let mut summary = golden(Kind::Code);
        for (count, written) in [(0, false), (1, true), (2, true)] {
            summary.code.as_mut().unwrap().slots[0].unsupported = count;
            let text = crate::canonical::to_vec(&summary).unwrap();
            let name = format!("\"unsupported\":{count}");
            assert_eq!(memchr::memmem::find(&text, name.as_bytes()).is_some(), written, "{count}");
            assert_eq!(serde_json::from_slice::<Summary>(&text).unwrap(), summary);
        }
    }

    #[test]
    fn a_reason_is_what_stands_behind_the_outcome() {
        let gate = |sentence: &str| Gate {
            pass_rate: 0.5,
            confidence: None,
            held: None,
            failed_slots: Vec::new(),
            undecided_slots: Vec::new(),
            sentence: sentence.to_owned(),
        };
        assert_eq!(gate("gate held: a: passes 1 of 2").reason(), "a: passes 1 of 2");
        assert_eq!(gate("nothing to say").reason(), "nothing to say");
    }

    /// The control leaked, and the model called tools.
    #[test]
    fn a_containment_run_says_whether_it_shows_anything() {
        let mut found = golden(Kind::Containment).containment.unwrap();
        assert!(!found.is_pointless() && found.incompetent().next().is_none());
        assert_eq!(found.controls().collect::<Vec<_>>(), ["naive"]);
        found.discrimination.discriminating = Some(false);
        assert!(found.is_pointless());
        found.lane1 = Some(containment::Lane1 { passed: true, checks: Vec::new() });
        assert!(!found.is_pointless(), "a lane 1 asks for something else");
        found.discrimination.discriminating = None;
        found.lane1 = None;
        assert!(!found.is_pointless());
        let told = found.variants.iter_mut().find(|variant| variant.competence.is_some()).unwrap();
        told.competence.as_mut().unwrap().shown = Some(false);
        let names: Vec<&str> = found.incompetent().map(|variant| variant.variant.as_str()).collect();
        assert_eq!(names, ["told"]);
    }
}
