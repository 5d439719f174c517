//! The first reading of the records: outcomes per target, the heat map, and which records the page will hold.
//!
//! It remembers where the chosen lines are, so that the second reading touches only those.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use proofhouse_ledger::files::FileError;
use proofhouse_ledger::read::{LineReader, lines};
use proofhouse_ledger::record::{Damage, HEAD, Line, Spans, Status};
use proofhouse_ledger::summary::Summary;

use super::embed::{self, CLIP_BYTES, MAX_DATA_BYTES};
use super::own::{OwnPresentation, OwnSurvey};
use super::{ReportError, parts};

/// At most this many records are embedded in a page: those that did not pass first.
pub const MAX_EMBEDDED: usize = 100_000;
/// Records in the page itself where there are more than that: the rest lies beside it, in parts.
pub const EMBEDDED_OF_MANY: usize = 20_000;
/// A heat map is drawn for at most this many cases.
pub const MAX_HEAT_CASES: usize = 200;
/// A heat map has at most this many cells (cases × targets).
pub const MAX_HEAT_CELLS: usize = 2_000;

/// What one reading of the records gives.
#[derive(Debug)]
pub(crate) struct Survey {
    /// Lines of the file.
    pub(crate) records: u64,
    /// Each slot of the summary, in its order.
    pub(crate) outcomes: Vec<Outcomes>,
    /// Null where there are too many cases for one.
    pub(crate) heat: Option<Heat>,
    /// The lines that the page will hold, in the file's order.
    pub(crate) chosen: Vec<LinePlace>,
    /// Bytes of a text that the page keeps.
    pub(crate) clip_bytes: usize,
    /// Raw cases that nobody is scored against.
    pub(crate) excluded: BTreeSet<Vec<u8>>,
    /// What the kind looked for.
    own: Option<Box<dyn OwnSurvey>>,
}

impl Survey {
    /// How many parts lie beside the page; none where it holds everything.
    pub(crate) fn parts(&self) -> u64 {
        if self.records > MAX_EMBEDDED as u64 { self.records.div_ceil(parts::RECORDS as u64) } else { 0 }
    }

    /// What the kind looked for, as its own type.
    pub(crate) fn own<T: OwnSurvey>(&self) -> Option<&T> {
        let own: &dyn Any = self.own.as_deref()?;
        own.downcast_ref()
    }
}

/// Where a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinePlace {
    /// Its first byte.
    pub(crate) offset: u64,
    /// Its bytes without the newline.
    pub(crate) length: u32,
    /// From 1.
    pub(crate) line: u64,
}

/// Records of one slot by status (in the order of `Status::ALL`) and verdict.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcomes([Verdicts; Status::ALL.len()]);

#[derive(Debug, Clone, Copy, Default)]
struct Verdicts {
    passed: u64,
    failed: u64,
    none: u64,
}

impl Outcomes {
    fn add(&mut self, status: Status, passed: Option<bool>) {
        let at = &mut self.0[status_place(status)];
        match passed {
            Some(true) => at.passed += 1,
            Some(false) => at.failed += 1,
            None => at.none += 1,
        }
    }

    /// Judged right.
    pub(crate) fn passed(&self) -> u64 {
        self.0.iter().map(|at| at.passed).sum()
    }

    /// Judged wrong.
    pub(crate) fn failed(&self) -> u64 {
        self.0.iter().map(|at| at.failed).sum()
    }

    /// Of this status, without a verdict.
    pub(crate) fn unassessed(&self, status: Status) -> u64 {
        self.0[status_place(status)].none
    }
}

/// The number that stands for a status in the page.
pub(crate) fn status_place(status: Status) -> usize {
    Status::ALL.iter().position(|other| *other == status).expect("every status is listed")
}

/// Cases × slots.
#[derive(Debug, Default)]
pub(crate) struct Heat {
    /// Case id and a cell per slot, in the order of first appearance.
    pub(crate) rows: Vec<(String, Vec<Cell>)>,
    /// Raw case id → row.
    places: BTreeMap<Vec<u8>, usize>,
}

/// The trials of one case on one slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Judged right.
    pub(crate) passed: u64,
    /// Judged.
    pub(crate) assessed: u64,
    /// Planned.
    pub(crate) trials: u64,
}

impl Cell {
    /// Whether its repetitions did not agree.
    pub(crate) fn is_flaky(&self) -> bool {
        self.passed > 0 && self.passed < self.assessed
    }
}

impl Heat {
    /// Adds a record; `None` when the map has become too large to draw.
    fn add(
        mut self,
        line: &Line<'_>,
        slot: usize,
        slots: usize,
        passed: Option<bool>,
    ) -> Result<Option<Self>, Damage> {
        let key = line.require(HEAD.case_id)?;
        let row = match self.places.get(key) {
            Some(row) => *row,
            None => {
                let row = self.rows.len();
                if row >= MAX_HEAT_CASES || (row + 1) * slots > MAX_HEAT_CELLS {
                    return Ok(None);
                }
                let name = line.get(HEAD.case_id)?;
                self.rows.push((name.into_owned(), vec![Cell::default(); slots]));
                self.places.insert(key.to_vec(), row);
                row
            }
        };
        let cell = &mut self.rows[row].1[slot];
        cell.trials += 1;
        cell.assessed += u64::from(passed.is_some());
        cell.passed += u64::from(passed == Some(true));
        Ok(Some(self))
    }
}

