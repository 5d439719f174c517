//! The program as a library: the modules stand in the order of the data, each using only what stands above it.
#![forbid(unsafe_code)]

pub mod vary;
