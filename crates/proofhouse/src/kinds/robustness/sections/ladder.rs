//! The stress ladders: level by level how often the tool succeeds, and the line where it stops.

use proofhouse_ledger::summary::robustness::{Level, LevelVerdict, Robustness};

use crate::spine::present::html::Html;
use crate::spine::present::sections::{Facts, Section};
use crate::spine::present::table::{self, Column};
use crate::spine::present::{svg, words};

pub(super) const SECTION: Section = Section { id: "ladder", title: "Stress ladder", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    let found = facts.summary.robustness.as_ref().filter(|found| !found.levels.is_empty())?;
    let mut html = Html::new();
    let columns = [
        Column::Text("Case"),
        Column::Number("Level"),
        Column::Text("What was added"),
        Column::Text("Verdict"),
        Column::Number("Succeeded"),
        Column::Scale(svg::share_scale),
        Column::Number("Repairs per run"),
        Column::Text("Where it fails"),
    ];
    table::open(&mut html, "rates ladder", "Each stress level", &columns);
    html.put("<tbody>", &[]);
    for level in &found.levels {
        row(&mut html, level, is_boundary(found, level));
    }
    html.put("</tbody>", &[]);
    table::close(&mut html);
    html.put(
        r#"<p class="note">The heavy line is the capability boundary: the first level that fails systematically. Everything above it succeeds or is undetermined.</p>"#,
        &[],
    );
    Some(html)
}

fn is_boundary(found: &Robustness, level: &Level) -> bool {
    found.cases.iter().any(|case| {
        case.slot == level.slot && case.case_id == level.case_id && case.boundary == Some(level.level)
    })
}

fn row(html: &mut Html, level: &Level, boundary: bool) {
    let class = if boundary { "boundary" } else { "" };
    html.put(r#"<tr class="{}"><th scope="row"><bdi>{}</bdi></th>"#, &[&class, &level.case_id]);
    html.put(
        r#"<td class="num" data-label="Level">{}</td><td><code>{}</code></td>"#,
        &[&level.level, &level.generator],
    );
    let (class, word) = match level.verdict {
        LevelVerdict::ClearSuccess => ("verdict-good", "clear success"),
        LevelVerdict::SystematicFailure => ("verdict-bad", "systematic failure"),
        LevelVerdict::Undetermined => ("verdict-open", "undetermined"),
        LevelVerdict::Unassessed => ("verdict-open", "not assessed"),
    };
    let why = level.stop.as_ref().map_or("", |stop| stop.reason.as_str());
    html.put(
        r#"<td class="verdict"><span class="{}">{}</span><br><small class="why">{}</small></td>"#,
        &[&class, &word, &why],
    );
    html.put(
        r#"<td class="num" data-label="Succeeded">{} of {}</td><td class="chart">"#,
        &[&level.success.numerator, &level.runs],
    );
    svg::interval(html, &level.success, None, None);
    let repairs = level.mean_repairs.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.1}"));
    html.put(r#"</td><td class="num" data-label="Repairs per run">{}</td>"#, &[&repairs]);
    let stages: Vec<String> = level
        .failure_breakdown
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(stage, count)| format!("{stage} {}", words::count(*count)))
        .collect();
    let stages = if stages.is_empty() { "–".to_owned() } else { stages.join(", ") };
    html.put("<td>{}</td></tr>", &[&stages]);
}
