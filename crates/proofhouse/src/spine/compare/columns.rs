//! What runs say of each case, and the columns of it that are held against each other.

use std::collections::{BTreeMap, BTreeSet};

use proofhouse_ledger::files::{self, FileError};
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, HEAD, Kind, Line, Spans, TAGS};
use proofhouse_ledger::{Json, RunPaths};

use super::judged::Judged;
use super::{BestOf, CompareError, Compared, TargetReport};
use crate::spine::tally::silent;
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
    pub(super) judged: Judged,
    /// Targets that answered nothing which can be assessed.
    silent: BTreeSet<String>,
    /// Targets of which something was assessed.
    answered: BTreeSet<String>,
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
    /// It has no rate: nothing of it can be assessed.
    silent: bool,
}

impl Column<'_> {
    fn counts(&self, case: &str, measure: &Measure) -> Option<Counts> {
        if self.silent {
            return None;
        }
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
        let columns: Option<Vec<_>> = runs.iter().map(|run| run.column(target)).collect();
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

    /// Whether this column says anything of the case.
    fn has(&self, at: usize, case: &str) -> bool {
        self.counts(at, case).is_some_and(|counts| self.measure.share(counts).is_some())
    }

    /// Nothing where no task has so many trials as the measure needs.
    pub(super) fn told(&self, tag: Option<&str>, cases: &[&String], family: u64) -> Option<TargetReport> {
        let Columns { group: (target, columns), names, measure } = self;
        let all = 0..columns.len();
        // Who is best is asked on the cases that all of them met: a case that one did not meet counts neither for it nor against it.
        let met: Vec<usize> = all.clone().filter(|at| cases.iter().any(|case| self.has(*at, case))).collect();
        let shared: Vec<&String> =
            cases.iter().copied().filter(|case| met.iter().all(|at| self.has(*at, case))).collect();
        let means: Vec<f64> = all.clone().map(|at| self.mean(at, &shared)).collect();
        let top = all.clone().fold(0, |top, at| if means[at] > means[top] { at } else { top });
        let pairs: Vec<_> = chosen_pairs(columns.len(), top)
            .into_iter()
            .map(|(a, b)| (names[a].to_owned(), names[b].to_owned(), self.between(a, b, cases)))
            .collect();
        if self.measure.k > 1 && pairs.iter().all(|(_, _, differences)| differences.cases() == 0) {
            return None;
        }
        let silent: Vec<String> =
            all.clone().filter(|at| columns[*at].silent).map(|at| names[at].to_owned()).collect();
        let compared = compare_family(&pairs, family).into_iter();
        let compared = compared.map(|each| decisions::Comparison { is_harm: measure.is_harm, ..each });
        let comparisons =
            compared.map(|each| each.with_silent(|name| silent.iter().any(|silent| silent == name)));
        let comparisons = comparisons.map(|each| Compared::of(&each)).collect();
        // The best of harms would be the least: that is said by the pairs.
        let others: Vec<Candidate> = all
            .filter(|at| *at != top && columns.len() > 2 && tag.is_none() && !measure.is_harm)
            .map(|at| Candidate { name: names[at].to_owned(), against_best: self.between(top, at, &shared) })
            .collect();
        let some = cases.iter().filter(|case| met.iter().any(|at| self.has(*at, case))).count();
        let best = decisions::best(names[top], &others)
            .map(|best| best.among((some - shared.len()) as u64, silent))
            .map(|best| BestOf {
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
            comparisons,
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
        judged: Judged::read(config.clone().unwrap_or(Json::Null), paths),
        silent: silent(paths),
        answered: BTreeSet::new(),
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
        self.targets.keys().filter_map(|target| self.column(target))
    }

    fn column(&self, target: &str) -> Option<Column<'_>> {
        let silent = self.silent.contains(target) || !self.answered.contains(target);
        Some(Column { cases: self.targets.get(target)?, run: self, silent })
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), Damage> {
        if line.is_aside() {
            return Ok(());
        }
        let (case, slot) = (line.get(HEAD.case_id)?.into_owned(), line.get(HEAD.slot)?.into_owned());
        if line.get(HEAD.passed)?.is_some() && !self.answered.contains(&slot) {
            self.answered.insert(slot.clone());
        }
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
