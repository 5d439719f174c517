//! Runs of the same cases held against each other, by the decisions that compare targets within a run.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, HEAD, Kind, Line, Spans, TAGS};
use proofhouse_ledger::{Json, RunPaths};
use schemars::JsonSchema;
use serde::Serialize;

use super::tally::stats::decisions::{self, Candidate, Differences, all_pairs, chosen_pairs, compare_family};
use super::tally::stats::pass_at_k;

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

/// What a kind compares in place of the share of passed trials.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Its name in sentences: `attack success`.
    pub name: String,
    /// What a trial counts for: nothing where it is none of its trials, `Some(None)` where it could not be assessed.
    pub of: fn(&Line<'_>) -> Result<Option<Option<bool>>, Damage>,
    /// The chance that one of so many trials succeeds: 1 for the share.
    pub k: u64,
    /// Whether more of it is worse.
    pub is_harm: bool,
}

/// Opens what a kind compares in runs with this resolved configuration; nothing where the share of passed trials says it.
pub type Measures = fn(Kind, &Json) -> Vec<Measure>;

/// One run's verdicts.
struct Run {
    name: String,
    measures: Option<Vec<Measure>>,
    /// Target → case → its counts, of each measure.
    targets: BTreeMap<String, BTreeMap<String, Vec<Counts>>>,
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
    /// What is compared; absent for the share of passed trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
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

/// Compares runs; `common`: on the cases that all of them have, where they are not the same.
pub fn compare(
    runs: &[(String, RunPaths)],
    common: bool,
    measures: Measures,
) -> Result<Report, CompareError> {
    let runs: Vec<Run> =
        runs.iter().map(|(name, paths)| read(name, paths, measures)).collect::<Result<_, _>>()?;
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
        let counts = run.targets.values().flat_map(BTreeMap::values).filter_map(|counts| counts.first());
        let open: u64 = counts.map(|counts| counts.trials - counts.assessed).sum();
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
        columns.map(|columns| columns.told(tag, cases, family)).collect()
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

/// A target and its column in each run.
type Group<'r> = (Option<String>, Vec<Column<'r>>);

/// A target's counts in one run, by case and measure, and where that run has which measure.
#[derive(Clone, Copy)]
struct Column<'r> {
    cases: &'r BTreeMap<String, Vec<Counts>>,
    run: &'r Run,
}

impl Column<'_> {
    fn counts(&self, case: &str, measure: &Measure) -> Option<Counts> {
        let at = match self.run.measures.as_deref() {
            None | Some([]) => 0,
            Some(own) => own.iter().position(|each| each.name == measure.name)?,
        };
        self.cases.get(case)?.get(at).copied()
    }
}

/// What is held against each other: the only target of each run, or each target that all runs have.
fn groups(runs: &[Run]) -> Result<Vec<Group<'_>>, CompareError> {
    if runs.iter().all(|run| run.targets.len() == 1) {
        let only = |run| Run::columns(run).next();
        return Ok(vec![(None, runs.iter().filter_map(only).collect())]);
    }
    let shared = runs[0].targets.keys().filter_map(|target| {
        let columns: Option<Vec<_>> =
            runs.iter().map(|run| Some(Column { cases: run.cases(target)?, run })).collect();
        Some((Some(target.clone()), columns?))
    });
    let shared: Vec<Group<'_>> = shared.collect();
    if shared.is_empty() { Err(CompareError::NoTarget) } else { Ok(shared) }
}

/// Columns of one measure.
struct Columns<'c> {
    group: &'c Group<'c>,
    names: &'c [&'c str],
    measure: &'c Measure,
}

