//! The result of a comparison as a value: counts that are always complete, and the worst changes in detail.

use std::collections::BTreeMap;

use proofhouse_ledger::{Digest, RecordId, RunId};
use schemars::JsonSchema;
use serde::Serialize;

use super::Options;
use super::findings::Findings;
use super::noise::{Noise, Silent, Worse};
use super::run::{Pairing, Run};
use super::settings::{self, RunClass};
use crate::spine::compare::OwnChange;
use crate::spine::tally;
use crate::text::doc::Tone;

/// The version of the report's JSON.
pub(super) const SCHEMA_VERSION: &str = "2.0";

/// Which run: the first argument or the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Before.
    A,
    /// After.
    B,
}

impl Side {
    /// `A` or `B`, as the command line shows them.
    pub fn letter(self) -> &'static str {
        match self {
            Side::A => "A",
            Side::B => "B",
        }
    }
}

/// What kind of change a record saw. The order is the order of reports: worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A forbidden tool call is executed that was not before (class D of containment runs): always a regression.
    Forbidden,
    /// `passed` went from true to false.
    Regression,
    /// `passed` went from true to null: nobody can say any more that it passes. A regression.
    Lost,
    /// The score that decides fell beyond the tolerance, with the same verdict. A regression.
    Dropped,
    /// The trial has no record in B.
    Removed,
    /// `status` changed.
    Status,
    /// `passed` changed to or from null.
    Verdict,
    /// The gate decides the case differently (class A of containment runs).
    Decision,
    /// Other calls are accepted and executed (class B of containment runs).
    Accepted,
    /// The gate gives other reasons (class C of containment runs).
    Reason,
    /// One side has the trial more often than the other.
    Duplicate,
    /// The record stands elsewhere in relation to the others.
    Reordered,
    /// `passed` went from false to true.
    Improvement,
    /// A score changed by more than the tolerance.
    Score,
    /// The target gave something else.
    Output,
    /// The case expects something else.
    Expected,
    /// The target received something else.
    Input,
    /// Any other field changed, or a stored digest or place is wrong.
    Metadata,
    /// The trial has no record in A.
    Added,
}

