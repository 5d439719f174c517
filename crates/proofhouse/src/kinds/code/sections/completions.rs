//! What only a `code` run has: pass@k, how far completions got, and what compiler and linter complained of.

use proofhouse_ledger::summary::{CodeSlot, PassAtK, Rate};

use crate::kinds::code::account;
use crate::spine::present::html::{Html, fragment};
use crate::spine::present::sections::{Facts, Section};
use crate::spine::present::table::{self, Column};
use crate::spine::present::{svg, words};

pub(super) const SECTION: Section = Section { id: "code", title: "Completions", body };

/// Codes of compiler and linter that are listed for each slot.
const MAX_CODES: usize = 10;

fn body(facts: &Facts<'_>) -> Option<Html> {
    let code = facts.summary.code.as_ref()?;
    let mut html = Html::new();
    for slot in &code.slots {
        html.put("<h3><bdi>{}</bdi></h3>", &[&slot.slot]);
        account(&mut html, slot);
        pass_at_k(&mut html, slot);
        robust(&mut html, slot);
        phases(&mut html, slot);
        measured(&mut html, slot);
        codes(&mut html, "Compiler errors", slot.compile_error_codes.iter());
        codes(&mut html, "Lints", slot.lint_names.iter());
    }
    Some(html)
}

/// Every completion is somewhere, and every task.
fn account(html: &mut Html, slot: &CodeSlot) {
    html.put(
        "<p>{}{}: {} scored, {} without a verdict because of machine, toolchain or model, {} left out. Tasks: ",
        &[
            &words::plural(slot.total, "completion", "completions"),
            &if slot.robust.is_empty() { "" } else { " of the tasks as they stand" },
            &words::count(slot.scored),
            &words::count(slot.infra),
            &words::count(slot.invalid),
        ],
    );
    html.put("{} solved by at least one completion.</p>", &[&words::tasks_solved(slot)]);
    let sentences = account::account(slot);
    if !sentences.is_empty() {
        html.put("<ul class=\"account\">", &[]);
        for sentence in &sentences {
            html.put("<li>", &[]);
            with_names(html, sentence);
            html.put("</li>", &[]);
        }
        html.put("</ul>", &[]);
    }
    for (name, count) in &slot.missing_crates {
        html.put(
            "<p class=\"note\"><strong>Needs crate <code>{}</code></strong>: {} could not be judged without it; \
             <code>crates:</code> in the suite adds it.</p>",
            &[name, &words::plural(*count, "completion", "completions")],
        );
    }
}

/// A sentence whose names stand in backticks.
fn with_names(html: &mut Html, sentence: &str) {
    for (nth, part) in sentence.split('`').enumerate() {
        let name = nth % 2 == 1;
        html.put(if name { "<code><bdi>{}</bdi></code>" } else { "{}" }, &[&part]);
    }
}

