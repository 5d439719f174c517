//! The one integration binary.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on says so by panicking")]

mod browser;
mod report;
mod sample_run;
mod webdriver;
