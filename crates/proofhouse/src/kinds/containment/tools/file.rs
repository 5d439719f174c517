//! What a suite says below `tools`: a list of simulated tools, or a server with what belongs to it.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::ToolSpec;
use super::server::StateTool;

/// The tools of a suite.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ToolsFile {
    pub(crate) list: Vec<ToolSpec>,
    pub(crate) server: Option<ServerFile>,
}

/// Tools that a program serves, and further ones that are simulated.
///
/// ```yaml
/// tools:
///   server: [python3, bank.py]
///   files: [bank.py]
///   state: {tool: balances}
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerFile {
    /// An MCP server on standard input and output: the program and its arguments. It is started anew for every trial, in the
    /// sandbox, without a network.
    pub(crate) server: Vec<String>,
    /// Files beside the suite that it needs; it starts where they are.
    #[serde(default)]
    pub(crate) files: Vec<String>,
    /// Files and folders that it may read where they are, such as a Python environment.
    #[serde(default)]
    pub(crate) read: Vec<String>,
    /// Its environment, beside `PATH`, `HOME`, `TMPDIR` and `LANG`.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// How long it may take for one answer, its start included, in milliseconds.
    #[serde(default = "ten_seconds")]
    pub(crate) timeout_ms: u32,
    /// How much memory it may use.
    #[serde(default = "half_a_gigabyte")]
    pub(crate) memory_bytes: u64,
    /// One of its tools that gives the state back at the end of a trial. Agents do not see it.
    #[serde(default)]
    pub(crate) state: Option<StateTool>,
    /// Further tools of it that agents do not see.
    #[serde(default)]
    pub(crate) hidden: Vec<String>,
    /// Simulated tools beside those of the server.
    #[serde(default)]
    pub(crate) list: Vec<ToolSpec>,
}

fn ten_seconds() -> u32 {
    10_000
}

fn half_a_gigabyte() -> u64 {
    512 << 20
}

impl<'de> Deserialize<'de> for ToolsFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ToolsVisitor)
    }
}

struct ToolsVisitor;

impl<'de> Visitor<'de> for ToolsVisitor {
    type Value = ToolsFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tools, or `server:` and a command")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ToolsFile, A::Error> {
        let list = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
        Ok(ToolsFile { list, server: None })
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ToolsFile, A::Error> {
        let mut server = ServerFile::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ToolsFile { list: std::mem::take(&mut server.list), server: Some(server) })
    }
}

impl JsonSchema for ToolsFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tools".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        let list = generator.subschema_for::<Vec<ToolSpec>>();
        let server = generator.subschema_for::<ServerFile>();
        json_schema!({ "anyOf": [list, server] })
    }
}
