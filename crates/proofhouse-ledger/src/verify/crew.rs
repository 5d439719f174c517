//! Threads that look at blocks of lines beside the one that brings them into order: one hashes the whole file, the others look at
//! each line by itself.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::records::{Alone, Terms};
use crate::Digest;
use crate::digest::Hasher;
use crate::read::lines;
use crate::record::rules::Fitting;
use crate::record::{Damage, LayoutId, Line, Span, Spans};

/// More do not help: one thread puts everything in order.
const MOST_LOOKERS: usize = 8;
/// Blocks under way for each: enough to keep all busy, little enough to keep memory flat.
const BLOCKS_EACH: usize = 2;

/// What was found of a block of lines. Its memory goes round: blocks come by the thousand.
#[derive(Default)]
pub(super) struct Looked {
    spans: Vec<Span>,
    lines: Vec<LookedLine>,
}

/// What was found of one line by itself.
struct LookedLine {
    /// Where it lies in its block.
    bytes: Range<usize>,
    found: Result<Found, Damage>,
}

struct Found {
    /// Where its spans lie among those of the block.
    spans: Range<usize>,
    layout: LayoutId,
    alone: Alone,
}

impl Looked {
    /// Shows each line with what was found of it, in order, and forgets it.
    pub(super) fn each<'a>(
        &'a mut self,
        block: &'a [u8],
        seen: &'a Spans,
        mut each: impl FnMut(&'a [u8], Result<(Line<'a>, Alone), Damage>),
    ) {
        let all = &self.spans;
        for LookedLine { bytes, found } in self.lines.drain(..) {
            let bytes = &block[bytes];
            each(bytes, found.map(|found| (seen.line(bytes, &all[found.spans], found.layout), found.alone)));
        }
    }
}

/// A block, shared by who hashes it and who looks at it.
type Block = Arc<Vec<u8>>;

struct Looker {
    blocks: SyncSender<(Block, Looked)>,
    found: Receiver<Looked>,
}

/// Who looks at lines, and what helps with the next one.
struct Eyes<'a> {
    terms: Terms<'a>,
    spans: Spans,
    fitting: Fitting,
}

impl<'a> Eyes<'a> {
    fn new(terms: Terms<'a>) -> Self {
        Self { terms, spans: Spans::default(), fitting: Fitting::default() }
    }

    fn look(&mut self, block: &[u8], looked: &mut Looked) {
        looked.spans.clear();
        looked.lines.clear();
        let mut from = 0;
        for bytes in lines(block) {
            let place = from..from + bytes.len();
            from = place.end + 1;
            let spans = looked.spans.len();
            let found = self.spans.split_into(bytes, &mut looked.spans).map(|layout| {
                let spans = spans..looked.spans.len();
                let line = self.spans.line(bytes, &looked.spans[spans.clone()], layout);
                Found { alone: self.terms.look(&line, &mut self.fitting), spans, layout }
            });
            looked.lines.push(LookedLine { bytes: place, found });
        }
    }
}

/// The threads, and the blocks that are under way.
pub(super) struct Crew<'scope, 'env> {
    /// For blocks that no thread looks at.
    own: Eyes<'env>,
    hashing: Option<(SyncSender<Block>, ScopedJoinHandle<'scope, Digest>)>,
    /// Where the machine gives no thread to hash.
    hasher: Hasher,
    lookers: Vec<Looker>,
    /// In the order of the file; each with its looker, where there is one.
    under_way: VecDeque<(Block, Option<usize>)>,
    given: usize,
    /// Memory that is used again.
    spare: (Vec<Block>, Vec<Looked>),
}

impl<'scope, 'env: 'scope> Crew<'scope, 'env> {
    /// Starts as many threads as the machine gives: none is needed.
    pub(super) fn start(scope: &'scope Scope<'scope, '_>, terms: Terms<'env>) -> Self {
        let (blocks, to_hash) = sync_channel::<Block>(MOST_LOOKERS * BLOCKS_EACH);
        let hashing = Builder::new().spawn_scoped(scope, move || {
            let mut hasher = Hasher::default();
            to_hash.iter().for_each(|block| hasher.update(&block));
            hasher.finish()
        });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let lookers = (0..cores.min(MOST_LOOKERS)).map_while(|_| {
            let (blocks, to_look) = sync_channel::<(Block, Looked)>(BLOCKS_EACH);
            let (tell, found) = sync_channel::<Looked>(BLOCKS_EACH);
            let looking = Builder::new().spawn_scoped(scope, move || {
                let mut eyes = Eyes::new(terms);
                for (block, mut looked) in to_look {
                    eyes.look(&block, &mut looked);
                    drop(block);
                    if tell.send(looked).is_err() {
                        return;
                    }
                }
            });
            looking.ok().map(|_| Looker { blocks, found })
        });
        Crew {
            own: Eyes::new(terms),
            hashing: hashing.ok().map(|thread| (blocks, thread)),
            hasher: Hasher::default(),
            lookers: lookers.collect(),
            under_way: VecDeque::new(),
            given: 0,
            spare: Default::default(),
        }
    }

    /// Whether another block would keep somebody busy.
    pub(super) fn has_room(&self) -> bool {
        self.under_way.len() < (self.lookers.len() * BLOCKS_EACH).max(1)
    }

    /// Hands the file's next block out.
    pub(super) fn give(&mut self, bytes: &[u8]) {
        let block = self.block(bytes);
        match &self.hashing {
            Some((blocks, _)) => drop(blocks.send(Arc::clone(&block))),
            None => self.hasher.update(&block),
        }
        let looker = (!self.lookers.is_empty()).then(|| self.given % self.lookers.len());
        self.given += 1;
        if let Some(at) = looker {
            let looked = self.spare.1.pop().unwrap_or_default();
            let _ = self.lookers[at].blocks.send((Arc::clone(&block), looked));
        }
        self.under_way.push_back((block, looker));
    }

    /// The bytes in memory of a block that nobody looks at any more, if there is one.
    fn block(&mut self, bytes: &[u8]) -> Block {
        let free = self.spare.0.iter_mut().position(|block| Arc::get_mut(block).is_some());
        let mut block = free.map(|at| self.spare.0.swap_remove(at)).unwrap_or_default();
        let memory = Arc::get_mut(&mut block).expect("nobody else has it");
        memory.clear();
        memory.extend_from_slice(bytes);
        block
    }

    /// The oldest block under way, with what was found of its lines.
    pub(super) fn next(&mut self) -> Option<(Block, Looked)> {
        let (block, looker) = self.under_way.pop_front()?;
        // A thread that is gone has panicked, which the scope passes on in the end.
        let looked = looker.and_then(|at| self.lookers[at].found.recv().ok()).unwrap_or_else(|| {
            let mut looked = Looked::default();
            self.own.look(&block, &mut looked);
            looked
        });
        Some((block, looked))
    }

    /// Takes back what `next` gave.
    pub(super) fn take_back(&mut self, block: Block, looked: Looked) {
        self.spare.0.push(block);
        self.spare.1.push(looked);
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
