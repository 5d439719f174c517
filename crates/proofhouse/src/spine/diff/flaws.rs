//! What within one line does not follow from the rest of it, or from its run, as it should. Nothing stored is trusted.

use proofhouse_ledger::RecordId;
use proofhouse_ledger::record::{ContentDigest, Damage, HEAD, Kind, Line, Name};

use super::inspect::Half;
use super::report::Flaw;
use super::run::Identity;

const DIGEST_WRONG: &str = "stored digest does not match";

/// The digests of a record's own content that can be computed anew, because what they are of is there.
pub(super) fn recomputed(line: &Line<'_>) -> impl Iterator<Item = &'static ContentDigest> {
    let digests = line.kind().map(Kind::digests).unwrap_or_default();
    digests.iter().filter(|content| line.raw(content.of).is_some())
}

/// All flaws of a line.
pub(super) fn flaws(identity: &Identity, half: &Half<'_>) -> Vec<Flaw> {
    let line = &half.line;
    let mut found = Vec::new();
    let mut flaw = |key: Name, what: &str, right: Option<String>| {
        let stored = line.raw(key).map_or("(missing)".into(), String::from_utf8_lossy);
        found.push(Flaw {
            side: identity.side,
            pointer: format!("/{}", key.as_str()),
            what: what.to_owned(),
            stored: stored.trim_matches('"').to_owned(),
            right,
        });
    };
    let own = line.recompute_digest().ok();
    if own.is_none() || line.get(HEAD.record_sha256).ok() != own {
        flaw(HEAD.record_sha256.name(), DIGEST_WRONG, own.map(|digest| digest.to_string()));
    }
    for content in recomputed(line) {
        if let Some(right) = content.computed(line)
            && content.stored(line) != Some(right)
        {
            flaw(
                content.digest,
                DIGEST_WRONG,
                Some(right.map_or_else(|| "null".to_owned(), |digest| digest.to_string())),
            );
        }
    }
    let id = record_id_of(line).ok();
    if line.record_id().ok() != id {
        let what = "does not follow from slot, case, variant and repetition";
        flaw(HEAD.record_id.name(), what, id.map(|id| id.to_string()));
    }
    if line.raw(HEAD.run_id) != Some(&identity.run_id_raw) {
        flaw(HEAD.run_id.name(), "is another run's", identity.run_id.map(|id| id.to_string()));
    }
    if let Some((key, what)) = place_flaw(identity, half) {
        flaw(key, what, None);
    }
    found
}

fn record_id_of(line: &Line<'_>) -> Result<RecordId, Damage> {
    let (slot, case_id, variant_id) =
        (line.get(HEAD.slot)?, line.get(HEAD.case_id)?, line.get(HEAD.variant_id)?);
    Ok(RecordId::of_trial(&slot, &case_id, variant_id.as_deref(), line.get(HEAD.repetition)?))
}

/// Index and both timestamps follow from each other; the one that the other two contradict is named.
fn place_flaw(identity: &Identity, half: &Half<'_>) -> Option<(Name, &'static str)> {
    let line = &half.line;
    let Ok(index) = line.index() else {
        return Some((HEAD.index.name(), "is missing or not a whole number"));
    };
    if !identity.deterministic {
        return None;
    }
    let stamp = |key| line.raw(key).unwrap_or_default();
    let (started, completed) = (stamp(HEAD.started_at), stamp(HEAD.completed_at));
    let right = |index| (identity.started_right(started, index), identity.completed_right(completed, index));
    match right(index) {
        (true, true) => None,
        (false, true) => Some((HEAD.started_at.name(), "does not follow from run_id and index")),
        (true, false) => Some((HEAD.completed_at.name(), "does not follow from run_id and index")),
        (false, false) if right(half.seen.number) == (true, true) => {
            Some((HEAD.index.name(), "is not the record's place, by its line and its timestamps"))
        }
        (false, false) => {
            Some((HEAD.started_at.name(), "and completed_at do not follow from run_id and index"))
        }
    }
}
