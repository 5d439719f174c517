//! Cases down, generators across: how much of the baseline's success each kind of rewording leaves.

use proofhouse_ledger::summary::robustness::{Robustness, Variant, VariantVerdict};

use crate::spine::present::html::Html;
use crate::spine::present::sections::{Facts, Section};
use crate::spine::present::table::{self, Column};
use crate::spine::present::words;

pub(super) const SECTION: Section = Section { id: "heat-map", title: "What rewording does", body };

/// Variants beyond these are in `summary.json` only.
const MAX_LISTED: usize = 200;

fn body(facts: &Facts<'_>) -> Option<Html> {
    let found = facts.summary.robustness.as_ref()?;
    if found.variants.is_empty() && found.shortfalls.is_empty() {
        return None;
    }
    let mut html = Html::new();
    for slot in &facts.summary.slots {
        if facts.summary.slots.len() > 1 {
            html.put("<h3><bdi>{}</bdi></h3>", &[&slot.slot]);
        }
        map(&mut html, found, &slot.slot);
    }
    html.put(
        r#"<p class="note">Each cell: the success rate over all variants of the generator, and in the darker shades how much of the baseline's rate is lost. “Structural” counts variants that differ by more than chance explains.</p>"#,
        &[],
    );
    variants(&mut html, found);
    shortfalls(&mut html, found);
    Some(html)
}

fn map(html: &mut Html, found: &Robustness, slot: &str) {
    let own: Vec<&Variant> = found.variants.iter().filter(|variant| variant.slot == slot).collect();
    let mut cases: Vec<&str> = Vec::new();
    let mut generators: Vec<&str> = Vec::new();
    for variant in &own {
        if !cases.contains(&variant.case_id.as_str()) {
            cases.push(&variant.case_id);
        }
        if !generators.contains(&variant.generator.as_str()) {
            generators.push(&variant.generator);
        }
    }
    if own.is_empty() {
        return;
    }
    html.put(
        r#"<div class="scroll"><table class="rates heat"><caption class="quiet">Success by case and generator</caption><thead><tr><th scope="col">Case</th><th scope="col">As it stands</th>"#,
        &[],
    );
    for generator in &generators {
        html.put(r#"<th scope="col"><code>{}</code></th>"#, &[generator]);
    }
    html.put("</tr></thead><tbody>", &[]);
    for case in cases {
        let base = found.baselines.iter().find(|baseline| baseline.slot == slot && baseline.case_id == case);
        let base = base.and_then(|baseline| baseline.success.value);
        html.put(r#"<tr><th scope="row"><bdi>{}</bdi></th>"#, &[&case]);
        html.put(r#"<td class="heat-cell">{}</td>"#, &[&base.map_or_else(|| "–".to_owned(), words::percent)]);
        for generator in &generators {
            let of_cell =
                own.iter().filter(|variant| variant.case_id == case && variant.generator == *generator);
            cell(html, &of_cell.copied().collect::<Vec<_>>(), base);
        }
        html.put("</tr>", &[]);
    }
    html.put("</tbody>", &[]);
    table::close(html);
}

fn cell(html: &mut Html, variants: &[&Variant], base: Option<f64>) {
    let passed: u64 = variants.iter().map(|variant| variant.success.numerator).sum();
    let runs: u64 = variants.iter().map(|variant| variant.success.denominator).sum();
    if runs == 0 {
        html.put(r#"<td class="heat-cell loss-none">–</td>"#, &[]);
        return;
    }
    let rate = passed as f64 / runs as f64;
    let lost = base.filter(|base| *base > 0.0).map_or(0.0, |base| (base - rate) / base);
    let class = match lost {
        lost if lost > 0.66 => "loss-3",
        lost if lost > 0.33 => "loss-2",
        lost if lost > 0.05 => "loss-1",
        _ => "loss-0",
    };
    let structural = variants.iter().filter(|variant| variant.verdict == VariantVerdict::Structural).count();
    html.put(
        r#"<td class="heat-cell {}"><strong>{}</strong><br><small>{} of {} structural</small></td>"#,
        &[&class, &words::percent(rate), &structural, &variants.len()],
    );
}

fn variants(html: &mut Html, found: &Robustness) {
    html.put(r#"<details class="help"><summary>Every variant, with its test</summary>"#, &[]);
    let columns = [
        Column::Text("Case"),
        Column::Text("Variant"),
        Column::Text("Verdict"),
        Column::Number("Succeeded"),
        Column::Number("Deviating runs"),
        Column::Number("p, adjusted"),
        Column::Text("Why it ended"),
    ];
    table::open(html, "plain", "Every variant", &columns);
    html.put("<tbody>", &[]);
    for variant in found.variants.iter().take(MAX_LISTED) {
        let (class, word) = match variant.verdict {
            VariantVerdict::NoEvidence => ("verdict-good", "no evidence"),
            VariantVerdict::Stochastic => ("verdict-open", "stochastic"),
            VariantVerdict::Structural => ("verdict-bad", "structural"),
            VariantVerdict::Unassessed => ("verdict-open", "not assessed"),
        };
        html.put(
            "<tr><td><bdi>{}</bdi></td><td><code>{}</code></td>",
            &[&variant.case_id, &variant.variant_id],
        );
        html.put(r#"<td class="{}">{}</td>"#, &[&class, &word]);
        html.put(
            r#"<td class="num">{} of {}</td><td class="num">{}</td>"#,
            &[&variant.success.numerator, &variant.runs, &variant.deviating],
        );
        let adjusted = variant.adjusted_p.map_or_else(|| "–".to_owned(), words::p_value);
        let why = variant.stop.as_ref().map_or("", |stop| stop.reason.as_str());
        html.put(r#"<td class="num">{}</td><td>{}</td></tr>"#, &[&adjusted, &why]);
    }
    html.put("</tbody>", &[]);
    table::close(html);
    if found.variants.len() > MAX_LISTED {
        html.put(
            r#"<p class="note">The first {} of {} variants; all are in <code>summary.json</code>.</p>"#,
            &[&MAX_LISTED, &found.variants.len()],
        );
    }
    html.put("</details>", &[]);
}

fn shortfalls(html: &mut Html, found: &Robustness) {
    if found.shortfalls.is_empty() {
        return;
    }
    html.put("<h3>Variants that could not be had</h3>", &[]);
    let columns = [
        Column::Text("Case"),
        Column::Text("Generator"),
        Column::Number("Asked for"),
        Column::Number("There are"),
        Column::Text("Why"),
    ];
    table::open(html, "plain", "Variants that could not be had", &columns);
    html.put("<tbody>", &[]);
    for row in &found.shortfalls {
        html.put("<tr><td><bdi>{}</bdi></td><td><code>{}</code></td>", &[&row.case_id, &row.generator]);
        html.put(
            r#"<td class="num">{}</td><td class="num">{}</td><td><code>{}</code></td></tr>"#,
            &[&row.requested, &row.produced, &row.reason],
        );
    }
    html.put("</tbody>", &[]);
    table::close(html);
}
