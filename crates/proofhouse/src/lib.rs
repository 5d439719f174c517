//! Proofhouse puts AI systems through planned trials, judges each one, and leaves a run directory that anybody can
//! verify, compare and rebuild without running anything again.
//!
//! The modules stand in the order in which they may use each other; `tests/it/tidy.rs` holds them to it. First the
//! families, which know nothing of suites (`vary`, `target`, `judge`), and `code`, which judges programs; then the way of the data:
//! `suite → plan → run → [ledger] → tally → diff → report → export → cli`.
#![forbid(unsafe_code)]

pub mod page;

pub mod judge;
pub mod target;
pub mod vary;

pub mod code;

pub mod suite;

pub mod plan;

pub mod run;

pub mod tally;

pub mod diff;

pub mod report;

pub mod export;

pub mod cli;
