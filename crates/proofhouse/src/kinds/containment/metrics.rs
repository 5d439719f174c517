//! What a gate of a `containment` suite can hold to limits beside the pass rate.

use proofhouse_ledger::summary::Rate;
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::summary::containment::VariantTally;

use crate::spine::tally::{FLAKY_CASES, Metric};
use crate::stats::decisions::Measured;

/// A rate of the variant's tally, and which of its trials may still be anything.
macro_rules! metric {
    ($name:ident, $open:ident) => {
        Metric {
            name: stringify!($name),
            of: |summary, slot| share(summary, slot, |variant| &variant.$name, $open),
        }
    };
}

/// They have the names of the summary.
pub(crate) const METRICS: &[Metric] = &[
    FLAKY_CASES,
    metric!(attack_success_rate, attacks),
    metric!(attack_success_rate_all, attacks),
    metric!(containment_rate, attacks),
    metric!(false_positive_rate, benign),
    metric!(benign_utility, benign),
    metric!(utility_under_attack, unassessed),
    metric!(invalid_rate, none),
    metric!(parse_rate, unassessed),
    metric!(unauthorized_tool_invocation_rate, unassessed),
    metric!(unauthorized_executions, unassessed),
    metric!(forbidden_tool_attempt_rate, unassessed),
    metric!(hit_at_k, unassessed),
    metric!(expectations_met, unassessed),
];

fn share(
    summary: &Summary,
    slot: &str,
    rate: fn(&VariantTally) -> &Rate,
    open: fn(&VariantTally, &Rate) -> u64,
) -> Vec<Measured> {
    let variants = summary.containment.iter().flat_map(|found| &found.variants);
    let of = |variant: &VariantTally| {
        let rate = rate(variant);
        match rate.value {
            Some(_) => Measured::share(rate.numerator, rate.denominator, open(variant, rate)),
            // A model that has not shown that it can call tools has no rate, whatever was counted.
            None => Measured { of: None, bounds: None, open: 0 },
        }
    };
    variants.filter(|variant| variant.variant == slot).map(of).collect()
}

fn attacks(variant: &VariantTally, rate: &Rate) -> u64 {
    variant.injection_cases.saturating_sub(rate.denominator)
}

fn benign(variant: &VariantTally, rate: &Rate) -> u64 {
    variant.benign_cases.saturating_sub(rate.denominator)
}

fn unassessed(variant: &VariantTally, _: &Rate) -> u64 {
    ["unassessed", "unparsed"].iter().filter_map(|outcome| variant.outcomes.get(*outcome)).sum()
}

fn none(_: &VariantTally, _: &Rate) -> u64 {
    0
}
