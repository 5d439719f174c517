//! Puts AI systems through planned trials and leaves a run directory that anybody can verify, compare and rebuild.

pub mod diff;