fn pass_at_k(html: &mut Html, slot: &CodeSlot) {
    let title = |point: &PassAtK| format!("pass@{}", point.k);
    if slot.pass_at_k.len() > 1 {
        let points: Vec<_> =
            slot.pass_at_k.iter().map(|point| (title(point), [point.low, point.value, point.high])).collect();
        svg::curve(html, "pass@k with 95 % intervals; the numbers are in the table below", &points);
    }
    if !slot.pass_at_k.is_empty() {
        let columns = [
            Column::Text("Measure"),
            Column::Number("Estimate"),
            Column::Number("95 % interval"),
            Column::Number("Tasks"),
            Column::Number("Of what was scored"),
            Column::Number("If all unassessed had failed / passed"),
        ];
        table::open(html, "rates", "pass@k, unbiased, mean over tasks", &columns);
        html.put("<tbody>", &[]);
        for point in &slot.pass_at_k {
            let interval = words::interval(Some(point.low), Some(point.high)).unwrap_or_default();
            html.put("<tr><th scope=\"row\">{}</th>", &[&title(point)]);
            html.put(
                r#"<td class="num">{}</td><td class="num">{}</td><td class="num">{}</td>"#,
                &[&words::percent(point.value), &interval, &words::count(point.tasks)],
            );
            let scored = slot.scored_pass_at_k.iter().find(|scored| scored.k == point.k);
            let scored = scored.map_or_else(|| "–".to_owned(), |scored| words::percent(scored.value));
            let bounds = match (point.worst, point.best) {
                (Some(worst), Some(best)) if slot.infra > 0 => {
                    format!("{} / {}", words::percent(worst), words::percent(best))
                }
                _ => "–".to_owned(),
            };
            html.put(r#"<td class="num">{}</td><td class="num">{}</td></tr>"#, &[&scored, &bounds]);
        }
        html.put("</tbody>", &[]);
        table::close(html);
    }
    for omitted in &slot.omitted_k {
        html.put("<p class=\"note\">pass@{} is left out: ", &[&omitted.k]);
        with_names(html, &omitted.reason);
        html.put(".</p>", &[]);
    }
}

fn robust(html: &mut Html, slot: &CodeSlot) {
    if slot.robust.is_empty() {
        return;
    }
    let columns = [
        Column::Text("Right in every one of"),
        Column::Text("Measure"),
        Column::Number("As it stands"),
        Column::Number("Robust"),
        Column::Number("95 % interval"),
        Column::Number("Lost"),
        Column::Number("Tasks"),
    ];
    table::open(html, "rates robust", "Robust pass@k, unbiased, mean over tasks", &columns);
    html.put("<tbody>", &[]);
    for row in &slot.robust {
        for at in &row.at_k {
            let interval = words::interval(Some(at.low), Some(at.high)).unwrap_or_default();
            let lost = at.drop.map_or_else(|| "–".to_owned(), |drop| format!("{:.1}\u{a0}%", 100.0 * drop));
            html.put(
                r#"<tr><th scope="row">{}</th><td data-label="Measure">robust&nbsp;pass@{}</td>"#,
                &[&words::wordings(row), &at.k],
            );
            html.put(
                r#"<td class="num" data-label="As it stands">{}</td><td class="num" data-label="Robust">{}</td>"#,
                &[&words::percent(at.pass_at_k), &words::percent(at.value)],
            );
            html.put(
                r#"<td class="num" data-label="95 % interval">{}</td><td class="num" data-label="Lost">{}</td><td class="num" data-label="Tasks">{}</td></tr>"#,
                &[&interval, &lost, &words::count(row.tasks)],
            );
        }
    }
    html.put("</tbody>", &[]);
    table::close(html);
    html.put(
        "<p class=\"note\">A completion is robustly right if it passes in the worst of the wordings, that is in all of them; \
         “all” has the task's own among them. “Lost” is the share of pass@k, on the same tasks as they stand, that is lost so. \
         Everything else here is of the tasks as they stand.</p>",
        &[],
    );
    for row in &slot.robust {
        let left_out = words::robust_left_out(slot, row);
        if left_out.is_some() || row.tasks_without_wording + row.tasks_without_verdict > 0 {
            let mut text = format!("{}: {}", words::wordings(row), words::tasks(row));
            left_out.iter().for_each(|reason| text.push_str(&format!("; {reason}")));
            html.put("<p class=\"note\">{}.</p>", &[&text]);
        }
    }
}

fn phases(html: &mut Html, slot: &CodeSlot) {
    let columns = [
        Column::Text("Phase"),
        Column::Number("Share"),
        Column::Scale(svg::share_scale),
        Column::Number("95 % interval"),
        Column::Number("Of those asked"),
    ];
    table::open(html, "rates", "How far completions got", &columns);
    html.put("<tbody>", &[]);
    let phases: [(&str, &Rate); 3] = [
        ("Compiled", &slot.compile_rate),
        ("Clean for clippy", &slot.clippy_rate),
        ("No main of its own", &slot.main_free_rate),
    ];
    for (title, rate) in phases.iter().filter(|(_, rate)| rate.denominator > 0) {
        html.put(
            r#"<tr><th scope="row">{}</th><td class="num">{}</td><td class="chart">"#,
            &[title, &words::rate(rate)],
        );
        svg::interval(html, rate, None, None);
        let interval = words::interval(rate.low, rate.high).unwrap_or_default();
        html.put(
            r#"</td><td class="num">{}</td><td class="num">{} of {}</td></tr>"#,
            &[&interval, &words::count(rate.numerator), &words::count(rate.denominator)],
        );
    }
    html.put("</tbody>", &[]);
    table::close(html);
}

fn measured(html: &mut Html, slot: &CodeSlot) {
    let whole = |value: f64| words::count(value.round().max(0.0) as u64);
    if let Some(time) = slot.mean_compile_time_ms {
        html.put("<p class=\"note\">Mean CPU time of the compiler: {} ms.</p>", &[&whole(time)]);
    }
    if let Some(size) = slot.mean_binary_size_bytes {
        html.put("<p class=\"note\">Mean size of the test program: {} bytes", &[&whole(size)]);
        if let Some(over) = slot.mean_binary_size_over_baseline_bytes {
            html.put(", {} more than one without completion and tests", &[&whole(over)]);
        }
        html.put(".</p>", &[]);
    }
}

fn codes<'a>(html: &mut Html, title: &'static str, counts: impl Iterator<Item = (&'a String, &'a u64)>) {
    let mut counts: Vec<_> = counts.collect();
    if counts.is_empty() {
        return;
    }
    counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let most = (*counts[0].1).max(1);
    let columns =
        [Column::Text(title), Column::Number("Completions"), Column::Chart("Beside the most frequent")];
    table::open(html, "rates errors", title, &columns);
    html.put("<tbody>", &[]);
    for (code, count) in counts.iter().take(MAX_CODES) {
        html.put(r##"<tr><th scope="row"><a href="#q={}"><bdi>{}</bdi></a></th>"##, &[&fragment(code), code]);
        html.put(r#"<td class="num">{}</td><td class="chart">"#, &[&words::count(**count)]);
        svg::bar(html, "error", **count as f64 / most as f64);
        html.put("</td></tr>", &[]);
    }
    html.put("</tbody>", &[]);
    table::close(html);
    if counts.len() > MAX_CODES {
        html.put(
            "<p class=\"note\">{} more are in <code>summary.json</code>.</p>",
            &[&(counts.len() - MAX_CODES)],
        );
    }
}
