//! What a `containment` run adds to a report: attacks, leaks and what the gate costs.

use crate::spine::present::Section;

mod attacks;
mod false_positives;
mod lanes;
mod leaks;

/// In the order in which a reader meets them.
pub(super) const ALL: &[Section] =
    &[attacks::SECTION, leaks::SECTION, false_positives::SECTION, lanes::SECTION];
