//! The first pass over all cases: validates, hashes, counts, and finds ids that come twice.
//!
//! Of a case it keeps eight bytes, a fingerprint of its id. Fingerprints that come twice are looked at a second time with
//! their full ids, so a collision costs time and never a wrong message.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use proofhouse_ledger::Digest;
use proofhouse_ledger::json::Object;

use super::cases::{Case, CaseRules, Ids, RowFault};
use super::dataset::{Dataset, Rows};
use super::file::Fields;
use super::problem::{Code, MAX_REPORTED, Place, Problem, quoted};
use super::silent::Silent;
use super::tree::{Step, Tree};
use crate::text::numbers::count;
use crate::text::template::Form;

/// How many warnings are kept; the rest is counted.
const MAX_WARNINGS: usize = 20;

/// What there is to be scanned.
pub(crate) struct Scan<'a> {
    pub(crate) tree: &'a Tree,
    /// The keys that lead to what is scanned; none for the suite itself.
    pub(crate) under: &'a [&'a str],
    pub(crate) rules: &'a CaseRules,
    pub(crate) inline: &'a [Object],
    pub(crate) datasets: &'a [(Arc<Dataset>, Fields)],
    /// Tags that somebody asks for.
    pub(crate) tags: Vec<&'a str>,
    /// How the suite says that holes are written.
    pub(crate) form: Option<Form>,
}

/// What the passes over all rows share.
struct Pass {
    ids: Ids,
    silent: Silent,
    fingerprints: Vec<u64>,
    /// Mistakes that rows share: the place of the first one among the problems, and how many rows more have it.
    shared: BTreeMap<(Code, String), (usize, u64)>,
    silenced: u64,
}

impl Pass {
    /// Notes a mistake of a row; one that was seen before is counted.
    fn fault(
        &mut self,
        fault: RowFault,
        problems: &mut Vec<Problem>,
        problem: impl FnOnce(RowFault) -> Problem,
    ) {
        let (code, what) = fault.kind();
        let key = (code, what.to_owned());
        match self.shared.get_mut(&key) {
            Some((_, more)) => *more += 1,
            None => {
                self.shared.insert(key, (problems.len(), 0));
                problems.push(problem(fault));
            }
        }
    }

    /// Says how many rows share a mistake.
    fn count(&self, problems: &mut [Problem]) {
        for (at, more) in self.shared.values().filter(|(_, more)| *more > 0) {
            let rows = if *more == 1 { "row" } else { "rows" };
            problems[*at].notes.push(format!("and {} more {rows}", count(*more)));
        }
    }
}

/// What the first pass found.
#[derive(Default)]
pub(crate) struct FirstPass {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<String>,
    pub(crate) count: u64,
    /// Whether every case has an id of its own: then no id depends on the rows before it.
    pub(crate) named: bool,
    /// Those of the tags asked for that a case has.
    pub(crate) tags: BTreeSet<String>,
    /// Digest and rows of each dataset that could be read to its end.
    pub(crate) datasets: Vec<Option<(Digest, u64)>>,
}

impl Scan<'_> {
    pub(crate) fn run(&self) -> FirstPass {
        let mut found = FirstPass::default();
        let mut pass = Pass {
            ids: Ids::default(),
            silent: Silent::new(self.rules.columns(), self.rules.prompts.len()),
            fingerprints: Vec::new(),
            shared: BTreeMap::new(),
            silenced: 0,
        };
        for (index, row) in self.inline.iter().enumerate() {
            pass.silent.row(&self.named("cases"), row);
            match self.rules.case(row.clone(), &Fields::default(), None, &mut pass.ids) {
                Ok(case) => {
                    pass.fingerprints.push(fingerprint(&case.id));
                    pass.silent.case(&case.sent);
                    self.note_tags(&case, &mut found);
                }
                Err(fault) => pass.fault(fault, &mut found.problems, |fault| {
                    let prefix = self.named(&format!("cases[{index}]"));
                    let mut problem = fault.into_problem(|steps| self.inline_place(index, steps));
                    problem.path =
                        if problem.path.is_empty() { prefix } else { format!("{prefix}.{}", problem.path) };
                    problem
                }),
            }
            if found.problems.len() > MAX_REPORTED {
                return found;
            }
        }
        for (dataset, fields) in self.datasets {
            let parts =
                ["id", "input", "expected", "tags", "judges"].map(|part| fields.column(part).to_owned());
            pass.silent.uses(
                parts
                    .into_iter()
                    .chain(self.rules.columns().iter().map(|name| fields.column(name).to_owned())),
            );
            pass.silent.uses(dataset.columns());
            let facts = self.dataset(dataset, fields, &mut pass, &mut found);
            found.datasets.push(facts);
        }
        pass.count(&mut found.problems);
        if pass.silenced > 0 {
            found
                .warnings
                .push(format!("{} more rows have integers beyond 2^53, kept as text", pass.silenced));
        }
        found.warnings.extend(pass.silent.warnings(&self.rules.prompts, self.form));
        found.count = pass.fingerprints.len() as u64;
        found.named = pass.ids.is_unused();
        let suspects = repeated(pass.fingerprints);
        if !suspects.is_empty() && found.problems.is_empty() {
            self.duplicates(&suspects, &mut found.problems);
        }
        found
    }

    fn note_tags(&self, case: &Case, found: &mut FirstPass) {
        let asked = case.tags.iter().filter(|tag| self.tags.contains(&tag.as_str()));
        asked.for_each(|tag| found.tags.extend((!found.tags.contains(tag)).then(|| tag.clone())));
    }

    /// A key with those that lead to it.
    fn named(&self, key: &str) -> String {
        format!("{}{key}", self.under.iter().map(|key| format!("{key}.")).collect::<String>())
    }

    fn inline_place(&self, index: usize, steps: &[Step<'_>]) -> Place {
        let under: Vec<Step<'_>> = self.under.iter().map(|key| Step::Key(key)).collect();
        let steps = [&under[..], &[Step::Key("cases"), Step::Index(index)], steps].concat();
        self.tree.place(self.tree.root, &steps)
    }

    fn dataset(
        &self,
        dataset: &Arc<Dataset>,
        fields: &Fields,
        pass: &mut Pass,
        found: &mut FirstPass,
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
            match rows.next() {
                Ok(None) => break,
                Ok(Some(row)) => {
                    count += 1;
                    pass.silent.row(&dataset.name, &row);
                    match self.rules.case(row, fields, Some(dataset.format), &mut pass.ids) {
                        Ok(case) => {
                            pass.fingerprints.push(fingerprint(&case.id));
                            pass.silent.case(&case.sent);
                            self.note_tags(&case, found);
                            keep_warnings(&mut rows.warnings, &mut found.warnings, &mut pass.silenced);
                        }
                        Err(fault) => pass.fault(fault, &mut found.problems, |fault| {
                            fault.into_problem(|steps| rows.place(steps))
                        }),
                    }
                }
                Err(bad) => {
                    count += 1;
                    let last = bad.last;
                    found.problems.push(*bad.problem);
                    if last {
                        return None;
                    }
                }
            }
            if found.problems.len() > MAX_REPORTED {
                return None;
            }
        }
        found.warnings.append(&mut rows.warnings);
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
        let mut ids = Ids::default();
        for (index, row) in self.inline.iter().enumerate() {
            if let Ok(case) = self.rules.case(row.clone(), &Fields::default(), None, &mut ids)
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
                let Ok(case) = self.rules.case(row, fields, Some(dataset.format), &mut ids) else { continue };
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
