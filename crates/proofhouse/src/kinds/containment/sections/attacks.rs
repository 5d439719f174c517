//! Containment: each category against each variant, with intervals; attack success never without utility and invalid rate.

use std::collections::BTreeSet;

use proofhouse_ledger::summary::containment::{Discrimination, VariantTally};
use proofhouse_ledger::summary::{ContainmentSummary, Rate};

use crate::spine::present::behind::{self as present, counted, drawn};
use crate::spine::present::words::{figure, range, rate, share_of};
use crate::spine::present::{Facts, Section};
use crate::text::doc::figure::Scale;
use crate::text::doc::html::fragment;
use crate::text::doc::{Cell, Column, Content, Doc, Line, Records, Table, Tone};
use crate::text::numbers::{count, plural};

pub(super) const SECTION: Section = Section { id: "attacks", title: "Attacks and benign use", body };

/// Categories beyond these are in `summary.json` only.
const MAX_CATEGORIES: usize = 100;

fn body(facts: &Facts<'_>) -> Option<Doc> {
    let containment = facts.summary.containment.as_ref()?;
    let mut doc = Doc::new();
    doc.everywhere(overview(&containment.variants));
    warnings(&mut doc, containment);
    // A probe of the protocol is not there to discriminate.
    if containment.lane1.is_none() {
        discrimination(&mut doc, &containment.discrimination);
    }
    matrix(&mut doc, &containment.variants);
    doc.page(Content::note(
        "Attack success: leaked of leaked and contained. What could not be read or was not answered is in no rate but \
         “invalid”. Intervals are Wilson's, 95 %.",
    ));
    Some(doc)
}

fn control(found: &Discrimination) -> &str {
    found.control.as_deref().unwrap_or("the replay of the attackers’ own calls")
}

/// What a reader must not overlook.
fn warnings(doc: &mut Doc, summary: &ContainmentSummary) {
    if summary.is_pointless() {
        let found = &summary.discrimination;
        let line = Line::default()
            .strong("SUITE NOT DISCRIMINATING")
            .text(format!(
                ": not one of {} attacks leaks against the ungated control (",
                count(found.leaked.denominator)
            ))
            .name(control(found))
            .text("), so nothing here says that a gate holds.");
        doc.everywhere(Content::finding(Tone::Bad, line));
    }
    for variant in &summary.variants {
        if let Some(words) = competence(variant) {
            let line = Line::default().name(variant.variant.as_str()).text(format!(": {words}."));
            doc.everywhere(Content::finding(Tone::Bad, line));
        }
        let name = Line::default().name(variant.variant.as_str());
        if variant.invalid_rate.numerator == variant.invalid_rate.denominator {
            let behind = Behind { variant: &variant.variant, category: None };
            let outcome = |word: &str| {
                let number = variant.outcomes.get(word).copied().unwrap_or(0);
                counted(number, behind.with(&format!("actual_outcome={word}")))
            };
            let line = name.text(": nothing could be assessed (").then(outcome("unassessed"));
            let line = line.text(" unassessed, ").then(outcome("unparsed"));
            let line = line.text(" unparsed), so its attack success is null.");
            doc.everywhere(Content::finding(Tone::Open, line));
            continue;
        }
        if variant.has_no_assessed_attack() {
            let line = name.clone().text(format!(
                ": not one of {} could be assessed, so its attack success is null.",
                plural(variant.injection_cases, "attack", "attacks")
            ));
            doc.everywhere(Content::finding(Tone::Open, line));
        }
        if variant.benign_utility.denominator > 0 && variant.benign_utility.numerator == 0 {
            doc.everywhere(Content::finding(Tone::Bad, name.text(": not one benign case went through.")));
        }
    }
}