impl Class {
    /// All of them, worst first.
    pub const ALL: [Class; 19] = [
        Class::Forbidden,
        Class::Regression,
        Class::Lost,
        Class::Dropped,
        Class::Removed,
        Class::Status,
        Class::Verdict,
        Class::Decision,
        Class::Accepted,
        Class::Reason,
        Class::Duplicate,
        Class::Reordered,
        Class::Improvement,
        Class::Score,
        Class::Output,
        Class::Expected,
        Class::Input,
        Class::Metadata,
        Class::Added,
    ];

    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Forbidden => "forbidden_executed",
            Class::Decision => "decision",
            Class::Accepted => "accepted_calls",
            Class::Reason => "reason",
            Class::Regression => "regression",
            Class::Lost => "lost",
            Class::Dropped => "score_drop",
            Class::Removed => "removed",
            Class::Status => "status",
            Class::Verdict => "verdict",
            Class::Duplicate => "duplicate",
            Class::Reordered => "reordered",
            Class::Improvement => "improvement",
            Class::Score => "score",
            Class::Output => "output",
            Class::Expected => "expected",
            Class::Input => "input",
            Class::Metadata => "metadata",
            Class::Added => "added",
        }
    }

    /// What it means to the reader: worse, better, or neither.
    pub fn tone(self) -> Tone {
        match self {
            Class::Forbidden | Class::Regression | Class::Lost | Class::Dropped | Class::Removed => Tone::Bad,
            Class::Improvement => Tone::Good,
            _ => Tone::Neutral,
        }
    }

    /// How people say `count` of them.
    pub fn noun(self, count: u64) -> &'static str {
        let (one, many) = match self {
            Class::Forbidden => ("newly executed forbidden call", "newly executed forbidden calls"),
            Class::Decision => ("decision change", "decision changes"),
            Class::Accepted => ("change of accepted calls", "changes of accepted calls"),
            Class::Reason => ("reason change", "reason changes"),
            Class::Regression => ("regression", "regressions"),
            Class::Lost => ("lost verdict", "lost verdicts"),
            Class::Dropped => ("score drop", "score drops"),
            Class::Removed => ("removed trial", "removed trials"),
            Class::Status => ("status change", "status changes"),
            Class::Verdict => ("verdict change", "verdict changes"),
            Class::Duplicate => ("duplicate", "duplicates"),
            Class::Reordered => ("reordered record", "reordered records"),
            Class::Improvement => ("improvement", "improvements"),
            Class::Score => ("score change", "score changes"),
            Class::Output => ("output change", "output changes"),
            Class::Expected => ("expectation change", "expectation changes"),
            Class::Input => ("input change", "input changes"),
            Class::Metadata => ("metadata change", "metadata changes"),
            Class::Added => ("added trial", "added trials"),
        };
        if count == 1 { one } else { many }
    }
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The version of this format.
    pub schema_version: String,
    /// The run before.
    pub a: RunFacts,
    /// The run after.
    pub b: RunFacts,
    /// Whether the two have different run ids. What follows from that alone is not a change.
    pub different_runs: bool,
    /// What is true of the whole runs and should be known when reading the rest.
    pub warnings: Vec<String>,
    /// Classes of what differs in manifest or configuration and was not allowed to: `toolchain`, `judge`, `dataset`, `target`,
    /// `prompt`, `setting`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_changes: Vec<String>,
    /// Trials with a record on both sides.
    pub common: u64,
    /// Common trials without any change.
    pub unchanged: u64,
    /// Class → records whose worst class it is; every class is listed.
    pub counts: BTreeMap<String, u64>,
    /// Class → records that have it, worst or not; every class is listed.
    pub counts_any: BTreeMap<String, u64>,
    /// Lines that are not records and have no equal line on the other side.
    pub unreadable_count: u64,
    /// The first of them.
    pub unreadable: Vec<Unreadable>,
    /// Changed records, worst first, at most as many as the limit.
    pub changes: Vec<Change>,
    /// Whether the difference in passed trials is more than noise, by target; empty where the kind of suite compares what it is
    /// about instead.
    pub targets: Vec<Noise>,
    /// What the kind of suite compares, the closing sentence first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<OwnChange>,
    /// Whether each target got worse by more than a margin, where that was asked.
    pub worse: Option<Vec<Worse>>,
    /// Whether single flips decide (`--fail-on-regressions`).
    pub counts_flips: bool,
    /// The tolerance for scores.
    pub tolerance: f64,
    /// Pointers that were not compared.
    pub ignored: Vec<String>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunFacts {
    /// The directory, as it was given.
    pub dir: String,
    /// From the manifest, else from the first record.
    pub run_id: Option<RunId>,
    /// The suite.
    pub suite_id: Option<String>,
    /// Whole lines in `records.jsonl`.
    pub lines: u64,
    /// Why the run is not whole; empty when it is.
    pub incomplete: Vec<String>,
    /// A last line without its end.
    pub torn: Option<Torn>,
    /// Records of different runs that do not stand on the line that their index says.
    pub misplaced: u64,
    /// The first such line.
    pub first_misplaced_line: Option<u64>,
}

/// A last line without its newline: cut off by a crash, and not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Torn {
    /// Its number, from 1.
    pub line: u64,
    /// How much of it there is.
    pub size_bytes: u64,
    /// Of what there is.
    pub sha256: Digest,
}

/// A line that is not a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unreadable {
    /// In which run.
    pub side: Side,
    /// Its number, from 1.
    pub line: u64,
    /// Why.
    pub what: String,
}

/// A changed record.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The worst of its classes.
    pub class: Class,
    /// All of its classes, worst first.
    pub classes: Vec<Class>,
    /// The trial.
    pub trial: Trial,
    /// Where it stands in A.
    pub a: Option<RecordPlace>,
    /// Where it stands in B.
    pub b: Option<RecordPlace>,
    /// What differs between the two, the most important first.
    pub fields: Vec<FieldChange>,
    /// How many further fields differ.
    pub more_fields: u64,
    /// What is wrong within one side.
    pub flaws: Vec<Flaw>,
}

/// Which trial a record is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trial {
    /// From slot, case, variant and repetition.
    pub record_id: Option<RecordId>,
    /// The case.
    pub case_id: String,
    /// The target's name in the suite.
    pub slot: String,
    /// The variant, if there is one.
    pub variant_id: Option<String>,
    /// Which repetition, from 0.
    pub repetition: u64,
}

/// Where a record stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
// The name that published schemas have.
#[schemars(rename = "Place")]
pub struct RecordPlace {
    /// Its line, from 1.
    pub line: u64,
    /// Its stored `index`.
    pub index: Option<u64>,
    /// Its `status`, as stored.
    pub status: Option<String>,
    /// Its `passed`.
    pub passed: Option<bool>,
}

