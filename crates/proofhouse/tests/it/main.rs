//! The one integration binary.

mod browser;
mod report;
mod sample_run;
mod webdriver;
