//! Cases down, generators across: how much of the baseline's success each kind of rewording leaves.

use proofhouse_ledger::summary::robustness::{
    Baseline, GeneratorEffect, Robustness, Variant, VariantVerdict,
};

use super::behind;
use crate::spine::present::behind::{Behind, counted, parts_of};
use crate::spine::present::{Facts, Section};
use crate::text::doc::{Cell, Column, Content, Doc, Line, Records, Table, Tone};
use crate::text::numbers::{p_value, percent};

pub(super) const SECTION: Section = Section { id: "heat-map", title: "What rewording does", body };

/// Variants beyond these are in `summary.json` only.
const MAX_LISTED: usize = 200;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let found = facts.summary.robustness.as_ref()?;
    if found.variants.is_empty() && found.shortfalls.is_empty() {
        return None;
    }
    let mut doc = Doc::new();
    for slot in &facts.summary.slots {
        if facts.summary.slots.len() > 1 {
            doc.documents(Content::Heading(Line::default().name(slot.slot.as_str())));
        }
        map(&mut doc, found, &slot.slot);
    }
    doc.documents(Content::note(
        "Each cell: the success rate over all variants of the generator, and in the darker shades how much of the \
         baseline's rate is lost. “Structural” counts variants that differ by more than chance explains.",
    ));
    for generator in &found.generators {
        let slot = (facts.summary.slots.len() > 1).then_some(generator.slot.as_str());
        let line = slot.map_or(Line::default(), |slot| Line::default().name(slot).text(": "));
        let tone = match generator.effect {
            GeneratorEffect::ChangesOutcomes => Tone::Bad,
            GeneratorEffect::Equivalent => Tone::Good,
            GeneratorEffect::NotEnoughRuns => Tone::Open,
        };
        doc.documents(Content::finding(tone, line.text(format!("{}.", generator.sentence))));
    }
    for case in &found.cases {
        let Some(sentence) = &case.sensitivity_sentence else { continue };
        let line = Line::default().name(case.case_id.as_str()).text(format!(": {sentence}."));
        doc.documents(Content::finding(Tone::Neutral, line));
    }
    for part in &found.components {
        let line = Line::default().name(part.slot.as_str()).text(format!(": {}.", part.sentence));
        doc.documents(Content::finding(Tone::Neutral, line));
    }
    variants(&mut doc, found);
    shortfalls(&mut doc, found);
    Some(doc)
}

fn map(doc: &mut Doc, found: &Robustness, slot: &str) {
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
    let mut columns = vec![Column::text("Case"), Column::text("As it stands")];
    columns.extend(generators.iter().map(|generator| Column::text(*generator)));
    let mut table = Table::new("rates heat", "Success by case and generator", columns);
    for case in cases {
        let base = found.baselines.iter().find(|baseline| baseline.slot == slot && baseline.case_id == case);
        let base = base.and_then(|baseline| baseline.success.value);
        let mut cells: Vec<Cell> = vec![
            Line::default().name(case).into(),
            base.map_or_else(Cell::dash, |base| as_it_stands(slot, case, base)).class("heat-cell"),
        ];
        cells.extend(generators.iter().map(|generator| {
            let of_cell =
                own.iter().filter(|variant| variant.case_id == case && variant.generator == *generator);
            cell(&of_cell.copied().collect::<Vec<_>>(), base)
        }));
        table.row(cells);
    }
    doc.documents(table);
}

/// The baseline's rate, which leads to its runs.
fn as_it_stands(slot: &str, case: &str, rate: f64) -> Cell {
    let runs = Behind::slot(slot).filter("case", case).with("variant", [""]);
    Line::from(percent(rate)).records(behind::assessed(runs).records()).into()
}

