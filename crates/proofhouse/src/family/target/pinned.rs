//! Files that a suite names by path and digest: nobody else's file is read in their place.

use camino::{Utf8Component, Utf8Path};
use proofhouse_ledger::{Digest, files};

use super::Opening;
use crate::text::complaint::Complaint;

/// What is wrong with the path of such a file.
pub(super) fn check(path: &str) -> Vec<Complaint> {
    let below = Utf8Path::new(path).components().all(|part| matches!(part, Utf8Component::Normal(_)));
    let complaint = || {
        Complaint::new(format!("`{path}` does not lie below the suite's directory"))
            .hint("put the file beside the suite")
            .key("path")
    };
    (!below || path.is_empty()).then(complaint).into_iter().collect()
}

/// Its bytes, if it is the file that the suite names.
pub(super) fn read(path: &str, sha256: Digest, opening: &Opening) -> Result<Vec<u8>, Complaint> {
    let bytes = files::read(&opening.base_dir.join(path)).map_err(|error| {
        Complaint::new(format!("cannot read `{path}`: {}", error.source))
            .hint("paths start at the suite's directory")
            .key("path")
    })?;
    let found = Digest::of(&bytes);
    if found != sha256 {
        let what = format!("`{path}` is not the file that the suite names: it has {}", found.prefixed());
        let hint = "write this digest into the suite if the file is the right one";
        return Err(Complaint::new(what).hint(hint).key("sha256"));
    }
    Ok(bytes)
}
