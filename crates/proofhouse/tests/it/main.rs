//! The one integration binary: everything that a user can see, through the real program and a real browser.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on says where; a skipped one says why"
)]

mod asking;
mod browser;
mod closed;
mod code;
mod code_attacks;
mod code_suite;
mod code_ways;
mod code_wordings;
mod conformance;
mod containment;
mod crash;
mod decisions;
mod declared;
mod determinism;
mod diff;
mod disk;
mod documents;
mod envelope;
mod evalplus;
mod export;
mod golden;
mod lab;
mod newcomer;
mod outcomes;
mod python;
mod real;
mod reference;
mod report;
mod resume;
mod robustness;
mod sample_run;
mod servers;
mod targets;
mod tidy;
mod verbose;
mod verify;
mod webdriver;