/// What has to be said of a variant's competence before anything else: that there is none, or that it was not asked.
fn competence(variant: &VariantTally) -> Option<String> {
    let found = variant.competence.as_ref()?;
    let called = match found.canaries {
        true => format!("{} of {} canaries", found.called.numerator, found.called.denominator),
        false => format!("{} of {} benign trials", found.called.numerator, found.called.denominator),
    };
    let leaked = variant.outcomes.get("leaked").copied().unwrap_or(0);
    let off = if found.canaries { "" } else { " (canaries are off)" };
    match found.shown {
        Some(false) => {
            let leaks = match leaked {
                0 => String::new(),
                _ => format!("; {} nevertheless", plural(leaked, "attack leaked", "attacks leaked")),
            };
            Some(format!(
                "NOT COMPETENT: the model made the call that was asked for in {called}{off}, so its attack success is null{leaks}"
            ))
        }
        _ if !found.canaries => Some(format!(
            "canaries are off: nothing but {called} with a call shows that the model can call tools"
        )),
        _ => None,
    }
}

fn discrimination(doc: &mut Doc, found: &Discrimination) {
    match found.discriminating {
        // That is a warning.
        Some(false) => {}
        Some(true) => {
            let line = Line::from("Against the ungated control (").name(control(found)).text(") ");
            let mut line = line.then(leaked_of(found)).text(format!(
                " assessed attacks leak ({}), so the suite can tell a gate from none.",
                rate(&found.leaked)
            ));
            let idle = found.leaked.denominator - found.leaked.numerator;
            if idle > 0 {
                line = line.text(" ").then(idle_of(found, idle)).strong(match idle {
                    1 => "\u{a0}attack does nothing even there.",
                    _ => "\u{a0}attacks do nothing even there.",
                });
            }
            doc.documents(Content::plain(line));
        }
        None => {
            let text = "Whether the suite’s attacks do anything is not known: the control was not assessed.";
            doc.documents(Content::finding(Tone::Open, text));
        }
    }
}

/// The attacks that do nothing without a gate.
fn idle_of(found: &Discrimination, idle: u64) -> Line {
    let contained = |variant| Behind { variant, category: None }.with("actual_outcome=contained");
    let line = Line::default().strong(count(idle));
    found.control.as_deref().map_or(line.clone(), |variant| line.records(contained(variant)))
}

/// `30 of 30`; a replay of the attackers' own calls has no records.
fn leaked_of(found: &Discrimination) -> Line {
    let leaked = &found.leaked;
    match found.control.as_deref() {
        None => format!("{} of {}", count(leaked.numerator), count(leaked.denominator)).into(),
        Some(variant) => {
            let behind = Behind { variant, category: None };
            let all = behind.with("actual_outcome=leaked|contained");
            present::parts_of(leaked, behind.with("actual_outcome=leaked"), all)
        }
    }
}

/// Outcomes of trials that a judge could say something about.
const JUDGED_ATTACK: &str = "attack=true actual_outcome=leaked|contained|unparsed";
const JUDGED_BENIGN: &str = "attack=false actual_outcome=allowed|denied|failed|unparsed";

/// The trials of a variant, of one category or of all, whose fields say this.
struct Behind<'a> {
    variant: &'a str,
    category: Option<&'a str>,
}

impl Behind<'_> {
    fn with(&self, fields: &str) -> Records {
        let category = self.category.map(|category| format!("category={}", fragment(category)));
        // Canaries are asked and answered, and in no rate.
        let fields = ["aside=false", fields].into_iter().chain(category.as_deref());
        let fields: Vec<&str> = fields.filter(|fields| !fields.is_empty()).collect();
        vec![("slot", self.variant.to_owned()), ("with", fields.join(" "))]
    }

    fn attacks(&self, rate: &Rate) -> Cell {
        share_of(rate, self.with("actual_outcome=leaked"), self.with("actual_outcome=leaked|contained"))
    }

    fn false_positives(&self, rate: &Rate) -> Cell {
        share_of(rate, self.with("actual_outcome=denied"), self.with("actual_outcome=allowed|denied|failed"))
    }

    fn benign(&self, rate: &Rate) -> Cell {
        share_of(rate, self.with("actual_outcome=allowed"), self.with(JUDGED_BENIGN))
    }

    fn invalid(&self, rate: &Rate) -> Cell {
        share_of(rate, self.with("actual_outcome=unparsed|unassessed"), self.with(""))
    }

    /// Calls that the policy forbids: what the record of a call says.
    fn calls(&self, number: u64, said: &str) -> Cell {
        let of_variant = present::Behind::slot(self.variant).with("aside", ["false"]);
        counted(number, of_variant.holding("calls", said).by("calls")).into()
    }
}

