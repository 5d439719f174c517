//! The heat map: each case on each target, as the share of its trials that passed, flaky ones marked.

use proofhouse_ledger::summary::Code;

use super::{Facts, Section};
use crate::spine::present::html::{Html, fragment};
use crate::spine::present::survey::{Cell, MAX_HEAT_CASES, MAX_HEAT_CELLS};
use crate::spine::present::words;

pub(super) const SECTION: Section = Section { id: "cases", title: "Case by case", body };

/// Class, sign and meaning of a cell.
const LEGEND: [(&str, &str, &str); 5] = [
    ("s4", "", "all passed"),
    ("s0", "", "none passed"),
    ("flaky s2", "≈", "flaky: repetitions disagree"),
    ("none", "–", "not assessed"),
    ("s4", "?", "some not assessed"),
];

/// What the third and the last of them mean in a code run, where completions are different answers, not repetitions.
const PARTLY: &str = "some completions passed, some failed";
const LEFT_OUT: &str = "broken task, left out";

fn body(facts: &Facts<'_>) -> Option<Html> {
    if facts.summary.trials == 0 {
        return None;
    }
    let mut html = Html::new();
    flaky_rates(&mut html, facts);
    let Some(heat) = &facts.survey.heat else {
        html.put(
            "<p class=\"note\">No heat map: it is drawn for at most {} cases and {} cells. \
             The table below can be filtered by case.</p>",
            &[&MAX_HEAT_CASES, &words::count(MAX_HEAT_CELLS as u64)],
        );
        return Some(html);
    };
    let slots = &facts.summary.slots;
    html.put(r#"<p class="legend"><span>Cells from left to right:"#, &[]);
    for (at, slot) in slots.iter().enumerate() {
        html.put("{} <bdi><b>{}</b></bdi>", &[&(if at == 0 { "" } else { "," }), &slot.slot]);
    }
    html.put("</span>", &[]);
    let code = facts.summary.code.as_ref();
    let broken = code.map(Code::excluded).unwrap_or_default();
    for (class, sign, meaning) in LEGEND {
        let meaning = if code.is_some() && sign == "≈" { PARTLY } else { meaning };
        html.put(r#" <span class="key"><i class="cell {}">{}</i>{}</span>"#, &[&class, &sign, &meaning]);
    }
    if !broken.is_empty() {
        html.put(r#" <span class="key"><i class="cell none">×</i>{}</span>"#, &[&LEFT_OUT]);
    }
    html.put(r#"</p><ul class="heat">"#, &[]);
    for (case, cells) in &heat.rows {
        html.put(r#"<li><span class="cells">"#, &[]);
        for (slot, cell) in slots.iter().zip(cells) {
            let (class, spoken, shown) = match broken.contains(case.as_str()) {
                true => ("none", LEFT_OUT.to_owned(), "×".to_owned()),
                false => (class(cell), spoken(cell, code.is_some()), shown(cell)),
            };
            let spoken = format!("{}: {spoken}", slot.slot);
            html.put(
                r#"<span class="cell {}" role="img" aria-label="{}" title="{}">{}</span>"#,
                &[&class, &spoken, &spoken, &shown],
            );
        }
        html.put(r##"</span><a href="#case={}"><bdi>{}</bdi></a></li>"##, &[&fragment(case), &clipped(case)]);
    }
    html.put("</ul>", &[]);
    Some(html)
}

fn flaky_rates(html: &mut Html, facts: &Facts<'_>) {
    if facts.summary.code.is_some() {
        for slot in facts.summary.slots.iter().filter(|slot| slot.flaky_cases.denominator > 0) {
            let partly = words::count(slot.flaky_cases.numerator);
            let tasks = words::plural(slot.flaky_cases.denominator, "task", "tasks");
            html.put(
                r#"<p class="finding"><bdi>{}</bdi>: of {} with several completions, {} solved by some of them only.</p>"#,
                &[&slot.slot, &tasks, &partly],
            );
        }
        return;
    }
    for slot in facts.summary.slots.iter().filter(|slot| slot.flaky_cases.denominator > 0) {
        let flaky = &slot.flaky_cases;
        html.put(
            r#"<p class="finding"><bdi>{}</bdi>: the repetitions of {} of {}"#,
            &[
                &slot.slot,
                &words::count(flaky.numerator),
                &words::plural(flaky.denominator, "repeated case", "repeated cases"),
            ],
        );
        html.put(" did not agree (<span class=\"nb\">{}</span>", &[&words::rate(flaky)]);
        if let Some(interval) = words::interval(flaky.low, flaky.high) {
            html.put(", 95 % interval <span class=\"nb\">{}</span>", &[&interval]);
        }
        html.put(").</p>", &[]);
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

fn spoken(cell: &Cell, code: bool) -> String {
    if cell.assessed == 0 {
        return format!("none of {} assessed", words::plural(cell.trials, "trial", "trials"));
    }
    let mut text = format!("{} of {} passed", cell.passed, cell.assessed);
    if cell.is_flaky() && !code {
        text.push_str(", flaky");
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
                (class(&cell), shown(&cell).as_str(), spoken(&cell, false).as_str()),
                (expected_class, expected, expected_spoken)
            );
        }
    }
}
