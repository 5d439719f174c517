//! What a task's own solution shows of it, and what of an answer is taken because of it.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Value, json};

/// Where the tests need what of an answer's objects.
pub(super) type Sites = BTreeSet<(u64, String)>;

/// What is known of a task from its own solution, once.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) solution: OnceLock<Solution>,
}

/// What it showed.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    /// Where the tests need an operator of the answer's objects.
    pub(super) sites: Sites,
    /// It passes only with the changes that it makes of what it is given.
    pub(super) mutates: bool,
    /// It passes in one process and not across a border.
    pub(super) needs_one_process: bool,
    /// Which of the tests' expectations it fails in one process if they are wrong.
    pub(super) decoys: Vec<u64>,
}

/// Which operators of an answer's objects are taken.
pub(super) enum Profile<'a> {
    /// There is no solution to learn from.
    None,
    /// Say when it is needed.
    Ask,
    /// Write down all.
    Record,
    /// Exactly these.
    Only(&'a Sites),
    /// Exactly these, if there is a solution, and no change of what the tests gave; whether `copies` or `originals` of their
    /// objects come back.
    Frozen(Option<&'a Sites>, &'static str),
}

impl Profile<'_> {
    /// What a tests' box is told.
    pub(super) fn json(&self) -> Value {
        match self {
            Profile::None | Profile::Frozen(None, _) => Value::Null,
            Profile::Ask => json!("ask"),
            Profile::Record => json!("record"),
            Profile::Only(sites) | Profile::Frozen(Some(sites), _) => json!(sites),
        }
    }

    /// What comes back of objects whose changes do not count, if they do not.
    pub(super) fn frozen(&self) -> Option<&'static str> {
        if let Profile::Frozen(_, back) = self { Some(back) } else { None }
    }
}
