//! Reading the small files of a run: bounded, and only in versions that this program knows.
//!
//! A file of a later version may say something that this program would silently leave out, so nobody reads it.

use camino::Utf8Path;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::envelope::Envelope;
use crate::files::{self, FileError};
use crate::manifest::Manifest;
use crate::read::{LineReader, lines};
use crate::record::{HEAD, Line, Spans};
use crate::summary::Summary;
use crate::{RunPaths, config, disk, envelope, manifest, record, summary};

/// A file with a schema version.
pub trait Format: DeserializeOwned + Serialize {
    /// The version that this program reads.
    const VERSION: &'static str;
}

impl Format for Manifest {
    const VERSION: &'static str = manifest::SCHEMA_VERSION;
}

impl Format for Envelope {
    const VERSION: &'static str = envelope::SCHEMA_VERSION;
}

impl Format for Summary {
    const VERSION: &'static str = summary::SCHEMA_VERSION;
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// It is of a version that this program does not know.
    #[error("`schema_version` is {found}; this program knows {known}")]
    Version {
        /// What it says.
        found: String,
        /// What is known.
        known: &'static str,
    },
    /// It is something else.
    #[error("is not what the format says: {0}")]
    Content(serde_json::Error),
}

/// The same with the file that it is about.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read at all.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not what this program reads.
    #[error("`{file}`: {source}")]
    Format {
        /// Which file.
        file: String,
        /// Why.
        source: FormatError,
    },
}

#[derive(Deserialize)]
struct Versioned {
    schema_version: Option<serde_json::Value>,
}

/// Reads a value of a version that is known.
pub fn parse<T: Format>(bytes: &[u8]) -> Result<T, FormatError> {
    version_of(bytes, T::VERSION)?;
    serde_json::from_slice(bytes).map_err(FormatError::Content)
}

fn version_of(bytes: &[u8], known: &'static str) -> Result<(), FormatError> {
    let Ok(Versioned { schema_version: Some(version) }) = serde_json::from_slice(bytes) else {
        return Ok(());
    };
    is_known(version.as_str().map_or_else(|| version.to_string(), str::to_owned), known)
}

fn is_known(found: String, known: &'static str) -> Result<(), FormatError> {
    if found == known { Ok(()) } else { Err(FormatError::Version { found, known }) }
}

fn read_as<T: Format>(path: &Utf8Path, limit: u64) -> Result<T, ReadError> {
    let bytes = (&disk::Real as &dyn disk::Disk).read_all(path, limit)?;
    parse(&bytes).map_err(|source| of_file(path, source))
}

fn of_file(path: &Utf8Path, source: FormatError) -> ReadError {
    ReadError::Format { file: path.file_name().unwrap_or_default().to_owned(), source }
}

/// Reads a run's manifest.
pub fn read_manifest(paths: &RunPaths) -> Result<Manifest, ReadError> {
    read_as(&paths.manifest(), files::MAX_FACTS_BYTES)
}

/// Reads a run's summary.
pub fn read_summary(paths: &RunPaths) -> Result<Summary, ReadError> {
    read_as(&paths.summary(), files::MAX_FILE_BYTES)
}

/// Reads an envelope.
pub fn read_envelope(path: &Utf8Path) -> Result<Envelope, ReadError> {
    read_as(path, files::MAX_FACTS_BYTES)
}

/// Refuses a run of which any file is of a version that this program does not know, the first record included.
///
/// # Errors
/// The first such file. What is missing or not to be understood is for others to tell.
pub fn check_versions(paths: &RunPaths) -> Result<(), ReadError> {
    for (path, known) in [
        (paths.manifest(), manifest::SCHEMA_VERSION),
        (paths.summary(), summary::SCHEMA_VERSION),
        (paths.envelope(), envelope::SCHEMA_VERSION),
        (paths.envelope_tmp(), envelope::SCHEMA_VERSION),
    ] {
        if let Ok(bytes) = files::read(&path) {
            version_of(&bytes, known).map_err(|source| of_file(&path, source))?;
        }
    }
    let config = files::read(&paths.config()).unwrap_or_default();
    let line = config.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"schema_version: "));
    if let Some(found) = line {
        let found = String::from_utf8_lossy(found).trim_matches(['"', '\'']).to_owned();
        is_known(found, config::SCHEMA_VERSION).map_err(|source| of_file(&paths.config(), source))?;
    }
    match first_record_version(&paths.records()) {
        Some(found) => {
            is_known(found, record::SCHEMA_VERSION).map_err(|source| of_file(&paths.records(), source))
        }
        None => Ok(()),
    }
}

