//! One checker per rule-based generator. They share no code with the generators: each reads base and variant only, and
//! what it knows about words it brings along.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

/// What a checker found, or nothing.
pub(super) type Verdict = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(what()) }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect(pattern)
}

/// Everything that looks like a number, an address, an identifier, code or a quotation.
fn atoms(text: &str) -> Vec<&str> {
    static ATOMS: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r#"(?x) ``(?:[^`]|`[^`])*`` | `[^`]+` | "[^"]*" | “[^”]*” | «[^»]*» | [a-z]+://\S+ | \S+@\S+ | \d[\d.,:]*
             | \w+(?:::\w+)+ | \w*_\w+ | \b[a-z]+[A-Z]\w* | \bv\d[\d.]*"#,
        )
    });
    ATOMS.find_iter(text).map(|found| found.as_str()).collect()
}

/// Runs of white space and of everything else, in turn.
fn runs(text: &str) -> Vec<(bool, String)> {
    let mut runs: Vec<(bool, String)> = Vec::new();
    for c in text.chars() {
        match runs.last_mut() {
            Some((white, run)) if *white == c.is_whitespace() => run.push(c),
            _ => runs.push((c.is_whitespace(), c.to_string())),
        }
    }
    runs
}

pub(super) fn whitespace_noise(base: &str, variant: &str, (min, max): (f64, f64)) -> Verdict {
    ensure(base.split_whitespace().eq(variant.split_whitespace()), || "tokens changed".into())?;
    let (old, new) = (runs(base), runs(variant));
    ensure(old.len() == new.len(), || "a gap came or went".into())?;
    for (at, ((_, old_run), (white, new_run))) in old.iter().zip(&new).enumerate() {
        if old_run == new_run {
            continue;
        }
        ensure(*white && at > 0 && at + 1 < new.len(), || format!("changed outside a gap: {new_run:?}"))?;
        let mut rest = old_run.chars().peekable();
        for c in new_run.chars() {
            if rest.peek() == Some(&c) {
                rest.next();
            } else {
                ensure([' ', '\t', '\n'].contains(&c), || format!("inserted {c:?}"))?;
            }
        }
        ensure(rest.next().is_none(), || format!("{old_run:?} lost something"))?;
    }
    ensure(atoms(base) == atoms(variant), || "an atom changed".into())?;
    let chars = base.chars().count() as f64;
    let inserted = variant.chars().count() as f64 - chars;
    ensure(inserted >= 1.0 && inserted >= min * chars - 1.0 && inserted <= max * chars + 1.0, || {
        format!("{inserted} inserted into {chars}")
    })
}

fn is_sign(c: char) -> bool {
    matches!(c, ',' | '.' | ':')
}

pub(super) fn punctuation_noise(base: &str, variant: &str, (min, max): (f64, f64)) -> Verdict {
    let bare = |text: &str| text.replace(is_sign, "");
    ensure(bare(base) == bare(variant), || "something else than signs changed".into())?;
    let words = |text: &str| -> Vec<String> {
        let tokens = text.split_whitespace().map(|token| token.trim_end_matches(is_sign).to_owned());
        tokens.filter(|token| !token.is_empty()).collect()
    };
    ensure(words(base) == words(variant), || "words changed".into())?;
    ensure(atoms(base) == atoms(variant), || format!("{:?} became {:?}", atoms(base), atoms(variant)))?;
    // Between two characters that are no signs, at most one sign comes or goes.
    let signs = |text: &str| -> Vec<String> { text.split(|c| !is_sign(c)).map(str::to_owned).collect() };
    let mut edits = 0;
    for (old, new) in signs(base).iter().zip(&signs(variant)) {
        if old != new {
            ensure(old.len().abs_diff(new.len()) == 1 && old.len().min(new.len()) == 0, || {
                format!("{old:?} → {new:?}")
            })?;
            edits += 1;
        }
    }
    let share = f64::from(edits) / base.chars().count() as f64;
    ensure(edits > 0 && (min..=max).contains(&share), || format!("{edits} edits are {share}"))
}

fn small_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn sorted(mut words: Vec<String>) -> Vec<String> {
    words.sort();
    words
}

