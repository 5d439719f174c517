//! What a `robustness` run adds to a report: stable or flaky, brittle or not, and where the boundary is.

use crate::spine::present::Section;

mod answers;
mod attribution;
mod calibration;
mod heat_map;
mod ladder;

/// In the order in which a reader meets them.
pub(super) const ALL: &[Section] =
    &[answers::SECTION, calibration::SECTION, heat_map::SECTION, ladder::SECTION, attribution::SECTION];

pub(crate) use answers::findings;
