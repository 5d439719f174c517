//! Interpreters as people have them.

use super::*;
