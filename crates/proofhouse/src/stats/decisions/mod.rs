//! Decisions made of the estimators: gates, comparisons, the best of many, and "is it worse?".
//!
//! Each decision is a value with one sentence, which every output prints; so they cannot disagree. Unless it says otherwise,
//! a sentence is about *cases like these*: the case is the unit, and repetitions and wordings of a case are clustered in it.

mod best;
mod comparison;
mod differences;
mod forms;
mod gate;
mod judges;
mod ladder;
mod moved;
mod permutation;
mod repeated;
mod rewording;
#[cfg(test)]
mod simulations;
mod visible;
mod worse;

pub use best::{Best, Candidate, best};
pub use comparison::{Comparison, LEVEL, all_pairs, chosen_pairs, compare, compare_family};
pub use differences::Differences;
pub use forms::{FormCounts, FormFinding, forms};
pub use gate::{Demand, GateCheck, Limits, Measured, Outcome, Trials, gate_outcome, gate_sentence};
pub use judges::{Calibrated, Correction, agreement_sentence, foreseen_calibration};
pub use ladder::{Boundary, Rated, boundary};
pub use moved::{Finding, Moved, Said, moved, moved_sentence};
pub use permutation::sign_flip;
pub use repeated::{Alike, Bound, Rung, Stability, Stressed, alike_runs_for, rung_design, stability_design};
pub use rewording::{
    EQUIVALENT, Effect, Foreseen, Pooled, Purchase, Reworded, foreseen, purchase, purchase_sentence,
    reworded, sensitivity_sentence,
};
pub use visible::{Unit, Visible, WANTED, gate_reach, visible};
pub use worse::{NotWorse, Verdict, Views};

use crate::text::numbers::{count as grouped, points};

/// A share as a percentage with one decimal, never rounded into certainty.
fn percent(share: f64) -> String {
    match format!("{:.1}", share * 100.0).as_str() {
        "100.0" if share < 1.0 => ">99.9 %".to_owned(),
        "0.0" if share > 0.0 => "<0.1 %".to_owned(),
        "100.0" => "100 %".to_owned(),
        "0.0" => "0 %".to_owned(),
        digits => format!("{digits} %"),
    }
}

/// A rate that somebody asked for: `90.0 %`, and with as many digits as were asked for.
fn asked(rate: f64) -> String {
    let exact = crate::stats::round_sig(rate * 100.0, 12);
    if (exact * 10.0).fract() == 0.0 { percent(rate) } else { format!("{exact} %") }
}

/// A share beside the rate that it is held against: with as many digits as tell the two apart.
fn percent_beside(share: f64, rate: f64) -> String {
    let told = percent(share);
    if share == rate || told != asked(rate) {
        return told;
    }
    let digits = |share: f64, places: usize| format!("{:.places$} %", share * 100.0);
    let apart = (2..=12).find(|places| digits(share, *places) != digits(rate, *places));
    apart.map_or(told, |places| digits(share, places))
}

/// A level of confidence: `95 %`, `99.5 %`.
fn level(share: f64) -> String {
    let told = |digits: usize| crate::stats::round_sig(share * 100.0, digits);
    format!("{} %", (4..=12).map(told).find(|told| *told < 100.0 || share >= 1.0).unwrap_or(100.0))
}

/// `p = 0.035`; very small values are bounded, not rounded to 0, and none is rounded to the other side of the level or to 1.
fn p_value(p: f64) -> String {
    if p < 0.0001 {
        return "p < 0.0001".to_owned();
    }
    let told = |places: i32| (p * 10f64.powi(places)).round() / 10f64.powi(places);
    let says = |told: f64| (told < LEVEL) == (p < LEVEL) && (told < 1.0) == (p < 1.0 - 1e-9);
    match (4..=12).map(told).find(|told| says(*told)) {
        Some(told) => format!("p = {told}"),
        None => format!("p = {}", told(4)),
    }
}

/// `1 case`, `1,200 cases`
fn cases(count: u64) -> String {
    format!("{} {}", grouped(count), if count == 1 { "case" } else { "cases" })
}

/// At most four names, and how many more there are.
fn names(all: &[String]) -> String {
    let (shown, more) = all.split_at(all.len().min(4));
    let mut text = shown.join(", ");
    if !more.is_empty() {
        text.push_str(&format!(" and {} more", more.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_never_rounded_into_certainty() {
        let shares = [1.0, 0.99999, 0.9994, 0.5, 0.0004, 0.0].map(percent);
        assert_eq!(shares, ["100 %", ">99.9 %", "99.9 %", "50.0 %", "<0.1 %", "0 %"]);
        assert_eq!([0.00009, 0.0001, 0.035].map(p_value), ["p < 0.0001", "p = 0.0001", "p = 0.035"]);
        assert_eq!(
            [0.04999, 0.049999, 0.05, 0.99999].map(p_value),
            ["p = 0.04999", "p = 0.049999", "p = 0.05", "p = 0.99999"]
        );
        assert_eq!([0.041, 0.0, -0.0001, -0.125].map(points), ["+4.1", "0", "−0.01", "−12.5"]);
        assert_eq!([0.95, 0.995, 0.9995, 0.99999].map(level), ["95 %", "99.5 %", "99.95 %", "99.999 %"]);
    }

    /// 8,996 of 10,000 are less than nine in ten, and a rate that was asked for is told as it was.
    #[test]
    fn a_rate_next_to_what_is_asked_for_is_told_apart_from_it() {
        assert_eq!(
            [0.9, 0.9999, 0.8765, 0.0005, 1.0].map(asked),
            ["90.0 %", "99.99 %", "87.65 %", "0.05 %", "100 %"]
        );
        let beside = |share: f64| percent_beside(share, 0.9);
        assert_eq!(
            [0.8996, 0.9, 0.90001, 0.9996, 0.7].map(beside),
            ["89.96 %", "90.0 %", "90.001 %", ">99.9 %", "70.0 %"]
        );
    }
}
