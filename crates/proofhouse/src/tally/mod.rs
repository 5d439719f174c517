//! What records add up to: rates with intervals, means with clustered errors, comparisons with their uncertainty.
//!
//! Everything here is a pure function of counts and scores. `stats` holds the methods and their sources, `accumulate`
//! collects their input in one pass over the records.

pub mod accumulate;
pub mod stats;
