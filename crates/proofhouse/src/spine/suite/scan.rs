//! The first pass over all cases: validates, hashes, counts, and finds ids that come twice.
//!
//! Of a case it keeps eight bytes, a fingerprint of its id. Fingerprints that come twice are looked at a second time with
//! their full ids, so a collision costs time and never a wrong message.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use proofhouse_ledger::Digest;
use proofhouse_ledger::json::Object;

use super::cases::CaseRules;
use super::dataset::{Dataset, Rows};
use super::file::Fields;
use super::problem::{Code, MAX_REPORTED, Place, Problem, quoted};
use super::tree::{Step, Tree};

/// How many warnings are kept; the rest is counted.
const MAX_WARNINGS: usize = 20;

/// What there is to be scanned.
pub(crate) struct Scan<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) rules: &'a CaseRules,
    pub(crate) inline: &'a [Object],
    pub(crate) datasets: &'a [(Arc<Dataset>, Fields)],
}

/// What the first pass found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<String>,
    pub(crate) count: u64,
    /// Digest and rows of each dataset that could be read to its end.
    pub(crate) datasets: Vec<Option<(Digest, u64)>>,
}

impl Scan<'_> {
    pub(crate) fn run(&self) -> Found {
        let mut found = Found::default();
        let mut fingerprints = Vec::new();
        let mut silenced = 0;
        for (index, row) in self.inline.iter().enumerate() {
            match self.rules.case(row.clone(), &Fields::default(), None) {
                Ok(case) => fingerprints.push(fingerprint(&case.id)),
                Err(fault) => {
                    let prefix = format!("cases[{index}]");
                    let mut problem = fault.into_problem(|steps| self.inline_place(index, steps));
                    problem.path =
                        if problem.path.is_empty() { prefix } else { format!("{prefix}.{}", problem.path) };
                    found.problems.push(problem);
                }
            }
            if found.problems.len() > MAX_REPORTED {
                return found;
            }
        }
        for (dataset, fields) in self.datasets {
            let facts = self.dataset(dataset, fields, &mut fingerprints, &mut found, &mut silenced);
            found.datasets.push(facts);
        }
        if silenced > 0 {
            found.warnings.push(format!("{silenced} more rows have integers beyond 2^53, kept as text"));
        }
        found.count = fingerprints.len() as u64;
        let suspects = repeated(fingerprints);
        if !suspects.is_empty() && found.problems.is_empty() {
            self.duplicates(&suspects, &mut found.problems);
        }
        found
    }

    fn inline_place(&self, index: usize, steps: &[Step<'_>]) -> Place {
        let steps = [&[Step::Key("cases"), Step::Index(index)], steps].concat();
        self.tree.place(self.tree.root, &steps)
    }

    fn dataset(
        &self,
        dataset: &Arc<Dataset>,
        fields: &Fields,
        fingerprints: &mut Vec<u64>,
        found: &mut Found,
        silenced: &mut u64,
    ) -> Option<(Digest, u64)> {
        let mut rows = match Rows::open(dataset) {
            Ok(rows) => rows,
            Err(problem) => {
                found.problems.push(problem);
                return None;
            }
        };
        let mut count = 0;
        loop {
            let problem = match rows.next() {
                Ok(None) => break,
                Ok(Some(row)) => match self.rules.case(row, fields, Some(dataset.format)) {
                    Ok(case) => {
                        count += 1;
                        fingerprints.push(fingerprint(&case.id));
                        keep_warnings(&mut rows.warnings, &mut found.warnings, silenced);
                        continue;
                    }
                    Err(fault) => fault.into_problem(|steps| rows.place(steps)),
                },
                Err(bad) if bad.last => {
                    found.problems.push(*bad.problem);
                    return None;
                }
                Err(bad) => *bad.problem,
            };
            count += 1;
            found.problems.push(problem);
            if found.problems.len() > MAX_REPORTED {
                return None;
            }
        }
        match rows.finish() {
            Ok(digest) => Some((digest, count)),
            Err(problem) => {
                found.problems.push(problem);
                None
            }
        }
    }

    /// The second look: exact ids and places of all cases whose fingerprint came twice.
    fn duplicates(&self, suspects: &[u64], problems: &mut Vec<Problem>) {
        let mut first: BTreeMap<String, Place> = BTreeMap::new();
        let mut note = |id: String, place: Place, problems: &mut Vec<Problem>| match first.get(&id) {
            Some(earlier) => {
                let what = format!("duplicate case id {}", quoted(&id));
                let problem = Problem::new(Code::DuplicateCase, place, what);
                problems.push(
                    problem.also("first here", earlier.clone()).hint("a case's id is unique in the suite"),
                );
            }
            None => {
                first.insert(id, place);
            }
        };
        let suspect = |id: &str| suspects.binary_search(&fingerprint(id)).is_ok();
        for (index, row) in self.inline.iter().enumerate() {
            if let Ok(case) = self.rules.case(row.clone(), &Fields::default(), None)
                && suspect(&case.id)
            {
                note(case.id, self.inline_place(index, &[Step::Key("id")]), problems);
            }
        }
        for (dataset, fields) in self.datasets {
            let Ok(mut rows) = Rows::open(dataset) else { continue };
            while let Ok(Some(row)) = rows.next() {
                if problems.len() > MAX_REPORTED {
                    return;
                }
                let Ok(case) = self.rules.case(row, fields, Some(dataset.format)) else { continue };
                if suspect(&case.id) {
                    note(case.id, rows.place(&[Step::Key(fields.column("id"))]), problems);
                }
            }
        }
    }
}

fn keep_warnings(new: &mut Vec<String>, kept: &mut Vec<String>, silenced: &mut u64) {
    for warning in new.drain(..) {
        if kept.len() < MAX_WARNINGS {
            kept.push(warning);
        } else {
            *silenced += 1;
        }
    }
}

/// Compared within one process only, so the hash may change with the standard library.
fn fingerprint(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    hasher.finish()
}

/// The values that come more than once, sorted.
fn repeated(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    let mut repeated: Vec<u64> =
        values.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    repeated.dedup();
    repeated
}
