//! What a key holder says of a run: an in-toto Statement over the digests of its files, in a DSSE envelope; and the proof
//! that one record is in a run, for somebody who has nothing else of it.
//!
//! Keys are none of the ledger's business: whoever signs or checks hands in a function.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::{audit_path, root_by_path};
use crate::files::{self, FileError, NAMES};
use crate::format::{self, FormatError};
use crate::manifest::Manifest;
use crate::read::{LineReader, lines};
use crate::record::{HEAD, Kind, Line, Spans};
use crate::verify::Findings;
use crate::{Digest, RunId, RunPaths, canonical};

#[cfg(test)]
mod tests;

/// The type of a payload that is an in-toto Statement.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
/// The version of in-toto's Statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// What the statement says of its subjects: that they are one run.
pub const PREDICATE_TYPE: &str = "https://example.invalid/proofhouse/run/v1";

/// Files that no statement may leave out: the others follow from these.
const NEEDED: [&str; 4] = ["config.resolved.yaml", "manifest.json", "records.jsonl", "summary.json"];

/// An in-toto Statement about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
    /// Always `https://in-toto.io/Statement/v1`.
    #[serde(rename = "_type")]
    pub statement_type: String,
    /// The run.
    pub predicate: Predicate,
    /// What the predicate is.
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// Each file, by its name as seen from the run directory.
    pub subject: Vec<Subject>,
}

/// The facts of the run that people ask for first; all of them are in the subjects too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Predicate {
    /// The kind of suite.
    pub kind: Kind,
    /// The version of proofhouse that wrote the run.
    pub proofhouse_version: String,
    /// Its records.
    pub record_count: u64,
    /// Root of the Merkle tree over them.
    pub records_merkle_root: Digest,
    /// What was run.
    pub run_id: RunId,
    /// The suite.
    pub suite_id: String,
}

/// A file and its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// As `sha256sum` prints it.
    pub digest: Sha256,
    /// The file.
    pub name: String,
}

/// A set of digests, as in-toto has it; one of them is known here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sha256 {
    /// 64 hexadecimal digits.
    pub sha256: Digest,
}

/// What the statement about a run must say.
pub fn statement(paths: &RunPaths, manifest: &Manifest) -> Result<Statement, FileError> {
    let mut subject = Vec::new();
    for name in NAMES {
        let path = paths.dir.join(name);
        if path.exists() {
            let digest = Sha256 { sha256: Digest::of_file(&path)? };
            subject.push(Subject { digest, name: name.to_owned() });
        }
    }
    if paths.envelope().exists() {
        let digest = Sha256 { sha256: Digest::of_file(&paths.envelope())? };
        let name = format!("../{}", paths.envelope().file_name().unwrap_or_default());
        subject.insert(0, Subject { digest, name });
    }
    Ok(Statement {
        statement_type: STATEMENT_TYPE.to_owned(),
        predicate: Predicate {
            kind: manifest.kind,
            proofhouse_version: manifest.proofhouse_version.clone(),
            record_count: manifest.record_count,
            records_merkle_root: manifest.records_merkle_root,
            run_id: manifest.run_id,
            suite_id: manifest.suite_id.clone(),
        },
        predicate_type: PREDICATE_TYPE.to_owned(),
        subject,
    })
}

/// A signed payload: <https://github.com/secure-systems-lab/dsse>.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dsse {
    /// Base64.
    pub payload: String,
    /// What the payload is.
    #[serde(rename = "payloadType")]
    pub payload_type: String,
    /// Who signed.
    pub signatures: Vec<Signature>,
}

/// One signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Signature {
    /// A hint which key it is; nothing rests on it.
    #[serde(default)]
    pub keyid: String,
    /// Base64.
    pub sig: String,
}

/// Why a signed statement does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    /// It is no DSSE envelope.
    #[error("is not a DSSE envelope with an in-toto Statement")]
    Form,
    /// Nobody signed it.
    #[error("has no signature")]
    Unsigned,
    /// The key does not fit.
    #[error("is not signed by this key, or was changed after it was signed")]
    Signature,
}

