//! `schema`: the JSON Schemas of what people write and what we write.

use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use proofhouse_ledger::envelope::Envelope;
use proofhouse_ledger::files;
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::record::{CodeRecord, ContainmentRecord, ProbeRecord, RobustnessRecord};
use proofhouse_ledger::summary::Summary;

use super::Terminal;
use super::exit::Exit;
use super::failure::Failure;
use crate::kinds::{self, containment};

/// Print the JSON Schema of a file format, or hold files against it.
#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Which format.
    #[arg(value_enum)]
    name: Name,

    /// Check these files (JSON, JSON Lines or YAML) instead of printing.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    validate: Vec<Utf8PathBuf>,
}

/// A format with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Name {
    /// A suite, for editors.
    Suite,
    /// A line of records.jsonl in a probe run.
    ProbeRecord,
    /// A line of records.jsonl in a code run.
    CodeRecord,
    /// A line of records.jsonl in a robustness run.
    RobustnessRecord,
    /// A line of records.jsonl in a containment run: a receipt.
    ContainmentRecord,
    /// A case of a containment suite.
    ContainmentCase,
    /// manifest.json
    Manifest,
    /// summary.json
    Summary,
    /// The run envelope.
    Envelope,
}

impl Name {
    /// All of them.
    pub(super) const ALL: [Name; 9] = [
        Name::Suite,
        Name::ProbeRecord,
        Name::CodeRecord,
        Name::RobustnessRecord,
        Name::ContainmentRecord,
        Name::ContainmentCase,
        Name::Manifest,
        Name::Summary,
        Name::Envelope,
    ];

    /// The word on the command line and in file names.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Name::Suite => "suite",
            Name::ProbeRecord => "probe-record",
            Name::CodeRecord => "code-record",
            Name::RobustnessRecord => "robustness-record",
            Name::ContainmentRecord => "containment-record",
            Name::ContainmentCase => "containment-case",
            Name::Manifest => "manifest",
            Name::Summary => "summary",
            Name::Envelope => "envelope",
        }
    }

    fn schema(self) -> serde_json::Value {
        match self {
            Name::Suite => kinds::suite_schema(),
            Name::ProbeRecord => schemars::schema_for!(ProbeRecord).into(),
            Name::CodeRecord => schemars::schema_for!(CodeRecord).into(),
            Name::RobustnessRecord => schemars::schema_for!(RobustnessRecord).into(),
            Name::ContainmentRecord => schemars::schema_for!(ContainmentRecord).into(),
            Name::ContainmentCase => schemars::schema_for!(containment::Case).into(),
            Name::Manifest => schemars::schema_for!(Manifest).into(),
            Name::Summary => schemars::schema_for!(Summary).into(),
            Name::Envelope => schemars::schema_for!(Envelope).into(),
        }
    }

    /// The schema as a file.
    pub(super) fn text(self) -> String {
        let mut text = serde_json::to_string_pretty(&self.schema()).expect("a schema is plain JSON");
        text.push('\n');
        text
    }
}

impl Schema {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        if self.validate.is_empty() {
            terminal.data(&self.name.text())?;
            return Ok(Exit::Ok);
        }
        let validator = jsonschema::validator_for(&self.name.schema()).expect("our own schemas are schemas");
        let mut fits = true;
        for path in &self.validate {
            let wrong = mistakes(path, &validator)?;
            fits &= wrong.is_empty();
            let verdict = if wrong.is_empty() { format!("{path}: ok\n") } else { wrong };
            terminal.data(&verdict)?;
        }
        Ok(if fits { Exit::Ok } else { Exit::InvalidSuite })
    }
}

/// What does not fit the schema, a line each: file, line of a JSON Lines file, pointer, reason.
fn mistakes(path: &Utf8Path, validator: &jsonschema::Validator) -> Result<String, Failure> {
    let text = String::from_utf8_lossy(&files::read(path)?).into_owned();
    let documents: Vec<(String, &str)> = match path.extension() {
        Some("jsonl") => {
            text.lines().enumerate().map(|(at, line)| (format!("{path}:{}", at + 1), line)).collect()
        }
        _ => vec![(path.to_string(), text.as_str())],
    };
    let mut wrong = String::new();
    for (place, document) in documents {
        // JSON is YAML, so one reader serves both.
        match serde_saphyr::from_str::<serde_json::Value>(document) {
            Ok(value) => {
                for error in validator.iter_errors(&value) {
                    let _ = writeln!(wrong, "{place}: `{}`: {error}", error.instance_path());
                }
            }
            Err(error) => {
                let _ = writeln!(wrong, "{place}: {error}");
            }
        }
    }
    Ok(wrong)
}
