//! Runs held against each other on one page: what can be said of them first, then the cases that got worse, side by side and word by word.
//!
//! Each run is read once for its verdicts and once for the texts of the cases that are shown, so memory grows with cases and not with
//! trials.

use std::collections::BTreeMap;

use camino::Utf8Path;
use proofhouse_ledger::RunPaths;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, HEAD, Line, Spans};

use super::embed::Source;
use super::failures::FailureDetails;
use super::survey::LinePlace;
use super::{OfKind, ReportError, read};

pub(super) mod page;

/// Cases of a class that are shown; the rest is counted.
const MAX_CASES: usize = 200;

/// One case on one target in every run.
#[derive(Debug)]
pub(super) struct Case {
    /// The target; empty where each run has a single one under another name.
    pub(super) slot: String,
    pub(super) case: String,
    pub(super) variant: Option<String>,
    /// What each run has of it.
    pub(super) runs: Vec<Option<Trials>>,
    pub(super) class: Class,
}

/// The trials of a case in one run.
#[derive(Debug, Clone)]
pub(super) struct Trials {
    pub(super) passed: u64,
    pub(super) assessed: u64,
    pub(super) trials: u64,
    /// What was answered, whatever the order of repetitions.
    answers: u64,
    /// The trial that is shown: one that failed, where there is one.
    place: LinePlace,
    failed: bool,
    pub(super) told: FailureDetails,
}

impl Trials {
    fn share(&self) -> Option<f64> {
        (self.assessed > 0).then(|| self.passed as f64 / self.assessed as f64)
    }
}

/// What became of a case, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// A later run passes less of it than the first one, or can no longer be assessed.
    Worse,
    /// A later run passes more of it.
    Better,
    /// The verdicts are alike, the answers are not.
    Other,
    /// Nothing to see.
    Same,
}

impl Class {
    fn of(runs: &[Option<Trials>]) -> Class {
        let shares: Vec<Option<f64>> = runs.iter().map(|run| run.as_ref().and_then(Trials::share)).collect();
        let later = &shares[1..];
        match shares[0] {
            Some(first) if later.iter().any(|share| share.is_none_or(|share| share < first)) => Class::Worse,
            Some(first) if later.iter().flatten().any(|share| *share > first) => Class::Better,
            None if later.iter().any(Option::is_some) => Class::Better,
            _ => {
                let answers: Vec<Option<u64>> =
                    runs.iter().map(|run| run.as_ref().map(|run| run.answers)).collect();
                if answers.iter().all(|each| *each == answers[0]) { Class::Same } else { Class::Other }
            }
        }
    }
}

/// The cases of all runs, and how many there are of each class.
#[derive(Debug, Default)]
pub(super) struct Versus {
    /// Those that are shown, worst first, in the order of the plan.
    pub(super) shown: Vec<Case>,
    /// How many there are of each class.
    pub(super) counts: BTreeMap<Class, usize>,
}

/// Target, case and variant.
type Key = (String, String, Option<String>);

/// Reads the runs.
pub(super) fn versus(runs: &[(String, RunPaths)], kinds: OfKind) -> Result<Versus, ReportError> {
    let mut order: Vec<Key> = Vec::new();
    let mut cases: BTreeMap<Key, Vec<Option<Trials>>> = BTreeMap::new();
    let single = runs.iter().map(|(_, run)| slots(run)).collect::<Result<Vec<_>, _>>()?;
    // One target in each run is one column, whatever it is called.
    let nameless = single.iter().all(|slots| *slots == 1);
    for (at, (_, run)) in runs.iter().enumerate() {
        each(&run.records(), |line, place| {
            let slot = if nameless { String::new() } else { line.get(HEAD.slot)?.into_owned() };
            let variant = line.get(HEAD.variant_id)?.map(|variant| variant.into_owned());
            let key = (slot, line.get(HEAD.case_id)?.into_owned(), variant);
            let of_runs = cases.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                vec![None; runs.len()]
            });
            add(&mut of_runs[at], line, place)
        })?;
    }
    let mut found = Versus::default();
    let mut all: Vec<Case> = Vec::new();
    for key in order {
        let runs = cases.remove(&key).unwrap_or_default();
        let class = Class::of(&runs);
        let count = found.counts.entry(class).or_default();
        *count += 1;
        if class != Class::Same && *count <= MAX_CASES {
            let (slot, case, variant) = key;
            all.push(Case { slot, case, variant, runs, class });
        }
    }
    all.sort_by_key(|case| case.class);
    for (at, (_, run)) in runs.iter().enumerate() {
        tell(&mut all, at, run, kinds)?;
    }
    found.shown = all;
    Ok(found)
}

