//! The JSON Schema of suites, for editors.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use super::file::ProbeFile;
use super::kinds::{CodeFile, ContainmentFile, RobustnessFile};

/// A suite of any kind.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used: a suite is read by the kind that it names")]
enum SuiteFile {
    Probe(ProbeFile),
    Code(CodeFile),
    Robustness(Box<RobustnessFile>),
    Containment(ContainmentFile),
}

/// The schema of a suite file, drawn from the structs that read it.
pub fn schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<SuiteFile>();
    schema.insert("title".to_owned(), "Proofhouse suite".into());
    schema.to_value()
}
