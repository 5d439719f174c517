//! The words of verdicts, once for every section and for comparisons.

use proofhouse_ledger::summary::robustness::{BaselineVerdict, LevelVerdict};

/// Of an instruction as it stands.
pub(in crate::kinds::robustness) fn baseline(verdict: BaselineVerdict) -> &'static str {
    match verdict {
        BaselineVerdict::Stable => "stable",
        BaselineVerdict::ConsistentSoFar => "consistent so far",
        BaselineVerdict::MostlyTheSame => "mostly the same",
        BaselineVerdict::Flaky => "flaky",
        BaselineVerdict::Unassessed => "not assessed",
    }
}

/// Of a stress level.
pub(in crate::kinds::robustness) fn level(verdict: LevelVerdict) -> &'static str {
    match verdict {
        LevelVerdict::Clear => "clear",
        LevelVerdict::SystematicFailure => "systematic failure",
        LevelVerdict::Flaky => "flaky",
        LevelVerdict::Undetermined => "undetermined",
        LevelVerdict::Unassessed => "not assessed",
    }
}
