//! What a comparison means for an exit code: a pure function of the report and of what was demanded.

use super::report::{Class, Report};

/// What the command line demands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Demand {
    /// `--fail-on-changes`: no difference in any field that does not follow from the runs' identity.
    pub no_changes: bool,
    /// `--fail-on-regressions`: no regression, no removed trial, no incomplete run.
    pub no_regressions: bool,
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
}

/// Decides. Where several demands fail the gravest is told: regressions, then an incomplete run, then changes.
pub fn decide(report: &Report, demand: Demand) -> Decision {
    let incomplete =
        !report.a.incomplete.is_empty() || !report.b.incomplete.is_empty() || report.unreadable_count > 0;
    if demand.no_regressions {
        let worse = [Class::Forbidden, Class::Regression, Class::Removed];
        if worse.iter().any(|class| report.count(*class) > 0) {
            return Decision::Regressions;
        }
        if incomplete {
            return Decision::Incomplete;
        }
    }
    if demand.no_changes && report.differs() {
        return Decision::Changes;
    }
    if demand.no_changes && incomplete {
        return Decision::Incomplete;
    }
    Decision::Met
}