fn cell(variants: &[&Variant], base: Option<f64>) -> Cell {
    let passed: u64 = variants.iter().map(|variant| variant.success.numerator).sum();
    let runs: u64 = variants.iter().map(|variant| variant.success.denominator).sum();
    if runs == 0 {
        return Cell::dash().class("heat-cell loss-none");
    }
    let rate = passed as f64 / runs as f64;
    let lost = base.filter(|base| *base > 0.0).map_or(0.0, |base| (base - rate) / base);
    let class = match lost {
        lost if lost > 0.66 => "heat-cell loss-3",
        lost if lost > 0.33 => "heat-cell loss-2",
        lost if lost > 0.05 => "heat-cell loss-1",
        _ => "heat-cell loss-0",
    };
    let name = |variant: &&&Variant| {
        behind::name(&variant.slot, &variant.case_id, Some(variant.variant_id.as_str()))
    };
    let all: Vec<String> = variants.iter().map(|variant| name(&variant)).collect();
    let structural = variants.iter().filter(|variant| variant.verdict == VariantVerdict::Structural);
    let structural: Vec<String> = structural.map(|variant| name(&variant)).collect();
    let of = |names: &[String]| counted(names.len() as u64, behind::of_groups(names).by("variants"));
    let assessed = behind::assessed(behind::of_groups(&all)).records();
    Cell::from(Line::default().strong(percent(rate)).records(assessed))
        .small(of(&structural).text(" of ").then(of(&all)).text(" structural"))
        .class(class)
}

fn variants(doc: &mut Doc, found: &Robustness) {
    let columns = vec![
        Column::text("Case"),
        Column::text("Variant"),
        Column::text("Verdict"),
        Column::number("Succeeded"),
        Column::number("Deviating runs"),
        Column::number("p, adjusted"),
        Column::text("Why it ended"),
    ];
    let mut table = Table::new("plain", "Every variant", columns);
    for variant in found.variants.iter().take(MAX_LISTED) {
        let (tone, word) = match variant.verdict {
            VariantVerdict::NoEvidence => (Tone::Open, "no deviation seen"),
            VariantVerdict::Stochastic => (Tone::Open, "stochastic"),
            VariantVerdict::Structural => (Tone::Bad, "structural"),
            VariantVerdict::Unassessed => (Tone::Open, "not assessed"),
        };
        table.row(vec![
            Line::default().name(variant.case_id.as_str()).into(),
            Line::default().code(variant.variant_id.as_str()).into(),
            Cell::from(word).tone(tone),
            parts_of(
                &variant.success,
                behind::succeeded(behind::of_variant(variant)).records(),
                behind::of_variant(variant).records(),
            )
            .into(),
            counted(variant.deviating, deviating(found, variant)).into(),
            variant.adjusted_p.map_or_else(Cell::dash, |p| p_value(p).into()),
            variant.stop.as_ref().map_or("", |stop| stop.reason.as_str()).into(),
        ]);
    }
    let mut inside = Doc::new();
    inside.page(table);
    if found.variants.len() > MAX_LISTED {
        let text = format!("The first {MAX_LISTED} of {} variants; all are in ", found.variants.len());
        inside.page(Content::note(Line::from(text).code("summary.json").text(".")));
    }
    let summary = "Every variant, with its test".into();
    doc.page(Content::More { summary, open: false, class: "help", blocks: inside.blocks });
}

/// The runs whose outcome is not the usual one of the instruction as it stands.
fn deviating(found: &Robustness, variant: &Variant) -> Records {
    let own = |base: &&Baseline| base.slot == variant.slot && base.case_id == variant.case_id;
    let usual = found.baselines.iter().find(own).and_then(|base| base.modal.as_ref());
    let usual = usual.map(behind::observed).unwrap_or_default();
    behind::of_variant(variant).without("observed", [usual.as_str()]).records()
}

fn shortfalls(doc: &mut Doc, found: &Robustness) {
    if found.shortfalls.is_empty() {
        return;
    }
    doc.documents(Content::Heading("Variants that could not be made".into()));
    let columns = vec![
        Column::text("Case"),
        Column::text("Generator"),
        Column::number("Asked for"),
        Column::number("There are"),
        Column::text("Why"),
    ];
    let mut table = Table::new("plain", "Variants that could not be made", columns);
    for row in &found.shortfalls {
        table.row(vec![
            Line::default().name(row.case_id.as_str()).into(),
            Line::default().code(row.generator.as_str()).into(),
            row.requested.to_string().into(),
            row.produced.to_string().into(),
            Line::default().code(row.reason.as_str()).into(),
        ]);
    }
    doc.documents(table);
}
