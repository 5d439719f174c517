//! Whether the digests that two files store are those that their manifests were sealed with.
//!
//! Lines that say the same in runs of different ids have different digests of their own. To compute both anew costs more than all the
//! rest of a comparison, so a walk first takes them as they stand and adds them up as the manifest's root does. Where a root
//! does not follow, the walk is taken again with every digest computed, so that the line is named.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use proofhouse_ledger::Digest;
use proofhouse_ledger::digest::Merkle;

use super::report::Side;
use super::run::{Pairing, Run};

/// The digests of the next line of each side, or of one side.
pub(super) type Stored = [Option<Digest>; 2];

/// Lists that may wait for being added up.
const WAITING: usize = 8;

/// Adds up what is stored, on a thread of its own.
pub(super) struct Roots<'scope> {
    lists: SyncSender<Vec<Stored>>,
    thread: ScopedJoinHandle<'scope, [Merkle; 2]>,
    /// What the manifests say.
    sealed: [Digest; 2],
    /// Whether a line has no digest at all.
    missing: bool,
}

impl<'scope> Roots<'scope> {
    /// None where a side has no manifest to be held against, or the machine gives no thread.
    pub(super) fn new<'env>(scope: &'scope Scope<'scope, 'env>, pairing: &Pairing) -> Option<Self> {
        let sealed = |run: &Run| run.manifest.as_ref().map(|manifest| manifest.records_merkle_root);
        let sealed = [sealed(&pairing.a)?, sealed(&pairing.b)?];
        let (lists, waiting) = sync_channel::<Vec<Stored>>(WAITING);
        let adding = Builder::new().spawn_scoped(scope, move || {
            let mut roots = [Merkle::default(), Merkle::default()];
            for stored in waiting.into_iter().flatten() {
                for (root, digest) in roots.iter_mut().zip(stored) {
                    digest.into_iter().for_each(|digest| root.push(digest));
                }
            }
            roots
        });
        Some(Roots { lists, thread: adding.ok()?, sealed, missing: false })
    }

    /// Adds what the next lines of both sides store.
    pub(super) fn add(&mut self, stored: Vec<Stored>) {
        // The thread takes all there is, until it is told that nothing follows.
        let _ = self.lists.send(stored);
    }

    /// Adds what the next line of one side stores.
    pub(super) fn add_line(&mut self, side: Side, stored: Option<Digest>) {
        self.missing |= stored.is_none();
        self.add(vec![match side {
            Side::A => [stored, None],
            Side::B => [None, stored],
        }]);
    }

    /// Whether both files store what their manifests were sealed with.
    pub(super) fn follow(self) -> bool {
        drop(self.lists);
        let found = self.thread.join().expect("adding does not panic").map(|root| root.root());
        !self.missing && found == self.sealed
    }
}
