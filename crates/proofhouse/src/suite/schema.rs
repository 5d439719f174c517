//! The JSON Schema of suites, for editors.

use schemars::generate::SchemaSettings;

use super::file::ProbeFile;

/// The schema of a suite file, drawn from the structs that read it.
pub fn schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<ProbeFile>();
    schema.insert("title".to_owned(), "Proofhouse suite".into());
    schema.to_value()
}
