//! Black-box tools under repetition, rewording and stress: when to stop asking, and what the answers say.
//!
//! `policy` decides after each run whether another one is needed, `characteristics` computes exactly what such a policy can
//! and cannot see, `exact` is the test behind "this variant differs", `findings` turns runs into verdicts, `aggregate`
//! adds them up, and `tree` lays them out as small files. Everything here is a pure function of outcomes: nothing knows suites, files, clocks or processes.

mod aggregate;
mod characteristics;
mod exact;
mod findings;
mod policy;
mod tree;

pub use aggregate::{Run, aggregate};
pub use characteristics::{Characteristics, Sensitivity, at_share, called_stable, sensitivity};
pub use exact::conditional_p_value;
pub use findings::{Finder, VariantRuns};
pub use policy::{ALPHA, Base, Policy, PolicyName, modal, rule};
pub use tree::{File, Timing, Tree, timings};
