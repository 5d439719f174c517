//! What a task's own solution shows of it, and what of an answer is taken because of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock};

use serde_json::{Value, json};

/// Where the tests need what of an answer's objects.
pub(super) type Sites = BTreeSet<(u64, String)>;

/// Something else that the tests can expect: a line of theirs, what they want there, and in which way that is another.
pub(super) type Decoy = [u64; 3];

/// What is known of a task from its own solution, once.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) solution: OnceLock<Solution>,
    /// Whether the solution fails tests that expect something else, by what that is.
    pub(super) moved: Mutex<BTreeMap<Decoy, bool>>,
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
    /// These, if there is a solution, and what else an answer says of its own objects, which is to be doubted afterwards.
    Trusting(Option<&'a Sites>),
    /// All, with something else expected; whether there is a solution.
    Doubting(Decoy, bool),
}

impl Profile<'_> {
    /// What a tests' box is told.
    pub(super) fn json(&self) -> Value {
        match self {
            Profile::None
            | Profile::Frozen(None, _)
            | Profile::Trusting(None)
            | Profile::Doubting(_, false) => Value::Null,
            Profile::Ask => json!("ask"),
            Profile::Record | Profile::Doubting(_, true) => json!("record"),
            Profile::Only(sites) | Profile::Frozen(Some(sites), _) | Profile::Trusting(Some(sites)) => {
                json!(sites)
            }
        }
    }

    /// Whether an answer's own objects may decide.
    pub(super) fn trusts(&self) -> bool {
        matches!(self, Profile::Trusting(_) | Profile::Doubting(..))
    }

    /// What else the tests are to expect.
    pub(super) fn decoy(&self) -> Option<Decoy> {
        if let Profile::Doubting(decoy, _) = self { Some(*decoy) } else { None }
    }

    /// What comes back of objects whose changes do not count, if they do not.
    pub(super) fn frozen(&self) -> Option<&'static str> {
        if let Profile::Frozen(_, back) = self { Some(back) } else { None }
    }
}