impl Columns<'_> {
    fn counts(&self, at: usize, case: &str) -> Option<Counts> {
        self.group.1[at].counts(case, self.measure)
    }

    fn mean(&self, at: usize, cases: &[&String]) -> f64 {
        let counts = cases.iter().filter_map(|case| self.counts(at, case));
        let (sum, count) = counts
            .filter_map(|counts| self.measure.share(counts))
            .fold((0.0, 0u64), |(sum, count), share| (sum + share, count + 1));
        match count {
            0 => f64::NEG_INFINITY,
            _ if self.measure.is_harm => -sum / count as f64,
            _ => sum / count as f64,
        }
    }

    fn between(&self, a: usize, b: usize, cases: &[&String]) -> Differences {
        let mut differences = Differences::default();
        for case in cases {
            let (Some(a), Some(b)) = (self.counts(a, case), self.counts(b, case)) else { continue };
            match (self.measure.k, self.measure.share(a), self.measure.share(b)) {
                (1, ..) => differences.push((a.passed, a.assessed), (b.passed, b.assessed)),
                (_, Some(a), Some(b)) => differences.push_shares(a, b),
                _ => {}
            }
        }
        differences
    }

    fn told(&self, tag: Option<&str>, cases: &[&String], family: u64) -> TargetReport {
        let Columns { group: (target, columns), names, measure } = self;
        let means: Vec<f64> = (0..columns.len()).map(|at| self.mean(at, cases)).collect();
        let top = (0..means.len()).fold(0, |top, at| if means[at] > means[top] { at } else { top });
        let pairs: Vec<_> = chosen_pairs(columns.len(), top)
            .into_iter()
            .map(|(a, b)| (names[a].to_owned(), names[b].to_owned(), self.between(a, b, cases)))
            .collect();
        let mut comparisons = compare_family(&pairs, family);
        comparisons.iter_mut().for_each(|each| each.is_harm = measure.is_harm);
        // The best of harms would be the least: that is said by the pairs.
        let others: Vec<Candidate> = (0..columns.len())
            .filter(|at| *at != top && columns.len() > 2 && tag.is_none() && !measure.is_harm)
            .map(|at| Candidate { name: names[at].to_owned(), against_best: self.between(top, at, cases) })
            .collect();
        let best = decisions::best(names[top], &others).map(|best| BestOf {
            sentence: best.sentence(),
            run: best.name,
            within: best.within,
            rivals: best.rivals,
        });
        TargetReport {
            target: target.clone(),
            measure: (!measure.name.is_empty()).then(|| measure.name.clone()),
            tag: tag.map(str::to_owned),
            comparisons: comparisons.iter().map(Compared::of).collect(),
            best,
        }
    }
}

impl Measure {
    /// The share of passed trials.
    fn passed() -> Self {
        let of = |line: &Line<'_>| line.get(HEAD.passed).map(Some);
        Self { name: String::new(), of, k: 1, is_harm: false }
    }

    /// Of one case; none where it cannot be told.
    fn share(&self, counts: Counts) -> Option<f64> {
        pass_at_k(counts.assessed, counts.passed, self.k)
    }
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
fn read(name: &str, paths: &RunPaths, measures: Measures) -> Result<Run, CompareError> {
    let config = files::read(&paths.config()).ok();
    let config: Option<Json> =
        config.and_then(|bytes| serde_saphyr::from_str(&String::from_utf8_lossy(&bytes)).ok());
    let mut run = Run {
        name: name.to_owned(),
        measures: None,
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
            let taken = Line::split(line, &mut spans).and_then(|line| {
                if run.measures.is_none() {
                    run.measures = Some(measures(line.kind()?, config.as_ref().unwrap_or(&Json::Null)));
                }
                run.take(&line)
            });
            taken.map_err(|damage| CompareError::Damaged { path: path.clone(), line: number, damage })?;
        }
    }
}

impl Run {
    fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        self.targets.values().map(|cases| Column { cases, run: self })
    }

    fn cases(&self, target: &str) -> Option<&BTreeMap<String, Vec<Counts>>> {
        self.targets.get(target)
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), Damage> {
        if line.is_aside() {
            return Ok(());
        }
        let (case, slot) = (line.get(HEAD.case_id)?.into_owned(), line.get(HEAD.slot)?.into_owned());
        let passed = [Measure::passed()];
        let measures = self.measures.as_deref().filter(|own| !own.is_empty()).unwrap_or(&passed);
        let all = self.targets.entry(slot).or_default().entry(case.clone()).or_default();
        all.resize(measures.len(), Counts::default());
        for (counts, measure) in all.iter_mut().zip(measures) {
            let Some(counted) = (measure.of)(line)? else { continue };
            counts.trials += 1;
            counts.assessed += u64::from(counted.is_some());
            counts.passed += u64::from(counted == Some(true));
        }
        if let std::collections::btree_map::Entry::Vacant(entry) = self.inputs.entry(case.clone()) {
            entry.insert(line.get(HEAD.input_fingerprint)?.to_string());
            for tag in line.get(TAGS).unwrap_or_default() {
                self.tags.entry(tag).or_default().insert(case.clone());
            }
        }
        Ok(())
    }
}
