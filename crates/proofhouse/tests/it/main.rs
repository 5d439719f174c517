//! The one integration binary: everything that a user can see, through the real program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod crash;
mod determinism;
mod diff;
mod disk;
mod envelope;
mod lab;
mod outcomes;
mod resume;
mod tidy;
mod verify;
