//! Puts AI systems through planned trials, judges each one and leaves a run directory that anybody can verify.

pub mod judge;
pub mod suite;
pub mod target;