/// Numbers in digits, each with the word that follows it with nothing but white space between.
fn numbers_and_words(text: &str) -> Vec<String> {
    static PAIRS: LazyLock<Regex> = LazyLock::new(|| regex(r"(\$?\d+(?:[.,]\d+)*)\s+([A-Za-z]+)"));
    sorted(
        PAIRS.captures_iter(text).map(|found| format!("{} {}", &found[1], found[2].to_lowercase())).collect(),
    )
}

/// Negations and quantifiers; `how many` asks for a number and says nothing about the words around it.
fn is_scoped(words: &[String], at: usize) -> bool {
    const WORDS: &str = "not no nor never none nobody nothing without only all each every everything any some several few \
                         fewer half both either neither except unless until hardly least most more less many much don't cannot";
    let asks = at > 0 && words[at - 1] == "how" && ["many", "much"].contains(&words[at].as_str());
    // `whether … or not` asks once and denies nothing.
    let whether = words[at] == "not"
        && at > 0
        && words[at - 1] == "or"
        && words[at.saturating_sub(40)..at].iter().any(|word| word == "whether");
    WORDS.split_whitespace().any(|word| word == words[at]) && !asks && !whether
}

/// What stands after a word: nothing but a blank, the end of its line, or a punctuation mark.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Blank,
    Line,
    Mark,
}

fn words_and_after(text: &str) -> Vec<(String, After)> {
    static WORDS: LazyLock<Regex> =
        LazyLock::new(|| regex(r"([\p{Alphabetic}\p{Number}']+)([^\p{Alphabetic}\p{Number}']*)"));
    static MARK: LazyLock<Regex> = LazyLock::new(|| regex(r"^\S*[,.;:?!。！？]\S*\s"));
    let text = &format!("{text}\n");
    let after = |gap: &str| match () {
        () if MARK.is_match(gap) => After::Mark,
        () if gap.contains('\n') => After::Line,
        () => After::Blank,
    };
    WORDS.captures_iter(text).map(|found| (found[1].to_lowercase(), after(&found[2]))).collect()
}

/// A clause that opens with `if`, `when` or the like, or an infinitive, and that both texts have word by word up to its end, counts as
/// one word: the negations and quantifiers in it reach no further, wherever it stands. Nothing may cross them inside it.
fn with_whole_clauses(base: &str, variant: &str) -> (Vec<String>, Vec<String>) {
    const OPENERS: &[&str] =
        &["after", "although", "because", "before", "if", "once", "to", "when", "whenever", "while"];
    const NOUNS: &str = "the a an his her its their my your our this that these those";
    let (mut old, mut new) = (words_and_after(base), words_and_after(variant));
    let words =
        |list: &[(String, After)]| -> Vec<String> { list.iter().map(|(word, _)| word.clone()).collect() };
    let mut from = 0;
    while let Some(start) = (from..old.len()).find(|&at| OPENERS.contains(&old[at].0.as_str())) {
        from = start + 1;
        let all = words(&old);
        let infinitive = all.get(start + 1).is_some_and(|next| {
            !NOUNS.split(' ').any(|noun| noun == next)
                && !is_scoped(&all, start + 1)
                && next.chars().all(char::is_alphabetic)
        });
        if all[start] == "to" && !infinitive {
            continue;
        }
        let mark = (start..old.len()).find(|&at| old[at].1 == After::Mark).unwrap_or(old.len() - 1);
        // What an infinitive is done with stands after all of it.
        let word = |at: usize| all.get(at).map_or("", String::as_str);
        let means = |at: usize| {
            all[start] == "to"
                && (word(at + 1) == "using" || (word(at + 1) == "by" && word(at + 2) == "using"))
        };
        let ends = (start..=mark).rev().filter(|&at| at == mark || old[at].1 != After::Blank || means(at));
        let found = ends.filter(|end| (start..=*end).any(|at| is_scoped(&all, at))).find_map(|end| {
            let clause = &all[start..=end];
            let place = words(&new).windows(clause.len()).position(|window| window == clause)?;
            let last = place + clause.len() - 1;
            (new[last].1 != After::Blank || last + 1 == new.len()).then_some((end, place))
        });
        if let Some((end, place)) = found {
            let one = (format!("<{}>", all[start..=end].join(" ")), After::Mark);
            new.splice(place..place + end + 1 - start, [one.clone()]);
            old.splice(start..=end, [one]);
        }
    }
    (words(&old), words(&new))
}

