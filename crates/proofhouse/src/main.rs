//! The `proofhouse` program.
fn main() {}