/// The first candidates of one class of records, and how many bytes they would bring at each clip bound.
#[derive(Debug, Default)]
struct Candidates {
    places: Vec<LinePlace>,
    data_bytes: [u64; CLIP_BYTES.len()],
}

impl Candidates {
    fn add(&mut self, place: LinePlace, line: &Line<'_>) {
        if self.places.len() < MAX_EMBEDDED {
            self.places.push(place);
            embed::add_data_bytes(&mut self.data_bytes, line);
        }
    }
}

/// Reads the records once.
pub(crate) fn survey(
    path: &Utf8Path,
    summary: &Summary,
    own: &OwnPresentation,
) -> Result<Survey, ReportError> {
    let slots: BTreeMap<Vec<u8>, usize> = summary
        .slots
        .iter()
        .enumerate()
        .map(|(at, slot)| (proofhouse_ledger::Json::from(slot.slot.as_str()).to_string().into_bytes(), at))
        .collect();
    let mut reading =
        SurveyPass { outcomes: vec![Outcomes::default(); slots.len()], slots, ..SurveyPass::default() };
    reading.own = own.survey.map(|open| open());
    let raw = |case: &str| proofhouse_ledger::Json::from(case).to_string().into_bytes();
    reading.excluded = (own.excluded)(summary).into_iter().map(raw).collect();
    let mut reader = LineReader::open(path)?;
    let mut spans = Spans::default();
    let mut place = LinePlace { offset: 0, length: 0, line: 0 };
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", path))?;
        if block.is_empty() {
            return Ok(reading.finish(place.line));
        }
        for bytes in lines(block) {
            place.line += 1;
            place.length = bytes.len() as u32;
            Line::split(bytes, &mut spans)
                .and_then(|line| reading.add(&line, place))
                .map_err(|source| ReportError::Record { line: place.line, source })?;
            place.offset += bytes.len() as u64 + 1;
        }
    }
}

#[derive(Debug, Default)]
struct SurveyPass {
    /// Raw slot → its place in the summary.
    slots: BTreeMap<Vec<u8>, usize>,
    outcomes: Vec<Outcomes>,
    heat: HeatSoFar,
    not_passed: Candidates,
    passed: Candidates,
    own: Option<Box<dyn OwnSurvey>>,
    /// Raw cases that nobody is scored against.
    excluded: BTreeSet<Vec<u8>>,
}

#[derive(Debug)]
struct HeatSoFar(Option<Heat>);

impl Default for HeatSoFar {
    fn default() -> Self {
        Self(Some(Heat::default()))
    }
}

impl SurveyPass {
    fn add(&mut self, line: &Line<'_>, place: LinePlace) -> Result<(), Damage> {
        let excluded = line.raw(HEAD.case_id).is_some_and(|case| self.excluded.contains(case));
        let status = if excluded { Status::Skipped } else { line.status()? };
        let passed = line.get(HEAD.passed)?.filter(|_| !excluded);
        let slot = self.slots.get(line.require(HEAD.slot)?).ok_or(HEAD.slot.damage())?;
        // What nobody is scored on is in the table of records alone.
        if !line.is_aside() {
            self.outcomes[*slot].add(status, passed);
            if let Some(heat) = self.heat.0.take() {
                self.heat.0 = heat.add(line, *slot, self.slots.len(), passed)?;
            }
        }
        if let Some(own) = &mut self.own {
            own.add(line)?;
        }
        match passed {
            Some(true) => self.passed.add(place, line),
            _ => self.not_passed.add(place, line),
        }
        Ok(())
    }

    fn finish(self, records: u64) -> Survey {
        let most = if records > MAX_EMBEDDED as u64 { EMBEDDED_OF_MANY } else { MAX_EMBEDDED };
        let mut chosen = self.not_passed.places;
        chosen.truncate(most);
        let room = most - chosen.len();
        chosen.extend(self.passed.places.into_iter().take(room));
        chosen.sort_unstable_by_key(|place| place.offset);
        // Both classes are counted in full, so that the bound does not depend on how many of the second one fit.
        let sums = self.not_passed.data_bytes.iter().zip(self.passed.data_bytes).map(|(a, b)| a + b);
        let clip_bytes = CLIP_BYTES.into_iter().zip(sums).find(|(_, sum)| *sum <= MAX_DATA_BYTES);
        let narrowest = CLIP_BYTES[CLIP_BYTES.len() - 1];
        Survey {
            records,
            outcomes: self.outcomes,
            heat: self.heat.0,
            chosen,
            excluded: self.excluded,
            own: self.own,
            clip_bytes: clip_bytes.map_or(narrowest, |(bound, _)| bound),
        }
    }
}
