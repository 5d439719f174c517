//! Rates and comparisons in words.

use proofhouse_ledger::summary::{Comparison, Mean, Rate, Slot};

use super::behind::{Behind, parts_of};
use crate::text::doc::{Cell, Figure, Line, Records};
use crate::text::numbers::{count, interval, percent};

/// A rate in words: its value, or that there is none.
pub(crate) fn rate(rate: &Rate) -> String {
    rate.value.map_or_else(|| "not assessed".to_owned(), percent)
}

/// Its interval, or a dash.
pub(crate) fn range(rate: &Rate) -> Cell {
    interval(rate.low, rate.high).map_or_else(Cell::dash, Cell::from)
}

/// A share with the counts behind it, or a dash.
pub(crate) fn share(rate: &Rate) -> Cell {
    match rate.denominator {
        0 => Cell::dash().class("missing"),
        all => Line::from(format!("{} ", self::rate(rate)))
            .soft(format!("({}/{})", count(rate.numerator), count(all)))
            .into(),
    }
}

/// The same, where each count leads to the records behind it.
pub(crate) fn share_of(rate: &Rate, top: Records, all: Records) -> Cell {
    if rate.denominator == 0 {
        return share(rate);
    }
    let (numerator, denominator) = (count(rate.numerator), count(rate.denominator));
    let line = Line::from(format!("{} ", self::rate(rate))).soft("(").soft(numerator).records(top);
    line.soft("/").soft(denominator).records(all).soft(")").into()
}

/// `1 of 4`: cases whose repetitions disagree, of those that were repeated.
pub(crate) fn flaky_cases(slot: &Slot) -> Line {
    let of = |verdict: &str| Behind::slot(&slot.slot).filter("verdict", verdict).by("cases");
    parts_of(&slot.flaky_cases, of("flaky"), of("repeated"))
}

/// A rate as a figure.
pub(crate) fn figure(rate: &Rate) -> Figure {
    Figure::interval(rate.low, rate.value, rate.high)
}

/// The same with the interval over cases and the line that a gate draws.
pub(crate) fn gated_figure(rate: &Rate, clustered: Option<&Mean>, gate: Option<f64>) -> Figure {
    let estimate = rate.low.zip(rate.value).zip(rate.high).map(|((low, value), high)| [low, value, high]);
    let clustered = clustered.and_then(|mean| Some([mean.low?, mean.high?]));
    Figure::Interval { estimate, clustered, line: gate }
}

/// What a comparison of two targets says, as a sentence.
pub(crate) fn comparison(pair: &Comparison) -> String {
    format!("{}.", pair.sentence)
}
