//! Threads that look at blocks of lines beside the one that brings them into order: one hashes the whole file, the others look at
//! each line by itself.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::records::{Alone, Terms};
use crate::Digest;
use crate::digest::Hasher;
use crate::read::lines;
use crate::record::{Line, Spans};

/// More do not help: one thread puts everything in order.
const MOST_LOOKERS: usize = 8;
/// Blocks under way for each: enough to keep all busy, little enough to keep memory flat.
const BLOCKS_EACH: usize = 2;

/// What was found of each line of a block; nothing of one that cannot be split.
type Looked = Vec<Option<Alone>>;

/// Where a thread is given blocks.
type Blocks = SyncSender<Arc<[u8]>>;

struct Looker {
    blocks: Blocks,
    found: Receiver<Looked>,
}

/// The threads, and the blocks that are under way.
pub(super) struct Crew<'scope, 'env> {
    terms: Terms<'env>,
    hashing: Option<(Blocks, ScopedJoinHandle<'scope, Digest>)>,
    /// Where the machine gives no thread to hash.
    hasher: Hasher,
    lookers: Vec<Looker>,
    /// In the order of the file; each with its looker, where there is one.
    under_way: VecDeque<(Arc<[u8]>, Option<usize>)>,
    given: usize,
}

impl<'scope, 'env: 'scope> Crew<'scope, 'env> {
    /// Starts as many threads as the machine gives: none is needed.
    pub(super) fn start(scope: &'scope Scope<'scope, '_>, terms: Terms<'env>) -> Self {
        let (blocks, to_hash) = sync_channel::<Arc<[u8]>>(MOST_LOOKERS * BLOCKS_EACH);
        let hashing = Builder::new().spawn_scoped(scope, move || {
            let mut hasher = Hasher::default();
            to_hash.iter().for_each(|block| hasher.update(&block));
            hasher.finish()
        });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let lookers = (0..cores.min(MOST_LOOKERS)).map_while(|_| {
            let (blocks, to_look) = sync_channel::<Arc<[u8]>>(BLOCKS_EACH);
            let (tell, found) = sync_channel::<Looked>(BLOCKS_EACH);
            let looking = Builder::new().spawn_scoped(scope, move || {
                let mut spans = Spans::default();
                for block in to_look {
                    if tell.send(look(&block, &terms, &mut spans)).is_err() {
                        return;
                    }
                }
            });
            looking.ok().map(|_| Looker { blocks, found })
        });
        Crew {
            terms,
            hashing: hashing.ok().map(|thread| (blocks, thread)),
            hasher: Hasher::default(),
            lookers: lookers.collect(),
            under_way: VecDeque::new(),
            given: 0,
        }
    }

    /// Whether another block would keep somebody busy.
    pub(super) fn has_room(&self) -> bool {
        self.under_way.len() < (self.lookers.len() * BLOCKS_EACH).max(1)
    }

    /// Hands the file's next block out.
    pub(super) fn give(&mut self, block: &[u8]) {
        let block: Arc<[u8]> = Arc::from(block);
        match &self.hashing {
            Some((blocks, _)) => drop(blocks.send(Arc::clone(&block))),
            None => self.hasher.update(&block),
        }
        let looker = (!self.lookers.is_empty()).then(|| self.given % self.lookers.len());
        self.given += 1;
        if let Some(at) = looker {
            let _ = self.lookers[at].blocks.send(Arc::clone(&block));
        }
        self.under_way.push_back((block, looker));
    }

    /// The oldest block under way, with what was found of its lines.
    pub(super) fn next(&mut self) -> Option<(Arc<[u8]>, Looked)> {
        let (block, looker) = self.under_way.pop_front()?;
        let looked = match looker {
            // A thread that is gone has panicked, which the scope passes on in the end.
            Some(at) => self.lookers[at].found.recv().unwrap_or_default(),
            None => look(&block, &self.terms, &mut Spans::default()),
        };
        Some((block, looked))
    }

    /// The digest of all blocks.
    pub(super) fn finish(self) -> Digest {
        match self.hashing {
            Some((blocks, thread)) => {
                drop(blocks);
                thread.join().expect("hashing does not panic")
            }
            None => self.hasher.finish(),
        }
    }
}

fn look(block: &[u8], terms: &Terms<'_>, spans: &mut Spans) -> Looked {
    lines(block).map(|bytes| Line::split(bytes, spans).ok().map(|line| terms.look(&line))).collect()
}