/// The variant with its question or task at the end again, where it opens a text that the base closes with it: the story keeps its
/// order, and nothing in what is asked may point back to the last thing that was told.
fn with_question_last(base: &str, variant: &str) -> Result<String, String> {
    static ENDS: LazyLock<Regex> = LazyLock::new(|| regex(r"[.?!]\s+"));
    const ASKING: &str = "how what which who where in if calculate compute determine find";
    const POINTING: &str = "its they them their this that these those other others rest remaining another same such now still \
                            then when after again also so";
    let base = base.trim_end();
    let asked = ENDS.find_iter(base).map(|end| &base[end.end()..]).find(|part| {
        let opener = small_words(part).into_iter().next().unwrap_or_default();
        ASKING.split_whitespace().any(|word| word == opener)
            && sorted(small_words(part))
                == sorted(small_words(variant).into_iter().take(small_words(part).len()).collect())
    });
    let (Some(asked), false) = (asked, sorted(small_words(base)) != sorted(small_words(variant))) else {
        return Ok(variant.to_owned());
    };
    let words = small_words(asked);
    let bare = |word: &String| POINTING.split_whitespace().any(|pointing| pointing == word);
    // `each jar` names what it counts, `each` alone points to it.
    let alone = (0..words.len()).any(|at| {
        let next = words.get(at + 1).map_or("", String::as_str);
        matches!(words[at].as_str(), "each" | "both" | "every")
            && matches!(next, "" | "of" | "get" | "gets" | "got" | "has" | "have" | "had" | "will" | "would")
    });
    ensure(!alone && !words.iter().any(bare), || format!("{asked:?} points back"))?;
    let count = words.len();
    let end = ENDS.find_iter(variant).find(|end| small_words(&variant[..end.start()]).len() == count);
    let end = end.ok_or_else(|| format!("{asked:?} is no sentence of its own"))?;
    Ok(format!("{} {}", variant[end.end()..].trim_end(), variant[..end.end()].trim()))
}

pub(super) fn lexical_shuffle(base: &str, variant: &str, max_swaps: usize) -> Verdict {
    ensure(small_words(base) != small_words(variant), || "the order is the same".into())?;
    let variant = &with_question_last(base, variant)?;
    let (old, new) = (small_words(base), small_words(variant));
    ensure(sorted(old) == sorted(new), || "the words are not the same".into())?;
    let before = |words: &[String]| -> Vec<(String, Vec<String>)> {
        let places = (0..words.len()).filter(|at| is_scoped(words, *at));
        places.map(|at| (words[at].clone(), sorted(words[..at].to_vec()))).collect()
    };
    let (old, new) = with_whole_clauses(base, variant);
    ensure(before(&old) == before(&new), || "a word crossed a negation or a quantifier".into())?;
    let trimmed = |text: &str| -> Vec<String> {
        sorted(atoms(text).iter().map(|atom| atom.trim_end_matches(is_sign).to_owned()).collect())
    };
    // Where backticks do not come in pairs, the pattern takes prose for code.
    let paired = base.matches('`').count().is_multiple_of(2) && !base.contains("``");
    ensure(!paired || trimmed(base) == trimmed(variant), || "an atom changed".into())?;
    let kept = numbers_and_words(variant);
    ensure(numbers_and_words(base).iter().all(|pair| kept.contains(pair)), || {
        "a number was parted from its word".into()
    })?;
    let signs = |text: &str, sign: char| text.matches(sign).count();
    let kept = ['.', '?', '!', ':', ';', '(', ')', '"', '`', '\n'];
    ensure(kept.iter().all(|sign| signs(base, *sign) == signs(variant, *sign)), || {
        "a sign came or went".into()
    })?;
    // A move brings two commas at most, and a clause that goes to the end leaves its own behind.
    let commas = |text: &str| text.matches(',').count() as i64;
    let (came, most) = (commas(variant) - commas(base), max_swaps as i64);
    ensure((-most..=2 * most).contains(&came), || format!("{came} commas came"))
}

/// One line of the map as this checker reads it: which word may become which, where, and whether it is protected.
struct Sense {
    from: String,
    to: String,
    head: String,
    context: BTreeMap<String, Vec<String>>,
}

