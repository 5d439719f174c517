//! `schema`: the JSON Schemas of what people write and what we write.

use clap::Args;
use proofhouse_ledger::envelope::Envelope;
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::record::ProbeRecord;
use proofhouse_ledger::summary::Summary;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::suite;

/// Print the JSON Schema of a file format.
#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Which format.
    #[arg(value_enum)]
    name: Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Name {
    /// A suite, for editors.
    Suite,
    /// A line of records.jsonl in a probe run.
    ProbeRecord,
    /// manifest.json
    Manifest,
    /// summary.json
    Summary,
    /// The run envelope.
    Envelope,
}

impl Schema {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        terminal.data(&text(self.name))?;
        Ok(Exit::Ok)
    }
}

fn text(name: Name) -> String {
    let schema = match name {
        Name::Suite => suite::schema(),
        Name::ProbeRecord => schemars::schema_for!(ProbeRecord).into(),
        Name::Manifest => schemars::schema_for!(Manifest).into(),
        Name::Summary => schemars::schema_for!(Summary).into(),
        Name::Envelope => schemars::schema_for!(Envelope).into(),
    };
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text.push('\n');
    text
}