/// How many targets a run has.
fn slots(run: &RunPaths) -> Result<usize, ReportError> {
    let summary: proofhouse_ledger::summary::Summary = read(&run.summary(), "summary.json")?;
    Ok(summary.slots.len())
}

fn each(
    path: &Utf8Path,
    mut take: impl FnMut(&Line<'_>, LinePlace) -> Result<(), Damage>,
) -> Result<(), ReportError> {
    let (mut reader, mut spans) = (LineReader::open(path)?, Spans::default());
    let mut place = LinePlace { offset: 0, length: 0, line: 0 };
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", path))?;
        if block.is_empty() {
            return Ok(());
        }
        for bytes in lines(block) {
            place.line += 1;
            place.length = bytes.len() as u32;
            Line::split(bytes, &mut spans)
                .and_then(|line| take(&line, place))
                .map_err(|source| ReportError::Record { line: place.line, source })?;
            place.offset += bytes.len() as u64 + 1;
        }
    }
}

fn add(trials: &mut Option<Trials>, line: &Line<'_>, place: LinePlace) -> Result<(), Damage> {
    let passed = line.get(HEAD.passed)?;
    let (told, failed) = (FailureDetails::default(), passed == Some(false));
    let digest = line.raw(HEAD.output_sha256).unwrap_or_default();
    let answer = digest
        .iter()
        .fold(1469598103934665603u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(1099511628211));
    let found =
        trials.get_or_insert(Trials { passed: 0, assessed: 0, trials: 0, answers: 0, place, failed, told });
    found.trials += 1;
    found.assessed += u64::from(passed.is_some());
    found.passed += u64::from(passed == Some(true));
    found.answers = found.answers.wrapping_add(answer);
    if failed && !found.failed {
        (found.place, found.failed) = (place, true);
    }
    Ok(())
}

/// Reads the texts of what is shown of one run, in the order of its file.
fn tell(cases: &mut [Case], at: usize, run: &RunPaths, kinds: OfKind) -> Result<(), ReportError> {
    let summary: proofhouse_ledger::summary::Summary = read(&run.summary(), "summary.json")?;
    let Some(told) = kinds(summary.kind).failure else { return Ok(()) };
    let mut shown: Vec<&mut Trials> = cases.iter_mut().filter_map(|case| case.runs[at].as_mut()).collect();
    shown.sort_by_key(|trials| trials.place.offset);
    let path = run.records();
    let mut source = Source::open(&path)?;
    let mut spans = Spans::default();
    for trials in shown {
        let place = trials.place;
        let bytes = source.line(place)?;
        trials.told = Line::split(bytes, &mut spans)
            .and_then(|line| told(&line))
            .map_err(|source| ReportError::Record { line: place.line, source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(passed: u64, assessed: u64, answers: u64) -> Option<Trials> {
        let place = LinePlace { offset: 0, length: 0, line: 0 };
        Some(Trials {
            passed,
            assessed,
            trials: 3,
            answers,
            place,
            failed: false,
            told: FailureDetails::default(),
        })
    }

    #[test]
    fn a_case_is_worse_where_any_later_run_passes_less_of_it() {
        for (runs, class) in [
            (vec![trials(3, 3, 1), trials(2, 3, 1)], Class::Worse),
            (vec![trials(3, 3, 1), trials(0, 0, 1)], Class::Worse),
            (vec![trials(3, 3, 1), None], Class::Worse),
            (vec![trials(1, 3, 1), trials(2, 3, 1), trials(0, 3, 1)], Class::Worse),
            (vec![trials(1, 3, 1), trials(2, 3, 1)], Class::Better),
            (vec![trials(0, 0, 1), trials(0, 3, 1)], Class::Better),
            (vec![trials(2, 2, 1), trials(3, 3, 2)], Class::Other),
            (vec![trials(2, 2, 1), trials(3, 3, 1)], Class::Same),
        ] {
            assert_eq!(Class::of(&runs), class, "{runs:?}");
        }
    }
}
