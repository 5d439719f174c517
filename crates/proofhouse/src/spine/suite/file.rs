//! A suite as the user writes it: these structs are the file format, their comments the editor's help texts.

use std::collections::BTreeMap;

use proofhouse_ledger::json::{MAX_SAFE_INTEGER, Object, RepeatedKey};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};

use super::bounds::{Fraction, KOfN, Sureness, Whole};

pub(crate) fn zero() -> Whole<0, MAX_SAFE_INTEGER> {
    Whole(0)
}
pub(crate) fn once() -> Whole<1, 100_000> {
    Whole(1)
}
pub(crate) fn one_minute() -> Whole<1, 86_400_000> {
    Whole(60_000)
}
/// Determinism controls: `true`, `false` or null, nothing that merely looks like it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeterminismFile {
    /// Refuse what has no exact JSON form instead of turning it into text; default true.
    #[serde(default)]
    pub(crate) strict_serialization: Option<bool>,
    /// Keep host and wall-clock facts out of the run directory; default: as `strict_serialization`.
    #[serde(default)]
    pub(crate) deterministic_artifacts: Option<bool>,
}

/// A file of cases: its path alone, or with what else is to be said of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DatasetFile {
    pub(crate) path: String,
    pub(crate) format: Option<Format>,
    pub(crate) sha256: Option<String>,
    pub(crate) fields: Fields,
    pub(crate) condition: Option<String>,
    pub(crate) sample: Option<Sample>,
    pub(crate) split: Option<String>,
    pub(crate) revision: Option<String>,
}

/// So many rows, drawn by a seed.
#[derive(Debug, Clone, Copy, PartialEq, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sample {
    /// How many rows.
    pub(crate) count: Whole<1, MAX_SAFE_INTEGER>,
    /// What draws them; default 0.
    #[serde(default)]
    pub(crate) seed: Option<Whole<0, MAX_SAFE_INTEGER>>,
}

#[derive(DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DatasetMap {
    /// Where it is, relative to the suite file and below its directory; `.gz` is unpacked, and a glob such as `data/*.jsonl` means
    /// several files.
    path: String,
    /// How it is written; default by the extension.
    #[serde(default)]
    format: Option<Format>,
    /// The SHA-256 that the file has to have: `sha256:` and 64 hexadecimal digits.
    #[serde(default)]
    #[schemars(regex(pattern = "^(sha256:)?[0-9a-f]{64}$"))]
    sha256: Option<String>,
    /// The same, by the name that other tools have for it.
    #[serde(default)]
    #[schemars(regex(pattern = "^(sha256:)?[0-9a-f]{64}$"))]
    dataset_hash: Option<String>,
    /// Which of the file's fields play a part, where they are not named so already.
    #[serde(default)]
    fields: Fields,
    /// Only rows that meet this condition over their fields, such as `level == 'hard'`.
    #[serde(default, rename = "where")]
    condition: Option<String>,
    /// Only so many of its rows, drawn by a seed.
    #[serde(default)]
    sample: Option<Sample>,
    /// For `format: hf`: only files of this split, such as `test`.
    #[serde(default)]
    split: Option<String>,
    /// For `format: hf`: the revision whose snapshot folder this has to be.
    #[serde(default)]
    revision: Option<String>,
}

/// The keys of a dataset's map.
const DATASET_KEYS: &[&str] =
    &["path", "format", "sha256", "dataset_hash", "fields", "where", "sample", "split", "revision"];

impl<'de> Deserialize<'de> for DatasetFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DatasetVisitor;
        impl<'de> Visitor<'de> for DatasetVisitor {
            type Value = DatasetFile;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a path, or a map with `path`")
            }
            fn visit_str<E: de::Error>(self, path: &str) -> Result<DatasetFile, E> {
                Ok(DatasetFile {
                    path: path.to_owned(),
                    format: None,
                    sha256: None,
                    fields: Fields::default(),
                    condition: None,
                    sample: None,
                    split: None,
                    revision: None,
                })
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<DatasetFile, A::Error> {
                let map = DatasetMap::deserialize(de::value::MapAccessDeserializer::new(map))?;
                let DatasetMap { path, format, fields, condition, sample, split, revision, .. } = map;
                let sha256 = match (map.sha256, map.dataset_hash) {
                    (Some(_), Some(_)) => {
                        return Err(de::Error::custom(
                            "`sha256` and `dataset_hash` are the same thing: give one",
                        ));
                    }
                    (one, other) => one.or(other),
                };
                Ok(DatasetFile { path, format, sha256, fields, condition, sample, split, revision })
            }
        }
        // As a struct, so that an unknown key is noted at its place.
        deserializer.deserialize_struct("DatasetFile", DATASET_KEYS, DatasetVisitor)
    }
}

impl JsonSchema for DatasetFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DatasetFile".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = DatasetMap::json_schema(generator);
        json_schema!({ "anyOf": [{ "type": "string" }, map] })
    }
}

/// A file that a suite names: its path alone, or with the digest that it has to have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileRef {
    /// Where it is, relative to the suite file and below its directory.
    pub(crate) path: String,
    /// `sha256:` and 64 hexadecimal digits.
    pub(crate) sha256: Option<String>,
}