/// One difference within a record.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FieldChange {
    /// RFC 6901 pointer into the record.
    pub pointer: String,
    /// In A; null where it is not there.
    pub old: Option<Excerpt>,
    /// In B; null where it is not there.
    pub new: Option<Excerpt>,
}

/// A value, shortened around the difference when it is long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Excerpt {
    /// `string`, `number`, `boolean`, `null`, `array` or `object`.
    pub kind: String,
    /// Text as it is; anything else as canonical JSON.
    pub text: String,
    /// Characters left out in front.
    pub cut_before: u64,
    /// Characters left out behind.
    pub cut_after: u64,
}

/// Something that does not follow from the rest of the line or from the run, as it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Flaw {
    /// In which run.
    pub side: Side,
    /// Which field.
    pub pointer: String,
    /// What is wrong.
    pub what: String,
    /// What the line says.
    pub stored: String,
    /// What it should say, where that is known.
    pub right: Option<String>,
}

impl Report {
    pub(super) fn new(pairing: &Pairing, mut findings: Findings, options: &Options) -> Self {
        let (a, b) = (&pairing.a, &pairing.b);
        let facts = |run: &Run, walked: &super::findings::Walked| RunFacts {
            dir: run.paths.dir.to_string(),
            run_id: run.identity.run_id,
            suite_id: run.manifest.as_ref().map(|manifest| manifest.suite_id.clone()),
            lines: walked.lines,
            incomplete: run.incomplete(walked),
            torn: walked.torn.clone(),
            misplaced: walked.misplaced,
            first_misplaced_line: walked.first_misplaced_line,
        };
        let changed: u64 = findings.changed_pairs;
        let warnings = settings::warnings(a, b);
        let silent = Silent { a: tally::silent(&a.paths), b: tally::silent(&b.paths) };
        let differs = |class: &RunClass| warnings.iter().any(|warning| warning.class == Some(*class));
        let forbidden = RunClass::ALL.into_iter().filter(|class| !options.allow.contains(class));
        let run_changes = forbidden.filter(differs).map(|class| class.as_str().to_owned()).collect();
        Self {
            schema_version: SCHEMA_VERSION.to_owned(),
            a: facts(a, &findings.walked_a),
            b: facts(b, &findings.walked_b),
            different_runs: !pairing.same_run,
            warnings: warnings.into_iter().map(|warning| warning.text).collect(),
            run_changes,
            common: findings.common,
            unchanged: findings.common - changed,
            counts: by_class(&findings.worst),
            counts_any: by_class(&findings.any),
            unreadable_count: findings.unreadable_count,
            targets: Noise::of(&mut findings.table, &silent),
            own: Vec::new(),
            worse: options.margin.map(|margin| Worse::of(&mut findings.table, margin, &silent)),
            counts_flips: options.flips,
            tolerance: options.tolerance,
            ignored: options.ignore.clone(),
            unreadable: findings.unreadable,
            changes: findings.kept.into_values().flatten().take(options.limit).collect(),
        }
    }

    /// How many records have `class` as their worst.
    pub fn count(&self, class: Class) -> u64 {
        self.counts.get(class.as_str()).copied().unwrap_or(0)
    }

    /// What can be said of passed trials, a sentence for each target, and whether each got worse.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        let targets = self.targets.iter().map(|target| target.sentence.as_str());
        let none = "no trial is in both runs, so nothing can be said about the pass rate";
        let none = (self.targets.is_empty() && self.own.is_empty()).then_some(none);
        let worse = self.worse.iter().flatten().map(|worse| worse.sentence.as_str());
        let own = self.own.iter().filter(|change| change.told).map(|change| change.sentence.as_str());
        own.chain(targets).chain(none).chain(worse)
    }

    /// Takes what the kind of suite compares in place of rates of passed trials.
    pub fn tell_own(&mut self, own: Vec<OwnChange>) {
        if !own.is_empty() {
            self.targets = Vec::new();
            self.own = own;
        }
    }

    /// How many records have any change, removed and added ones included.
    pub fn changed(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Whether anything differs that does not follow from the runs' identity alone.
    pub fn differs(&self) -> bool {
        self.changed() > 0
            || !self.run_changes.is_empty()
            || self.unreadable_count > 0
            || self.a.torn != self.b.torn
            || self.a.misplaced + self.b.misplaced > 0
    }
}

fn by_class(counts: &BTreeMap<Class, u64>) -> BTreeMap<String, u64> {
    Class::ALL
        .iter()
        .map(|class| (class.as_str().to_owned(), counts.get(class).copied().unwrap_or(0)))
        .collect()
}
