//! What the four stress generators share: sentences and phrases that are added to an instruction in order.

use super::scan::{Ending, ending, fits_between_code, is_final};
use super::{Ask, Edit, Lack, Variant, Variants, apply};
use crate::text::complaint::Complaint;

/// Refuses lists that add nothing.
pub(super) fn check(additions: &[String]) -> Result<(), Complaint> {
    if additions.is_empty() {
        return Err(
            Complaint::new("`additions` is empty").hint("give at least one sentence or phrase to add")
        );
    }
    match additions.iter().position(|addition| addition.trim().is_empty()) {
        Some(nth) => {
            Err(Complaint::new(format!("addition {} is blank", nth + 1)).hint("remove it from `additions`"))
        }
        None => Ok(()),
    }
}

/// The instruction with all additions; when `cumulative`, one variant per addition, each with all before it.
pub(super) fn variants(ask: &Ask<'_>, additions: &[String], cumulative: bool) -> Variants {
    if ask.base.trim().is_empty() || check(additions).is_err() {
        return Variants::of(Vec::new(), ask.count, Lack::EmptyText);
    }
    let fits = |addition: &String| fits_between_code(ask.base, addition.trim());
    let Some(end) = ending(ask.base).filter(|_| additions.iter().all(fits)) else {
        return Variants::of(Vec::new(), ask.count, Lack::NoFittingPhrase);
    };
    let first = if cumulative { 1 } else { additions.len() };
    let list = (first..=additions.len())
        .take(ask.count as usize)
        .zip(0..)
        .map(|(taken, index)| {
            let edits = edits(&end, &additions[..taken]);
            let text = apply(ask.base, &edits).expect("additions fit their base");
            Variant { index, text, edits }
        })
        .collect();
    Variants::of(list, ask.count, Lack::Exhausted)
}

/// A sentence starts with a capital or ends like one; anything else is a phrase.
fn is_sentence(addition: &str) -> bool {
    addition.starts_with(char::is_uppercase) || addition.ends_with(is_final)
}

/// A sentence comes after everything so far and one space; a phrase before the final punctuation, after a comma.
fn edits(base_end: &Ending, additions: &[String]) -> Vec<Edit> {
    let mut phrases = String::new();
    let mut sentences = String::new();
    for addition in additions.iter().map(|addition| addition.trim()) {
        if is_sentence(addition) {
            sentences.push(' ');
            sentences.push_str(addition);
        } else if sentences.is_empty() {
            phrases.push_str(", ");
            phrases.push_str(addition);
        } else {
            let place = sentences.trim_end_matches(is_final).len();
            sentences.insert_str(place, &format!(", {addition}"));
        }
    }
    if base_end.before_punctuation == base_end.end {
        return vec![Edit::insert(base_end.end, phrases + &sentences)];
    }
    [Edit::insert(base_end.before_punctuation, phrases), Edit::insert(base_end.end, sentences)]
        .into_iter()
        .filter(|edit| !edit.inserted.is_empty())
        .collect()
}
