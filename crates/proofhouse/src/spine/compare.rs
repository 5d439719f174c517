//! Runs of the same cases held against each other, by the decisions that compare targets within a run.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::record::Damage;
use schemars::JsonSchema;
use serde::Serialize;

use self::columns::{Columns, Group, Run, groups, read};
use super::tally::stats::decisions::{self, all_pairs};

mod columns;
mod judged;

pub use columns::{Measure, Measures};
pub(in crate::spine) use judged::{named, places_that_differ};

/// The version of the report's JSON.
const SCHEMA_VERSION: &str = "1.0";

/// Why runs could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is nothing of a run there.
    #[error(
        "`{0}` is not a run directory: it has no `records.jsonl`\n\nhint: give the directory that `proofhouse run` printed at its end"
    )]
    NotARun(camino::Utf8PathBuf),
    /// A line is no record.
    #[error(
        "`{path}` line {line} is damaged: {damage}\n\nhint: `proofhouse verify` says what is wrong with the run"
    )]
    Damaged {
        /// The file.
        path: camino::Utf8PathBuf,
        /// From 1.
        line: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// Not the same cases.
    #[error(
        "the runs are not of the same cases: {0}\n\nhint: `--on common` compares them on the cases that all of them have"
    )]
    Misaligned(String),
    /// Not the same targets.
    #[error(
        "the runs have several targets and none in common\n\nhint: compare runs of one target each, or of the same targets"
    )]
    NoTarget,
    /// Nothing of a kind that all have.
    #[error("the runs have nothing in common that their kinds of suite compare")]
    NoMeasure,
    /// No cases in common.
    #[error("the runs have no case in common")]
    NoCase,
}

/// What can be said.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The version of this format.
    pub schema_version: String,
    /// The runs, as they were given.
    pub runs: Vec<String>,
    /// How many cases all of them have.
    pub cases: u64,
    /// What a reader should know first.
    pub remarks: Vec<String>,
    /// By target; one without a name where each run has a single target. Empty where the kind of suite compares what it is about
    /// instead.
    pub targets: Vec<TargetReport>,
    /// The same on the cases of each tag that not all cases have. They are a family of their own for the adjustment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_tag: Vec<TargetReport>,
    /// What the kind of suite compares: each run with the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<OwnChange>,
}

/// What a kind of suite says about two of its runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OwnChange {
    /// What it is about; empty for what is said of all together.
    pub about: String,
    /// Of the test that both runs are alike, adjusted for all that is compared; null where there is none.
    pub adjusted_p: Option<f64>,
    /// Whether the difference is more than noise.
    pub more_than_noise: bool,
    /// Whether people are told: something changed, by noise or not.
    pub told: bool,
    /// All of that in words.
    pub sentence: String,
}

/// What can be said of one target.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TargetReport {
    /// Its name; null where each run has a single target.
    pub target: Option<String>,
    /// What is compared; absent for the share of passed trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// The tag whose cases alone are looked at; absent for all cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Whether more of it is worse.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_harm: bool,
    /// Pairs of runs: all of up to ten runs; of more, each with the first and with the best.
    pub comparisons: Vec<Compared>,
    /// Which of three or more runs is best.
    pub best: Option<BestOf>,
}

/// Two runs on the same cases.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    /// The first run.
    pub a: String,
    /// The second run.
    pub b: String,
    /// Cases assessed in both.
    pub cases: u64,
    /// The mean over cases of the second's pass rate minus the first's.
    pub difference: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Two-sided permutation test over cases.
    pub p_value: Option<f64>,
    /// The same, adjusted by Holm for all pairs of runs and all targets.
    pub adjusted_p: Option<f64>,
    /// Whether `adjusted_p` is below 0.05.
    pub more_than_noise: Option<bool>,
    /// All of that in words.
    pub sentence: String,
    /// The same in a few words, as a cell of a table has room for.
    pub in_short: String,
}

/// The run that did best.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BestOf {
    /// The run.
    pub run: String,
    /// How far the true best is above it at most.
    pub within: f64,
    /// Runs that may be the best in its place.
    pub rivals: Vec<String>,
    /// All of that in words.
    pub sentence: String,
}

impl Report {
    /// Every sentence, in order.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = self.remarks.clone();
        for target in &self.targets {
            let prefix = target.prefix();
            let best = target.best.iter().map(|best| &best.sentence);
            let pairs = target.comparisons.iter().map(|pair| &pair.sentence);
            all.extend(best.chain(pairs).map(|sentence| format!("{prefix}{sentence}")));
        }
        all.extend(self.tag_sentences());
        all.extend(self.own.iter().filter(|change| change.told).map(|change| change.sentence.clone()));
        all
    }

    /// Tags on which runs differ by more than noise, or that there are none: with many tags the others would only fill the screen.
    fn tag_sentences(&self) -> Vec<String> {
        let told = |report: &TargetReport| -> Vec<String> {
            let prefix = report.prefix();
            let differ = report.comparisons.iter().filter(|pair| pair.more_than_noise == Some(true));
            differ.map(|pair| format!("{prefix}{}", pair.sentence)).collect()
        };
        let tags: BTreeSet<&str> = self.by_tag.iter().filter_map(|report| report.tag.as_deref()).collect();
        let all: Vec<String> = self.by_tag.iter().flat_map(told).collect();
        match (all.is_empty(), tags.len()) {
            (_, 0) => Vec::new(),
            (true, 1) => {
                vec!["on the cases of the one tag alone, no difference is more than noise".to_owned()]
            }
            (true, count) => {
                vec![format!("on none of the {count} tags alone is a difference more than noise")]
            }
            (false, _) => all,
        }
    }

    /// Takes what the kind of suite compares in place of rates of passed trials.
    pub fn tell_own(&mut self, own: Vec<OwnChange>) {
        if !own.is_empty() {
            self.targets = Vec::new();
            self.by_tag = Vec::new();
            self.own = own;
        }
    }
}

