//! Runs hostile programs: a Spec goes in, an Outcome comes out.
