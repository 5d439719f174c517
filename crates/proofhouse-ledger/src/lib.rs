//! What an auditor must trust: the formats of a run directory and the code that writes, reads and verifies them.
//!
//! The crate has few dependencies and no clock, no network, no processes and no `unsafe`: whatever a caller measured
//! or was told comes in as a value. `canonical` and `json` define the bytes, `digest`, `id` and `spine` what is derived
//! from them; `record`, `envelope`, `manifest`, `summary` and `telemetry` are the files; `write`, `read` and `verify`
//! are the only code that touches them.
#![forbid(unsafe_code)]

pub mod attest;
pub mod canonical;
pub mod config;
mod crew;
pub mod digest;
pub mod disk;
pub mod envelope;
pub mod files;
pub mod format;
pub mod glance;
pub mod id;
pub mod json;
pub mod manifest;
pub mod part;
pub mod read;
pub mod record;
pub mod spine;
pub mod summary;
pub mod telemetry;
pub mod totals;
pub mod verify;
pub mod write;

pub use digest::Digest;
pub use files::RunPaths;
pub use id::{RecordId, RunId};
pub use json::Json;
pub use part::Part;
