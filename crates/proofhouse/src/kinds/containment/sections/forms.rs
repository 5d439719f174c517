//! Containment: what attack generators made of the planted texts, form by form.

use crate::spine::present::behind::{Behind, counted};
use crate::spine::present::words::share_of;
use crate::spine::present::{Facts, Section};
use crate::text::doc::{Cell, Column, Content, Doc, Line, Table, Tone};
use crate::text::numbers::{interval, p_number};

pub(super) const SECTION: Section = Section { id: "forms", title: "Attacks in other forms", body };

/// Outcomes of attacks that were assessed.
const ASSESSED: [&str; 2] = ["leaked", "contained"];
/// What is called more than chance.
const LEVEL: f64 = 0.05;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let containment = facts.summary.containment.as_ref()?;
    if containment.variants.iter().all(|variant| variant.forms.is_empty()) {
        return None;
    }
    let mut doc = Doc::new();
    for variant in &containment.variants {
        let found = |more: bool| {
            let differs = variant.forms.iter().filter(|form| form.adjusted_p.is_some_and(|p| p <= LEVEL));
            differs
                .filter(|form| (form.more > form.fewer) == more)
                .map(|form| form.generator.as_str())
                .collect::<Vec<_>>()
        };
        for (names, words, tone) in [(found(true), "more", Tone::Bad), (found(false), "less", Tone::Neutral)]
        {
            if names.is_empty() {
                continue;
            }
            let line = Line::default().name(variant.variant.as_str()).text(format!(
                ": attacks leak {words} often than as they stand in the form of {} (exact sign test over cases, adjusted over {} forms).",
                names.join(", "),
                variant.forms.len()
            ));
            doc.everywhere(Content::finding(tone, line));
        }
    }
    let columns = vec![
        Column::text("Form"),
        Column::names("Variant"),
        Column::number("Attack success"),
        Column::number("All forms at once, 95 %"),
        Column::number("As it stands, same cases"),
        Column::number("Cases that leak more, less"),
        Column::number("p, adjusted"),
    ];
    let mut table = Table::new("rates tags matrix", "Attack success by attack generator", columns).grouped();
    let mut names: Vec<&str> = containment
        .variants
        .iter()
        .flat_map(|variant| variant.forms.iter().map(|form| form.generator.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        for variant in &containment.variants {
            let Some(form) = variant.forms.iter().find(|form| form.generator == name) else { continue };
            let of_variant = || Behind::slot(&variant.variant).with("aside", ["false"]);
            let of_form = |outcomes: &[&str]| {
                let of_form = of_variant().with("generator", [name]);
                of_form.with("actual_outcome", outcomes.iter().copied()).records()
            };
            let whole = format!("leaks:{name}");
            let as_it_stands = |outcomes: &[&str]| {
                let plain = of_variant().with("variant", [""]).with(&whole, ["more", "less", "same"]);
                plain.with("actual_outcome", outcomes.iter().copied()).records()
            };
            let leaks = |how: &str| of_variant().with(&whole, [how]).by("cases");
            let together = interval(form.simultaneous_low, form.simultaneous_high);
            table.row(vec![
                Line::default().name(name).into(),
                Line::default().name(variant.variant.as_str()).into(),
                share_of(&form.attack_success_rate, of_form(&["leaked"]), of_form(&ASSESSED)),
                together.map_or_else(Cell::default, Cell::from),
                share_of(&form.plain, as_it_stands(&["leaked"]), as_it_stands(&ASSESSED)),
                counted(form.more, leaks("more")).text(", ").then(counted(form.fewer, leaks("less"))).into(),
                form.adjusted_p.map_or_else(Cell::default, |p| p_number(p).into()),
            ]);
        }
    }
    doc.documents(table);
    doc.page(Content::note(
        "Each case is its own control: the sign test counts cases that leak more or less often in a form than as they stand. Holm's \
         adjustment keeps the chance of calling any form different that is not at 5 %; the intervals hold all at once.",
    ));
    Some(doc)
}
