//! What records add up to.
