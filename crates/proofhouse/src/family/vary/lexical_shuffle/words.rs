//! The closed word lists behind the safe moves.

/// Words that say that the order matters.
pub(super) const ORDERED: &[&str] = &[
    "after",
    "afterwards",
    "before",
    "finally",
    "first",
    "followed",
    "former",
    "last",
    "latter",
    "next",
    "order",
    "ordered",
    "respectively",
    "second",
    "sequence",
    "then",
    "alternating",
    "columns",
    "fields",
    "header",
    "headers",
    "starting",
    "steps",
    "third",
    "tuple",
    "versus",
    "vs",
];

/// Words before a coordination of nouns that belong to the whole of it.
pub(super) const LEADING: &[&str] =
    &["about", "containing", "for", "from", "in", "including", "into", "mention", "of", "on", "the", "with"];

/// Words after which a coordination is surely over.
pub(super) const TRAILING: &[&str] = &[
    "as", "at", "by", "for", "from", "in", "into", "of", "on", "that", "to", "using", "when", "which", "with",
];

/// Words in `-s` that are no plural noun, or may be a verb.
pub(super) const NOT_PLURAL: &[&str] = &[
    "accepts",
    "adds",
    "afterwards",
    "always",
    "appends",
    "besides",
    "builds",
    "calls",
    "computes",
    "contains",
    "converts",
    "copies",
    "counts",
    "creates",
    "does",
    "draws",
    "exits",
    "fails",
    "finds",
    "gets",
    "gives",
    "goes",
    "handles",
    "has",
    "holds",
    "keeps",
    "lists",
    "loads",
    "makes",
    "maps",
    "needs",
    "opens",
    "ours",
    "outputs",
    "parses",
    "perhaps",
    "prints",
    "produces",
    "puts",
    "raises",
    "reads",
    "receives",
    "removes",
    "returns",
    "runs",
    "saves",
    "sends",
    "sets",
    "shows",
    "skips",
    "sometimes",
    "sorts",
    "starts",
    "stops",
    "stores",
    "takes",
    "theirs",
    "throws",
    "towards",
    "uses",
    "works",
    "writes",
    "yields",
    "yours",
];

/// Adjectives that stand beside each other in any order.
pub(super) const ADJECTIVES: &[&str] = &[
    "accurate",
    "basic",
    "brief",
    "clean",
    "clear",
    "compact",
    "complete",
    "concise",
    "consistent",
    "correct",
    "easy",
    "familiar",
    "flexible",
    "friendly",
    "lightweight",
    "maintainable",
    "modular",
    "neat",
    "plain",
    "polite",
    "portable",
    "precise",
    "readable",
    "reliable",
    "reusable",
    "robust",
    "safe",
    "short",
    "simple",
    "small",
    "stable",
    "straightforward",
    "tidy",
    "understandable",
    "useful",
];

/// Names of operations and sides that come in pairs before a noun they share.
pub(super) const PAIRS: &[(&str, &str)] = &[
    ("add", "remove"),
    ("decode", "encode"),
    ("delete", "insert"),
    ("get", "put"),
    ("get", "set"),
    ("input", "output"),
    ("left", "right"),
    ("load", "store"),
    ("lower", "upper"),
    ("max", "min"),
    ("pop", "push"),
    ("read", "write"),
];

/// Nouns that such a pair shares.
pub(super) const SHARED: &[&str] = &[
    "actions",
    "bounds",
    "calls",
    "commands",
    "events",
    "functions",
    "handlers",
    "halves",
    "limits",
    "methods",
    "operations",
    "queries",
    "requests",
    "sides",
    "values",
];


/// Words that open, join or relate clauses: what comes after them may belong to something else than the verb.
pub(super) const CLAUSES: &[&str] = &[
    "although", "because", "besides", "but", "except", "first", "instead", "plus", "since", "so", "such", "that", "then", "though", "unless", "until", "where", "whereas", "whether", "which", "while", "who", "whom", "whose",
];

/// Words that join.
pub(super) const JOINTS: &[&str] = &[
    "and", "but", "nor", "or",
];