impl Dsse {
    /// Signs a statement.
    pub fn sign(statement: &Statement, keyid: String, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> Self {
        let payload = canonical::to_vec(statement).expect("a statement is plain data");
        let sig = STANDARD.encode(sign(&signed_bytes(PAYLOAD_TYPE, &payload)));
        Self {
            payload: STANDARD.encode(payload),
            payload_type: PAYLOAD_TYPE.to_owned(),
            signatures: vec![Signature { keyid, sig }],
        }
    }

    /// Reads the first line of a file of envelopes.
    ///
    /// # Errors
    /// When it is no envelope.
    pub fn parse(bytes: &[u8]) -> Result<Self, Unproven> {
        let line = lines(bytes).next().unwrap_or_default();
        serde_json::from_slice(line).or_else(|_| serde_json::from_slice(bytes)).map_err(|_| Unproven::Form)
    }

    /// The statement, if one of the signatures is by the key that `fits` knows.
    ///
    /// # Errors
    /// When it is not, or when the payload is something else.
    pub fn proven(&self, fits: impl Fn(&[u8], &[u8]) -> bool) -> Result<Statement, Unproven> {
        let payload = decode(&self.payload).ok_or(Unproven::Form)?;
        if self.signatures.is_empty() {
            return Err(Unproven::Unsigned);
        }
        let signed = signed_bytes(&self.payload_type, &payload);
        let by_key = |signature: &Signature| decode(&signature.sig).is_some_and(|sig| fits(&signed, &sig));
        if !self.signatures.iter().any(by_key) {
            return Err(Unproven::Signature);
        }
        if self.payload_type != PAYLOAD_TYPE {
            return Err(Unproven::Form);
        }
        serde_json::from_slice(&payload).map_err(|_| Unproven::Form)
    }
}

/// Either alphabet, as DSSE allows; nothing that another text stands for too.
fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}

/// DSSE's pre-authentication encoding: what is signed.
fn signed_bytes(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

/// Holds the files of a run against what was signed. `fits` knows the key.
pub fn check(paths: &RunPaths, fits: impl Fn(&[u8], &[u8]) -> bool, findings: &mut Findings) {
    let path = paths.attestation();
    let name = path.file_name().unwrap_or_default();
    let bytes = match files::read_facts(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => {
            return findings.file(name, "is missing: the run was not signed, or its signature was removed");
        }
        Err(error) => return findings.file(name, format!("cannot be read: {}", error.source)),
    };
    let statement = match Dsse::parse(&bytes).and_then(|envelope| envelope.proven(fits)) {
        Ok(statement) => statement,
        Err(unproven) => return findings.file(name, unproven.to_string()),
    };
    if statement.statement_type != STATEMENT_TYPE || statement.predicate_type != PREDICATE_TYPE {
        return findings.file(name, "is not a statement about a run");
    }
    for needed in NEEDED {
        if !statement.subject.iter().any(|subject| subject.name == needed) {
            findings.file(name, format!("says nothing about `{needed}`"));
        }
    }
    for Subject { digest, name: subject } in &statement.subject {
        // The envelope stands beside the directory and has its name, so it is found by what it is.
        let file = match subject.strip_prefix("../") {
            Some(beside) if beside.ends_with(".run.json") => paths.envelope(),
            None if NAMES.contains(&subject.as_str()) => paths.dir.join(subject),
            _ => {
                findings.file(name, format!("speaks of `{subject}`, which is no file of a run"));
                continue;
            }
        };
        let shown = file.file_name().unwrap_or_default();
        match Digest::of_file(&file) {
            Ok(found) if found == digest.sha256 => {}
            Ok(_) => findings.file(shown, "is not the file that was signed"),
            Err(error) => findings.file(shown, format!("was signed and cannot be read: {}", error.source)),
        }
    }
}

/// That one record is in a run: the record, the way from it to the root in the manifest, and, where the run is signed, the
/// signed statement about that manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The version of this format.
    pub schema_version: String,
    /// The record's line.
    pub record: String,
    /// Its place.
    pub index: u64,
    /// How many there are.
    pub record_count: u64,
    /// The neighbours on the way to the root, as RFC 6962 lists them.
    pub audit_path: Vec<Digest>,
    /// The text of the manifest, which holds the root.
    pub manifest: String,
    /// The signed statement; null where the run is not signed.
    pub attestation: Option<Dsse>,
}

