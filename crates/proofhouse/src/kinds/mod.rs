//! The kinds of suite: one folder each.

pub mod code;
pub mod containment;
pub mod robustness;
