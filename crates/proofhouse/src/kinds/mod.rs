//! The kinds of suite: one folder each, and the table that the rest of the program knows them by.
//!
//! A kind says what its file means (`suite`), what will run (`plan`), how a trial is carried out (`work`), what records
//! add up to (`tally`), what people see of it (`sections`), and which flags are its own (`flags`). A new one is a folder
//! and two lines: its `mod` and its row.

use std::any::Any;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgMatches, Command};
use proofhouse_ledger::config::{self, Repeated};
use proofhouse_ledger::files;
use proofhouse_ledger::record::{Kind, Name};
use proofhouse_ledger::summary::Summary;
use proofhouse_ledger::{Json, RunPaths};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};

use crate::spine::compare::{self, Cases, Measure, OwnChange, TargetReport};
use crate::spine::export::{Format, SHARED};
use crate::spine::import::Import;
use crate::spine::present::OwnPresentation;
use crate::spine::rejudge::Rejudge;
use crate::spine::run::Job;
use crate::spine::run::job::{AnyBody, SuiteBody};
use crate::spine::suite::kind::{Kinds, Loading, Read};
use crate::spine::suite::load;
use crate::spine::suite::tree::Tree;
use crate::spine::suite::{Overrides, Problems};
use crate::spine::tally::OwnTally;
use crate::text::yaml;

pub mod code;
pub mod containment;
pub mod probe;
pub mod robustness;
#[cfg(test)]
mod tests;

/// Every kind; the first is what a suite without a word is read as, so that it can be told what is missing.
pub(crate) const KINDS: &[&Row] = &[&probe::ROW, &code::ROW, &robustness::ROW, &containment::ROW];

/// A suite of any kind as it was read, or what is wrong with it.
pub(crate) type AnyRead = Result<Read<Arc<dyn AnyBody>>, Problems>;

/// What the program knows of a kind.
pub(crate) struct Row {
    /// Its name in suites and records.
    pub(crate) kind: Kind,
    /// What it asks.
    pub(crate) about: &'static str,
    /// Reads a suite.
    pub(crate) read: fn(&Loading<'_>) -> AnyRead,
    /// Whether a suite without a word for its kind is of this one.
    pub(crate) is_meant: fn(&Tree) -> bool,
    /// The schema of its suites.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    /// The flags that only it has.
    pub(crate) flags: FlagSet,
    /// Opens what it adds to the tally of a run with this resolved configuration.
    pub(crate) tally: fn(&Json) -> Box<dyn OwnTally>,
    /// Opens what judges its records again, of a run with this resolved configuration.
    pub(crate) rejudge: fn(&Json) -> Box<dyn Rejudge>,
    /// Fields of its records that follow from the suite alone, beside those of every kind: what was expected, of whom.
    pub(crate) planned: fn() -> Vec<Name>,
    /// What it adds to what people are told.
    pub(crate) present: OwnPresentation,
    /// What it alone can say about how a whole run ended.
    pub(crate) verdict: fn(&Summary) -> Option<OwnVerdict>,
    /// What it compares of two runs in place of rates of passed trials; nothing where those say it.
    pub(crate) changes: fn(NamedSummary<'_>, NamedSummary<'_>) -> Vec<OwnChange>,
    /// What it compares, case by case, in place of the share of passed trials; nothing where that says it.
    pub(crate) measures: fn(&Json) -> Vec<Measure>,
    /// What its users write beside suites.
    pub(crate) formats: &'static [OwnFormat],
    /// Formats that only its runs can be written in.
    pub(crate) exports: &'static [Format],
    /// What it reads of others beside suites and records.
    pub(crate) readers: &'static [Reader],
    /// Files of other tools that become its suites or runs.
    pub(crate) imports: &'static [Import],
    /// A suite to start from: name and content, the suite first.
    pub(crate) starter: &'static [(&'static str, &'static str)],
    /// Suites over files of benchmarks, as their owners publish them.
    pub(crate) recipes: &'static [Recipe],
}

/// A suite over a file that people have already.
pub(crate) struct Recipe {
    /// Its word on the command line.
    pub(crate) name: &'static str,
    /// What it asks.
    pub(crate) about: &'static str,
    /// The suite, with `@DATA@`, `@SHA256@` and `@NAME@` for the file's name, digest and name without extensions.
    pub(crate) suite: &'static str,
    /// Keys of which the file's first row has all, in one of these forms.
    pub(crate) rows: &'static [&'static [&'static str]],
}

/// Something that reads bytes which others wrote; whatever they are, it ends, and without a panic.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// What it reads.
    pub name: &'static str,
    /// Reads them; what needs a file has one below the folder.
    pub read: fn(&[u8], &Utf8Path),
    /// Bytes that it likes, to begin from.
    pub examples: &'static [&'static [u8]],
}

