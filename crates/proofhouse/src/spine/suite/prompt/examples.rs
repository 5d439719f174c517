//! Few-shot examples: rows of a file, picked for each case by the suite's seed, and never the case itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json};

use super::file::{ExamplesFile, Pick};
use crate::spine::suite::check::Checker;
use crate::spine::suite::dataset::{Dataset, Rows};
use crate::spine::suite::file::{Fields, Format};
use crate::spine::suite::kind::Loading;
use crate::spine::suite::paths;
use crate::spine::suite::problem::{Code, quoted};
use crate::spine::suite::tree::Step;

/// Rows at most: they are held in memory.
const MAX_ROWS: usize = 200_000;

/// The rows that examples are picked from.
#[derive(Debug)]
pub(super) struct Examples {
    rows: Vec<Json>,
    fields: Fields,
    count: usize,
    pick: Pick,
    seed: u64,
    sha256: Digest,
    /// Fields of the case that the prompt asks for outside of the examples: a row that agrees on all of them is the case.
    pub(super) told: BTreeSet<String>,
}

impl Examples {
    /// Reads the rows.
    pub(super) fn read(
        checker: &mut Checker<'_>,
        loading: &Loading<'_>,
        steps: &[Step<'_>],
        file: &ExamplesFile,
        seed: u64,
    ) -> Option<Self> {
        let at = [steps, &[Step::Key("dataset")]].concat();
        let path = match paths::resolve(loading.base(), &file.dataset) {
            Ok(path) => path,
            Err(fault) => {
                checker.complain(fault.code, &at, fault.what).hint = Some(fault.hint);
                return None;
            }
        };
        let Some(format) = file.format.or_else(|| Format::of_path(&file.dataset)) else {
            let what = format!("the format of {} is not clear from its name", quoted(&file.dataset));
            checker.complain(Code::BadValue, &at, what).hint =
                Some("add `format: jsonl`, `csv`, `json` or `yaml`".to_owned());
            return None;
        };
        let dataset = Arc::new(Dataset::of(loading, file.dataset.clone(), path, format));
        let mut rows = Vec::new();
        let mut reader = match Rows::open(&dataset) {
            Ok(reader) => reader,
            Err(problem) => {
                checker.problems.push(problem);
                return None;
            }
        };
        loop {
            match reader.next() {
                Ok(Some(row)) if rows.len() < MAX_ROWS => rows.push(Json::Object(row)),
                Ok(Some(_)) => {
                    let what = format!("{} has more than {MAX_ROWS} rows", quoted(&file.dataset));
                    checker.complain(Code::TooLarge, &at, what).hint =
                        Some("examples are held in memory: give a smaller file".to_owned());
                    return None;
                }
                Ok(None) => break,
                Err(bad) => {
                    checker.problems.push(*bad.problem);
                    return None;
                }
            }
        }
        let sha256 = match reader.finish() {
            Ok(sha256) => sha256,
            Err(problem) => {
                checker.problems.push(problem);
                return None;
            }
        };
        let count = usize::try_from(file.count.0).unwrap_or(usize::MAX);
        if rows.len() <= count {
            let what = format!(
                "{} has {} rows: {count} examples beside the case itself are not among them",
                quoted(&file.dataset),
                rows.len()
            );
            checker.complain(Code::BadValue, &[steps, &[Step::Key("count")]].concat(), what).hint =
                Some("ask for fewer examples, or give a larger file".to_owned());
            return None;
        }
        let (fields, pick) = (file.fields.clone(), file.pick);
        Some(Examples { rows, fields, count, pick, seed, sha256, told: BTreeSet::new() })
    }

    /// The examples of a case.
    pub(super) fn of(&self, case_id: &str, is_case: &dyn Fn(&Json) -> bool) -> Vec<&Json> {
        let usable = |at: usize| !is_case(&self.rows[at]);
        if self.pick == Pick::First {
            return (0..self.rows.len())
                .filter(|at| usable(*at))
                .take(self.count)
                .map(|at| &self.rows[at])
                .collect();
        }
        let mut picked = Vec::with_capacity(self.count);
        let mut seen = BTreeSet::new();
        let total = self.rows.len() as u64;
        // Draws without replacement; where nearly all rows are wanted, the rest is taken in the order of a shuffle.
        for draw in 0..(self.count as u64 * 8 + 64) {
            if picked.len() == self.count {
                break;
            }
            let at = (self.draw(case_id, draw) % total) as usize;
            if seen.insert(at) && usable(at) {
                picked.push(at);
            }
        }
        if picked.len() < self.count {
            let mut rest: Vec<(u64, usize)> = (0..self.rows.len())
                .filter(|at| !seen.contains(at) && usable(*at))
                .map(|at| (self.draw(case_id, u64::MAX - at as u64), at))
                .collect();
            rest.sort_unstable();
            picked.extend(rest.into_iter().map(|(_, at)| at).take(self.count - picked.len()));
        }
        picked.into_iter().map(|at| &self.rows[at]).collect()
    }

    fn draw(&self, case_id: &str, draw: u64) -> u64 {
        let parts: [&[u8]; 4] =
            [b"examples", &self.seed.to_le_bytes(), &draw.to_le_bytes(), case_id.as_bytes()];
        u64::from_le_bytes(Digest::of_parts(&parts).0[..8].try_into().expect("eight of thirty-two bytes"))
    }

    /// Whether a row agrees with the case on everything that the prompt asks of the case.
    pub(super) fn agrees(&self, row: &Json, case: &dyn Fn(&str) -> Option<Json>) -> bool {
        let same = |name: &String| self.field(row, name).is_some_and(|own| case(name).as_ref() == Some(own));
        !self.told.is_empty() && self.told.iter().all(same)
    }

    /// A field of an example.
    pub(super) fn field<'r>(&self, row: &'r Json, name: &str) -> Option<&'r Json> {
        row.get(self.fields.column(name))
    }

    /// For the run's identity.
    pub(super) fn settings(&self) -> Json {
        let pick = if self.pick == Pick::First { "first" } else { "seeded" };
        Json::Object(Object::from_iter([
            ("count", Json::Number(self.count as f64)),
            ("fields", crate::spine::suite::identity::json(&self.fields)),
            ("pick", Json::from(pick)),
            ("rows", Json::Number(self.rows.len() as f64)),
            ("sha256", Json::from(self.sha256.prefixed())),
        ]))
    }
}
