//! Runs of the same cases held against each other, by the decisions that compare targets within a run.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, HEAD, Line, Spans, TAGS};
use schemars::JsonSchema;
use serde::Serialize;

use super::tally::stats::decisions::{self, Candidate, Differences, all_pairs, chosen_pairs, compare_family};

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
    /// No cases in common.
    #[error("the runs have no case in common")]
    NoCase,
}

/// One run's verdicts.
struct Run {
    name: String,
    /// Target → case → its counts.
    targets: BTreeMap<String, BTreeMap<String, Counts>>,
    /// Case → the digest of what was asked first.
    inputs: BTreeMap<String, String>,
    /// Tag → its cases.
    tags: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Default, Clone, Copy)]
struct Counts {
    passed: u64,
    assessed: u64,
    trials: u64,
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
    /// The tag whose cases alone are looked at; absent for all cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
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
            let prefix = target.target.as_ref().map_or(String::new(), |name| format!("{name}: "));
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
            let target = report.target.as_ref().map_or(String::new(), |name| format!("{name}, "));
            let tag = report.tag.as_deref().unwrap_or_default();
            let differ = report.comparisons.iter().filter(|pair| pair.more_than_noise == Some(true));
            differ.map(|pair| format!("{target}tag {tag}: {}", pair.sentence)).collect()
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

/// Compares runs; `common`: on the cases that all of them have, where they are not the same.
pub fn compare(runs: &[(String, RunPaths)], common: bool) -> Result<Report, CompareError> {
    let runs: Vec<Run> = runs.iter().map(|(name, paths)| read(name, paths)).collect::<Result<_, _>>()?;
    let mut cases: Vec<&String> = runs.first().map(|run| run.inputs.keys().collect()).unwrap_or_default();
    cases.retain(|case| runs.iter().all(|run| run.inputs.get(*case) == runs[0].inputs.get(*case)));
    let mut remarks = Vec::new();
    if let Some(other) = runs.iter().find(|run| run.inputs.len() != cases.len()) {
        let what = format!(
            "{} of {} cases of `{}` are in all of them with the same input",
            cases.len(),
            other.inputs.len(),
            other.name
        );
        if !common {
            return Err(CompareError::Misaligned(what));
        }
        remarks.push(format!("compared on {} common cases only: {what}", cases.len()));
    }
    if cases.is_empty() {
        return Err(CompareError::NoCase);
    }
    let groups = groups(&runs)?;
    for run in &runs {
        let counts = run.targets.values().flat_map(BTreeMap::values);
        let open: u64 = counts.map(|counts| counts.trials - counts.assessed).sum();
        if open > 0 {
            remarks.push(format!("{}: {open} trials were not assessed and are in no comparison", run.name));
        }
    }
    let family = all_pairs(runs.len()) * groups.len() as u64;
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let targets = groups.iter().map(|group| told(group, None, &names, &cases, family)).collect();
    let by_tag: Vec<(&String, Vec<&String>)> = runs[0]
        .tags
        .iter()
        .map(|(tag, own)| (tag, cases.iter().copied().filter(|case| own.contains(*case)).collect::<Vec<_>>()))
        .filter(|(_, own)| !own.is_empty() && own.len() < cases.len())
        .collect();
    let family = family * by_tag.len() as u64;
    let by_tag = groups
        .iter()
        .flat_map(|group| by_tag.iter().map(|(tag, own)| told(group, Some(tag), &names, own, family)))
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

/// A target and its column in each run.
type Group<'r> = (Option<String>, Vec<&'r BTreeMap<String, Counts>>);

/// What is held against each other: the only target of each run, or each target that all runs have.
fn groups(runs: &[Run]) -> Result<Vec<Group<'_>>, CompareError> {
    if runs.iter().all(|run| run.targets.len() == 1) {
        return Ok(vec![(None, runs.iter().flat_map(|run| run.targets.values()).collect())]);
    }
    let shared = runs[0].targets.keys().filter_map(|target| {
        let columns: Option<Vec<_>> = runs.iter().map(|run| run.targets.get(target)).collect();
        Some((Some(target.clone()), columns?))
    });
    let shared: Vec<Group<'_>> = shared.collect();
    if shared.is_empty() { Err(CompareError::NoTarget) } else { Ok(shared) }
}

