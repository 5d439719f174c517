//! Text that people read, whatever it is about.

pub mod visible;

pub mod numbers;

pub mod complaint;

pub mod yaml;

pub(crate) mod glob;

pub mod template;

pub mod doc;

pub mod page;
