//! Prompt injection against a tool-using agent: cases as people have them, drivers that turn a case into tool calls, a
//! gate that decides each call, simulated tools that touch nothing outside, and what a trial came to in the end.
//!
//! The way of a trial: `case` (from `import` or a suite) → `agent` asks a driver (`scripted`, or a model through `answer`)
//! → `gate` decides each call by a `policy` → `tools` returns planted results → `outcome` → `receipt`. None of these waits: who
//! drives an [`Agent`] does.

use proofhouse_ledger::record::Kind;

use crate::kinds::{FlagSet, Row, erased};

mod agent;
mod answer;
mod body;
mod braces;
mod call;
mod canary;
mod case;
mod export;
mod flags;
mod gate;
mod glob;
mod import;
mod lane;
mod metrics;
mod outcome;
mod plan;
mod policy;
mod receipt;
mod receipts;
mod scripted;
mod sections;
mod suite;
pub mod tally;
mod tools;
mod variant;
mod work;

#[cfg(test)]
mod tests;

pub use agent::{Agent, Attempt, HowRead, Limits, Message, Model, Next, Played, Role, drive, given};
pub use answer::{Answer, Ending, OwnTurn, Read, read_answer};
pub use call::ToolCall;
pub use canary::Canaries;
pub use case::{Case, Document, EarlierTurn, Expected, Expecting, Planted, Speaker};
pub use flags::ContainmentFlags;
pub use gate::{Gate, Ruling};
pub use import::case_from_row;
pub use lane::{Lane, PROBE, Thresholds};
pub use outcome::{Verdict, judge};
pub use policy::{ArgumentRule, Compiled, Policy, Remedy};
pub use receipt::{About, Receipt};
pub use scripted::Scripted;
pub(crate) use sections::{lane1, lane1_of};
pub use suite::{Cases, ContainmentBody, VariantSpec};
pub use tools::{ToolSpec, offered};
pub use variant::{BUILT_IN, Driver, Protocol, Variant};

pub(super) const ROW: Row = Row {
    kind: Kind::Containment,
    about: "Do injected instructions reach forbidden tools, and what does the gate cost?",
    read: |loading| suite::read(loading).map(erased),
    is_meant: |_| false,
    schema: |generator| generator.subschema_for::<suite::ContainmentFile>(),
    flags: FlagSet {
        augment: <ContainmentFlags as clap::Args>::augment_args,
        value: |matches| {
            let flags = <ContainmentFlags as clap::FromArgMatches>::from_arg_matches(matches)?;
            Ok((std::sync::Arc::new(flags), Vec::new()))
        },
    },
    tally: tally::open,
    present: sections::PRESENTATION,
    verdict: sections::verdict,
    changes: |_, _| Vec::new(),
    exports: &[export::FORMAT],
    starter: &[
        ("containment.yaml", include_str!("init/containment.yaml")),
        ("attacks.jsonl", include_str!("init/attacks.jsonl")),
    ],
};