struct Synonyms {
    senses: BTreeMap<(String, String), Vec<Sense>>,
    protected: Vec<String>,
}

static SYNONYMS: LazyLock<Synonyms> = LazyLock::new(|| {
    let mut synonyms = Synonyms { senses: BTreeMap::new(), protected: Vec::new() };
    for line in include_str!("../synonyms.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "protect" => synonyms.protected.extend(words[1..].iter().map(|word| (*word).to_owned())),
            "" | "#" => {}
            kind => {
                let mut parts = line.split(" ; ");
                let pairs = parts.next().expect(line);
                let context: BTreeMap<String, Vec<String>> = parts
                    .map(|part| part.split_once(": ").expect(line))
                    .map(|(key, words)| {
                        (key.to_owned(), words.split_whitespace().map(str::to_owned).collect())
                    })
                    .collect();
                let (heads, alternatives) = pairs.split_once(" = ").expect(line);
                let heads: Vec<&str> = heads.split(' ').skip(1).collect();
                if kind == "term" {
                    synonyms.protected.extend(heads.iter().map(|word| (*word).to_owned()));
                }
                for alternative in alternatives.split(" | ") {
                    for (from, to) in heads.iter().zip(alternative.split(' ')) {
                        let (from, to, head) = ((*from).to_owned(), to.to_owned(), heads[0].to_owned());
                        let sense = Sense { from, to, head, context: context.clone() };
                        let pair = (sense.from.clone(), sense.to.clone());
                        synonyms.senses.entry(pair).or_default().push(sense);
                    }
                }
            }
        }
    }
    synonyms
});

/// Whether a token is the word, or of the class, that a line of the map names; no token stands for the edge of a sentence.
fn is_neighbour(token: Option<&str>, wanted: &str) -> bool {
    let Some(token) = token else { return matches!(wanted, "^" | "$") };
    let bare = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '$');
    let small = bare.to_lowercase();
    const NUMBERS: &str = "dozen eight eighteen eighty eleven fifteen fifty five forty four fourteen hundred nine nineteen ninety one \
                           seven seventeen seventy six sixteen sixty ten thirteen thirty thousand three twelve twenty two";
    const OPENERS: &str = "a an the my your his her its our their this that these those";
    match wanted {
        "#" => {
            bare.starts_with(|c: char| c.is_ascii_digit() || c == '$')
                || NUMBERS.split_whitespace().any(|word| word == small)
        }
        "@" => bare.starts_with(char::is_uppercase),
        "%" => OPENERS.split(' ').any(|word| word == small) || small.ends_with("'s") || small.ends_with("’s"),
        _ => small == wanted,
    }
}

/// Whether the neighbours of a token are those that the sense asks for.
fn in_sense(sense: &Sense, tokens: &[&str], at: usize) -> bool {
    let closes = |token: &str| token.ends_with(|c: char| c.is_ascii_punctuation() && !"\"'`%".contains(c));
    let own = tokens[at];
    let before = at
        .checked_sub(1)
        .map(|before| tokens[before])
        .filter(|before| !closes(before) && own.starts_with(char::is_alphabetic));
    let after = tokens
        .get(at + 1)
        .copied()
        .filter(|after| !closes(own) && after.starts_with(|c: char| c.is_alphanumeric() || c == '$'));
    let list = |key: &str| sense.context.get(key);
    let any =
        |words: &Vec<String>, token: Option<&str>| words.iter().any(|wanted| is_neighbour(token, wanted));
    let opens = own.trim_start_matches(|c: char| !c.is_alphabetic()).starts_with(char::is_uppercase);
    list("left").is_none_or(|words| any(words, before) || (opens && words.iter().any(|word| word == "^")))
        && list("right").is_none_or(|words| any(words, after))
        && (opens || before.is_none() || list("no-left").is_none_or(|words| !any(words, before)))
        && (after.is_none() || list("no-right").is_none_or(|words| !any(words, after)))
}

/// Words of letters, and everything between them.
fn letters_and_rest(text: &str) -> (Vec<&str>, Vec<&str>) {
    static LETTERS: LazyLock<Regex> = LazyLock::new(|| regex(r"\p{Alphabetic}+"));
    (LETTERS.find_iter(text).map(|found| found.as_str()).collect(), LETTERS.split(text).collect())
}

