//! Edits: what a variant changed, exact enough to be applied again or undone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One change: at a place of the base, some bytes gave way to others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The byte offset in the base; always between two Unicode scalars.
    pub at: usize,
    /// What stood there.
    pub removed: String,
    /// What stands there now.
    pub inserted: String,
}

impl Edit {
    pub(super) fn insert(at: usize, inserted: impl Into<String>) -> Edit {
        Edit { at, removed: String::new(), inserted: inserted.into() }
    }

    pub(super) fn replace(base: &str, range: std::ops::Range<usize>, inserted: impl Into<String>) -> Edit {
        Edit { at: range.start, removed: base[range].to_owned(), inserted: inserted.into() }
    }
}

/// The variant that these edits make of the base; none when they do not fit it.
///
/// Edits stand in the order of the base and do not overlap.
pub fn apply(base: &str, edits: &[Edit]) -> Option<String> {
    let grown: usize = edits.iter().map(|edit| edit.inserted.len()).sum();
    let mut text = String::with_capacity(base.len() + grown);
    let mut done = 0;
    for edit in edits {
        text.push_str(base.get(done..edit.at)?);
        done = edit.at.checked_add(edit.removed.len())?;
        if base.get(edit.at..done)? != edit.removed {
            return None;
        }
        text.push_str(&edit.inserted);
    }
    text.push_str(base.get(done..)?);
    Some(text)
}

/// The base that these edits were made on; none when they do not fit the variant.
pub fn reverse(variant: &str, edits: &[Edit]) -> Option<String> {
    let mut base = String::with_capacity(variant.len());
    let mut done = 0usize;
    for edit in edits {
        let unchanged = edit.at.checked_sub(base.len())?;
        let start = done.checked_add(unchanged)?;
        base.push_str(variant.get(done..start)?);
        done = start.checked_add(edit.inserted.len())?;
        if variant.get(start..done)? != edit.inserted {
            return None;
        }
        base.push_str(&edit.removed);
    }
    base.push_str(variant.get(done..)?);
    Some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_and_reverse() {
        let base = "Öffne die Datei.";
        let edits = [Edit::replace(base, 0..6, "Lies"), Edit::insert(base.len() - 1, ", bitte")];
        let variant = apply(base, &edits).expect("the edits fit");
        assert_eq!(variant, "Lies die Datei, bitte.");
        assert_eq!(reverse(&variant, &edits).as_deref(), Some(base));
    }

    #[test]
    fn edits_that_do_not_fit_are_refused() {
        let edits = [Edit { at: 1, removed: "x".into(), inserted: "y".into() }];
        assert_eq!(apply("ab", &edits), None);
        assert_eq!(apply("é", &[Edit::insert(1, "x")]), None, "inside a scalar");
        assert_eq!(apply("a", &[Edit::insert(2, "x")]), None, "beyond the end");
        assert_eq!(apply("abc", &[Edit::insert(2, "x"), Edit::insert(1, "x")]), None, "out of order");
        assert_eq!(reverse("ab", &[Edit::insert(1, "x")]), None);
        assert_eq!(reverse("", &[Edit::insert(usize::MAX, "x")]), None);
    }
}
