//! Small closed word lists of English that more than one generator or the guard reads.

/// Verbs that open an instruction.
const IMPERATIVES: &[&str] = &[
    "add",
    "append",
    "apply",
    "arrange",
    "assemble",
    "build",
    "calculate",
    "change",
    "clean",
    "collect",
    "combine",
    "compare",
    "compile",
    "compute",
    "construct",
    "convert",
    "copy",
    "count",
    "create",
    "decode",
    "define",
    "delete",
    "derive",
    "describe",
    "design",
    "detect",
    "determine",
    "develop",
    "devise",
    "draw",
    "encode",
    "establish",
    "explain",
    "extract",
    "fetch",
    "filter",
    "find",
    "flatten",
    "gather",
    "generate",
    "get",
    "give",
    "group",
    "identify",
    "implement",
    "insert",
    "join",
    "list",
    "load",
    "make",
    "map",
    "match",
    "merge",
    "modify",
    "move",
    "normalize",
    "obtain",
    "organize",
    "output",
    "parse",
    "pick",
    "prepare",
    "print",
    "produce",
    "provide",
    "read",
    "remove",
    "rename",
    "render",
    "replace",
    "report",
    "retrieve",
    "return",
    "reverse",
    "rewrite",
    "save",
    "search",
    "select",
    "separate",
    "show",
    "simulate",
    "sort",
    "split",
    "store",
    "sum",
    "summarize",
    "swap",
    "take",
    "transform",
    "translate",
    "trim",
    "turn",
    "update",
    "write",
    "yield",
];

/// Imperatives whose object becomes something: `into` belongs to the verb and not to the noun before it.
const BECOMING: &[&str] = &[
    "arrange",
    "assemble",
    "combine",
    "compile",
    "convert",
    "decode",
    "encode",
    "flatten",
    "group",
    "load",
    "make",
    "map",
    "merge",
    "organize",
    "parse",
    "separate",
    "sort",
    "split",
    "transform",
    "translate",
    "turn",
];

/// Negations and quantifiers: what stands before or after them matters.
const SCOPED: &[&str] = &[
    "all",
    "any",
    "both",
    "each",
    "either",
    "every",
    "everything",
    "except",
    "few",
    "fewer",
    "half",
    "hardly",
    "least",
    "less",
    "many",
    "more",
    "most",
    "much",
    "neither",
    "never",
    "no",
    "nobody",
    "none",
    "nor",
    "not",
    "nothing",
    "only",
    "several",
    "some",
    "unless",
    "until",
    "without",
];

/// Numbers as words.
#[rustfmt::skip]
const NUMBER_WORDS: &[&str] = &[
    "dozen", "eight", "eighteen", "eighty", "eleven", "fifteen", "fifty", "five", "forty", "four",
    "fourteen", "hundred", "nine", "nineteen", "ninety", "one", "seven", "seventeen", "seventy", "six",
    "sixteen", "sixty", "ten", "thirteen", "thirty", "thousand", "three", "twelve", "twenty", "two",
];

/// Whether the word, in small letters, is a number.
pub(super) fn is_number_word(word: &str) -> bool {
    NUMBER_WORDS.binary_search(&word).is_ok()
}

/// Whether the word is an article.
pub(super) fn is_article(word: &str) -> bool {
    ["a", "an", "the"].iter().any(|article| word.eq_ignore_ascii_case(article))
}

/// Whether the word, in small letters, is a verb that opens an instruction.
pub(super) fn is_imperative(word: &str) -> bool {
    IMPERATIVES.binary_search(&word).is_ok()
}

/// Whether `into` after the verb, in small letters, belongs to the verb.
pub(super) fn is_becoming(word: &str) -> bool {
    BECOMING.binary_search(&word).is_ok()
}

/// Whether the word, in small letters, negates or quantifies.
pub(super) fn is_scoped(word: &str) -> bool {
    SCOPED.binary_search(&word).is_ok() || word.ends_with("n't") || word.ends_with("n’t") || word == "cannot"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_consistent() {
        for list in [IMPERATIVES, BECOMING, SCOPED, NUMBER_WORDS] {
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "{list:?}");
        }
        assert!(BECOMING.iter().all(|verb| is_imperative(verb)));
    }
}
