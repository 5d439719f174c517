//! Containment suites through the real program: the suites that people have, models that misbehave, lanes, diffs, exports.

mod calyx;
