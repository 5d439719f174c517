//! The question before the story: the last sentence of a text becomes its first, be it a question or a task.
//!
//! The story keeps its own order, and a negation or a quantifier reaches no further than its sentence. So it is the question alone
//! that is looked at: it must not point back to what was told last.

use std::ops::Range;

use super::sentence::{Kind, Sentence, family, is_function_word};
use super::words::{ADJUNCTS, CONDITIONS, POINTING, SEQUENCE, STATIVE, TIMES, TITLES};

/// The question at the end of a text, and where it may go.
pub(super) struct Front {
    /// The start of the story.
    pub(super) to: usize,
    /// The white space before the question.
    pub(super) gap: Range<usize>,
    /// The question with its mark.
    pub(super) question: Range<usize>,
}

/// The question of a text that is a story and one question after it.
pub(super) fn front(text: &str, sentences: &[Sentence<'_>]) -> Option<Front> {
    let (question, story) = sentences.split_last()?;
    let whole: Vec<Range<usize>> = sentences.iter().map(Sentence::whole).collect();
    let blank = |range: Range<usize>| text[range].trim().is_empty();
    let (first, last) = (whole.first()?.clone(), whole.last()?.clone());
    let told = |sentence: &Sentence<'_>| {
        matches!(sentence.words[sentence.last()].tail, "." | "!") && sentence.kind() != Some(Kind::Imperative)
    };
    let alone = !story.is_empty()
        && story.iter().all(told)
        && whole.windows(2).all(|pair| blank(pair[0].end..pair[1].start))
        && blank(0..first.start)
        && blank(last.end..text.len());
    (alone && stands_first(question, story)).then(|| Front {
        to: first.start,
        gap: whole[whole.len() - 2].end..last.start,
        question: last,
    })
}

/// A question, or a task such as `Calculate the sum.`, that is understood before the story.
fn stands_first(question: &Sentence<'_>, story: &[Sentence<'_>]) -> bool {
    let all = 0..question.len();
    let word = |at: usize| question.words.get(at).map_or("", |word| word.small.as_str());
    let any = |list: &[&str]| question.any(all.clone(), list);
    let last = question.words[question.last()].tail;
    let asks = match word(0) {
        "how" | "what" | "which" | "who" | "where" | "in" | "if" => last == "?",
        "calculate" | "compute" | "determine" | "find" => last == ".",
        _ => false,
    };
    let noun = |at: usize| {
        question.words.get(at).is_some_and(|next| next.lower)
            && !is_function_word(word(at))
            && !ADJUNCTS.contains(&word(at))
    };
    // `in all`, `are there` and `each jar` point to nothing.
    let points = all.clone().any(|at| {
        let before = at.checked_sub(1).map_or("", word);
        let held = match word(at) {
            "all" => {
                before == "in"
                    || noun(at + 1)
                    || question.words.get(at + 1).is_some_and(|next| next.is_number())
            }
            "there" => matches!(before, "are" | "is" | "was" | "were" | "will"),
            "each" | "both" | "every" => question.words[at].tail.is_empty() && noun(at + 1),
            _ => false,
        };
        POINTING.contains(&word(at)) && !held
    });
    // `How many pens does Ann have?`: before a story in which she gets some, it would ask for those that she has at first.
    let has =
        any(&["have", "has", "had", "there"]) && !any(&["left", "total", "all", "altogether", "after", "to"]);
    let has = has && !story.iter().all(stays);
    let condition = any(&["if"]);
    // Without `than`, it is what was told last that there is more of.
    let further = (any(&["more", "fewer", "less", "longer"]) && !any(&["than"]))
        || (condition && any(&["additional", "continues", "extra", "instead"]));
    let later = CONDITIONS.iter().any(|opener| *opener != "if" && any(&[opener]));
    question.kind().is_some_and(|kind| kind != Kind::Statement)
        && asks
        && question.len() >= 4
        && !points
        && (condition || !has)
        && !further
        && !later
        && !question.any(all.clone(), SEQUENCE)
        && stands_for(question, story)
}

/// Whether each pronoun of the question stands for a name in it, or can only stand for the one person that the text names.
fn stands_for(question: &Sentence<'_>, story: &[Sentence<'_>]) -> bool {
    let word = |at: usize| question.words.get(at).map_or("", |word| word.small.as_str());
    let stands = |at: usize| {
        let counts = word(at) == "one"
            && question.words.get(at + 1).is_some_and(|next| next.lower && !is_function_word(&next.small));
        let nothing =
            word(at) == "it" && matches!(word(at + 1), "take" | "takes" | "took" | "cost" | "costs");
        family(word(at)).filter(|_| !counts && !nothing)
    };
    let mut pronouns: Vec<(usize, usize)> =
        (0..question.len()).filter_map(|at| Some((at, stands(at)?))).collect();
    pronouns.dedup_by_key(|(_, family)| *family);
    let [(at, family)] = pronouns[..] else { return pronouns.is_empty() };
    let own: Vec<&str> = distinct(names(question));
    let before = (0..at).any(|at| own.contains(&word(at)));
    if own.len() == 1 && before {
        return family < 2;
    }
    let told =
        |family: usize| story.iter().any(|sentence| sentence.pronouns(0..sentence.len()).contains(&family));
    let named = distinct(std::iter::once(question).chain(story).flat_map(names));
    let first = story.first().is_some_and(|first| names(first).any(|name| named[..] == [name]));
    family < 2 && first && !told(1 - family)
}

fn distinct<'s>(names: impl Iterator<Item = &'s str>) -> Vec<&'s str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Nothing happens in the sentence: its verbs say how things are.
fn stays(sentence: &Sentence<'_>) -> bool {
    let happens = |word: &str| {
        (ADJUNCTS.contains(&word) && !STATIVE.contains(&word)) || (word.len() > 4 && word.ends_with("ed"))
    };
    sentence.any(0..sentence.len(), STATIVE)
        && !sentence.words.iter().any(|word| happens(&word.small))
        && !sentence.any(0..sentence.len(), SEQUENCE)
        && !sentence.any(0..sentence.len(), CONDITIONS)
}

/// Words with a capital that are no function words, no times and not only the first of their sentence.
fn names<'s>(sentence: &'s Sentence<'_>) -> impl Iterator<Item = &'s str> {
    sentence.words.iter().filter_map(move |word| {
        let own = sentence.text[word.core.clone()].starts_with(char::is_uppercase);
        let bare = word.small.split(['\'', '’']).next().unwrap_or(&word.small);
        let common = is_function_word(bare) || TIMES.contains(&bare) || bare == "i" || TITLES.contains(&bare);
        (own && !common).then_some(bare)
    })
}
