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

/// A level of confidence: `95 %`, `99.5 %`.
fn level(share: f64) -> String {
    format!("{} %", (share * 1000.0).round() / 10.0)
}

/// `p = 0.035`; very small values are bounded, not rounded to 0.
fn p_value(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {}", (p * 1e4).round() / 1e4) }
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
        assert_eq!([0.041, 0.0, -0.0001, -0.125].map(points), ["+4.1", "0", "0", "−12.5"]);
    }
}
