//! A whole life of a run on a disk that loses power after any operation, forgets what was not synced in any way, or fails
//! at any operation; and a table of mistakes that such a simulation must find.

mod disk;
mod life;
mod memory;
mod mutants;
mod search;
