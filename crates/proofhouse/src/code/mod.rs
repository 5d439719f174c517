//! Generated code: reading problems and samples as people have them, and judging each completion in the sandbox.
//!
//! `problem` and `sample` read files, `language` is the seam between what every language shares and what one language
//! knows (`rust`), `verdict` is what is said of a completion in the end. Nothing here knows of suites or runs.

mod lines;
mod problem;
mod sample;

pub use problem::{Problem, ProblemError, read_problems};
pub use sample::{Invalid, Sample, Samples};
