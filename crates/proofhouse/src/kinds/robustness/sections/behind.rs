//! Which runs are behind the numbers of a tool.

use proofhouse_ledger::record::{FailureStage, Observed};
use proofhouse_ledger::summary::robustness::{Baseline, Level, Variant};

use crate::spine::present::behind::Behind;

/// The runs of an instruction as it stands.
pub(super) fn of_baseline(baseline: &Baseline) -> Behind {
    runs(&baseline.slot, &baseline.case_id, "")
}

/// The runs of a variant.
pub(super) fn of_variant(variant: &Variant) -> Behind {
    runs(&variant.slot, &variant.case_id, &variant.variant_id)
}

/// The runs of a stress level.
pub(super) fn of_level(level: &Level) -> Behind {
    runs(&level.slot, &level.case_id, &level.variant_id)
}

fn runs(slot: &str, case: &str, variant: &str) -> Behind {
    assessed(Behind::slot(slot).filter("case", case).with("variant", [variant]))
}

/// Those of them that said anything of the tool.
pub(super) fn assessed(runs: Behind) -> Behind {
    runs.with("success", ["true", "false"])
}

/// Those of them that succeeded.
pub(super) fn succeeded(runs: Behind) -> Behind {
    runs.with("success", ["true"])
}

/// Those of them that failed.
pub(super) fn failed(runs: Behind) -> Behind {
    runs.with("success", ["false"])
}

/// The runs of several groups, each by its name.
pub(super) fn of_groups(names: &[String]) -> Behind {
    Behind::all().with("runs_of", names.iter().map(String::as_str))
}

/// The name of a group of runs: target, case and variant.
pub(super) fn name(slot: &str, case: &str, variant: Option<&str>) -> String {
    [Some(slot), Some(case), variant].into_iter().flatten().collect::<Vec<_>>().join(" / ")
}

/// What was observed of a run, as the page's table writes it.
pub(super) fn observed(seen: &Observed) -> String {
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let stage = seen.failure_stage.map_or("", FailureStage::as_str);
    let words = [seen.termination.as_str(), if seen.success { "true" } else { "false" }, stage];
    format!("{},{},{}", words.join(","), number(seen.attempts), number(seen.repairs_triggered))
}