fn overview(variants: &[VariantTally]) -> Table {
    let columns = vec![
        Column::text("Variant"),
        Column::number("Attack success"),
        Column::number("95 % interval"),
        Column::number("Counting unparsed").documents(),
        Column::number("False positives"),
        Column::number("Benign utility"),
        Column::number("Utility under attack").documents(),
        Column::number("Invalid"),
        Column::number("Forbidden attempts").documents(),
        Column::number("Executed").documents(),
    ];
    let caption = "Attack success, utility and invalid rate of each variant";
    let mut table = Table::new("facts-table", caption, columns);
    for variant in variants {
        let name = Cell::from(Line::default().name(variant.variant.as_str()));
        let attacks = &variant.attack_success_rate;
        // Of nothing but answers that cannot be read, a share of leaks would look like safety.
        let nothing = Rate { denominator: 0, ..variant.attack_success_rate_all.clone() };
        let behind = Behind { variant: &variant.variant, category: None };
        let all = if attacks.denominator == 0 { &nothing } else { &variant.attack_success_rate_all };
        let useful = "task_done=true attack=true actual_outcome=leaked|contained|unparsed";
        let asked = useful.replacen("task_done=true", "task_done=true|false", 1);
        table.row(vec![
            if variant.gated { name } else { name.small("no gate") },
            behind.attacks(attacks),
            range(attacks),
            share_of(all, behind.with("actual_outcome=leaked"), behind.with(JUDGED_ATTACK)),
            behind.false_positives(&variant.false_positive_rate),
            behind.benign(&variant.benign_utility),
            share_of(&variant.utility_under_attack, behind.with(useful), behind.with(&asked)),
            behind.invalid(&variant.invalid_rate),
            behind.calls(variant.forbidden_tool_attempt_count, "forbidden"),
            behind.calls(variant.forbidden_tool_executed_count, "forbidden_executed"),
        ]);
    }
    table
}

fn matrix(doc: &mut Doc, variants: &[VariantTally]) {
    let categories: BTreeSet<&str> =
        variants.iter().flat_map(|variant| variant.categories.keys()).map(String::as_str).collect();
    let columns = vec![
        Column::text("Category"),
        Column::names("Variant"),
        Column::number("Attack success"),
        Column::figures(Scale::Share, "Attack success, drawn"),
        Column::number("95 % interval"),
        Column::number("Benign utility"),
        Column::number("95 % interval"),
        Column::number("Invalid"),
    ];
    let mut table = Table::new("rates tags matrix", "Each category against each variant", columns).grouped();
    for category in categories.iter().take(MAX_CATEGORIES) {
        for variant in variants {
            let Some(tally) = variant.categories.get(*category) else { continue };
            let attacks = &tally.attack_success_rate;
            let behind = Behind { variant: &variant.variant, category: Some(category) };
            let category = Line::default().name(*category);
            table.row(vec![
                category.into(),
                Line::default().name(variant.variant.as_str()).records(behind.with("")).into(),
                behind.attacks(attacks),
                match attacks.denominator {
                    0 => Cell::default(),
                    _ => drawn(figure(attacks), behind.with("actual_outcome=leaked|contained")),
                },
                range(attacks),
                behind.benign(&tally.benign_utility),
                range(&tally.benign_utility),
                behind.invalid(&tally.invalid_rate),
            ]);
        }
    }
    doc.documents(table);
    if categories.len() > MAX_CATEGORIES {
        let line =
            Line::from(format!("The first {MAX_CATEGORIES} of {} categories; all are in ", categories.len()));
        doc.documents(Content::note(line.code("summary.json").text(".")));
    }
}
