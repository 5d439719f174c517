//! What commands say to programs: the same as to people, as JSON with a schema.

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;

use super::Terminal;
use super::events::Event;
use super::exit::Exit;
use super::failure::Failure;
use super::trend::Trended;
use crate::kinds::OwnFormat;
use crate::spine::{compare, diff};

/// The version of these formats.
pub(super) const VERSION: &str = "1.0";

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(super) enum Form {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Every format with its schema.
pub(super) const FORMATS: &[OwnFormat] = &[
    OwnFormat { name: "plan", about: "What `plan --format json` prints", schema: || schema_for!(Planned) },
    OwnFormat {
        name: "verification",
        about: "What `verify --format json` prints",
        schema: || schema_for!(Verified),
    },
    OwnFormat {
        name: "examination",
        about: "What `doctor --format json` prints",
        schema: || schema_for!(Examined),
    },
    OwnFormat { name: "listing", about: "What `list --format json` prints", schema: || schema_for!(Listed) },
    OwnFormat { name: "trend", about: "What `trend --format json` prints", schema: || schema_for!(Trended) },
    OwnFormat { name: "event", about: "A line of what `run --json` prints", schema: || schema_for!(Event) },
    OwnFormat {
        name: "diff",
        about: "What `diff --format json` prints",
        schema: || schema_for!(diff::Report),
    },
    OwnFormat {
        name: "comparison",
        about: "What `compare --format json` prints",
        schema: || schema_for!(compare::Report),
    },
];

/// Prints a document.
pub(super) fn print(terminal: &Terminal, document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).expect("our own documents are plain JSON");
    Ok(terminal.data(&format!("{text}\n"))?)
}

/// What will run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Planned {
    pub(super) schema_version: &'static str,
    /// The suite.
    pub(super) suite_id: String,
    /// Its kind.
    pub(super) kind: String,
    /// The id that the run will have.
    pub(super) run_id: String,
    /// The digest of the plan.
    pub(super) plan_sha256: String,
    /// Planned trials.
    pub(super) trials: u64,
    /// How that number comes about.
    pub(super) factors: String,
    /// Trials of wordings that generators cannot make; null where nothing is reworded.
    pub(super) left_out: Option<u64>,
    /// Name and kind of each target.
    pub(super) targets: Vec<Named>,
    /// What the kind of suite says of it.
    pub(super) described: Vec<String>,
    /// What is read.
    pub(super) datasets: Vec<Dataset>,
    /// What differences the suite can see.
    pub(super) sees: Vec<Named>,
    /// What its gate can reach.
    pub(super) gate: Option<String>,
    /// What should give pause.
    pub(super) warnings: Vec<String>,
}

/// A name with what it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) value: String,
}

/// A data file.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Dataset {
    pub(super) path: String,
    pub(super) rows: u64,
    pub(super) sha256: String,
}

/// What `verify` found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Verified {
    pub(super) schema_version: &'static str,
    /// Each run directory, in the order in which they were given.
    pub(super) runs: Vec<VerifiedRun>,
}

/// One run directory.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VerifiedRun {
    pub(super) run_dir: String,
    /// `sound`, `incomplete` or `not_sound`.
    pub(super) verdict: &'static str,
    /// What the command exits with for it.
    pub(super) exit_code: u8,
    /// Records that were read.
    pub(super) records: u64,
    /// Their digest.
    pub(super) records_sha256: Option<String>,
    /// What does not fit, the first of it.
    pub(super) findings: Vec<String>,
    /// How much there is.
    pub(super) findings_total: u64,
    /// Verdicts that came out the same when judged again; null where nobody asked.
    pub(super) rejudged_same: Option<u64>,
    /// Verdicts that cannot be repeated, by the reason.
    pub(super) not_rejudged: BTreeMap<String, u64>,
    /// Whose signature it has, where that was asked.
    pub(super) signed_by: Option<String>,
}

impl VerifiedRun {
    /// Of a run of which nothing but this is known.
    pub(super) fn new(run_dir: &str, verdict: &'static str, findings: Vec<String>) -> Self {
        VerifiedRun {
            run_dir: run_dir.to_owned(),
            verdict,
            exit_code: Exit::VerificationFailed as u8,
            records: 0,
            records_sha256: None,
            findings_total: findings.len() as u64,
            findings,
            rejudged_same: None,
            not_rejudged: BTreeMap::new(),
            signed_by: None,
        }
    }
}

/// What `doctor` found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Examined {
    pub(super) schema_version: &'static str,
    /// Whether everything that was looked at is well.
    pub(super) healthy: bool,
    /// The sandbox that suites get.
    pub(super) sandbox: String,
    /// What was looked at.
    pub(super) rows: Vec<Named>,
}

/// The members of a family.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    pub(super) schema_version: &'static str,
    /// Which family.
    pub(super) family: String,
    /// Its members.
    pub(super) members: Vec<Member>,
}

/// A member.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Member {
    pub(super) name: String,
    /// In one line.
    pub(super) summary: String,
    /// Its documentation; null where one line is all.
    pub(super) page: Option<String>,
}