fn told(
    (target, columns): &Group<'_>,
    tag: Option<&str>,
    names: &[&str],
    cases: &[&String],
    family: u64,
) -> TargetReport {
    let mean = |at: usize| {
        let counts =
            cases.iter().filter_map(|case| columns[at].get(*case)).filter(|counts| counts.assessed > 0);
        let (sum, count) = counts.fold((0.0, 0u64), |(sum, count), counts| {
            (sum + counts.passed as f64 / counts.assessed as f64, count + 1)
        });
        if count == 0 { f64::NEG_INFINITY } else { sum / count as f64 }
    };
    let means: Vec<f64> = (0..columns.len()).map(mean).collect();
    let top = (0..means.len()).fold(0, |top, at| if means[at] > means[top] { at } else { top });
    let between = |a: usize, b: usize| {
        let mut differences = Differences::default();
        for case in cases {
            if let (Some(a), Some(b)) = (columns[a].get(*case), columns[b].get(*case)) {
                differences.push((a.passed, a.assessed), (b.passed, b.assessed));
            }
        }
        differences
    };
    let pairs: Vec<_> = chosen_pairs(columns.len(), top)
        .into_iter()
        .map(|(a, b)| (names[a].to_owned(), names[b].to_owned(), between(a, b)))
        .collect();
    let comparisons = compare_family(&pairs, family).iter().map(Compared::of).collect();
    let others: Vec<Candidate> = (0..columns.len())
        .filter(|at| *at != top && columns.len() > 2 && tag.is_none())
        .map(|at| Candidate { name: names[at].to_owned(), against_best: between(top, at) })
        .collect();
    let best = decisions::best(names[top], &others).map(|best| BestOf {
        sentence: best.sentence(),
        run: best.name,
        within: best.within,
        rivals: best.rivals,
    });
    TargetReport { target: target.clone(), tag: tag.map(str::to_owned), comparisons, best }
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
        }
    }
}

/// Reads a run's verdicts.
fn read(name: &str, paths: &RunPaths) -> Result<Run, CompareError> {
    let mut run = Run {
        name: name.to_owned(),
        targets: BTreeMap::new(),
        inputs: BTreeMap::new(),
        tags: BTreeMap::new(),
    };
    let path = paths.records();
    if !path.exists() {
        return Err(CompareError::NotARun(paths.dir.clone()));
    }
    let mut reader = LineReader::open(&path)?;
    let mut spans = Spans::default();
    let mut number = 0;
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", &path))?;
        if block.is_empty() {
            return Ok(run);
        }
        for line in lines(block) {
            number += 1;
            let taken = Line::split(line, &mut spans).and_then(|line| run.take(&line));
            taken.map_err(|damage| CompareError::Damaged { path: path.clone(), line: number, damage })?;
        }
    }
}

impl Run {
    fn take(&mut self, line: &Line<'_>) -> Result<(), Damage> {
        let (case, slot) = (line.get(HEAD.case_id)?.into_owned(), line.get(HEAD.slot)?.into_owned());
        let passed = line.get(HEAD.passed)?;
        let counts = self.targets.entry(slot).or_default().entry(case.clone()).or_default();
        counts.trials += 1;
        counts.assessed += u64::from(passed.is_some());
        counts.passed += u64::from(passed == Some(true));
        if let std::collections::btree_map::Entry::Vacant(entry) = self.inputs.entry(case.clone()) {
            entry.insert(line.get(HEAD.input_fingerprint)?.to_string());
            for tag in line.get(TAGS).unwrap_or_default() {
                self.tags.entry(tag).or_default().insert(case.clone());
            }
        }
        Ok(())
    }
}
