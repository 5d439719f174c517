//! The verdict and its uncertainty: the gate, and each target's pass rate with its interval and what was not assessed.

use proofhouse_ledger::summary::{Code, Gate, Slot};

use super::{Facts, Section};
use crate::spine::present::html::{Html, fragment};
use crate::spine::present::table::{self, Column};
use crate::spine::present::{svg, words};

pub(super) const SECTION: Section = Section { id: "verdict", title: "Verdict", body };

fn body(facts: &Facts<'_>) -> Option<Html> {
    let mut html = Html::new();
    headline(&mut html, facts);
    match &facts.summary.code {
        Some(code) => completions(&mut html, facts, code),
        None => {
            rates(&mut html, facts);
            reading_help(&mut html, facts);
        }
    }
    Some(html)
}

fn headline(html: &mut Html, facts: &Facts<'_>) {
    let summary = facts.summary;
    let (class, mark, title, text) = match &summary.gate {
        _ if summary.trials == 0 => {
            ("open", "○", "Nothing was planned", "This run has no trials.".to_owned())
        }
        _ if summary.assessed == 0 => (
            "open",
            "○",
            "Nothing could be assessed",
            format!(
                "Not one of {} could be judged, so there is no rate to give: neither a pass nor a failure.",
                words::plural(summary.trials, "trial", "trials")
            ),
        ),
        Some(gate @ Gate { held: Some(true), .. }) => {
            ("held", "✓", "The gate held", format!("{}.", gate.sentence))
        }
        Some(gate @ Gate { held: Some(false), .. }) => {
            ("failed", "✗", "The gate was missed", format!("{}.", gate.sentence))
        }
        Some(gate @ Gate { held: None, .. }) => {
            ("open", "○", "The gate is undecided", format!("{}.", gate.sentence))
        }
        None => ("none", "–", "No gate", "The suite declares no pass rate to reach.".to_owned()),
    };
    html.put(r#"<p class="headline {}"><span class="mark" aria-hidden="true">{}</span>"#, &[&class, &mark]);
    html.put("<span><strong>{}</strong> <span class=\"why\">{}</span></span></p>", &[&title, &text]);
}

fn rates(html: &mut Html, facts: &Facts<'_>) {
    if facts.summary.slots.is_empty() {
        return;
    }
    let columns = [
        Column::Text("Target"),
        Column::Number("Passed"),
        Column::Scale(svg::share_scale),
        Column::Number("95 % interval"),
        Column::Number("Passed of assessed"),
        Column::Number("Not assessed"),
    ];
    table::open(html, "rates", "Pass rate of each target", &columns);
    html.put("<tbody>", &[]);
    let gate = facts.summary.gate.as_ref().map(|gate| gate.pass_rate);
    for slot in &facts.summary.slots {
        slot_row(html, slot, (gate, words::spared(facts.summary.kind, &slot.counts)));
    }
    html.put("</tbody>", &[]);
    table::close(html);
}

/// A code run has one headline: pass@k, over tasks.
fn completions(html: &mut Html, facts: &Facts<'_>, code: &Code) {
    let columns = [
        Column::Text("Target"),
        Column::Number("pass@k"),
        Column::Scale(svg::share_scale),
        Column::Number("95 % interval"),
        Column::Number("Tasks solved"),
        Column::Number("Completions passed"),
        Column::Number("Not assessed"),
    ];
    table::open(html, "rates", "pass@k of each target", &columns);
    html.put("<tbody>", &[]);
    let gate = facts.summary.gate.as_ref().map(|gate| gate.pass_rate);
    for (slot, own) in facts.summary.slots.iter().zip(&code.slots) {
        html.put(r#"<tr><th scope="row"><bdi>{}</bdi></th>"#, &[&own.slot]);
        let rate = words::headline_rate(own);
        match own.pass_at_k.first() {
            Some(point) => html.put(
                r#"<td class="num big">{}<br><small>pass@{}</small></td><td class="chart">"#,
                &[&words::percent(point.value), &point.k],
            ),
            None => html.put(r#"<td class="num big missing">not assessed</td><td class="chart">"#, &[]),
        };
        svg::interval(html, &rate, None, gate);
        let interval = words::interval(rate.low, rate.high).unwrap_or_else(|| "–".to_owned());
        html.put(r#"</td><td class="num" data-label="95 % interval">{}</td>"#, &[&interval]);
        html.put(
            r#"<td class="num" data-label="Tasks solved">{}</td><td class="num" data-label="Completions passed">"#,
            &[&words::tasks_solved(own)],
        );
        link(html, slot, "passed", own.worst.numerator);
        html.put(" of {}</td>", &[&words::count(own.scored)]);
        html.put(r#"<td class="num" data-label="Not assessed">{}</td></tr>"#, &[&words::count(own.infra)]);
    }
    html.put("</tbody>", &[]);
    table::close(html);
    html.put(
        r#"<details class="help"><summary>How to read this</summary><p>pass@k is the chance that at least one of k completions
         solves a task, estimated without bias and averaged over tasks; a task that nobody answered counts as failed, a
         broken task is left out. The bar is its 95 % interval for tasks like these. What is behind each figure is told
         below, and in <code>summary.json</code>.</p></details>"#,
        &[],
    );
}

fn slot_row(html: &mut Html, slot: &Slot, (gate, spared): (Option<f64>, u64)) {
    let rate = &slot.pass_rate;
    html.put(r#"<tr><th scope="row"><bdi>{}</bdi></th>"#, &[&slot.slot]);
    let class = if rate.value.is_some() { "num big" } else { "num big missing" };
    html.put(r#"<td class="{}">{}</td><td class="chart">"#, &[&class, &words::rate(rate)]);
    svg::interval(html, rate, slot.pass_rate_clustered.as_ref(), gate);
    let interval = words::interval(rate.low, rate.high).unwrap_or_else(|| "–".to_owned());
    html.put(r#"</td><td class="num" data-label="95 % interval">{}"#, &[&interval]);
    let clustered = slot.pass_rate_clustered.as_ref().and_then(|mean| words::interval(mean.low, mean.high));
    if let Some(clustered) = clustered {
        html.put("<br><small>{} over cases</small>", &[&clustered]);
    }
    html.put(r#"</td><td class="num" data-label="Passed of assessed">"#, &[]);
    link(html, slot, "passed", rate.numerator);
    html.put(" of {}</td>", &[&words::count(rate.denominator)]);
    let unassessed = (slot.trials - spared).saturating_sub(rate.denominator);
    if unassessed == 0 {
        html.put(r#"<td class="num" data-label="Not assessed">0"#, &[]);
        if spared > 0 {
            html.put("<br><small>{} not needed</small>", &[&words::count(spared)]);
        }
        html.put("</td></tr>", &[]);
        return;
    }
    html.put(r#"<td class="num unassessed" data-label="Not assessed">"#, &[]);
    link(html, slot, "unassessed", unassessed);
    html.put(" of {}", &[&words::count(slot.trials)]);
    if let (Some(_), Some(worst)) = (rate.value, slot.pass_rate_all.value) {
        html.put("<br><small>{} if all had failed</small>", &[&words::percent(worst)]);
    }
    html.put("</td></tr>", &[]);
}

/// A count that leads to the records behind it.
fn link(html: &mut Html, slot: &Slot, verdict: &'static str, count: u64) {
    html.put(
        r##"<a href="#slot={}&amp;verdict={}">{}</a>"##,
        &[&fragment(&slot.slot), &verdict, &words::count(count)],
    );
}

fn reading_help(html: &mut Html, facts: &Facts<'_>) {
    let slots = &facts.summary.slots;
    html.put(
        r#"<details class="help"><summary>How to read this, and which records are behind it</summary>"#,
        &[],
    );
    html.put(
        "<p>The dot is the share of assessed trials that passed; the bar is the Wilson 95 % interval, which takes \
         the trials as independent. The lighter bar below it takes all trials of one case as one cluster: where \
         cases are repeated, it is the more careful one. A trial that could not be judged (an error, a timeout, \
         no verdict) is neither passed nor failed; it is counted under “not assessed”.</p>",
        &[],
    );
    if facts.summary.gate.is_some() {
        html.put("<p>The dashed line is the pass rate that the gate asks for.</p>", &[]);
    }
    let columns = ["Target", "Rate", "Numerator / denominator", "Records behind them"].map(Column::Text);
    table::open(html, "plain", "Which records are behind the rates", &columns);
    html.put("<tbody>", &[]);
    for slot in slots {
        let rates = [
            ("passed of assessed", &slot.pass_rate),
            ("passed of all", &slot.pass_rate_all),
            ("flaky cases", &slot.flaky_cases),
        ];
        for (name, rate) in rates {
            html.put("<tr><td><bdi>{}</bdi></td><td>{}</td>", &[&slot.slot, &name]);
            html.put("<td>{} / {}</td>", &[&words::count(rate.numerator), &words::count(rate.denominator)]);
            html.put("<td><code>{}</code></td></tr>", &[&rate.records]);
        }
    }
    html.put("</tbody>", &[]);
    table::close(html);
    html.put("</details>", &[]);
}
