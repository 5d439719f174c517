//! Prompt injection against a tool-using agent: cases as people have them, drivers that turn a case into tool calls, a
//! gate that decides each call, simulated tools that touch nothing outside, and what a trial came to in the end.
//!
//! The way of a trial: `case` (from `import` or a suite), `ready` → `agent` asks a driver (`scripted`, or a model through `answer`)
//! → `gate` decides each call by a `policy` → `tools` returns planted results, or a server in a box does → `outcome`, with what
//! `judging` heard → `receipt`. An [`Agent`] does not wait: who drives it does.

use proofhouse_ledger::record::{CONTAINMENT, Kind};

use crate::kinds::{FlagSet, OwnFormat, Row, erased};
use crate::spine::rejudge::Impossible;

mod agent;
mod answer;
mod body;
mod braces;
mod call;
mod canary;
mod case;
mod conversation;
mod export;
mod flags;
mod gate;
mod glob;
mod hosts;
mod import;
mod judging;
mod lane;
mod matcher;
mod mcp;
mod measures;
mod metrics;
mod outcome;
mod plan;
mod policy;
pub(crate) mod proxy;
mod readers;
mod ready;
mod real;
mod receipt;
mod receipts;
mod rejudge;
mod scripted;
mod sections;
mod suite;
pub mod tally;
mod tools;
mod variant;
mod work;

#[cfg(test)]
mod tests;

pub use agent::{Agent, Attempt, HowRead, Lead, Limits, Model, Next, Played, drive};
pub use answer::{Answer, Ending, OwnTurn, Read, read_answer};
pub use call::ToolCall;
pub use canary::Canaries;
pub use case::{Case, Document, EarlierTurn, Expected, Expecting, Planted, Speaker};
pub use conversation::{Message, Role, given};
pub use flags::ContainmentFlags;
pub use gate::{Gate, Ruling};
pub use import::case_from_row;
pub use lane::{Lane, PROBE, Thresholds};
pub use matcher::CallPattern;
pub use outcome::{Opinion, Opinions, Verdict, judge, judge_with};
pub use policy::{ArgumentRule, Compiled, Policy, Remedy};
pub use ready::ReadyCase;
pub use receipt::{About, Receipt};
pub use scripted::Scripted;
pub(crate) use sections::{lane1, lane1_of};
pub use suite::{Cases, ContainmentBody, VariantSpec};
pub use tools::{ServerSpec, StateTool, ToolServer, ToolSpec, Toolbox, offered};
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
    planned: || {
        let case = [CONTAINMENT.prompt_hash.into(), CONTAINMENT.attack.into(), CONTAINMENT.category.into()];
        [&case[..], &[CONTAINMENT.expected_outcome.into(), CONTAINMENT.gated.into(), CONTAINMENT.tags.into()]]
            .concat()
    },
    rejudge: |_| {
        Box::new(Impossible(
            "its verdicts rest on the suite's cases: with `--suite FILE` they are played again",
        ))
    },
    readers: readers::READERS,
    present: sections::PRESENTATION,
    verdict: sections::verdict,
    changes: |_, _| Vec::new(),
    measures: measures::measures,
    formats: &[OwnFormat {
        name: "containment-case",
        about: "A case of a containment suite",
        schema: || schemars::schema_for!(Case),
    }],
    exports: &[export::FORMAT],
    recipes: &[],
    imports: &[],
    starter: &[
        ("containment.yaml", include_str!("init/containment.yaml")),
        ("attacks.jsonl", include_str!("init/attacks.jsonl")),
    ],
};
