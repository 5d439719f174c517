//! Lines of a large file, looked at on several threads beside the one that brings them into order; another one hashes the whole.
//!
//! `verify` and a resume read a run's records by it. A file of one block is read without any thread.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::digest::Hasher;
use crate::read::lines;
use crate::record::{Damage, LayoutId, Line, Span, Spans};

/// More do not help: one thread puts everything in order.
const MOST_LOOKERS: usize = 8;
/// Blocks under way for each: enough to keep all busy, little enough to keep memory flat.
const BLOCKS_EACH: usize = 2;
/// Blocks that may wait for being hashed.
const TO_HASH: usize = 4;

/// What is to be found of a line by itself, whatever stands before it.
pub(crate) trait Eye: Clone + Send {
    /// What is found.
    type Found: Send;

    /// Looks at a line.
    fn look(&mut self, line: &Line<'_>) -> Self::Found;
}

/// What was found of a block of lines. Its memory goes round: blocks come by the thousand.
pub(crate) struct Looked<F> {
    spans: Vec<Span>,
    lines: Vec<LookedLine<F>>,
}

/// What was found of one line by itself.
struct LookedLine<F> {
    /// Where it lies in its block.
    bytes: Range<usize>,
    found: Result<Found<F>, Damage>,
}

struct Found<F> {
    /// Where its spans lie among those of the block.
    spans: Range<usize>,
    layout: LayoutId,
    alone: F,
}

impl<F> Default for Looked<F> {
    fn default() -> Self {
        Self { spans: Vec::new(), lines: Vec::new() }
    }
}

impl<F> Looked<F> {
    /// Shows each line with what was found of it, in order, and forgets it.
    pub(crate) fn each<'a>(
        &'a mut self,
        block: &'a [u8],
        seen: &'a Spans,
    ) -> impl Iterator<Item = (&'a [u8], Result<(Line<'a>, F), Damage>)> {
        let all = &self.spans;
        self.lines.drain(..).map(move |LookedLine { bytes, found }| {
            let bytes = &block[bytes];
            (bytes, found.map(|found| (seen.line(bytes, &all[found.spans], found.layout), found.alone)))
        })
    }
}

/// A block, shared by who hashes it and who looks at it.
pub(crate) type Block = Arc<Vec<u8>>;

struct Looker<F> {
    blocks: SyncSender<(Block, Looked<F>)>,
    found: Receiver<Looked<F>>,
}

/// Who looks at lines, and what helps with the next one.
struct Eyes<E> {
    eye: E,
    spans: Spans,
}

impl<E: Eye> Eyes<E> {
    fn new(eye: E) -> Self {
        Self { eye, spans: Spans::default() }
    }

    fn look(&mut self, block: &[u8], looked: &mut Looked<E::Found>) {
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
                Found { alone: self.eye.look(&line), spans, layout }
            });
            looked.lines.push(LookedLine { bytes: place, found });
        }
    }
}

/// The thread that hashes: what it is given, each block with how much of it counts, and where its end is waited for.
type Hashing<'scope> = (SyncSender<(Block, usize)>, ScopedJoinHandle<'scope, Hasher>);

/// The threads, and the blocks that are under way.
pub(crate) struct Crew<'scope, 'env, E: Eye> {
    scope: &'scope Scope<'scope, 'env>,
    /// For blocks that no thread looks at.
    own: Eyes<E>,
    hashing: Option<Hashing<'scope>>,
    /// Of what no thread has hashed.
    hasher: Hasher,
    lookers: Vec<Looker<E::Found>>,
    /// In the order of the file; each with its looker, where there is one.
    under_way: VecDeque<(Block, Option<usize>)>,
    given: usize,
    /// Memory that is used again.
    spare: (Vec<Block>, Vec<Looked<E::Found>>),
}

impl<'scope, 'env, E: Eye + 'scope> Crew<'scope, 'env, E>
where
    E::Found: 'scope,
{
    /// One that starts its threads when there is work for them.
    pub(crate) fn new(scope: &'scope Scope<'scope, 'env>, eye: E) -> Self {
        Crew {
            scope,
            own: Eyes::new(eye),
            hashing: None,
            hasher: Hasher::default(),
            lookers: Vec::new(),
            under_way: VecDeque::new(),
            given: 0,
            spare: Default::default(),
        }
    }

    /// Starts as many threads as the machine gives: none is needed.
    fn start(&mut self) {
        let (blocks, to_hash) = sync_channel::<(Block, usize)>(TO_HASH);
        let mut hasher = self.hasher.clone();
        let hashing = Builder::new().spawn_scoped(self.scope, move || {
            to_hash.iter().for_each(|(block, length)| hasher.update(&block[..length]));
            hasher
        });
        self.hashing = hashing.ok().map(|thread| (blocks, thread));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let lookers = (0..cores.min(MOST_LOOKERS)).map_while(|_| {
            let (blocks, to_look) = sync_channel::<(Block, Looked<E::Found>)>(BLOCKS_EACH);
            let (tell, found) = sync_channel::<Looked<E::Found>>(BLOCKS_EACH);
            let eye = self.own.eye.clone();
            let looking = Builder::new().spawn_scoped(self.scope, move || {
                let mut eyes = Eyes::new(eye);
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
        self.lookers = lookers.collect();
    }

    /// Whether another block would keep somebody busy.
    pub(crate) fn has_room(&self) -> bool {
        self.under_way.len() < (self.lookers.len() * BLOCKS_EACH).max(1)
    }

    /// Hands the file's next block out.
    pub(crate) fn give(&mut self, bytes: &[u8]) {
        // A thread costs as much as some dozens of lines.
        if self.given == 1 {
            self.start();
        }
        let block = self.block(bytes);
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
    pub(crate) fn next(&mut self) -> Option<(Block, Looked<E::Found>)> {
        let (block, looker) = self.under_way.pop_front()?;
        // A thread that is gone has panicked, which the scope passes on in the end.
        let looked = looker.and_then(|at| self.lookers[at].found.recv().ok()).unwrap_or_else(|| {
            let mut looked = Looked::default();
            self.own.look(&block, &mut looked);
            looked
        });
        Some((block, looked))
    }

    /// Takes the beginning of a block for the digest of the file.
    pub(crate) fn hash(&mut self, block: &Block, length: usize) {
        match &self.hashing {
            Some((blocks, _)) => drop(blocks.send((Arc::clone(block), length))),
            None => self.hasher.update(&block[..length]),
        }
    }

    /// Takes back what `next` gave.
    pub(crate) fn take_back(&mut self, block: Block, looked: Looked<E::Found>) {
        self.spare.0.push(block);
        self.spare.1.push(looked);
    }

    /// Of all that was hashed.
    pub(crate) fn finish(self) -> Hasher {
        match self.hashing {
            Some((blocks, thread)) => {
                drop(blocks);
                thread.join().expect("hashing does not panic")
            }
            None => self.hasher,
        }
    }
}
