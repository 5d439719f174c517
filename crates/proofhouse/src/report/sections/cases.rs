//! The heat map: each case on each target, as the share of its trials that passed, flaky ones marked.

use super::{Facts, Section};
use crate::report::html::{Html, fragment};
use crate::report::survey::{Cell, MAX_HEAT_CASES, MAX_HEAT_CELLS};
use crate::report::words;

pub(super) const SECTION: Section = Section { id: "cases", title: "Case by case", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    if facts.summary.trials == 0 {
        return None;
    }
    let mut html = Html::new();
    flaky_rates(&mut html, facts);
    let Some(heat) = &facts.survey.heat else {
        html.put(
            r#"<p class="note">No heat map: it is drawn for at most {} cases and {} cells. The table below can be filtered by case.</p>"#,
            &[&MAX_HEAT_CASES, &words::count(MAX_HEAT_CELLS as u64)],
        );
        return Some(html);
    };
    let slots = &facts.summary.slots;
    html.put(r#"<p class="legend"><span>Cells from left to right:"#, &[]);
    for (at, slot) in slots.iter().enumerate() {
        html.put("{} <bdi><b>{}</b></bdi>", &[&(if at == 0 { "" } else { "," }), &slot.slot]);
    }
    html.put(r#"</span> <span class="key"><i class="cell s4"></i>all passed</span> <span class="key"><i class="cell s2"></i>some passed</span>"#, &[]);
    html.put(r#" <span class="key"><i class="cell s0"></i>none passed</span> <span class="key"><i class="cell flaky s2">≈</i>flaky: repetitions disagree</span>"#, &[]);
    html.put(r#" <span class="key"><i class="cell none">–</i>not assessed</span></p><ul class="heat">"#, &[]);
    for (case, cells) in &heat.rows {
        html.put(r#"<li><span class="cells">"#, &[]);
        for (slot, cell) in slots.iter().zip(cells) {
            let spoken = format!("{}: {}", slot.slot, spoken(cell));
            html.put(
                r#"<span class="cell {}" role="img" aria-label="{}" title="{}">{}</span>"#,
                &[&class(cell), &spoken, &spoken, &shown(cell)],
            );
        }
        html.put(r##"</span><a href="#case={}"><bdi>{}</bdi></a></li>"##, &[&fragment(case), &clipped(case)]);
    }
    html.put("</ul>", &[]);
    Some(html)
}

fn flaky_rates(html: &mut Html, facts: &Facts<'_>) {
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
        html.put(" did not agree ({}", &[&words::rate(flaky)]);
        if let Some(interval) = words::interval(flaky.low, flaky.high) {
            html.put(", 95 % interval {}", &[&interval]);
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
    match cell.assessed {
        0 => "–".to_owned(),
        assessed if cell.is_flaky() => format!("≈{}/{assessed}", cell.passed),
        assessed => format!("{}/{assessed}", cell.passed),
    }
}

fn spoken(cell: &Cell) -> String {
    let mut text = match cell.assessed {
        0 => "not assessed".to_owned(),
        assessed => format!("{} of {assessed} passed", cell.passed),
    };
    if cell.is_flaky() {
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
