//! What rewording does: generators over their cases, variants inside those that change anything, and where success varies.

use std::collections::BTreeMap;

use proofhouse_ledger::record::{Mode, Observed};
use proofhouse_ledger::summary::robustness::{
    Components, Generator, GeneratorEffect, Variant, VariantVerdict,
};

use super::super::policy::{ALPHA, modal};
use super::{Finder, rate, round, successes};
use crate::stats::decisions::{self, Effect, Pooled, Reworded};
use crate::stats::{Stratum, benjamini_hochberg, variance_components};

impl Finder {
    /// Each target's generators: first one pooled test each, then the variants of those that it picked.
    pub(super) fn generators(&self, variants: &mut [Variant]) -> Vec<Generator> {
        let mut names: Vec<(String, String)> = Vec::new();
        for variant in variants.iter() {
            let name = (variant.slot.clone(), variant.generator.clone());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.sort_by(|a, b| a.0.cmp(&b.0));
        let mut all = Vec::new();
        for of_slot in names.chunk_by(|a, b| a.0 == b.0) {
            let pooled: Vec<Pooled> = of_slot.iter().map(|(slot, name)| self.pooled(slot, name)).collect();
            let found = decisions::reworded(&pooled);
            let picked = found.iter().filter(|found| found.effect == Effect::Changes).count();
            // Benjamini and Bogomolov (2014): inside picked families at the level that the picking leaves.
            let level = ALPHA * picked as f64 / found.len() as f64;
            for ((slot, name), found) in of_slot.iter().zip(&found) {
                let mut own: Vec<&mut Variant> = variants
                    .iter_mut()
                    .filter(|variant| variant.slot == *slot && variant.generator == *name)
                    .collect();
                if found.effect == Effect::Changes {
                    adjust(&mut own, level);
                }
                all.push(self.generator((slot, name), &own, found));
            }
        }
        all
    }

    /// A generator's runs and those of the wordings as they stand, by case.
    fn pooled(&self, slot: &str, name: &str) -> Pooled {
        let mut pooled = Pooled::default();
        for base in self.groups.iter().filter(|group| group.slot == slot && group.mode == Mode::Baseline) {
            let own = self.groups.iter().filter(|group| {
                group.slot == slot
                    && group.case_id == base.case_id
                    && group.generator.as_deref() == Some(name)
            });
            let reworded: Vec<Observed> = own
                .filter(|group| group.mode == Mode::Adversarial)
                .flat_map(|group| group.seen.iter().copied())
                .collect();
            let together: Vec<Observed> = base.seen.iter().chain(&reworded).copied().collect();
            // The usual outcome of both groups together: which one that is says nothing about either of them.
            let Some((usual, _)) = modal(&together) else { continue };
            let count = |runs: &[Observed], is: &dyn Fn(&Observed) -> bool| {
                (runs.iter().filter(|seen| is(seen)).count() as u64, runs.len() as u64)
            };
            let stratum = |is: &dyn Fn(&Observed) -> bool| Stratum {
                first: count(&base.seen, is),
                second: count(&reworded, is),
            };
            pooled.usual.push(stratum(&|seen| *seen == usual));
            pooled.success.push(stratum(&|seen| seen.success));
        }
        pooled
    }

    fn generator(&self, (slot, name): (&str, &str), own: &[&mut Variant], found: &Reworded) -> Generator {
        let with =
            |verdict: VariantVerdict| own.iter().filter(|variant| variant.verdict == verdict).count() as u64;
        let (passed, runs) = own.iter().fold((0, 0), |(passed, runs), variant| {
            (passed + variant.success.numerator, runs + variant.runs)
        });
        let mut cases: Vec<&str> = own.iter().map(|variant| variant.case_id.as_str()).collect();
        cases.dedup();
        let bases = cases.iter().filter_map(|case| self.base_of(slot, case));
        let (base_passed, base_runs) = bases
            .fold((0, 0), |(passed, runs), base| (passed + successes(base), runs + base.seen.len() as u64));
        let success = rate(passed, runs, format!("success of slot={slot:?} generator={name:?}"));
        let base_success =
            rate(base_passed, base_runs, format!("success of slot={slot:?} suite=baseline, its cases"));
        let relative_drop = match (base_success.value, success.value) {
            (Some(base), Some(value)) if base > 0.0 => Some(round((base - value) / base)),
            _ => None,
        };
        Generator {
            slot: slot.to_owned(),
            generator: name.to_owned(),
            variants: own.len() as u64,
            structural: with(VariantVerdict::Structural),
            stochastic: with(VariantVerdict::Stochastic),
            success,
            base_success,
            relative_drop,
            cases: found.cases,
            p_value: found.p.map(round),
            adjusted_p: found.adjusted_p.map(round),
            difference: found.difference.map(|(value, _)| round(value)),
            difference_low: found.difference.map(|(_, interval)| round(interval.low)),
            difference_high: found.difference.map(|(_, interval)| round(interval.high)),
            effect: match found.effect {
                Effect::Changes => GeneratorEffect::ChangesOutcomes,
                Effect::Equivalent => GeneratorEffect::Equivalent,
                Effect::NotEnough => GeneratorEffect::NotEnoughRuns,
            },
            sentence: found.sentence(name),
        }
    }

    /// By target, where success varies.
    pub(super) fn components(&self) -> Vec<Components> {
        // Target → case → wording → its runs.
        let mut slots: BTreeMap<&str, BTreeMap<&str, Vec<Vec<bool>>>> = BTreeMap::new();
        for group in self.groups.iter().filter(|group| group.mode != Mode::Stress) {
            let runs = group.seen.iter().map(|seen| seen.success).collect();
            slots.entry(&group.slot).or_default().entry(&group.case_id).or_default().push(runs);
        }
        let of_slot = |(slot, cases): (&str, BTreeMap<&str, Vec<Vec<bool>>>)| {
            let cases: Vec<Vec<Vec<bool>>> = cases.into_values().collect();
            let found = variance_components(&cases)?;
            Some(Components {
                slot: slot.to_owned(),
                case: found.case.map(round),
                wording: round(found.wording),
                repetition: round(found.repetition),
                cases: found.cases,
                wordings: round(found.wordings),
                repetitions: found.repetitions,
                buy_next: decisions::purchase(&found).word().to_owned(),
                sentence: decisions::purchase_sentence(&found),
            })
        };
        slots.into_iter().filter_map(of_slot).collect()
    }
}

/// Benjamini and Hochberg over the variants of one generator; one that was ended for futility counts with p = 1. The level is that of
/// the summary's `alpha`: adjusted values are scaled to it.
fn adjust(own: &mut [&mut Variant], level: f64) {
    own.sort_by_key(|variant| variant.verdict == VariantVerdict::Unassessed);
    let assessed = own.iter().filter(|variant| variant.verdict != VariantVerdict::Unassessed).count();
    let p_values: Vec<f64> = own[..assessed].iter().map(|variant| variant.p_value.unwrap_or(1.0)).collect();
    for (variant, adjusted) in own[..assessed].iter_mut().zip(benjamini_hochberg(&p_values)) {
        let adjusted = (adjusted * ALPHA / level).min(1.0);
        variant.adjusted_p = Some(round(adjusted));
        if adjusted <= ALPHA && variant.interesting {
            variant.verdict = VariantVerdict::Structural;
        }
    }
}
