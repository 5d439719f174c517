//! The stages of Proofhouse, in the order in which data flows through them.

pub mod report;
