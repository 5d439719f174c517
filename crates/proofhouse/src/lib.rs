//! Proofhouse puts AI systems through planned trials, judges each one, and leaves a run directory that anybody can
//! verify, compare and rebuild without running anything again.
//!
//! The modules stand in the order in which they may use each other, here and in `family` and `spine`; `tests/it/tidy.rs`
//! reads that order from these files. `text` and `stats` know nothing of us; a `family` is a table of members that are
//! chosen by name; the `spine` is the way of the data, `suite → plan → run → [ledger] → tally → diff → present`, and knows
//! no kind of suite by name; each of the `kinds` is one folder; `cli` is what people type.
#![forbid(unsafe_code)]

pub mod text;

pub mod stats;

pub mod family;

pub mod spine;

pub mod kinds;

#[doc(hidden)]
pub mod readers;

pub mod cli;
