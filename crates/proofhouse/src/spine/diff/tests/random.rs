//! Random edits of random runs are found exactly, whichever way the join goes.

use std::collections::BTreeMap;

use proofhouse_ledger::Json;
use proofhouse_ledger::record::Status;
use proptest::prelude::*;

use super::lab::{Lab, Row, assert_counts, line, row};

/// What happens to one record.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Edit {
    Keep,
    Remove,
    Duplicate,
    AddBefore,
    Output,
    Error,
    Status,
    Fail,
    Unassess,
    Score,
    Input,
    Usage,
}

impl Edit {
    fn apply(self, row: &mut Row) {
        match self {
            Edit::Keep | Edit::Remove | Edit::Duplicate | Edit::AddBefore => {}
            Edit::Output => row.output = Json::from("something else"),
            Edit::Error => row.error = Some("it broke".to_owned()),
            Edit::Status => row.status = Status::RateLimited,
            Edit::Fail => row.passed = Some(false),
            Edit::Unassess => row.passed = None,
            Edit::Score => row.scores.1 = 0.125,
            Edit::Input => row.input.push('!'),
            Edit::Usage => row.usage = Json::Null,
        }
    }

    fn class(self) -> Option<&'static str> {
        Some(match self {
            Edit::Keep => return None,
            Edit::Remove => "removed",
            Edit::Duplicate => "duplicate",
            Edit::AddBefore => "added",
            Edit::Output => "output",
            Edit::Error | Edit::Usage => "metadata",
            Edit::Status => "status",
            Edit::Fail => "regression",
            Edit::Unassess => "lost",
            Edit::Score => "score",
            Edit::Input => "input",
        })
    }
}

fn any_edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        8 => Just(Edit::Keep),
        1 => Just(Edit::Remove),
        1 => Just(Edit::Duplicate),
        1 => Just(Edit::AddBefore),
        4 => prop::sample::select(vec![
            Edit::Output, Edit::Error, Edit::Status, Edit::Fail, Edit::Unassess, Edit::Score, Edit::Input, Edit::Usage,
        ]),
    ]
}

/// B's rows, each with the place that its plan gave it in A where it had one.
fn edit_rows(rows: &[Row], edits: &[Edit]) -> Vec<(u64, Row)> {
    let mut out = Vec::new();
    for (at, (row, edit)) in rows.iter().zip(edits).enumerate() {
        let mut edited = row.clone();
        edit.apply(&mut edited);
        let place = at as u64;
        match edit {
            Edit::Remove => {}
            Edit::Duplicate => out.extend([(place, edited.clone()), (place, edited)]),
            Edit::AddBefore => {
                out.extend([(1_000 + place, self::row(&format!("added {at}"), "left")), (place, edited)])
            }
            _ => out.push((place, edited)),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn edits_are_found_exactly(
        edits in prop::collection::vec(any_edit(), 0..40),
        same_run in any::<bool>(),
        move_one in any::<Option<(prop::sample::Index, prop::sample::Index)>>(),
    ) {
        let rows: Vec<Row> = (0..edits.len()).map(|at| row(&format!("case {}", at / 2), ["left", "right"][at % 2])).collect();
        let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
        edits.iter().filter_map(|edit| edit.class()).for_each(|class| *expected.entry(class).or_default() += 1);
        let mut changed = edit_rows(&rows, &edits);
        // A move is exact where nothing was added, removed or doubled: then one record changes its place.
        let shaped = edits.iter().any(|edit| matches!(edit, Edit::Remove | Edit::Duplicate | Edit::AddBefore));
        if let Some((from, to)) = move_one && !shaped && changed.len() > 1 {
            let (from, to) = (from.index(changed.len()), to.index(changed.len()));
            let row = changed.remove(from);
            changed.insert(to, row);
            if from != to {
                expected.insert("reordered", 1);
            }
        }
        let a = rows.iter().enumerate().map(|(at, row)| line("x", at as u64, row)).collect();
        let run = if same_run { "x" } else { "y" };
        let b = changed
            .iter()
            .enumerate()
            .map(|(at, (place, row))| line(run, if same_run { *place } else { at as u64 }, row))
            .collect();
        let report = Lab::with(("x", &a), (run, &b)).report();
        assert_counts(&report, &expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn garbage_never_panics(
        a in prop::collection::vec(any::<u8>(), 0..200),
        b in prop::collection::vec(prop::sample::select(b"{}[]\",:\\\n01abnull".to_vec()), 0..200),
    ) {
        let lab = Lab::new();
        std::fs::write(lab.a.records(), &a).unwrap();
        std::fs::write(lab.b.records(), &b).unwrap();
        lab.report();
    }
}