fn case_of(word: &str) -> &'static str {
    let upper = word.chars().filter(|c| c.is_uppercase()).count();
    match (upper, word.chars().next().is_some_and(char::is_uppercase)) {
        (0, _) => "small",
        (1, true) if word.len() > 1 => "capital",
        (count, _) if count == word.chars().count() => "upper",
        _ => "mixed",
    }
}

pub(super) fn synonym_substitution(base: &str, variant: &str, max: usize, whitelist: &[String]) -> Verdict {
    let (old, old_rest) = letters_and_rest(base);
    let (new, new_rest) = letters_and_rest(variant);
    ensure(old_rest == new_rest && old.len() == new.len(), || "more than words changed".into())?;
    ensure(atoms(base) == atoms(variant), || "an atom changed".into())?;
    let mut replaced = 0;
    let tokens: Vec<&str> = base.split_whitespace().collect();
    let letters = |token: &str| token.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    for (at, token) in tokens.iter().enumerate() {
        let new_token = variant.split_whitespace().nth(at).unwrap_or_default();
        if letters(token) != letters(new_token) && letters(token).chars().all(char::is_alphabetic) {
            let senses = SYNONYMS.senses.get(&(letters(token), letters(new_token)));
            let fits = senses.is_some_and(|senses| senses.iter().any(|sense| in_sense(sense, &tokens, at)));
            ensure(fits, || format!("{token} → {new_token} is no pair of the map in this place"))?;
        }
    }
    for (at, (from, to)) in old.iter().zip(&new).enumerate().filter(|(_, (from, to))| from != to) {
        replaced += 1;
        ensure(case_of(from) == case_of(to) && case_of(to) != "mixed", || format!("case of {from} → {to}"))?;
        let pair = (from.to_lowercase(), to.to_lowercase());
        let senses = SYNONYMS.senses.get(&pair).ok_or_else(|| format!("{from} → {to} is not in the map"))?;
        ensure(
            !SYNONYMS.protected.contains(&pair.0)
                || senses.iter().any(|sense| whitelist.contains(&sense.head)),
            || format!("{from} is protected"),
        )?;
        let article = if at > 0 { old[at - 1].to_lowercase() } else { String::new() };
        let gap = old_rest[at].chars().all(char::is_whitespace);
        let takes_an = pair.1.starts_with(['a', 'e', 'i', 'o', 'u'])
            && !["usual", "useful", "use", "uses", "using", "used"].contains(&pair.1.as_str());
        let wrong = gap && ((article == "a" && takes_an) || (article == "an" && !takes_an));
        ensure(!wrong, || format!("{article} {to}"))?;
    }
    ensure((1..=max).contains(&replaced), || format!("{replaced} words replaced"))
}

const AMBIGUITIES: &[&str] = &[
    "where appropriate",
    "in common cases",
    "using reasonable assumptions",
    "as needed",
    "where it makes sense",
    "in most situations",
    "within reason",
    "as you see fit",
    "more or less as usual",
    "in the usual way",
    "where practical",
    "to a sensible extent",
];

/// Whether deleting one of these, once, gives the base.
fn deletes_to(base: &str, variant: &str, listed: impl Iterator<Item = String>) -> bool {
    listed.into_iter().any(|phrase| {
        variant
            .match_indices(&phrase)
            .any(|(at, _)| format!("{}{}", &variant[..at], &variant[at + phrase.len()..]) == base)
    })
}

pub(super) fn ambiguity_injection_light(base: &str, variant: &str) -> Verdict {
    let forms = AMBIGUITIES
        .iter()
        .flat_map(|phrase| [format!(", {phrase}"), format!(" {phrase}"), format!(", {phrase},")]);
    ensure(deletes_to(base, variant, forms), || "deleting a phrase does not restore the base".into())?;
    let kept = |atom: &&str| variant.contains(atom.trim_end_matches(['.', '!', '?', ',', ')']));
    ensure(atoms(base).iter().all(kept), || "an atom changed".into())
}

