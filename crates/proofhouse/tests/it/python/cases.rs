//! Forgeries and honest shapes of our own, in every tier and both ways of judging.

use super::*;