/// Words that say what comes after what, or point to an order.
pub(super) const SEQUENCE: &[&str] = &[
    "afterwards", "again", "also", "another", "eventually", "finally", "former", "hence", "however", "instead", "latter", "meanwhile", "other", "others", "otherwise", "remaining", "respectively", "rest", "subsequently", "then", "thereafter", "therefore", "thus", "too",
];

/// Words that open a clause which may stand before or after the main one.
pub(super) const CONDITIONS: &[&str] = &[
    "after", "although", "because", "before", "if", "once", "when", "whenever", "while",
];

/// Words that open a phrase of time, place or measure.
pub(super) const LEAD_PREPOSITIONS: &[&str] = &[
    "at", "by", "during", "in", "on",
];

/// Words for times.
pub(super) const TIMES: &[&str] = &[
    "afternoon", "april", "august", "autumn", "beginning", "christmas", "day", "days", "december", "easter", "end", "evening", "fall", "february", "friday", "halloween", "hours", "january", "july", "june", "march", "may", "midnight", "minutes", "monday", "month", "months", "morning", "night", "noon", "november", "october", "saturday", "season", "semester", "september", "spring", "start", "summer", "sunday", "thursday", "today", "tomorrow", "tuesday", "wednesday", "week", "weekend", "weeks", "winter", "year", "years", "yesterday",
];

/// Single words for a time, or for a sum.
pub(super) const TIME_ADVERBS: &[&str] = &[
    "altogether", "currently", "initially", "now", "originally", "today", "tomorrow", "yesterday",
];

/// Measures and languages in which an answer may be given.
pub(super) const UNITS: &[&str] = &[
    "celsius", "centimeters", "cents", "days", "dollars", "english", "euros", "fahrenheit", "feet", "french", "german", "grams", "hours", "inches", "italian", "kilograms", "kilometers", "latin", "liters", "meters", "metres", "miles", "minutes", "months", "ounces", "percent", "pounds", "seconds", "spanish", "weeks", "years",
];

/// Words for the form or language of an answer.
pub(super) const FORMS: &[&str] = &[
    "arabic", "bullets", "chinese", "csv", "detail", "dutch", "english", "format", "french", "german", "hindi", "html", "italian", "japanese", "java", "javascript", "json", "korean", "language", "latin", "line", "lines", "markdown", "paragraph", "paragraphs", "points", "polish", "portuguese", "prose", "python", "rhyme", "russian", "rust", "sentence", "sentences", "spanish", "sql", "style", "terms", "tone", "verse", "word", "words", "yaml",
];

/// Words that compare: what stands beside them matters.
pub(super) const COMPARING: &[&str] = &[
    "as", "double", "equal", "half", "likewise", "same", "than", "thrice", "times", "triple", "twice",
];

/// Words that open a noun.
pub(super) const DETERMINERS: &[&str] = &[
    "a", "an", "my", "our", "the", "these", "this", "those", "your",
];

/// Verbs that make something for somebody.
pub(super) const MAKING: &[&str] = &[
    "build", "compose", "create", "define", "design", "develop", "devise", "draft", "draw", "explain", "generate", "give", "implement", "make", "outline", "plan", "prepare", "produce", "propose", "provide", "recommend", "suggest", "summarise", "summarize", "write",
];

/// Verbs that bring something to somebody.
pub(super) const RECEIVERS: &[&str] = &[
    "explain", "give", "send", "show", "write",
];

/// Verbs that take something out of something.
pub(super) const SOURCES: &[&str] = &[
    "choose", "collect", "copy", "delete", "extract", "fetch", "find", "get", "list", "pick", "read", "remove", "retrieve", "select", "take",
];

/// Verbs that arrange.
pub(super) const SORTING: &[&str] = &[
    "arrange", "group", "order", "rank", "sort",
];

/// Words before a list of things.
pub(super) const HOLDING: &[&str] = &[
    "ate", "bought", "buy", "buys", "collected", "collects", "contain", "containing", "contains", "eat", "eats", "get", "gets", "got", "had", "has", "have", "include", "includes", "including", "made", "make", "makes", "mention", "need", "needs", "order", "ordered", "orders", "own", "owns", "pack", "packed", "packs", "pick", "picked", "picks", "plant", "planted", "plants", "purchased", "purchases", "recommend", "saw", "see", "sees", "sell", "sells", "sold", "suggest", "take", "takes", "took", "use", "uses", "want", "wants", "with",
];

