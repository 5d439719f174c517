//! Black-box tools under repetition, rewording and stress: when to stop asking, and what the answers say.
//!
//! `policy` decides after each run whether another one is needed, `characteristics` computes exactly what such a policy can
//! and cannot see, `exact` is the test behind "this variant differs", `findings` turns runs into verdicts, `aggregate`
//! adds them up, and `tree` lays them out as small files: these are pure functions of outcomes.

use proofhouse_ledger::record::{Kind, ROBUSTNESS};

use crate::kinds::{FlagSet, Row, erased};

mod aggregate;
mod body;
mod characteristics;
mod exact;
mod export;
mod findings;
mod flags;
mod judged;
mod keep;
mod metrics;
mod moved;
mod plan;
mod policy;
mod rejudge;
mod rewrite;
mod sections;
mod stopping;
mod suite;
mod tally;
mod tree;
mod work;

pub use aggregate::{Run, aggregate};
pub use characteristics::{
    Characteristics, Sensitivity, at_share, at_shares, calm_variant_runs, sensitivity, told_apart,
};
pub use exact::conditional_p_value;
pub use findings::{Finder, Terms, VariantRuns};
pub use flags::RobustnessFlags;
pub use policy::{ALPHA, Base, Policy, PolicyName, modal, rule};
pub use suite::{
    Answer, GeneratorUse, Recorded, Rejection, Rewriter, RobustnessBody, ToolCase, ToolSetup, ToolVariant,
    Wanted,
};
pub use tree::{About, File, Timing, Tree, timings};

pub(super) const ROW: Row = Row {
    kind: Kind::Robustness,
    about: "Is a tool stable, how brittle is it, where is its boundary?",
    read: |loading| suite::read(loading).map(erased),
    is_meant: suite::has_a_mode,
    schema: |generator| generator.subschema_for::<suite::RobustnessFile>(),
    flags: FlagSet {
        augment: <RobustnessFlags as clap::Args>::augment_args,
        value: |matches| {
            let flags = <RobustnessFlags as clap::FromArgMatches>::from_arg_matches(matches)?;
            let files = flags.target.iter().cloned().collect();
            Ok((std::sync::Arc::new(flags), files))
        },
    },
    tally: tally::open,
    rejudge: rejudge::open,
    readers: &[],
    planned: || {
        let wording = [ROBUSTNESS.suite.into(), ROBUSTNESS.instruction.into(), ROBUSTNESS.generator.into()];
        [&wording[..], &[ROBUSTNESS.base_case.into(), ROBUSTNESS.level.into()]].concat()
    },
    present: sections::PRESENTATION,
    verdict: |_| None,
    changes: moved::changes,
    measures: |_| Vec::new(),
    formats: &[],
    exports: &[export::FORMAT],
    recipes: &[],
    imports: &[],
    starter: &[
        ("robustness.yaml", include_str!("init/robustness.yaml")),
        ("forge/forge.sh", include_str!("init/forge.sh")),
    ],
};
