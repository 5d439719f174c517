//! `schema`: the JSON Schemas of what people write and what we write.

use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use proofhouse_ledger::envelope::Envelope;
use proofhouse_ledger::files;
use proofhouse_ledger::manifest::Manifest;
use proofhouse_ledger::record::Kind;
use proofhouse_ledger::summary::Summary;

use super::exit::Exit;
use super::failure::Failure;
use super::{Terminal, machine};
use crate::kinds::{self, KINDS, OwnFormat};
use crate::text::yaml;

/// Print the JSON Schema of a file format, or check files against it.
#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Which format.
    #[arg(value_parser = format_names())]
    name: FileFormat,

    /// Check these files (JSON, JSON Lines or YAML) instead of printing.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    validate: Vec<Utf8PathBuf>,
}

/// A format with a schema.
#[derive(Debug, Clone, Copy)]
pub(super) enum FileFormat {
    Suite,
    /// A line of records.jsonl.
    Record(Kind),
    /// What the users of one kind write beside its suites.
    Own(&'static OwnFormat),
    Manifest,
    Summary,
    Envelope,
}

impl FileFormat {
    /// All of them; which kinds there are is the table's business.
    pub(super) fn all() -> impl Iterator<Item = FileFormat> {
        let records = KINDS.iter().map(|row| FileFormat::Record(row.kind));
        let own = KINDS.iter().flat_map(|row| row.formats).map(FileFormat::Own);
        let rest = [FileFormat::Manifest, FileFormat::Summary, FileFormat::Envelope];
        let said = machine::FORMATS.iter().map(FileFormat::Own);
        [FileFormat::Suite].into_iter().chain(records).chain(own).chain(rest).chain(said)
    }

    /// The word on the command line and in file names.
    pub(super) fn name(self) -> &'static str {
        match self {
            FileFormat::Suite => "suite",
            FileFormat::Record(kind) => kind.record_format(),
            FileFormat::Own(own) => own.name,
            FileFormat::Manifest => "manifest",
            FileFormat::Summary => "summary",
            FileFormat::Envelope => "envelope",
        }
    }

    fn about(self) -> String {
        match self {
            FileFormat::Suite => "A suite, for editors".to_owned(),
            FileFormat::Record(kind) => format!("A line of records.jsonl in a {} run", kind.as_str()),
            FileFormat::Own(own) => own.about.to_owned(),
            FileFormat::Manifest => "manifest.json".to_owned(),
            FileFormat::Summary => "summary.json".to_owned(),
            FileFormat::Envelope => "The run envelope".to_owned(),
        }
    }

    fn schema(self) -> serde_json::Value {
        match self {
            FileFormat::Suite => kinds::suite_schema(),
            FileFormat::Record(kind) => kind.record_schema().into(),
            FileFormat::Own(own) => (own.schema)().into(),
            FileFormat::Manifest => schemars::schema_for!(Manifest).into(),
            FileFormat::Summary => schemars::schema_for!(Summary).into(),
            FileFormat::Envelope => schemars::schema_for!(Envelope).into(),
        }
    }

    /// The schema as a file.
    pub(super) fn text(self) -> String {
        let mut text = serde_json::to_string_pretty(&self.schema()).expect("a schema is plain JSON");
        text.push('\n');
        text
    }
}

/// Reads the name of a format.
fn format_names() -> impl TypedValueParser<Value = FileFormat> {
    let words = FileFormat::all().map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(words).map(|word| {
        FileFormat::all().find(|format| format.name() == word).expect("clap lets only these words through")
    })
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
        match yaml::read::<serde_json::Value>(document) {
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
