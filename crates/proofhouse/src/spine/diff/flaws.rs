//! What within one line does not follow from the rest of it, or from its run, as it should. Nothing stored is trusted.

use proofhouse_ledger::RecordId;
use proofhouse_ledger::record::{Kind, Line, output_digest};

use super::inspect::Half;
use super::report::Flaw;
use super::run::Identity;

/// Stored digests of a record's own content, and the fields that they are of.
pub(super) const CONTENT_DIGESTS: [(&str, &str); 2] =
    [("output_sha256", "output"), ("input_fingerprint", "input")];

const DIGEST_WRONG: &str = "stored digest does not match";

/// Whether the digest of a field can be computed anew. Only a kind that keeps the field says what its digest is.
pub(super) fn is_recomputed(line: &Line<'_>, of: &str) -> bool {
    let kind = line.text("kind");
    let known = [Kind::Probe, Kind::Code, Kind::Robustness, Kind::Containment];
    match known.into_iter().find(|known| Some(known.as_str()) == kind.as_deref()) {
        Some(Kind::Probe) => line.raw(of).is_some(),
        Some(Kind::Code | Kind::Robustness | Kind::Containment) | None => false,
    }
}

/// All flaws of a line.
pub(super) fn flaws(identity: &Identity, half: &Half<'_>) -> Vec<Flaw> {
    let line = &half.line;
    let mut found = Vec::new();
    let mut flaw = |key: &str, what: &str, right: Option<String>| {
        let stored = line.raw(key).map_or("(missing)".into(), String::from_utf8_lossy);
        found.push(Flaw {
            side: identity.side,
            pointer: format!("/{key}"),
            what: what.to_owned(),
            stored: stored.trim_matches('"').to_owned(),
            right,
        });
    };
    let own = line.recompute_digest().ok();
    if own.is_none() || line.digest("record_sha256") != Ok(own) {
        flaw("record_sha256", DIGEST_WRONG, own.map(|digest| digest.to_string()));
    }
    for (key, of) in CONTENT_DIGESTS {
        if is_recomputed(line, of)
            && let Some(right) = line.json(of).map(|value| output_digest(&value))
            && line.digest(key) != Ok(right)
        {
            flaw(
                key,
                DIGEST_WRONG,
                Some(right.map_or_else(|| "null".to_owned(), |digest| digest.to_string())),
            );
        }
    }
    let id = record_id_of(line);
    if line.record_id().ok() != id {
        let what = "does not follow from slot, case, variant and repetition";
        flaw("record_id", what, id.map(|id| id.to_string()));
    }
    if line.raw("run_id") != Some(&identity.run_id_raw) {
        flaw("run_id", "is another run's", identity.run_id.map(|id| id.to_string()));
    }
    if let Some((key, what)) = place_flaw(identity, half) {
        flaw(key, what, None);
    }
    found
}

fn record_id_of(line: &Line<'_>) -> Option<RecordId> {
    let repetition = u32::try_from(line.integer("repetition").ok()?).ok()?;
    let (slot, case_id, variant_id) = (line.text("slot")?, line.text("case_id")?, line.text("variant_id"));
    Some(RecordId::of_trial(&slot, &case_id, variant_id.as_deref(), repetition))
}

/// Index and both timestamps follow from each other; the one that the other two contradict is named.
fn place_flaw(identity: &Identity, half: &Half<'_>) -> Option<(&'static str, &'static str)> {
    let line = &half.line;
    let Ok(index) = line.index() else {
        return Some(("index", "is missing or not a whole number"));
    };
    if !identity.deterministic {
        return None;
    }
    let stamp = |key| line.raw(key).unwrap_or_default();
    let (started, completed) = (stamp("started_at"), stamp("completed_at"));
    let right = |index| (identity.started_right(started, index), identity.completed_right(completed, index));
    match right(index) {
        (true, true) => None,
        (false, true) => Some(("started_at", "does not follow from run_id and index")),
        (true, false) => Some(("completed_at", "does not follow from run_id and index")),
        (false, false) if right(half.seen.number) == (true, true) => {
            Some(("index", "is not the record's place, by its line and its timestamps"))
        }
        (false, false) => Some(("started_at", "and completed_at do not follow from run_id and index")),
    }
}