fn first_record_version(path: &Utf8Path) -> Option<String> {
    let mut reader = LineReader::open(path).ok()?;
    let line = lines(reader.next_lines().ok()?).next()?;
    let mut spans = Spans::default();
    Some(Line::split(line, &mut spans).ok()?.get(HEAD.schema_version).ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8PathBuf;

    use super::*;
    use crate::Json;
    use crate::record::samples;

    fn folder() -> (tempfile::TempDir, RunPaths) {
        let dir = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(Utf8PathBuf::from_path_buf(dir.path().join("run")).unwrap());
        fs::create_dir(&paths.dir).unwrap();
        (dir, paths)
    }

    #[test]
    fn a_run_with_any_file_of_another_version_is_refused_by_the_name_of_the_file() {
        let (_dir, paths) = folder();
        assert!(check_versions(&paths).is_ok(), "what is missing is for others to tell");
        let record = samples::probe(0, &Json::Null, |_| {});
        let newer = samples::forged(&record, "schema_version", r#""9.0""#);
        let later = [&record[..], &newer].concat();
        for (path, known, unknown) in [
            (paths.manifest(), &br#"{"schema_version":"1.0"}"#[..], &br#"{"schema_version":"9.0"}"#[..]),
            (paths.summary(), br#"{"other":1}"#, br#"{"schema_version":9}"#),
            (paths.envelope(), br#"{"schema_version":"1.1"}"#, br#"{"schema_version":"1.0"}"#),
            (paths.envelope_tmp(), b"no JSON", br#"{"schema_version":"9.0"}"#),
            (
                paths.config(),
                b"kind: probe\nschema_version: \"1.0\"\n",
                b"kind: probe\nschema_version: '9.0'\n",
            ),
            (paths.records(), &later, &newer),
        ] {
            fs::write(&path, unknown).unwrap();
            let refused = check_versions(&paths).unwrap_err().to_string();
            let expected = format!("`{}`: `schema_version` is ", path.file_name().unwrap());
            assert!(refused.starts_with(&expected) && refused.contains("; this program knows "), "{refused}");
            fs::write(&path, known).unwrap();
            assert!(check_versions(&paths).is_ok(), "{path}");
        }
    }

    #[test]
    fn a_file_is_read_as_what_it_is_and_refused_with_its_name() {
        let (_dir, paths) = folder();
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../proofhouse/tests/golden/v1/probe/run");
        let released = RunPaths::new(golden);
        let whole = read_manifest(&released).unwrap();
        assert_eq!(whole.run_id, read_summary(&released).unwrap().run_id);
        let text = fs::read(released.manifest()).unwrap();
        assert_eq!(parse::<Manifest>(&text).unwrap(), whole);

        fs::write(paths.manifest(), r#"{"schema_version":"1.0"}"#).unwrap();
        fs::write(paths.summary(), r#"{"schema_version":"0.1"}"#).unwrap();
        let manifest = read_manifest(&paths).unwrap_err().to_string();
        assert!(manifest.starts_with("`manifest.json`: is not what the format says: "), "{manifest}");
        let summary = read_summary(&paths).unwrap_err().to_string();
        assert!(summary.starts_with("`summary.json`: `schema_version` is 0.1; "), "{summary}");
        let envelope = read_envelope(&paths.envelope()).unwrap_err();
        assert!(matches!(envelope, ReadError::File(_)), "{envelope}");
    }
}
