//! The one integration binary: everything that a user can see, through the real program and a real browser.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on says where; a skipped one says why"
)]

mod agentdojo;
mod agents;
mod asking;
mod attest;
mod axe;
mod browser;
mod calibration;
mod ci;
mod closed;
mod code;
mod code_attacks;
mod code_batches;
mod code_methods;
mod code_suite;
mod code_ways;
mod code_wordings;
mod conformance;
mod containment;
mod counts;
mod crash;
mod crash_all;
mod decisions;
mod declared;
mod determinism;
mod diff;
mod disk;
mod documents;
mod envelope;
mod evalplus;
mod export;
mod fuzz;
mod golden;
mod guard_model;
mod import;
mod kept;
mod lab;
mod matrix;
mod memory;
mod newcomer;
mod otel;
mod outcomes;
mod people;
mod power;
mod prompts;
mod python;
mod readers;
mod real;
mod recipes;
mod reference;
mod rejudge;
mod report;
mod resume;
mod robustness;
mod sample_run;
mod scale;
mod secrets;
mod servers;
mod shards;
mod sharing;
mod similar;
mod soak;
mod targets;
mod tidy;
mod tools;
mod verbose;
mod verify;
mod verify_trust;
mod view;
mod view_browser;
mod webdriver;
mod weighed;
