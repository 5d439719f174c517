//! Containment: each category against each variant, with intervals; attack success never without utility and invalid rate.

use std::collections::BTreeSet;

use proofhouse_ledger::summary::Rate;
use proofhouse_ledger::summary::containment::{Discrimination, VariantTally};

use crate::spine::present::html::Html;
use crate::spine::present::sections::{Facts, Section};
use crate::spine::present::table::{self, Column};
use crate::spine::present::{svg, words};

pub(super) const SECTION: Section = Section { id: "attacks", title: "Attacks and benign use", body };

/// Categories beyond these are in `summary.json` only.
const MAX_CATEGORIES: usize = 100;

fn body(facts: &Facts<'_>) -> Option<Html> {
    let containment = facts.summary.containment.as_ref()?;
    let mut html = Html::new();
    // A probe of the protocol is not there to discriminate.
    if containment.lane1.is_none() {
        discrimination(&mut html, &containment.discrimination);
    }
    for variant in &containment.variants {
        if let Some(words) = words::competence(variant) {
            html.put(
                r#"<p class="finding"><strong><bdi>{}</bdi></strong>: {}.</p>"#,
                &[&variant.variant, &words],
            );
        }
    }
    overview(&mut html, &containment.variants);
    matrix(&mut html, &containment.variants);
    html.put(
        r#"<p class="note">Attack success: leaked of leaked and contained. What could not be read or was not answered is in "#,
        &[],
    );
    html.put("no rate but <em>invalid</em>. Intervals are Wilson's, 95 %.</p>", &[]);
    Some(html)
}

fn discrimination(html: &mut Html, found: &Discrimination) {
    let control = found.control.as_deref().unwrap_or("the replay of the attackers’ own calls");
    let (leaked, attacks) = (words::count(found.leaked.numerator), words::count(found.leaked.denominator));
    match found.discriminating {
        Some(false) => {
            html.put(
                r#"<p class="finding"><strong>Suite not discriminating.</strong> Not one of {} attacks leaks against the "#,
                &[&attacks],
            );
            html.put(
                "ungated control (<bdi>{}</bdi>). Nothing on this page says that a gate holds.</p>",
                &[&control],
            );
        }
        Some(true) => {
            html.put("<p>Against the ungated control (<bdi>{}</bdi>) {} of ", &[&control, &leaked]);
            html.put(
                "{} assessed attacks leak ({}), so the suite can tell a gate from none.",
                &[&attacks, &words::rate(&found.leaked)],
            );
            let idle = found.leaked.denominator - found.leaked.numerator;
            if idle > 0 {
                html.put(" <strong>{} attacks do nothing even there.</strong>", &[&words::count(idle)]);
            }
            html.put("</p>", &[]);
        }
        None => {
            html.put(
                "<p class=\"finding\">Whether the suite’s attacks do anything is not known: the control was not assessed.</p>",
                &[],
            );
        }
    }
}

fn overview(html: &mut Html, variants: &[VariantTally]) {
    let columns = [
        Column::Text("Variant"),
        Column::Number("Attack success"),
        Column::Number("Counting unparsed"),
        Column::Number("False positives"),
        Column::Number("Benign utility"),
        Column::Number("Utility under attack"),
        Column::Number("Invalid"),
        Column::Number("Forbidden attempts"),
        Column::Number("Executed"),
    ];
    table::open(html, "facts-table", "Attack success, utility and invalid rate of each variant", &columns);
    html.put("<tbody>", &[]);
    for variant in variants {
        html.put(r#"<tr><th scope="row"><bdi>{}</bdi>"#, &[&variant.variant]);
        html.put(if variant.gated { "</th>" } else { "<br><small>no gate</small></th>" }, &[]);
        let attacks = &variant.attack_success_rate;
        html.put(r#"<td class="num">"#, &[]);
        match words::interval(attacks.low, attacks.high) {
            Some(interval) => {
                let (leaked, all) = (words::count(attacks.numerator), words::count(attacks.denominator));
                html.put(r#"{} <span class="soft">{}/{}</span>"#, &[&words::rate(attacks), &leaked, &all]);
                html.put("<br><small>{}</small></td>", &[&interval])
            }
            None => html.put(r#"<span class="missing">–</span></td>"#, &[]),
        };
        // Of nothing but answers that cannot be read, a share of leaks would look like safety.
        let nothing = Rate { denominator: 0, ..variant.attack_success_rate_all.clone() };
        for rate in [
            if attacks.denominator == 0 { &nothing } else { &variant.attack_success_rate_all },
            &variant.false_positive_rate,
            &variant.benign_utility,
            &variant.utility_under_attack,
            &variant.invalid_rate,
        ] {
            share(html, rate);
        }
        html.put(
            r#"<td class="num">{}</td><td class="num">{}</td></tr>"#,
            &[
                &words::count(variant.forbidden_tool_attempt_count),
                &words::count(variant.forbidden_tool_executed_count),
            ],
        );
    }
    html.put("</tbody>", &[]);
    table::close(html);
}

fn matrix(html: &mut Html, variants: &[VariantTally]) {
    let categories: BTreeSet<&str> =
        variants.iter().flat_map(|variant| variant.categories.keys()).map(String::as_str).collect();
    let columns = [
        Column::Text("Category"),
        Column::Text("Variant"),
        Column::Number("Attack success"),
        Column::Scale(svg::share_scale),
        Column::Number("95 % interval"),
        Column::Number("Benign utility"),
        Column::Number("95 % interval"),
        Column::Number("Invalid"),
    ];
    table::open(html, "rates tags matrix", "Each category against each variant", &columns);
    for category in categories.iter().take(MAX_CATEGORIES) {
        html.put("<tbody>", &[]);
        let rows: Vec<_> = variants
            .iter()
            .filter_map(|variant| Some((variant, variant.categories.get(*category)?)))
            .collect();
        for (at, (variant, tally)) in rows.iter().enumerate() {
            html.put("<tr>", &[]);
            if at == 0 {
                html.put(r#"<th scope="rowgroup" rowspan="{}"><bdi>{}</bdi></th>"#, &[&rows.len(), category]);
            }
            html.put(r#"<td class="slot"><bdi>{}</bdi></td>"#, &[&variant.variant]);
            share(html, &tally.attack_success_rate);
            html.put(r#"<td class="chart">"#, &[]);
            if tally.attack_success_rate.denominator > 0 {
                svg::interval(html, &tally.attack_success_rate, None, None);
            }
            html.put("</td>", &[]);
            interval(html, &tally.attack_success_rate);
            share(html, &tally.benign_utility);
            interval(html, &tally.benign_utility);
            share(html, &tally.invalid_rate);
            html.put("</tr>", &[]);
        }
        html.put("</tbody>", &[]);
    }
    table::close(html);
    if categories.len() > MAX_CATEGORIES {
        html.put(
            r#"<p class="note">The first {} of {} categories; all are in <code>summary.json</code>.</p>"#,
            &[&MAX_CATEGORIES, &categories.len()],
        );
    }
}

fn share(html: &mut Html, rate: &Rate) {
    match rate.denominator {
        0 => html.put(r#"<td class="num missing">–</td>"#, &[]),
        all => html.put(
            r#"<td class="num">{} <span class="soft">{}/{}</span></td>"#,
            &[&words::rate(rate), &words::count(rate.numerator), &words::count(all)],
        ),
    };
}

fn interval(html: &mut Html, rate: &Rate) {
    let interval = words::interval(rate.low, rate.high).unwrap_or_else(|| "–".to_owned());
    html.put(r#"<td class="num" data-label="95 % interval">{}</td>"#, &[&interval]);
}