#[derive(DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileRefMap {
    /// Where it is, relative to the suite file and below its directory; `.gz` is unpacked.
    path: String,
    /// The SHA-256 that the file has to have: `sha256:` and 64 hexadecimal digits; also written as `dataset_hash`.
    #[serde(default, alias = "dataset_hash")]
    #[schemars(regex(pattern = "^(sha256:)?[0-9a-f]{64}$"))]
    sha256: Option<String>,
}

impl<'de> Deserialize<'de> for FileRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RefVisitor;
        impl<'de> Visitor<'de> for RefVisitor {
            type Value = FileRef;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a path, or a map with `path` and `sha256`")
            }
            fn visit_str<E: de::Error>(self, path: &str) -> Result<FileRef, E> {
                Ok(FileRef { path: path.to_owned(), sha256: None })
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<FileRef, A::Error> {
                let FileRefMap { path, sha256 } =
                    FileRefMap::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(FileRef { path, sha256 })
            }
        }
        deserializer.deserialize_any(RefVisitor)
    }
}

impl JsonSchema for FileRef {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FileRef".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = FileRefMap::json_schema(generator);
        json_schema!({ "anyOf": [{ "type": "string" }, map] })
    }
}

/// How a dataset is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// A header line, then one case per record; lists inside a cell are separated by `;`.
    Csv,
    /// One array of objects, or an object with one such list.
    Json,
    /// One list of maps.
    Yaml,
    /// An array of tables: the only one of the file, or `cases`.
    Toml,
    /// Parquet; only in builds with the feature `parquet`.
    Parquet,
    /// A snapshot folder of Hugging Face's tools: its files of rows.
    Hf,
}

impl Format {
    /// The word that a suite uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Yaml => "yaml",
            Format::Toml => "toml",
            Format::Parquet => "parquet",
            Format::Hf => "hf",
        }
    }

    /// By the extension, `.gz` aside.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let name = path.strip_suffix(".gz").unwrap_or(path);
        match name.rsplit_once('.')?.1 {
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "csv" | "tsv" => Some(Format::Csv),
            "toml" => Some(Format::Toml),
            "parquet" => Some(Format::Parquet),
            "json" => Some(Format::Json),
            "yaml" | "yml" => Some(Format::Yaml),
            _ => None,
        }
    }
}

/// The names that a dataset gives to the fields of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fields {
    /// The field that names the case; default `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The field that `{input}` means; default `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The field of the right answer; default `expected`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The field of the tags; default `tags`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<String>,
    /// The field that names the judges of this case; default `judges`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judges: Option<String>,
}

impl Fields {
    /// The column that plays a part; any other name is its own column.
    pub(crate) fn column<'a>(&'a self, name: &'a str) -> &'a str {
        let renamed = match name {
            "id" => &self.id,
            "input" => &self.input,
            "expected" => &self.expected,
            "tags" => &self.tags,
            "judges" => &self.judges,
            _ => return name,
        };
        renamed.as_deref().unwrap_or(name)
    }
}

/// A case written in the suite: its fields as they are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InlineCase(pub(crate) Object);

impl<'de> Deserialize<'de> for InlineCase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Object;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map of the case's fields")
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut object = Object::new();
                while let Some((key, value)) = map.next_entry::<String, _>()? {
                    object.insert(key, value).map_err(|RepeatedKey(key)| {
                        de::Error::custom(format_args!("duplicate key `{key}`"))
                    })?;
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(FieldsVisitor).map(InlineCase)
    }
}

impl JsonSchema for InlineCase {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InlineCase".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A case: the fields that the prompt and the judges use; without an `id` the digest of its content is one.",
                        "properties": {
                "id": { "description": "The case's name, unique in the suite.", "type": ["string", "integer"] },
                "input": { "description": "What `{input}` stands for in the prompt." },
                "expected": { "description": "The right answer, for judges that compare." },
                "tags": {
                    "description": "Topics to group results by.",
                    "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
                },
                "judges": {
                    "description": "The judges of this case; all of them if not given.",
                    "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
                }
            }
        })
    }
}

/// What has to hold for the run's exit code to be 0.
#[derive(Debug, Clone, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = [{"required": ["pass_rate"]}, {"required": ["metrics"]}]))]
pub struct Gate {
    /// The smallest share of all planned trials that each slot has to pass; may be left out beside `metrics`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate: Option<Fraction>,
    /// How sure that has to be on cases like these, one-sided: above 0.5 and below 1. Without it, these cases alone count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Sureness>,
    /// Tag → the smallest share of its trials that each slot has to pass.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub per_tag: BTreeMap<String, Fraction>,
    /// How many of the trials of each case have to pass, such as `2 of 3`; a share where cases have other wordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_case: Option<KOfN>,
    /// Metric of the summary → the least and the most that it may be for each slot.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, MetricLimits>,
    /// Slot → what its tokens cost, for the metric `cost_usd`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, PriceFile>,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceFile {
    /// Tokens that the model reads.
    pub input: f64,
    /// Tokens that it writes.
    pub output: f64,
    /// Tokens that it has read before; without it they cost as much as others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Whether the target counts those beside the input; nobody writes it.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    pub cached_apart: bool,
}

/// The least and the most that a metric may be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetricLimits {
    /// The least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

impl Gate {
    /// Whether it asks for more than a share of all trials.
    pub(crate) fn is_refined(&self) -> bool {
        self.confidence.is_some() || !self.per_tag.is_empty() || self.per_case.is_some()
    }
}
