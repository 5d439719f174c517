//! A search that finds nothing must be one that would: each of these mistakes is found by it.

use super::disk::Mistake;
use super::search::{Effort, faults, power_loss};

const MISTAKES: [Mistake; 15] = [
    Mistake::NoSync("records.jsonl"),
    Mistake::NoSync(".journal.jsonl"),
    Mistake::NoSync(".run.json.tmp.draft"),
    Mistake::NoSync("manifest.json.draft"),
    Mistake::NoSyncOfNames,
    Mistake::NoSyncOfNeighbours,
    Mistake::SyncErrorsIgnored,
    Mistake::WriteErrorsIgnored,
    Mistake::ShortWritesIgnored,
    Mistake::InterruptionsIgnored,
    Mistake::NoCut,
    Mistake::OpenEmpties,
    Mistake::LengthNotSynced,
    Mistake::NoDrafts,
    Mistake::RemoveThenRename,
];

#[test]
fn every_mistake_is_found() {
    let effort = Effort { scripts: 20, resolutions: 24 };
    let few = Effort { scripts: 20, resolutions: 3 };
    for mistake in MISTAKES {
        let found = power_loss(&effort, mistake).err().or_else(|| faults(&few, mistake).err());
        assert!(found.is_some(), "nobody noticed {mistake:?}");
    }
}
