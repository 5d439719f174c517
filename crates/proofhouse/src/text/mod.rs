//! Text that people read, whatever it is about.

pub mod page;
