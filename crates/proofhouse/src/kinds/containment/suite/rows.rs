//! The cases of a containment suite: checked, hashed and counted once, then streamed.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use proofhouse_ledger::json::Object;
use proofhouse_ledger::{Digest, Json};

use crate::kinds::containment::canary::is_canary;
use crate::kinds::containment::{Case, PROBE, ReadyCase, case_from_row};
use crate::spine::suite::dataset::{Dataset, Rows};
use crate::spine::suite::problem::{Code, MAX_REPORTED, Place, Problem, Problems, quoted};
use crate::spine::suite::tree::{Step, Tree};
use crate::text::complaint::Complaint;

/// Where the cases come from.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) inline: Vec<Object>,
    pub(crate) datasets: Vec<(Arc<Dataset>, Digest)>,
}

impl Sources {
    /// The built-in probe of lane 1.
    pub(super) fn probe() -> Self {
        let rows = PROBE.lines().map(|line| {
            let row: Json = serde_json::from_str(line).expect("the built-in probe is JSON");
            row.as_object().cloned().expect("the built-in probe has one object per line")
        });
        Self { inline: rows.collect(), datasets: Vec::new() }
    }
}

/// All cases in the order of the suite.
pub struct Cases {
    sources: Arc<Sources>,
    inline_at: usize,
    dataset_at: usize,
    rows: Option<Rows>,
    left: u64,
    failed: bool,
}

/// A case, or why a row is none and where it stands.
type Next = Result<Option<ReadyCase>, Box<Problem>>;

impl Cases {
    pub(super) fn new(sources: &Arc<Sources>, count: u64) -> Self {
        Self {
            sources: Arc::clone(sources),
            inline_at: 0,
            dataset_at: 0,
            rows: None,
            left: count,
            failed: false,
        }
    }

    fn try_next(&mut self) -> Next {
        if self.left == 0 {
            return Ok(None);
        }
        let sources = Arc::clone(&self.sources);
        if let Some(row) = sources.inline.get(self.inline_at) {
            self.inline_at += 1;
            self.left -= 1;
            let case = ReadyCase::of_row(&Json::Object(row.clone()));
            return Ok(Some(case.expect("the first pass has made this case of this row")));
        }
        while let Some((dataset, digest)) = sources.datasets.get(self.dataset_at) {
            let rows = match &mut self.rows {
                Some(rows) => rows,
                None => self.rows.insert(Rows::open(dataset)?),
            };
            if let Some(row) = rows.next().map_err(|bad| bad.problem)? {
                self.left -= 1;
                let case = ReadyCase::of_row(&Json::Object(row));
                return case.map(Some).map_err(|wrong| Box::new(row_problem(wrong, rows.place(&[]))));
            }
            let rows = self.rows.take().expect("it was filled just above");
            if rows.finish()? != *digest {
                return Err(Box::new(changed(dataset)));
            }
            self.dataset_at += 1;
        }
        Ok(None)
    }
}

impl Iterator for Cases {
    type Item = Result<ReadyCase, Problems>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.try_next().map_err(|problem| Problems::from(*problem));
        self.failed = next.is_err();
        next.transpose()
    }
}

fn changed(dataset: &Dataset) -> Problem {
    Problem::new(Code::Changed, Place::whole(dataset.name.as_str()), "the dataset changed while it was read")
        .hint("run again; every trial so far used the rows that were there before")
}

fn row_problem(wrong: Complaint, mut place: Place) -> Problem {
    // The row as a whole: pointing at its begin is enough.
    place.width = 1;
    Problem { hint: wrong.hint, ..Problem::new(Code::BadValue, place, wrong.what) }
}

/// What the first pass found.
#[derive(Default)]
pub(super) struct FirstPass {
    pub(super) problems: Vec<Problem>,
    pub(super) count: u64,
    /// Rows of each dataset.
    pub(super) rows: Vec<u64>,
}

/// Looks at every case once; `each` sees those that are right.
pub(super) fn scan(
    tree: &Tree,
    sources: &Sources,
    fits: impl Fn(&ReadyCase) -> Result<(), Complaint>,
    mut each: impl FnMut(&ReadyCase),
) -> FirstPass {
    let mut found = FirstPass::default();
    let mut ids = Vec::new();
    let checked = |row: Object| {
        let case = ReadyCase::of_row(&Json::Object(row))?;
        fits(&case).map(|()| case)
    };
    let mut take =
        |case: Result<ReadyCase, Complaint>, place: &dyn Fn() -> Place, found: &mut FirstPass| match case {
            Ok(case) if is_canary(&case.case_id) => {
                let what = format!("the case id {} is that of a canary", quoted(&case.case_id));
                let problem = Problem::new(Code::BadValue, place(), what);
                found
                    .problems
                    .push(problem.hint("give the case another id; canaries are added by the program"));
            }
            Ok(case) => {
                ids.push(fingerprint(&case.case_id));
                each(&case);
            }
            Err(wrong) => found.problems.push(row_problem(wrong, place())),
        };
    for (index, row) in sources.inline.iter().enumerate() {
        let place = || tree.place(tree.root, &[Step::Key("cases"), Step::Index(index)]);
        take(checked(row.clone()), &place, &mut found);
    }
    for (dataset, _) in &sources.datasets {
        let mut count = 0;
        let mut rows = match Rows::open(dataset) {
            Ok(rows) => rows,
            Err(problem) => {
                found.problems.push(problem);
                continue;
            }
        };
        while found.problems.len() <= MAX_REPORTED {
            match rows.next() {
                Ok(None) => break,
                Ok(Some(row)) => take(checked(row), &|| rows.place(&[]), &mut found),
                Err(bad) => {
                    let last = bad.last;
                    found.problems.push(*bad.problem);
                    if last {
                        break;
                    }
                }
            }
            count += 1;
        }
        found.rows.push(count);
    }
    found.count = ids.len() as u64;
    ids.sort_unstable();
    if found.problems.is_empty() && ids.windows(2).any(|pair| pair[0] == pair[1]) {
        duplicates(sources, &ids, &mut found.problems);
    }
    found
}

/// The second look, with full ids, where fingerprints came twice.
fn duplicates(sources: &Sources, ids: &[u64], problems: &mut Vec<Problem>) {
    let suspects: Vec<u64> = ids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    let mut seen = std::collections::BTreeSet::new();
    let mut note = |case: Case, place: Place, problems: &mut Vec<Problem>| {
        let suspect = suspects.binary_search(&fingerprint(&case.case_id)).is_ok();
        if suspect && !seen.insert(case.case_id.clone()) {
            let what = format!("duplicate case id {}", quoted(&case.case_id));
            let problem = Problem::new(Code::DuplicateCase, place, what);
            problems.push(problem.hint("a case's id is unique in the suite"));
        }
    };
    for row in &sources.inline {
        if let Ok(case) = case_from_row(&Json::Object(row.clone())) {
            note(case, Place::whole("cases"), problems);
        }
    }
    for (dataset, _) in &sources.datasets {
        let Ok(mut rows) = Rows::open(dataset) else { continue };
        while let Ok(Some(row)) = rows.next() {
            if problems.len() > MAX_REPORTED {
                return;
            }
            if let Ok(case) = case_from_row(&Json::Object(row)) {
                note(case, rows.place(&[Step::Key("case_id")]), problems);
            }
        }
    }
}

/// Compared within one process only, so the hash may change with the standard library.
fn fingerprint(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    hasher.finish()
}
