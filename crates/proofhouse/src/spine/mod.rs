//! The way of the data, the same for every kind of suite: `suite → plan → run → [ledger] → tally → diff → present`.

pub mod suite;

pub(crate) mod import;

pub mod plan;
pub(crate) mod rejudge;

pub mod run;

pub mod tally;

pub mod compare;

pub mod diff;

pub mod present;

pub mod export;
