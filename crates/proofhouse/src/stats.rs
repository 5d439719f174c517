//! The statistics of a tally: intervals, tests, adjustments and power, each with the publication that it follows.
//!
//! All functions take counts or slices and return small values. A rate with an empty denominator is `None`, never 0
//! and never 1. Results are the same on every platform as far as doubles allow: sums run in a fixed order and logarithms of
//! large factorials are never subtracted from one another. What is left is the last bit of `exp` and `ln`, which
//! differs between mathematical libraries; so every number that reaches `summary.json` goes through [`round_sig`] with
//! [`SIGNIFICANT_DIGITS`], and is compared after it.

mod adjust;
mod agreement;
mod anytime;
mod binomial;
mod bounded;
mod cluster;
#[cfg(test)]
mod conformance;
pub mod decisions;
mod interval;
mod isotonic;
mod paired;
mod pass_at_k;
mod power;
mod prevalence;
mod quantile;
mod round;
mod sequential;
mod spread;
mod strata;

pub use adjust::{benjamini_hochberg, holm, holm_within};
pub use agreement::{Alpha, Ratings};
pub use anytime::confidence_sequence;
pub use binomial::{binomial_test, upper_tail as binomial_upper_tail};
pub use bounded::BoundedSample;
pub use cluster::{ClusterMoments, MeanEstimate};
pub use interval::{Interval, clopper_pearson, wilson};
pub use isotonic::falling_fit;
pub use paired::{Difference, McNemar, PairedCounts};
pub use pass_at_k::pass_at_k;
pub use power::{
    Detectable, detectable_exactly, detectable_paired, detectable_unpaired, power_of_mean, power_paired,
};
pub use prevalence::{Corrected, Hits, rogan_gladen};
pub use quantile::Confidence;
pub use round::{SIGNIFICANT_DIGITS, round_sig};
pub use sequential::{Design, End, Rule, Series, Side, Spending};
pub use spread::{Components, Disagreement, disagreement, variance_components};
pub use strata::{Stratum, cochran_mantel_haenszel, stratified_difference};
