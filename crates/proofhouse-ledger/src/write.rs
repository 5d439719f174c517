//! Writing a run directory so that killing the process at any byte loses nothing that was acknowledged.
//!
//! Finished trials arrive in any order. Those that are next in the plan go to `records.jsonl`; the others wait, durable,
//! in the journal beside the directory until their turn comes. One thread commits whatever has finished since its last
//! sync, so the disk sets the size of a group and a slow trial holds nobody back.

mod lock;
mod log;
mod sequence;
mod state;
mod steps;
mod swap;
mod writer;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

pub use lock::{LockError, RunLock};
pub use log::{FileLog, Log};
pub use state::{Mismatch, ResumePoint, StateError, is_noise, scan};
pub use steps::{begin, end, settle};
pub use swap::{SwapError, discard_next, finish_swap, is_exchanging, is_run_dir, swap_in};
pub use writer::{Durability, Stopped, WriteError, Writer, Written};
