//! Text that people read, whatever it is about.

pub mod visible;

pub mod numbers;

pub mod doc;

pub mod page;
