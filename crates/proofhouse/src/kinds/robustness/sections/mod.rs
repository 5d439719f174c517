//! What a `robustness` run adds to what people are told: stable or flaky, brittle or not, and where the boundary is.

use crate::spine::present::{OwnPresentation, Section};

pub(super) mod words;

mod answers;
mod attribution;
mod calibration;
mod heat_map;
mod ladder;
mod verdicts;

pub(super) use calibration::outcome;

/// In the order in which a reader meets them.
const ALL: &[Section] =
    &[answers::SECTION, calibration::SECTION, heat_map::SECTION, ladder::SECTION, attribution::SECTION];

pub(super) const PRESENTATION: OwnPresentation =
    OwnPresentation { sections: ALL, spares: true, rates: Some(verdicts::rates), ..OwnPresentation::PLAIN };