/// Verbs after a name.
pub(super) const ADJUNCTS: &[&str] = &[
    "are", "ate", "baked", "bakes", "bought", "buys", "collected", "collects", "drives", "drove", "earned", "earns", "eats", "finds", "found", "gave", "gets", "gives", "goes", "got", "had", "has", "have", "is", "loses", "lost", "made", "makes", "needed", "needs", "paid", "pays", "picked", "picks", "planted", "plants", "played", "plays", "ran", "read", "reads", "received", "receives", "runs", "saved", "saves", "saw", "sees", "sells", "sold", "spends", "spent", "started", "starts", "takes", "took", "used", "uses", "walked", "walks", "wanted", "wants", "was", "went", "were", "wins", "won", "worked", "works", "writes", "wrote",
];

/// Verbs that say how things are.
pub(super) const STATIVE: &[&str] = &[
    "are", "contain", "contains", "cost", "costs", "has", "have", "hold", "holds", "is", "like", "likes", "live", "lives", "need", "needs", "own", "owns", "weigh", "weighs",
];

/// Words that point to something outside their sentence.
pub(super) const BINDING: &[&str] = &[
    "also", "another", "both", "each", "her", "here", "his", "however", "its", "more", "one", "ones", "other", "remaining", "rest", "same", "so", "such", "that", "the", "their", "there", "therefore", "these", "this", "those", "too",
];

/// Words whose period ends no sentence.
pub(super) const ABBREVIATIONS: &[&str] = &[
    "a.m", "approx", "dr", "e.g", "etc", "i.e", "inc", "jr", "ltd", "mr", "mrs", "ms", "no", "p.m", "prof", "sr", "st", "vs",
];

/// Words that open a question.
pub(super) const QUESTIONS: &[&str] = &[
    "how", "what", "when", "where", "which", "who", "whose", "why",
];

/// More verbs that open a task, in order.
pub(super) const IMPERATIVES: &[&str] = &[
    "analyse", "analyze", "answer", "ask", "book", "brainstorm", "calculate", "categorize", "check", "choose", "clarify", "classify", "compose", "correct", "decide", "delete", "discuss", "draft", "edit", "estimate", "evaluate", "expand", "fill", "fix", "format", "highlight", "improve", "include", "keep", "label", "locate", "mark", "mention", "name", "order", "outline", "paraphrase", "perform", "pick", "plan", "predict", "propose", "rank", "rate", "recommend", "remind", "rephrase", "respond", "review", "schedule", "send", "set", "simplify", "solve", "state", "suggest", "summarise", "tell", "underline", "use", "verify",
];

/// Words that are no names though a sentence may begin with them, in order.
pub(super) const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "although", "an", "and", "another", "any", "are", "as", "at", "because", "before", "both", "but", "by", "can", "could", "did", "do", "does", "during", "each", "eight", "every", "few", "five", "for", "four", "from", "given", "had", "has", "have", "he", "her", "here", "his", "how", "however", "i", "if", "in", "into", "is", "it", "its", "let", "many", "may", "might", "more", "most", "must", "my", "nine", "no", "none", "not", "of", "on", "once", "one", "only", "or", "other", "others", "our", "out", "over", "please", "same", "seven", "several", "shall", "she", "should", "since", "six", "so", "some", "such", "ten", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "three", "through", "to", "too", "twenty", "two", "under", "until", "up", "using", "was", "we", "were", "what", "when", "where", "whether", "which", "while", "who", "whose", "why", "will", "with", "would", "yes", "you", "your",
];

/// Pronouns of the third person in families; the first two stand for persons with names.
pub(super) const PRONOUNS: &[&[&str]] = &[
    &["he", "him", "his", "himself"],
    &["she", "her", "hers", "herself"],
    &["it", "its", "itself"],
    &["they", "them", "their", "theirs", "themselves"],
    &["this", "these", "those", "one", "ones", "such"],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_searched_are_sorted() {
        for list in [IMPERATIVES, FUNCTION_WORDS] {
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "{list:?}");
        }
    }
}