const PREFERENCES: &[(&str, &str)] = &[
    ("Prefer clarity over cleverness.", "preferring clarity over cleverness"),
    ("Keep solution simple.", "keeping the solution simple"),
    ("Favor descriptive names.", "favoring descriptive names"),
    ("Lean toward a small interface.", "leaning toward a small interface"),
    ("Stay close to common conventions.", "staying close to common conventions"),
    ("Prefer plain wording over jargon.", "preferring plain wording over jargon"),
    ("Favor explicit behavior over hidden behavior.", "favoring explicit behavior over hidden behavior"),
    ("Lean toward familiar building blocks.", "leaning toward familiar building blocks"),
    ("Keep naming consistent where practical.", "keeping naming consistent where practical"),
    ("Prefer flat structure over deep nesting.", "preferring flat structure over deep nesting"),
    ("Lean toward sensible defaults.", "leaning toward sensible defaults"),
    ("Keep the tone of any wording neutral.", "keeping the tone of any wording neutral"),
];

pub(super) fn constraint_injection_light(base: &str, variant: &str) -> Verdict {
    let forms =
        PREFERENCES.iter().flat_map(|(sentence, phrase)| [format!(" {sentence}"), format!(", {phrase}")]);
    ensure(deletes_to(base, variant, forms), || "deleting a preference does not restore the base".into())?;
    static BANNED: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?i)\b(tests?|testing|pytest|coverage|validat\w+|performance|optimi[sz]\w+|tool\w*|harness\w*|benchmark\w*|log|logs|logging)\b",
        )
    });
    let count = |text: &str| BANNED.find_iter(text).count();
    ensure(count(base) == count(variant), || "a banned word came in".into())
}

/// The rule as it is written, applied to the growing text from one addition to the next.
pub(super) fn additions(base: &str, variant: &str, additions: &[String]) -> Verdict {
    let mut text = base.to_owned();
    for addition in additions.iter().map(|addition| addition.trim()) {
        let white = text.len() - text.trim_end().len();
        let mut rest = text.split_off(text.len() - white);
        let sentence = addition.chars().next().is_some_and(char::is_uppercase)
            || [".", "!", "?", "…", "。", "！", "？"].iter().any(|sign| addition.ends_with(sign));
        if sentence {
            text = format!("{text} {addition}");
        } else {
            let mut kept: Vec<char> = text.chars().collect();
            while kept.last().is_some_and(|c| ".!?…。！？".contains(*c)) {
                rest.insert(0, kept.pop().expect("there is a last one"));
            }
            text = kept.into_iter().collect();
            text = format!("{text}, {addition}");
        }
        text += &rest;
    }
    ensure(text == variant, || format!("{text:?} was expected"))
}

