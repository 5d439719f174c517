//! What a comparison means for an exit code: a pure function of the report and of what was demanded.

use super::report::{Class, Report};

/// What the command line demands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Demand {
    /// `--fail-on-changes`: no difference in any field that does not follow from the runs' identity.
    pub no_changes: bool,
    /// `--fail-on-regressions`: no regression, no lost verdict, no dropped score, no removed trial, no incomplete run.
    pub no_regressions: bool,
    /// `--fail-on-worse`: no target is worse by more than the margin, on cases like these.
    pub not_worse: bool,
}

/// Whether the demand is met, and if not, by which exit code that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is met.
    Met,
    /// Something changed.
    Changes,
    /// Something got worse, or trials are missing.
    Regressions,
    /// A run is not whole, so it cannot be said that nothing got worse.
    Incomplete,
    /// It cannot be told whether a target got worse by more than the margin.
    CannotTell,
}

/// Decides. Where several demands fail the gravest is told: worse, then an incomplete run, then what cannot be told, then
/// changes.
pub fn decide(report: &Report, demand: Demand) -> Decision {
    let incomplete =
        !report.a.incomplete.is_empty() || !report.b.incomplete.is_empty() || report.unreadable_count > 0;
    let flips = [Class::Forbidden, Class::Regression, Class::Lost, Class::Dropped, Class::Removed];
    let regressed =
        flips.iter().any(|class| report.counts_any.get(class.as_str()).is_some_and(|count| *count > 0));
    let asked: Vec<&str> = report.worse.iter().flatten().map(|worse| worse.verdict.as_str()).collect();
    let worse = asked.contains(&"worse");
    let open = asked.is_empty() || asked.contains(&"cannot_tell");
    match () {
        () if demand.no_regressions && regressed => Decision::Regressions,
        () if demand.not_worse && worse => Decision::Regressions,
        () if (demand.no_regressions || demand.not_worse) && incomplete => Decision::Incomplete,
        () if demand.not_worse && open => Decision::CannotTell,
        () if demand.no_changes && report.differs() => Decision::Changes,
        () if demand.no_changes && incomplete => Decision::Incomplete,
        () => Decision::Met,
    }
}

#[cfg(test)]
mod tests;
