//! Text that people read, whatever it is about.

pub(crate) mod numbers;
pub mod page;
