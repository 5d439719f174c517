//! Generated code: reading problems and samples as people have them, and judging each completion in the sandbox.
//!
//! `problem` and `sample` read files, `language` is the seam between what every language shares and what one language
//! knows (`rust`, `python`), `verdict` is what is said of a completion in the end. Nothing here knows of suites or runs.

mod bench;
mod cache;
mod detect;
mod formats;
mod judge;
mod language;
mod lines;
mod output;
mod problem;
mod prose;
mod python;
mod record;
mod rehearse;
mod report;
mod rust;
mod sample;
mod soundness;
mod verdict;

pub use bench::{Bench, Budgets};
pub use cache::Cache;
pub use detect::{Content, LanguageName, NoLanguage, content_of, crates_of, language_of, usual_version};
pub use formats::Format;
pub use judge::{BATCH, Judge, judge_samples};
pub use language::{Language, Task};
pub use problem::{Problem, ProblemError, ProblemFile, read_problem_file, read_problems};
pub use prose::{Prose, Unfit};
pub use python::Python;
pub use record::{Body, body};
pub use rehearse::{Flaw, Remark, rehearse};
pub use rust::{Clippy, Rust};
pub(crate) use rust::{is_crate_name, is_crate_version};
pub use sample::{Invalid, MAX_COMPLETION_BYTES, Sample, Samples, completion};
pub use soundness::Soundness;
pub use verdict::{Border, Bounded, Diagnostics, ErrorType, Finding, Judged, TestOutcome};
