//! Table-wide tests.
