//! What a `code` run adds to a report: completions and pass@k.

use crate::spine::present::Section;

mod completions;

/// In the order in which a reader meets them.
pub(super) const ALL: &[Section] = &[completions::SECTION];
