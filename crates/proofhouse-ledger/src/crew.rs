//! Lines of a large file, looked at on several threads beside the one that brings them into order; another one adds them up.
//!
//! `verify` and a resume read a run's records by it. A file of one block is read without any thread.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::read::lines;
use crate::record::{Damage, LayoutId, Line, Span, Spans};
use crate::totals::{Facts, Totalling};

/// More do not help: one thread puts everything in order.
const MOST_LOOKERS: usize = 8;
/// Blocks under way for each: enough to keep all busy, little enough to keep memory flat.
const BLOCKS_EACH: usize = 2;
/// Blocks that may wait for being added up.
const TO_TOTAL: usize = 4;

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

/// A block, shared by who adds it up and who looks at it.
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

/// A block in its turn: how much of it counts, and what its lines say.
type Counted = (Block, usize, Vec<Facts>);

/// The thread that adds up.
struct Adder<'scope> {
    blocks: SyncSender<Counted>,
    /// Memory that it has done with.
    spare: Receiver<Vec<Facts>>,
    thread: ScopedJoinHandle<'scope, Totalling>,
}

/// The threads, and the blocks that are under way.
pub(crate) struct Crew<'scope, 'env, E: Eye> {
    scope: &'scope Scope<'scope, 'env>,
    /// For blocks that no thread looks at.
    own: Eyes<E>,
    adder: Option<Adder<'scope>>,
    /// Of what no thread has added up.
    totals: Totalling,
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
            adder: None,
            totals: Totalling::default(),
            lookers: Vec::new(),
            under_way: VecDeque::new(),
            given: 0,
            spare: Default::default(),
        }
    }

    /// Starts as many threads as the machine gives: none is needed.
    fn start(&mut self) {
        let (blocks, to_total) = sync_channel::<Counted>(TO_TOTAL);
        let (done, spare) = sync_channel(TO_TOTAL);
        let mut totals = self.totals.clone();
        let adding = Builder::new().spawn_scoped(self.scope, move || {
            for (block, length, mut facts) in to_total {
                add(&mut totals, &block[..length], &mut facts);
                drop(block);
                // Where nobody needs it, it goes.
                let _ = done.try_send(facts);
            }
            totals
        });
        self.adder = adding.ok().map(|thread| Adder { blocks, spare, thread });
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
    pub(crate) fn give(&mut self, block: Vec<u8>) {
        // A thread costs as much as some dozens of lines.
        if self.given == 1 {
            self.start();
        }
        let block = Arc::new(block);
        let looker = (!self.lookers.is_empty()).then(|| self.given % self.lookers.len());
        self.given += 1;
        if let Some(at) = looker {
            let looked = self.spare.1.pop().unwrap_or_default();
            let _ = self.lookers[at].blocks.send((Arc::clone(&block), looked));
        }
        self.under_way.push_back((block, looker));
    }

    /// Memory of a block that nobody looks at any more, or none.
    pub(crate) fn memory(&mut self) -> Vec<u8> {
        let free = self.spare.0.iter_mut().position(|block| Arc::get_mut(block).is_some());
        let block = free.map(|at| self.spare.0.swap_remove(at));
        block.and_then(|block| Arc::try_unwrap(block).ok()).unwrap_or_default()
    }

    /// Memory for what the lines of a block say.
    pub(crate) fn facts(&self) -> Vec<Facts> {
        self.adder.as_ref().and_then(|adder| adder.spare.try_recv().ok()).unwrap_or_default()
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

    /// Adds the beginning of a block to the totals, with the facts of the records in it.
    pub(crate) fn total(&mut self, block: &Block, length: usize, mut facts: Vec<Facts>) {
        match &self.adder {
            Some(adder) => drop(adder.blocks.send((Arc::clone(block), length, facts))),
            None => add(&mut self.totals, &block[..length], &mut facts),
        }
    }

    /// Takes back what `next` gave.
    pub(crate) fn take_back(&mut self, block: Block, looked: Looked<E::Found>) {
        self.spare.0.push(block);
        self.spare.1.push(looked);
    }

    /// What everything adds up to that was taken in its turn.
    pub(crate) fn finish(self) -> Totalling {
        match self.adder {
            Some(Adder { blocks, thread, .. }) => {
                drop(blocks);
                thread.join().expect("adding does not panic")
            }
            None => self.totals,
        }
    }
}

fn add(totals: &mut Totalling, bytes: &[u8], facts: &mut Vec<Facts>) {
    totals.bytes(bytes);
    facts.drain(..).for_each(|facts| totals.push(&facts));
}
