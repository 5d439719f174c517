//! Prompt injection against a tool-using agent: cases as people have them, drivers that turn a case into tool calls, a
//! gate that decides each call, simulated tools that touch nothing outside, and what a trial came to in the end.
//!
//! The way of a trial: `case` (from `import` or a suite) → `agent` asks a driver (`scripted`, or a model through `answer`)
//! → `gate` decides each call by a `policy` → `tools` returns planted results → `outcome` → `receipt`. Nothing here knows of
//! suites, runs or clocks, and nothing waits: who drives an [`Agent`] does.

mod agent;
mod answer;
mod braces;
mod call;
mod case;
mod gate;
mod glob;
mod import;
mod lane;
mod outcome;
mod policy;
mod receipt;
mod scripted;
mod tools;
mod variant;

#[cfg(test)]
mod tests;

pub use agent::{Agent, Attempt, HowRead, Limits, Message, Model, Next, Played, Role, drive, given};
pub use answer::{Answer, Ending, Read, read_answer};
pub use call::ToolCall;
pub use case::{Case, Document, EarlierTurn, Expected, Expecting, Planted, Speaker};
pub use gate::{Gate, Ruling};
pub use import::{RowProblem, case_from_row};
pub use lane::{Lane, PROBE, Thresholds};
pub use outcome::{Verdict, judge};
pub use policy::{ArgumentRule, Compiled, Policy, PolicyProblem, Remedy};
pub use receipt::{About, Receipt};
pub use scripted::Scripted;
pub use tools::{ToolSpec, offered};
pub use variant::{BUILT_IN, Driver, Protocol, Variant};
