//! The heat map: each case on each target, as the share of its trials that passed, flaky ones marked.

use super::{Facts, Section};
use crate::spine::present::survey::{Cell, MAX_HEAT_CASES, MAX_HEAT_CELLS};
use crate::text::doc::{Content, Doc, Grid, GridCell, Line};
use crate::text::numbers::{count, plural};

pub(super) const SECTION: Section = Section { id: "cases", title: "Case by case", body };

fn body(facts: &Facts<'_>) -> Option<Doc> {
    if facts.summary.trials == 0 {
        return None;
    }
    let mut doc = Doc::new();
    for slot in facts.summary.slots.iter().filter(|slot| slot.flaky_cases.denominator > 0) {
        doc.documents((facts.own.partly_said)(slot));
    }
    if let Some(survey) = facts.survey {
        match &survey.heat {
            Some(heat) => doc.page(Content::Grid(grid(facts, &heat.rows))),
            None => doc.page(Content::note(format!(
                "No heat map: it is drawn for at most {MAX_HEAT_CASES} cases and {} cells. \
                 The table below can be filtered by case.",
                count(MAX_HEAT_CELLS as u64)
            ))),
        };
    }
    Some(doc)
}

fn grid(facts: &Facts<'_>, rows: &[(String, Vec<Cell>)]) -> Grid {
    let slots = &facts.summary.slots;
    let excluded = (facts.own.excluded)(facts.summary);
    let because = facts.own.excluded_because;
    let mut legend = vec![
        ("s4", "", "all passed"),
        ("s0", "", "none passed"),
        ("flaky s2", "≈", facts.own.partly),
        ("none", "–", "not assessed"),
        ("s4", "?", "some not assessed"),
    ];
    if !excluded.is_empty() {
        legend.push(("none", "×", because));
    }
    let cell = |case: &str, slot: &str, cell: &Cell| {
        let (class, shown, said) = match excluded.contains(case) {
            true => ("none", "×".to_owned(), because.to_owned()),
            false => (class(cell), shown(cell), spoken(cell, facts.own.partly)),
        };
        let records = vec![("case", case.to_owned()), ("slot", slot.to_owned())];
        GridCell { class, shown, records, spoken: format!("{slot}: {said}") }
    };
    let row = |(case, cells): &(String, Vec<Cell>)| {
        let name = Line::default().name(clipped(case)).records(vec![("case", case.clone())]);
        (name, slots.iter().zip(cells).map(|(slot, own)| cell(case, &slot.slot, own)).collect())
    };
    Grid {
        columns: slots.iter().map(|slot| slot.slot.clone()).collect(),
        legend,
        rows: rows.iter().map(row).collect(),
    }
}

fn class(cell: &Cell) -> &'static str {
    if cell.assessed == 0 {
        return "none";
    }
    match (cell.is_flaky(), cell.passed * 3 / cell.assessed) {
        (false, 0) => "s0",
        (false, _) => "s4",
        (true, 0) => "flaky s1",
        (true, 1) => "flaky s2",
        (true, _) => "flaky s3",
    }
}

fn shown(cell: &Cell) -> String {
    if cell.assessed == 0 {
        return "–".to_owned();
    }
    let flaky = if cell.is_flaky() { "≈" } else { "" };
    let open = if cell.assessed < cell.trials { "?" } else { "" };
    format!("{flaky}{}/{}{open}", cell.passed, cell.assessed)
}

fn spoken(cell: &Cell, partly: &str) -> String {
    if cell.assessed == 0 {
        return format!("none of {} assessed", plural(cell.trials, "trial", "trials"));
    }
    let mut text = format!("{} of {} passed", cell.passed, cell.assessed);
    // `flaky: repetitions disagree` is `flaky` in a cell.
    if let Some((word, _)) = partly.split_once(':').filter(|_| cell.is_flaky()) {
        text.push_str(&format!(", {word}"));
    }
    if cell.assessed < cell.trials {
        text.push_str(&format!(", {} of {} not assessed", cell.trials - cell.assessed, cell.trials));
    }
    text
}

fn clipped(case: &str) -> String {
    if case.chars().count() <= 60 { case.to_owned() } else { case.chars().take(59).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_hides_nothing() {
        let table = [
            ((3, 3, 3), "s4", "3/3", "3 of 3 passed"),
            ((0, 3, 3), "s0", "0/3", "0 of 3 passed"),
            ((2, 3, 3), "flaky s3", "≈2/3", "2 of 3 passed, flaky"),
            ((1, 3, 3), "flaky s2", "≈1/3", "1 of 3 passed, flaky"),
            ((1, 9, 9), "flaky s1", "≈1/9", "1 of 9 passed, flaky"),
            ((2, 2, 3), "s4", "2/2?", "2 of 2 passed, 1 of 3 not assessed"),
            ((0, 0, 3), "none", "–", "none of 3\u{a0}trials assessed"),
        ];
        for ((passed, assessed, trials), expected_class, expected, expected_spoken) in table {
            let cell = Cell { passed, assessed, trials };
            assert_eq!(
                (class(&cell), shown(&cell).as_str(), spoken(&cell, "flaky: repetitions disagree").as_str()),
                (expected_class, expected, expected_spoken)
            );
        }
    }
}