/// A checker that lets a fault pass proves nothing, so each gets faults of its kind.
#[test]
fn checkers_refuse_faults() {
    let wide = (0.0, 1.0);
    let base = "Do not sort 3.5 rows, `a b` or \"c d\".";
    for fault in [
        "Do not sort 3.5 rows, `a b` or \"c d\".",
        "Donot sort 3.5 rows, `a b` or \"c d\".",
        "Do not so rt 3.5 rows, `a b` or \"c d\".",
        "Do  not sort 3.5 rows, `a  b` or \"c d\".",
        "Do\u{a0} not sort 3.5 rows, `a b` or \"c d\".",
        "Do  not sort 3.5 rows, `a b` or \"c d\". ",
        "not  Do sort 3.5 rows, `a b` or \"c d\".",
    ] {
        assert!(whitespace_noise(base, fault, wide).is_err(), "{fault:?}");
    }
    assert!(whitespace_noise("a b", "a    b", (0.0, 0.3)).is_err(), "too many");
    assert!(whitespace_noise("a b c d e f g h", "a  b c d e f g h", (0.5, 0.6)).is_err(), "too few");
    for fault in [
        base,
        "Do not sort 35 rows, `a b` or \"c d\".",
        "Do not sort 3.5. rows, `a b` or \"c d\".",
        "Do not sort 3.5 rows, `a, b` or \"c d\".",
        "Do not sort 3.5 rows, `a b` or \"c d.\"",
        "Do not sort 3.5 rows; `a b` or \"c d\".",
        "Do not sort 3.5 rows,, `a b` or \"c d\".",
        "Do not so,rt 3.5 rows, `a b` or \"c d\".",
    ] {
        assert!(punctuation_noise(base, fault, wide).is_err(), "{fault:?}");
    }
    assert!(punctuation_noise("a b", "a, b", (0.0, 0.1)).is_err(), "too many");
    for fault in [
        "A basic list",
        "A simple sequence",
        "A simple list.",
        "An easy list",
        "A easy list",
        "A Basic list",
        "A nice list",
    ] {
        let right = fault == "A basic list";
        assert_eq!(synonym_substitution("A simple list", fault, 1, &[]).is_ok(), right, "{fault:?}");
    }
    assert!(synonym_substitution("simple outcomes", "basic results", 1, &[]).is_err(), "two words");
    assert!(synonym_substitution("the outcomes", "the result", 2, &[]).is_err(), "another form");
    assert!(
        synonym_substitution("the simple interest", "the basic interest", 2, &[]).is_err(),
        "another sense"
    );
    for fault in [
        "Sort.",
        "Sort, if you like.",
        "Order, as needed.",
        "Sort, as needed, as needed.",
        "Sort; as needed.",
    ] {
        assert!(ambiguity_injection_light("Sort.", fault).is_err(), "{fault:?}");
    }
    for fault in [
        "Sort.",
        "Sort. Test it.",
        "Sort. Keep solution simple. Keep solution simple.",
        "Sort Keep solution simple.",
    ] {
        assert!(constraint_injection_light("Sort.", fault).is_err(), "{fault:?}");
    }
    let added = ["Print it.".to_owned(), "as needed".to_owned()];
    assert!(additions("Sort.", "Sort. Print it, as needed.", &added).is_ok());
    for fault in [
        "Sort, as needed. Print it.",
        "Sort.  Print it, as needed.",
        "Sort. Print it., as needed",
        "Sort. Print it.",
    ] {
        assert!(additions("Sort.", fault, &added).is_err(), "{fault:?}");
    }
}

#[test]
fn the_checker_of_orders_refuses_faults() {
    for fault in [
        "sort and do not copy",
        "do sort and not copy",
        "do not copy",
        "do not sort and copy it",
        "copy and not sort do",
    ] {
        assert!(lexical_shuffle("do not sort and copy", fault, 9).is_err(), "{fault:?}");
    }
    assert!(
        lexical_shuffle("take 3 apples in May", "in 3 May take apples", 9).is_err(),
        "a number lost its word"
    );
    assert!(lexical_shuffle("a b c d", "d, a, b, c", 1).is_err(), "two moves");
    for (base, fault) in [
        ("Ann sold half of it in May", "in May, Ann sold half of it"),
        ("Ann sold many in May", "in May, Ann sold many"),
        ("Ann sat. Ben ran?", "Ben ran. Ann sat."),
        ("write code to find all rows", "to find rows, write all code"),
        ("write code to find all rows of it", "to find all rows, write code of it"),
        ("go to all shops in May", "to all shops, go in May"),
        ("do not stop if it is late", "if it is late, do not stop"),
        ("use it only if all agree", "if all agree, use it only"),
        ("Ann sat. Ben ran. How many each?", "How many each? Ben ran. Ann sat."),
        ("Ann sat. How many do they have?", "How many do they have? Ann sat."),
        ("Some sat. How many ran?", "How many sat? Some ran."),
        ("All sat. Ben ran.", "Ben ran. All sat."),
        ("sort it or not", "or not sort it"),
        ("write code to find all rows using a heap", "write code to find, using a heap, all rows"),
    ] {
        assert!(lexical_shuffle(base, fault, 9).is_err(), "{fault:?}");
    }
    for (base, right) in [
        ("write code to find all rows", "to find all rows, write code"),
        ("go on if each is late", "if each is late, go on"),
        ("Some sat. How many ran?", "How many ran? Some sat."),
        ("see whether it is so or not", "see whether or not it is so"),
        ("write code to find all rows using a heap", "using a heap, write code to find all rows"),
    ] {
        assert_eq!(lexical_shuffle(base, right, 1), Ok(()), "{right:?}");
    }
    let asked = ("how many pens has Ann in all", "in May, how many pens has Ann");
    assert!(lexical_shuffle(asked.0, asked.1, 9).is_err(), "{asked:?} has other words");
    assert!(lexical_shuffle("how many pens has Ann now", "now, how many pens has Ann", 1).is_ok());
}
