//! The sandbox against attackers, as root and as an unprivileged user, on a friendly host and on hostile ones.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod calls;
mod degraded;
mod diagnostics;
mod doors;
mod honest;
mod lab;
mod limits;
mod linked;
mod orphans;
mod portable;
mod results;
mod scope;
mod suites;