/// A format that the users of one kind write, with its schema.
#[derive(Debug)]
pub(crate) struct OwnFormat {
    /// Its word on the command line and in file names.
    pub(crate) name: &'static str,
    /// What it is.
    pub(crate) about: &'static str,
    /// Its schema.
    pub(crate) schema: fn() -> Schema,
}

/// A run's name in sentences, and what it adds up to.
pub(crate) type NamedSummary<'a> = (&'a str, &'a Summary);

/// What a kind compares of two runs, from their summaries; nothing where one has none, or where they are of different kinds.
pub(crate) fn own_changes((a, of_a): (&str, &RunPaths), (b, of_b): (&str, &RunPaths)) -> Vec<OwnChange> {
    let read = |paths: &RunPaths| -> Option<Summary> {
        serde_json::from_slice(&files::read(&paths.summary()).ok()?).ok()
    };
    match (read(of_a), read(of_b)) {
        (Some(first), Some(second)) if first.kind == second.kind => {
            (row(first.kind).changes)((a, &first), (b, &second))
        }
        _ => Vec::new(),
    }
}

/// What a kind compares in place of the share of passed trials.
pub(crate) fn measures(kind: Kind, config: &Json) -> Vec<Measure> {
    (row(kind).measures)(config)
}

/// The same of two runs: what their summaries say, or else what the kind compares case by case, on the cases that both have. Nothing
/// where the share of passed trials says it.
pub(crate) fn closing_changes(a: (&str, &RunPaths), b: (&str, &RunPaths)) -> Vec<OwnChange> {
    let own = own_changes(a, b);
    if !own.is_empty() {
        return own;
    }
    // Records are read again only for a kind that has something to say of them.
    if ![a.1, b.1].into_iter().any(has_measures) {
        return Vec::new();
    }
    let runs = [a, b].map(|(name, paths)| (name.to_owned(), paths.clone()));
    match compare::compare(&runs, Cases::Common, measures) {
        Ok(report) if report.targets.iter().any(|target| target.measure.is_some()) => {
            report.targets.iter().flat_map(TargetReport::own_changes).collect()
        }
        _ => Vec::new(),
    }
}

fn has_measures(paths: &RunPaths) -> bool {
    let config = files::read(&paths.config()).unwrap_or_default();
    let config: Json = yaml::read_bytes(&config).unwrap_or(Json::Null);
    config::part::<Repeated>(&config).kind.is_some_and(|kind| !measures(kind, &config).is_empty())
}

/// What a kind says about a whole run, before the suite's gate is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnVerdict {
    /// Targets or their transport failed, not their answers.
    Infrastructure,
    /// Something that the kind asks of every run does not hold.
    GateFailed,
}

/// Flags that only one kind has.
pub(crate) struct FlagSet {
    /// Adds them to a command.
    pub(crate) augment: fn(Command) -> Command,
    /// What was given, as the kind's own type, and the files that it names in place of parts of the suite.
    pub(crate) value: fn(&ArgMatches) -> Result<OwnFlags, clap::Error>,
}

