//! What a gate of a `code` suite can hold to limits beside the pass rate.

use proofhouse_ledger::summary::{CodeSlot, Rate, Summary};

use crate::spine::tally::{COST, FLAKY_CASES, Metric};
use crate::stats::decisions::Measured;

/// They have the names of the summary, where pass@k is a list.
pub(crate) const METRICS: &[Metric] = &[
    FLAKY_CASES,
    COST,
    Metric { name: "pass_at_1", of: |summary, slot| pass_at(summary, slot, 1) },
    Metric { name: "pass_at_5", of: |summary, slot| pass_at(summary, slot, 5) },
    Metric { name: "pass_at_10", of: |summary, slot| pass_at(summary, slot, 10) },
    Metric { name: "pass_at_100", of: |summary, slot| pass_at(summary, slot, 100) },
    Metric { name: "compile_rate", of: |summary, slot| share(summary, slot, |slot| &slot.compile_rate) },
    Metric { name: "clippy_rate", of: |summary, slot| share(summary, slot, |slot| &slot.clippy_rate) },
    Metric { name: "main_free_rate", of: |summary, slot| share(summary, slot, |slot| &slot.main_free_rate) },
    Metric {
        name: "mean_compile_time_ms",
        of: |summary, slot| known(summary, slot, |slot| slot.mean_compile_time_ms),
    },
    Metric {
        name: "mean_binary_size_bytes",
        of: |summary, slot| known(summary, slot, |slot| slot.mean_binary_size_bytes),
    },
];

fn of_slot<'s>(summary: &'s Summary, slot: &str) -> Option<&'s CodeSlot> {
    summary.code.as_ref()?.slots.iter().find(|each| each.slot == slot)
}

fn pass_at(summary: &Summary, slot: &str, k: u64) -> Vec<Measured> {
    let Some(slot) = of_slot(summary, slot) else { return Vec::new() };
    let point = slot.pass_at_k.iter().find(|point| point.k == k);
    let bounds = point.map(|point| [point.worst.unwrap_or(point.value), point.best.unwrap_or(point.value)]);
    vec![Measured { of: None, bounds, open: slot.infra }]
}

/// What our own machine could not judge may be anything.
fn share(summary: &Summary, slot: &str, rate: fn(&CodeSlot) -> &Rate) -> Vec<Measured> {
    let of = |slot| {
        let rate = rate(slot);
        Measured::share(rate.numerator, rate.denominator, slot.infra)
    };
    of_slot(summary, slot).map(of).into_iter().collect()
}

fn known(summary: &Summary, slot: &str, value: fn(&CodeSlot) -> Option<f64>) -> Vec<Measured> {
    let of = |slot| Measured { of: None, bounds: value(slot).map(|value| [value, value]), open: 0 };
    of_slot(summary, slot).map(of).into_iter().collect()
}