/// The version of the format of proofs.
pub const PROOF_SCHEMA_VERSION: &str = "1.0";

impl format::Format for Proof {
    const VERSION: &'static str = PROOF_SCHEMA_VERSION;
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] format::ReadError),
    /// No such record.
    #[error("the run has no record `{0}`")]
    Nowhere(String),
    /// A line is no record.
    #[error("line {0} of `records.jsonl` is not a record")]
    Damaged(u64),
}

/// Proves that the record with this id, or at this index, is in the run.
///
/// # Errors
/// When there is none, or the run cannot be read.
pub fn prove(paths: &RunPaths, which: &str) -> Result<Proof, ProofError> {
    let manifest = format::read_manifest(paths)?;
    let path = paths.records();
    let mut reader = LineReader::open(&path)?;
    let (mut leaves, mut spans, mut found) = (Vec::new(), Spans::default(), None);
    loop {
        let block = reader.next_lines().map_err(FileError::new("read", &path))?;
        if block.is_empty() {
            break;
        }
        for bytes in lines(block) {
            let damaged = |_| ProofError::Damaged(leaves.len() as u64 + 1);
            let line = Line::split(bytes, &mut spans).map_err(damaged)?;
            let id = line.record_id().map_err(damaged)?.to_string();
            if id == which || leaves.len().to_string() == which {
                found = Some((leaves.len(), String::from_utf8_lossy(bytes).into_owned()));
            }
            leaves.push(line.get(HEAD.record_sha256).map_err(damaged)?);
        }
    }
    let (index, record) = found.ok_or_else(|| ProofError::Nowhere(which.to_owned()))?;
    Ok(Proof {
        schema_version: PROOF_SCHEMA_VERSION.to_owned(),
        record,
        index: index as u64,
        record_count: leaves.len() as u64,
        audit_path: audit_path(&leaves, index),
        manifest: canonical::to_vec(&manifest)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned() + "\n")
            .unwrap_or_default(),
        attestation: files::read_facts(&paths.attestation()).ok().and_then(|bytes| Dsse::parse(&bytes).ok()),
    })
}

/// Whether a signature fits bytes, by a key that the caller knows.
pub type Fits<'a> = &'a dyn Fn(&[u8], &[u8]) -> bool;

impl Proof {
    /// What does not hold of it; nothing where the record is in the run. `fits` knows a key, if one is asked for.
    pub fn check(&self, fits: Option<Fits<'_>>) -> Vec<String> {
        let mut wrong = Vec::new();
        let manifest: Manifest = match format::parse(self.manifest.as_bytes()) {
            Ok(manifest) => manifest,
            Err(error @ (FormatError::Version { .. } | FormatError::Content(_))) => {
                return vec![format!("manifest: {error}")];
            }
        };
        let mut spans = Spans::default();
        let leaf = Line::split(self.record.as_bytes(), &mut spans).ok().and_then(|line| {
            let (stored, computed) = (line.get(HEAD.record_sha256).ok()?, line.recompute_digest().ok()?);
            let here = line.run_id().ok()? == manifest.run_id && line.index().ok()? == self.index;
            (stored == computed && here).then_some(stored)
        });
        match leaf {
            None => wrong.push("the record does not match its own digest, run or index".to_owned()),
            Some(leaf) => {
                let root = root_by_path(leaf, self.index, self.record_count, &self.audit_path);
                if self.record_count != manifest.record_count || root != Some(manifest.records_merkle_root) {
                    wrong.push("the record is not in the tree whose root the manifest holds".to_owned());
                }
            }
        }
        let Some(fits) = fits else { return wrong };
        let Some(attestation) = &self.attestation else {
            wrong.push("the run was not signed".to_owned());
            return wrong;
        };
        match attestation.proven(fits) {
            Err(unproven) => wrong.push(format!("the attestation {unproven}")),
            Ok(statement) => {
                let digest = Digest::of(self.manifest.as_bytes());
                let signed =
                    |subject: &Subject| subject.name == "manifest.json" && subject.digest.sha256 == digest;
                if !statement.subject.iter().any(signed) {
                    wrong.push("the manifest is not the one that was signed".to_owned());
                }
            }
        }
        wrong
    }
}