/// What the flags of one kind say.
pub(crate) type OwnFlags = (Arc<dyn Any + Send + Sync>, Vec<Utf8PathBuf>);

impl FlagSet {
    /// Of a kind without flags of its own.
    pub(crate) const NONE: FlagSet =
        FlagSet { augment: |command| command, value: |_| Ok((Arc::new(()), Vec::new())) };
}

/// A kind's body as the rest of the program holds it.
pub(crate) fn erased<B: SuiteBody>(read: Read<B>) -> Read<Arc<dyn AnyBody>> {
    let Read { suite, body, datasets, case_count, trial_count, warnings } = read;
    Read { suite, body: Arc::new(body), datasets, case_count, trial_count, warnings }
}

/// The row of a kind.
pub(crate) fn row(kind: Kind) -> &'static Row {
    KINDS.iter().find(|row| row.kind == kind).expect("every kind of the ledger has its row")
}

/// What a kind adds to the tally.
pub fn own_tally(kind: Kind, config: &Json) -> Box<dyn OwnTally> {
    (row(kind).tally)(config)
}

/// What a kind adds to what people are told.
pub fn own_presentation(kind: Kind) -> &'static OwnPresentation {
    &row(kind).present
}

/// Every format that runs can be written in.
pub(crate) fn exports() -> impl Iterator<Item = &'static Format> {
    SHARED.iter().chain(KINDS.iter().flat_map(|row| row.exports))
}

/// Every recipe.
pub(crate) fn recipes() -> impl Iterator<Item = &'static Recipe> {
    KINDS.iter().flat_map(|row| row.recipes)
}

/// Every format of other tools that can be brought along.
pub(crate) fn imports() -> impl Iterator<Item = &'static Import> {
    KINDS.iter().flat_map(|row| row.imports)
}

struct Table;

impl Kinds for Table {
    type Body = Arc<dyn AnyBody>;

    fn names(&self) -> Vec<&'static str> {
        KINDS.iter().map(|row| row.kind.as_str()).collect()
    }

    fn unnamed(&self, tree: &Tree) -> &'static str {
        KINDS.iter().find(|row| (row.is_meant)(tree)).unwrap_or(&KINDS[0]).kind.as_str()
    }

    fn read(&self, name: &str, loading: &Loading<'_>) -> Result<Read<Self::Body>, Problems> {
        let row =
            KINDS.iter().find(|row| row.kind.as_str() == name).expect("loading asks for names of the table");
        (row.read)(loading)
    }
}

/// Reads and checks a suite and everything that it refers to.
///
/// # Errors
/// All problems that are independent of each other, in the order of the files.
pub fn load(path: &Utf8Path, overrides: &Overrides) -> Result<Job, Problems> {
    let (loaded, body) = load::load(path, overrides, &Table)?;
    Ok(Job { loaded: Arc::new(loaded), body })
}

/// Reads and checks a suite that is in no file.
///
/// # Errors
/// As [`load()`].
pub fn load_text(text: &str, overrides: &Overrides) -> Result<Job, Problems> {
    let (loaded, body) = load::load_text(text, overrides, &Table)?;
    Ok(Job { loaded: Arc::new(loaded), body })
}

/// The schema of suites, drawn from the structs that read them.
pub fn suite_schema() -> serde_json::Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let any: Vec<serde_json::Value> =
        KINDS.iter().map(|row| (row.schema)(&mut generator).to_value()).collect();
    let reference =
        |(row, schema): (&&Row, &serde_json::Value)| (row.kind.as_str().to_owned(), schema["$ref"].clone());
    let mapping: serde_json::Map<String, serde_json::Value> = KINDS.iter().zip(&any).map(reference).collect();
    let definitions = generator.take_definitions(true);
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Proofhouse suite",
        "description": "A suite of any kind.",
        "anyOf": any,
        "discriminator": {"propertyName": "kind", "mapping": mapping},
        "$defs": definitions,
    })
}
