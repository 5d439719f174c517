//! What runs say of each case, and the columns of it that are held against each other.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, HEAD, Kind, Line, Spans, TAGS};
use proofhouse_ledger::{Json, RunPaths};

use super::{BestOf, CompareError, Compared, TargetReport};
use crate::spine::tally::stats::decisions::{self, Candidate, Differences, chosen_pairs, compare_family};
use crate::spine::tally::stats::pass_at_k;
use crate::text::yaml;

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
pub(super) struct Run {
    pub(super) name: String,
    pub(super) measures: Option<Vec<Measure>>,
    /// Target → case → its counts, of each measure.
    pub(super) targets: BTreeMap<String, BTreeMap<String, Vec<Counts>>>,
    /// Case → the digest of what was asked first.
    pub(super) inputs: BTreeMap<String, String>,
    /// Tag → its cases.
    pub(super) tags: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Default, Clone, Copy)]
pub(super) struct Counts {
    passed: u64,
    pub(super) assessed: u64,
    pub(super) trials: u64,
}

/// A target and its column in each run.
pub(super) type Group<'r> = (Option<String>, Vec<Column<'r>>);

/// A target's counts in one run, by case and measure, and where that run has which measure.
#[derive(Clone, Copy)]
pub(super) struct Column<'r> {
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
pub(super) fn groups(runs: &[Run]) -> Result<Vec<Group<'_>>, CompareError> {
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
pub(super) struct Columns<'c> {
    pub(super) group: &'c Group<'c>,
    pub(super) names: &'c [&'c str],
    pub(super) measure: &'c Measure,
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

    /// Nothing where no task has so many trials as the measure needs.
    pub(super) fn told(&self, tag: Option<&str>, cases: &[&String], family: u64) -> Option<TargetReport> {
        let Columns { group: (target, columns), names, measure } = self;
        let means: Vec<f64> = (0..columns.len()).map(|at| self.mean(at, cases)).collect();
        let top = (0..means.len()).fold(0, |top, at| if means[at] > means[top] { at } else { top });
        let pairs: Vec<_> = chosen_pairs(columns.len(), top)
            .into_iter()
            .map(|(a, b)| (names[a].to_owned(), names[b].to_owned(), self.between(a, b, cases)))
            .collect();
        if self.measure.k > 1 && pairs.iter().all(|(_, _, differences)| differences.cases() == 0) {
            return None;
        }
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
        Some(TargetReport {
            target: target.clone(),
            measure: (!measure.name.is_empty()).then(|| measure.name.clone()),
            tag: tag.map(str::to_owned),
            is_harm: measure.is_harm,
            comparisons: comparisons.iter().map(Compared::of).collect(),
            best,
        })
    }
}

impl Measure {
    /// The share of passed trials.
    pub(super) fn passed() -> Self {
        let of = |line: &Line<'_>| line.get(HEAD.passed).map(Some);
        Self { name: String::new(), of, k: 1, is_harm: false }
    }

    /// Of one case; none where it cannot be told.
    fn share(&self, counts: Counts) -> Option<f64> {
        pass_at_k(counts.assessed, counts.passed, self.k)
    }
}

/// Reads a run's verdicts.
pub(super) fn read(name: &str, paths: &RunPaths, measures: Measures) -> Result<Run, CompareError> {
    let config = files::read(&paths.config()).ok();
    let config: Option<Json> = config.and_then(|bytes| yaml::read_bytes(&bytes).ok());
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
