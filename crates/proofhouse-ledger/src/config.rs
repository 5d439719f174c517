//! `config.resolved.yaml` as a value: every setting that took effect, and the identity that follows from it.

use crate::json::Object;
use crate::{Json, RunId, canonical};

/// Changes whenever the same suite has to give another run id.
const IDENTITY_VERSION: u32 = 1;

/// Settings that cannot change a record.
const NO_CONTENT: [&str; 5] = ["title", "description", "gate", "case_count", "k"];

/// What makes a run what it is: all settings but titles, gates and places, with datasets by their digests.
///
/// Anybody can derive it from a run directory, so a run id can be checked without the suite.
pub fn identity(config: &Json) -> Json {
    let mut identity = config.as_object().cloned().unwrap_or_default();
    for key in NO_CONTENT {
        identity.remove(key);
    }
    if identity.get("limit") == Some(&Json::Null) {
        identity.remove("limit");
    }
    if let Some(Json::Array(datasets)) = identity.remove("datasets") {
        let nameless = datasets.into_iter().map(|dataset| {
            let mut dataset: Object = dataset.as_object().cloned().unwrap_or_default();
            dataset.remove("path");
            dataset.remove("rows");
            Json::Object(dataset)
        });
        identity.set("datasets", Json::Array(nameless.collect()));
    }
    identity.set("identity_version", IDENTITY_VERSION);
    Json::Object(identity)
}

/// The id of the run that a resolved configuration describes.
pub fn run_id(config: &Json) -> RunId {
    RunId::of_identity(&canonical::to_vec(&identity(config)).expect("a `Json` has a canonical form"))
}
