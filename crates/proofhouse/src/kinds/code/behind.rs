//! Which completions are behind the numbers of a target.

use proofhouse_ledger::summary::CodeSlot;

use crate::spine::present::behind::Behind;

/// The completions of a target to the tasks as they stand; those to other wordings are in robust pass@k alone.
pub(super) fn completions(slot: &CodeSlot) -> Behind {
    Behind::slot(&slot.slot).with("variant", [""])
}

/// Those of them that count: of planned tasks that are not broken.
pub(super) fn counting(slot: &CodeSlot) -> Behind {
    let known = completions(slot).without("status", ["skipped"]);
    if slot.broken.is_empty() { known } else { known.without("case", broken(slot)) }
}

/// Those of broken tasks.
pub(super) fn of_broken(slot: &CodeSlot) -> Behind {
    completions(slot).without("status", ["skipped"]).with("case", broken(slot))
}

/// Those of tasks that nobody planned.
pub(super) fn of_unknown(slot: &CodeSlot) -> Behind {
    completions(slot).with("status", ["skipped"])
}

/// Those that machine, toolchain or model left without a verdict.
pub(super) fn unassessed(slot: &CodeSlot) -> Behind {
    counting(slot).filter("verdict", "unassessed")
}

fn broken(slot: &CodeSlot) -> impl Iterator<Item = &str> {
    slot.broken.iter().map(|task| task.task_id.as_str())
}