impl TargetReport {
    /// Whose sentences they are: `m, attack success, tag x: `.
    fn prefix(&self) -> String {
        let tag = self.tag.as_ref().map(|tag| format!("tag {tag}"));
        let parts: Vec<String> =
            [self.target.clone(), self.measure.clone(), tag].into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!("{}: ", parts.join(", ")) }
    }

    /// The same as what a kind says about two runs.
    pub fn own_changes(&self) -> impl Iterator<Item = OwnChange> + '_ {
        self.comparisons.iter().map(|pair| OwnChange {
            about: self.prefix().trim_end_matches(": ").to_owned(),
            adjusted_p: pair.adjusted_p,
            more_than_noise: pair.more_than_noise == Some(true),
            told: true,
            sentence: format!("{}{}", self.prefix(), pair.sentence),
        })
    }
}

/// On which cases runs are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cases {
    /// They have to be the same, asked in the same way.
    Same,
    /// Those that all of them have and ask in the same way.
    Common,
    /// Those of the same name, however they are asked: another prompt is what is tried.
    Named,
}

/// Compares runs.
pub fn compare(runs: &[(String, RunPaths)], on: Cases, measures: Measures) -> Result<Report, CompareError> {
    let runs: Vec<Run> =
        runs.iter().map(|(name, paths)| read(name, paths, measures)).collect::<Result<_, _>>()?;
    let mut cases: Vec<&String> = runs.first().map(|run| run.inputs.keys().collect()).unwrap_or_default();
    let has = |run: &Run, case: &String| match on {
        Cases::Named => run.inputs.contains_key(case),
        _ => run.inputs.get(case) == runs[0].inputs.get(case),
    };
    cases.retain(|case| runs.iter().all(|run| has(run, case)));
    let mut remarks = Vec::new();
    if let Some(other) = runs.iter().find(|run| run.inputs.len() != cases.len()) {
        let what = format!(
            "{} of {} cases of `{}` are in all of them with the same input",
            cases.len(),
            other.inputs.len(),
            other.name
        );
        if on == Cases::Same {
            return Err(CompareError::Misaligned(what));
        }
        remarks.push(format!("compared on {} common cases only: {what}", cases.len()));
    }
    if cases.is_empty() {
        return Err(CompareError::NoCase);
    }
    let groups = groups(&runs)?;
    for other in &runs[1..] {
        if let Some(what) = runs[0].judged.otherwise(&other.judged) {
            remarks.push(format!(
                "{} and {} were judged otherwise ({what}): a difference may be the judging's and not the target's",
                runs[0].name, other.name
            ));
        }
    }
    for run in &runs {
        // A case's trials are of one measure, or of all.
        let cases = run.targets.values().flat_map(BTreeMap::values);
        let open: u64 = cases
            .map(|counts| counts.iter().map(|counts| counts.trials - counts.assessed).max().unwrap_or(0))
            .sum();
        if open > 0 {
            remarks.push(format!("{}: {open} trials were not assessed and are in no comparison", run.name));
        }
    }
    let passed = [Measure::passed()];
    // What all runs have: a kind may have more to compare in one suite than in another.
    let measures: Vec<&Measure> = match runs[0].measures.as_deref() {
        None | Some([]) => passed.iter().collect(),
        Some(own) => {
            let known = |run: &Run, name: &str| run.measures.iter().flatten().any(|each| each.name == name);
            own.iter().filter(|each| runs.iter().all(|run| known(run, &each.name))).collect()
        }
    };
    if measures.is_empty() {
        return Err(CompareError::NoMeasure);
    }
    let family = all_pairs(runs.len()) * (groups.len() * measures.len()) as u64;
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let each = |group: &Group<'_>, tag: Option<&str>, cases: &[&String], family: u64| -> Vec<TargetReport> {
        let columns = measures.iter().map(|measure| Columns { group, names: &names, measure });
        columns.filter_map(|columns| columns.told(tag, cases, family)).collect()
    };
    let targets = groups.iter().flat_map(|group| each(group, None, &cases, family)).collect();
    let by_tag: Vec<(&String, Vec<&String>)> = runs[0]
        .tags
        .iter()
        .map(|(tag, own)| (tag, cases.iter().copied().filter(|case| own.contains(*case)).collect::<Vec<_>>()))
        .filter(|(_, own)| !own.is_empty() && own.len() < cases.len())
        .collect();
    let family = family * by_tag.len() as u64;
    let by_tag = groups
        .iter()
        .flat_map(|group| by_tag.iter().flat_map(|(tag, own)| each(group, Some(tag), own, family)))
        .collect();
    Ok(Report {
        schema_version: SCHEMA_VERSION.to_owned(),
        runs: names.iter().map(|name| (*name).to_owned()).collect(),
        cases: cases.len() as u64,
        remarks,
        targets,
        by_tag,
        own: Vec::new(),
    })
}

impl Compared {
    fn of(decided: &decisions::Comparison) -> Self {
        Self {
            a: decided.a.clone(),
            b: decided.b.clone(),
            cases: decided.cases,
            difference: decided.difference,
            low: decided.interval.map(|interval| interval.low),
            high: decided.interval.map(|interval| interval.high),
            p_value: decided.p,
            adjusted_p: decided.adjusted_p,
            more_than_noise: decided.more_than_noise(),
            sentence: decided.sentence(),
            in_short: decided.in_short(),
        }
    }
}
