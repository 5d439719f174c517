//! Neighbouring sentences that nothing binds to each other.

use super::sentence::{Kind, Sentence, family, is_function_word};
use super::words::{BINDING, COMPARING, CONDITIONS, SEQUENCE, STATIVE};

/// The first of every two neighbouring sentences that may change places.
pub(super) fn independent(sentences: &[Sentence<'_>]) -> Vec<usize> {
    (1..sentences.len())
        .filter(|&second| {
            let (one, two) = (&sentences[second - 1], &sentences[second]);
            let gap = &one.text[one.whole().end..two.whole().start];
            let followed = sentences.get(second + 1).is_none_or(stands_alone);
            !gap.contains('\n')
                && !gap.is_empty()
                && states(one)
                && states(two)
                && followed
                && apart(one, two)
        })
        .map(|second| second - 1)
        .collect()
}

/// A statement about how things are, which refers to nothing outside it.
fn states(sentence: &Sentence<'_>) -> bool {
    let all = 0..sentence.len();
    sentence.kind() == Some(Kind::Statement)
        && sentence.words[sentence.last()].tail == "."
        && sentence.words[0].capital
        && sentence.any(all.clone(), STATIVE)
        && !sentence.words.iter().any(|word| word.small != "the" && BINDING.contains(&word.small.as_str()))
        && !sentence.any(all.clone(), SEQUENCE)
        && !sentence.any(all.clone(), COMPARING)
        && !sentence.any(all.clone(), CONDITIONS)
        && !sentence.has_scope(all.clone())
        && !sentence.words.iter().any(|word| word.bracket)
        && sentence.pronouns(all).is_empty()
}

/// What comes after the two may point back to both, but not to the last of them.
fn stands_alone(sentence: &Sentence<'_>) -> bool {
    !sentence.words.iter().any(|word| family(&word.small).is_some_and(|family| family != 3))
        && !sentence.any(0..sentence.len(), &["former", "latter", "respectively", "first", "second", "last"])
}

/// The second sentence says nothing of what the first one brought in.
fn apart(one: &Sentence<'_>, two: &Sentence<'_>) -> bool {
    let definite = |at: usize| two.words[at].small == "the";
    let shared = two.words.iter().enumerate().any(|(at, word)| {
        let name = word.capital && !is_function_word(&word.small);
        let known = |other: &str| {
            other.trim_end_matches("'s").trim_end_matches('s')
                == word.small.trim_end_matches("'s").trim_end_matches('s')
        };
        let there = one.words.iter().any(|other| known(&other.small));
        there
            && (name
                || (at > 0 && definite(at - 1))
                || (word.plain
                    && word.small.len() > 3
                    && !is_function_word(&word.small)
                    && !STATIVE.contains(&word.small.as_str())))
    });
    // `A house costs $9. The roof costs $2.`: what is new in the first may be what the second is about.
    let brings = one.any(0..one.len(), &["a", "an"]);
    !(shared || brings && (0..two.len()).any(definite))
}
